//! Lexicalised reordering, phrase-based and hierarchical (`phrase-decoding.md` 3.6).
//!
//! A model has a row of scores a phrase pair: for each direction one score an
//! orientation, backward direction first. When a phrase is applied, the backward
//! score of the phrase and the forward score of the previous one are charged, both for
//! the orientation between the two. Nothing is charged at the end of a sentence.
//!
//! A hierarchical model compares with blocks instead of single phrases. Backward,
//! the block is the longest one that ends with the previous phrase, found by a stack
//! of spans ([`span_stack`]); forward, what counts is whether the position next to the
//! previous phrase is still open, so that some block may yet join it.
//!
//! Scores are weighted once, when options are made: an option has a row of weighted
//! scores, the columns of all models one after another, and the search only adds.

mod forward_scores;
mod hierarchical_backward;
mod orientations;
mod span_stack;

use miriam_probingpt::Targets;
use miriam_textio::WordId;

use super::expansion_feature::{ExpansionFeature, ExpansionInput, ValueSources};
use super::stateful_feature::StatefulFeature;
use super::{FeatureSet, FeatureSpec, LoadContext, RecombinationKey};
use crate::coverage::Coverages;
use crate::feature_line::{FeatureLine, parse_count};
use crate::hypothesis::Hypothesis;
use crate::models::{Models, PhraseTable, ReorderingTable, TableFile};
use crate::sentence::SourceSpan;
use crate::span::Span;
use crate::{Error, Result};
pub(super) use forward_scores::ForwardScores;
pub(super) use hierarchical_backward::{HierarchicalBackward, HierarchicalBackwardScorer};
pub(crate) use orientations::RelativePosition;
pub use orientations::{Orientations, ReorderingType};

/// A lexicalised reordering model's parameters.
#[derive(Clone, Debug)]
pub struct ReorderingSpec {
    /// Orientations and directions.
    pub model: ReorderingType,
    /// Where the scores are.
    pub source: ReorderingSource,
    /// Which factors the columns of source words are in a table of its own.
    pub input_factors: Vec<usize>,
    /// Which factors the columns of target words are in a table of its own.
    pub output_factors: Vec<usize>,
}

/// Where reordering scores come from.
#[derive(Clone, Debug)]
pub enum ReorderingSource {
    /// A text table of its own.
    Text(String),
    /// The phrase table's records, from this score on.
    PhraseTable(usize),
}

impl ReorderingSpec {
    /// Reads the keys of a feature line.
    pub(super) fn parse(keys: &mut FeatureLine) -> Result<Self, String> {
        let input_factors = keys.take_factors("input-factor")?.unwrap_or_else(|| vec![0]);
        let output_factors = keys.take_factors("output-factor")?.unwrap_or_else(|| vec![0]);
        let model = ReorderingType::parse(&keys.take("type").ok_or("type= is missing")?)?;
        let index = keys.take("property-index");
        let index = index.map(|text| parse_count("property-index", &text)).transpose()?;
        if let Some(index) = index.filter(|&index| index > 1000) {
            return Err(format!("property-index={index} is beyond any table's scores"));
        }
        let source = match (index, keys.take("path")) {
            (Some(index), None) => ReorderingSource::PhraseTable(index),
            (None, Some(path)) => ReorderingSource::Text(path),
            (None, None) => return Err("path= or property-index= is missing".into()),
            (Some(_), Some(_)) => return Err("path= and property-index= exclude each other".into()),
        };
        Ok(ReorderingSpec { model, source, input_factors, output_factors })
    }
}

/// The scores of a reordering model: which columns of its table an option's row has,
/// with which weights.
#[derive(Clone, Debug)]
pub(crate) struct ReorderingScores {
    /// The name of its feature.
    name: String,
    component: usize,
    columns: Vec<RowColumn>,
    /// Where its scores start in the records of the phrase tables.
    phrase_table_offset: Option<usize>,
    /// Its own table among those of the models.
    own_table: Option<usize>,
}

