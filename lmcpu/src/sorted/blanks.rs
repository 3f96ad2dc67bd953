//! Blanks: nodes in place of missing suffixes.
//!
//! A toolkit may prune the suffix of an n-gram that it keeps (`ngram-lm.md` 1.2), which breaks a
//! path of the trie. A blank repairs the path. Its probability is the one that backing off would
//! give, computed as in KenLM: backoffs are added one after another to the log10 probability of the
//! longest suffix that exists, shorter contexts first. To a query a blank is an n-gram like any
//! other.
//!
//! Blanks are rare, so the arrays of the orders below are simply rebuilt.

use super::sorted_section::SortedSection;
use super::sorted_trie::{NO_NODE, Nodes, SortedTrie};
use crate::{MAX_ORDER, NO_EXTENSION};

impl SortedTrie {
    /// Adds the missing suffixes of the n-grams in `keys` whose parent is [`NO_NODE`].
    pub(super) fn insert_blanks(&mut self, keys: &SortedSection<'_>, parents: &[u32]) {
        let order = keys.order();
        let mut missing: Vec<Vec<[u32; MAX_ORDER]>> = vec![Vec::new(); order];
        for (at, _) in parents.iter().enumerate().filter(|(_, parent)| **parent == NO_NODE) {
            let words = keys.words(at);
            let present = (1..order).rev().find(|&n| self.node(&words[..n]).is_some()).unwrap_or(1);
            for n in present + 1..order {
                let mut blank = [0; MAX_ORDER];
                blank[..n].copy_from_slice(&words[..n]);
                // The n-grams are sorted, so equal blanks are consecutive.
                if missing[n].last() != Some(&blank) {
                    missing[n].push(blank);
                }
            }
        }
        // The new index of each node of the order below.
        let mut moved: Vec<u32> = (0..self.levels[0].len() as u32).collect();
        let mut children = std::mem::take(&mut self.levels[0].children);
        for (n, blanks) in missing.iter().enumerate().skip(2) {
            let old = std::mem::take(&mut self.levels[n - 1]);
            let (nodes, parents, positions) = self.merge_blanks(n, &old, blanks, &children, &moved);
            self.levels[n - 2].set_children(&parents);
            self.levels[n - 1] = nodes;
            (moved, children) = (positions, old.children);
        }
        self.recompute_blanks(order);
    }

    /// Returns the nodes of `order` merged with `blanks`, their parents, and the new index of each
    /// old node. `children` are the child offsets of the old parents, whose new indices are in
    /// `moved`.
    fn merge_blanks(
        &self,
        order: usize,
        old: &Nodes,
        blanks: &[[u32; MAX_ORDER]],
        children: &[u32],
        moved: &[u32],
    ) -> (Nodes, Vec<u32>, Vec<u32>) {
        let mut nodes = Nodes::default();
        let (mut parents, mut positions) = (Vec::new(), Vec::with_capacity(old.len()));
        let mut old_blanks = old.blanks.iter().peekable();
        // Shorter suffixes have been added already.
        let keys = blanks
            .iter()
            .map(|blank| (self.node(&blank[..order - 1]).unwrap_or(NO_NODE), blank[order - 1]));
        let mut blanks = keys.peekable();
        let mut push = |nodes: &mut Nodes, (parent, word), log10, backoff, blank| {
            if blank {
                nodes.blanks.push(nodes.words.len() as u32);
            }
            parents.push(parent);
            nodes.words.push(word);
            nodes.log10.push(log10);
            nodes.backoffs.push(backoff);
        };
        // The probability is computed later; NaN, which no model has, marks it until
        // then.
        let unknown = (f32::NAN, f32::from_bits(NO_EXTENSION));
        for (range, &parent) in children.windows(2).zip(moved) {
            for at in range[0] as usize..range[1] as usize {
                let key = (parent, old.words[at]);
                while let Some(blank) = blanks.next_if(|blank| *blank < key) {
                    push(&mut nodes, blank, unknown.0, unknown.1, true);
                }
                positions.push(nodes.words.len() as u32);
                let blank = old_blanks.next_if_eq(&&(at as u32)).is_some();
                push(&mut nodes, key, old.log10[at], old.backoffs[at], blank);
            }
        }
        for blank in blanks {
            push(&mut nodes, blank, unknown.0, unknown.1, true);
        }
        (nodes, parents, positions)
    }

    /// Finds the contexts of all nodes below `order` again, flags them, and computes
    /// the probabilities of new blanks.
    fn recompute_blanks(&mut self, order: usize) {
        for n in 2..order {
            let parents = self.levels[n - 2].parents_of_children();
            let contexts = self.find_contexts(n, &parents, &self.levels[n - 1].words);
            self.mark_extended(n, &contexts);
            let (shorter, rest) = self.levels.split_at_mut(n - 1);
            let (shorter, nodes) = (&shorter[n - 2], &mut rest[0]);
            for &blank in &nodes.blanks {
                let log10 = &mut nodes.log10[blank as usize];
                if log10.is_nan() {
                    *log10 = shorter.log10[parents[blank as usize] as usize];
                    let context = contexts[blank as usize];
                    if context != NO_NODE {
                        *log10 += shorter.backoffs[context as usize];
                    }
                }
            }
            self.levels[n - 1].contexts = contexts;
        }
    }
}
