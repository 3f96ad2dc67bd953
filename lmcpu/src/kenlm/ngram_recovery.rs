//! Recovery of the words of the n-grams of a probing file, which keeps only hashes.
//!
//! A hash cannot be inverted, but an n-gram can be guessed. Its n-1 newest words are an n-gram that
//! is flagged as extended to the left, and its n-1 oldest words are an n-gram that is flagged as
//! extended to the right. (KenLM ensures both: it adds a blank if the n-1 newest words are not an
//! n-gram, and rejects models in which the n-1 oldest words are not.) So an order follows from the
//! previous order: every pair of such n-grams that overlaps in n-2 words is a candidate. A
//! candidate is an n-gram of the model if its hash is in the table. A model of 10^5 words has 10^10
//! candidates of two words and about as many of three, nearly all of them wrong.
//!
//! The form of the hash makes this feasible: it is the exclusive or of a term of the newer words
//! and a term of the oldest word. A bitmap over the high bits of the hashes in the table filters
//! pairs of terms. Both lists are sorted by their terms, and the high bits of two terms give the
//! region of the bitmap that decides about the pair. Pairs are visited region by region, and a
//! region is so small that it stays in the first-level cache. A candidate then costs a nanosecond
//! or two. Still there are as many candidates of two words as pairs of words: 89,000 words take a
//! minute of one core, a million words two hours.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use miriam_storage::parallel;

use super::table::NgramTable;
use crate::hash::{MULTIPLIER, word_hash_term};
use crate::level_source::{LevelNgrams, offsets_by_key};
use crate::{Error, Result};

/// log2 of the least number of bits of the bitmap for each slot of the table. There are 2^5 to 2^6
/// bits for each slot, so that at most 1.5 to 3 % of the wrong candidates are looked up in the
/// table.
const BITS_PER_KEY: u32 = 5;
/// log2 of the bits of a region that stays in the first-level cache.
const REGION_BITS_LOG2: u32 = 17;
/// The least number of terms of the shorter list for each region. With fewer terms bookkeeping
/// would dominate, so regions are made larger.
const TERMS_PER_REGION: usize = 8;
/// log2 of the number of candidates above which one group is split among threads.
const LARGE_GROUP_LOG2: u32 = 24;
/// The number of smaller groups in a task; most of them have few candidates.
const GROUPS_PER_TASK: usize = 8;

/// The n-grams of an order in the order of their words, newest first, from which the
/// next order is recovered.
#[derive(Default)]
pub struct RecoveredLevel {
    hashes: Vec<u64>,
    oldest: Vec<u32>,
    /// The index of the suffix among the n-grams of the previous order.
    suffix: Vec<u32>,
    /// The index of the context among the n-grams of the previous order.
    context: Vec<u32>,
    extends_left: Vec<bool>,
    extends_right: Vec<bool>,
    /// The slot of each n-gram in the table; empty for unigrams.
    pub slots: Vec<usize>,
    /// The number of n-grams of the previous order: for unigrams 1, the empty n-gram.
    shorter: usize,
}

/// A term of a hash and the n-gram that it belongs to.
#[derive(Clone, Copy)]
struct HashTerm {
    term: u64,
    ngram: u32,
}

/// An n-gram as suffix and context, and its slot in the table.
#[derive(Clone, Copy)]
struct RecoveredNgram {
    suffix: u32,
    context: u32,
    slot: usize,
}

/// N-grams that overlap in the same words: suffixes of longer n-grams, and contexts of longer
/// n-grams, each list sorted by term.
struct OverlapGroup<'a> {
    suffixes: &'a [HashTerm],
    contexts: &'a [HashTerm],
}

impl OverlapGroup<'_> {
    fn candidate_count(&self) -> u64 {
        self.suffixes.len() as u64 * self.contexts.len() as u64
    }
}

impl RecoveredLevel {
    /// Returns all unigrams. `extends` gives for each whether a longer n-gram ends in it, and
    /// whether one begins with it.
    pub fn unigrams(extends: impl Iterator<Item = (bool, bool)>) -> Self {
        let (extends_left, extends_right): (Vec<bool>, Vec<bool>) = extends.unzip();
        let count = extends_left.len();
        RecoveredLevel {
            hashes: (0..count as u64).collect(),
            oldest: (0..count as u32).collect(),
            suffix: vec![0; count],
            context: vec![0; count],
            extends_left,
            extends_right,
            slots: Vec::new(),
            shorter: 1,
        }
    }

