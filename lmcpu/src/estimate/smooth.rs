//! Probabilities and backoffs (`ngram-lm.md` 3.5, 3.6).
//!
//! An n-gram `a .. x w` needs sums over all n-grams that begin as its context
//! `a .. x` does. Contexts are n-grams themselves: all that end in `x`, a row of
//! the trie. What follows them is a column: the subtree of each bigram `x w`
//! repeats a part of the subtree of `x`, word for word, since whatever stands
//! before `x w` stands before `x`. So walking both side by side finds every
//! context without sorting or hashing.
//!
//! Additions are f32 and come one by one in lmplz's order.

use std::ops::Range;

use super::discounts::Discounts;
use super::rows::{TrieBlock, child_count, entry_word, is_pruned};
use super::spill_store::{ColumnTable, SpillStore, TableRef};
use crate::Result;

/// How probabilities are computed.
pub(super) struct Smoothing {
    /// Words in the longest n-grams.
    pub order: usize,
    /// By order, from 1 word on.
    pub discounts: Vec<Discounts>,
    /// Whether `gamma += D * c` and `u + gamma * p` round once (3.7).
    pub fused_multiply_add: bool,
    /// Whether unigrams are interpolated with the uniform distribution.
    pub interpolate_unigrams: bool,
    /// The uniform distribution is over this many words.
    pub uniform_words: u64,
}

/// What follows a context.
#[derive(Clone, Copy, Default)]
struct ContextSums {
    /// Adjusted counts of all.
    all: u64,
    /// Adjusted counts of those that are pruned.
    pruned: u64,
    /// How many that are not pruned have the adjusted count 1, 2, more.
    kept: [u32; 3],
}

impl ContextSums {
    #[inline(always)]
    fn add(&mut self, adjusted: u64, pruned: bool) {
        self.all += adjusted;
        if pruned {
            self.pruned += adjusted;
        } else if adjusted > 0 {
            self.kept[adjusted.min(3) as usize - 1] += 1;
        }
    }
}

/// What the n-grams after one context need of it.
#[derive(Clone, Copy)]
struct ContextWeights {
    /// The sum of adjusted counts.
    denominator: f32,
    /// The share of shorter n-grams; the backoff. 1 where nothing follows.
    gamma: f32,
}

/// Contexts of one length, in suffix order.
#[derive(Default)]
struct ContextLevel {
    /// Their first words; empty for single words, which are a range.
    words: Vec<u32>,
    /// Where their children begin among the contexts one word longer, and where
    /// the last one's end.
    child_offsets: Vec<u32>,
    sums: Vec<ContextSums>,
}

impl Smoothing {
    /// The probability of each unigram, from their adjusted counts and whether
    /// they are pruned.
    pub fn unigram_probabilities(
        &self,
        counts: impl Iterator<Item = (u64, bool)> + Clone,
    ) -> Vec<f32> {
        let mut sums = ContextSums::default();
        for (adjusted, pruned) in counts.clone() {
            sums.add(adjusted, pruned);
        }
        let ContextWeights { denominator, gamma } = self.context_weights(&sums, 1);
        let uniform = (1.0 / f64::from(self.uniform_words as f32)) as f32;
        let (unknown, share) = if self.interpolate_unigrams { (0.0, gamma) } else { (gamma, 0.0) };
        let probability = |(id, (adjusted, _)): (usize, (u64, bool))| match id {
            0 => self.interpolate(unknown, share, uniform),
            1 => 1.0,
            _ => {
                let own = (adjusted as f32 - self.discounts[0].for_count(adjusted)) / denominator;
                self.interpolate(own, share, uniform)
            }
        };
        counts.enumerate().map(probability).collect()
    }

    #[inline(always)]
    fn interpolate(&self, own: f32, gamma: f32, shorter: f32) -> f32 {
        if self.fused_multiply_add { gamma.mul_add(shorter, own) } else { own + gamma * shorter }
    }

