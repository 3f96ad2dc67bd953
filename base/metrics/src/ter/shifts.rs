//! Shifts of a hypothesis's phrases to their places in the reference, chosen greedily like in
//! Tercom.

use std::ops::Range;

use super::distance::{Edit, EditDistance};

/// The maximum length of a shifted phrase, in words.
const MAX_SHIFT_SIZE: usize = 10;
/// The largest distance between a phrase and its match in the reference, in words.
const MAX_SHIFT_DISTANCE: usize = 50;
/// No shift is made after this number of shifts was tried for a hypothesis and one reference.
const MAX_SHIFT_CANDIDATES: usize = 1000;

/// The alignment of a hypothesis with the reference by the edits between them.
#[derive(Default)]
struct EditAlignment {
    /// The number of hypothesis words up to the position of each reference word.
    hypothesis_ends: Vec<usize>,
    /// Whether each word of the reference needs an edit; the next field is the same for the
    /// hypothesis.
    reference_errors: Vec<bool>,
    hypothesis_errors: Vec<bool>,
}

impl EditAlignment {
    fn from_edits(edits: impl Iterator<Item = Edit>) -> Self {
        let mut alignment = EditAlignment::default();
        for edit in edits {
            if edit != Edit::Insert {
                alignment.hypothesis_errors.push(edit != Edit::Match);
            }
            if edit != Edit::Delete {
                alignment.reference_errors.push(edit != Edit::Match);
                alignment.hypothesis_ends.push(alignment.hypothesis_errors.len());
            }
        }
        alignment
    }
}

/// Tercom's order of preference of shifts: gain, length, the earlier phrase, the earlier
/// target.
type ShiftRank = (usize, usize, std::cmp::Reverse<usize>, std::cmp::Reverse<usize>);

/// Returns the words after the best shift; `None` if none helps or too many were tried.
/// `candidates` counts the shifts tried over all rounds.
pub(super) fn best_shift(
    words: &[u32],
    reference: &[u32],
    distance: &mut EditDistance<'_>,
    candidates: &mut usize,
) -> Option<Vec<u32>> {
    let mut edits = Vec::new();
    let before = distance.trace_back(words, |edit| edits.push(edit));
    let alignment = EditAlignment::from_edits(edits.into_iter().rev());
    let mut best: Option<(ShiftRank, Vec<u32>)> = None;
    let mut shifted = Vec::new();
    for_each_matching_span(words, reference, |start, matched, length| {
        if !alignment.hypothesis_errors[start..start + length].contains(&true)
            || !alignment.reference_errors[matched..matched + length].contains(&true)
            || (start + 1..=start + length).contains(&alignment.hypothesis_ends[matched])
        {
            return true;
        }
        let mut tried = None;
        // The targets are before the first word of the match, and after each of its words.
        for position in matched..=matched + length {
            let target = if position == 0 { 0 } else { alignment.hypothesis_ends[position - 1] };
            if tried.replace(target) == Some(target) {
                continue;
            }
            let changed = apply_shift(words, start, length, target, &mut shifted);
            *candidates += 1;
            // The exact distance does not matter if another shift gains more, or this one nothing.
            let least_gain = best.as_ref().map_or(1, |((gain, ..), _)| *gain);
            let limit = before.saturating_sub(least_gain);
            let Some(after) = distance.compute_changed(&shifted, changed, limit) else { continue };
            let reverse = std::cmp::Reverse;
            let rank = (before - after, length, reverse(start), reverse(target));
            if best.as_ref().is_none_or(|(best, _)| rank > *best) {
                best = Some((rank, shifted.clone()));
            }
        }
        *candidates < MAX_SHIFT_CANDIDATES
    });
    match best {
        Some(((gain, ..), words)) if gain > 0 && *candidates < MAX_SHIFT_CANDIDATES => Some(words),
        _ => None,
    }
}

/// Calls `visit` for each common phrase with its start in the hypothesis, its start in the
/// reference and its length, until it returns false.
fn for_each_matching_span(
    words: &[u32],
    reference: &[u32],
    mut visit: impl FnMut(usize, usize, usize) -> bool,
) {
    for start in 0..words.len() {
        let first = start.saturating_sub(MAX_SHIFT_DISTANCE).min(reference.len());
        let end = (start + MAX_SHIFT_DISTANCE + 1).min(reference.len());
        for matched in first..end {
            let same = words[start..].iter().zip(&reference[matched..]);
            let longest = same.take(MAX_SHIFT_SIZE).take_while(|(a, b)| a == b).count();
            for length in 1..=longest {
                if !visit(start, matched, length) {
                    return;
                }
            }
        }
    }
}

/// Moves the phrase at `start` before the word at `target`, and returns the range in which words
/// may differ afterwards. If `target` is within the phrase, the phrase moves forward by
/// `target - start` words.
fn apply_shift(
    words: &[u32],
    start: usize,
    length: usize,
    target: usize,
    out: &mut Vec<u32>,
) -> Range<usize> {
    let (end, count) = (start + length, words.len());
    out.clear();
    if target < start {
        out.extend_from_slice(&words[..target]);
        out.extend_from_slice(&words[start..end]);
        out.extend_from_slice(&words[target..start]);
        out.extend_from_slice(&words[end..]);
        target..end
    } else {
        let target = if target > end { target } else { (length + target).min(count) };
        out.extend_from_slice(&words[..start]);
        out.extend_from_slice(&words[end..target]);
        out.extend_from_slice(&words[start..end]);
        out.extend_from_slice(&words[target..]);
        start..target
    }
}