    /// Returns the n-grams of `table` with their words. `flags` gives for an entry whether a longer
    /// n-gram ends in it, and whether one begins with it. Backoffs are left to the caller.
    pub fn recover_next_order(
        &self,
        order: usize,
        table: &dyn NgramTable,
        flags: &(dyn Fn(&[u8]) -> (bool, bool) + Sync),
        path: &Path,
    ) -> Result<(LevelNgrams, RecoveredLevel)> {
        let mut matches = self.recover_ngrams(table);
        matches.par_sort_unstable_by_key(|m| (m.suffix, self.oldest[m.context as usize]));
        check_all_recovered(order, table, &matches, path)?;
        let extends = parallel::map(matches.len(), |at| flags(table.slot(matches[at].slot)));
        let (extends_left, extends_right) = extends.into_iter().unzip();
        // Columns that are looked up elsewhere are made in parallel; the others are copies.
        let ngrams = RecoveredLevel {
            hashes: parallel::map(matches.len(), |at| table.key(matches[at].slot)),
            oldest: parallel::map(matches.len(), |at| self.oldest[matches[at].context as usize]),
            suffix: matches.iter().map(|m| m.suffix).collect(),
            context: matches.iter().map(|m| m.context).collect(),
            extends_left,
            extends_right,
            slots: matches.iter().map(|m| m.slot).collect(),
            shorter: self.hashes.len(),
        };
        let listed = LevelNgrams {
            log10: parallel::map(matches.len(), |at| {
                -f32::from_bits(super::unaligned::u32_at(table.slot(matches[at].slot), 8)).abs()
            }),
            backoffs: Vec::new(),
            oldest: ngrams.oldest.clone(),
            offsets: offsets_by_key(
                self.hashes.len(),
                ngrams.suffix.iter().map(|&suffix| suffix as usize),
            ),
            keep: Vec::new(),
        };
        Ok((listed, ngrams))
    }

    fn recover_ngrams(&self, table: &dyn NgramTable) -> Vec<RecoveredNgram> {
        // Suffixes without their newest word equal contexts without their oldest.
        let (suffixes, suffix_offsets) =
            group_terms(self.shorter, &self.context, &self.extends_left, |i: usize| {
                self.hashes[i].wrapping_mul(MULTIPLIER)
            });
        let (contexts, context_offsets) =
            group_terms(self.shorter, &self.suffix, &self.extends_right, |i: usize| {
                word_hash_term(self.oldest[i])
            });
        let filter = HashFilter::new(table);
        let groups: Vec<OverlapGroup<'_>> = (0..self.shorter)
            .map(|group| OverlapGroup {
                suffixes: &suffixes[suffix_offsets[group]..suffix_offsets[group + 1]],
                contexts: &contexts[context_offsets[group]..context_offsets[group + 1]],
            })
            .filter(|group| group.candidate_count() > 0)
            .collect();
        let (large, small): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.candidate_count() >> LARGE_GROUP_LOG2 > 0);
        let small: Vec<_> = small.chunks(GROUPS_PER_TASK).collect();
        let found = parallel::map_items(small, &|_, groups: &[OverlapGroup<'_>]| {
            let mut found = Vec::new();
            for group in groups {
                let regions = Regions::new(group, &filter);
                for region in 0..regions.count() {
                    regions.join_region(region, table, &mut found);
                }
            }
            found
        });
        let mut matches = Vec::with_capacity(found.iter().map(Vec::len).sum());
        found.into_iter().for_each(|some| matches.extend(some));
        for group in &large {
            let regions = Regions::new(group, &filter);
            let found = parallel::map_tasks(regions.count(), &|region| {
                let mut found = Vec::new();
                regions.join_region(region, table, &mut found);
                found
            });
            found.into_iter().for_each(|some| matches.extend(some));
        }
        matches
    }
}

/// Returns the terms of all n-grams that are `taken`, sorted by group and term; and where each
/// group begins.
fn group_terms(
    groups: usize,
    group_of: &[u32],
    taken: &[bool],
    term_of: impl Fn(usize) -> u64,
) -> (Vec<HashTerm>, Vec<usize>) {
    let chosen = group_of.iter().zip(taken).enumerate().filter(|(_, (_, taken))| **taken);
    let offsets = offsets_by_key(groups, chosen.clone().map(|(_, (&group, _))| group as usize));
    let mut next = offsets.clone();
    let mut terms = vec![HashTerm { term: 0, ngram: 0 }; offsets[groups]];
    for (i, (&group, _)) in chosen {
        let at = &mut next[group as usize];
        terms[*at] = HashTerm { term: term_of(i), ngram: i as u32 };
        *at += 1;
    }
    let mut rest = &mut terms[..];
    let mut lists = Vec::new();
    for group in 0..groups {
        let (list, after) = rest.split_at_mut(offsets[group + 1] - offsets[group]);
        rest = after;
        if list.len() > 1 {
            lists.push(list);
        }
    }
    let lists: Vec<_> = lists.chunks_mut(GROUPS_PER_TASK).collect();
    parallel::for_each_item(lists, &|_, lists: &mut [&mut [HashTerm]]| {
        lists.iter_mut().for_each(|list| list.sort_unstable_by_key(|s| s.term));
    });
    (terms, offsets)
}

