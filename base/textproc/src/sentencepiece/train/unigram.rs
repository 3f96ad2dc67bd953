//! Learning a unigram model (Kudo 2018): a large seed vocabulary is reduced by alternating
//! expectation maximisation and pruning.

use std::collections::HashSet;

use super::ScoredPiece;
use super::alphabet::{Alphabet, Fragment, characters};
use super::expectation::Lattice;
use super::pruning::prune;
use super::seed::seed_pieces;

/// The number of E and M steps between two prunings.
const EM_ITERATIONS: usize = 2;
/// The size of the vocabulary before the last cut, relative to its final size.
const FINAL_MARGIN: f64 = 1.1;
/// The share of pieces that a pruning keeps.
const SHRINKING_FACTOR: f64 = 0.75;
/// Pieces that are expected to occur less often are dropped.
const MIN_EXPECTED_COUNT: f64 = 0.5;
/// The difference between the score of the worst piece that is kept and the score of a hardly used
/// character, during training.
const UNUSED_CHARACTER_PENALTY: f64 = 10.0;
/// The difference between the scores of two successive hardly used characters in the final
/// vocabulary.
const CHARACTER_SCORE_STEP: f64 = 0.0001;

/// Learns `num_pieces` pieces with their log probabilities, best first, or fewer if the text does
/// not have enough pieces. All characters of the alphabet are among them. `None` if `progress`
/// returns false.
pub fn learn(
    alphabet: &Alphabet,
    fragments: &[Fragment],
    num_pieces: usize,
    progress: &mut impl FnMut(u64, u64) -> bool,
) -> Option<Vec<ScoredPiece>> {
    let mut pieces = seed_pieces(alphabet, fragments);
    let target = (num_pieces as f64 * FINAL_MARGIN) as usize;
    // Progress counts rounds, because each is shorter than the previous one by the same factor.
    fn rounds(size: usize, target: usize) -> u64 {
        ((size as f64 / target as f64).ln() / -SHRINKING_FACTOR.ln()).ceil().max(0.0) as u64 + 1
    }
    let all_rounds = rounds(pieces.len(), target);
    loop {
        if !progress(all_rounds.saturating_sub(rounds(pieces.len(), target)), all_rounds) {
            return None;
        }
        let mut lattice = Lattice::new(&pieces);
        let mut counts = Vec::new();
        for _ in 0..EM_ITERATIONS {
            counts = lattice.expected_counts(fragments);
            maximize(&pieces, &counts, &mut lattice.scores);
        }
        fn is_kept(piece: &ScoredPiece, count: f64) -> bool {
            count >= MIN_EXPECTED_COUNT || is_character(&piece.text)
        }
        let kept = pieces.drain(..).zip(counts).zip(lattice.scores);
        pieces = kept
            .filter(|((piece, count), _)| is_kept(piece, *count))
            .map(|((piece, _), score)| ScoredPiece { score, ..piece })
            .collect();
        if pieces.len() <= target {
            break;
        }
        let keep = target.max((SHRINKING_FACTOR * pieces.len() as f64) as usize);
        pieces = prune(pieces, fragments, keep);
    }
    Some(finish(alphabet, pieces, num_pieces))
}

fn is_character(text: &[u8]) -> bool {
    characters(text).nth(1).is_none()
}

/// Computes the M step, with the digamma function for the logarithm: under a Dirichlet prior rare
/// pieces get less than their share (Kudo 2018). Dropped pieces have no score; a hardly used
/// character scores below all other pieces.
fn maximize(pieces: &[ScoredPiece], counts: &[f64], scores: &mut [f64]) {
    let kept = counts.iter().filter(|&&count| count >= MIN_EXPECTED_COUNT);
    let total = digamma(kept.clone().sum());
    let worst = kept.copied().fold(f64::INFINITY, f64::min);
    let unused_character = digamma(worst) - total - UNUSED_CHARACTER_PENALTY;
    for ((piece, &count), score) in pieces.iter().zip(counts).zip(scores) {
        *score = if count >= MIN_EXPECTED_COUNT {
            digamma(count) - total
        } else if is_character(&piece.text) {
            unused_character
        } else {
            f64::NEG_INFINITY
        };
    }
}

/// Returns the derivative of the logarithm of the gamma function, for positive `x`.
fn digamma(mut x: f64) -> f64 {
    let mut result = 0.0;
    // The series converges fast from here on.
    while x < 7.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y / 240.0)));
    result + x.ln() - 0.5 / x - series
}

/// Returns the characters of the alphabet and the best other pieces.
fn finish(
    alphabet: &Alphabet,
    mut pieces: Vec<ScoredPiece>,
    num_pieces: usize,
) -> Vec<ScoredPiece> {
    fn order(a: &ScoredPiece, b: &ScoredPiece) -> std::cmp::Ordering {
        b.score.total_cmp(&a.score).then_with(|| a.text.cmp(&b.text))
    }
    pieces.sort_unstable_by(order);
    // Characters that are hardly used have the lowest scores, so they are at the end.
    let multiple = pieces.iter().filter(|piece| !is_character(&piece.text));
    let used = pieces.iter().filter(|piece| is_character(&piece.text));
    let worst = multiple.clone().map(|piece| piece.score).fold(0.0, f64::min);
    let mut by_text: HashSet<&[u8]> = HashSet::new();
    let mut characters: Vec<ScoredPiece> = Vec::new();
    for piece in used.filter(|piece| piece.score >= worst - UNUSED_CHARACTER_PENALTY / 2.0) {
        by_text.insert(&piece.text);
        characters.push(piece.clone());
    }
    let mut score = worst;
    for (text, _) in alphabet.sorted() {
        if !by_text.contains(text) {
            score -= CHARACTER_SCORE_STEP;
            characters.push(ScoredPiece { text: text.into(), score });
        }
    }
    let rest = num_pieces - characters.len();
    let mut chosen: Vec<ScoredPiece> = characters;
    chosen.extend(multiple.take(rest).cloned());
    chosen.sort_unstable_by(order);
    chosen
}

#[cfg(test)]
mod tests {
    use super::digamma;

    #[test]
    fn digamma_has_its_known_values() {
        // Euler's constant, and the recurrence from 1/2.
        let gamma = 0.577_215_664_901_532_9;
        for (x, expected) in [
            (1.0, -gamma),
            (2.0, 1.0 - gamma),
            (0.5, -gamma - 2.0 * 2f64.ln()),
            (10.0, 2.251_752_589_066_721),
        ] {
            assert!((digamma(x) - expected).abs() < 1e-9, "{x}: {}", digamma(x));
        }
    }
}
