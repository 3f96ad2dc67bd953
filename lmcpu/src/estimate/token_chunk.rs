//! A chunk of tokens and the sorted n-grams that end in it.
//!
//! Positions are first partitioned by the range of the last word, in one sequential pass; then the
//! keys of each range are packed and sorted in cache. This was faster than radix sorts of all keys,
//! which move every key through memory many times.

use super::corpus::{BOS, EOS};
use super::ngram_key::{KeyPacking, NgramKey};
use super::word_ranges::WordRanges;

/// Consecutive tokens of the text.
pub(super) struct TokenChunk {
    order: usize,
    /// Tokens; the first `context_len` belong to the previous chunk.
    tokens: Vec<u32>,
    context_len: usize,
}

impl TokenChunk {
    /// Creates an empty chunk at the beginning of a text, for n-grams of `order` words.
    pub fn new(order: usize) -> Self {
        // The beginning of the text is like the end of a sentence.
        TokenChunk { order, tokens: vec![EOS], context_len: 1 }
    }

    /// Returns the number of n-grams that end in the chunk.
    pub fn len(&self) -> usize {
        self.tokens.len() - self.context_len
    }

    /// Returns the n-gram order.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Returns the largest id of its words plus one.
    pub fn num_words(&self) -> usize {
        self.tokens.iter().max().map_or(0, |&word| word as usize + 1)
    }

    /// Appends tokens.
    pub fn extend(&mut self, tokens: &[u32]) {
        self.tokens.extend_from_slice(tokens);
    }

    /// Starts the next chunk: only the context of its first token stays.
    pub fn start_next(&mut self) {
        let surplus = self.tokens.len().saturating_sub((self.order - 1).max(1));
        self.tokens.drain(..surplus);
        self.context_len = self.tokens.len();
    }

    /// Returns the count of each of `num_words` words.
    pub fn count_words(&self, num_words: usize) -> Vec<u64> {
        let mut counts = vec![0; num_words];
        self.tokens[self.context_len..].iter().for_each(|&word| counts[word as usize] += 1);
        counts
    }

    /// Returns the n-gram that ends at `position`; words before the sentence are `<s>`.
    #[inline]
    fn ngram_key<K: NgramKey>(&self, position: usize, packing: KeyPacking) -> K {
        let mut key = K::EMPTY.with_word(0, self.tokens[position], packing);
        let mut sentence_began = false;
        for place in 1..packing.order {
            let word = if sentence_began { BOS } else { self.tokens[position - place] };
            sentence_began = sentence_began || word == EOS;
            key = key.with_word(place, if sentence_began { BOS } else { word }, packing);
        }
        key
    }
}

/// The n-grams of a chunk, by range of their last word.
pub(super) struct PartitionedNgrams<'c> {
    chunk: &'c TokenChunk,
    /// Positions of last words, range after range.
    positions: Vec<u32>,
    /// The end of each range.
    ends: Vec<usize>,
}

impl<'c> PartitionedNgrams<'c> {
    /// Partitions the n-grams of `chunk`, in which each word occurs `counts` times.
    pub fn new(chunk: &'c TokenChunk, counts: &[u64], ranges: &WordRanges) -> Self {
        let mut next = Vec::with_capacity(ranges.len());
        let mut end = 0;
        for range in 0..ranges.len() {
            next.push(end);
            let words = ranges.words(range);
            end += counts[words.start as usize..words.end as usize].iter().sum::<u64>() as usize;
        }
        let mut positions = vec![0; end];
        for (position, &word) in chunk.tokens.iter().enumerate().skip(chunk.context_len) {
            let place = &mut next[ranges.range_of(word)];
            positions[*place] = position as u32;
            *place += 1;
        }
        PartitionedNgrams { chunk, positions, ends: next }
    }

    /// Returns the n-grams that end in a word of `range`, in suffix order.
    pub fn sort_range<K: NgramKey>(&self, range: usize, packing: KeyPacking) -> Vec<K> {
        let start = range.checked_sub(1).map_or(0, |before| self.ends[before]);
        let positions = &self.positions[start..self.ends[range]];
        let keys =
            positions.iter().map(|&position| self.chunk.ngram_key(position as usize, packing));
        let mut keys: Vec<K> = keys.collect();
        keys.sort_unstable();
        keys
    }
}

/// Returns each distinct key of `keys`, which are sorted, with its count.
pub(super) fn count_equal_keys<K: NgramKey>(keys: &[K]) -> impl Iterator<Item = (K, u64)> {
    keys.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u64))
}
