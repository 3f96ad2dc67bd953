//! Translation probabilities of both directions, parallel to the entries of
//! [`CooccurrenceRows`], and the M step that computes them from expected counts.
//!
//! Forward is p(target | source), reverse p(source | target). Both are stored together,
//! because they are used together.

use std::ops::Range;

use miriam_storage::parallel;

use crate::cooccurrence::CooccurrenceRows;
use crate::digamma::{digamma, exp_digamma};

/// The index of p(target | source).
pub(crate) const FORWARD: usize = 0;
/// The index of p(source | target).
pub(crate) const REVERSE: usize = 1;

/// The probability of unknown pairs, and of all pairs at first.
pub(crate) const UNKNOWN_PROBABILITY: f64 = 1e-9;

/// Values of both directions for each entry, and of each word with the null word: expected counts
/// during the E step, then probabilities.
pub(crate) struct TranslationTable {
    /// Forward and reverse, parallel to the entries of [`CooccurrenceRows`].
    pub entries: Vec<[f64; 2]>,
    /// Values with the null word: for the forward direction by target word, for the reverse
    /// one by source word.
    pub null: [Vec<f64>; 2],
}

impl TranslationTable {
    /// Creates a table of zeros for these numbers of entries, source words and target words.
    pub fn zeros(entries: usize, source_words: usize, target_words: usize) -> Self {
        Self::filled_with(0.0, entries, source_words, target_words)
    }

    /// Creates a table with [`UNKNOWN_PROBABILITY`] for every pair: the state before training.
    pub fn unknown(entries: usize, source_words: usize, target_words: usize) -> Self {
        Self::filled_with(UNKNOWN_PROBABILITY, entries, source_words, target_words)
    }

    fn filled_with(value: f64, entries: usize, source_words: usize, target_words: usize) -> Self {
        TranslationTable {
            entries: vec![[value; 2]; entries],
            null: [target_words, source_words].map(|words| vec![value; words]),
        }
    }

    /// Sets all values to zero.
    pub fn clear(&mut self) {
        parallel::fill_chunks(&mut self.entries, 1 << 16, &|_, part| part.fill([0.0; 2]));
        self.null.iter_mut().for_each(|row| row.fill(0.0));
    }

    /// Performs the M step: turns expected counts into probabilities. With `alpha`, the
    /// pseudo-count of each entry in a Dirichlet prior, a probability is the mean of the posterior
    /// in log space (variational Bayes). Without a prior, it is the relative frequency. `shares`
    /// are the ranges of source words that are computed in parallel.
    pub fn normalize(
        &mut self,
        rows: &CooccurrenceRows,
        shares: &[Range<u32>],
        alpha: Option<f64>,
    ) {
        match alpha {
            Some(alpha) => {
                self.normalize_by(
                    rows,
                    shares,
                    alpha,
                    BayesDivisor::new,
                    BayesDivisor::probability,
                );
            }
            None => {
                // Words that are not in any aligned pair have no counts. As in fast_align, counts
                // are divided by the sum, not multiplied by its inverse: after one iteration, the
                // last bit often decides ties.
                self.normalize_by(
                    rows,
                    shares,
                    0.0,
                    |sum| if sum == 0.0 { 1.0 } else { sum },
                    |divisor, count| count / divisor,
                );
            }
        }
    }

    /// Replaces each count by `probability(divisor(sum), count + added)`. `sum` is the sum of
    /// `count + added` over all entries with the same condition: the source word in the forward
    /// direction, the target word in the reverse one.
    fn normalize_by<D: Copy + Default + Send + Sync>(
        &mut self,
        rows: &CooccurrenceRows,
        shares: &[Range<u32>],
        added: f64,
        divisor: impl Fn(f64) -> D + Sync,
        probability: impl Fn(D, f64) -> f64 + Sync,
    ) {
        // A target word's sum runs over all rows, in their order.
        let mut target_sums = vec![0.0; self.null[FORWARD].len()];
        for (&target, counts) in rows.targets.iter().zip(&self.entries) {
            target_sums[target as usize] += counts[REVERSE] + added;
        }
        let target_divisors = parallel::map(target_sums.len(), |at| divisor(target_sums[at]));
        let parts = rows.split_entries(shares, &mut self.entries);
        parallel::for_each_item(parts, &|at, part: &mut [[f64; 2]]| {
            let share = &shares[at];
            let base = if share.is_empty() { 0 } else { rows.row(share.start).start };
            for word in share.clone() {
                let row = rows.row(word);
                let targets = &rows.targets[row.clone()];
                let entries = &mut part[row.start - base..row.end - base];
                let sum: f64 = entries.iter().map(|counts| counts[FORWARD] + added).sum();
                let row_divisor = divisor(sum);
                for (values, &target) in entries.iter_mut().zip(targets) {
                    values[FORWARD] = probability(row_divisor, values[FORWARD] + added);
                    let target_divisor = target_divisors[target as usize];
                    values[REVERSE] = probability(target_divisor, values[REVERSE] + added);
                }
            }
        });
        for row in &mut self.null {
            // Words that are not in any aligned pair have no entry; their values are never read.
            let sum: f64 = row.iter().map(|count| count + added).sum();
            let row_divisor = divisor(sum);
            row.iter_mut().for_each(|value| *value = probability(row_divisor, *value + added));
        }
    }
}

