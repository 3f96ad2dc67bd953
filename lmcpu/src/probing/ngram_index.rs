//! Lookups in a probing model: a node reference is the hash of an n-gram, so all
//! lookups of a query can begin before any memory has arrived.

use miriam_storage::probing::LineSearch;

use super::*;
use crate::{FoundNgram, LookupStep, NgramIndex};

/// A lookup: the hash of the n-gram and the line to search for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineLookup {
    hash: u64,
    line: usize,
}

/// Searches the line of `lookup`. If the search continues in the next line, which few do, that line
/// is prefetched: waiting for it would hold up all other queries.
#[inline(always)]
fn step_in_table<L: TableLine>(
    table: &ProbingTable<L>,
    lookup: &mut LineLookup,
    decode: impl FnOnce(L::Value) -> FoundNgram<u64>,
) -> LookupStep<u64> {
    match table.search_line(lookup.line, nonzero_key(lookup.hash)) {
        LineSearch::Found(value) => LookupStep::Found(decode(value)),
        LineSearch::Absent => LookupStep::Absent,
        LineSearch::NextLine => {
            lookup.line += 1;
            table.prefetch_line(lookup.line);
            LookupStep::Pending
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
    type Lookup = LineLookup;
    type Words = Dictionary;

    #[inline(always)]
    fn head(&self) -> &ModelHead {
        &self.head
    }

    fn has_only_lowering_backoffs(&self) -> bool {
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
    fn begin_lookup(&self, order: usize, node: u64, older: LmWord) -> LineLookup {
        let lookup = self.begin_lookup_no_prefetch(order, node, older);
        match self.middle.get(order - 2) {
            Some(table) => table.prefetch_line(lookup.line),
            None => {
                if let Some(longest) = &self.longest {
                    longest.prefetch_line(lookup.line);
                }
            }
        }
        lookup
    }

    #[inline(always)]
    fn begin_lookup_no_prefetch(&self, order: usize, node: u64, older: LmWord) -> LineLookup {
        let hash = combine(node, older.0);
        let line = match self.middle.get(order - 2) {
            Some(table) => table.home_line(hash),
            None => self.longest.as_ref().map_or(0, |longest| longest.home_line(hash)),
        };
        LineLookup { hash, line }
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
    fn step_lookup(&self, order: usize, lookup: &mut LineLookup) -> LookupStep<u64> {
        let hash = lookup.hash;
        if let Some(table) = self.middle.get(order - 2) {
            step_in_table(table, lookup, |value| {
                decode_ngram(log10_bits(value), backoff_bits(value), hash)
            })
        } else if let Some(longest) = &self.longest {
            step_in_table(longest, lookup, |log10| decode_ngram(log10 | SIGN, NO_EXTENSION, hash))
        } else {
            LookupStep::Absent
        }
    }
}
