//! Finding the words of n-grams of which a probing file keeps hashes only.
//!
//! An n-gram cannot be read off its hash, but it can be guessed: the n-1 newest
//! words of it are an n-gram that says it is extended to the left, and its n-1
//! oldest words one that says it is extended to the right. (KenLM sees to both:
//! what is missing of the first it makes up, without the second it does not
//! build.) So an order follows from the one before: every pair of two such
//! n-grams that overlap in n-2 words is a candidate, and it is an n-gram if its
//! hash is in the table. A model of 10^5 words has 10^10 candidates of two words
//! and about as many of three, nearly all of them wrong.
//!
//! What makes that bearable is the form of the hash: an exclusive or of a share
//! of the newer words and a share of the oldest one. Whether a share pair's hash
//! may be in the table is read from a bitmap over the hashes' high bits; both
//! lists are sorted by their share, and pairs are taken in such an order that one
//! small region of the bitmap, which stays in the first-level cache, answers for
//! many: the high bits of two shares tell the region of the pair. A candidate
//! then costs a nanosecond or two. Still there are as many candidates of two words
//! as pairs of words: 89,000 words take a minute of one core, a million two hours.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::table::KenlmTable;
use super::unaligned::u64_at;
use crate::hash::{MULTIPLIER, word_hash_term};
use crate::level_source::{LevelNgrams, offsets_by_key};
use crate::{Error, Result};

/// Bits of the bitmap for each key, at least; of 2^5 to 2^6, so that 1.5 to 3 %
/// of the wrong candidates are looked up in the table.
const BITS_PER_KEY: u32 = 5;
/// Bits (as a power of two) of a region that stays in the first-level cache.
const REGION_BITS_LOG2: u32 = 17;
/// Shares of the shorter list that each region should meet, or regions are made
/// larger: fewer would make the bookkeeping the work.
const TERMS_PER_REGION: usize = 8;
/// A group with more candidates (as a power of two) is spread over threads.
const LARGE_GROUP_LOG2: u32 = 24;

/// The n-grams of an order in the order of their words, newest first: what the
/// next order is made of.
#[derive(Default)]
pub struct RecoveredLevel {
    hashes: Vec<u64>,
    oldest: Vec<u32>,
    /// Which n-gram of the order before is this one without its oldest word.
    suffix: Vec<u32>,
    /// Which is this one without its newest word.
    context: Vec<u32>,
    extends_left: Vec<bool>,
    extends_right: Vec<bool>,
    /// The slots of the table; none for unigrams.
    pub slots: Vec<usize>,
    /// How many n-grams the order before has: for unigrams one, the empty one.
    shorter: usize,
}

/// A share of a hash with whose it is.
#[derive(Clone, Copy)]
struct HashTerm {
    term: u64,
    ngram: u32,
}

/// Two n-grams that together make a longer one.
#[derive(Clone, Copy)]
struct RecoveredNgram {
    suffix: u32,
    context: u32,
    slot: usize,
}

/// n-grams that overlap in the same words: suffixes and contexts of longer ones,
/// each sorted by share.
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
    /// All words, by whether something longer ends in each and begins with it.
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

    /// The n-grams of `table` with their words. `flags` tells of an entry whether
    /// something longer ends in it and begins with it. Backoffs are left to the
    /// caller.
    pub fn recover_longer<const N: usize>(
        &self,
        order: usize,
        table: &KenlmTable<N>,
        flags: impl Fn(&[u8]) -> (bool, bool) + Sync,
        path: &Path,
    ) -> Result<(LevelNgrams, RecoveredLevel)> {
        let mut matches = self.recover_ngrams(table);
        matches.par_sort_unstable_by_key(|m| (m.suffix, self.oldest[m.context as usize]));
        check_all_recovered(order, table, &matches, path)?;
        let entry = |m: &RecoveredNgram| &table.slots()[m.slot];
        let extends: Vec<(bool, bool)> = matches.par_iter().map(|m| flags(entry(m))).collect();
        let (extends_left, extends_right) = extends.into_iter().unzip();
        let ngrams = RecoveredLevel {
            hashes: matches.par_iter().map(|m| u64_at(entry(m), 0)).collect(),
            oldest: matches.par_iter().map(|m| self.oldest[m.context as usize]).collect(),
            suffix: matches.par_iter().map(|m| m.suffix).collect(),
            context: matches.par_iter().map(|m| m.context).collect(),
            extends_left,
            extends_right,
            slots: matches.par_iter().map(|m| m.slot).collect(),
            shorter: self.hashes.len(),
        };
        let log10 =
            |m: &RecoveredNgram| -f32::from_bits(super::unaligned::u32_at(entry(m), 8)).abs();
        let listed = LevelNgrams {
            log10: matches.par_iter().map(log10).collect(),
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

    fn recover_ngrams<const N: usize>(&self, table: &KenlmTable<N>) -> Vec<RecoveredNgram> {
        // Suffixes that have all but their newest word in common with contexts
        // without their oldest.
        let suffix_share = |i: usize| self.hashes[i].wrapping_mul(MULTIPLIER);
        let context_share = |i: usize| word_hash_term(self.oldest[i]);
        let (suffixes, suffixes_begin) =
            group_terms(self.shorter, &self.context, &self.extends_left, suffix_share);
        let (contexts, contexts_begin) =
            group_terms(self.shorter, &self.suffix, &self.extends_right, context_share);
        let filter = HashFilter::new(table);
        let groups: Vec<OverlapGroup<'_>> = (0..self.shorter)
            .map(|group| OverlapGroup {
                suffixes: &suffixes[suffixes_begin[group]..suffixes_begin[group + 1]],
                contexts: &contexts[contexts_begin[group]..contexts_begin[group + 1]],
            })
            .filter(|group| group.candidate_count() > 0)
            .collect();
        let (large, small): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.candidate_count() >> LARGE_GROUP_LOG2 > 0);
        let found = small.par_iter().flat_map_iter(|group| {
            let regions = Regions::new(group, &filter);
            let mut found = Vec::new();
            for region in 0..regions.count() {
                regions.join_region(region, table, &mut found);
            }
            found
        });
        let mut matches: Vec<RecoveredNgram> = found.collect();
        for group in &large {
            let regions = Regions::new(group, &filter);
            let found = (0..regions.count()).into_par_iter().flat_map_iter(|region| {
                let mut found = Vec::new();
                regions.join_region(region, table, &mut found);
                found
            });
            matches.par_extend(found);
        }
        matches
    }
}

