//! A trie that grows order by order, as plain arrays.
//!
//! The n-grams of an order arrive sorted, so n-grams that share a suffix are consecutive, and the
//! search for a parent continues from the parent of the previous n-gram. The context of an n-gram
//! must exist and is flagged as extended. It is found by one lookup: the context of `a b c d` is
//! the child `a` of the context of `b c d`, so each node keeps the index of its own context.

use std::sync::atomic::{AtomicBool, Ordering};

use miriam_storage::parallel;

use super::sorted_section::{CHUNK, SortedSection};
use crate::arpa::Section;
use crate::ngram_errors::missing_context_error;
use crate::{MAX_ORDER, NO_EXTENSION, NgramSource, Result};

/// The index in place of a missing node.
pub(super) const NO_NODE: u32 = u32::MAX;

/// The nodes of one order, sorted by their words, newest first.
#[derive(Clone, Default)]
pub struct Nodes {
    /// The oldest word of each.
    pub words: Vec<u32>,
    /// log10 p.
    pub log10: Vec<f32>,
    /// log10 of the backoff; -0.0 means [`NO_EXTENSION`]. Empty for the longest n-grams.
    pub backoffs: Vec<f32>,
    /// Where the children of each node begin, and where the last children end; empty until the
    /// next order has been added.
    pub children: Vec<u32>,
    /// The index in the order below of the context, the n-gram without its newest word;
    /// only blanks may have none (`u32::MAX`).
    pub contexts: Vec<u32>,
    /// The indices of the blanks, which replace missing suffixes, in ascending order.
    pub blanks: Vec<u32>,
}

impl Nodes {
    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the children of the node `at`.
    #[inline(always)]
    pub fn children_of(&self, at: u32) -> std::ops::Range<usize> {
        self.children[at as usize] as usize..self.children[at as usize + 1] as usize
    }

    /// Returns the parent of each node of the next order.
    pub fn parents_of_children(&self) -> Vec<u32> {
        let mut parents = vec![0; self.children.last().map_or(0, |&end| end as usize)];
        for at in 0..self.len() as u32 {
            parents[self.children_of(at)].fill(at);
        }
        parents
    }

    /// Sets the child offsets from `parents`, the parent of each node of the next
    /// order.
    pub(super) fn set_children(&mut self, parents: &[u32]) {
        self.children = Vec::with_capacity(self.len() + 1);
        for (at, &parent) in parents.iter().enumerate() {
            while self.children.len() <= parent as usize {
                self.children.push(at as u32);
            }
        }
        self.children.resize(self.len() + 1, parents.len() as u32);
    }
}

/// A trie of all orders added so far.
#[derive(Clone)]
pub struct SortedTrie {
    /// The nodes of each order, from 1.
    pub levels: Vec<Nodes>,
}

impl SortedTrie {
    /// Returns the index of the n-gram that extends the n-gram `at`, of `order` words, to the left
    /// by `word`.
    #[inline(always)]
    pub fn child(&self, order: usize, at: u32, word: u32) -> Option<u32> {
        let range = self.levels[order - 1].children_of(at);
        let words = &self.levels[order].words[range.clone()];
        words.binary_search(&word).ok().map(|i| (range.start + i) as u32)
    }

    /// Returns the index of the n-gram `words`, newest word first, among the n-grams of its order.
    pub fn node(&self, words: &[u32]) -> Option<u32> {
        let (&first, rest) = words.split_first()?;
        rest.iter().zip(1..).try_fold(first, |at, (&word, order)| self.child(order, at, word))
    }

