//! Lattice of all segmentations of a fragment, and the E step over it.
//!
//! Forward and backward sums add products of probabilities. To avoid underflow, the products are
//! divided by the probability of the best path, spread evenly over the characters. If a sum still
//! leaves the range (in texts of thousands of characters without a space), the fragment is computed
//! again with logarithms.

use rayon::prelude::*;

use super::super::normalizer::char_len;
use super::super::trie::DoubleArrayTrie;
use super::ScoredPiece;
use super::alphabet::Fragment;
use super::piece_rules::MAX_PIECE_CHARS;

/// The number of units per occurrence. Expected counts are sums of integers in this small unit, so
/// that they do not depend on the order of additions.
const COUNT_UNIT: f64 = (1u64 << 30) as f64;
/// If a relative sum is outside of these bounds, logarithms are used instead.
const RELATIVE_RANGE: std::ops::Range<f64> = 1e-200..1e200;

/// Pieces with their log probabilities. Every character of the text is a piece.
pub struct Lattice {
    trie: DoubleArrayTrie,
    pub scores: Vec<f64>,
}

/// A piece at a position of a text.
#[derive(Clone, Copy)]
pub struct Edge {
    pub start: u32,
    pub end: u32,
    num_chars: u32,
    pub piece: u32,
}

/// Buffers, reused for all texts.
#[derive(Default)]
pub struct LatticeScratch {
    /// The edges in the order of their starts.
    edges: Vec<Edge>,
    /// By position: the score of the best path and its last edge.
    best: Vec<(f64, u32)>,
    forward: Vec<f64>,
    backward: Vec<f64>,
}

const NO_EDGE: u32 = u32::MAX;

impl Lattice {
    /// Returns the lattice over `pieces`, whose ids are their indices.
    pub fn new(pieces: &[ScoredPiece]) -> Self {
        let texts = (0..).zip(pieces.iter().map(|piece| &*piece.text));
        let scores = pieces.iter().map(|piece| piece.score).collect();
        Lattice { trie: DoubleArrayTrie::new(texts), scores }
    }

    fn collect_edges(&self, text: &[u8], edges: &mut Vec<Edge>) {
        edges.clear();
        let mut start = 0;
        while start < text.len() {
            let rest = &text[start..];
            let (mut num_chars, mut counted) = (0, 0);
            self.trie.common_prefix_search(rest, |length, piece| {
                while counted < length {
                    counted += char_len(&rest[counted..]).unwrap_or(1);
                    num_chars += 1;
                }
                let end = (start + length) as u32;
                edges.push(Edge { start: start as u32, end, num_chars, piece });
            });
            start += char_len(rest).unwrap_or(1);
        }
    }

    /// Calls `found` with each piece of the best path through `text` without the piece `excluded`,
    /// from the last to the first. Returns the log probability of the path, or `None` if there is
    /// no path.
    pub fn best_path(
        &self,
        text: &[u8],
        excluded: Option<u32>,
        scratch: &mut LatticeScratch,
        mut found: impl FnMut(u32),
    ) -> Option<f64> {
        let LatticeScratch { edges, best, .. } = scratch;
        self.collect_edges(text, edges);
        best.clear();
        best.resize(text.len() + 1, (f64::NEG_INFINITY, NO_EDGE));
        best[0].0 = 0.0;
        for (number, edge) in (0..).zip(&*edges) {
            let score = best[edge.start as usize].0 + self.scores[edge.piece as usize];
            let end = &mut best[edge.end as usize];
            if score > end.0 && Some(edge.piece) != excluded {
                *end = (score, number);
            }
        }
        let mut at = text.len();
        while at > 0 {
            let edge = edges.get(best[at].1 as usize)?;
            found(edge.piece);
            at = edge.start as usize;
        }
        Some(best[text.len()].0)
    }

