//! Lexically constrained decoding: the constraints that a hypothesis has met, and the dynamic
//! allocation of the beam to hypotheses that have met more or fewer (Post and Vilar 2018).
//!
//! Hypotheses are put into banks by the number of constraint tokens that they have. The beam takes
//! the best of each bank, then the second best of each, highest banks first, until it is full. So
//! both remain: hypotheses that meet some constraints, and hypotheses that meet none but have
//! better scores. The tokens of a constraint that was broken off do not count.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::{Error, Result};

/// The maximum number of constraints of a sentence.
const MAX_CONSTRAINTS: usize = 128;

/// The root of the trie: no constraint is in progress.
const ROOT: u32 = 0;

/// The constraints of a sentence, and the trie of their prefixes.
///
/// When a token does not continue a constraint, the failure links of the trie (Aho and Corasick
/// 1975) lead to the prefix to fall back to. This takes few steps, even if constraints are long and
/// repeat themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Constraints {
    phrases: Vec<Vec<u32>>,
    token_count: usize,
    children: BTreeMap<(u32, u32), u32>,
    nodes: Vec<TrieNode>,
}

/// A node of the trie: a prefix of constraints.
#[derive(Clone, Copy, Debug, Default)]
struct TrieNode {
    /// The number of tokens of the prefix.
    depth: u32,
    /// A bit for each constraint with this prefix.
    prefix_of: u128,
    /// The longest proper suffix that is a node too.
    failure_link: u32,
    /// A bit for each constraint that is a suffix of the prefix.
    outputs: u128,
    /// A bit for each constraint that occurs in the prefix, but not at its start.
    inner_outputs: u128,
}

/// The progress of a hypothesis with the constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ConstraintProgress {
    /// A bit for each constraint that is met.
    met: u128,
    /// The node of the prefix in progress.
    node: u32,
    /// The number of tokens of constraints met or in progress.
    pub tokens_met: u32,
}

impl Constraints {
    /// Returns the constraints of a request; empty ones are dropped.
    pub fn new(lists: &[Vec<u32>]) -> Result<Self> {
        let lists: Vec<_> = lists.iter().filter(|list| !list.is_empty()).cloned().collect();
        if lists.len() > MAX_CONSTRAINTS {
            let reason = format!(
                "it has {} constraints; at most {MAX_CONSTRAINTS} are allowed",
                lists.len()
            );
            return Err(Error::Untranslatable { reason });
        }
        let words = lists.iter().map(Vec::len).sum();
        let mut constraints =
            Constraints { phrases: lists, token_count: words, ..Constraints::default() };
        constraints.build_trie();
        Ok(constraints)
    }

    /// Builds the trie with failure links.
    fn build_trie(&mut self) {
        self.nodes.push(TrieNode::default());
        // Parent and last token of each node.
        let mut edges = vec![(ROOT, 0)];
        for (number, list) in self.phrases.iter().enumerate() {
            let bit = 1 << number;
            let mut node = ROOT;
            for &word in list {
                let edge = (node, word);
                let new = self.nodes.len() as u32;
                node = *self.children.entry(edge).or_insert(new);
                if node == new {
                    let length = self.nodes[edge.0 as usize].depth + 1;
                    self.nodes.push(TrieNode { depth: length, ..TrieNode::default() });
                    edges.push(edge);
                }
                self.nodes[node as usize].prefix_of |= bit;
            }
            self.nodes[node as usize].outputs |= bit;
        }
        let mut order: Vec<u32> = (1..self.nodes.len() as u32).collect();
        order.sort_by_key(|&node| self.nodes[node as usize].depth);
        for node in order {
            let (parent, word) = edges[node as usize];
            if parent != ROOT {
                let mut shorter = self.node(parent).failure_link;
                let failure_link = loop {
                    match self.children.get(&(shorter, word)) {
                        Some(&child) => break child,
                        None if shorter == ROOT => break ROOT,
                        None => shorter = self.node(shorter).failure_link,
                    }
                };
                let outputs = self.node(failure_link).outputs;
                let inner_outputs = self.node(parent).inner_outputs | outputs;
                let node = &mut self.nodes[node as usize];
                node.failure_link = failure_link;
                node.outputs |= outputs;
                node.inner_outputs = inner_outputs;
            }
        }
    }

    fn node(&self, node: u32) -> &TrieNode {
        &self.nodes[node as usize]
    }

    /// Returns the number of tokens of all constraints.
    pub fn token_count(&self) -> usize {
        self.token_count
    }

    /// Returns the number of constraint tokens that a hypothesis still lacks.
    pub fn num_unmet_tokens(&self, progress: ConstraintProgress) -> usize {
        self.token_count - progress.tokens_met as usize
    }

    /// Returns the first unmet constraint with the prefix `node`.
    fn first_unmet(&self, node: u32, met: u128) -> Option<usize> {
        let unmet = self.node(node).prefix_of & !met;
        (unmet != 0).then(|| unmet.trailing_zeros() as usize)
    }

