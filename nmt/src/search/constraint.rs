//! Words that a translation must have: which of them a hypothesis has met, and how the
//! beam is shared among hypotheses that have met more or fewer (Post and Vilar 2018).
//!
//! Hypotheses are put into banks by the number of constrained words they have. A beam
//! takes the best of each bank, then the second best of each, fullest banks first, until
//! it is full: those that have met little are not crowded out by those that have met
//! nothing, whose scores are better, and the other way round. A constraint begun and not
//! gone on with counts no longer.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::{Error, Result};

/// More constraints a sentence are refused.
const MOST: usize = 128;

/// The place in the tree where no constraint is under way.
const ROOT: u32 = 0;

/// The constraints of a sentence, and the tree of their beginnings.
///
/// The tree tells in a few steps what a hypothesis falls back to when its words leave it
/// (Aho and Corasick 1975), however long constraints are and however they repeat
/// themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Constraints {
    lists: Vec<Vec<u32>>,
    words: usize,
    children: BTreeMap<(u32, u32), u32>,
    nodes: Vec<Node>,
}

/// A beginning of constraints.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Its words.
    length: u32,
    /// A bit for each constraint that begins so.
    of: u128,
    /// The longest end of it that is a beginning too.
    back: u32,
    /// Constraints that are an end of it, or all of it.
    ends: u128,
    /// Constraints that lie in it, but not at its start.
    inside: u128,
}

/// What a hypothesis has met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// A bit for each constraint met.
    met: u128,
    /// The beginning that is under way.
    node: u32,
    /// Words of constraints met or under way.
    pub words: u32,
}

impl Constraints {
    /// Constraints without the empty ones.
    pub fn new(lists: &[Vec<u32>]) -> Result<Self> {
        let lists: Vec<_> = lists.iter().filter(|list| !list.is_empty()).cloned().collect();
        if lists.len() > MOST {
            let reason = format!("it has {} constraints; at most {MOST} are possible", lists.len());
            return Err(Error::Untranslatable { reason });
        }
        let words = lists.iter().map(Vec::len).sum();
        let mut constraints = Constraints { lists, words, ..Constraints::default() };
        constraints.plant();
        Ok(constraints)
    }

    /// Makes the tree.
    fn plant(&mut self) {
        self.nodes.push(Node::default());
        // Parent and last word of each node.
        let mut edges = vec![(ROOT, 0)];
        for (number, list) in self.lists.iter().enumerate() {
            let bit = 1 << number;
            let mut node = ROOT;
            for &word in list {
                let edge = (node, word);
                let new = self.nodes.len() as u32;
                node = *self.children.entry(edge).or_insert(new);
                if node == new {
                    let length = self.nodes[edge.0 as usize].length + 1;
                    self.nodes.push(Node { length, ..Node::default() });
                    edges.push(edge);
                }
                self.nodes[node as usize].of |= bit;
            }
            self.nodes[node as usize].ends |= bit;
        }
        let mut order: Vec<u32> = (1..self.nodes.len() as u32).collect();
        order.sort_by_key(|&node| self.nodes[node as usize].length);
        for node in order {
            let (parent, word) = edges[node as usize];
            if parent != ROOT {
                let mut shorter = self.node(parent).back;
                let back = loop {
                    match self.children.get(&(shorter, word)) {
                        Some(&child) => break child,
                        None if shorter == ROOT => break ROOT,
                        None => shorter = self.node(shorter).back,
                    }
                };
                let (inside, ends) = (self.node(parent).inside, self.node(back).ends);
                let node = &mut self.nodes[node as usize];
                node.back = back;
                node.ends |= ends;
                node.inside = inside | ends;
            }
        }
    }

    fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// Words of all constraints.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Constrained words that a hypothesis still lacks.
    pub fn left(&self, progress: Progress) -> usize {
        self.words - progress.words as usize
    }

    /// The first constraint that is not met and begins as `node` says.
    fn first(&self, node: u32, met: u128) -> Option<usize> {
        let unmet = self.node(node).of & !met;
        (unmet != 0).then(|| unmet.trailing_zeros() as usize)
    }

