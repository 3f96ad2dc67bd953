//! Shifts of phrases of a translation to where the reference has them, chosen
//! greedily as Tercom chooses.

use super::distance::{Edit, EditDistance};

/// Words of a phrase at most.
const MAX_SHIFT_SIZE: usize = 10;
/// Positions between a phrase and its twin in the reference at most.
const MAX_SHIFT_DISTANCE: usize = 50;
/// Shifts tried for a segment.
const MAX_SHIFT_CANDIDATES: usize = 1000;

/// How a translation stands to the reference.
#[derive(Default)]
struct EditAlignment {
    /// For each word of the reference how many words of the translation stand before
    /// its place or in it.
    hypothesis_ends: Vec<usize>,
    /// Whether each word of the reference takes an edit, and each of the translation.
    reference_errors: Vec<bool>,
    hypothesis_errors: Vec<bool>,
}

impl EditAlignment {
    fn from_edits(way: impl Iterator<Item = Edit>) -> Self {
        let mut alignment = EditAlignment::default();
        for edit in way {
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

/// A shift, in the order in which Tercom prefers them: what it gains, its length,
/// the earlier phrase, the earlier place.
type ShiftRank = (isize, usize, std::cmp::Reverse<usize>, std::cmp::Reverse<usize>);

/// The words after the shift that helps most; nothing where none helps, or where too
/// many were tried. `candidates` counts tries from one round to the next.
pub(super) fn best_shift(
    words: &[u32],
    reference: &[u32],
    distance: &mut EditDistance<'_>,
    candidates: &mut usize,
) -> Option<Vec<u32>> {
    let mut way = Vec::new();
    let before = distance.trace_back(words, |edit| way.push(edit)) as isize;
    let alignment = EditAlignment::from_edits(way.into_iter().rev());
    let mut best: Option<(ShiftRank, Vec<u32>)> = None;
    let mut shifted = Vec::new();
    for_each_matching_span(words, reference, |start, twin, length| {
        if !alignment.hypothesis_errors[start..start + length].contains(&true)
            || !alignment.reference_errors[twin..twin + length].contains(&true)
            || (start + 1..=start + length).contains(&alignment.hypothesis_ends[twin])
        {
            return true;
        }
        let mut tried = None;
        // Before the twin's first word, and behind each of its words.
        for place in twin..=twin + length {
            let target = if place == 0 { 0 } else { alignment.hypothesis_ends[place - 1] };
            if tried.replace(target) == Some(target) {
                continue;
            }
            apply_shift(words, start, length, target, &mut shifted);
            let gain = before - distance.compute(&shifted) as isize;
            let reverse = std::cmp::Reverse;
            let rank = (gain, length, reverse(start), reverse(target));
            *candidates += 1;
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

/// Calls `visit` with the start, the start in the reference, and the length of each
/// phrase that both have, until it returns false.
fn for_each_matching_span(
    words: &[u32],
    reference: &[u32],
    mut visit: impl FnMut(usize, usize, usize) -> bool,
) {
    for start in 0..words.len() {
        let nearest = start.saturating_sub(MAX_SHIFT_DISTANCE).min(reference.len());
        let end = (start + MAX_SHIFT_DISTANCE + 1).min(reference.len());
        for twin in nearest..end {
            let same = words[start..].iter().zip(&reference[twin..]);
            let longest = same.take(MAX_SHIFT_SIZE).take_while(|(a, b)| a == b).count();
            for length in 1..=longest {
                if !visit(start, twin, length) {
                    return;
                }
            }
        }
    }
}

/// `words` with the phrase at `start` in front of the word at `target`; a target
/// within the phrase moves it on by so many words.
fn apply_shift(words: &[u32], start: usize, length: usize, target: usize, out: &mut Vec<u32>) {
    let (end, count) = (start + length, words.len());
    out.clear();
    if target < start {
        out.extend_from_slice(&words[..target]);
        out.extend_from_slice(&words[start..end]);
        out.extend_from_slice(&words[target..start]);
        out.extend_from_slice(&words[end..]);
    } else {
        let target = if target > end { target } else { (length + target).min(count) };
        out.extend_from_slice(&words[..start]);
        out.extend_from_slice(&words[end..target]);
        out.extend_from_slice(&words[start..end]);
        out.extend_from_slice(&words[target..]);
    }
}
