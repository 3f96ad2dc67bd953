//! Probabilities and backoffs (`ngram-lm.md` 3.5, 3.6).
//!
//! An n-gram `a .. x w` needs sums over all n-grams with its context `a .. x`. Contexts are n-grams
//! themselves, and the contexts that end in `x` are in one row of the trie. The n-grams that extend
//! them are in one column. The subtree of each bigram `x w` repeats a part of the subtree of `x`,
//! word for word, because every word that precedes `x w` also precedes `x`. So walking both
//! subtrees in parallel finds every context without sorting or hashing.
//!
//! Additions are f32 and sequential, in lmplz's order.

use std::ops::Range;

use super::discounts::Discounts;
use super::rows::{TrieBlock, child_count, entry_word, is_pruned};
use super::spill_store::{ColumnTable, SpillStore, TableRef};
use crate::{MAX_ORDER, Result};

/// Options for computing probabilities.
pub(super) struct Smoothing {
    /// The number of words in the longest n-grams.
    pub order: usize,
    /// By order, from 1 word on.
    pub discounts: Vec<Discounts>,
    /// Whether `gamma += D * c` and `u + gamma * p` round once (3.7).
    pub fused_multiply_add: bool,
    /// Whether unigrams are interpolated with the uniform distribution.
    pub interpolate_unigrams: bool,
    /// The number of words of the uniform distribution.
    pub uniform_words: u64,
    /// Whether the backoffs of n-grams' contexts are kept, for collapsed values.
    pub keep_context_backoffs: bool,
}

/// Sums over the n-grams with one context.
#[derive(Clone, Copy, Default)]
struct ContextSums {
    /// The adjusted counts of all n-grams.
    all: u64,
    /// The adjusted counts of pruned n-grams.
    pruned: u64,
    /// The numbers of n-grams with the adjusted count 1, 2, and 3 or more that are not pruned.
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

/// The denominator and the backoff of a context.
#[derive(Clone, Copy)]
struct ContextWeights {
    /// The sum of adjusted counts.
    denominator: f32,
    /// The weight of shorter n-grams, which is the backoff; 1 for n-grams that are not contexts.
    gamma: f32,
}

/// Contexts of one length, in suffix order.
#[derive(Default)]
struct ContextLevel {
    /// Their first words; empty for single words, which are a range.
    words: Vec<u32>,
    /// For each context, the index of its first child among the contexts one word longer; then the
    /// end of the last children.
    child_offsets: Vec<u32>,
    sums: Vec<ContextSums>,
}

impl Smoothing {
    /// Returns the probability of each unigram. For each, `counts` has the adjusted count and
    /// whether it is pruned.
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
        counts
            .enumerate()
            .map(|(id, (adjusted, _)): (usize, (u64, bool))| match id {
                0 => self.interpolate(unknown, share, uniform),
                1 => 1.0,
                _ => {
                    let own =
                        (adjusted as f32 - self.discounts[0].for_count(adjusted)) / denominator;
                    self.interpolate(own, share, uniform)
                }
            })
            .collect()
    }

    #[inline(always)]
    fn interpolate(&self, own: f32, gamma: f32, shorter: f32) -> f32 {
        if self.fused_multiply_add { gamma.mul_add(shorter, own) } else { own + gamma * shorter }
    }

    /// Returns the weights of a context that n-grams of `order` words begin with.
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

