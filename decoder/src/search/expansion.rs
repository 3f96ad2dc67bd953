//! What both searches share: which phrases may come next, and what one more
//! phrase adds to a score (`phrase-decoding.md` 3.6).

use miriam_lmcpu::LmWord;
use miriam_textio::Log10;

use super::hypothesis::{Hypothesis, HypothesisId};
use super::{Expansion, SearchSpace};
use crate::coverage::CoverageId;
use crate::features::{
    Orientations, RelativePosition, Span, early_distortion_distance, jump_distance,
};
use crate::options::OptionId;
use crate::system::ExpansionFeature;

/// Whether the phrase `span` may follow `last_end` (0 at the beginning) under the
/// distortion limit. That the span is not covered is the caller's business.
#[inline]
pub(crate) fn may_extend(limit: Option<i64>, last_end: u32, span: Span, first_gap: u32) -> bool {
    let Some(limit) = limit else { return true };
    if jump_distance(last_end, span) > limit {
        return false;
    }
    // Can the first gap still be reached from the end of this phrase?
    span.start == first_gap || i64::from(span.end) - i64::from(first_gap) <= limit
}

/// The spans by which a hypothesis that covers `coverage` and ended at `last_end`
/// may go on: every span with options that is not covered and allowed, by start
/// and then by length.
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

/// Whether walls and zones, where there are any, let a hypothesis that covers
/// `coverage` go on with `span`.
#[inline]
pub(crate) fn respects_constraint(
    space: &SearchSpace<'_>,
    coverage: CoverageId,
    span: Span,
) -> bool {
    let limit = space.limits.distortion_limit;
    space.constraint.is_none_or(|c| c.allows(space.coverages, coverage, span, limit))
}

/// The same as [`for_each_extension`], whatever walls and zones there are.
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
            // Starts farther right only jump farther.
            if start > last_end {
                break;
            }
            continue;
        }
        let ends = space.options.span_ends(start);
        let Some(&farthest) = ends.last() else { continue };
        let free = space.coverages.next_covered(coverage, start, farthest);
        for &end in ends.iter().take_while(|&&end| end <= free) {
            let span = Span { start, end };
            if may_extend(limit, last_end, span, first_gap) {
                visit(span);
            }
        }
    }
}

/// A span as it stands to what was translated just before, as far as that does
/// not depend on where the last phrase began: the same for all hypotheses of a
/// mini-stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transition {
    pub(crate) span: Span,
    /// The length of the jump, in words.
    pub(crate) distance: f32,
    pub(crate) position: RelativePosition,
}

impl Transition {
    /// The step from `last_end` (0 at the beginning) to `span`.
    #[inline]
    pub(crate) fn new(last_end: u32, span: Span) -> Self {
        let distance = jump_distance(last_end, span) as f32;
        Transition { span, distance, position: RelativePosition::from_span(last_end, span) }
    }
}

