//! Translation probabilities of both directions, beside the entries of
//! [`Rows`], and what makes them of expected counts.
//!
//! Forward is p(target | source), reverse p(source | target). Both lie side by side,
//! for whoever needs one of them at an entry needs the other next.

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
/// The probability of pairs about which nothing is known, and of all pairs at first.
pub(crate) const UNKNOWN_PROBABILITY: f64 = 1e-9;

/// Numbers of both directions for each entry, and for each word with the null word.
/// They are expected counts first, then probabilities.
pub(crate) struct TranslationTable {
    /// Forward and reverse, an item for each entry of the rows.
    pub entries: Vec<[f64; 2]>,
    /// For the forward direction an item for each target word with the null word, for
    /// the reverse one an item for each source word.
    pub null: [Vec<f64>; 2],
}

impl TranslationTable {
    /// Zeros for these many entries, source words and target words.
    pub fn zeros(entries: usize, source_words: usize, target_words: usize) -> Self {
        TranslationTable {
            entries: vec![[0.0; 2]; entries],
            null: [vec![0.0; target_words], vec![0.0; source_words]],
        }
    }

    /// Sets every number to zero.
    pub fn clear(&mut self) {
        self.entries.par_chunks_mut(1 << 16).for_each(|part| part.fill([0.0; 2]));
        self.null.iter_mut().for_each(|row| row.fill(0.0));
    }

    /// Makes probabilities of expected counts: the mean of a Dirichlet posterior in the
    /// space of logarithms (variational Bayes).
    pub fn normalise(&mut self, rows: &CooccurrenceRows, shares: &[Range<u32>]) {
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
            // Words of no aligned pair have no entry; their numbers are never asked for.
            let sum: f64 = row.iter().map(|count| count + DIRICHLET_ALPHA).sum();
            let scale = 1.0 / exp_digamma(sum);
            row.iter_mut()
                .for_each(|number| *number = exp_digamma(*number + DIRICHLET_ALPHA) * scale);
        }
    }
}
