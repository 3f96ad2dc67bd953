//! The translations that tuning has found so far, by line.
//!
//! Translations with the same feature values and the same BLEU statistics are merged: no
//! weights distinguish them.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use miriam_metrics::bleu::{BleuCounts, MAX_NGRAM_ORDER};

/// The BLEU statistics of a translation, in 24 bytes; n-gram totals follow from the
/// length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BleuStatistics {
    /// The number of its words.
    pub length: u32,
    /// The number of words of the reference that is closest to it in length.
    pub reference_length: u32,
    /// The matches of n-grams by their order, from 1.
    pub matches: [u32; MAX_NGRAM_ORDER],
}

impl BleuStatistics {
    /// Returns the statistics of a translation from its counts.
    pub fn from_counts(counts: &BleuCounts) -> Self {
        BleuStatistics {
            length: counts.hypothesis_len as u32,
            reference_length: counts.reference_len as u32,
            matches: counts.matches.map(|count| count as u32),
        }
    }

    /// Returns these statistics as counts.
    pub fn to_counts(self) -> BleuCounts {
        let length = u64::from(self.length);
        BleuCounts {
            hypothesis_len: length,
            reference_len: self.reference_length.into(),
            matches: self.matches.map(u64::from),
            totals: std::array::from_fn(|n| length.saturating_sub(n as u64)),
        }
    }
}

/// The n-best list of a line.
#[derive(Clone, Debug, Default)]
pub struct NBestList {
    /// The feature values whose weights are tuned, one row per translation.
    pub values: Vec<f32>,
    /// For each translation, the weighted sum of the features whose weights stay fixed.
    pub fixed_scores: Vec<f32>,
    /// The BLEU statistics of the translations.
    pub statistics: Vec<BleuStatistics>,
}

impl NBestList {
    /// Returns the number of translations.
    pub fn len(&self) -> usize {
        self.statistics.len()
    }

    /// Adds a translation.
    pub fn push(
        &mut self,
        values: impl Iterator<Item = f32>,
        fixed_score: f32,
        statistics: BleuStatistics,
    ) {
        self.values.extend(values);
        self.fixed_scores.push(fixed_score);
        self.statistics.push(statistics);
    }

    /// Whether there are no translations.
    pub fn is_empty(&self) -> bool {
        self.statistics.is_empty()
    }

    /// Returns the values of translation `i`. `width` is the number of values per translation.
    pub fn row(&self, i: usize, width: usize) -> &[f32] {
        &self.values[i * width..(i + 1) * width]
    }

    /// Returns the key by which duplicates are found.
    fn dedup_key(&self, i: usize, width: usize) -> (BleuStatistics, u32, Vec<u32>) {
        let bits = self.row(i, width).iter().map(|value| value.to_bits()).collect();
        (self.statistics[i], self.fixed_scores[i].to_bits(), bits)
    }
}

/// The n-best lists of all lines.
pub struct NBestLists {
    /// The number of values of a translation, one for each tuned weight.
    pub num_components: usize,
    /// The lists, by lines of the text.
    pub lines: Vec<NBestList>,
    /// The indices of the translations of each line by the hash of their keys.
    seen: Vec<HashTable<u32>>,
    hasher: DefaultHashBuilder,
}

impl NBestLists {
    /// Creates empty lists for `lines` source lines, whose translations have `num_components`
    /// values.
    pub fn new(lines: usize, num_components: usize) -> Self {
        NBestLists {
            num_components,
            lines: vec![NBestList::default(); lines],
            seen: vec![HashTable::new(); lines],
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Adds the lists of an iteration, one per line. The first translation of a list is the best.
    /// Returns the summed BLEU counts of the best translations and the number of new translations.
    pub fn merge(&mut self, lists: Vec<NBestList>) -> (BleuCounts, usize) {
        let NBestLists { num_components: width, lines, seen, hasher } = self;
        let (mut counts, mut new) = (BleuCounts::default(), 0);
        for ((known, seen), list) in lines.iter_mut().zip(seen).zip(lists) {
            if let Some(best) = list.statistics.first() {
                counts += best.to_counts();
            }
            for i in 0..list.len() {
                let key = list.dedup_key(i, *width);
                let hash = hasher.hash_one(&key);
                if seen
                    .find(hash, |&place: &u32| known.dedup_key(place as usize, *width) == key)
                    .is_none()
                {
                    seen.insert_unique(hash, known.len() as u32, |&place: &u32| {
                        hasher.hash_one(known.dedup_key(place as usize, *width))
                    });
                    let row = list.row(i, *width).iter().copied();
                    known.push(row, list.fixed_scores[i], list.statistics[i]);
                    new += 1;
                }
            }
        }
        (counts, new)
    }
}
