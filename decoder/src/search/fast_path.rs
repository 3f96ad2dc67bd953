//! Expansion with the features of a usual `moses.ini`: distortion, one bidirectional phrase-based
//! reordering model and one language model, in any order.
//!
//! The loop that pops one item at a time scores with this code, for example if waves meet a tie in
//! a stack. The data that an expansion reads from an option is one cache line. Terms are computed
//! independently of each other and then added in the order of the ini, without branches.
//! [`SearchSpace::score_expansion`] gives the same result for any features, which it evaluates one
//! after another.

use super::SearchSpace;
use crate::features::{FastPathFeatures, Transition};
use crate::hypothesis::Hypothesis;
use crate::translation_options::{MAX_HOT_COLUMNS, OptionId};

impl SearchSpace<'_> {
    /// Computes [`SearchSpace::score_expansion`] on the fast path.
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
        let swaps = previous.span.start == transition.span.end;
        let orientation = features.orientations.orientation_at(transition.position, swaps);
        // Nothing comes before the first phrase.
        let forward = if previous.is_initial() {
            0.0
        } else {
            self.options.hot_option(previous.option).reordering
                [(features.forward_column + orientation) % MAX_HOT_COLUMNS]
        };
        let lm = &*self.system.models.language_models[0].model;
        let ends = completes && hot.has_words;
        let (log10, state) = self.lm_caches[0].score_phrase(
            lm,
            hot.phrase.parts(self.options.lm_pool()),
            previous.joint_state,
            ends,
        );
        let terms = [
            features.distortion.score(transition),
            hot.reordering[(features.backward_column + orientation) % MAX_HOT_COLUMNS],
            forward,
        ];
        let total = features.add_terms_before_lm(previous.total + hot.total, terms);
        let lm_terms = [features.language_models[0].score(log10), 0.0];
        let total = features.add_terms_from_lm(total, terms, lm_terms);
        (total, state)
    }
}
