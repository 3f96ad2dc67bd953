//! The scores of reordering models. They are read into the rows of options, from the records of
//! phrase tables or from tables of the reordering models.

use miriam_probingpt::Targets;
use miriam_textio::WordId;

use super::ReorderingSpec;
use crate::features::{FeatureSet, FeatureSpec};
use crate::models::{Models, PhraseTable, ReorderingTable};
use crate::sentence::SourceSpan;
use crate::{Error, Result};

/// The scores of a reordering model: the columns of its table in an option's row, and their
/// weights.
#[derive(Clone, Debug)]
pub(crate) struct ReorderingScores {
    /// The name of its feature.
    name: String,
    component: usize,
    columns: Vec<RowColumn>,
    /// The index of its first score in the records of the phrase tables, if they have its scores.
    phrase_table_offset: Option<usize>,
    /// The index of its own table among the reordering tables, if it has one.
    own_table: Option<usize>,
    /// The scores of phrase pairs that the table lacks.
    default_scores: Option<Vec<f32>>,
}

/// A column of an option's row.
#[derive(Clone, Copy, Debug)]
struct RowColumn {
    table_column: usize,
    /// The index of the feature's weight; columns of a collapsed model share one.
    weight_index: usize,
    weight: f32,
}

impl ReorderingScores {
    /// Returns the scores of `feature`, whose first component is `component`, in the records of the
    /// phrase tables or in their own table.
    pub(super) fn new(
        feature: &FeatureSpec,
        spec: &ReorderingSpec,
        component: usize,
        phrase_table_offset: Option<usize>,
        own_table: Option<usize>,
    ) -> Self {
        let columns = spec
            .model
            .column_weight_indices()
            .map(|(table_column, weight_index)| RowColumn {
                table_column,
                weight_index,
                weight: 0.0,
            })
            .collect();
        let name = feature.name.clone();
        let default_scores = spec.default_scores.clone();
        ReorderingScores {
            name,
            component,
            columns,
            phrase_table_offset,
            own_table,
            default_scores,
        }
    }

    /// Returns the component of each of its columns in an option's row.
    pub(super) fn components(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().map(|column| self.component + column.weight_index)
    }

    /// Sets the weights of the columns. `weights` has the weights of all components.
    pub(in crate::features) fn set_weights(&mut self, weights: &[f32]) {
        for column in &mut self.columns {
            column.weight = weights[self.component + column.weight_index];
        }
    }

    /// Returns the number of its columns in an option's row.
    fn num_columns(&self) -> usize {
        self.columns.len()
    }

    /// Returns the scores of a target in a record of a phrase table, if it has them.
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

    /// Writes the scores of a phrase pair to the model's columns of an option's row.
    fn write(&self, weighting: Weighting, scores: &[f32], row: &mut [f32]) {
        for (cell, column) in row.iter_mut().zip(&self.columns) {
            let score = scores[column.table_column];
            *cell = match weighting {
                Weighting::Weighted => score * column.weight,
                Weighting::Unweighted => score,
            };
        }
    }

    /// Fails if the scores should be in the records of phrase tables and one of
    /// `tables` lacks them.
    pub(in crate::features) fn check_tables(&self, tables: &[PhraseTable]) -> Result<()> {
        let Some(offset) = self.phrase_table_offset else { return Ok(()) };
        let needed = offset + self.columns.iter().map(|c| c.table_column + 1).max().unwrap_or(0);
        for table in tables {
            let found = table.phrases.num_reordering_scores();
            if found < needed {
                let reason = format!(
                    "property-index={offset} needs {needed} reordering scores in the phrase \
                     table, which has {found}; build it with --reordering, or give path="
                );
                return Err(Error::feature(&self.name, reason));
            }
        }
        Ok(())
    }
}

/// Whether the scores of an option's row are weighted (for the search) or not (for output).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weighting {
    Weighted,
    Unweighted,
}

/// The rows of reordering scores of the options of a source phrase.
pub(crate) struct OptionRows<'a> {
    /// The number of options.
    pub(crate) count: usize,
    /// The distance between the first columns of two rows.
    pub(crate) stride: usize,
    /// The rows, from the first column of the first row on.
    pub(crate) columns: &'a mut [f32],
}

impl FeatureSet {
    /// Writes the default scores, for phrase pairs that are in no table, to an option's row.
    /// The columns of the row must be 0 before the call.
    pub(crate) fn write_default_reordering(&self, weighting: Weighting, mut row: &mut [f32]) {
        for model in &self.reordering {
            let (own, rest) = row.split_at_mut(model.num_columns());
            row = rest;
            if let Some(scores) = &model.default_scores {
                model.write(weighting, scores, own);
            }
        }
    }

    /// Writes the reordering scores of a target, from its record in `table`, to `row`, the row of
    /// its option. The row has a column for each orientation of all models.
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

    /// Writes the scores of reordering models that have tables of their own to the rows of options
    /// of `source`. `words(i)` returns the target words of option i.
    ///
    /// # Errors
    ///
    /// Fails if a table is damaged.
    pub(crate) fn write_table_reordering<'w>(
        &self,
        models: &Models,
        source: SourceSpan<'_>,
        words: impl Fn(usize) -> &'w [WordId],
        weighting: Weighting,
        targets: &mut Targets,
        rows: OptionRows<'_>,
    ) -> Result<()> {
        let mut first = 0;
        for model in &self.reordering {
            if let Some(own) = model.own_table {
                let table = &models.reordering_tables[own];
                for_each_match(table, models, source, targets, rows.count, &words, |scores, i| {
                    let start = i * rows.stride + first;
                    model.write(weighting, scores, &mut rows.columns[start..]);
                })?;
            }
            first += model.num_columns();
        }
        Ok(())
    }
}

/// Calls `visit` with the scores and the number of each option that the table `own` has for the
/// source phrase `source`. `words` returns the target words of one of the `num_options` options.
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
        let words = if own.has_projection() {
            projected = words
                .iter()
                .map(|&word| own.project_word(word, source.sentence.word(word, models), models))
                .collect();
            &projected
        } else {
            words
        };
        // Of equal pairs in the table, the last is used, as in Moses.
        if let Some(i) = (0..targets.len()).rev().find(|i: &usize| {
            let candidate = targets.words(*i);
            candidate.len() == words.len()
                && candidate
                    .iter()
                    .zip(words)
                    .all(|(&c, &w)| own.table.target_words[c as usize] == w)
        }) && let Some(scores) = own.table.phrases.reordering_scores(targets, i)
        {
            visit(scores, option);
        }
    }
    Ok(())
}
