//! The features that training scripts write: distortion, one bidirectional reordering
//! model and one language model, in any order. Systems with these have a fast path in
//! the search.

use super::distortion::Distortion;
use super::expansion_feature::ExpansionFeature;
use super::language_model::LanguageModelFeature;
use super::lexical_reordering::{BackwardReordering, ForwardReordering};
use super::{FeatureSet, OrientationClasses};
use crate::translation_options::MAX_HOT_COLUMNS;

/// The index of the language model's term.
const LM_TERM: u8 = 3;

/// The features of an expansion on the fast path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastPathFeatures {
    pub(crate) distortion: Distortion,
    /// Backward and forward scores distinguish the same orientations.
    pub(crate) backward: BackwardReordering,
    pub(crate) forward: ForwardReordering,
    pub(crate) language_model: LanguageModelFeature,
    /// The order of the terms: indices into distortion, backward score, forward score,
    /// language model.
    pub(crate) order: [u8; 4],
}

impl FastPathFeatures {
    /// Returns the features of `set`, if they are those of the fast path.
    pub(crate) fn from_features(set: &FeatureSet) -> Option<Self> {
        let &[a, b, c, d] = &set.expansion[..] else { return None };
        if !set.stateful.is_empty() || set.reordering_width() > MAX_HOT_COLUMNS {
            return None;
        }
        let (mut distortion, mut backward, mut forward, mut lm) = (None, None, None, None);
        let mut order = [0; 4];
        for (index, feature) in order.iter_mut().zip([a, b, c, d]) {
            *index = match feature {
                ExpansionFeature::Distortion(feature) => {
                    distortion = Some(feature);
                    0
                }
                ExpansionFeature::BackwardReordering(feature) => {
                    backward = Some(feature);
                    1
                }
                ExpansionFeature::ForwardReordering(feature) => {
                    forward = Some(feature);
                    2
                }
                ExpansionFeature::LanguageModel(feature) => {
                    lm = Some(feature);
                    LM_TERM
                }
                _ => return None,
            };
        }
        let (distortion, backward, forward) = (distortion?, backward?, forward?);
        (backward.orientations == forward.orientations).then_some(FastPathFeatures {
            distortion,
            backward,
            forward,
            language_model: lm?,
            order,
        })
    }

    /// Whether the language model's term comes last.
    #[inline(always)]
    pub(crate) fn lm_is_last(&self) -> bool {
        self.order[3] == LM_TERM
    }

    /// Adds to `total` those of `terms` (distortion, backward and forward reordering) that come
    /// before the language model's.
    #[inline(always)]
    pub(crate) fn add_terms_before_lm(&self, mut total: f32, terms: [f32; 3]) -> f32 {
        for &term in self.order.iter().take_while(|&&term| term != LM_TERM) {
            total += terms[usize::from(term) % terms.len()];
        }
        total
    }

    /// Adds to `total` those of `terms` that come after the language model's.
    #[inline(always)]
    pub(crate) fn add_terms_after_lm(&self, mut total: f32, terms: [f32; 3]) -> f32 {
        for &term in self.order.iter().skip_while(|&&term| term != LM_TERM).skip(1) {
            total += terms[usize::from(term) % terms.len()];
        }
        total
    }

    /// Returns the orientations that the reordering model distinguishes.
    #[inline(always)]
    pub(crate) fn orientations(&self) -> OrientationClasses {
        self.backward.orientations
    }
}
