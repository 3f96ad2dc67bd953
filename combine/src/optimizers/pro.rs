//! Pairwise ranked optimisation (Hopkins and May 2011): tuning as classification.
//!
//! Pairs of translations of a line are drawn at random. Among the pairs whose BLEU differs clearly,
//! those that differ most are kept. A logistic regression learns from the differences of the
//! component values which translation of a pair is better. The weights of the regression are the
//! weights of the components. Every iteration draws from the lists of all iterations so far.
//!
//! BLEU of a line adds one to the matches and totals of the orders above 1 (Lin and Och 2004). The
//! regression is solved by Newton's method with an L2 prior. There are few components, so a step is
//! cheap, and a handful of steps reaches the minimum. The order of the pairs does not matter.

use miriam_metrics::bleu::MAX_NGRAM_ORDER;
use miriam_storage::random::SplitMix64;

use super::n_best_lists::{BleuStatistics, NBestList, NBestLists};
use super::{WeightScale, derive_seed};

/// The number of pairs that are drawn for a line.
const DRAWN_PAIRS: usize = 5000;
/// The largest number of pairs that are kept for a line.
const KEPT_PAIRS: usize = 50;
/// The smallest difference in BLEU, from 0 to 1, of a pair that is kept.
const MIN_DIFFERENCE: f64 = 0.05;
/// The strength of the prior that keeps weights small.
const PRIOR: f64 = 1.0;
/// If the fixed score gets a weight below this, the pairs contradict it. They then say nothing
/// about the other weights.
const MIN_FIXED_WEIGHT: f64 = 1e-3;
/// The largest number of steps of Newton's method.
const MAX_STEPS: usize = 50;
/// The regression ends when no weight moves by more than this.
const TOLERANCE: f64 = 1e-9;

/// Returns weights that rank the better translation of pairs of `lists` first, starting from
/// `start`. Returns `start` if no pair differs enough, or if the pairs contradict the fixed score.
pub(super) fn optimize(
    lists: &NBestLists,
    scale: WeightScale,
    start: &[f64],
    seed: u64,
) -> Vec<f64> {
    let width = lists.num_components + usize::from(scale.has_fixed_scores());
    let mut pairs = RankedPairs { width, ..RankedPairs::default() };
    for (number, list) in (0..).zip(&lists.lines) {
        pairs.draw(list, scale, &mut SplitMix64::new(derive_seed(seed, number)));
    }
    if pairs.len() == 0 {
        return start.to_vec();
    }
    let mut weights = start.to_vec();
    weights.resize(width, 1.0);
    let mut weights = pairs.fit(weights);
    if scale.has_fixed_scores() {
        // The regression has a scale of its own, in which the fixed score has a weight, too.
        let fixed = weights.pop().unwrap_or_default();
        if fixed < MIN_FIXED_WEIGHT {
            return start.to_vec();
        }
        weights.iter_mut().for_each(|weight| *weight /= fixed);
    }
    scale.after_step(weights)
}

/// Returns BLEU of one translation, from 0 to 1, with one added to the counts of orders above 1.
fn smoothed_bleu(statistics: &BleuStatistics) -> f64 {
    let counts = statistics.to_counts();
    if counts.hypothesis_len == 0 || counts.matches[0] == 0 {
        return 0.0;
    }
    let mut log_precision = 0.0;
    for n in 0..MAX_NGRAM_ORDER {
        let added = if n == 0 { 0.0 } else { 1.0 };
        let (matches, total) = (counts.matches[n] as f64 + added, counts.totals[n] as f64 + added);
        log_precision += (matches / total).ln() / MAX_NGRAM_ORDER as f64;
    }
    let (length, reference) = (counts.hypothesis_len as f64, counts.reference_len as f64);
    (log_precision + (1.0 - reference / length).min(0.0)).exp()
}

/// Pairs of translations, as the values of the better one minus the values of the other.
#[derive(Default)]
struct RankedPairs {
    /// The number of differences of a pair: one for each tuned component, and one for the fixed
    /// score if its weight is searched, too.
    width: usize,
    /// One row of `width` differences per pair.
    differences: Vec<f64>,
    /// The difference in the fixed score of each pair; 0 if the weight of the fixed score is
    /// searched.
    offsets: Vec<f64>,
}

