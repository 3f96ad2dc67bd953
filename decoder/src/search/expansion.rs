//! Expansion, which both searches share: phrases that may come next, and the score of a hypothesis
//! with one more phrase (`docs/spec/phrase-decoding.md` 3.6).

use miriam_lmcpu::LmWord;

use super::SearchSpace;
use crate::coverage::CoverageId;
use crate::features::{ExpansionInput, LanguageModelFeature, LmScorers, Transition, jump_distance};
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::span::Span;
use crate::translation_options::OptionId;

/// Whether the phrase `span` may follow `last_end` (0 at the beginning) under the distortion limit.
/// The caller makes sure that the span is not covered.
#[inline]
pub(crate) fn may_extend(limit: Option<i64>, last_end: u32, span: Span, first_gap: u32) -> bool {
    let Some(limit) = limit else { return true };
    if jump_distance(last_end, span) > limit {
        return false;
    }
    // From the end of this phrase, the first gap must still be within the limit.
    span.start == first_gap || i64::from(span.end) - i64::from(first_gap) <= limit
}

/// Calls `visit` with each span that may extend a hypothesis with the coverage `coverage` and a
/// last phrase that ended at `last_end`. These are all allowed spans that have options and are not
/// covered, sorted by start and then by length.
pub(crate) fn for_each_extension(
    space: &SearchSpace<'_>,
    coverage: CoverageId,
    last_end: u32,
    mut visit: impl FnMut(Span),
) {
    match space.constraint {
        None => for_each_reachable(space, coverage, last_end, visit),
        Some(_) => for_each_reachable(space, coverage, last_end, |span| {
            if respects_constraint(space, coverage, span) {
                visit(span);
            }
        }),
    }
}

/// Whether walls and zones, if any, allow `span` after a hypothesis that covers `coverage`.
#[inline]
pub(crate) fn respects_constraint(
    space: &SearchSpace<'_>,
    coverage: CoverageId,
    span: Span,
) -> bool {
    let limit = space.limits.distortion_limit;
    space.constraint.is_none_or(|c| c.allows(space.coverages, coverage, span, limit))
}

/// Works like [`for_each_extension`], without walls and zones.
#[inline]
fn for_each_reachable(
    space: &SearchSpace<'_>,
    coverage: CoverageId,
    last_end: u32,
    mut visit: impl FnMut(Span),
) {
    let limit = space.limits.distortion_limit;
    let first_gap = space.coverages.summary(coverage).first_gap;
    for start in first_gap..space.length {
        let nearest = Span { start, end: start + 1 };
        if !may_extend(limit, last_end, nearest, first_gap) {
            // A span that starts farther right only makes the jump longer.
            if start > last_end {
                break;
            }
            continue;
        }
        let ends = space.options.span_ends(start);
        let Some(&farthest) = ends.last() else { continue };
        let next_covered = space.coverages.next_covered(coverage, start, farthest);
        for &end in ends.iter().take_while(|&&end| end <= next_covered) {
            let span = Span { start, end };
            if may_extend(limit, last_end, span, first_gap) {
                visit(span);
            }
        }
    }
}

impl SearchSpace<'_> {
    /// Returns the score and the joint state after the hypothesis `id` of `hypotheses` is extended
    /// by `option`. First the score of the option is added, then the features of the expansion in
    /// the order of the ini. `completes` says whether nothing is left to be covered.
    #[inline(always)]
    pub(crate) fn score_expansion(
        &mut self,
        hypotheses: &[Hypothesis],
        id: HypothesisId,
        option: OptionId,
        transition: &Transition,
        completes: bool,
    ) -> (f32, u32) {
        let scores = self.options.scores(option);
        // No `</s>` is scored after an empty phrase.
        let ends = completes && scores.num_words > 0;
        let features = &self.system.plan.features;
        if !features.stateful.is_empty() {
            self.score_stateful(hypotheses, id, option, transition, ends);
        }
        let previous = &hypotheses[id.0 as usize];
        let input = ExpansionInput {
            models: &self.system.models,
            sentence: self.sentence,
            options: self.options,
            coverages: self.coverages,
            hypotheses,
            previous_id: id,
            previous,
            option,
            transition,
            ends,
        };
        let mut lms = LmScorers { caches: self.lm_caches, joint_states: self.joint_states };
        let stateful_scores = self.stateful_scorers.scores();
        let mut total = previous.total + scores.total;
        for feature in &features.expansion {
            let lm_score = |lm: &LanguageModelFeature| lm.expansion_score(&input, &mut lms);
            total = feature.add_score(total, &input, lm_score, stateful_scores);
        }
        (total, self.joint_states.join())
    }

    /// Scores an expansion by the features with their own states, and sets their states after it.
    #[inline(never)]
    fn score_stateful(
        &mut self,
        hypotheses: &[Hypothesis],
        id: HypothesisId,
        option: OptionId,
        transition: &Transition,
        ends: bool,
    ) {
        let input = ExpansionInput {
            models: &self.system.models,
            sentence: self.sentence,
            options: self.options,
            coverages: self.coverages,
            hypotheses,
            previous_id: id,
            previous: &hypotheses[id.0 as usize],
            option,
            transition,
            ends,
        };
        self.stateful_scorers.score_expansion(&input, self.joint_states);
    }

    /// Starts loading language-model data for `expansions`, pairs of a joint state and an option:
    /// the data that each model needs to score the option's first context-dependent word.
    #[inline]
    pub(crate) fn prefetch(&self, expansions: impl Iterator<Item = (u32, OptionId)> + Clone) {
        let models = &self.system.models.language_models;
        for (m, (cache, lm)) in self.lm_caches.iter().zip(models).enumerate() {
            for (state, option) in expansions.clone() {
                if let Some(word) = self.first_dependent_word(option, m) {
                    cache.prefetch(self.joint_states.state(state, m), word);
                }
            }
            for (state, option) in expansions.clone() {
                if let Some(word) = self.first_dependent_word(option, m) {
                    let state = self.joint_states.state(state, m);
                    cache.prefetch_model(&*lm.model, state, word);
                }
            }
        }
    }

    /// Returns the first word of `option` whose score by language model `m` depends on its context.
    #[inline(always)]
    fn first_dependent_word(&self, option: OptionId, m: usize) -> Option<LmWord> {
        let phrase = self.options.lm_phrase(option, m).parts(self.options.lm_pool());
        phrase.dependent.first().map(|&word| LmWord(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// The "extension rule" of `docs/spec/phrase-decoding.md` 3.6.
    #[test]
    fn distortion_limit() {
        assert!(may_extend(None, 0, span(40, 41), 0));
        assert!(may_extend(Some(6), 0, span(0, 9), 0), "the first gap itself, however long");
        assert!(may_extend(Some(6), 0, span(4, 6), 0));
        assert!(!may_extend(Some(6), 0, span(4, 7), 0), "no way back to the gap");
        assert!(!may_extend(Some(6), 3, span(10, 11), 3), "too far");
        assert!(may_extend(Some(6), 9, span(3, 4), 3), "back to the gap");
        assert!(!may_extend(Some(6), 10, span(3, 4), 3));
        assert!(may_extend(Some(0), 3, span(3, 5), 3));
        assert!(!may_extend(Some(0), 3, span(4, 5), 3));
    }
}