    /// Visits the tokens that make progress: the next one of the constraint in progress, or else
    /// the first ones of all unmet constraints.
    pub fn for_each_next_token(&self, progress: ConstraintProgress, mut each: impl FnMut(u32)) {
        let ConstraintProgress { met, node, .. } = progress;
        match self.first_unmet(node, met) {
            Some(number) => each(self.phrases[number][self.node(node).depth as usize]),
            None => {
                let lists = self.phrases.iter().enumerate();
                let unmet = lists.filter(|(number, _)| met >> number & 1 == 0);
                unmet.for_each(|(_, list)| each(list[0]));
            }
        }
    }

    /// Returns the progress after a token, if it continues a constraint.
    fn extend(&self, progress: ConstraintProgress, word: u32) -> Option<ConstraintProgress> {
        let node = *self.children.get(&(progress.node, word))?;
        let number = self.first_unmet(node, progress.met)?;
        let words = progress.tokens_met + 1;
        if self.phrases[number].len() == self.node(node).depth as usize {
            return Some(ConstraintProgress {
                met: progress.met | 1 << number,
                node: ROOT,
                tokens_met: words,
            });
        }
        Some(ConstraintProgress { node, tokens_met: words, ..progress })
    }

    /// Returns the progress of a hypothesis after one more token. If it breaks off the constraint
    /// in progress, the tokens of that constraint after the first are matched again with all
    /// constraints.
    pub fn advance(&self, progress: ConstraintProgress, word: u32) -> ConstraintProgress {
        if let Some(next) = self.extend(progress, word) {
            return next;
        }
        let Some(number) = self.first_unmet(progress.node, progress.met) else { return progress };
        let length = self.node(progress.node).depth as usize;
        let started = &self.phrases[number][..length];
        let mut now = progress;
        // The tokens in progress are `start..end`.
        let (mut start, mut end) = (0, length);
        while end <= length {
            if let Some(next) = self.extend(now, *started.get(end).unwrap_or(&word)) {
                now = next;
                end += 1;
                if now.node == ROOT {
                    start = end;
                }
                continue;
            }
            let TrieNode { depth: length, inner_outputs, .. } = *self.node(now.node);
            if length == 0 {
                end += 1;
                start = end;
            } else if inner_outputs & !now.met != 0 {
                // An unmet constraint begins later in the tokens in progress.
                start += 1;
                end = start;
                now = ConstraintProgress { node: ROOT, tokens_met: now.tokens_met - length, ..now };
            } else {
                let node = self.fall_back(now);
                now = ConstraintProgress {
                    node,
                    tokens_met: now.tokens_met - length + self.node(node).depth,
                    ..now
                };
                start = end - self.node(node).depth as usize;
            }
        }
        now
    }

    /// Returns the node of the longest proper suffix of the tokens in progress that is a prefix of
    /// an unmet constraint; [`ROOT`] if there is none.
    fn fall_back(&self, progress: ConstraintProgress) -> u32 {
        let mut node = self.node(progress.node).failure_link;
        while node != ROOT && self.first_unmet(node, progress.met).is_none() {
            node = self.node(node).failure_link;
        }
        node
    }
}