impl RankedPairs {
    fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Adds pairs of the translations in `list`.
    fn draw(&mut self, list: &NBestList, scale: WeightScale, random: &mut SplitMix64) {
        if list.len() < 2 {
            return;
        }
        let bleu: Vec<f64> = list.statistics.iter().map(smoothed_bleu).collect();
        let mut kept: Vec<(f64, usize, usize)> = Vec::new();
        for _ in 0..DRAWN_PAIRS {
            let [a, b] = [(); 2].map(|()| random.below(list.len() as u64) as usize);
            let difference = bleu[a] - bleu[b];
            let (better, worse) = if difference > 0.0 { (a, b) } else { (b, a) };
            if difference.abs() >= MIN_DIFFERENCE {
                kept.push((difference.abs(), better, worse));
            }
        }
        // Pairs of equal differences stay in the order in which they were drawn.
        kept.sort_by(|a, b| b.0.total_cmp(&a.0));
        for &(_, better, worse) in kept.iter().take(KEPT_PAIRS) {
            let width = self.width - usize::from(scale.has_fixed_scores());
            let [better_row, worse_row] = [better, worse].map(|i| list.row(i, width));
            let differences = better_row.iter().zip(worse_row);
            self.differences.extend(differences.map(|(b, w)| f64::from(*b) - f64::from(*w)));
            let [better_fixed, worse_fixed] =
                [better, worse].map(|i| f64::from(scale.fixed_score(list.fixed_scores[i])));
            let fixed = better_fixed - worse_fixed;
            if scale.has_fixed_scores() {
                self.differences.push(fixed);
                self.offsets.push(0.0);
            } else {
                self.offsets.push(fixed);
            }
        }
    }

    /// Returns the differences of each pair with its margin: how far the better translation is
    /// ahead.
    fn margins<'a>(&'a self, weights: &'a [f64]) -> impl Iterator<Item = (&'a [f64], f64)> {
        self.differences.chunks_exact(self.width).zip(&self.offsets).map(move |(row, offset)| {
            let score: f64 = row.iter().zip(weights).map(|(value, weight)| value * weight).sum();
            (row, offset + score)
        })
    }

    /// Returns the negative log-likelihood of all pairs and of the prior.
    fn loss(&self, weights: &[f64]) -> f64 {
        let prior: f64 = weights.iter().map(|weight| PRIOR / 2.0 * weight * weight).sum();
        // ln(1 + e^-m) without overflow.
        prior
            + self
                .margins(weights)
                .map(|(_, margin)| (-margin).max(0.0) + (-margin.abs()).exp().ln_1p())
                .sum::<f64>()
    }

    /// Returns the weights with the least loss.
    fn fit(&self, mut weights: Vec<f64>) -> Vec<f64> {
        let width = self.width;
        for _ in 0..MAX_STEPS {
            let mut gradient: Vec<f64> = weights.iter().map(|weight| PRIOR * weight).collect();
            let mut curvature = vec![0.0; width * width];
            (0..width).for_each(|i| curvature[i * width + i] = PRIOR);
            for (row, margin) in self.margins(&weights) {
                let error = 1.0 / (1.0 + margin.exp());
                let spread = error * (1.0 - error);
                for i in 0..width {
                    gradient[i] -= error * row[i];
                    for j in 0..=i {
                        curvature[i * width + j] += spread * row[i] * row[j];
                    }
                }
            }
            let step = solve_positive_definite(curvature, gradient);
            let loss = self.loss(&weights);
            // Far from the minimum a whole step may go too far, so it is halved until the loss does
            // not grow.
            let scales = std::iter::successors(Some(1.0), |scale| Some(scale / 2.0)).take(30);
            let Some(next) = scales
                .map(|scale: f64| -> Vec<f64> {
                    weights.iter().zip(&step).map(|(weight, step)| weight - scale * step).collect()
                })
                .find(|next| self.loss(next) <= loss)
            else {
                break;
            };
            let moved = next.iter().zip(&weights).map(|(new, old)| (new - old).abs());
            let largest = moved.fold(0.0, f64::max);
            weights = next;
            if largest < TOLERANCE {
                break;
            }
        }
        weights
    }
}

