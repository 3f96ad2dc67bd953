//! The n-grams of one order: entries of a compact hash table.
//!
//! The key of an n-gram is the number of its suffix, which is the n-gram without
//! its oldest word, and that word; its own number is where its entry stands. So a
//! walk of the trie is one lookup an order, each of one cache line, and an entry
//! says nothing about where its children are but whether it has any.

use miriam_storage::compact::{CompactLayout, CompactTable, MIN_KEY_BITS, Probe, ProbeState};
use miriam_storage::{Container, View};
use serde::{Deserialize, Serialize};

use super::SIGN;
use crate::{FoundNgram, LookupStep, NO_EXTENSION, Result};

/// How wide the numbers of an order's entries are, in bits; part of the metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FieldWidths {
    /// 31: a prob without its sign, which is set. Less: an index into a book.
    pub prob: u32,
    /// 32: a backoff. Less: an index into a book. 0 for the longest n-grams.
    pub backoff: u32,
}

/// A prob that stands for itself.
pub(super) const RAW_PROB_BITS: u32 = 31;
/// A backoff that stands for itself.
pub(super) const RAW_BACKOFF_BITS: u32 = 32;

impl FieldWidths {
    /// Bits of the value of an entry: prob, backoff and whether there are
    /// children.
    pub fn value_bits(self) -> u32 {
        self.prob + self.backoff + u32::from(self.backoff > 0)
    }

    /// Whether a file may say so.
    fn are_valid(self, longest: bool) -> bool {
        (1..=RAW_PROB_BITS).contains(&self.prob)
            && self.backoff <= RAW_BACKOFF_BITS
            && longest == (self.backoff == 0)
    }

    /// The value of an entry of these.
    pub fn pack(self, prob: u32, backoff: u32, has_children: bool) -> u64 {
        let backoff = u64::from(backoff) << self.prob;
        let has_children = u64::from(has_children) << (self.prob + self.backoff);
        u64::from(prob) | backoff | has_children
    }
}

/// Bits that hold `value`, at least one.
pub(super) fn bits_for(value: usize) -> u32 {
    (usize::BITS - value.leading_zeros()).max(1)
}

/// How the suffix and the oldest word of an n-gram make its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyLayout {
    word_bits: u32,
    /// Bits of the whole.
    pub bits: u32,
}

impl KeyLayout {
    /// With suffixes numbered below `parents` and so many words.
    pub fn new(parents: usize, words: usize) -> Self {
        let bits = |count: usize| bits_for(count.saturating_sub(1));
        let word_bits = bits(words);
        KeyLayout { word_bits, bits: (bits(parents) + word_bits).max(MIN_KEY_BITS) }
    }

    /// The key of `word` in front of the n-gram `parent`.
    #[inline(always)]
    pub fn join(self, parent: u32, word: u32) -> u64 {
        u64::from(parent) << self.word_bits | u64::from(word)
    }

    /// Suffix and word of a key.
    pub fn split(self, key: u64) -> (u64, u32) {
        (key >> self.word_bits, (key & ((1 << self.word_bits) - 1)) as u32)
    }
}

/// The n-grams of one order, from 2.
pub(super) struct Level {
    table: CompactTable,
    key: KeyLayout,
    widths: FieldWidths,
    prob_mask: u32,
    backoff_mask: u32,
    /// What probs and backoffs stand for; empty where they stand for themselves.
    prob_codebook: Vec<f32>,
    backoff_codebook: Vec<f32>,
}

/// An n-gram as its entry has it.
pub(super) struct LevelEntry {
    pub number: u32,
    /// The number of its suffix, a word where that is one; in a damaged file
    /// perhaps of none.
    pub parent: u64,
    /// Its oldest word.
    pub word: u32,
    pub value: u64,
}

