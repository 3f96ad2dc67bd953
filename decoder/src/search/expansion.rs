//! What both searches share: which phrases may come next, and what one more
//! phrase adds to a score (`phrase-decoding.md` 3.6).

use super::SearchSpace;
use super::hypothesis::Hypothesis;
use crate::coverage::CoverageId;
use crate::features::Span;
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

/// The length of the jump to `span`, in words.
#[inline]
pub(crate) fn jump(last_end: u32, span: Span) -> i64 {
    (i64::from(last_end) - i64::from(span.start)).abs()
}

/// The jumps and spans by which a hypothesis that covers `coverage` and ended at
/// `last_end` may go on: every span that is not covered and allowed, by start
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
    let limit = space.system.settings.distortion_limit;
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
    let limit = space.system.settings.distortion_limit;
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
        for end in start + 1..=space.length.min(start + space.options.longest()) {
            if space.coverages.is_covered(coverage, end - 1) {
                break;
            }
            let span = Span { start, end };
            if may_extend(limit, last_end, span, first_gap) {
                visit(span);
            }
        }
    }
}

/// The score of `previous` with one more phrase: features of the phrase, then
/// the stateful ones in the order of the ini, one addition after another.
/// `lm_scores` are natural logarithms, one a language model.
#[inline]
pub(crate) fn total(
    space: &SearchSpace<'_>,
    previous: &Hypothesis,
    option: OptionId,
    span: Span,
    lm_scores: &[f32],
) -> f32 {
    let mut total = previous.total + space.options.scores(option).total;
    for feature in &space.system.stateful_features {
        match *feature {
            StatefulFeature::Distortion(weight) => {
                total += -(jump(previous.span.end, span) as f32) * weight;
            }
            StatefulFeature::Reordering { kind, column } => {
                let orientation = kind.orientations.between(previous.span, span);
                if kind.backward {
                    total += space.options.reordering(option, column + orientation);
                }
                if kind.forward && !previous.is_initial() {
                    let column = column + kind.forward_offset();
                    total += space.options.reordering(previous.option, column + orientation);
                }
            }
            StatefulFeature::LanguageModel { model, weight } => {
                total += lm_scores[model] * weight;
            }
        }
    }
    total
}

/// The score before any stateful feature is known, for lazy scoring.
#[inline]
pub(crate) fn stateless_total(
    space: &SearchSpace<'_>,
    previous: &Hypothesis,
    option: OptionId,
) -> f32 {
    previous.total + space.options.scores(option).total
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
        assert_eq!(jump(0, span(2, 3)), 2);
        assert_eq!(jump(5, span(2, 3)), 3);
    }
}
