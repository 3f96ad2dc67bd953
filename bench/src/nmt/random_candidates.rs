//! Random shortlists for benchmarks. They are about as long as real ones, and have frequent tokens
//! more often.

use miriam_storage::random::SplitMix64;

/// The number of frequent tokens that are candidates for every sentence.
const FREQUENT_TOKENS: u32 = 100;

/// Returns a shortlist from a vocabulary of `words` tokens, ascending and without repeats: the most
/// frequent tokens, and `per_token` random tokens for each source token. The random choice prefers
/// frequent tokens.
pub fn draw_candidates(source: &[u32], per_token: usize, words: usize) -> Vec<u32> {
    let mut all: Vec<u32> = (0..FREQUENT_TOKENS.min(words as u32)).collect();
    for &word in source {
        let mut numbers = SplitMix64::new(u64::from(word));
        let drawn = (0..per_token).map(|_| (words as f32).powf(numbers.next_f32()) as u32);
        all.extend(drawn.map(|word| word.min(words as u32 - 1)));
    }
    all.sort_unstable();
    all.dedup();
    all
}
