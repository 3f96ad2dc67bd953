//! The n-grams of a section in the order of the trie.

use miriam_storage::parallel;
use rayon::prelude::*;

use crate::arpa::Section;
use crate::ngram_errors::duplicate_error;
use crate::{MAX_ORDER, NgramSource, Result};

/// The number of n-grams in a task.
pub(super) const CHUNK: usize = 1 << 13;

/// The sort key of an n-gram: as many of its words as fit into 128 bits, newest in the highest
/// bits, and its index in the section.
#[derive(Clone, Copy)]
struct SortKey {
    high: u64,
    low: u64,
    index: u32,
}

impl SortKey {
    #[inline(always)]
    fn key(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}

/// A section sorted by the words of its n-grams, newest first.
pub(super) struct SortedSection<'s> {
    section: &'s Section,
    /// The new id of each of the source's words.
    ids: &'s [u32],
    /// The number of bits of an id.
    bits: u32,
    /// The number of words that a key holds.
    packed_words: usize,
    entries: Vec<SortKey>,
}

impl<'s> SortedSection<'s> {
    /// Sorts `section`, which is of `source` and has fewer than 2^32 n-grams; `ids`
    /// gives the new ids of words.
    ///
    /// # Errors
    ///
    /// If two n-grams have the same words.
    pub fn sort(section: &'s Section, ids: &'s [u32], source: &dyn NgramSource) -> Result<Self> {
        let bits = u32::BITS - (ids.len() as u32 - 1).leading_zeros();
        let packed_words = section.order.min(128 / bits.max(1) as usize);
        let mut keys = SortedSection { section, ids, bits, packed_words, entries: Vec::new() };
        // Collected by rayon: filling this array, the largest of a build, with zeros first would
        // take another pass.
        let mut entries: Vec<SortKey> = (0..section.len())
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(|index| {
                let mut key = 0u128;
                for word in section.ngram(index).iter().rev().take(packed_words) {
                    key = key << bits | u128::from(ids[*word as usize]);
                }
                SortKey { high: (key >> 64) as u64, low: key as u64, index: index as u32 }
            })
            .collect();
        let rest = |entry: &SortKey| {
            let words = &section.ngram(entry.index as usize)[..section.order - packed_words];
            words.iter().rev().map(|&word| ids[word as usize])
        };
        let by_words = |a: &SortKey, b: &SortKey| {
            a.key().cmp(&b.key()).then_with(|| {
                if packed_words < section.order {
                    rest(a).cmp(rest(b))
                } else {
                    std::cmp::Ordering::Equal
                }
            })
        };
        entries.par_sort_unstable_by(|a, b| by_words(a, b).then_with(|| a.index.cmp(&b.index)));
        let equal_to_next = parallel::positions(entries.len().saturating_sub(1), |at| {
            by_words(&entries[at], &entries[at + 1]).is_eq()
        });
        let duplicate = equal_to_next
            .iter()
            .map(|&at| (entries[at + 1].index as usize, entries[at].index as usize))
            .min();
        keys.entries = entries;
        match duplicate {
            Some((second, first)) => Err(duplicate_error(section, first, second, source)),
            None => Ok(keys),
        }
    }

    /// Returns the number of n-grams.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the length of the n-grams.
    pub fn order(&self) -> usize {
        self.section.order
    }

    /// Returns the index in the section of the n-gram `at`.
    pub fn section_index(&self, at: usize) -> usize {
        self.entries[at].index as usize
    }

    /// Returns the new ids of the words of the n-gram `at`, newest first, then zeros.
    #[inline(always)]
    pub fn words(&self, at: usize) -> [u32; MAX_ORDER] {
        let entry = &self.entries[at];
        let mut words = [0; MAX_ORDER];
        let mut key = entry.key();
        let mask = (1u64 << self.bits) - 1;
        for word in words[..self.packed_words].iter_mut().rev() {
            *word = (key as u64 & mask) as u32;
            key >>= self.bits;
        }
        let order = self.section.order;
        if self.packed_words < order {
            let rest = &self.section.ngram(entry.index as usize)[..order - self.packed_words];
            for (to, &word) in words[self.packed_words..order].iter_mut().zip(rest.iter().rev()) {
                *to = self.ids[word as usize];
            }
        }
        words
    }

    /// Returns the oldest word of the n-gram `at`.
    #[inline(always)]
    pub fn oldest_word(&self, at: usize) -> u32 {
        if self.packed_words == self.section.order {
            let mask = (1u64 << self.bits) - 1;
            (self.entries[at].low & mask) as u32
        } else {
            self.ids[self.section.ngram(self.section_index(at))[0] as usize]
        }
    }

    /// Returns `values`, one for each n-gram of the section, in the sorted order.
    pub fn reorder_values(&self, values: &[f32]) -> Vec<f32> {
        parallel::map(self.len(), |at| values[self.section_index(at)])
    }
}
