//! N-grams of a segment's references, and their matches in a hypothesis.
//!
//! Only words of references have separate ids: other words never match in any n-gram, so all of
//! them share id 0. An n-gram is at most four ids in 128 bits.

use hashbrown::HashMap;

use super::{BleuCounts, MAX_NGRAM_ORDER};

/// The id of a word in a segment's references, from 1; 0 for other words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenId(u32);

/// The n-grams of a segment's references.
#[derive(Clone, Debug, Default)]
pub struct ReferenceNgrams {
    token_ids: HashMap<Vec<u8>, TokenId>,
    /// The index of each n-gram in `max_counts`.
    ngram_indices: HashMap<u128, u32>,
    /// The clip count of each n-gram: its highest count in one reference.
    max_counts: Vec<u32>,
    /// The references' lengths in words, ascending.
    lengths: Vec<u64>,
}

impl ReferenceNgrams {
    /// Counts the n-grams of `references`, which are sequences of words.
    pub fn new<'a>(
        references: impl IntoIterator<Item = impl IntoIterator<Item = &'a [u8]>>,
    ) -> Self {
        let mut ngrams = ReferenceNgrams::default();
        let mut tokens = Vec::new();
        let mut counts: HashMap<u128, u32> = HashMap::new();
        for reference in references {
            tokens.clear();
            for word in reference {
                let next = TokenId(ngrams.token_ids.len() as u32 + 1);
                tokens.push(*ngrams.token_ids.entry_ref(word).or_insert(next));
            }
            counts.clear();
            for start in 0..tokens.len() {
                for key in ngram_keys(&tokens[start..]) {
                    *counts.entry(key).or_insert(0) += 1;
                }
            }
            for (&key, &count) in &counts {
                let index = *ngrams.ngram_indices.entry(key).or_insert_with(|| {
                    ngrams.max_counts.push(0);
                    ngrams.max_counts.len() as u32 - 1
                });
                let limit = &mut ngrams.max_counts[index as usize];
                *limit = count.max(*limit);
            }
            ngrams.lengths.push(tokens.len() as u64);
        }
        ngrams.lengths.sort_unstable();
        ngrams
    }

    /// Returns the id of `word`.
    pub fn token_id(&self, word: &[u8]) -> TokenId {
        self.token_ids.get(word).copied().unwrap_or_default()
    }

    /// Returns the reference length closest to `hypothesis`; in a tie, the shorter one.
    fn closest_length(&self, hypothesis: u64) -> u64 {
        // `min_by_key` returns the first, which is the shorter one.
        self.lengths.iter().min_by_key(|length| length.abs_diff(hypothesis)).copied().unwrap_or(0)
    }
}

/// Returns the keys of the n-grams at the beginning of `tokens`, the shortest first.
fn ngram_keys(tokens: &[TokenId]) -> impl Iterator<Item = u128> {
    tokens.iter().take(MAX_NGRAM_ORDER).scan(0u128, |key, token| {
        *key = *key << 32 | u128::from(token.0);
        Some(*key)
    })
}

/// A counter of clipped matches, with a reused buffer.
#[derive(Debug, Default)]
pub struct NgramMatcher {
    used_counts: Vec<u32>,
}

impl NgramMatcher {
    /// Returns BLEU's statistics of the hypothesis `tokens` against `references`.
    pub fn count_matches(
        &mut self,
        references: &ReferenceNgrams,
        tokens: &[TokenId],
    ) -> BleuCounts {
        let length = tokens.len() as u64;
        let mut counts = BleuCounts {
            hypothesis_len: length,
            reference_len: references.closest_length(length),
            totals: std::array::from_fn(|n| length.saturating_sub(n as u64)),
            ..BleuCounts::default()
        };
        self.used_counts.clear();
        self.used_counts.resize(references.max_counts.len(), 0);
        for start in 0..tokens.len() {
            for (n, key) in ngram_keys(&tokens[start..]).enumerate() {
                // If no reference has an n-gram, none has a longer one with this beginning.
                let Some(&index) = references.ngram_indices.get(&key) else { break };
                let used = &mut self.used_counts[index as usize];
                if *used < references.max_counts[index as usize] {
                    *used += 1;
                    counts.matches[n] += 1;
                }
            }
        }
        counts
    }
}
