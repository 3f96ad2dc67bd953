//! Construction of the trie of n-grams of all lengths from the sorted longest ones.
//!
//! In suffix order every shorter n-gram is the common suffix of consecutive n-grams. So one scan
//! builds a trie in which the children of an n-gram are its extensions to the left. The adjusted
//! count of an n-gram is then the number of its children (`ngram-lm.md` 3.3), which also gives the
//! position of the children of the next n-gram. Only n-grams that begin with `<s>`, and the longest
//! n-grams, have counts of their own and no children.
//!
//! The trie is divided into blocks: block (p, q) holds the n-grams whose last word is in range p
//! and whose last but one word is in range q. All blocks of one p are a row, and all blocks of one
//! q a column. One thread builds a row from the sorted n-grams that end in p. Smoothing reads rows
//! for contexts and columns for the n-grams that extend contexts. So it needs neither another
//! sort, nor more of the model in memory than a row and a column.

use super::corpus::{BOS, EOS};
use super::discounts::CountsOfCounts;
use super::ngram_key::{KeyPacking, NgramKey};
use super::spill_store::ColumnTable;
use super::word_ranges::WordRanges;
use crate::{Error, Result};

/// A block: for each order from 2, lists with a number for each n-gram.
pub(super) struct TrieBlock<'t>(pub &'t ColumnTable);

impl<'t> TrieBlock<'t> {
    /// Returns the last word of each bigram, in order.
    pub fn roots(&self) -> &'t [u32] {
        &self.0[0]
    }

    /// Returns the number of consecutive bigrams from the index `from` on that end in the word
    /// `last`.
    #[inline]
    pub fn bigrams_ending_in(&self, last: u32, from: usize) -> usize {
        self.roots()[from..].iter().take_while(|&&root| root == last).count()
    }

    /// Returns the entry of each n-gram of `order` words: twice its first word, plus 1 if it is
    /// pruned ([`entry_word`], [`is_pruned`]).
    pub fn words(&self, order: usize) -> &'t [u32] {
        &self.0[2 * order - 3]
    }

    /// Returns the adjusted count of each n-gram of `order` words.
    pub fn counts(&self, order: usize) -> &'t [u32] {
        &self.0[2 * order - 2]
    }

    fn empty(order: usize) -> ColumnTable {
        vec![Vec::new(); 2 * order - 1]
    }
}

/// Returns the word of an entry of [`TrieBlock::words`].
#[inline(always)]
pub(super) fn entry_word(entry: u32) -> u32 {
    entry >> 1
}

/// Whether the n-gram of an entry of [`TrieBlock::words`] is pruned.
#[inline(always)]
pub(super) fn is_pruned(entry: u32) -> bool {
    entry & 1 == 1
}

/// Returns the number of children of an n-gram shorter than the longest.
#[inline(always)]
pub(super) fn child_count(entry: u32, count: u32) -> usize {
    if entry_word(entry) == BOS { 0 } else { count as usize }
}

/// The rules by which n-grams are dropped after counting.
pub(super) struct Pruning {
    /// N-grams of order i + 1 that occur at most `thresholds[i]` times are dropped.
    pub thresholds: Vec<u64>,
    /// By word: whether n-grams with it are dropped; empty if no word is excluded.
    pub excluded: Vec<bool>,
}

impl Pruning {
    fn excludes(&self, word: u32) -> bool {
        self.excluded.get(word as usize).is_some_and(|&excluded| excluded)
    }

    /// Whether the unigram `word`, which occurs `count` times, is dropped. Markers are never
    /// dropped.
    pub fn prunes_word(&self, word: u32, count: u64) -> bool {
        word > EOS && (count <= self.thresholds[0] || self.excludes(word))
    }
}

/// A row of blocks with its statistics.
pub(super) struct TrieRow {
    /// By the range of the last but one word.
    pub blocks: Vec<ColumnTable>,
    /// The adjusted count of each last word.
    pub unigrams: Vec<u32>,
    /// Counts of counts of n-grams of 2 words and more.
    pub statistics: Vec<CountsOfCounts>,
    /// The adjusted and the raw count of each proper suffix of the last n-gram, from 1 word on.
    pub last_ngram_counts: Vec<(u64, u64)>,
}

/// A builder of the row of a range from its n-grams in suffix order.
pub(super) struct RowBuilder<'a> {
    packing: KeyPacking,
    ranges: &'a WordRanges,
    pruning: &'a Pruning,
    first_word: u32,
    row: TrieRow,
    /// The suffixes of the previous n-gram, from 1 word on, which are still open.
    open: Vec<OpenNgram>,
    /// The sum of the counts of the n-grams so far.
    total: u64,
    /// The range of the last but one word of the previous n-gram.
    block: usize,
}

