//! The n-grams of one order: entries of a compact hash table.
//!
//! The key of an n-gram consists of the number of its suffix, which is the n-gram without its
//! oldest word, and of the oldest word. The number of an n-gram is the slot of its entry. So a walk
//! of the trie is one lookup per order, each of one cache line, and an entry does not say where its
//! children are, only whether it has any.

use miriam_storage::quotient_table::{
    CompactLayout, CompactTable, MIN_KEY_BITS, Probe, ProbeState,
};
use miriam_storage::{Container, View};
use serde::{Deserialize, Serialize};

use super::SIGN;
use crate::{FoundNgram, LookupStep, NO_EXTENSION, Result};

/// The widths of the fields of an order's entries, in bits; part of the metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FieldWidths {
    /// 31: a probability (log10) without its sign, which is set. Less: an index into a
    /// codebook.
    pub prob: u32,
    /// 32: a backoff (log10). Less: an index into a codebook. 0 for the longest
    /// n-grams.
    pub backoff: u32,
}

/// The width of a probability that is stored as it is.
pub(super) const RAW_PROB_BITS: u32 = 31;
/// The width of a backoff that is stored as it is.
pub(super) const RAW_BACKOFF_BITS: u32 = 32;

impl FieldWidths {
    /// Returns the number of bits of the value of an entry: probability, backoff, and whether there
    /// are children.
    pub fn value_bits(self) -> u32 {
        self.prob + self.backoff + u32::from(self.backoff > 0)
    }

    /// Whether these are valid widths.
    fn are_valid(self, longest: bool) -> bool {
        (1..=RAW_PROB_BITS).contains(&self.prob)
            && self.backoff <= RAW_BACKOFF_BITS
            && longest == (self.backoff == 0)
    }

    /// Returns the value of an entry with these fields.
    pub fn pack(self, prob: u32, backoff: u32, has_children: bool) -> u64 {
        let backoff = u64::from(backoff) << self.prob;
        let has_children = u64::from(has_children) << (self.prob + self.backoff);
        u64::from(prob) | backoff | has_children
    }
}

/// Returns the number of bits that hold `value`, at least one.
pub(super) fn bits_for(value: usize) -> u32 {
    (usize::BITS - value.leading_zeros()).max(1)
}

/// The layout of an n-gram's suffix and oldest word in its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyLayout {
    word_bits: u32,
    /// The number of bits of the key.
    pub bits: u32,
}

impl KeyLayout {
    /// Creates a layout for suffixes with numbers below `parents`, and `words` words.
    pub fn new(parents: usize, words: usize) -> Self {
        fn bits(count: usize) -> u32 {
            bits_for(count.saturating_sub(1))
        }
        let word_bits = bits(words);
        KeyLayout { word_bits, bits: (bits(parents) + word_bits).max(MIN_KEY_BITS) }
    }

    /// Returns the key of `word` in front of the n-gram `parent`.
    #[inline(always)]
    pub fn join(self, parent: u32, word: u32) -> u64 {
        u64::from(parent) << self.word_bits | u64::from(word)
    }

    /// Returns the suffix and the word of a key.
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
    /// The values of probabilities and backoffs; empty where they are stored as they
    /// are.
    prob_codebook: Vec<f32>,
    backoff_codebook: Vec<f32>,
}

/// An n-gram as its entry stores it.
pub(super) struct LevelEntry {
    pub number: u32,
    /// The number of its suffix, or the id if the suffix is a word; in a damaged file it may not
    /// exist.
    pub parent: u64,
    /// Its oldest word.
    pub word: u32,
    pub value: u64,
}

impl Level {
    /// Opens the n-grams of `order`, whose entries have fields of these widths.
    pub fn open(
        container: &Container,
        order: usize,
        key: KeyLayout,
        (widths, longest): (FieldWidths, bool),
        (tag_bits, home_lines): (u32, u32),
        codebooks: [&[f32]; 2],
    ) -> Result<Self> {
        let name = format!("order-{order}");
        if !widths.are_valid(longest) {
            return Err(container
                .damaged("metadata", "the fields of entries have invalid widths")
                .into());
        }
        let lines: View<_> = container.section(&name)?;
        let layout = CompactLayout {
            key_bits: key.bits,
            value_bits: widths.value_bits(),
            tag_bits,
            home_lines,
        };
        let table =
            CompactTable::new(lines, layout).map_err(|reason| container.damaged(&name, reason))?;
        Ok(Level {
            table,
            key,
            widths,
            prob_mask: ((1u64 << widths.prob) - 1) as u32,
            backoff_mask: ((1u64 << widths.backoff) - 1) as u32,
            prob_codebook: codebooks[0].to_vec(),
            backoff_codebook: codebooks[1].to_vec(),
        })
    }

    /// Returns the highest possible number of an n-gram plus one.
    pub fn capacity(&self) -> u32 {
        self.table.capacity()
    }

    /// Returns all n-grams in the order of their numbers.
    pub fn entries(&self) -> impl Iterator<Item = LevelEntry> + '_ {
        self.table.entries().map(|(number, key, value)| {
            let (parent, word) = self.key.split(key);
            LevelEntry { number, parent, word, value }
        })
    }

    /// Returns the number of n-grams, or the error of an invalid n-gram.
    pub fn verify(&self) -> Result<u64, String> {
        self.table.verify().map_err(|(number, reason)| format!("n-gram {number}: {reason}"))
    }

    /// Whether the index of a probability or a backoff is beyond its codebook.
    pub fn is_outside_codebooks(&self, value: u64) -> bool {
        fn outside(codebook: &[f32], index: u32) -> bool {
            !codebook.is_empty() && index as usize >= codebook.len()
        }
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

    /// Returns the n-gram `number`, whose entry has this value.
    #[inline(always)]
    pub fn decode_ngram(&self, number: u32, value: u64) -> FoundNgram<u32> {
        let prob = self.prob_bits(value);
        // Without a codebook KenLM forces the sign; a codebook holds signed values.
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

    /// Begins to look for `word` in front of the n-gram `parent`, without a prefetch.
    #[inline(always)]
    pub fn begin_search(&self, parent: u32, word: u32) -> ProbeState {
        self.table.start(self.key.join(parent, word))
    }

    /// Prefetches what the next step of a lookup reads.
    #[inline(always)]
    pub fn prefetch(&self, search: &ProbeState) {
        self.table.prefetch(search);
    }

    /// Steps a lookup.
    #[inline(always)]
    pub fn step_search(&self, search: &mut ProbeState) -> LookupStep<u32> {
        match self.table.probe_line(search) {
            Probe::Found(number, value) => LookupStep::Found(self.decode_ngram(number, value)),
            Probe::Absent => LookupStep::Absent,
            Probe::NextLine => LookupStep::Pending,
        }
    }
}