    /// The words that bring a hypothesis forward: the next one of the constraint under way,
    /// or else the first ones of all that are not met.
    pub fn next(&self, progress: Progress, mut each: impl FnMut(u32)) {
        let Progress { met, node, .. } = progress;
        match self.first(node, met) {
            Some(number) => each(self.lists[number][self.node(node).length as usize]),
            None => {
                let lists = self.lists.iter().enumerate();
                let unmet = lists.filter(|(number, _)| met >> number & 1 == 0);
                unmet.for_each(|(_, list)| each(list[0]));
            }
        }
    }

    /// The progress after a word that goes on with a constraint.
    fn forward(&self, progress: Progress, word: u32) -> Option<Progress> {
        let node = *self.children.get(&(progress.node, word))?;
        let number = self.first(node, progress.met)?;
        let words = progress.words + 1;
        if self.lists[number].len() == self.node(node).length as usize {
            return Some(Progress { met: progress.met | 1 << number, node: ROOT, words });
        }
        Some(Progress { node, words, ..progress })
    }

    /// The progress of a hypothesis after one more word. Where the constraint under way
    /// is not gone on with, its words but the first are gone through again for others that
    /// they meet.
    pub fn after(&self, progress: Progress, word: u32) -> Progress {
        if let Some(next) = self.forward(progress, word) {
            return next;
        }
        let Some(number) = self.first(progress.node, progress.met) else { return progress };
        let length = self.node(progress.node).length as usize;
        let started = &self.lists[number][..length];
        let mut now = progress;
        // Those of the words that `now` has under way.
        let (mut start, mut end) = (0, length);
        while end <= length {
            if let Some(next) = self.forward(now, *started.get(end).unwrap_or(&word)) {
                now = next;
                end += 1;
                if now.node == ROOT {
                    start = end;
                }
                continue;
            }
            let Node { length, inside, .. } = *self.node(now.node);
            if length == 0 {
                end += 1;
                start = end;
            } else if inside & !now.met != 0 {
                // A later start may meet one of them on its way.
                start += 1;
                end = start;
                now = Progress { node: ROOT, words: now.words - length, ..now };
            } else {
                let node = self.back(now);
                now = Progress { node, words: now.words - length + self.node(node).length, ..now };
                start = end - self.node(node).length as usize;
            }
        }
        now
    }

    /// The longest end of what is under way that is the beginning of an unmet constraint.
    fn back(&self, progress: Progress) -> u32 {
        let mut node = self.node(progress.node).back;
        while node != ROOT && self.first(node, progress.met).is_none() {
            node = self.node(node).back;
        }
        node
    }
}

