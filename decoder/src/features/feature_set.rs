//! All feature functions of a system: their components among the values of a translation, their
//! weights, and the lists through which the search calls them.

use std::ops::Range;
use std::path::PathBuf;

use miriam_textio::Progress;

use super::expansion_feature::ExpansionFeature;
use super::lexical_reordering::ReorderingScores;
use super::phrase_feature::PhraseFeature;
use super::phrase_table::{PhraseTableScores, SentenceTableFeature};
use super::stateful_feature::{StatefulFeature, StatefulSlot};
use super::unknown_word_penalty::UnknownWordPenalty;
use crate::Result;
use crate::models::Models;

/// The components of one feature function among the values of a translation.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureComponents {
    /// The name of the feature function in the ini.
    pub name: String,
    /// The indices of its components among all values.
    pub range: Range<usize>,
    /// Whether each component is tuned. N-best lists leave out components that are not.
    pub tuneable: Vec<bool>,
    /// The weight of each component.
    pub weights: Vec<f32>,
}

impl FeatureComponents {
    /// Whether at least one component is tuned.
    pub fn is_tuneable(&self) -> bool {
        self.tuneable.contains(&true)
    }

    /// Returns the indices of the tuned components among all values.
    pub fn tuned_components(&self) -> impl Iterator<Item = usize> + '_ {
        self.range.clone().zip(&self.tuneable).filter_map(|(c, &tuned)| tuned.then_some(c))
    }
}

/// A source of options: a phrase table or the unknown-word penalty. Sources are in the order of the
/// ini. The search sees the options of a span in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableSlot {
    /// Unknown words.
    Unknown,
    /// The phrase table of this number.
    Table(usize),
    /// The phrase table in an input line, scored by the sentence-table feature of this number.
    SentenceTable(usize),
}

/// The properties, besides coverage and joint state, that hypotheses must share to be recombined.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecombinationKey {
    /// Whether they share the start of the last span (reordering models).
    pub(crate) uses_start: bool,
    /// Whether they share its end (reordering models and distortion).
    pub(crate) uses_end: bool,
}

/// The columns of a row of an option's unweighted scores: the scores of its table, padded to the
/// widest table; the score of its words alone by each language model; its reordering scores.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PhraseRowLayout {
    pub(crate) inner_lm_offset: usize,
    pub(crate) reordering_offset: usize,
    /// At least 1, so that rows can be counted.
    pub(crate) width: usize,
}

/// The models and settings that features are loaded with.
pub(crate) struct LoadContext<'a> {
    /// The models, to which features add the models that they load.
    pub(crate) models: &'a mut Models,
    /// Finds the file that a feature line names.
    pub(crate) resolve_path: &'a dyn Fn(&str) -> PathBuf,
    /// Whether the given factors of a source phrase determine the scores of its options.
    pub(crate) determines_options: &'a dyn Fn(&[usize]) -> bool,
    pub(crate) threads: usize,
    pub(crate) progress: &'a dyn Progress,
    /// Whether jumps are charged as soon as they are unavoidable.
    pub(crate) early_distortion: bool,
    /// Whether lines of input come with phrase tables.
    pub(crate) has_sentence_table: bool,
}

/// The feature functions of a system.
#[derive(Default)]
pub(crate) struct FeatureSet {
    /// In the order of the ini.
    pub(crate) components: Vec<FeatureComponents>,
    pub(crate) num_components: usize,
    pub(crate) unknown_word: UnknownWordPenalty,
    pub(crate) slots: Vec<TableSlot>,
    /// By index of the phrase table.
    pub(crate) phrase_tables: Vec<PhraseTableScores>,
    pub(crate) sentence_tables: Vec<SentenceTableFeature>,
    pub(crate) reordering: Vec<ReorderingScores>,
    /// The component of each column of an option's row of reordering scores.
    pub(crate) reordering_components: Vec<usize>,
    /// The columns of forward reordering scores.
    pub(super) forward_columns: Vec<usize>,
    pub(crate) phrase: Vec<PhraseFeature>,
    pub(crate) expansion: Vec<ExpansionFeature>,
    pub(crate) stateful: Vec<StatefulFeature>,
    num_stateful_scores: usize,
    pub(crate) recombination_key: RecombinationKey,
    pub(crate) row_layout: PhraseRowLayout,
}

impl FeatureSet {
    /// Whether unknown words have a penalty.
    pub(crate) fn has_unknown_word_penalty(&self) -> bool {
        self.slots.contains(&TableSlot::Unknown)
    }

    /// Returns the number of reordering scores of an option, all models together.
    pub(crate) fn reordering_width(&self) -> usize {
        self.reordering_components.len()
    }

    /// Whether a feature is an operation sequence model, which reads the source words of phrases
    /// and their alignments.
    pub(crate) fn has_operation_sequence_model(&self) -> bool {
        self.phrase.iter().any(|f| matches!(f, PhraseFeature::OperationSequenceModel(_)))
    }

    /// Adds a feature with its own state, which scores expansions.
    pub(super) fn add_stateful(&mut self, feature: StatefulFeature) {
        let (index, first_score) = (self.stateful.len(), self.num_stateful_scores);
        let num_scores = feature.num_scores();
        self.num_stateful_scores += num_scores;
        let slot = StatefulSlot { index, first_score, num_scores };
        self.expansion.push(ExpansionFeature::Stateful(slot));
        self.stateful.push(feature);
    }

    /// Completes the set, after the last feature was added.
    ///
    /// # Errors
    ///
    /// Fails if a phrase table lacks the reordering scores that a feature needs.
    pub(crate) fn finish(&mut self, models: &Models, exact_recombination: bool) -> Result<()> {
        if exact_recombination && !self.forward_columns.is_empty() {
            self.stateful.push(StatefulFeature::ForwardScores(self.forward_columns.clone()));
        }
        for model in &self.reordering {
            model.check_tables(&models.phrase_tables)?;
        }
        let widest = self.phrase_tables.iter().map(PhraseTableScores::len).max();
        let inner_lm_offset = widest.unwrap_or(0);
        let reordering_offset = inner_lm_offset + models.language_models.len();
        let width = (reordering_offset + self.reordering_width()).max(1);
        self.row_layout = PhraseRowLayout { inner_lm_offset, reordering_offset, width };
        let weights = self.weights();
        self.set_weights(&weights);
        Ok(())
    }

    /// Returns the weights of all components.
    pub(crate) fn weights(&self) -> Vec<f32> {
        self.components.iter().flat_map(|f| f.weights.iter().copied()).collect()
    }

    /// Gives every component a weight: `weights[c]` to component `c`.
    ///
    /// # Panics
    ///
    /// Panics if there are more or fewer weights than components.
    pub(crate) fn set_weights(&mut self, weights: &[f32]) {
        assert_eq!(weights.len(), self.num_components, "one weight a component");
        for feature in &mut self.components {
            feature.weights.copy_from_slice(&weights[feature.range.clone()]);
        }
        self.unknown_word.set_weights(weights);
        self.phrase_tables.iter_mut().for_each(|table| table.set_weights(weights));
        self.sentence_tables.iter_mut().for_each(|table| table.scores.set_weights(weights));
        self.reordering.iter_mut().for_each(|model| model.set_weights(weights));
        self.phrase.iter_mut().for_each(|feature| feature.set_weights(weights));
        self.expansion.iter_mut().for_each(|feature| feature.set_weights(weights));
        self.stateful.iter_mut().for_each(|feature| feature.set_weights(weights));
    }
}
