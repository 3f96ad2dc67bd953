//! Lookups in a probing model: a node reference is the hash of an n-gram, so all
//! lookups of a query can begin before any memory has arrived.

use super::*;
use crate::{FoundNgram, LookupStep, NgramIndex};

impl ProbingModel {
    /// Prefetches the home line of the n-gram of `order`, from 2, with this hash.
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

/// Returns the n-gram with this hash from its entry in a table.
#[inline(always)]
fn decode_ngram(log10: u32, backoff: u32, hash: u64) -> FoundNgram<u64> {
    FoundNgram {
        log10: f32::from_bits(log10 | SIGN),
        backoff: f32::from_bits(backoff),
        extend_left: (log10 & SIGN == 0).then_some(hash),
    }
}

impl NgramIndex for ProbingModel {
    type NodeRef = u64;
    type Lookup = u64;
    type Words = Dictionary;

    #[inline(always)]
    fn head(&self) -> &ModelHead {
        &self.head
    }

    fn backoffs_only_lower(&self) -> bool {
        fn is_lower(value: u64) -> bool {
            f32::from_bits(backoff_bits(value)) <= 0.0
        }
        self.unigrams.iter().all(|&value| is_lower(value))
            && self.middle.iter().all(|table| table.iter().all(|(_, value)| is_lower(value)))
    }

    #[inline(always)]
    fn prefetch_unigram(&self, word: LmWord) {
        miriam_storage::prefetch_at(&self.unigrams, word.0 as usize);
    }

    #[inline(always)]
    fn unigram(&self, word: LmWord) -> FoundNgram<u64> {
        let value = self.unigrams[word.0 as usize];
        decode_ngram(log10_bits(value), backoff_bits(value), u64::from(word.0))
    }

    #[inline(always)]
    fn begin_lookup(&self, order: usize, node: u64, older: LmWord) -> u64 {
        let hash = combine(node, older.0);
        self.prefetch_order(order, hash);
        hash
    }

    #[inline(always)]
    fn begin_lookup_no_prefetch(&self, _order: usize, node: u64, older: LmWord) -> u64 {
        combine(node, older.0)
    }

    const INDEPENDENT_LOOKUPS: bool = true;

    #[inline(always)]
    fn word_node(&self, word: LmWord) -> Option<u64> {
        Some(u64::from(word.0))
    }

    #[inline(always)]
    fn extend_node(&self, node: u64, older: LmWord) -> Option<u64> {
        Some(combine(node, older.0))
    }

    #[inline(always)]
    fn step_lookup(&self, order: usize, &mut hash: &mut u64) -> LookupStep<u64> {
        let key = nonzero_key(hash);
        if let Some(table) = self.middle.get(order - 2) {
            match table.find(key) {
                Some(value) => {
                    LookupStep::Found(decode_ngram(log10_bits(value), backoff_bits(value), hash))
                }
                None => LookupStep::Absent,
            }
        } else {
            match self.longest.as_ref().and_then(|longest| longest.find(key)) {
                Some(log10) => LookupStep::Found(decode_ngram(log10 | SIGN, NO_EXTENSION, hash)),
                None => LookupStep::Absent,
            }
        }
    }
}