/// The divisor of variational Bayes: exp(digamma(sum)), where `sum` is a sum of pseudo-counts.
#[derive(Clone, Copy, Default)]
struct BayesDivisor {
    /// 1 / exp(digamma(sum)); infinite for sums below about 1/700.
    inverse: f64,
    digamma: f64,
}

impl BayesDivisor {
    fn new(sum: f64) -> Self {
        // The smallest f64 instead of minus infinity, whose difference from itself is NaN.
        BayesDivisor { inverse: 1.0 / exp_digamma(sum), digamma: digamma(sum).max(f64::MIN) }
    }

    /// Returns exp(digamma(count)) / exp(digamma(sum)).
    #[inline]
    fn probability(self, count: f64) -> f64 {
        if self.inverse.is_finite() {
            exp_digamma(count) * self.inverse
        } else {
            (digamma(count) - self.digamma).exp()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitext::from_lines;

    /// The exponential of digamma is 0 in an f64 below about 1/745. Quotients of small sums follow
    /// from digamma(x) = digamma(x + 1) - 1/x.
    #[test]
    fn sums_below_the_range_of_the_exponential_give_probabilities() {
        let rows = CooccurrenceRows::from_bitext(&from_lines(&[("a b", "x y"), ("c", "y")]));
        let mut table = TranslationTable::zeros(rows.len(), 3, 2);
        // The entries are a x, a y, b x, b y, c y.
        (table.entries[0][FORWARD], table.entries[1][FORWARD]) = (1.0, 1.0);
        table.entries[3][FORWARD] = 0.001;
        table.normalize(&rows, &rows.balanced_ranges(1), Some(1e-6));
        let forward: Vec<f64> = table.entries.iter().map(|values| values[FORWARD]).collect();
        let usual = exp_digamma(1.0 + 1e-6) / exp_digamma(2.0 + 2e-6);
        let quotient = (1.0f64 / 0.001002 - 1.0 / 0.001001).exp();
        for (found, expected) in forward.iter().zip([usual, usual, 0.0, quotient, 1.0]) {
            assert!((found - expected).abs() < 1e-5, "{forward:?}");
        }
        assert!(table.entries.iter().all(|values| values[REVERSE] == 0.0), "{:?}", table.entries);
        assert!(table.null.iter().flatten().all(|&value| value == 0.0), "{:?}", table.null);
        assert_eq!(BayesDivisor::new(1e-310).probability(1e-310), 0.0);
    }

    /// `5.0 * (1.0 / 49.0)` and `5.0 / 49.0` differ in the last bit.
    #[test]
    fn counts_without_a_prior_are_divided_by_their_sum() {
        let rows = CooccurrenceRows::from_bitext(&from_lines(&[("a", "x y")]));
        let mut table = TranslationTable::zeros(rows.len(), 1, 2);
        table.entries.copy_from_slice(&[[5.0; 2], [44.0; 2]]);
        table.null[FORWARD].copy_from_slice(&[5.0, 44.0]);
        table.normalize(&rows, &rows.balanced_ranges(1), None);
        assert_ne!(5.0 / 49.0, 5.0 * (1.0 / 49.0));
        assert_eq!(table.entries, [[5.0 / 49.0, 1.0], [44.0 / 49.0, 1.0]]);
        assert_eq!(table.null, [vec![5.0 / 49.0, 44.0 / 49.0], vec![0.0]]);
    }
}
