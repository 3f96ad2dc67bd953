//! Counts of the distinct n-grams of the candidates of a list.
//!
//! Each distinct n-gram has a number. One table for all orders finds it by two keys: the number of
//! the n-gram without its last token, and the last token. Candidates of a list share most of their
//! text with their neighbours, so the numbers of the common beginning and end are copied and not
//! looked up.

use hashbrown::HashTable;

/// An n-gram of a candidate, with its number of occurrences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NgramCount {
    pub ngram: u32,
    pub count: u32,
}

/// The n-grams of all candidates, by candidate and order.
pub(super) struct ListNgrams {
    num_orders: usize,
    num_ngrams: u32,
    counts: Vec<NgramCount>,
    /// The end in `counts` of each candidate and order.
    ends: Vec<usize>,
    /// The count of all n-grams of each candidate and order, with repetition.
    totals: Vec<u32>,
}

impl ListNgrams {
    /// Counts the n-grams of candidates. Each candidate has a sequence of tokens for each number in
    /// `orders`, which is the length of the longest n-grams of the sequence. The orders of the
    /// first sequence come first.
    pub fn new(candidates: impl Iterator<Item = Vec<Vec<u32>>>, orders: &[usize]) -> Self {
        let mut list = ListNgrams {
            num_orders: orders.iter().sum(),
            num_ngrams: 0,
            counts: Vec::new(),
            ends: Vec::new(),
            totals: Vec::new(),
        };
        let mut interners: Vec<NgramInterner> =
            orders.iter().map(|&order| NgramInterner::new(order)).collect();
        let mut occurrences: Vec<u32> = Vec::new();
        for sequences in candidates {
            for (interner, tokens) in interners.iter_mut().zip(sequences) {
                interner.intern(tokens, &mut list.num_ngrams);
                occurrences.resize(list.num_ngrams as usize, 0);
                for ngrams in &interner.ngrams {
                    list.push_counts(ngrams, &mut occurrences);
                }
            }
        }
        list
    }

    /// Appends the counts of `ngrams`; `occurrences` are zero before and after.
    fn push_counts(&mut self, ngrams: &[u32], occurrences: &mut [u32]) {
        let start = self.counts.len();
        for &ngram in ngrams {
            let count = &mut occurrences[ngram as usize];
            if *count == 0 {
                self.counts.push(NgramCount { ngram, count: 0 });
            }
            *count += 1;
        }
        for entry in &mut self.counts[start..] {
            entry.count = std::mem::take(&mut occurrences[entry.ngram as usize]);
        }
        self.ends.push(self.counts.len());
        self.totals.push(ngrams.len() as u32);
    }

    pub fn num_candidates(&self) -> usize {
        self.ends.len() / self.num_orders
    }

    pub fn num_orders(&self) -> usize {
        self.num_orders
    }

    /// Returns the number of distinct n-grams of all orders.
    pub fn num_ngrams(&self) -> usize {
        self.num_ngrams as usize
    }

    /// Returns the n-grams of a candidate, of one order, counted from 0.
    pub fn counts(&self, candidate: usize, order: usize) -> &[NgramCount] {
        let place = candidate * self.num_orders + order;
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.counts[start..self.ends[place]]
    }

    /// Returns the number of n-grams of a candidate with repetition.
    pub fn total(&self, candidate: usize, order: usize) -> u32 {
        self.totals[candidate * self.num_orders + order]
    }
}

/// The numbering of the n-grams of one kind of tokens.
struct NgramInterner {
    /// The numbers of n-grams, each with its key: the number of the n-gram without its last token,
    /// and that token.
    table: HashTable<(u64, u32)>,
    /// The tokens of the last candidate.
    tokens: Vec<u32>,
    /// The numbers of its n-grams, by order and position.
    ngrams: Vec<Vec<u32>>,
    spare: Vec<Vec<u32>>,
}

impl NgramInterner {
    fn new(order: usize) -> Self {
        NgramInterner {
            table: HashTable::new(),
            tokens: Vec::new(),
            ngrams: vec![Vec::new(); order],
            spare: vec![Vec::new(); order],
        }
    }

    /// Finds the numbers of the n-grams of `tokens`; new n-grams get numbers from `next`.
    fn intern(&mut self, tokens: Vec<u32>, next: &mut u32) {
        std::mem::swap(&mut self.ngrams, &mut self.spare);
        let (before, previous) = (&self.tokens, &self.spare);
        let shorter = tokens.len().min(before.len());
        let prefix = tokens.iter().zip(before).take_while(|(a, b)| a == b).count();
        let suffixes = tokens.iter().rev().zip(before.iter().rev());
        let suffix = suffixes.take(shorter - prefix).take_while(|(a, b)| a == b).count();
        for order in 0..self.ngrams.len() {
            let (shorter_ngrams, rest) = self.ngrams.split_at_mut(order);
            let ngrams = &mut rest[0];
            ngrams.clear();
            let count = tokens.len().saturating_sub(order);
            let start = prefix.saturating_sub(order).min(count);
            let end = (tokens.len() - suffix).clamp(start, count);
            ngrams.extend_from_slice(&previous[order][..start]);
            for position in start..end {
                let parent = shorter_ngrams.last().map_or(u32::MAX, |ngrams| ngrams[position]);
                let key = u64::from(parent) << 32 | u64::from(tokens[position + order]);
                let entry = self.table.entry(hash(key), |&(k, _)| k == key, |&(k, _)| hash(k));
                let id = entry.or_insert_with(|| {
                    *next += 1;
                    (key, *next - 1)
                });
                ngrams.push(id.get().1);
            }
            let tail = &previous[order];
            ngrams.extend_from_slice(&tail[tail.len() - (count - end)..]);
        }
        self.tokens = tokens;
    }
}

fn hash(key: u64) -> u64 {
    let product = u128::from(key ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashbrown::HashMap;
    use proptest::prelude::*;

    proptest! {
        /// Numbers stand for n-grams one to one, and counts are right.
        #[test]
        fn equals_maps_of_slices(
            lines in proptest::collection::vec(proptest::collection::vec(0u32..3, 0..12), 1..8),
            order in 1usize..5,
        ) {
            let list = ListNgrams::new(lines.iter().map(|line| vec![line.clone()]), &[order]);
            let mut numbers: HashMap<&[u32], u32> = HashMap::new();
            for (i, line) in lines.iter().enumerate() {
                for n in 0..order {
                    let mut expected: HashMap<&[u32], u32> = HashMap::new();
                    line.windows(n + 1).for_each(|w| *expected.entry(w).or_default() += 1);
                    let found = list.counts(i, n);
                    prop_assert_eq!(found.len(), expected.len());
                    prop_assert_eq!(list.total(i, n), expected.values().sum::<u32>());
                    let mut seen = hashbrown::HashSet::new();
                    let first = line.windows(n + 1).filter(|w| seen.insert(*w));
                    for (window, entry) in first.zip(found) {
                        prop_assert_eq!(entry.count, expected[window]);
                        prop_assert_eq!(*numbers.entry(window).or_insert(entry.ngram), entry.ngram);
                    }
                }
            }
            let distinct: hashbrown::HashSet<u32> = numbers.values().copied().collect();
            prop_assert_eq!(distinct.len(), numbers.len());
            prop_assert_eq!(numbers.len(), list.num_ngrams());
        }
    }
}