    /// The weights of a context that n-grams of `order` words begin with.
    fn context_weights(&self, sums: &ContextSums, order: usize) -> ContextWeights {
        if sums.all == 0 {
            return ContextWeights { denominator: 0.0, gamma: 1.0 };
        }
        let Discounts([_, discounts @ ..]) = self.discounts[order - 1];
        let mut gamma = 0.0;
        for (discount, number) in discounts.into_iter().zip(sums.kept) {
            gamma = self.interpolate(gamma, discount, number as f32);
        }
        gamma += sums.pruned as f32;
        let denominator = sums.all as f32;
        ContextWeights { denominator, gamma: gamma / denominator }
    }

    /// Computes what belongs to the words `words`, range `range` of `ranges`:
    /// their row's backoffs, in suffix order, one column a length (shorter than
    /// the longest), and the probabilities of their column of blocks, one table
    /// a block and one column a length (from 2 words on). Floats as bits.
    ///
    /// `blocks` holds block (p, q) at `p * ranges + q`; `unigrams` the unigrams'
    /// probabilities.
    pub fn smooth_range(
        &self,
        words: Range<u32>,
        range: usize,
        ranges: usize,
        blocks: &SpillStore<'_>,
        unigrams: &[f32],
    ) -> Result<(ColumnTable, Vec<ColumnTable>)> {
        let mut contexts = {
            let row = (0..ranges).map(|q| blocks.get(range * ranges + q));
            let row = row.collect::<Result<Vec<_>>>()?;
            self.collect_contexts(words.clone(), &row)
        };
        let column = (0..ranges).map(|p| blocks.get(p * ranges + range));
        let column = column.collect::<Result<Vec<_>>>()?;
        let add = |table: &TableRef<'_>| {
            self.accumulate_sums(TrieBlock(table), words.start, &mut contexts)
        };
        let places: Vec<ColumnTable> = column.iter().map(add).collect();
        let weigh = |(order, contexts): (usize, ContextLevel)| -> Vec<ContextWeights> {
            contexts.sums.iter().map(|sums| self.context_weights(sums, order)).collect()
        };
        let weights: Vec<_> = (2..).zip(contexts).map(weigh).collect();
        let probabilities = column.iter().zip(places);
        let probabilities = probabilities.map(|(table, places)| {
            self.compute_probabilities(TrieBlock(table), places, &weights, unigrams)
        });
        let probabilities = probabilities.collect();
        let bits = |of: &Vec<ContextWeights>| of.iter().map(|w| w.gamma.to_bits()).collect();
        Ok((weights.iter().map(bits).collect(), probabilities))
    }

    /// The n-grams that end in `words`, shorter than the longest, as contexts.
    fn collect_contexts(&self, words: Range<u32>, row: &[TableRef<'_>]) -> Vec<ContextLevel> {
        let longest = self.order - 1;
        let mut contexts: Vec<ContextLevel> =
            (0..longest).map(|_| ContextLevel::default()).collect();
        // Where each block's next n-grams lie, by length.
        let mut next = vec![[0usize; 17]; row.len()];
        contexts[0].sums.resize(words.len(), ContextSums::default());
        for last in words {
            if longest == 1 {
                break;
            }
            let begin = contexts[1].words.len() as u32;
            contexts[0].child_offsets.push(begin);
            for (table, next) in row.iter().zip(&mut next) {
                let block = TrieBlock(table);
                let same = block.roots()[next[2]..].iter().take_while(|&&root| root == last);
                let mut len = same.count();
                for order in 2..=longest {
                    if len == 0 {
                        break;
                    }
                    let here = next[order]..next[order] + len;
                    next[order] = here.end;
                    let entries = &block.words(order)[here.clone()];
                    contexts[order - 1]
                        .words
                        .extend(entries.iter().map(|&entry| entry_word(entry)));
                    if order < longest {
                        let begin = contexts[order].words.len() as u32;
                        let mut child = begin;
                        for (&entry, &count) in entries.iter().zip(&block.counts(order)[here]) {
                            contexts[order - 1].child_offsets.push(child);
                            child += child_count(entry, count) as u32;
                        }
                        len = (child - begin) as usize;
                    }
                }
            }
        }
        for order in 1..longest {
            let end = contexts[order].words.len() as u32;
            contexts[order - 1].child_offsets.push(end);
            contexts[order].sums.resize(end as usize, ContextSums::default());
        }
        contexts
    }

    /// Adds the n-grams of `block` to the sums of their contexts and returns
    /// where those lie, by length from 2 words on.
    fn accumulate_sums(
        &self,
        block: TrieBlock<'_>,
        first_word: u32,
        contexts: &mut [ContextLevel],
    ) -> ColumnTable {
        let entries = block.words(2).iter();
        let mut places: ColumnTable =
            vec![entries.map(|&entry| entry_word(entry) - first_word).collect()];
        for order in 2..=self.order {
            let (shorter, longer) = contexts.split_at_mut(order - 1);
            let ContextLevel { child_offsets: first, sums, .. } = &mut shorter[order - 2];
            let nodes = block.words(order).iter().zip(block.counts(order));
            let nodes = nodes.zip(&places[order - 2]);
            if order == self.order {
                for ((&entry, &count), &place) in nodes {
                    sums[place as usize].add(count.into(), is_pruned(entry));
                }
                break;
            }
            let mut rest = block.words(order + 1);
            let mut found = Vec::with_capacity(rest.len());
            for ((&entry, &count), &place) in nodes {
                let place = place as usize;
                sums[place].add(count.into(), is_pruned(entry));
                let family;
                (family, rest) = rest.split_at(child_count(entry, count));
                if !family.is_empty() {
                    let (begin, end) = (first[place], first[place + 1]);
                    let candidates = &longer[0].words[begin as usize..end as usize];
                    find_words(family, candidates, begin, &mut found);
                }
            }
            places.push(found);
        }
        places
    }

    /// Turns the places of contexts into probabilities; pruned n-grams get none.
    fn compute_probabilities(
        &self,
        block: TrieBlock<'_>,
        mut places: ColumnTable,
        weights: &[Vec<ContextWeights>],
        unigrams: &[f32],
    ) -> ColumnTable {
        for order in 2..=self.order {
            let (discounts, weights) = (self.discounts[order - 1], &weights[order - 2]);
            let (shorter, longer) = places.split_at_mut(order - 2);
            let nodes = block.words(order).iter().zip(block.counts(order));
            let mut nodes = nodes.zip(&mut longer[0]);
            let mut extend = |parent: f32, number: usize| {
                for ((&entry, &count), place) in nodes.by_ref().take(number) {
                    let ContextWeights { denominator, gamma } = weights[*place as usize];
                    let own = (count as f32 - discounts.for_count(count.into())) / denominator;
                    let probability = self.interpolate(own, gamma, parent);
                    *place = if is_pruned(entry) { 0 } else { probability.to_bits() };
                }
            };
            if order == 2 {
                block.roots().iter().for_each(|&root| extend(unigrams[root as usize], 1));
                continue;
            }
            let parents = block.words(order - 1).iter().zip(block.counts(order - 1));
            for ((&entry, &count), &parent) in parents.zip(&shorter[order - 3]) {
                extend(f32::from_bits(parent), child_count(entry, count));
            }
        }
        places
    }
}

/// Appends where each word of `family` lies in `candidates`, plus `begin`. Both
/// ascend; `family` is a part of `candidates`.
#[inline]
fn find_words(family: &[u32], candidates: &[u32], begin: u32, found: &mut Vec<u32>) {
    if family.len() == candidates.len() {
        found.extend(begin..begin + family.len() as u32);
        return;
    }
    let mut from = 0;
    for &entry in family {
        let wanted = entry_word(entry);
        // Steps of doubled length, then halves: near ones are found at once.
        let mut step = 1;
        let mut end = from;
        while end < candidates.len() && candidates[end] < wanted {
            from = end + 1;
            end += step;
            step *= 2;
        }
        let between = &candidates[from..end.min(candidates.len())];
        from += between.partition_point(|&candidate| candidate < wanted);
        debug_assert_eq!(candidates[from], wanted);
        found.push(begin + from as u32);
        from += 1;
    }
}
