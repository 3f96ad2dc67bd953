//! The scale of the weights that optimisers search.
//!
//! If all weights are tuned, the ranking of translations does not depend on the scale, so the
//! magnitudes of the weights sum to 1 after each step. Fixed weights have a meaning only in
//! relation to the others. If there are fixed weights, the search divides the others by the sum of
//! their magnitudes at the start, and multiplies the result by it. If fixed scores distinguish
//! translations, the weights are not normalised after a step, so their scale can change.

use super::n_best_lists::NBestLists;

/// The scale of the weights in a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightScale {
    /// The sum of the magnitudes of the weights at the start; 1 without fixed weights.
    unit: f64,
    /// Whether fixed scores distinguish translations, so that the scale cannot be chosen.
    has_fixed_scores: bool,
}

impl WeightScale {
    /// Returns the scale for a search over `lists` that begins with `start`. `has_fixed`: whether
    /// there are other weights, which are fixed.
    pub fn new(lists: &NBestLists, start: &[f64], has_fixed: bool) -> Self {
        let differs = |scores: &[f32]| scores.windows(2).any(|pair| pair[0] != pair[1]);
        let has_fixed_scores =
            has_fixed && lists.lines.iter().any(|list| differs(&list.fixed_scores));
        let sum: f64 = start.iter().map(|weight| weight.abs()).sum();
        let unit = if has_fixed && sum.is_normal() { sum } else { 1.0 };
        WeightScale { unit, has_fixed_scores }
    }

    /// Whether fixed scores distinguish translations.
    pub fn has_fixed_scores(self) -> bool {
        self.has_fixed_scores
    }

    /// Returns `weights` in the scale of the search.
    pub fn scale_down(self, weights: &[f64]) -> Vec<f64> {
        self.after_step(weights.iter().map(|weight| weight / self.unit).collect())
    }

    /// Returns weights of the search in the scale of callers.
    pub fn scale_up(self, mut weights: Vec<f64>) -> Vec<f64> {
        weights.iter_mut().for_each(|weight| *weight *= self.unit);
        weights
    }

    /// Returns weights after a step of the search, normalised if their scale does not matter.
    pub fn after_step(self, weights: Vec<f64>) -> Vec<f64> {
        if self.has_fixed_scores { weights } else { l1_normalized(weights) }
    }

    /// Returns a fixed score in the scale of the search.
    pub fn fixed_score(self, score: f32) -> f32 {
        if self.has_fixed_scores { (f64::from(score) / self.unit) as f32 } else { score }
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
    use super::super::test_lists::{correlated_lists, lists_with_a_fixed_score};
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

    const METHODS: [TuningAlgorithm; 3] =
        [TuningAlgorithm::Mert, TuningAlgorithm::Mira, TuningAlgorithm::Pro];

    #[test]
    fn fixed_weights_keep_their_relation_to_the_others() {
        for scale in [0.1, 1.0, 40.0] {
            let lists = lists_with_a_fixed_score(scale);
            // The fixed score correlates with BLEU, so the start is nearly the best.
            let start = [0.01 * f64::from(scale), 0.03 * f64::from(scale)];
            let before = bleu(&lists, &start);
            for method in METHODS {
                let found = method.optimize(&lists, &start, &start, true, 7, 1);
                let after = bleu(&lists, &found);
                assert!(after >= before - 0.5, "{method:?}, {scale}: {before}, {after} {found:?}");
                if method == TuningAlgorithm::Mert {
                    assert!(after >= before, "{scale}: {before}, {after} {found:?}");
                }
            }
        }
    }

    /// With fixed weights that do not yet distinguish translations, the result keeps the sum of
    /// magnitudes of the start, 6. Without fixed weights, the sum is 1.
    #[test]
    fn magnitudes_sum_to_one_or_as_at_the_start() {
        let lists = correlated_lists();
        let start = [1.0, 3.0, -2.0];
        for method in METHODS {
            for (has_fixed, expected) in [(false, 1.0), (true, 6.0)] {
                let found = method.optimize(&lists, &start, &start, has_fixed, 7, 1);
                let sum: f64 = found.iter().map(|weight| weight.abs()).sum();
                assert!((sum - expected).abs() < 1e-9, "{method:?}: {found:?}");
            }
        }
    }
}
