//! The scale of the weights that optimisers search.
//!
//! Where every weight is tuned, the ranking of translations does not depend on the scale, so the
//! magnitudes of the weights sum to 1 after each step. Fixed weights have a meaning only in
//! relation to the others. Where they distinguish translations, the search is in units of the
//! start's magnitude, and keeps the scale that it reaches.

use super::n_best_lists::NBestLists;

/// The scale of the weights in a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightScale {
    /// The sum of the start's magnitudes if fixed scores distinguish translations; `None` if
    /// weights of any scale are equivalent.
    unit: Option<f64>,
}

impl WeightScale {
    /// Returns the scale for a search over `lists` that begins with `start`.
    pub fn new(lists: &NBestLists, start: &[f64]) -> Self {
        let differ = lists.lines.iter().any(|list| {
            list.fixed_scores.iter().any(|score| score.to_bits() != list.fixed_scores[0].to_bits())
        });
        let sum: f64 = start.iter().map(|weight| weight.abs()).sum();
        let unit = if sum > 0.0 && sum.is_finite() { sum } else { 1.0 };
        WeightScale { unit: differ.then_some(unit) }
    }

    /// Returns `weights` as they are in the search.
    pub fn scale_down(self, weights: &[f64]) -> Vec<f64> {
        match self.unit {
            Some(unit) => weights.iter().map(|weight| weight / unit).collect(),
            None => l1_normalized(weights.to_vec()),
        }
    }

    /// Returns weights of the search as callers know them.
    pub fn scale_up(self, mut weights: Vec<f64>) -> Vec<f64> {
        let unit = self.unit.unwrap_or(1.0);
        weights.iter_mut().for_each(|weight| *weight *= unit);
        weights
    }

    /// Returns weights after a step of the search.
    pub fn after_step(self, weights: Vec<f64>) -> Vec<f64> {
        if self.unit.is_some() { weights } else { l1_normalized(weights) }
    }

    /// Returns a fixed score as it is in the search.
    pub fn fixed_score(self, score: f32) -> f32 {
        self.unit.map_or(score, |unit| (f64::from(score) / unit) as f32)
    }
}

/// Returns weights scaled so that their magnitudes sum to 1; equal weights if all are 0.
pub fn l1_normalized(mut weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().map(|weight| weight.abs()).sum();
    if sum > 0.0 && sum.is_finite() {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    } else {
        let count = weights.len() as f64;
        weights.fill(1.0 / count);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::super::test_lists::lists_with_a_fixed_score;
    use super::super::{NBestLists, TuningAlgorithm};

    /// BLEU of the translations that rank first with these weights.
    fn bleu(lists: &NBestLists, weights: &[f64]) -> f64 {
        let mut counts = miriam_metrics::bleu::BleuCounts::default();
        for list in &lists.lines {
            let score = |i: &usize| -> f64 {
                let row = list.row(*i, lists.num_components).iter().zip(weights);
                f64::from(list.fixed_scores[*i]) + row.map(|(v, w)| f64::from(*v) * w).sum::<f64>()
            };
            let best = (0..list.len()).max_by(|a, b| score(a).total_cmp(&score(b))).unwrap();
            counts += list.statistics[best].to_counts();
        }
        counts.bleu()
    }

    #[test]
    fn fixed_weights_keep_their_relation_to_the_others() {
        for scale in [0.1, 1.0, 40.0] {
            let lists = lists_with_a_fixed_score(scale);
            // The fixed score is right, so the start is nearly the best.
            let start = [0.01 * f64::from(scale), 0.03 * f64::from(scale)];
            let before = bleu(&lists, &start);
            for method in [TuningAlgorithm::Mert, TuningAlgorithm::Mira, TuningAlgorithm::Pro] {
                let found = method.optimize(&lists, &start, &start, 7, 1);
                let after = bleu(&lists, &found);
                assert!(after > before - 2.0, "{method:?}, {scale}: {before}, {after} {found:?}");
                if method == TuningAlgorithm::Mert {
                    assert!(after >= before, "{scale}: {before}, {after} {found:?}");
                }
            }
        }
    }
}
