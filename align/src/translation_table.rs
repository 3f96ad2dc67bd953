//! Translation probabilities of both directions, parallel to the entries of
//! [`CooccurrenceRows`], and the M step that computes them from expected counts.
//!
//! Forward is p(target | source), reverse p(source | target). Both are stored together,
//! because they are used together.

use std::ops::Range;

use rayon::prelude::*;

use crate::cooccurrence::CooccurrenceRows;
use crate::digamma::exp_digamma;

/// p(target | source).
pub(crate) const FORWARD: usize = 0;
/// p(source | target).
pub(crate) const REVERSE: usize = 1;

/// The Dirichlet prior's count for each entry.
const DIRICHLET_ALPHA: f64 = 0.01;
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
    /// A table of zeros for these numbers of entries, source words and target words.
    pub fn zeros(entries: usize, source_words: usize, target_words: usize) -> Self {
        TranslationTable {
            entries: vec![[0.0; 2]; entries],
            null: [vec![0.0; target_words], vec![0.0; source_words]],
        }
    }

    /// Sets all values to zero.
    pub fn clear(&mut self) {
        self.entries.par_chunks_mut(1 << 16).for_each(|part| part.fill([0.0; 2]));
        self.null.iter_mut().for_each(|row| row.fill(0.0));
    }

    /// The M step: turns expected counts into probabilities, the mean of a Dirichlet
    /// posterior in log space (variational Bayes).
    pub fn normalize(&mut self, rows: &CooccurrenceRows, shares: &[Range<u32>]) {
        // A target word's sum runs over all rows, in their order.
        let mut target_sums = vec![0.0; self.null[FORWARD].len()];
        for (&target, counts) in rows.targets.iter().zip(&self.entries) {
            target_sums[target as usize] += counts[REVERSE] + DIRICHLET_ALPHA;
        }
        let target_scales: Vec<f64> =
            target_sums.par_iter().map(|&sum| 1.0 / exp_digamma(sum)).collect();
        let parts = rows.split_entries(shares, &mut self.entries);
        parts.into_par_iter().zip(shares).for_each(|(part, share)| {
            let base = if share.is_empty() { 0 } else { rows.row(share.start).start };
            for word in share.clone() {
                let row = rows.row(word);
                let targets = &rows.targets[row.clone()];
                let entries = &mut part[row.start - base..row.end - base];
                let sum: f64 = entries.iter().map(|counts| counts[FORWARD] + DIRICHLET_ALPHA).sum();
                let scale = 1.0 / exp_digamma(sum);
                for (numbers, &target) in entries.iter_mut().zip(targets) {
                    numbers[FORWARD] = exp_digamma(numbers[FORWARD] + DIRICHLET_ALPHA) * scale;
                    numbers[REVERSE] = exp_digamma(numbers[REVERSE] + DIRICHLET_ALPHA)
                        * target_scales[target as usize];
                }
            }
        });
        for row in &mut self.null {
            // Words of no aligned pair have no entry; their values are never read.
            let sum: f64 = row.iter().map(|count| count + DIRICHLET_ALPHA).sum();
            let scale = 1.0 / exp_digamma(sum);
            row.iter_mut()
                .for_each(|number| *number = exp_digamma(*number + DIRICHLET_ALPHA) * scale);
        }
    }
}
