//! The probing model as a query walk sees it: a place is the hash of an n-gram,
//! so all lookups of a query can begin before any memory has come.

use super::*;
use crate::{Found, NgramIndex, Step};

impl ProbingModel {
    /// Starts loading where the n-gram of `order`, from 2, with this hash would
    /// stand.
    #[inline(always)]
    fn prefetch_order(&self, order: usize, hash: u64) {
        match self.middle.get(order - 2) {
            Some(table) => table.prefetch(hash),
            None => {
                if let Some(longest) = &self.longest {
                    longest.prefetch(hash);
                }
            }
        }
    }
}

/// What stands in a table for the n-gram with this hash.
#[inline(always)]
fn found(log10: u32, backoff: u32, hash: u64) -> Found<u64> {
    Found {
        log10: f32::from_bits(log10 | SIGN),
        backoff: f32::from_bits(backoff),
        longer: (log10 & SIGN == 0).then_some(hash),
    }
}

impl NgramIndex for ProbingModel {
    type Place = u64;
    type Seek = u64;

    #[inline(always)]
    fn order(&self) -> usize {
        self.metadata.order as usize
    }

    fn num_words(&self) -> usize {
        self.unigrams.len()
    }

    fn word_id(&self, word: &[u8]) -> LmWord {
        // A damaged index may name a word that is not there.
        match self.words.find(word) {
            Some(id) if (id as usize) < self.unigrams.len() => LmWord(id),
            _ => LmWord::UNKNOWN,
        }
    }

    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]) {
        let words = spans.iter().map(|&(start, end)| &text[start as usize..end as usize]);
        let mut ids = ids[..spans.len()].iter_mut();
        self.words.find_all(words, |found| {
            // A damaged index may name a word that is not there.
            let known = found.filter(|&id| (id as usize) < self.unigrams.len());
            if let Some(id) = ids.next() {
                *id = known.map_or(LmWord::UNKNOWN, LmWord);
            }
        });
    }

    fn word(&self, id: LmWord) -> Option<&[u8]> {
        self.words.get(id.0)
    }

    fn begin_state(&self) -> State {
        self.begin
    }

    fn end_of_sentence(&self) -> LmWord {
        LmWord(self.metadata.end)
    }

    fn minimisation_is_closed(&self) -> bool {
        self.metadata.minimisation_is_closed
    }

    #[inline(always)]
    fn prefetch_unigram(&self, word: LmWord) {
        miriam_storage::prefetch_at(&self.unigrams, word.0 as usize);
    }

    #[inline(always)]
    fn unigram(&self, word: LmWord) -> Found<u64> {
        let value = self.unigrams[word.0 as usize];
        found(log10_bits(value), backoff_bits(value), u64::from(word.0))
    }

    #[inline(always)]
    fn seek(&self, order: usize, place: u64, older: LmWord) -> u64 {
        let hash = combine(place, older.0);
        self.prefetch_order(order, hash);
        hash
    }

    #[inline(always)]
    fn seek_now(&self, _order: usize, place: u64, older: LmWord) -> u64 {
        combine(place, older.0)
    }

    const AT_ONCE: bool = true;

    #[inline(always)]
    fn word_place(&self, word: LmWord) -> Option<u64> {
        Some(u64::from(word.0))
    }

    #[inline(always)]
    fn place_beyond(&self, place: u64, older: LmWord) -> Option<u64> {
        Some(combine(place, older.0))
    }

    #[inline(always)]
    fn step(&self, order: usize, &mut hash: &mut u64) -> Step<u64> {
        let key = table_key(hash);
        if let Some(table) = self.middle.get(order - 2) {
            match table.find(key) {
                Some(value) => Step::Found(found(log10_bits(value), backoff_bits(value), hash)),
                None => Step::Absent,
            }
        } else {
            match self.longest.as_ref().and_then(|longest| longest.find(key)) {
                Some(log10) => Step::Found(found(log10 | SIGN, NO_EXTENSION, hash)),
                None => Step::Absent,
            }
        }
    }
}