/// Solves `matrix` x = `vector` by Cholesky's decomposition. The matrix is symmetric and positive
/// definite; only its lower triangle is read.
fn solve_positive_definite(mut matrix: Vec<f64>, mut vector: Vec<f64>) -> Vec<f64> {
    let width = vector.len();
    for i in 0..width {
        for j in 0..=i {
            let products: f64 = (0..j).map(|k| matrix[i * width + k] * matrix[j * width + k]).sum();
            let rest = matrix[i * width + j] - products;
            matrix[i * width + j] = if i == j { rest.sqrt() } else { rest / matrix[j * width + j] };
        }
        let known: f64 = (0..i).map(|k| matrix[i * width + k] * vector[k]).sum();
        vector[i] = (vector[i] - known) / matrix[i * width + i];
    }
    for i in (0..width).rev() {
        let known: f64 = (i + 1..width).map(|k| matrix[k * width + i] * vector[k]).sum();
        vector[i] = (vector[i] - known) / matrix[i * width + i];
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::super::l1_normalized;
    use super::super::test_lists::correlated_lists;
    use super::*;

    fn statistics(length: u32, reference_length: u32, matches: [u32; 4]) -> BleuStatistics {
        BleuStatistics { length, reference_length, matches }
    }

    /// The precisions are 3/4, (1+1)/(3+1), (0+1)/(2+1) and (0+1)/(1+1), and the brevity penalty is
    /// exp(1 - 5/4).
    #[test]
    fn bleu_of_a_line_is_smoothed() {
        let expected = (0.75f64 * 0.5 / 3.0 * 0.5).powf(0.25) * (-0.25f64).exp();
        assert!((smoothed_bleu(&statistics(4, 5, [3, 1, 0, 0])) - expected).abs() < 1e-12);
        assert_eq!(smoothed_bleu(&statistics(4, 4, [4, 3, 2, 1])), 1.0);
        assert_eq!(smoothed_bleu(&statistics(4, 4, [0; 4])), 0.0);
        assert_eq!(smoothed_bleu(&statistics(0, 4, [0; 4])), 0.0);
    }

    #[test]
    fn equations_are_solved() {
        // [[4, 2], [2, 5]] x = [8, 12] has the solution [1, 2].
        let x = solve_positive_definite(vec![4.0, 0.0, 2.0, 5.0], vec![8.0, 12.0]);
        assert!((x[0] - 1.0).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12, "{x:?}");
    }

    /// Ten pairs with difference 1: at the minimum the gradient w - 10 / (1 + e^w) is 0. A fixed
    /// score moves the logistic function, and pairs that contradict each other give weight 0.
    #[test]
    fn the_regression_is_at_its_minimum() {
        let pairs = |differences: Vec<f64>, fixed: f64| {
            let offsets = vec![fixed; differences.len()];
            RankedPairs { width: 1, differences, offsets }
        };
        for fixed in [0.0, 2.0, -3.0] {
            let weight = pairs(vec![1.0; 10], fixed).fit(vec![-5.0])[0];
            let gradient = weight - 10.0 / (1.0 + (weight + fixed).exp());
            assert!(gradient.abs() < 1e-6, "{fixed}: {weight}, {gradient}");
        }
        assert!(pairs(vec![1.0, -1.0], 0.0).fit(vec![3.0])[0].abs() < 1e-9);
    }

    #[test]
    fn finds_the_values_that_correlate_with_bleu() {
        let lists = correlated_lists();
        let start = l1_normalized(vec![-1.0, 1.0, 1.0]);
        let scale = WeightScale::new(&lists, &start, false);
        let found = optimize(&lists, scale, &start, 5);
        assert!(found[0] > 0.0 && found[2] < 0.0, "{found:?}");
        let magnitudes: f64 = found.iter().map(|weight| weight.abs()).sum();
        assert!((magnitudes - 1.0).abs() < 1e-9, "{found:?}");
        // The first translation of each list has the best BLEU.
        let is_first_best = |list: &&NBestList| {
            let score = |i: usize| -> f64 {
                list.row(i, 3).iter().zip(&found).map(|(v, w)| f64::from(*v) * w).sum()
            };
            (1..list.len()).all(|i| score(0) > score(i))
        };
        assert!(lists.lines.iter().filter(is_first_best).count() >= 57);
        assert_ne!(optimize(&lists, scale, &found, 6), found, "another seed draws other pairs");
    }

    #[test]
    fn lists_without_a_choice_keep_the_weights() {
        let mut lists = NBestLists::new(1, 1);
        let mut list = NBestList::default();
        list.push([1.0].into_iter(), 0.0, statistics(4, 4, [4, 3, 2, 1]));
        list.push([2.0].into_iter(), 0.0, statistics(4, 4, [4, 3, 2, 1]));
        lists.merge(vec![list]);
        let scale = WeightScale::new(&lists, &[0.25], false);
        assert_eq!(optimize(&lists, scale, &[0.25], 1), [0.25]);
    }
}
