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
use super::expansion::Step;
use super::hypothesis::Hypothesis;
use crate::features::Orientations;
use crate::options::{HOT_COLUMNS, OptionId};
use crate::system::StatefulFeature;

/// The stateful features of a usual system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usual {
    orientations: Orientations,
    /// Where backward and forward scores start in an option's row.
    backward: usize,
    forward: usize,
    /// Weights.
    distortion: f32,
    language_model: f32,
    /// Which term comes when: an index into distortion, backward score, forward
    /// score, language model.
    order: [u8; 4],
}

impl Usual {
    /// The stateful features of a system as usual ones, if they are.
    pub(crate) fn of(features: &[StatefulFeature], reordering_width: usize) -> Option<Self> {
        let &[a, b, c, d] = features else { return None };
        let (mut distance, mut before, mut after, mut lm) = (None, None, None, None);
        let mut order = [0; 4];
        for (place, feature) in order.iter_mut().zip([a, b, c, d]) {
            *place = match feature {
                StatefulFeature::Distortion(weight) => {
                    distance = Some(weight);
                    0
                }
                StatefulFeature::Backward { orientations, column } => {
                    before = Some((orientations, column));
                    1
                }
                StatefulFeature::Forward { orientations, column } => {
                    after = Some((orientations, column));
                    2
                }
                StatefulFeature::LanguageModel { weight, .. } => {
                    lm = Some(weight);
                    3
                }
                _ => return None,
            };
        }
        let ((orientations, backward), (others, forward)) = before.zip(after)?;
        (orientations == others && reordering_width <= HOT_COLUMNS).then_some(Usual {
            orientations,
            backward,
            forward,
            distortion: distance?,
            language_model: lm?,
            order,
        })
    }
}

impl SearchSpace<'_> {
    /// [`SearchSpace::expand`] for a usual system.
    #[inline(always)]
    pub(crate) fn expand_usually(
        &mut self,
        usual: &Usual,
        previous: &Hypothesis,
        option: OptionId,
        step: &Step,
        completes: bool,
    ) -> (f32, u32) {
        let hot = self.options.hot(option);
        let orientation = usual.orientations.at(step.place, previous.span.start == step.span.end);
        // Nothing stands before the first phrase; adding 0 to a score that began
        // at 0 changes no bit.
        let forward = if previous.is_initial() {
            0.0
        } else {
            self.options.hot(previous.option).reordering
                [(usual.forward + orientation) % HOT_COLUMNS]
        };
        let lm = &*self.system.language_models[0].model;
        let ends = completes && hot.has_words;
        let (log10, state) =
            self.lms[0].phrase(lm, self.options, &hot.lm_part, previous.state, ends);
        let terms = [
            -step.jump * usual.distortion,
            hot.reordering[(usual.backward + orientation) % HOT_COLUMNS],
            forward,
            Log10(log10).to_ln().0 * usual.language_model,
        ];
        let mut total = previous.total + hot.total;
        for place in usual.order {
            total += terms[usize::from(place) % terms.len()];
        }
        (total, state)
    }
}