/// A column of an option's row.
#[derive(Clone, Copy, Debug)]
struct RowColumn {
    table_column: usize,
    /// Which of the feature's weights; several columns share one in a collapsed model.
    weight_index: usize,
    weight: f32,
}

/// Adds the model of `spec` to `set`, and opens its table where it has one.
pub(super) fn load(
    set: &mut FeatureSet,
    feature: &FeatureSpec,
    spec: &ReorderingSpec,
    component: usize,
    context: &mut LoadContext<'_>,
) -> Result<()> {
    let (mut phrase_table_offset, mut own_table) = (None, None);
    match &spec.source {
        ReorderingSource::PhraseTable(offset) => phrase_table_offset = Some(*offset),
        ReorderingSource::Text(path) => {
            own_table = Some(context.models.reordering_tables.len());
            let table = open_table(feature, spec, path, context)?;
            context.models.reordering_tables.push(table);
        }
    }
    let column =
        |(table_column, weight_index)| RowColumn { table_column, weight_index, weight: 0.0 };
    let columns: Vec<_> = spec.model.column_weight_indices().map(column).collect();
    let first_column = set.reordering_width();
    set.reordering_components.extend(columns.iter().map(|c| component + c.weight_index));
    let name = feature.name.clone();
    set.reordering.push(ReorderingScores {
        name,
        component,
        columns,
        phrase_table_offset,
        own_table,
    });
    let kind = spec.model;
    let orientations = kind.orientations;
    if !kind.hierarchical || kind.forward {
        set.recombination_key = RecombinationKey { uses_start: true, uses_end: true };
    }
    if kind.backward {
        let column = first_column;
        match kind.hierarchical {
            true => set.add_stateful(StatefulFeature::HierarchicalBackward(HierarchicalBackward {
                orientations,
                column,
            })),
            false => set.expansion.push(ExpansionFeature::BackwardReordering(BackwardReordering {
                orientations,
                column,
            })),
        }
    }
    if kind.forward {
        let column = first_column + kind.forward_offset();
        set.forward_columns.extend(column..set.reordering_width());
        set.expansion.push(match kind.hierarchical {
            true => {
                ExpansionFeature::HierarchicalForward(HierarchicalForward { orientations, column })
            }
            false => {
                ExpansionFeature::ForwardReordering(ForwardReordering { orientations, column })
            }
        });
    }
    Ok(())
}

fn open_table(
    feature: &FeatureSpec,
    spec: &ReorderingSpec,
    path: &str,
    context: &LoadContext<'_>,
) -> Result<ReorderingTable> {
    let path = (context.resolve_path)(path);
    let columns = Some(spec.model.num_columns());
    let (threads, progress) = (context.threads, context.progress);
    let phrases = miriam_probingpt::load_reordering_text(&path, columns, threads, progress)?.into();
    let file = TableFile {
        feature: feature.name.clone(),
        path,
        is_text: true,
        input_factors: spec.input_factors.clone(),
        output_factors: Some(spec.output_factors.clone()),
    };
    Ok(ReorderingTable::new(PhraseTable::new(phrases, file, true)))
}

impl ReorderingScores {
    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        for column in &mut self.columns {
            column.weight = weights[self.component + column.weight_index];
        }
    }

    /// The number of its columns in an option's row.
    pub(crate) fn num_columns(&self) -> usize {
        self.columns.len()
    }

    /// The scores of a target in a record of a phrase table, where they are there.
    fn in_record<'t>(
        &self,
        table: &'t PhraseTable,
        targets: &'t Targets,
        target: usize,
    ) -> Option<&'t [f32]> {
        let offset = self.phrase_table_offset?;
        let scores = table.phrases.reordering_scores(targets, target)?;
        Some(&scores[offset..])
    }

    /// Writes the weighted scores of a phrase pair to its columns of an option's row.
    fn write_weighted(&self, scores: &[f32], row: &mut [f32]) {
        for (cell, column) in row.iter_mut().zip(&self.columns) {
            *cell = scores[column.table_column] * column.weight;
        }
    }

    /// Writes the unweighted scores.
    fn write_unweighted(&self, scores: &[f32], row: &mut [f32]) {
        for (cell, column) in row.iter_mut().zip(&self.columns) {
            *cell = scores[column.table_column];
        }
    }

    /// Fails where the scores should be in the records of phrase tables and one of
    /// `tables` lacks them.
    pub(super) fn check_tables(&self, tables: &[PhraseTable]) -> Result<()> {
        let Some(offset) = self.phrase_table_offset else { return Ok(()) };
        let needed = offset + self.columns.iter().map(|c| c.table_column + 1).max().unwrap_or(0);
        for table in tables {
            let there = table.phrases.num_reordering();
            if there < needed {
                let reason = format!(
                    "property-index={offset} needs {needed} reordering scores in the phrase \
                     table, which has {there}; build it with --reordering, or give path="
                );
                return Err(Error::feature(&self.name, reason));
            }
        }
        Ok(())
    }
}