/// An n-gram to which children may still be added.
#[derive(Clone, Copy)]
struct OpenNgram {
    /// `total` when it was opened.
    total_at_open: u64,
    /// Whether one of its words is excluded.
    is_excluded: bool,
}

impl<'a> RowBuilder<'a> {
    pub fn new(
        packing: KeyPacking,
        ranges: &'a WordRanges,
        pruning: &'a Pruning,
        range: usize,
    ) -> Self {
        let words = ranges.words(range);
        let row = TrieRow {
            blocks: vec![TrieBlock::empty(packing.order); ranges.len()],
            unigrams: vec![0; words.len()],
            statistics: vec![CountsOfCounts::default(); packing.order - 1],
            last_ngram_counts: Vec::new(),
        };
        RowBuilder {
            packing,
            ranges,
            pruning,
            first_word: words.start,
            row,
            open: Vec::with_capacity(packing.order),
            total: 0,
            block: 0,
        }
    }

    /// Adds the next n-gram, which shares its last `shared` words with the previous one.
    fn add_ngram<K: NgramKey>(&mut self, key: K, shared: usize, count: u64) -> Result<()> {
        self.close_longer_than(shared);
        for length in shared + 1..=self.packing.order {
            let word = key.word(length - 1, self.packing);
            let has_excluded_suffix = self.open.last().is_some_and(|open| open.is_excluded);
            let is_excluded = has_excluded_suffix || self.pruning.excludes(word);
            self.open.push(OpenNgram { total_at_open: self.total, is_excluded });
            match length {
                1 => {}
                2 => {
                    self.block = self.ranges.range_of(word);
                    let last = key.word(0, self.packing);
                    self.row.blocks[self.block][0].push(last);
                    self.row.unigrams[(last - self.first_word) as usize] += 1;
                }
                _ => {
                    let counts = &mut self.row.blocks[self.block][2 * length - 4];
                    *counts.last_mut().expect("its suffix was added before") += 1;
                }
            }
            if length > 1 {
                let block = &mut self.row.blocks[self.block];
                block[2 * length - 3].push(word << 1);
                block[2 * length - 2].push(0);
            }
            // After `<s>`, longer n-grams only repeat it.
            if word == BOS || length == self.packing.order {
                let own_count = u32::try_from(count).map_err(|_| Error::Unsupported {
                    file: "the text".into(),
                    reason: format!("one n-gram occurs {count} times, more than 4,294,967,295"),
                })?;
                let block = &mut self.row.blocks[self.block];
                *block[2 * length - 2].last_mut().expect("pushed above") = own_count;
                break;
            }
        }
        self.total += count;
        Ok(())
    }

    /// Closes the open n-grams longer than `length`.
    #[inline]
    fn close_longer_than(&mut self, length: usize) {
        while self.open.len() > length {
            let order = self.open.len();
            let Some(open) = self.open.pop() else { break };
            if order > 1 {
                let block = &mut self.row.blocks[self.block];
                let adjusted = *block[2 * order - 2].last().expect("it was opened");
                let occurs = self.total - open.total_at_open;
                let pruned = open.is_excluded || occurs <= self.pruning.thresholds[order - 1];
                if pruned {
                    *block[2 * order - 3].last_mut().expect("it was opened") |= 1;
                }
                self.row.statistics[order - 2].add(adjusted.into(), pruned);
            }
        }
    }

    fn finish(mut self) -> TrieRow {
        for (i, open) in self.open.iter().enumerate().take(self.packing.order - 1) {
            let adjusted = match i {
                0 => self.row.unigrams.iter().rfind(|&&count| count > 0),
                _ => self.row.blocks[self.block][2 * i].last(),
            };
            let adjusted = *adjusted.expect("it was opened");
            self.row.last_ngram_counts.push((adjusted.into(), self.total - open.total_at_open));
        }
        self.close_longer_than(0);
        self.row
    }

    /// Builds the row of the n-grams that `next` returns.
    pub fn build<K: NgramKey>(
        mut self,
        mut next: impl FnMut() -> Result<Option<(K, u64)>>,
    ) -> Result<TrieRow> {
        let mut previous = None;
        while let Some((key, count)) = next()? {
            let shared =
                previous.map_or(0, |previous: K| previous.shared_words(&key, self.packing));
            self.add_ngram(key, shared, count)?;
            previous = Some(key);
        }
        Ok(self.finish())
    }
}