    /// Runs the E step: returns the expected count of each piece in the text.
    pub fn expected_counts(&self, fragments: &[Fragment]) -> Vec<f64> {
        let probabilities: Vec<f64> = self.scores.iter().map(|score| score.exp()).collect();
        let counts = self.sum_counts(fragments, |fragment, scratch, counts| {
            self.add_expected(fragment, &probabilities, scratch, counts);
        });
        counts.into_iter().map(|count| count as f64 / COUNT_UNIT).collect()
    }

    /// Returns the sums, by piece, of the counts that `add` adds for each fragment.
    pub fn sum_counts(
        &self,
        fragments: &[Fragment],
        add: impl Fn(&Fragment, &mut LatticeScratch, &mut [u64]) + Sync,
    ) -> Vec<u64> {
        let part = fragments.len().div_ceil(rayon::current_num_threads()).max(1);
        let parts = fragments.par_chunks(part).map(|part| {
            let mut counts = vec![0u64; self.scores.len()];
            let mut scratch = LatticeScratch::default();
            part.iter().for_each(|fragment| add(fragment, &mut scratch, &mut counts));
            counts
        });
        let sums = parts.reduce_with(|mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        });
        sums.unwrap_or_default()
    }

    fn add_expected(
        &self,
        fragment: &Fragment,
        probabilities: &[f64],
        scratch: &mut LatticeScratch,
        counts: &mut [u64],
    ) {
        let text = fragment.text;
        let Some(best) = self.best_path(text, None, scratch, |_| {}) else { return };
        let unit = fragment.count as f64 * COUNT_UNIT;
        let mut add = |piece: u32, probability: f64| {
            counts[piece as usize] += (probability.min(1.0) * unit).round() as u64;
        };
        let num_chars = super::alphabet::characters(text).count();
        let factor = (-best / num_chars as f64).exp();
        if !relative_marginals(text, factor, probabilities, scratch, &mut add) {
            log_marginals(text, &self.scores, scratch, &mut add);
        }
    }
}

/// Calls `add` with each edge's piece and its posterior probability. Returns false without calls if
/// a sum leaves the range.
fn relative_marginals(
    text: &[u8],
    factor: f64,
    probabilities: &[f64],
    scratch: &mut LatticeScratch,
    mut add: impl FnMut(u32, f64),
) -> bool {
    let LatticeScratch { edges, forward, backward, .. } = scratch;
    let mut factors = [1.0; MAX_PIECE_CHARS + 1];
    for length in 1..factors.len() {
        factors[length] = factors[length - 1] * factor;
    }
    fn weight(edge: &Edge, probabilities: &[f64], factors: &[f64; MAX_PIECE_CHARS + 1]) -> f64 {
        probabilities[edge.piece as usize] * factors[edge.num_chars as usize]
    }
    for sums in [&mut *forward, &mut *backward] {
        sums.clear();
        sums.resize(text.len() + 1, 0.0);
    }
    forward[0] = 1.0;
    backward[text.len()] = 1.0;
    for edge in &*edges {
        let sum = forward[edge.start as usize];
        if !RELATIVE_RANGE.contains(&sum) {
            return false;
        }
        forward[edge.end as usize] += sum * weight(edge, probabilities, &factors);
    }
    for edge in edges.iter().rev() {
        let sum = backward[edge.end as usize];
        if !RELATIVE_RANGE.contains(&sum) {
            return false;
        }
        backward[edge.start as usize] += sum * weight(edge, probabilities, &factors);
    }
    let total = forward[text.len()];
    if !RELATIVE_RANGE.contains(&total) {
        return false;
    }
    for edge in &*edges {
        let [before, after] = [forward[edge.start as usize], backward[edge.end as usize]];
        add(edge.piece, before * weight(edge, probabilities, &factors) / total * after);
    }
    true
}

