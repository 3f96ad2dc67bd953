//! The features of a usual `moses.ini`: distortion, bidirectional reordering and language models,
//! in any order. With phrase-based reordering there may be one or two language models, with
//! hierarchical reordering only one. Systems with these features have a fast path in the search.

use super::distortion::Distortion;
use super::expansion_feature::ExpansionFeature;
use super::language_model::LanguageModelFeature;
use super::stateful_feature::StatefulFeature;
use super::{FeatureSet, OrientationClasses};
use crate::translation_options::MAX_HOT_COLUMNS;

/// The number of terms that are not of language models: distortion, backward and forward
/// reordering.
const NUM_PLAIN_TERMS: usize = 3;

/// The index that stands for a missing term, for which 0 is added.
const NO_TERM: u8 = NUM_PLAIN_TERMS as u8;

/// The largest number of language models on the fast path.
pub(crate) const MAX_FAST_MODELS: usize = 2;

/// The largest number of terms of an expansion on the fast path.
const MAX_TERMS: usize = NUM_PLAIN_TERMS + MAX_FAST_MODELS;

/// The kinds of systems on the fast path, each of which has code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastPathKind {
    /// One language model and phrase-based reordering.
    Plain,
    /// Two language models and phrase-based reordering.
    TwoModels,
    /// One language model and hierarchical reordering.
    Hierarchical,
}

/// The features of an expansion on the fast path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastPathFeatures {
    pub(crate) kind: FastPathKind,
    pub(crate) distortion: Distortion,
    /// The orientations that the reordering model distinguishes, in both directions.
    pub(crate) orientations: OrientationClasses,
    /// The first column of the backward scores in an option's row.
    pub(crate) backward_column: usize,
    /// The first column of the forward scores.
    pub(crate) forward_column: usize,
    /// The language models; where there is only one, the second is the same.
    pub(crate) language_models: [LanguageModelFeature; MAX_FAST_MODELS],
    /// The order of the terms: indices into distortion, backward score, forward score, language
    /// models.
    order: [u8; MAX_TERMS],
    num_terms: usize,
    /// The number of terms before the first language model's.
    num_before_lm: usize,
    /// The terms of `order` before the first language model's term, filled up with [`NO_TERM`].
    before_lm: [u8; NUM_PLAIN_TERMS],
}

/// The scores of reordering in one direction.
struct ReorderingScores {
    /// The first of its columns in an option's row.
    first_column: usize,
    orientations: OrientationClasses,
    is_hierarchical: bool,
}

impl FastPathFeatures {
    /// Returns the features of `set` for the fast path; `None` if it does not support them.
    pub(crate) fn from_features(set: &FeatureSet) -> Option<Self> {
        let num_terms = set.expansion.len();
        if num_terms > MAX_TERMS || set.reordering_width() > MAX_HOT_COLUMNS {
            return None;
        }
        let (mut distortion, mut backward, mut forward) = (None, None, None);
        let mut models = Vec::new();
        let mut order = [0; MAX_TERMS];
        for (index, feature) in order.iter_mut().zip(&set.expansion) {
            *index = match feature {
                ExpansionFeature::Distortion(feature) => {
                    distortion = Some(*feature);
                    0
                }
                ExpansionFeature::BackwardReordering(feature) => {
                    backward = Some(ReorderingScores {
                        first_column: feature.column(0),
                        orientations: feature.orientations,
                        is_hierarchical: false,
                    });
                    1
                }
                ExpansionFeature::ForwardReordering(feature) => {
                    forward = Some(ReorderingScores {
                        first_column: feature.column(0),
                        orientations: feature.orientations,
                        is_hierarchical: false,
                    });
                    2
                }
                ExpansionFeature::Stateful(_) => {
                    let [StatefulFeature::HierarchicalBackward(feature)] = &set.stateful[..] else {
                        return None;
                    };
                    backward = Some(ReorderingScores {
                        first_column: feature.column,
                        orientations: feature.orientations,
                        is_hierarchical: true,
                    });
                    1
                }
                ExpansionFeature::HierarchicalForward(feature) => {
                    forward = Some(ReorderingScores {
                        first_column: feature.column,
                        orientations: feature.orientations,
                        is_hierarchical: true,
                    });
                    2
                }
                ExpansionFeature::LanguageModel(feature) => {
                    models.push(*feature);
                    (NUM_PLAIN_TERMS + models.len() - 1) as u8
                }
                ExpansionFeature::EarlyDistortion(_) => return None,
            };
        }
        let (&first, &last) = (models.first()?, models.last()?);
        let (distortion, backward, forward) = (distortion?, backward?, forward?);
        let directions_agree = (backward.orientations, backward.is_hierarchical)
            == (forward.orientations, forward.is_hierarchical);
        let kind = match (backward.is_hierarchical, models.len()) {
            (false, 1) => FastPathKind::Plain,
            (false, 2) => FastPathKind::TwoModels,
            (true, 1) => FastPathKind::Hierarchical,
            _ => return None,
        };
        let num_before_lm = order.iter().take_while(|&&term| !is_lm(term)).count();
        let has_each_once = num_terms == NUM_PLAIN_TERMS + models.len();
        // Exact recombination adds a state.
        let has_further_states = set.stateful.len() != usize::from(backward.is_hierarchical);
        (has_each_once && directions_agree && !has_further_states).then_some(FastPathFeatures {
            kind,
            distortion,
            orientations: backward.orientations,
            backward_column: backward.first_column,
            forward_column: forward.first_column,
            language_models: [first, last],
            order,
            num_terms,
            num_before_lm,
            before_lm: std::array::from_fn(|i| if i < num_before_lm { order[i] } else { NO_TERM }),
        })
    }

    /// Whether distortion and reordering come before all language models.
    #[inline(always)]
    pub(crate) fn lms_are_last(&self) -> bool {
        self.num_before_lm == NUM_PLAIN_TERMS
    }

    /// Adds to `total` the terms that come before the first language model's term. `terms` are
    /// distortion, backward and forward reordering.
    #[inline(always)]
    pub(crate) fn add_terms_before_lm(&self, total: f32, terms: [f32; NUM_PLAIN_TERMS]) -> f32 {
        let [distortion, backward, forward] = terms;
        // Adding 0.0 changes only -0.0, which a sum that starts at 0.0 never is.
        let terms = [distortion, backward, forward, 0.0];
        self.before_lm.iter().fold(total, |total, &at| total + terms[usize::from(at) % terms.len()])
    }

    /// Adds to `total` the first language model's term and all terms after it. `terms` are
    /// distortion, backward and forward reordering; `lm_terms` are the terms of the language
    /// models.
    #[inline(always)]
    pub(crate) fn add_terms_from_lm(
        &self,
        mut total: f32,
        terms: [f32; NUM_PLAIN_TERMS],
        lm_terms: [f32; MAX_FAST_MODELS],
    ) -> f32 {
        let [distortion, backward, forward] = terms;
        let [first, second] = lm_terms;
        let terms = [distortion, backward, forward, first, second];
        for &term in &self.order[self.num_before_lm..self.num_terms] {
            total += terms[usize::from(term) % terms.len()];
        }
        total
    }
}

#[inline(always)]
fn is_lm(term: u8) -> bool {
    usize::from(term) >= NUM_PLAIN_TERMS
}
