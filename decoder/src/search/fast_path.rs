//! Expansion under the features that training scripts write: distortion, one
//! bidirectional reordering model and one language model, in any order.
//!
//! This is where nearly all systems spend their time, so such a system keeps what
//! an expansion reads of an option in one cache line, and its terms are worked
//! out side by side and then added in the order of the ini, without a branch on
//! what comes next. [`SearchSpace::expand`] gives the same for any features, one
//! after another.

use miriam_textio::Log10;

use super::SearchSpace;
use super::expansion::Transition;
use super::hypothesis::Hypothesis;
use crate::features::Orientations;
use crate::options::{MAX_HOT_COLUMNS, OptionId};
use crate::system::ExpansionFeature;

/// The stateful features of a usual system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastPathFeatures {
    orientations: Orientations,
    /// Where backward and forward scores start in an option's row.
    backward_column: usize,
    forward_column: usize,
    /// Weights.
    distortion_weight: f32,
    lm_weight: f32,
    /// Which term comes when: an index into distortion, backward score, forward
    /// score, language model.
    order: [u8; 4],
}

impl FastPathFeatures {
    /// The stateful features of a system as usual ones, if they are.
    pub(crate) fn from_features(
        features: &[ExpansionFeature],
        reordering_width: usize,
    ) -> Option<Self> {
        let &[a, b, c, d] = features else { return None };
        let (mut distance, mut before, mut after, mut lm) = (None, None, None, None);
        let mut order = [0; 4];
        for (place, feature) in order.iter_mut().zip([a, b, c, d]) {
            *place = match feature {
                ExpansionFeature::Distortion(weight) => {
                    distance = Some(weight);
                    0
                }
                ExpansionFeature::BackwardReordering { orientations, column } => {
                    before = Some((orientations, column));
                    1
                }
                ExpansionFeature::ForwardReordering { orientations, column } => {
                    after = Some((orientations, column));
                    2
                }
                ExpansionFeature::LanguageModel { weight, .. } => {
                    lm = Some(weight);
                    3
                }
                _ => return None,
            };
        }
        let ((orientations, backward), (others, forward)) = before.zip(after)?;
        (orientations == others && reordering_width <= MAX_HOT_COLUMNS).then_some(
            FastPathFeatures {
                orientations,
                backward_column: backward,
                forward_column: forward,
                distortion_weight: distance?,
                lm_weight: lm?,
                order,
            },
        )
    }
}

impl SearchSpace<'_> {
    /// [`SearchSpace::expand`] for a usual system.
    #[inline(always)]
    pub(crate) fn score_expansion_fast_path(
        &mut self,
        features: &FastPathFeatures,
        previous: &Hypothesis,
        option: OptionId,
        transition: &Transition,
        completes: bool,
    ) -> (f32, u32) {
        let hot = self.options.hot_option(option);
        let orientation = features
            .orientations
            .orientation_at(transition.position, previous.span.start == transition.span.end);
        // Nothing stands before the first phrase; adding 0 to a score that began
        // at 0 changes no bit.
        let forward = if previous.is_initial() {
            0.0
        } else {
            self.options.hot_option(previous.option).reordering
                [(features.forward_column + orientation) % MAX_HOT_COLUMNS]
        };
        let lm = &*self.system.language_models[0].model;
        let ends = completes && hot.has_words;
        let (log10, state) = self.lm_caches[0].score_phrase(
            lm,
            self.options,
            &hot.lm_phrase,
            previous.joint_state,
            ends,
        );
        let terms = [
            -transition.distance * features.distortion_weight,
            hot.reordering[(features.backward_column + orientation) % MAX_HOT_COLUMNS],
            forward,
            Log10(log10).to_ln().0 * features.lm_weight,
        ];
        let mut total = previous.total + hot.total;
        for place in features.order {
            total += terms[usize::from(place) % terms.len()];
        }
        (total, state)
    }
}
