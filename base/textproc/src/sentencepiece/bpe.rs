//! BPE segmentation: neighbours are merged, best score first (Sennrich et al. 2016, with scores
//! instead of ranks).
//!
//! Symbols are a doubly linked list over the text. Candidate merges wait in a heap. A candidate
//! whose symbols have changed meanwhile is recognised by its length and dropped.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use super::model::{PieceType, PieceVocabulary};
use super::normalizer::{Normalizer, char_len};

const NO_SYMBOL: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Symbol {
    start: u32,
    /// The length in bytes; 0 after a merge into the left neighbour.
    length: u32,
    previous: u32,
    next: u32,
    is_frozen: bool,
}

#[derive(Clone, Copy)]
struct Merge {
    score: f32,
    left: u32,
    right: u32,
    length: u32,
}

impl PartialEq for Merge {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Merge {}

impl PartialOrd for Merge {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Merge {
    /// Among equal scores, the leftmost merge is the greatest. Scores are never NaN.
    fn cmp(&self, other: &Self) -> Ordering {
        let scores = self.score.partial_cmp(&other.score).unwrap_or(Ordering::Equal);
        scores.then_with(|| other.left.cmp(&self.left))
    }
}

/// Buffers of segmentation, reused for all texts.
#[derive(Default)]
pub struct MergeScratch {
    symbols: Vec<Symbol>,
    merges: BinaryHeap<Merge>,
    /// Unused pieces, which must not occur in results, with the length of their left half.
    unused_splits: HashMap<u32, u32>,
    stack: Vec<(usize, usize)>,
}

/// Segments `text` and calls `found` with the id (`None` if unknown), start and end of each
/// piece.
pub fn encode(
    pieces: &PieceVocabulary,
    normalizer: &Normalizer,
    text: &[u8],
    work: &mut MergeScratch,
    mut found: impl FnMut(Option<u32>, usize, usize),
) {
    let MergeScratch { symbols, merges, unused_splits: halves, stack } = work;
    symbols.clear();
    merges.clear();
    halves.clear();
    let mut start = 0;
    while start < text.len() {
        let kept = normalizer.user_defined_prefix_len(&text[start..]);
        let length = kept.or_else(|| char_len(&text[start..])).unwrap_or(1);
        let index = symbols.len() as u32;
        symbols.push(Symbol {
            start: start as u32,
            length: length as u32,
            previous: index.wrapping_sub(1),
            next: index + 1,
            is_frozen: kept.is_some(),
        });
        start += length;
    }
    if let Some(last) = symbols.last_mut() {
        last.next = NO_SYMBOL;
    }
    for right in 1..symbols.len() as u32 {
        push_merge(pieces, text, symbols, (right - 1, right), merges, halves);
    }
    while let Some(merge) = merges.pop() {
        let [left, right] = [merge.left, merge.right].map(|k| symbols[k as usize]);
        let alive = left.length > 0 && right.length > 0;
        if !alive || left.length + right.length != merge.length {
            continue;
        }
        symbols[merge.left as usize].length = merge.length;
        symbols[merge.left as usize].next = right.next;
        symbols[merge.right as usize].length = 0;
        if right.next != NO_SYMBOL {
            symbols[right.next as usize].previous = merge.left;
        }
        push_merge(pieces, text, symbols, (left.previous, merge.left), merges, halves);
        push_merge(pieces, text, symbols, (merge.left, right.next), merges, halves);
    }
    for symbol in symbols.iter().filter(|symbol| symbol.length > 0) {
        stack.push((symbol.start as usize, (symbol.start + symbol.length) as usize));
        while let Some((start, end)) = stack.pop() {
            let id = pieces.find(&text[start..end]);
            let half = id
                .filter(|&id| pieces.entry(id).piece_type == PieceType::Unused)
                .and_then(|id| halves.get(&id).copied());
            match half {
                Some(left) => {
                    let middle = start + left as usize;
                    stack.push((middle, end));
                    stack.push((start, middle));
                }
                None => found(id, start, end),
            }
        }
    }
}

/// Pushes the merge of two neighbours onto the heap, if they form a piece.
fn push_merge(
    pieces: &PieceVocabulary,
    text: &[u8],
    symbols: &[Symbol],
    (left, right): (u32, u32),
    merges: &mut BinaryHeap<Merge>,
    halves: &mut HashMap<u32, u32>,
) {
    if left == NO_SYMBOL || right == NO_SYMBOL {
        return;
    }
    let [first, second] = [left, right].map(|k| symbols[k as usize]);
    if first.is_frozen || second.is_frozen {
        return;
    }
    let length = first.length + second.length;
    let joined = &text[first.start as usize..(first.start + length) as usize];
    let Some(id) = pieces.find(joined) else { return };
    let info = pieces.entry(id);
    match info.piece_type {
        PieceType::Unused => drop(halves.insert(id, first.length)),
        PieceType::Normal | PieceType::UserDefined => {}
        PieceType::Unknown | PieceType::Control | PieceType::Byte => return,
    }
    merges.push(Merge { score: info.score, left, right, length });
}
