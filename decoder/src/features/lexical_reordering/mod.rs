//! Lexicalised reordering, phrase-based and hierarchical (`docs/spec/phrase-decoding.md` 3.6).
//!
//! A model has a row of scores per phrase pair: for each direction one score per orientation,
//! backward direction first. When a phrase is applied, the backward score of the phrase and the
//! forward score of the previous one are charged, both for the orientation between the two. Nothing
//! is charged at the end of a sentence.
//!
//! A hierarchical model compares a phrase with blocks of phrases. In the backward direction, the
//! block is the longest one that ends with the previous phrase, found by a stack of blocks
//! ([`block_stacks`]). In the forward direction, it matters whether the position next to the
//! previous phrase is still open, so that some block may still join that phrase.
//!
//! Scores are weighted once, when options are made: an option has a row of weighted
//! scores, the columns of all models one after another, and the search only adds.

mod block_stacks;
mod forward_scores;
mod hierarchical_backward;
mod hierarchical_forward;
mod orientations;
mod phrase_based;
mod scores;

use miriam_textio::Ln;

use super::expansion_feature::ExpansionFeature;
use super::stateful_feature::StatefulFeature;
use super::{FeatureSet, FeatureSpec, LoadContext, RecombinationKey};
use crate::Result;
use crate::feature_line::{FeatureLine, parse_count};
use crate::models::{PhraseTable, ReorderingTable, TableFile};
pub(super) use forward_scores::ForwardScores;
pub(super) use hierarchical_backward::HierarchicalBackward;
pub(crate) use hierarchical_backward::HierarchicalBackwardScorer;
pub(super) use hierarchical_forward::HierarchicalForward;
pub(crate) use orientations::RelativePosition;
pub use orientations::{OrientationClasses, ReorderingType};
pub(super) use phrase_based::{BackwardReordering, ForwardReordering};
pub(super) use scores::ReorderingScores;
pub(crate) use scores::{OptionRows, Weighting};

/// A lexicalised reordering model's parameters.
#[derive(Clone, Debug)]
pub struct ReorderingSpec {
    /// Orientations and directions.
    pub model: ReorderingType,
    /// Where the scores are.
    pub source: ReorderingSource,
    /// The factors in the columns of source words, if the model has its own table.
    pub input_factors: Vec<usize>,
    /// The factors in the columns of target words, if the model has its own table.
    pub output_factors: Vec<usize>,
    /// The natural logarithms of the scores of phrase pairs that the table lacks, one per column;
    /// `None` if nothing is charged for them.
    pub default_scores: Option<Vec<f32>>,
}

/// The source of reordering scores.
#[derive(Clone, Debug)]
pub enum ReorderingSource {
    /// Its own text table.
    Text(String),
    /// The records of the phrase table, from this column of its reordering scores on.
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
            (Some(_), Some(_)) => {
                return Err("give either path= or property-index=, not both".into());
            }
        };
        let default_scores = keys.take("default-scores");
        let columns = model.num_columns();
        let default_scores =
            default_scores.map(|list| parse_default_scores(&list, columns)).transpose()?;
        Ok(ReorderingSpec { model, source, input_factors, output_factors, default_scores })
    }

    /// Returns the file of the model's own table.
    pub(crate) fn path(&self) -> Option<&str> {
        match &self.source {
            ReorderingSource::Text(path) => Some(path),
            ReorderingSource::PhraseTable(_) => None,
        }
    }
}

/// Parses a value of `default-scores`, a probability for each of `columns` columns, as logarithms.
fn parse_default_scores(list: &str, columns: usize) -> Result<Vec<f32>, String> {
    let parse = |text: &str| match text.parse::<f32>() {
        Ok(probability) if probability.is_finite() && probability >= 0.0 => {
            Ok(Ln::from_probability(probability).0)
        }
        _ => Err(format!("default-scores={list}: {text:?} is not a probability")),
    };
    let scores = list.split(',').map(parse).collect::<Result<Vec<_>, _>>()?;
    if scores.len() != columns {
        let found = scores.len();
        return Err(format!("default-scores={list}: expected {columns} scores, found {found}"));
    }
    Ok(scores)
}

/// Adds the model of `spec` to `set`, and opens its table if it has one.
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
    let first_column = set.reordering_width();
    let scores = ReorderingScores::new(feature, spec, component, phrase_table_offset, own_table);
    set.reordering_components.extend(scores.components());
    set.reordering.push(scores);
    let kind = spec.model;
    let orientations = kind.orientations;
    if !kind.hierarchical || kind.forward {
        set.recombination_key = RecombinationKey { uses_start: true, uses_end: true };
    }
    if kind.backward {
        let column = first_column;
        if kind.hierarchical {
            set.add_stateful(StatefulFeature::HierarchicalBackward(HierarchicalBackward {
                orientations,
                column,
            }))
        } else {
            set.expansion.push(ExpansionFeature::BackwardReordering(BackwardReordering {
                orientations,
                column,
            }))
        }
    }
    if kind.forward {
        let column = first_column + kind.forward_offset();
        set.forward_columns.extend(column..set.reordering_width());
        set.expansion.push(if kind.hierarchical {
            ExpansionFeature::HierarchicalForward(HierarchicalForward { orientations, column })
        } else {
            ExpansionFeature::ForwardReordering(ForwardReordering { orientations, column })
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
