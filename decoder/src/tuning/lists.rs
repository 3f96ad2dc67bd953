//! The translations that have been found so far, line by line.
//!
//! Two translations with the same values and the same counts are one: no weights can
//! tell them apart, and to BLEU they are equal.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use miriam_metrics::bleu::{Counts, ORDER};

/// What BLEU counts in a translation, in 24 bytes; totals follow from the length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Tally {
    pub(super) length: u32,
    pub(super) reference: u32,
    pub(super) matches: [u32; ORDER],
}

impl Tally {
    pub(super) fn of(counts: &Counts) -> Self {
        Tally {
            length: counts.hypothesis as u32,
            reference: counts.reference as u32,
            matches: counts.matches.map(|count| count as u32),
        }
    }

    pub(super) fn counts(&self) -> Counts {
        let length = u64::from(self.length);
        Counts {
            hypothesis: length,
            reference: self.reference.into(),
            matches: self.matches.map(u64::from),
            totals: std::array::from_fn(|n| length.saturating_sub(n as u64)),
        }
    }
}

/// Translations of a line.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    /// The values of the tuned components, a row a translation.
    pub(super) values: Vec<f32>,
    /// What the other components add to the score.
    pub(super) fixed: Vec<f32>,
    pub(super) tallies: Vec<Tally>,
}

impl List {
    pub(super) fn len(&self) -> usize {
        self.tallies.len()
    }

    /// Adds a translation.
    pub(super) fn push(&mut self, values: impl Iterator<Item = f32>, fixed: f32, tally: Tally) {
        self.values.extend(values);
        self.fixed.push(fixed);
        self.tallies.push(tally);
    }

    pub(super) fn row(&self, i: usize, width: usize) -> &[f32] {
        &self.values[i * width..(i + 1) * width]
    }

    /// What tells the translation from others.
    fn identity(&self, i: usize, width: usize) -> (Tally, u32, Vec<u32>) {
        let bits = self.row(i, width).iter().map(|value| value.to_bits()).collect();
        (self.tallies[i], self.fixed[i].to_bits(), bits)
    }
}

/// All lists.
pub(super) struct Lists {
    /// Values a translation.
    pub(super) width: usize,
    pub(super) lines: Vec<List>,
    /// The places of the translations of a line by what they are.
    seen: Vec<HashTable<u32>>,
    hasher: DefaultHashBuilder,
}

impl Lists {
    pub(super) fn new(lines: usize, width: usize) -> Self {
        Lists {
            width,
            lines: vec![List::default(); lines],
            seen: vec![HashTable::new(); lines],
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Adds the lists of an iteration, the best translation of each line first. What
    /// BLEU counts in the best ones, and how many translations are new.
    pub(super) fn add(&mut self, lists: Vec<List>) -> (Counts, usize) {
        let Lists { width, lines, seen, hasher } = self;
        let (mut counts, mut new) = (Counts::default(), 0);
        for ((known, seen), list) in lines.iter_mut().zip(seen).zip(lists) {
            if let Some(best) = list.tallies.first() {
                counts += best.counts();
            }
            for i in 0..list.len() {
                let identity = list.identity(i, *width);
                let same = |&place: &u32| known.identity(place as usize, *width) == identity;
                let hash = hasher.hash_one(&identity);
                if seen.find(hash, same).is_none() {
                    let rehash =
                        |&place: &u32| hasher.hash_one(known.identity(place as usize, *width));
                    seen.insert_unique(hash, known.len() as u32, rehash);
                    let row = list.row(i, *width).iter().copied();
                    known.push(row, list.fixed[i], list.tallies[i]);
                    new += 1;
                }
            }
        }
        (counts, new)
    }
}
