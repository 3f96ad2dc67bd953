//! Words that a translation must have: which of them a hypothesis has met, and how the
//! beam is shared among hypotheses that have met more or fewer (Post and Vilar 2018).
//!
//! Hypotheses are put into banks by the number of constrained words they have. A beam
//! takes the best of each bank, then the second best of each, fullest banks first, until
//! it is full: those that have met little are not crowded out by those that have met
//! nothing, whose scores are better, and the other way round. A constraint begun and not
//! gone on with counts no longer.

use std::cmp::Reverse;

use crate::{Error, Result};

/// More constraints a sentence are refused.
const MOST: usize = 128;

/// The constraints of a sentence.
#[derive(Clone, Debug, Default)]
pub(super) struct Constraints {
    lists: Vec<Vec<u32>>,
    words: usize,
}

/// What a hypothesis has met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// A bit for each constraint met.
    met: u128,
    /// The constraint that is under way, and how many of its words are there.
    under_way: Option<(u8, u32)>,
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
        Ok(Constraints { lists, words })
    }

    /// Words of all constraints.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Constrained words that a hypothesis still lacks.
    pub fn left(&self, progress: Progress) -> usize {
        self.words - progress.words as usize
    }

    fn unmet(&self, progress: Progress) -> impl Iterator<Item = (u8, &[u32])> {
        let lists = (0..).zip(&self.lists).map(|(number, list)| (number, &list[..]));
        lists.filter(move |(number, _)| progress.met >> number & 1 == 0)
    }

    /// The words that bring a hypothesis forward: the next one of the constraint under way,
    /// or else the first ones of all that are not met.
    pub fn next(&self, progress: Progress, mut each: impl FnMut(u32)) {
        match progress.under_way {
            Some((number, matched)) => each(self.lists[usize::from(number)][matched as usize]),
            None => self.unmet(progress).for_each(|(_, list)| each(list[0])),
        }
    }

    /// The progress of a hypothesis after one more word. Where the constraint under way
    /// is not gone on with, its words are gone through again for others that they meet.
    pub fn after(&self, progress: Progress, word: u32) -> Progress {
        let started: &[u32] = match progress.under_way {
            Some((number, matched)) => &self.lists[usize::from(number)][..matched as usize],
            None => &[],
        };
        let goes_on = |list: &[u32]| {
            list.len() > started.len() && list.starts_with(started) && list[started.len()] == word
        };
        let current = progress.under_way.map(|(number, _)| number);
        let others = self.unmet(progress).filter(|(_, list)| goes_on(list));
        // The one under way first, then by number.
        if let Some((number, list)) = others.min_by_key(|(number, _)| Some(*number) != current) {
            let words = progress.words + 1;
            if list.len() == started.len() + 1 {
                return Progress { met: progress.met | 1 << number, under_way: None, words };
            }
            let under_way = Some((number, started.len() as u32 + 1));
            return Progress { met: progress.met, under_way, words };
        }
        let words = progress.words - started.len() as u32;
        let bare = Progress { met: progress.met, under_way: None, words };
        if started.is_empty() {
            return bare;
        }
        let again = started[1..].iter().chain([&word]);
        again.fold(bare, |progress, &word| self.after(progress, word))
    }
}

/// Brings candidates, whose words met are `words` and which come best first, into the
/// order in which a beam takes them.
pub(super) fn share<T>(candidates: &mut [T], words: impl Fn(&T) -> u32, ranks: &mut Vec<(u32, T)>)
where
    T: Copy,
{
    ranks.clear();
    for (place, candidate) in candidates.iter().enumerate() {
        let bank = words(candidate);
        let ahead = candidates[..place].iter().filter(|other| words(other) == bank).count();
        ranks.push((ahead as u32, *candidate));
    }
    ranks.sort_by_key(|(rank, candidate)| (*rank, Reverse(words(candidate))));
    for (to, (_, from)) in candidates.iter_mut().zip(ranks) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