    /// Smooths the words `words`, range `range` of `ranges`. Returns
    ///
    /// - the backoffs of their row, in suffix order, one column for each length below the order;
    /// - the probabilities of their column of blocks, one table per block with one column for each
    ///   length from 2. If backoffs of contexts are kept, they follow the probabilities in the
    ///   same number of columns.
    ///
    /// Floats are stored as their bits.
    ///
    /// `blocks` holds block (p, q) at `p * ranges + q`; `unigrams` holds the probabilities of
    /// unigrams.
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
        let context_indices: Vec<ColumnTable> = column
            .iter()
            .map(|table| self.accumulate_sums(TrieBlock(table), words.start, &mut contexts))
            .collect();
        let weights: Vec<_> = (2..)
            .zip(contexts)
            .map(|(order, contexts): (usize, ContextLevel)| -> Vec<ContextWeights> {
                contexts.sums.iter().map(|sums| self.context_weights(sums, order)).collect()
            })
            .collect();
        let probabilities = column.iter().zip(context_indices);
        let probabilities = probabilities.map(|(table, context_indices)| {
            let context_backoffs = if self.keep_context_backoffs {
                context_backoffs(&context_indices, &weights)
            } else {
                ColumnTable::new()
            };
            let mut columns =
                self.compute_probabilities(TrieBlock(table), context_indices, &weights, unigrams);
            columns.extend(context_backoffs);
            columns
        });
        let probabilities = probabilities.collect();
        Ok((
            weights.iter().map(|of| of.iter().map(|w| w.gamma.to_bits()).collect()).collect(),
            probabilities,
        ))
    }

    /// Returns the n-grams that end in `words`, shorter than the longest, as contexts.
    fn collect_contexts(&self, words: Range<u32>, row: &[TableRef<'_>]) -> Vec<ContextLevel> {
        let longest = self.order - 1;
        let mut contexts: Vec<ContextLevel> =
            (0..longest).map(|_| ContextLevel::default()).collect();
        // The index of each block's next n-gram, by length.
        let mut next = vec![[0usize; MAX_ORDER + 1]; row.len()];
        contexts[0].sums.resize(words.len(), ContextSums::default());
        for last in words {
            if longest == 1 {
                break;
            }
            let begin = contexts[1].words.len() as u32;
            contexts[0].child_offsets.push(begin);
            for (table, next) in row.iter().zip(&mut next) {
                let block = TrieBlock(table);
                let mut len = block.bigrams_ending_in(last, next[2]);
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

    /// Adds the n-grams of `block` to the sums of their contexts and returns the
    /// indices of these contexts, by length from 2 words on.
    fn accumulate_sums(
        &self,
        block: TrieBlock<'_>,
        first_word: u32,
        contexts: &mut [ContextLevel],
    ) -> ColumnTable {
        let entries = block.words(2).iter();
        let mut context_indices: ColumnTable =
            vec![entries.map(|&entry| entry_word(entry) - first_word).collect()];
        for order in 2..=self.order {
            let (shorter, longer) = contexts.split_at_mut(order - 1);
            let ContextLevel { child_offsets: first, sums, .. } = &mut shorter[order - 2];
            let nodes = block.words(order).iter().zip(block.counts(order));
            let nodes = nodes.zip(&context_indices[order - 2]);
            if order == self.order {
                for ((&entry, &count), &context) in nodes {
                    sums[context as usize].add(count.into(), is_pruned(entry));
                }
                break;
            }
            let mut rest = block.words(order + 1);
            let mut found = Vec::with_capacity(rest.len());
            for ((&entry, &count), &context) in nodes {
                let context = context as usize;
                sums[context].add(count.into(), is_pruned(entry));
                let children;
                (children, rest) = rest.split_at(child_count(entry, count));
                if !children.is_empty() {
                    let (begin, end) = (first[context], first[context + 1]);
                    let candidates = &longer[0].words[begin as usize..end as usize];
                    find_words(children, candidates, begin, &mut found);
                }
            }
            context_indices.push(found);
        }
        context_indices
    }

    /// Replaces the indices of contexts by probabilities, which are 0 for pruned n-grams.
    fn compute_probabilities(
        &self,
        block: TrieBlock<'_>,
        mut context_indices: ColumnTable,
        weights: &[Vec<ContextWeights>],
        unigrams: &[f32],
    ) -> ColumnTable {
        for order in 2..=self.order {
            let (discounts, weights) = (self.discounts[order - 1], &weights[order - 2]);
            let (shorter, longer) = context_indices.split_at_mut(order - 2);
            let nodes = block.words(order).iter().zip(block.counts(order));
            let mut nodes = nodes.zip(&mut longer[0]);
            let mut extend = |parent: f32, number: usize| {
                for ((&entry, &count), context) in nodes.by_ref().take(number) {
                    let ContextWeights { denominator, gamma } = weights[*context as usize];
                    let own = (count as f32 - discounts.for_count(count.into())) / denominator;
                    let probability = self.interpolate(own, gamma, parent);
                    *context = if is_pruned(entry) { 0 } else { probability.to_bits() };
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
        context_indices
    }
}

/// Returns the backoff of the context of each n-gram, by length from 2 words.
fn context_backoffs(indices: &ColumnTable, weights: &[Vec<ContextWeights>]) -> ColumnTable {
    let columns = indices.iter().zip(weights);
    columns
        .map(|(indices, weights)| {
            indices.iter().map(|&context| weights[context as usize].gamma.to_bits()).collect()
        })
        .collect()
}

/// Appends the position of each word of `children` in `candidates`, plus `begin`. Both
/// ascend; `children` is a subset of `candidates`.
#[inline]
fn find_words(children: &[u32], candidates: &[u32], begin: u32, found: &mut Vec<u32>) {
    if children.len() == candidates.len() {
        found.extend(begin..begin + children.len() as u32);
        return;
    }
    let mut from = 0;
    for &entry in children {
        let wanted = entry_word(entry);
        // Galloping search: near words are found at once.
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
