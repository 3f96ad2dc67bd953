//! Ranges of word ids: the units of parallel work and of memory use.

use std::ops::Range;

/// Consecutive ranges of word ids that cover a vocabulary.
pub(super) struct WordRanges {
    /// The start of each range, and the end of the last one.
    starts: Vec<u32>,
    /// The range of each word.
    range_of: Vec<u16>,
    /// The weight of each range.
    weights: Vec<u64>,
}

impl WordRanges {
    /// Makes about `parts` ranges of about equal weight; `weights` holds the weight of each word. A
    /// word that is heavier than the mean range gets a range of its own.
    pub fn balanced(weights: &[u64], parts: usize) -> Self {
        let parts = parts.clamp(1, usize::from(u16::MAX)) as u64;
        let goal = weights.iter().sum::<u64>().div_ceil(parts).max(1);
        let (mut starts, mut range_of) = (vec![0], Vec::with_capacity(weights.len()));
        let (mut loads, mut load) = (Vec::new(), 0);
        for (word, &weight) in weights.iter().enumerate() {
            if load > 0 && load + weight > goal {
                starts.push(word as u32);
                loads.push(std::mem::take(&mut load));
            }
            load += weight;
            range_of.push((starts.len() - 1) as u16);
        }
        starts.push(weights.len() as u32);
        loads.push(load);
        WordRanges { starts, range_of, weights: loads }
    }

    /// Returns the number of ranges.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the words of range `i`.
    pub fn words(&self, i: usize) -> Range<u32> {
        self.starts[i]..self.starts[i + 1]
    }

    /// Returns the cost of each range if a unit of weight costs `cost`.
    pub fn costs(&self, cost: u64) -> Vec<u64> {
        self.weights.iter().map(|weight| weight * cost).collect()
    }

    /// Returns the range of `word`.
    #[inline]
    pub fn range_of(&self, word: u32) -> usize {
        usize::from(self.range_of[word as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_every_word_once() {
        for parts in [1, 2, 3, 100] {
            let weights = [0, 0, 9, 1, 1, 1, 1, 4, 0, 0];
            let ranges = WordRanges::balanced(&weights, parts);
            let words: Vec<u32> = (0..ranges.len()).flat_map(|i| ranges.words(i)).collect();
            assert_eq!(words, (0..10).collect::<Vec<_>>());
            assert_eq!(ranges.costs(2).iter().sum::<u64>(), 34);
            assert!((0..10).all(|word| ranges.words(ranges.range_of(word)).contains(&word)));
        }
    }
}
