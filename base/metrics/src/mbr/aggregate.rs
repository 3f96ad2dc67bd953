//! Utilities against one average reference (Vamvas and Sennrich 2024).
//!
//! The reference has the weighted average count of every n-gram, a real number, so the work is
//! linear in the number of candidates.

use super::PairScorer;
use super::ngrams::ListNgrams;

/// Returns the utility of every candidate against the average of all.
pub(super) fn utilities(list: &ListNgrams, scorer: &dyn PairScorer, weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    let scale = if sum > 0.0 { 1.0 / sum } else { 1.0 };
    let mut average = vec![0.0; list.num_ngrams()];
    let mut totals = vec![0.0; list.num_orders()];
    for (candidate, weight) in weights.iter().enumerate() {
        let share = weight * scale;
        for (order, total) in totals.iter_mut().enumerate() {
            *total += share * f64::from(list.total(candidate, order));
            for entry in list.counts(candidate, order) {
                average[entry.ngram as usize] += share * f64::from(entry.count);
            }
        }
    }
    let mut matches = vec![0.0; list.num_orders()];
    let utilities = (0..weights.len()).map(|candidate| {
        for (order, sum) in matches.iter_mut().enumerate() {
            let counts = list.counts(candidate, order).iter();
            *sum = counts.map(|e| f64::from(e.count).min(average[e.ngram as usize])).sum();
        }
        scorer.score_totals(candidate, &matches, &totals)
    });
    utilities.collect()
}