    /// Adds the n-grams of the next order, which `keys` sorts.
    pub(super) fn add_level(
        &mut self,
        section: &Section,
        keys: &SortedSection<'_>,
        source: &dyn NgramSource,
    ) -> Result<()> {
        let order = keys.order();
        let mut parents = self.find_parents(keys);
        if parallel::any(parents.len(), |at| parents[at] == NO_NODE) {
            self.insert_blanks(keys, &parents);
            parents = self.find_parents(keys);
        }
        let words = parallel::map(keys.len(), |at| keys.oldest_word(at));
        let contexts = self.find_contexts(order, &parents, &words);
        let blanks = &self.levels[order - 2].blanks;
        let without = parallel::positions(contexts.len(), |at| {
            contexts[at] == NO_NODE
                || !blanks.is_empty() && blanks.binary_search(&contexts[at]).is_ok()
        });
        if let Some(index) = without.into_iter().map(|at| keys.section_index(at)).min() {
            return Err(missing_context_error(section, index, source));
        }
        self.mark_extended(order, &contexts);
        let backoffs = if order == source.order() {
            Vec::new()
        } else {
            keys.reorder_values(&section.backoffs)
        };
        let log10 = keys.reorder_values(&section.log10);
        self.levels[order - 2].set_children(&parents);
        self.levels[order - 2].contexts = Vec::new();
        let nodes = Nodes { words, log10, backoffs, contexts, ..Nodes::default() };
        self.levels.push(nodes);
        Ok(())
    }

    /// Returns the parent of each n-gram, its suffix one word shorter; [`NO_NODE`] where that is
    /// missing.
    fn find_parents(&self, keys: &SortedSection<'_>) -> Vec<u32> {
        let order = keys.order();
        let mut parents = vec![0; keys.len()];
        parallel::fill_chunks(&mut parents, CHUNK, &|first, parents| {
            // The nodes on the path to the previous n-gram, as far as they exist.
            let mut path = [0u32; MAX_ORDER];
            let mut before = [NO_NODE; MAX_ORDER];
            let mut depth = 0;
            for (i, parent) in parents.iter_mut().enumerate() {
                let words = keys.words(first + i);
                let same = words[..depth].iter().zip(&before).take_while(|(a, b)| a == b).count();
                depth = same;
                while depth < order - 1 {
                    let node = match depth {
                        0 => Some(words[0]),
                        _ => self.child(depth, path[depth - 1], words[depth]),
                    };
                    let Some(node) = node else { break };
                    path[depth] = node;
                    depth += 1;
                }
                *parent = if depth == order - 1 { path[depth - 1] } else { NO_NODE };
                before = words;
            }
        });
        parents
    }

    /// Returns the context of each node of `order`, given parents and oldest words.
    pub(super) fn find_contexts(&self, order: usize, parents: &[u32], words: &[u32]) -> Vec<u32> {
        if order == 2 {
            return words.to_vec();
        }
        let below = &self.levels[order - 2].contexts;
        parallel::map(parents.len(), |at| match below[parents[at] as usize] {
            NO_NODE => NO_NODE,
            context => self.child(order - 2, context, words[at]).unwrap_or(NO_NODE),
        })
    }

    /// Flags the `contexts` of the nodes of `order` as extended: a backoff of -0.0
    /// becomes 0.
    pub fn mark_extended(&mut self, order: usize, contexts: &[u32]) {
        let backoffs = &mut self.levels[order - 2].backoffs;
        let mut marks = Vec::new();
        marks.resize_with(backoffs.len(), || AtomicBool::new(false));
        parallel::for_each_range(contexts.len(), &|nodes| {
            for &context in contexts[nodes].iter().filter(|context| **context != NO_NODE) {
                // Most marks are set already, and reading does not take the cache line
                // from other threads.
                if !marks[context as usize].load(Ordering::Relaxed) {
                    marks[context as usize].store(true, Ordering::Relaxed);
                }
            }
        });
        parallel::fill_chunks(backoffs, CHUNK, &|first, backoffs| {
            for (backoff, mark) in backoffs.iter_mut().zip(&marks[first..]) {
                if mark.load(Ordering::Relaxed) && backoff.to_bits() == NO_EXTENSION {
                    *backoff = 0.0;
                }
            }
        });
    }

    /// Whether each n-gram that a state keeps whole has a suffix that a state
    /// keeps whole.
    pub fn is_minimization_closed(&self) -> bool {
        let middle = &self.levels[..self.levels.len() - 1];
        middle.windows(2).all(|pair| {
            let [shorter, nodes] = pair else { return true };
            fn keeps(backoff: &f32) -> bool {
                backoff.to_bits() != NO_EXTENSION
            }
            !parallel::any(shorter.len(), |at| {
                let children = &nodes.backoffs[shorter.children_of(at as u32)];
                !keeps(&shorter.backoffs[at]) && children.iter().any(keeps)
            })
        })
    }
}