/// Whether scores of an option's row are weighted: for the search, or for printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weighting {
    Weighted,
    Unweighted,
}

impl FeatureSet {
    /// Writes the reordering scores in `table`'s record of a target to the row of its
    /// option, `row`, which has a column for each orientation of all models.
    pub(crate) fn write_record_reordering(
        &self,
        table: &PhraseTable,
        targets: &Targets,
        target: usize,
        weighting: Weighting,
        mut row: &mut [f32],
    ) {
        for model in &self.reordering {
            let (own, rest) = row.split_at_mut(model.num_columns());
            row = rest;
            if let Some(scores) = model.in_record(table, targets, target) {
                model.write(weighting, scores, own);
            }
        }
    }

    /// Writes the reordering scores of models with tables of their own to the rows of
    /// `num_options` options of `source`. `words` are the target words of an option;
    /// rows are `stride` apart in `rows`.
    #[expect(clippy::too_many_arguments)]
    pub(crate) fn write_own_reordering<'w>(
        &self,
        models: &Models,
        source: SourceSpan<'_>,
        num_options: usize,
        words: impl Fn(usize) -> &'w [WordId],
        weighting: Weighting,
        targets: &mut Targets,
        stride: usize,
        rows: &mut [f32],
    ) -> Result<()> {
        let mut first = 0;
        for model in &self.reordering {
            if let Some(own) = model.own_table {
                let table = &models.reordering_tables[own];
                for_each_match(
                    table,
                    models,
                    source,
                    targets,
                    num_options,
                    &words,
                    |scores, i| {
                        model.write(weighting, scores, &mut rows[i * stride + first..]);
                    },
                )?;
            }
            first += model.num_columns();
        }
        Ok(())
    }
}

impl ReorderingScores {
    fn write(&self, weighting: Weighting, scores: &[f32], row: &mut [f32]) {
        match weighting {
            Weighting::Weighted => self.write_weighted(scores, row),
            Weighting::Unweighted => self.write_unweighted(scores, row),
        }
    }
}

/// Calls `visit` with the scores of each of `num_options` options, whose target words
/// `words` gives, that is in `own` with the source phrase `source`.
fn for_each_match<'w>(
    own: &ReorderingTable,
    models: &Models,
    source: SourceSpan<'_>,
    targets: &mut Targets,
    num_options: usize,
    words: impl Fn(usize) -> &'w [WordId],
    mut visit: impl FnMut(&[f32], usize),
) -> Result<()> {
    let mut ids = Vec::new();
    source.push_table_ids(&own.table, models, &mut ids);
    let Some(record) = own.table.phrases.find(&ids) else { return Ok(()) };
    own.table.phrases.read_targets(record, targets)?;
    for option in 0..num_options {
        let words = words(option);
        let projected: Vec<WordId>;
        let words = match own.has_projection() {
            false => words,
            true => {
                let project = |&word: &WordId| {
                    own.project_word(word, source.sentence.word(word, models), models)
                };
                projected = words.iter().map(project).collect();
                &projected
            }
        };
        let same = |i: &usize| {
            let candidate = targets.words(*i);
            candidate.len() == words.len()
                && candidate
                    .iter()
                    .zip(words)
                    .all(|(&c, &w)| own.table.target_words[c as usize] == w)
        };
        // Of a pair that is in the table twice the last counts, as in Moses.
        if let Some(i) = (0..targets.len()).rev().find(same)
            && let Some(scores) = own.table.phrases.reordering_scores(targets, i)
        {
            visit(scores, option);
        }
    }
    Ok(())
}

