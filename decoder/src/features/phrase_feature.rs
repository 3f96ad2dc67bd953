//! Features of a target phrase alone: scored once, when the options of a source phrase
//! are made.

use super::language_model::{LanguageModelFeature, OovCount};
use super::operation_sequence_model::OperationSequenceModel;
use super::phrase_penalty::PhrasePenalty;
use super::word_penalty::WordPenalty;
use crate::models::JoinedLanguageModel;

/// A target phrase.
pub(crate) trait TargetPhrase {
    /// Returns the number of its words.
    fn num_words(&self) -> usize;

    /// Returns the number of words that language model `model` does not know.
    fn num_unknown_words(&self, model: usize) -> usize;
}

/// A target phrase from which an option is made.
pub(crate) trait UnscoredPhrase: TargetPhrase {
    /// Returns two natural logarithms of probabilities in language model `model`, without context
    /// before the phrase. The first is for the words whose context lies within the phrase, the
    /// second for all words.
    fn lm_scores(&mut self, model: usize) -> (f32, f32);

    /// Returns the weighted score that an operation sequence model gives the phrase pair as a whole
    /// sentence.
    fn operations_score(&mut self, model: &OperationSequenceModel) -> f32;
}

/// The target phrase of an option, when its values are printed.
pub(crate) trait ScoredPhrase: TargetPhrase {
    /// Returns the first of [`UnscoredPhrase::lm_scores`].
    fn inner_lm_score(&self, model: usize) -> f32;
}

/// A whole translation that does not consist of the system's phrases.
pub(crate) struct WholeText<'a> {
    /// Its words, with spaces between.
    pub(crate) text: &'a [u8],
    /// The language models of the system.
    pub(crate) language_models: &'a [JoinedLanguageModel],
}

/// Features of a phrase alone, in the order of the ini.
pub(crate) enum PhraseFeature {
    WordPenalty(WordPenalty),
    PhrasePenalty(PhrasePenalty),
    LanguageModel(LanguageModelFeature),
    OovCount(OovCount),
    OperationSequenceModel(OperationSequenceModel),
}

impl PhraseFeature {
    /// Sets the weights of the feature. `weights` has the weights of all components.
    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        match self {
            PhraseFeature::WordPenalty(feature) => feature.set_weights(weights),
            PhraseFeature::PhrasePenalty(feature) => feature.set_weights(weights),
            PhraseFeature::LanguageModel(feature) => feature.set_weights(weights),
            PhraseFeature::OovCount(feature) => feature.set_weights(weights),
            PhraseFeature::OperationSequenceModel(feature) => feature.set_weights(weights),
        }
    }

    /// Adds the weighted score of `phrase` to `total`. Scores that an expansion will compute
    /// exactly, and that only guide the search, are added to `estimate`.
    #[inline]
    pub(crate) fn add_score(
        &self,
        phrase: &mut impl UnscoredPhrase,
        total: &mut f32,
        estimate: &mut f32,
    ) {
        match self {
            PhraseFeature::WordPenalty(feature) => *total += feature.score(phrase),
            PhraseFeature::PhrasePenalty(feature) => *total += feature.score(),
            PhraseFeature::LanguageModel(feature) => {
                let (inner, others) = feature.phrase_score(phrase);
                *total += inner;
                *estimate += others;
            }
            PhraseFeature::OovCount(feature) => *total += feature.score(phrase),
            PhraseFeature::OperationSequenceModel(feature) => {
                *estimate += feature.estimate(phrase);
            }
        }
    }

    /// Adds the values of `phrase`, unweighted, to the feature's components of `values`.
    pub(crate) fn add_values(&self, phrase: &impl ScoredPhrase, values: &mut [f32]) {
        match self {
            PhraseFeature::WordPenalty(feature) => feature.add_value(phrase, values),
            PhraseFeature::PhrasePenalty(feature) => feature.add_value(values),
            PhraseFeature::LanguageModel(feature) => feature.add_phrase_value(phrase, values),
            PhraseFeature::OovCount(feature) => feature.add_value(phrase, values),
            // The score is only an estimate.
            PhraseFeature::OperationSequenceModel(_) => {}
        }
    }

    /// Sets the feature's component of `values` to the value of a whole translation. Leaves it
    /// unchanged if words alone do not determine the value.
    pub(crate) fn set_text_value(&self, text: &WholeText<'_>, values: &mut [f32]) {
        match self {
            PhraseFeature::WordPenalty(feature) => feature.set_text_value(text, values),
            PhraseFeature::LanguageModel(feature) => feature.set_text_value(text, values),
            PhraseFeature::OovCount(feature) => feature.set_text_value(text, values),
            PhraseFeature::PhrasePenalty(_) | PhraseFeature::OperationSequenceModel(_) => {}
        }
    }
}