impl Level {
    /// Opens the n-grams of `order`, whose numbers are as wide as `widths` says.
    pub fn open(
        container: &Container,
        order: usize,
        key: KeyLayout,
        (widths, longest): (FieldWidths, bool),
        (tag_bits, homes): (u32, u32),
        books: [&[f32]; 2],
    ) -> Result<Self> {
        let name = format!("order-{order}");
        if !widths.are_valid(longest) {
            return Err(container.damaged("metadata", "the numbers of an entry cannot be").into());
        }
        let lines: View<_> = container.section(&name)?;
        let shape = CompactLayout {
            key_bits: key.bits,
            value_bits: widths.value_bits(),
            tag_bits,
            home_lines: homes,
        };
        let table =
            CompactTable::new(lines, shape).map_err(|reason| container.damaged(&name, reason))?;
        Ok(Level {
            table,
            key,
            widths,
            prob_mask: ((1u64 << widths.prob) - 1) as u32,
            backoff_mask: ((1u64 << widths.backoff) - 1) as u32,
            prob_codebook: books[0].to_vec(),
            backoff_codebook: books[1].to_vec(),
        })
    }

    /// One more than the highest number of an n-gram.
    pub fn capacity(&self) -> u32 {
        self.table.capacity()
    }

    /// All n-grams in the order of their numbers.
    pub fn entries(&self) -> impl Iterator<Item = LevelEntry> + '_ {
        self.table.entries().map(|(number, key, value)| {
            let (parent, word) = self.key.split(key);
            LevelEntry { number, parent, word, value }
        })
    }

    /// How many there are; or what is wrong with one.
    pub fn verify(&self) -> Result<u64, String> {
        self.table.verify().map_err(|(number, reason)| format!("n-gram {number}: {reason}"))
    }

    /// Whether a prob or a backoff names a value that its book lacks.
    pub fn is_outside_codebooks(&self, value: u64) -> bool {
        let outside = |book: &[f32], index: u32| !book.is_empty() && index as usize >= book.len();
        outside(&self.prob_codebook, self.prob_bits(value))
            || outside(&self.backoff_codebook, self.backoff_bits(value))
    }

    #[inline(always)]
    fn prob_bits(&self, value: u64) -> u32 {
        value as u32 & self.prob_mask
    }

    #[inline(always)]
    fn backoff_bits(&self, value: u64) -> u32 {
        (value >> self.widths.prob) as u32 & self.backoff_mask
    }

    /// The n-gram `number`, whose entry has this value.
    #[inline(always)]
    pub fn decode_ngram(&self, number: u32, value: u64) -> FoundNgram<u32> {
        let prob = self.prob_bits(value);
        // Without a book KenLM forces the sign; a book holds whole numbers.
        let log10 = if self.prob_codebook.is_empty() {
            f32::from_bits(prob | SIGN)
        } else {
            self.prob_codebook.get(prob as usize).copied().unwrap_or_default()
        };
        if self.widths.backoff == 0 {
            return FoundNgram { log10, backoff: f32::from_bits(NO_EXTENSION), extend_left: None };
        }
        let backoff = self.backoff_bits(value);
        let backoff = if self.backoff_codebook.is_empty() {
            f32::from_bits(backoff)
        } else {
            self.backoff_codebook.get(backoff as usize).copied().unwrap_or_default()
        };
        let has_children = value >> (self.widths.prob + self.widths.backoff) & 1 != 0;
        FoundNgram { log10, backoff, extend_left: has_children.then_some(number) }
    }

    /// Begins to look for `word` in front of the n-gram `parent` without asking
    /// for memory.
    #[inline(always)]
    pub fn begin_search(&self, parent: u32, word: u32) -> ProbeState {
        self.table.start(self.key.join(parent, word))
    }

    /// Asks for what a lookup needs next.
    #[inline(always)]
    pub fn prefetch(&self, search: &ProbeState) {
        self.table.prefetch(search);
    }

    /// Goes on looking.
    #[inline(always)]
    pub fn step_search(&self, search: &mut ProbeState) -> LookupStep<u32> {
        match self.table.probe(search) {
            Probe::Found(number, value) => LookupStep::Found(self.decode_ngram(number, value)),
            Probe::Absent => LookupStep::Absent,
            Probe::NextLine => LookupStep::Pending,
        }
    }
}
