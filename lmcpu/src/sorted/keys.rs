//! The n-grams of a section in the order of the trie.

use rayon::prelude::*;

use crate::arpa::Section;
use crate::duplicates::there_twice;
use crate::{MAX_ORDER, NgramSource, Result};

/// n-grams that one task works on.
pub(super) const CHUNK: usize = 1 << 13;

/// One n-gram: as many of its words as fit, newest in the highest bits, and its
/// place in the section.
#[derive(Clone, Copy)]
struct Entry {
    high: u64,
    low: u64,
    index: u32,
}

impl Entry {
    #[inline(always)]
    fn key(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}

/// A section sorted by the words of its n-grams, newest first.
pub(super) struct Keys<'s> {
    section: &'s Section,
    /// Our id of each of the source's words.
    ids: &'s [u32],
    /// Bits of an id.
    bits: u32,
    /// Words that a key holds.
    packed: usize,
    entries: Vec<Entry>,
}

impl<'s> Keys<'s> {
    /// Sorts `section`, whose words are those of `source`; `ids` gives our ids.
    /// It holds fewer than 2^32 n-grams. Two n-grams of the same words are an
    /// error.
    pub fn sort(section: &'s Section, ids: &'s [u32], source: &dyn NgramSource) -> Result<Self> {
        let bits = u32::BITS - (ids.len() as u32 - 1).leading_zeros();
        let packed = section.order.min(128 / bits.max(1) as usize);
        let mut keys = Keys { section, ids, bits, packed, entries: Vec::new() };
        keys.entries = (0..section.len())
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(|index| {
                let mut key = 0u128;
                for word in section.ngram(index).iter().rev().take(packed) {
                    key = key << bits | u128::from(ids[*word as usize]);
                }
                Entry { high: (key >> 64) as u64, low: key as u64, index: index as u32 }
            })
            .collect();
        let mut entries = std::mem::take(&mut keys.entries);
        let rest = |entry: &Entry| {
            let words = &section.ngram(entry.index as usize)[..section.order - packed];
            words.iter().rev().map(|&word| ids[word as usize])
        };
        let by_words = |a: &Entry, b: &Entry| {
            a.key().cmp(&b.key()).then_with(|| {
                if packed < section.order {
                    rest(a).cmp(rest(b))
                } else {
                    std::cmp::Ordering::Equal
                }
            })
        };
        entries.par_sort_unstable_by(|a, b| by_words(a, b).then_with(|| a.index.cmp(&b.index)));
        let twice = entries
            .par_windows(2)
            .with_min_len(CHUNK)
            .filter(|pair| by_words(&pair[0], &pair[1]).is_eq())
            .map(|pair| (pair[1].index as usize, pair[0].index as usize))
            .min();
        keys.entries = entries;
        match twice {
            Some((second, first)) => Err(there_twice(section, first, second, source)),
            None => Ok(keys),
        }
    }

    /// How many n-grams there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The length of each.
    pub fn order(&self) -> usize {
        self.section.order
    }

    /// The place in the section of the n-gram `at`.
    pub fn index(&self, at: usize) -> usize {
        self.entries[at].index as usize
    }

    /// Our ids of the words of the n-gram `at`, newest first; zeros behind.
    #[inline(always)]
    pub fn words(&self, at: usize) -> [u32; MAX_ORDER] {
        let entry = &self.entries[at];
        let mut words = [0; MAX_ORDER];
        let mut key = entry.key();
        let mask = (1u64 << self.bits) - 1;
        for word in words[..self.packed].iter_mut().rev() {
            *word = (key as u64 & mask) as u32;
            key >>= self.bits;
        }
        let order = self.section.order;
        if self.packed < order {
            let rest = &self.section.ngram(entry.index as usize)[..order - self.packed];
            for (to, &word) in words[self.packed..order].iter_mut().zip(rest.iter().rev()) {
                *to = self.ids[word as usize];
            }
        }
        words
    }

    /// The oldest word of the n-gram `at`.
    #[inline(always)]
    pub fn oldest(&self, at: usize) -> u32 {
        if self.packed == self.section.order {
            let mask = (1u64 << self.bits) - 1;
            (self.entries[at].low & mask) as u32
        } else {
            self.ids[self.section.ngram(self.index(at))[0] as usize]
        }
    }

    /// `values`, one for each n-gram of the section, in our order.
    pub fn gather(&self, values: &[f32]) -> Vec<f32> {
        let value = |entry: &Entry| values[entry.index as usize];
        self.entries.par_iter().with_min_len(CHUNK).map(value).collect()
    }
}