/// Brings candidates, whose words met are `words` and which come best first, into the
/// order in which a beam takes them.
pub(super) fn share<T>(candidates: &mut [T], words: impl Fn(&T) -> u32, ranks: &mut Vec<(u32, T)>)
where
    T: Copy,
{
    ranks.clear();
    let banks = candidates.iter().map(|candidate| words(candidate) as usize + 1).max();
    let mut ahead = vec![0; banks.unwrap_or(0)];
    for candidate in candidates.iter() {
        let ahead = &mut ahead[words(candidate) as usize];
        ranks.push((*ahead, *candidate));
        *ahead += 1;
    }
    ranks.sort_by_key(|(rank, candidate)| (*rank, Reverse(words(candidate))));
    for (to, (_, from)) in candidates.iter_mut().zip(ranks) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(constraints: &Constraints, words: &[u32]) -> Progress {
        words.iter().fold(Progress::default(), |progress, &word| constraints.after(progress, word))
    }

    fn made(lists: &[&[u32]]) -> Constraints {
        let lists: Vec<Vec<u32>> = lists.iter().map(|list| list.to_vec()).collect();
        Constraints::new(&lists).unwrap()
    }

    #[test]
    fn sequences_are_found_wherever_they_begin() {
        let constraints = made(&[&[1, 1, 2], &[], &[3]]);
        assert_eq!(constraints.words(), 4);
        assert_eq!(after(&constraints, &[1, 1, 1, 2]).words, 3);
        assert_eq!(after(&constraints, &[1, 1]).words, 2);
        // A start that is given up counts no longer, but the 3 behind it does.
        assert_eq!(after(&constraints, &[1, 1, 3]).words, 1);
        assert_eq!(after(&constraints, &[1, 3, 1, 1, 2]).words, 4);
        assert_eq!(constraints.left(after(&constraints, &[3, 3, 3])), 3);
    }

    #[test]
    fn constraints_with_one_beginning_are_told_apart() {
        let constraints = made(&[&[5, 6], &[5, 7], &[6]]);
        let mut next = Vec::new();
        constraints.next(Progress::default(), |word| next.push(word));
        assert_eq!(next, [5, 5, 6]);
        assert_eq!(after(&constraints, &[5, 7, 5, 6, 6]).words, 5);
        // The words of a sequence given up may be another constraint.
        let constraints = made(&[&[4, 6, 8], &[6]]);
        assert_eq!(after(&constraints, &[4, 6, 9]).words, 1);
    }

    #[test]
    fn the_same_constraint_twice_is_met_twice() {
        let constraints = made(&[&[5, 6], &[5, 6]]);
        assert_eq!(after(&constraints, &[5, 6, 7]).words, 2);
        assert_eq!(after(&constraints, &[5, 6, 5, 6]).words, 4);
    }

    #[test]
    fn banks_take_turns() {
        let mut candidates = [(0, 'a'), (0, 'b'), (1, 'c'), (0, 'd'), (2, 'e'), (1, 'f')];
        share(&mut candidates, |candidate| candidate.0, &mut Vec::new());
        let order: String = candidates.iter().map(|candidate| candidate.1).collect();
        assert_eq!(order, "ecafbd");
    }

    #[test]
    fn too_many_constraints_are_refused() {
        assert!(Constraints::new(&vec![vec![1]; MOST]).is_ok());
        assert!(Constraints::new(&vec![vec![1]; MOST + 1]).is_err());
    }

    /// The obvious way: what is under way is a constraint and how many of its words are
    /// there; words are gone through again by calling itself.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Obvious {
        met: u128,
        under_way: Option<(usize, usize)>,
        words: u32,
    }

    impl Obvious {
        fn after(self, lists: &[Vec<u32>], word: u32) -> Self {
            let started =
                self.under_way.map_or(&[][..], |(number, matched)| &lists[number][..matched]);
            let wanted = [started, &[word]].concat();
            let current = self.under_way.map(|(number, _)| number);
            let unmet = (0..lists.len()).filter(|number| self.met >> number & 1 == 0);
            let goes_on = unmet.filter(|&number| lists[number].starts_with(&wanted));
            if let Some(number) = goes_on.min_by_key(|&number| Some(number) != current) {
                let words = self.words + 1;
                return match lists[number].len() == wanted.len() {
                    true => Obvious { met: self.met | 1 << number, under_way: None, words },
                    false => Obvious { under_way: Some((number, wanted.len())), words, ..self },
                };
            }
            let words = self.words - started.len() as u32;
            let bare = Obvious { under_way: None, words, ..self };
            let again = wanted.iter().skip(1).filter(|_| !started.is_empty());
            again.fold(bare, |progress, &word| progress.after(lists, word))
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Few different words make constraints that repeat and contain each other.
        #[test]
        fn the_tree_finds_what_the_obvious_way_finds(
            lists in proptest::collection::vec(proptest::collection::vec(0u32..3, 1..9), 1..6),
            words in proptest::collection::vec(0u32..4, 0..60),
        ) {
            let constraints = Constraints::new(&lists).unwrap();
            let (mut found, mut expected) = (Progress::default(), Obvious::default());
            for &word in &words {
                found = constraints.after(found, word);
                expected = expected.after(&lists, word);
                prop_assert_eq!((found.met, found.words), (expected.met, expected.words));
                let length = expected.under_way.map_or(0, |(_, matched)| matched as u32);
                prop_assert_eq!(constraints.node(found.node).length, length);
                let mut next = Vec::new();
                constraints.next(found, |word| next.push(word));
                if let Some((number, matched)) = expected.under_way {
                    prop_assert_eq!(next, [lists[number][matched]]);
                }
            }
        }
    }

    #[test]
    fn long_constraints_that_repeat_themselves_take_no_time() {
        // Every fall back from the end of the first would begin at each place again.
        let long = [vec![1; 4000], vec![2]].concat();
        let constraints = made(&[&long, &[1, 1, 3]]);
        let text = [vec![1; 3999], vec![3], vec![1; 4001], vec![2]].concat();
        assert_eq!(constraints.left(after(&constraints, &text)), 0);
    }
}
