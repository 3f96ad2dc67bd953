//! What both searches share: which phrases may come next, and what one more
//! phrase adds to a score (`phrase-decoding.md` 3.6).

use miriam_lmcpu::LmWord;
use miriam_textio::Log10;

use super::hypothesis::{Hypothesis, HypothesisId};
use super::{Expansion, SearchSpace};
use crate::coverage::CoverageId;
use crate::features::{Orientations, Place, Span, early_jump, jump};
use crate::options::OptionId;
use crate::system::StatefulFeature;

/// Whether the phrase `span` may follow `last_end` (0 at the beginning) under the
/// distortion limit. That the span is not covered is the caller's business.
#[inline]
pub(crate) fn may_extend(limit: Option<i64>, last_end: u32, span: Span, first_gap: u32) -> bool {
    let Some(limit) = limit else { return true };
    if jump(last_end, span) > limit {
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
    let limit = space.limits.distortion;
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
    let limit = space.limits.distortion;
    let first_gap = space.coverages.facts(coverage).first_gap;
    for start in first_gap..space.length {
        let nearest = Span { start, end: start + 1 };
        if !may_extend(limit, last_end, nearest, first_gap) {
            // Starts farther right only jump farther.
            if start > last_end {
                break;
            }
            continue;
        }
        let ends = space.options.ends(start);
        let Some(&farthest) = ends.last() else { continue };
        let free = space.coverages.free_until(coverage, start, farthest);
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
pub(crate) struct Step {
    pub(crate) span: Span,
    /// The length of the jump, in words.
    pub(crate) jump: f32,
    pub(crate) place: Place,
}

impl Step {
    /// The step from `last_end` (0 at the beginning) to `span`.
    #[inline]
    pub(crate) fn new(last_end: u32, span: Span) -> Self {
        let jump = jump(last_end, span) as f32;
        Step { span, jump, place: Place::of(last_end, span) }
    }
}

impl SearchSpace<'_> {
    /// A hypothesis, one of `hypotheses`, with one more phrase: the score and the
    /// joint state. Features of the phrase, then the stateful ones in the order of
    /// the ini, one addition after another. `completes`: nothing is left to be
    /// covered.
    #[inline(always)]
    pub(crate) fn expand(
        &mut self,
        hypotheses: &[Hypothesis],
        id: HypothesisId,
        option: OptionId,
        step: &Step,
        completes: bool,
    ) -> (f32, u32) {
        let previous = &hypotheses[id.0 as usize];
        if !self.system.contexts.is_empty() {
            self.answer_contexts(hypotheses, Expansion { previous: id, option, span: step.span });
        }
        let scores = self.options.scores(option);
        // An empty phrase returns at once, and then no `</s>` is scored.
        let ends = completes && scores.len > 0;
        let mut total = previous.total + scores.total;
        for feature in &self.system.stateful_features {
            match *feature {
                StatefulFeature::Distortion(weight) => total += -step.jump * weight,
                StatefulFeature::EarlyDistortion(weight) => {
                    total += early_distortion(self, previous, step.span) * weight;
                }
                StatefulFeature::ForwardBlocks { orientations, column } => {
                    total += forward_blocks(self, previous, step.span, orientations, column);
                }
                StatefulFeature::Context { first, count, .. } => {
                    for addend in &self.contexts.addends()[first..first + count] {
                        total += addend;
                    }
                }
                StatefulFeature::Backward { orientations, column } => {
                    let swaps = previous.span.start == step.span.end;
                    let column = column + orientations.at(step.place, swaps);
                    total += self.options.reordering(option, column);
                }
                StatefulFeature::Forward { orientations, column } => {
                    if !previous.is_initial() {
                        let swaps = previous.span.start == step.span.end;
                        let column = column + orientations.at(step.place, swaps);
                        total += self.options.reordering(previous.option, column);
                    }
                }
                StatefulFeature::LanguageModel { model, weight } => {
                    let before = self.joint.state(previous.state, model);
                    let part = self.options.lm_part(option, model);
                    let lm = &*self.system.language_models[model].model;
                    let (log10, behind) =
                        self.lms[model].phrase(lm, self.options, part, before, ends);
                    total += Log10(log10).to_ln().0 * weight;
                    self.joint.set(model, behind);
                }
            }
        }
        (total, self.joint.join())
    }

    /// Has the features with states of their own answer, and their states joined.
    #[inline(never)]
    fn answer_contexts(&mut self, hypotheses: &[Hypothesis], expansion: Expansion) {
        let mut contexts = std::mem::take(self.contexts);
        contexts.answer(self, hypotheses, expansion);
        for (i, &state) in contexts.states().iter().enumerate() {
            self.joint.set(self.lms.len() + i, state);
        }
        *self.contexts = contexts;
    }

    /// Starts loading what the language models need for expansions of joint
    /// states by options: the first dependent word of each.
    pub(crate) fn prefetch(&self, expansions: impl Iterator<Item = (u32, OptionId)> + Clone) {
        for (m, (scores, feature)) in self.lms.iter().zip(&self.system.language_models).enumerate()
        {
            let first = |(state, option): (u32, OptionId)| {
                let (dependent, _) = self.options.pooled(self.options.lm_part(option, m));
                Some((self.joint.state(state, m), LmWord(*dependent.first()?)))
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
    let first_gap = space.coverages.facts(previous.coverage).first_gap;
    -(early_jump(previous.span.end, span, first_gap) as f32)
}

/// The weighted score of the phrase before for where `span` lies, hierarchically.
#[inline(never)]
fn forward_blocks(
    space: &SearchSpace<'_>,
    previous: &Hypothesis,
    span: Span,
    orientations: Orientations,
    column: usize,
) -> f32 {
    if previous.is_initial() {
        return 0.0;
    }
    let orientation = forward_block(space, previous, span, orientations);
    space.options.reordering(previous.option, column + orientation)
}

/// The orientation of `span` seen from the phrase before, hierarchically.
pub(crate) fn forward_block(
    space: &SearchSpace<'_>,
    previous: &Hypothesis,
    span: Span,
    orientations: Orientations,
) -> usize {
    let covered = |position| space.coverages.is_covered(previous.coverage, position);
    orientations.from_block(previous.span, span, covered)
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