/// A bitmap over the high bits of a table's keys.
struct HashFilter {
    words: Vec<u64>,
    /// The number of high bits of a key that index the bitmap.
    bits: u32,
}

impl HashFilter {
    fn new(table: &dyn NgramTable) -> Self {
        let keys = (0..table.slot_count()).map(|at| table.key(at)).filter(|&key| key != 0);
        let bits =
            (super::bit_packing::required_bits(table.slot_count() as u64) + BITS_PER_KEY).max(6);
        let mut words = vec![0; 1 << (bits - 6)];
        for key in keys {
            let bit = key >> (64 - bits);
            words[(bit >> 6) as usize] |= 1 << (bit & 63);
        }
        HashFilter { words, bits }
    }

    #[inline(always)]
    fn may_contain(&self, key: u64) -> bool {
        let bit = key >> (64 - self.bits);
        self.words[(bit >> 6) as usize] >> (bit & 63) & 1 != 0
    }
}

/// A group divided by the high bits of terms, so that the pairs of one part of the suffixes and one
/// part of the contexts fall into one region of the filter.
struct Regions<'a> {
    group: &'a OverlapGroup<'a>,
    filter: &'a HashFilter,
    suffixes: Vec<usize>,
    contexts: Vec<usize>,
}

impl<'a> Regions<'a> {
    fn new(group: &'a OverlapGroup<'a>, filter: &'a HashFilter) -> Self {
        let fewer = group.suffixes.len().min(group.contexts.len());
        let bits = (fewer / TERMS_PER_REGION).max(1).ilog2();
        let bits = bits.min(filter.bits.saturating_sub(REGION_BITS_LOG2));
        fn split(terms: &[HashTerm], bits: u32) -> Vec<usize> {
            if bits == 0 {
                return vec![0, terms.len()];
            }
            offsets_by_key(1 << bits, terms.iter().map(|s| (s.term >> (64 - bits)) as usize))
        }
        Regions {
            group,
            filter,
            suffixes: split(group.suffixes, bits),
            contexts: split(group.contexts, bits),
        }
    }

    /// Returns the number of regions, a power of two.
    fn count(&self) -> usize {
        self.suffixes.len() - 1
    }

    /// Appends the n-grams found in one region.
    fn join_region(&self, region: usize, table: &dyn NgramTable, found: &mut Vec<RecoveredNgram>) {
        for split in 0..self.count() {
            let suffixes = &self.group.suffixes[self.suffixes[split]..self.suffixes[split + 1]];
            let other = split ^ region;
            let contexts = &self.group.contexts[self.contexts[other]..self.contexts[other + 1]];
            for suffix in suffixes {
                for context in contexts {
                    let key = suffix.term ^ context.term;
                    if self.filter.may_contain(key)
                        && key != 0
                        && let Some(slot) = table.find_key(key)
                    {
                        let (suffix, context) = (suffix.ngram, context.ngram);
                        found.push(RecoveredNgram { suffix, context, slot });
                    }
                }
            }
        }
    }
}

/// Checks that every entry of `table` that a search can find was matched, and only
/// once.
fn check_all_recovered(
    order: usize,
    table: &dyn NgramTable,
    matches: &[RecoveredNgram],
    path: &Path,
) -> Result<()> {
    let mut matched = Vec::new();
    matched.resize_with(table.slot_count(), || AtomicBool::new(false));
    let ambiguous = parallel::count(matches.len(), |at| {
        matched[matches[at].slot].swap(true, Ordering::Relaxed)
    });
    if ambiguous > 0 {
        // Likely only where candidates times entries come near 2^64: for example a
        // million words and a hundred million bigrams.
        return Err(Error::Unsupported {
            file: miriam_textio::display_name(path),
            reason: format!(
                "{ambiguous} of the hashes of {order}-grams match several n-grams; take the \
                 ARPA file that it was built from, or a trie"
            ),
        });
    }
    let missing = parallel::count(matched.len(), |at| {
        !matched[at].load(Ordering::Relaxed) && table.is_found(at)
    });
    if missing > 0 {
        return Err(Error::Unsupported {
            file: miriam_textio::display_name(path),
            reason: format!(
                "{missing} of the {} {order}-grams could not be recovered from their hashes: their \
                 contexts or suffixes are missing; is the file damaged? Take the ARPA file, or \
                 a trie, which keeps the words",
                missing + matches.len()
            ),
        });
    }
    Ok(())
}