impl SearchSpace<'_> {
    /// A hypothesis, one of `hypotheses`, with one more phrase: the score and the
    /// joint state. Features of the phrase, then the stateful ones in the order of
    /// the ini, one addition after another. `completes`: nothing is left to be
    /// covered.
    #[inline(always)]
    pub(crate) fn score_expansion(
        &mut self,
        hypotheses: &[Hypothesis],
        id: HypothesisId,
        option: OptionId,
        transition: &Transition,
        completes: bool,
    ) -> (f32, u32) {
        let previous = &hypotheses[id.0 as usize];
        if !self.system.stateful_features.is_empty() {
            self.score_stateful(
                hypotheses,
                Expansion { previous: id, option, span: transition.span },
            );
        }
        let scores = self.options.scores(option);
        // An empty phrase returns at once, and then no `</s>` is scored.
        let ends = completes && scores.num_words > 0;
        let mut total = previous.total + scores.total;
        for feature in &self.system.expansion_features {
            match *feature {
                ExpansionFeature::Distortion(weight) => total += -transition.distance * weight,
                ExpansionFeature::EarlyDistortion(weight) => {
                    total += early_distortion(self, previous, transition.span) * weight;
                }
                ExpansionFeature::HierarchicalForward { orientations, column } => {
                    total += hierarchical_forward_score(
                        self,
                        previous,
                        transition.span,
                        orientations,
                        column,
                    );
                }
                ExpansionFeature::Stateful { first_score: first, num_scores: count, .. } => {
                    for addend in &self.stateful_scorers.scores()[first..first + count] {
                        total += addend;
                    }
                }
                ExpansionFeature::BackwardReordering { orientations, column } => {
                    let swaps = previous.span.start == transition.span.end;
                    let column = column + orientations.orientation_at(transition.position, swaps);
                    total += self.options.reordering(option, column);
                }
                ExpansionFeature::ForwardReordering { orientations, column } => {
                    if !previous.is_initial() {
                        let swaps = previous.span.start == transition.span.end;
                        let column =
                            column + orientations.orientation_at(transition.position, swaps);
                        total += self.options.reordering(previous.option, column);
                    }
                }
                ExpansionFeature::LanguageModel { model, weight } => {
                    let before = self.joint_states.state(previous.joint_state, model);
                    let part = self.options.lm_phrase(option, model);
                    let lm = &*self.system.language_models[model].model;
                    let (log10, behind) =
                        self.lm_caches[model].score_phrase(lm, self.options, part, before, ends);
                    total += Log10(log10).to_ln().0 * weight;
                    self.joint_states.set_state(model, behind);
                }
            }
        }
        (total, self.joint_states.join())
    }

    /// Has the features with states of their own answer, and their states joined.
    #[inline(never)]
    fn score_stateful(&mut self, hypotheses: &[Hypothesis], expansion: Expansion) {
        let mut scorers = std::mem::take(self.stateful_scorers);
        scorers.score_expansion(self, hypotheses, expansion);
        for (i, &state) in scorers.states().iter().enumerate() {
            self.joint_states.set_state(self.lm_caches.len() + i, state);
        }
        *self.stateful_scorers = scorers;
    }

    /// Starts loading what the language models need for expansions of joint
    /// states by options: the first dependent word of each.
    pub(crate) fn prefetch(&self, expansions: impl Iterator<Item = (u32, OptionId)> + Clone) {
        for (m, (scores, feature)) in
            self.lm_caches.iter().zip(&self.system.language_models).enumerate()
        {
            let first = |(state, option): (u32, OptionId)| {
                let (dependent, _) = self.options.lm_pool_slices(self.options.lm_phrase(option, m));
                Some((self.joint_states.state(state, m), LmWord(*dependent.first()?)))
            };
            for (state, word) in expansions.clone().filter_map(first) {
                scores.prefetch(state, word);
            }
            for (state, word) in expansions.clone().filter_map(first) {
                scores.prefetch_model(&*feature.model, state, word);
            }
        }
    }
}

/// Minus the words of jumps that become unavoidable. Not inlined, as what follows,
/// to keep the loop of common features small.
#[inline(never)]
pub(crate) fn early_distortion(space: &SearchSpace<'_>, previous: &Hypothesis, span: Span) -> f32 {
    let first_gap = space.coverages.summary(previous.coverage).first_gap;
    -(early_distortion_distance(previous.span.end, span, first_gap) as f32)
}

/// The weighted score of the phrase before for where `span` lies, hierarchically.
#[inline(never)]
fn hierarchical_forward_score(
    space: &SearchSpace<'_>,
    previous: &Hypothesis,
    span: Span,
    orientations: Orientations,
    column: usize,
) -> f32 {
    if previous.is_initial() {
        return 0.0;
    }
    let orientation = hierarchical_forward_orientation(space, previous, span, orientations);
    space.options.reordering(previous.option, column + orientation)
}

/// The orientation of `span` seen from the phrase before, hierarchically.
pub(crate) fn hierarchical_forward_orientation(
    space: &SearchSpace<'_>,
    previous: &Hypothesis,
    span: Span,
    orientations: Orientations,
) -> usize {
    let covered = |position| space.coverages.is_covered(previous.coverage, position);
    orientations.hierarchical_orientation(previous.span, span, covered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// Section 3.6, "Extension rule".
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
