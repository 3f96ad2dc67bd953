//! The features that training scripts write: distortion, one bidirectional reordering
//! model and one language model, in any order. Systems with these have a fast path in
//! the search.

use super::distortion::Distortion;
use super::expansion_feature::ExpansionFeature;
use super::language_model::LanguageModelFeature;
use super::lexical_reordering::{BackwardReordering, ForwardReordering};
use super::{FeatureSet, OrientationClasses};
use crate::translation_options::MAX_HOT_COLUMNS;

/// The features of an expansion on the fast path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastPathFeatures {
    pub(crate) distortion: Distortion,
    /// Backward and forward scores tell the same orientations apart.
    pub(crate) backward: BackwardReordering,
    pub(crate) forward: ForwardReordering,
    pub(crate) language_model: LanguageModelFeature,
    /// The order of the terms: indices into distortion, backward score, forward score,
    /// language model.
    pub(crate) order: [u8; 4],
}

impl FastPathFeatures {
    /// The features of `set`, if they are those of the fast path.
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
                    3
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

    /// The orientations that the reordering model tells apart.
    #[inline(always)]
    pub(crate) fn orientations(&self) -> OrientationClasses {
        self.backward.orientations
    }
}
