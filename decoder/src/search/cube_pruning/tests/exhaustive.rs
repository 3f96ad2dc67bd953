//! An exhaustive decoder over the options of a sentence: every derivation, without recombination
//! and pruning.

use crate::features::Transition;
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::search::SearchSpace;
use crate::search::expansion::for_each_extension;
use crate::span::Span;
use crate::translation_options::OptionId;

/// The largest number of partial derivations. Sentences with more are skipped.
const MAX_PARTIAL: usize = 8_000;

/// Returns the total of the best derivation, minus infinity if there is none. Returns `None` if
/// there are more partial derivations than [`MAX_PARTIAL`]. `begin` is the joint state at the
/// beginning.
pub(super) fn best_total(space: &mut SearchSpace<'_>, begin: u32) -> Option<f32> {
    space.stateful_scorers.restart();
    let mut partial = vec![Hypothesis::initial(begin)];
    let mut best = f32::NEG_INFINITY;
    let mut next = 0;
    while let Some(&previous) = partial.get(next) {
        let id = HypothesisId(next as u32);
        next += 1;
        if space.coverages.is_complete(previous.coverage) {
            best = best.max(previous.total);
            continue;
        }
        let mut spans = Vec::new();
        let last_end = previous.span.end;
        for_each_extension(space, previous.coverage, last_end, |span| spans.push(span));
        for span in spans {
            let coverage = space.coverages.extend(previous.coverage, span, space.future_costs);
            let completes = space.coverages.is_complete(coverage);
            let transition = Transition::new(last_end, span);
            for option in options(space, span) {
                let (total, joint_state) =
                    space.score_expansion(&partial, id, option, &transition, completes);
                let future_score = total + space.coverages.summary(coverage).estimate;
                partial.push(Hypothesis {
                    total,
                    joint_state,
                    previous: id,
                    option,
                    span,
                    coverage,
                    future_score,
                });
            }
        }
        if partial.len() > MAX_PARTIAL {
            return None;
        }
    }
    Some(best)
}

/// Returns the options of `span` in all tables.
fn options(space: &SearchSpace<'_>, span: Span) -> Vec<OptionId> {
    let ranges = (0..space.options.num_slots()).map(|slot| space.options.range(span, slot));
    ranges.flat_map(|range| range.first..range.first + range.count).map(OptionId).collect()
}
