//! The tables of an estimated model.
//!
//! The writer of ARPA text in the trie's order and the writer of sorted records walk over the same
//! tables, so that neither needs a copy of the model.

use std::ops::Range;

use miriam_textio::Vocabulary;

use super::rows::TrieBlock;
use super::spill_store::{SpillStore, TableRef};
use super::word_ranges::WordRanges;
use crate::{MAX_ORDER, Result};

/// An estimated model.
pub(super) struct ModelTables<'m> {
    /// The number of words in the longest n-grams.
    pub order: usize,
    /// The name of the text, for messages.
    pub text: &'m str,
    /// The number of words of the text.
    pub tokens: u64,
    pub vocabulary: &'m Vocabulary,
    /// The number of times each word occurs in the text.
    pub word_counts: &'m [u64],
    pub unigrams: Vec<Unigram>,
    /// The number of n-grams of each order, from 1.
    pub counts: &'m [u64],
    pub ranges: &'m WordRanges,
    /// The blocks of the trie.
    pub blocks: &'m SpillStore<'m>,
    /// By block: the probabilities, a column for each length from 2 words; if values are
    /// collapsed, the same number of columns with the backoffs of the n-grams' contexts follow.
    pub probabilities: &'m SpillStore<'m>,
    /// By row: the backoffs, a column for each length below the order.
    pub backoffs: &'m SpillStore<'m>,
}

/// A word as an n-gram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unigram {
    /// Whether it is pruned.
    pub pruned: bool,
    pub probability: f32,
    /// 1 if it does not begin a longer n-gram.
    pub backoff: f32,
}

impl ModelTables<'_> {
    /// Returns the tables of a row of `store`, by the range of the last but one word.
    pub fn row<'t>(&self, store: &'t SpillStore<'_>, row: usize) -> Result<Vec<TableRef<'t>>> {
        let ranges = self.ranges.len();
        (0..ranges).map(|q| store.get(row * ranges + q)).collect()
    }

    /// Makes cursors at the beginnings of the blocks of a row; `blocks` and `probabilities` are its
    /// tables.
    pub fn cursors<'b>(
        &self,
        blocks: &'b [TableRef<'b>],
        probabilities: &'b [TableRef<'b>],
    ) -> Vec<BlockCursor<'b>> {
        blocks
            .iter()
            .zip(probabilities)
            .map(|(block, probabilities)| BlockCursor {
                block: TrieBlock(block),
                order: self.order,
                probabilities,
                next: [0; MAX_ORDER + 1],
            })
            .collect()
    }
}

/// A position in the n-grams of a block.
pub(super) struct BlockCursor<'b> {
    pub block: TrieBlock<'b>,
    order: usize,
    probabilities: &'b TableRef<'b>,
    /// The index of the next n-gram of each length.
    next: [usize; MAX_ORDER + 1],
}

impl<'b> BlockCursor<'b> {
    /// Returns the number of bigrams from the next one on that end in the word `last`.
    #[inline]
    pub fn bigrams_ending_in(&self, last: u32) -> usize {
        self.block.bigrams_ending_in(last, self.next[2])
    }

    /// Advances by `len` n-grams of `length` words and returns their indices.
    #[inline]
    pub fn take(&mut self, length: usize, len: usize) -> Range<usize> {
        let start = self.next[length];
        self.next[length] += len;
        start..self.next[length]
    }

    /// Returns the bits of the probabilities of the n-grams of `length` words.
    #[inline]
    pub fn probabilities(&self, length: usize) -> &'b [u32] {
        &self.probabilities[length - 2]
    }

    /// Returns the bits of the backoffs of the contexts of the n-grams of `length` words; they
    /// exist if values are collapsed.
    #[inline]
    pub fn context_backoffs(&self, length: usize) -> &'b [u32] {
        &self.probabilities[self.order - 1 + length - 2]
    }
}
