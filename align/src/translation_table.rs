//! Translation probabilities of both directions, parallel to the entries of
//! [`CooccurrenceRows`], and the M step that computes them from expected counts.
//!
//! Forward is p(target | source), reverse p(source | target). Both are stored together,
//! because they are used together.

use std::ops::Range;

use miriam_storage::parallel;

use crate::cooccurrence::CooccurrenceRows;
use crate::digamma::exp_digamma;

/// The index of p(target | source).
pub(crate) const FORWARD: usize = 0;
/// The index of p(source | target).
pub(crate) const REVERSE: usize = 1;

/// The probability of unknown pairs, and of all pairs at first.
pub(crate) const UNKNOWN_PROBABILITY: f64 = 1e-9;

/// Values of both directions for each entry, and for each word with the null word: expected
/// counts during the E step, then probabilities.
pub(crate) struct TranslationTable {
    /// Forward and reverse, parallel to the entries of the rows.
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
    /// in log space (variational Bayes). Without a prior, it is the relative frequency.
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
                    |sum| 1.0 / exp_digamma(sum),
                    |count, scale| exp_digamma(count) * scale,
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
                    |count, sum| count / sum,
                );
            }
        }
    }

    /// Replaces each count by `probability(count + added, scale(sum))`. The sum of `count + added`
    /// runs over all entries with the same condition: the source word in the forward direction, the
    /// target word in the reverse one.
    fn normalize_by(
        &mut self,
        rows: &CooccurrenceRows,
        shares: &[Range<u32>],
        added: f64,
        scale: impl Fn(f64) -> f64 + Sync,
        probability: impl Fn(f64, f64) -> f64 + Sync,
    ) {
        // A target word's sum runs over all rows, in their order.
        let mut target_sums = vec![0.0; self.null[FORWARD].len()];
        for (&target, counts) in rows.targets.iter().zip(&self.entries) {
            target_sums[target as usize] += counts[REVERSE] + added;
        }
        let target_scales = parallel::map(target_sums.len(), |at| scale(target_sums[at]));
        let parts = rows.split_entries(shares, &mut self.entries);
        parallel::for_each_item(parts, &|at, part: &mut [[f64; 2]]| {
            let share = &shares[at];
            let base = if share.is_empty() { 0 } else { rows.row(share.start).start };
            for word in share.clone() {
                let row = rows.row(word);
                let targets = &rows.targets[row.clone()];
                let entries = &mut part[row.start - base..row.end - base];
                let sum: f64 = entries.iter().map(|counts| counts[FORWARD] + added).sum();
                let row_scale = scale(sum);
                for (numbers, &target) in entries.iter_mut().zip(targets) {
                    numbers[FORWARD] = probability(numbers[FORWARD] + added, row_scale);
                    let target_scale = target_scales[target as usize];
                    numbers[REVERSE] = probability(numbers[REVERSE] + added, target_scale);
                }
            }
        });
        for row in &mut self.null {
            // Words that are not in any aligned pair have no entry; their values are never read.
            let sum: f64 = row.iter().map(|count| count + added).sum();
            let row_scale = scale(sum);
            row.iter_mut().for_each(|number| *number = probability(*number + added, row_scale));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitext::from_lines;

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