/// Sorts candidates, which come best first, into the order in which the beam takes them.
/// `tokens_met` gives the bank of a candidate.
pub(super) fn allocate_banks<T>(
    candidates: &mut [T],
    tokens_met: impl Fn(&T) -> u32,
    ranks: &mut Vec<(u32, T)>,
) where
    T: Copy,
{
    ranks.clear();
    let banks = candidates.iter().map(|candidate| tokens_met(candidate) as usize + 1).max();
    let mut bank_sizes = vec![0; banks.unwrap_or(0)];
    for candidate in candidates.iter() {
        let rank = &mut bank_sizes[tokens_met(candidate) as usize];
        ranks.push((*rank, *candidate));
        *rank += 1;
    }
    ranks.sort_by_key(|(rank, candidate)| (*rank, Reverse(tokens_met(candidate))));
    for (to, (_, from)) in candidates.iter_mut().zip(ranks) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn progress_after(constraints: &Constraints, words: &[u32]) -> ConstraintProgress {
        words.iter().fold(ConstraintProgress::default(), |progress, &word| {
            constraints.advance(progress, word)
        })
    }

    fn constraints_from(lists: &[&[u32]]) -> Constraints {
        let lists: Vec<Vec<u32>> = lists.iter().map(|list| list.to_vec()).collect();
        Constraints::new(&lists).unwrap()
    }

    #[test]
    fn sequences_are_found_wherever_they_begin() {
        let constraints = constraints_from(&[&[1, 1, 2], &[], &[3]]);
        assert_eq!(constraints.token_count(), 4);
        assert_eq!(progress_after(&constraints, &[1, 1, 1, 2]).tokens_met, 3);
        assert_eq!(progress_after(&constraints, &[1, 1]).tokens_met, 2);
        // A constraint broken off does not count, but the 3 after it does.
        assert_eq!(progress_after(&constraints, &[1, 1, 3]).tokens_met, 1);
        assert_eq!(progress_after(&constraints, &[1, 3, 1, 1, 2]).tokens_met, 4);
        assert_eq!(constraints.num_unmet_tokens(progress_after(&constraints, &[3, 3, 3])), 3);
    }

    #[test]
    fn constraints_with_a_shared_prefix_are_distinguished() {
        let constraints = constraints_from(&[&[5, 6], &[5, 7], &[6]]);
        let mut next = Vec::new();
        constraints.for_each_next_token(ConstraintProgress::default(), |word| next.push(word));
        assert_eq!(next, [5, 5, 6]);
        assert_eq!(progress_after(&constraints, &[5, 7, 5, 6, 6]).tokens_met, 5);
        // The tokens of a constraint broken off may meet another one.
        let constraints = constraints_from(&[&[4, 6, 8], &[6]]);
        assert_eq!(progress_after(&constraints, &[4, 6, 9]).tokens_met, 1);
    }

    #[test]
    fn the_same_constraint_twice_is_met_twice() {
        let constraints = constraints_from(&[&[5, 6], &[5, 6]]);
        assert_eq!(progress_after(&constraints, &[5, 6, 7]).tokens_met, 2);
        assert_eq!(progress_after(&constraints, &[5, 6, 5, 6]).tokens_met, 4);
    }

    #[test]
    fn banks_are_interleaved() {
        let mut candidates = [(0, 'a'), (0, 'b'), (1, 'c'), (0, 'd'), (2, 'e'), (1, 'f')];
        allocate_banks(&mut candidates, |candidate| candidate.0, &mut Vec::new());
        let order: String = candidates.iter().map(|candidate| candidate.1).collect();
        assert_eq!(order, "ecafbd");
    }

    #[test]
    fn too_many_constraints_are_rejected() {
        assert!(Constraints::new(&vec![vec![1]; MAX_CONSTRAINTS]).is_ok());
        assert!(Constraints::new(&vec![vec![1]; MAX_CONSTRAINTS + 1]).is_err());
    }

    /// Naive progress: a constraint and the number of its matched tokens. Tokens are matched again
    /// by recursion.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct NaiveProgress {
        met: u128,
        current: Option<(usize, usize)>,
        tokens_met: u32,
    }

    impl NaiveProgress {
        fn advance(self, lists: &[Vec<u32>], word: u32) -> Self {
            let started =
                self.current.map_or(&[][..], |(number, matched)| &lists[number][..matched]);
            let wanted = [started, &[word]].concat();
            let current = self.current.map(|(number, _)| number);
            let unmet = (0..lists.len()).filter(|number| self.met >> number & 1 == 0);
            let continued = unmet.filter(|&number| lists[number].starts_with(&wanted));
            if let Some(number) = continued.min_by_key(|&number| Some(number) != current) {
                let words = self.tokens_met + 1;
                return if lists[number].len() == wanted.len() {
                    NaiveProgress { met: self.met | 1 << number, current: None, tokens_met: words }
                } else {
                    NaiveProgress {
                        current: Some((number, wanted.len())),
                        tokens_met: words,
                        ..self
                    }
                };
            }
            let words = self.tokens_met - started.len() as u32;
            let bare = NaiveProgress { current: None, tokens_met: words, ..self };
            let again = wanted.iter().skip(1).filter(|_| !started.is_empty());
            again.fold(bare, |progress, &word| progress.advance(lists, word))
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// With few different tokens constraints repeat and contain each other.
        #[test]
        fn the_trie_agrees_with_naive_matching(
            lists in proptest::collection::vec(proptest::collection::vec(0u32..3, 1..9), 1..6),
            words in proptest::collection::vec(0u32..4, 0..60),
        ) {
            let constraints = Constraints::new(&lists).unwrap();
            let (mut found, mut expected) = (ConstraintProgress::default(), NaiveProgress::default());
            for &word in &words {
                found = constraints.advance(found, word);
                expected = expected.advance(&lists, word);
                prop_assert_eq!((found.met, found.tokens_met), (expected.met, expected.tokens_met));
                let length = expected.current.map_or(0, |(_, matched)| matched as u32);
                prop_assert_eq!(constraints.node(found.node).depth, length);
                let mut next = Vec::new();
                constraints.for_each_next_token(found, |word| next.push(word));
                if let Some((number, matched)) = expected.current {
                    prop_assert_eq!(next, [lists[number][matched]]);
                }
            }
        }
    }

    #[test]
    fn long_self_repeating_constraints_take_linear_time() {
        // Naive matching would start again at each position.
        let long = [vec![1; 4000], vec![2]].concat();
        let constraints = constraints_from(&[&long, &[1, 1, 3]]);
        let text = [vec![1; 3999], vec![3], vec![1; 4001], vec![2]].concat();
        assert_eq!(constraints.num_unmet_tokens(progress_after(&constraints, &text)), 0);
    }
}
