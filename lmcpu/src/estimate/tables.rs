//! The tables of an estimated model, which the writers of its formats read.

use miriam_textio::Vocabulary;

use super::spill_store::{SpillStore, TableRef};
use super::word_ranges::WordRanges;
use crate::Result;

/// An estimated model.
pub(super) struct ModelTables<'m> {
    /// Words in the longest n-grams.
    pub order: usize,
    /// The name of the text, for messages.
    pub text: &'m str,
    /// The number of words of the text.
    pub tokens: u64,
    pub vocabulary: &'m Vocabulary,
    /// How often each word occurs in the text.
    pub word_counts: &'m [u64],
    pub unigrams: Vec<Unigram>,
    /// The number of n-grams of each order, from 1.
    pub counts: &'m [u64],
    pub ranges: &'m WordRanges,
    /// The blocks of the trie.
    pub blocks: &'m SpillStore<'m>,
    /// By block: the probabilities, a column for each length from 2 words; if values are
    /// collapsed, as many columns with the backoffs of their contexts follow.
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
    /// 1 where no longer n-gram begins with it.
    pub backoff: f32,
}

impl ModelTables<'_> {
    /// The tables of a row of `store`, by the range of the last but one word.
    pub fn row<'t>(&self, store: &'t SpillStore<'_>, row: usize) -> Result<Vec<TableRef<'t>>> {
        let ranges = self.ranges.len();
        (0..ranges).map(|q| store.get(row * ranges + q)).collect()
    }
}