/// Works like [`relative_marginals`], with logarithms of sums.
fn log_marginals(
    text: &[u8],
    scores: &[f64],
    scratch: &mut LatticeScratch,
    mut add: impl FnMut(u32, f64),
) {
    let LatticeScratch { edges, forward, backward, .. } = scratch;
    for sums in [&mut *forward, &mut *backward] {
        sums.clear();
        sums.resize(text.len() + 1, f64::NEG_INFINITY);
    }
    forward[0] = 0.0;
    backward[text.len()] = 0.0;
    for edge in &*edges {
        let sum = forward[edge.start as usize] + scores[edge.piece as usize];
        add_log(&mut forward[edge.end as usize], sum);
    }
    for edge in edges.iter().rev() {
        let sum = backward[edge.end as usize] + scores[edge.piece as usize];
        add_log(&mut backward[edge.start as usize], sum);
    }
    for edge in &*edges {
        let path = forward[edge.start as usize]
            + scores[edge.piece as usize]
            + backward[edge.end as usize];
        add(edge.piece, (path - forward[text.len()]).exp());
    }
}

/// Adds two numbers that are given by their logarithms: the number of `term` to the number of
/// `sum`.
fn add_log(sum: &mut f64, term: f64) {
    let (small, large) = if *sum < term { (*sum, term) } else { (term, *sum) };
    *sum = if small == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lattice(pieces: &[(&str, f64)]) -> Lattice {
        let piece =
            |&(text, score): &(&str, f64)| ScoredPiece { text: text.as_bytes().into(), score };
        Lattice::new(&pieces.iter().map(piece).collect::<Vec<_>>())
    }

    /// Tries all segmentations of `text`. Returns the sum of their probabilities, and adds the
    /// probability of each to the counts of its pieces.
    fn enumerate(
        text: &str,
        pieces: &[(&str, f64)],
        used: &mut Vec<usize>,
        weight: f64,
        counts: &mut [f64],
    ) -> f64 {
        if text.is_empty() {
            used.iter().for_each(|&piece| counts[piece] += weight);
            return weight;
        }
        let mut total = 0.0;
        for (number, (piece, score)) in pieces.iter().enumerate() {
            if let Some(rest) = text.strip_prefix(piece) {
                used.push(number);
                total += enumerate(rest, pieces, used, weight * score.exp(), counts);
                used.pop();
            }
        }
        total
    }

    proptest! {
        #[test]
        fn expectations_equal_those_over_all_segmentations(
            text in "[aä]{1,9}", scores in proptest::collection::vec(-5.0f64..-0.1, 6), count in 1u64..5,
        ) {
            let texts = ["a", "ä", "aa", "aä", "äaa", "aäa"];
            let pieces: Vec<(&str, f64)> = texts.into_iter().zip(scores).collect();
            let mut expected = [0.0; 6];
            let total = enumerate(&text, &pieces, &mut Vec::new(), 1.0, &mut expected);
            let lattice = lattice(&pieces);
            let found = lattice.expected_counts(&[Fragment { text: text.as_bytes(), count }]);
            let mut by_logarithms = [0.0; 6];
            let mut scratch = LatticeScratch::default();
            lattice.collect_edges(text.as_bytes(), &mut scratch.edges);
            log_marginals(text.as_bytes(), &lattice.scores, &mut scratch, |piece, probability| {
                by_logarithms[piece as usize] += probability * count as f64;
            });
            for piece in 0..6 {
                let expected = expected[piece] / total * count as f64;
                prop_assert!((found[piece] - expected).abs() < 1e-6);
                prop_assert!((by_logarithms[piece] - expected).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn long_texts_do_not_underflow() {
        let pieces = [("a", -1.0), ("b", -200.0), ("ab", -150.0)];
        for half in [5, 3000] {
            let text = "a".repeat(half) + &"b".repeat(half);
            let fragments = [Fragment { text: text.as_bytes(), count: 1 }];
            let found = lattice(&pieces).expected_counts(&fragments);
            let expected = [half as f64 - 1.0, half as f64 - 1.0, 1.0];
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-5, "{found} {expected}");
            }
        }
    }
}
