//! Counts of common n-grams of two sequences, for all orders.
//!
//! The suffixes of both sequences, truncated to the highest order, are sorted together. Then equal
//! n-grams of any order are adjacent, so one sort is enough for all orders, and no n-gram is copied
//! or hashed.

/// A counter of n-grams with reused buffers.
#[derive(Default)]
pub(super) struct NgramOverlap {
    /// Both sequences, concatenated.
    text: Vec<u32>,
    /// The starts of suffixes, sorted.
    suffix_array: Vec<u32>,
    /// The length of the common prefix of each suffix with the previous one, at most the order.
    lcp: Vec<usize>,
}

impl NgramOverlap {
    /// Appends, for each n-gram length up to `order`, the numbers of n-grams in `hypothesis`, in
    /// `reference`, and in both. If the reference has none, the number for the hypothesis is 0.
    pub(super) fn count_ngrams(
        &mut self,
        hypothesis: &[u32],
        reference: &[u32],
        order: usize,
        counts: &mut Vec<[f64; 3]>,
    ) {
        self.build_suffix_array(hypothesis, reference, order);
        for n in 1..=order {
            fn ngrams(length: usize, n: usize) -> usize {
                (length + 1).saturating_sub(n)
            }
            let references = ngrams(reference.len(), n);
            let hypotheses = if references == 0 { 0 } else { ngrams(hypothesis.len(), n) };
            let common = self.count_common(hypothesis.len(), n);
            counts.push([hypotheses as f64, references as f64, common as f64]);
        }
    }

    /// Returns the suffix at `start` of the sequence that it is part of, truncated to `order`.
    fn suffix(&self, start: u32, boundary: usize, order: usize) -> &[u32] {
        let start = start as usize;
        let end = if start < boundary { boundary } else { self.text.len() };
        &self.text[start..end.min(start + order)]
    }

    fn build_suffix_array(&mut self, hypothesis: &[u32], reference: &[u32], order: usize) {
        let boundary = hypothesis.len();
        self.text.clear();
        self.text.extend_from_slice(hypothesis);
        self.text.extend_from_slice(reference);
        let mut suffixes = std::mem::take(&mut self.suffix_array);
        suffixes.clear();
        suffixes.extend(0..self.text.len() as u32);
        suffixes.sort_unstable_by(|&a, &b| {
            self.suffix(a, boundary, order).cmp(self.suffix(b, boundary, order))
        });
        let mut shared = std::mem::take(&mut self.lcp);
        shared.clear();
        shared.push(0);
        shared.extend(suffixes.windows(2).map(|pair| {
            let [a, b] = [pair[0], pair[1]].map(|start| self.suffix(start, boundary, order));
            a.iter().zip(b).take_while(|(a, b)| a == b).count()
        }));
        (self.suffix_array, self.lcp) = (suffixes, shared);
    }

    /// Returns the number of n-grams of length `n` in both sequences, with multiplicity.
    fn count_common(&self, boundary: usize, n: usize) -> usize {
        let mut common = 0;
        let mut sides = [0usize; 2];
        for (&start, &shared) in self.suffix_array.iter().zip(&self.lcp) {
            if shared < n {
                common += sides[0].min(sides[1]);
                sides = [0; 2];
            }
            let start = start as usize;
            let (side, end) = if start < boundary { (0, boundary) } else { (1, self.text.len()) };
            // Suffixes shorter than `n` come before longer ones with the same beginning.
            if start + n <= end {
                sides[side] += 1;
            }
        }
        common + sides[0].min(sides[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashbrown::HashMap;
    use proptest::prelude::*;

    /// Returns the same counts, from one map per length.
    fn count_naively(hypothesis: &[u32], reference: &[u32], n: usize) -> [f64; 3] {
        let count = |text: &[u32]| {
            let mut counts: HashMap<Vec<u32>, usize> = HashMap::new();
            text.windows(n).for_each(|ngram| *counts.entry(ngram.to_vec()).or_default() += 1);
            counts
        };
        let (ours, theirs) = (count(hypothesis), count(reference));
        let common: usize =
            ours.iter().map(|(k, &n)| n.min(theirs.get(k).copied().unwrap_or(0))).sum();
        let total = |counts: &HashMap<Vec<u32>, usize>| counts.values().sum::<usize>();
        let hypotheses = if theirs.is_empty() { 0 } else { total(&ours) };
        [hypotheses as f64, total(&theirs) as f64, common as f64]
    }

    proptest! {
        #[test]
        fn equals_naive_counts(
            hypothesis in proptest::collection::vec(0u32..4, 0..20),
            reference in proptest::collection::vec(0u32..4, 0..20),
            order in 1usize..8,
        ) {
            let mut counts = Vec::new();
            NgramOverlap::default().count_ngrams(&hypothesis, &reference, order, &mut counts);
            let expected: Vec<_> = (1..=order).map(|n| count_naively(&hypothesis, &reference, n)).collect();
            prop_assert_eq!(counts, expected);
        }
    }
}