/// Whether the previous phrase begins where `input`'s phrase ends.
#[inline(always)]
fn swaps(input: &ExpansionInput<'_>) -> bool {
    input.previous.span.start == input.transition.span.end
}

/// Backward scores: the phrase for its orientation towards the previous one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackwardReordering {
    pub(crate) orientations: Orientations,
    /// The first column of the backward scores in an option's row.
    column: usize,
}

impl BackwardReordering {
    /// The column of `orientation`.
    #[inline(always)]
    pub(crate) fn column(&self, orientation: usize) -> usize {
        self.column + orientation
    }

    #[inline(always)]
    fn column_of(&self, input: &ExpansionInput<'_>) -> usize {
        self.column(self.orientations.orientation_at(input.transition.position, swaps(input)))
    }

    #[inline(always)]
    pub(super) fn score(&self, input: &ExpansionInput<'_>) -> f32 {
        input.options.reordering(input.option, self.column_of(input))
    }

    pub(super) fn add_value(
        &self,
        input: &ExpansionInput<'_>,
        sources: &ValueSources<'_>,
        values: &mut [f32],
    ) {
        let column = self.column_of(input);
        values[sources.reordering_components[column]] += sources.reordering[column];
    }
}

/// Forward scores: the previous phrase for the orientation of this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForwardReordering {
    pub(crate) orientations: Orientations,
    /// The first column of the forward scores in an option's row.
    column: usize,
}

impl ForwardReordering {
    /// The column of `orientation`.
    #[inline(always)]
    pub(crate) fn column(&self, orientation: usize) -> usize {
        self.column + orientation
    }

    /// The column of the previous phrase's row; `None` at the beginning.
    #[inline(always)]
    fn column_of(&self, input: &ExpansionInput<'_>) -> Option<usize> {
        if input.previous.is_initial() {
            return None;
        }
        let position = input.transition.position;
        Some(self.column(self.orientations.orientation_at(position, swaps(input))))
    }

    #[inline(always)]
    pub(super) fn score(&self, input: &ExpansionInput<'_>) -> Option<f32> {
        let column = self.column_of(input)?;
        Some(input.options.reordering(input.previous.option, column))
    }

    pub(super) fn add_value(
        &self,
        input: &ExpansionInput<'_>,
        sources: &ValueSources<'_>,
        values: &mut [f32],
    ) {
        if let Some(column) = self.column_of(input) {
            values[sources.reordering_components[column]] += sources.previous_reordering[column];
        }
    }
}

/// Hierarchical forward scores: the previous phrase for the orientation of the block that
/// this phrase will belong to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HierarchicalForward {
    orientations: Orientations,
    /// The first column of the forward scores in an option's row.
    column: usize,
}

impl HierarchicalForward {
    /// The column of the previous phrase's row. Not inlined, to keep the loop over
    /// common features small.
    #[inline(never)]
    fn column_of(&self, coverages: &Coverages, previous: &Hypothesis, span: Span) -> usize {
        let covered = |position| coverages.is_covered(previous.coverage, position);
        self.column + self.orientations.hierarchical_orientation(previous.span, span, covered)
    }

    #[inline(always)]
    pub(super) fn score(&self, input: &ExpansionInput<'_>) -> f32 {
        if input.previous.is_initial() {
            return 0.0;
        }
        let column = self.column_of(input.coverages, input.previous, input.transition.span);
        input.options.reordering(input.previous.option, column)
    }

    pub(super) fn add_value(
        &self,
        input: &ExpansionInput<'_>,
        sources: &ValueSources<'_>,
        values: &mut [f32],
    ) {
        if !input.previous.is_initial() {
            let column = self.column_of(input.coverages, input.previous, input.transition.span);
            values[sources.reordering_components[column]] += sources.previous_reordering[column];
        }
    }
}