/// The shares of all n-grams that are `taken`, by group and in a group by share;
/// and where each group begins.
fn group_terms(
    groups: usize,
    group_of: &[u32],
    taken: &[bool],
    share: impl Fn(usize) -> u64,
) -> (Vec<HashTerm>, Vec<usize>) {
    let chosen = || group_of.iter().zip(taken).enumerate().filter(|(_, (_, taken))| **taken);
    let begins = offsets_by_key(groups, chosen().map(|(_, (&group, _))| group as usize));
    let mut next = begins.clone();
    let mut shares = vec![HashTerm { term: 0, ngram: 0 }; begins[groups]];
    for (i, (&group, _)) in chosen() {
        let at = &mut next[group as usize];
        shares[*at] = HashTerm { term: share(i), ngram: i as u32 };
        *at += 1;
    }
    let mut rest = &mut shares[..];
    let mut lists = Vec::new();
    for group in 0..groups {
        let (list, after) = rest.split_at_mut(begins[group + 1] - begins[group]);
        rest = after;
        if list.len() > 1 {
            lists.push(list);
        }
    }
    lists.into_par_iter().for_each(|list| list.sort_unstable_by_key(|s| s.term));
    (shares, begins)
}

/// A bitmap over the high bits of a table's keys.
struct HashFilter {
    words: Vec<u64>,
    /// How many high bits are looked at.
    bits: u32,
}

impl HashFilter {
    fn new<const N: usize>(table: &KenlmTable<N>) -> Self {
        let keys = || table.slots().iter().map(|slot| u64_at(slot, 0)).filter(|&key| key != 0);
        let bits =
            (super::bit_packing::required_bits(table.slots().len() as u64) + BITS_PER_KEY).max(6);
        let mut words = vec![0; 1 << (bits - 6)];
        for key in keys() {
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

/// A group cut by the high bits of shares, so that the pairs of one cut with
/// another fall into one region of the filter.
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
        let cut = |shares: &[HashTerm]| {
            if bits == 0 {
                return vec![0, shares.len()];
            }
            offsets_by_key(1 << bits, shares.iter().map(|s| (s.term >> (64 - bits)) as usize))
        };
        Regions { group, filter, suffixes: cut(group.suffixes), contexts: cut(group.contexts) }
    }

    /// How many regions there are, a power of two.
    fn count(&self) -> usize {
        self.suffixes.len() - 1
    }

    /// Appends what lies in one region.
    fn join_region<const N: usize>(
        &self,
        region: usize,
        table: &KenlmTable<N>,
        found: &mut Vec<RecoveredNgram>,
    ) {
        for cut in 0..self.count() {
            let suffixes = &self.group.suffixes[self.suffixes[cut]..self.suffixes[cut + 1]];
            let other = cut ^ region;
            let contexts = &self.group.contexts[self.contexts[other]..self.contexts[other + 1]];
            for suffix in suffixes {
                for context in contexts {
                    let key = suffix.term ^ context.term;
                    if self.filter.may_contain(key)
                        && key != 0
                        && let Some(slot) = table.find_slot(key, table.home_slot(key))
                    {
                        let (suffix, context) = (suffix.ngram, context.ngram);
                        found.push(RecoveredNgram { suffix, context, slot });
                    }
                }
            }
        }
    }
}

/// Whether every entry of `table` that a search can find was matched, and once
/// only.
fn check_all_recovered<const N: usize>(
    order: usize,
    table: &KenlmTable<N>,
    matches: &[RecoveredNgram],
    path: &Path,
) -> Result<()> {
    let mut matched = Vec::new();
    matched.resize_with(table.slots().len(), || AtomicBool::new(false));
    let twice =
        matches.par_iter().filter(|m| matched[m.slot].swap(true, Ordering::Relaxed)).count();
    if twice > 0 {
        // Likely only where candidates times entries come near 2^64: a million
        // words and a hundred million bigrams, say.
        return Err(Error::Unsupported {
            file: miriam_textio::display_name(path),
            reason: format!(
                "{twice} of the hashes of {order}-grams could stand for more than one; take the \
                 ARPA file that it was built from, or a trie"
            ),
        });
    }
    let missing = (table.slots().par_iter().zip(&matched).enumerate())
        .filter(|(at, (slot, matched))| {
            let key = u64_at(&slot[..], 0);
            key != 0
                && !matched.load(Ordering::Relaxed)
                && table.find_slot(key, table.home_slot(key)) == Some(*at)
        })
        .count();
    if missing > 0 {
        return Err(Error::Unsupported {
            file: miriam_textio::display_name(path),
            reason: format!(
                "{missing} of the {} {order}-grams could not be told from their hashes: their \
                 contexts or suffixes are missing; is the file damaged? Take the ARPA file, or \
                 a trie, which keeps the words",
                missing + matches.len()
            ),
        });
    }
    Ok(())
}
