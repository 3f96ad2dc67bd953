//! The diagonal prior of IBM model 2 (Dyer, Chahuneau and Smith 2013): output `j` of `m` is
//! explained by state `i` of `n` (a position of the other sentence) with a probability proportional
//! to exp(-tension |i/n - j/m|), or by the null word with a fixed probability.
//!
//! Results must equal those of fast_align, so two of its quirks are kept. It measures the distance
//! from the diagonal with outputs counted from 0, although they are counted from 1 elsewhere. And
//! the derivative that it compares with this distance is divided by a normaliser in which `m` and
//! `n` are exchanged. Without these quirks the tension differs, and so does one link in a few
//! hundred.
//!
//! Inner loops need no exponential: exp(-t|x - y|) is the smaller of exp(t(x - y)) and
//! exp(t(y - x)). Each of these is the product of two factors, one of which depends only on the
//! state and the other only on the output.

use std::collections::BTreeMap;

use miriam_storage::parallel;

use crate::directed_pair::{DirectedPair, EStepStatistics, LANES};
use crate::ibm2_options::Ibm2Options;

/// The range that the M step keeps the tension in.
const TENSION_RANGE: std::ops::RangeInclusive<f64> = 0.1..=14.0;
/// The number of steps of gradient ascent in an M step.
const GRADIENT_STEPS: usize = 8;
/// The factor of the gradient in a step.
const LEARNING_RATE: f64 = 20.0;
/// Products that are smaller than the largest by at most this share of it are computed again by the
/// formula of the paper.
const TIE_TOLERANCE: f64 = 1e-9;

/// The number of sentence pairs in the text for each pair of lengths (outputs, states).
pub(crate) type LengthPairCounts = BTreeMap<(u32, u32), u64>;

/// The diagonal prior of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DiagonalPrior {
    /// The strength of the preference for states near the diagonal; 0 without a diagonal.
    pub tension: f64,
    /// Whether there is a diagonal. Without it, each state and the null word are equally likely, as
    /// in IBM model 1.
    diagonal: bool,
    /// The probability of the null word, if there is a diagonal.
    null_probability: f64,
    /// Whether there is a null word.
    null_word: bool,
}

impl Default for DiagonalPrior {
    fn default() -> Self {
        DiagonalPrior::new(&Ibm2Options::default())
    }
}

/// A worker's buffers, kept from sentence to sentence.
#[derive(Default)]
pub(crate) struct DiagonalScratch {
    /// exp(tension i/n) and exp(-tension i/n) for each state, zero after the last.
    exp_up: Vec<f64>,
    exp_down: Vec<f64>,
    /// i/n for each state.
    relative_position: Vec<f64>,
    /// Translation times prior.
    products: Vec<f64>,
}

impl DiagonalPrior {
    /// Returns the prior that training starts from.
    pub fn new(options: &Ibm2Options) -> Self {
        let &Ibm2Options { diagonal, tension, null_probability, null_word, .. } = options;
        let tension = if diagonal { tension } else { 0.0 };
        DiagonalPrior { tension, diagonal, null_probability, null_word }
    }

    /// Returns the default prior with another tension.
    pub fn with_tension(tension: f64) -> Self {
        DiagonalPrior { tension, ..DiagonalPrior::default() }
    }

    /// Returns the probability of the null word, and of all `n` states together.
    fn masses(&self, n: f64) -> (f64, f64) {
        let (null, states) = if self.diagonal {
            (self.null_probability, 1.0 - self.null_probability)
        } else {
            let each = 1.0 / (n + f64::from(u8::from(self.null_word)));
            (each, n * each)
        };
        (if self.null_word { null } else { 0.0 }, states)
    }

    /// Returns the divisor of [`DiagonalPrior::weight`] for output `j` of `m` among `n` states.
    fn divisor(&self, j: u32, m: u32, n: u32) -> f64 {
        if self.diagonal {
            self.normalizer(j, m, n) / (1.0 - self.null_probability)
        } else {
            f64::from(n + u32::from(self.null_word))
        }
    }

    fn prepare(&self, view: &DirectedPair, scratch: &mut DiagonalScratch) {
        let n = view.num_states as f64;
        let DiagonalScratch { exp_up: up, exp_down: down, relative_position: relative, products } =
            scratch;
        for list in [&mut *up, down, relative, products] {
            list.clear();
            list.resize(view.stride, 0.0);
        }
        for i in 0..view.num_states {
            let at = (i + 1) as f64 / n;
            relative[i] = at;
            up[i] = (self.tension * at).exp();
            down[i] = 1.0 / up[i];
        }
    }

    /// Performs the E step of a sentence pair: adds the posteriors of every output to `view` and
    /// the other statistics to `sums`.
    pub fn e_step(
        &self,
        view: &mut DirectedPair,
        scratch: &mut DiagonalScratch,
        sums: &mut EStepStatistics,
    ) {
        self.prepare(view, scratch);
        let (m, stride) = (view.outputs.len() as f64, view.stride);
        let (null_mass, state_mass) = self.masses(view.num_states as f64);
        // A product of likelihoods; its logarithm is taken before it can underflow.
        let mut likelihood = 1.0;
        for (j, &output) in view.outputs.iter().enumerate() {
            let output = usize::from(output);
            let row = output * stride..(output + 1) * stride;
            let at = self.tension * (j + 1) as f64 / m;
            let measured_at = j as f64 / m;
            let (falling, rising) = ((-at).exp(), at.exp());
            let (mut prior, mut sum, mut distance) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            let translation = view.translation[row.clone()].as_chunks::<LANES>().0;
            let up = scratch.exp_up.as_chunks::<LANES>().0;
            let down = scratch.exp_down.as_chunks::<LANES>().0;
            let relative = scratch.relative_position.as_chunks::<LANES>().0;
            let products = scratch.products.as_chunks_mut::<LANES>().0;
            for ((((translation, up), down), relative), products) in
                translation.iter().zip(up).zip(down).zip(relative).zip(products)
            {
                for lane in 0..LANES {
                    let (below, above) = (up[lane] * falling, down[lane] * rising);
                    let weight = if below < above { below } else { above };
                    let product = translation[lane] * weight;
                    prior[lane] += weight;
                    sum[lane] += product;
                    distance[lane] += product * (relative[lane] - measured_at).abs();
                    products[lane] = product;
                }
            }
            fn total(lanes: [f64; LANES]) -> f64 {
                (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
            }
            let scale = state_mass / total(prior);
            let null = view.null_translation[output] * null_mass;
            let explained = null + scale * total(sum);
            // A probability may be too small for an f64. Then nothing explains the output.
            let divisor = if explained == 0.0 { 1.0 } else { explained };
            let share = scale / divisor;
            sums.diagonal_distance -= total(distance) * share;
            let posterior = &mut view.posterior[row];
            for (posterior, product) in posterior.iter_mut().zip(&scratch.products) {
                *posterior += product * share;
            }
            let null = null / divisor;
            view.null_posterior[output] += null;
            sums.null_count += null;
            likelihood *= explained;
            if likelihood < 1e-200 {
                sums.ln_likelihood += likelihood.ln();
                likelihood = 1.0;
            }
        }
        sums.ln_likelihood += likelihood.ln();
        sums.output_count += m;
    }

    /// Writes the best state of each output, `None` for the null word, to `best`. Ties go to the
    /// null word, then to the first state.
    pub fn decode(
        &self,
        view: &DirectedPair,
        scratch: &mut DiagonalScratch,
        best: &mut Vec<Option<u16>>,
    ) {
        self.prepare(view, scratch);
        best.clear();
        let (m, n) = (view.outputs.len() as u32, view.num_states as u32);
        let (null_mass, _) = self.masses(f64::from(n));
        for (j, &output) in view.outputs.iter().enumerate() {
            let output = usize::from(output);
            let translation = &view.translation[output * view.stride..][..view.num_states];
            let at = self.tension * (j + 1) as f64 / f64::from(m);
            let (falling, rising) = ((-at).exp(), at.exp());
            let mut largest = 0.0;
            let factors = scratch.exp_up.iter().zip(&scratch.exp_down);
            for ((product, translation), (up, down)) in
                scratch.products.iter_mut().zip(translation).zip(factors)
            {
                let (below, above) = (up * falling, down * rising);
                *product = translation * if below < above { below } else { above };
                largest = if *product > largest { *product } else { largest };
            }
            let divisor = self.divisor(j as u32 + 1, m, n);
            // Without a null word any state is better than none.
            let null =
                if self.null_word { view.null_translation[output] * null_mass } else { -1.0 };
            let mut winner = (null, None);
            for (i, &product) in scratch.products[..view.num_states].iter().enumerate() {
                if product >= largest * (1.0 - TIE_TOLERANCE) {
                    let prior = self.weight(j as u32 + 1, i as u32 + 1, m, n) / divisor;
                    let exact = translation[i] * prior;
                    if exact > winner.0 {
                        winner = (exact, Some(i as u16));
                    }
                }
            }
            best.push(winner.1);
        }
    }

    /// Computes ln p(outputs | states), added in fast_align's order.
    pub fn ln_likelihood(&self, view: &DirectedPair) -> f64 {
        let (m, n) = (view.outputs.len() as u32, view.num_states as u32);
        let (null_mass, _) = self.masses(f64::from(n));
        let outputs = view.outputs.iter().zip(1..);
        let probabilities = outputs.map(|(&output, j)| {
            let output = usize::from(output);
            let translation = &view.translation[output * view.stride..][..view.num_states];
            let divisor = self.divisor(j, m, n);
            let null = view.null_translation[output] * null_mass;
            translation.iter().zip(1..).fold(null, |sum, (translation, i)| {
                sum + translation * (self.weight(j, i, m, n) / divisor)
            })
        });
        probabilities.map(f64::ln).sum()
    }

    /// Returns the prior of the null word for output `j` of `m`, and a function from state `i` of
    /// `n` to its prior. `i` and `j` count from 1.
    pub fn position_probabilities(&self, j: u32, m: u32, n: u32) -> (f64, impl Fn(u32) -> f64) {
        let (null_mass, _) = self.masses(f64::from(n));
        let divisor = self.divisor(j, m, n);
        (null_mass, move |i| self.weight(j, i, m, n) / divisor)
    }

    /// Computes exp(-tension |i/n - j/m|) of output `j` of `m` and state `i` of `n`, which count
    /// from 1.
    fn weight(&self, j: u32, i: u32, m: u32, n: u32) -> f64 {
        (feature(j, i, m, n) * self.tension).exp()
    }

    /// Returns the sum of an output's weights over all states: two geometric series.
    fn normalizer(&self, j: u32, m: u32, n: u32) -> f64 {
        let ratio = (-self.tension / f64::from(n)).exp();
        let (below, above) = split_at_diagonal(j, m, n);
        let series = |first: u32, terms: u32| match terms {
            0 => 0.0,
            _ => self.weight(j, first, m, n) * (1.0 - ratio.powf(f64::from(terms))) / (1.0 - ratio),
        };
        series(below, below) + series(below + 1, above)
    }

    /// Computes fast_align's derivative of the logarithm of the normaliser.
    fn log_normalizer_derivative(&self, j: u32, m: u32, n: u32) -> f64 {
        let ratio = (-self.tension / f64::from(n)).exp();
        let step = -1.0 / f64::from(n);
        let (below, above) = split_at_diagonal(j, m, n);
        // The sum of (a + k step) times (g ratio^k) for k < terms.
        let series = |first: u32, terms: u32| {
            if terms == 0 {
                return 0.0;
            }
            let (a, g) = (feature(j, first, m, n), self.weight(j, first, m, n));
            let next = g * ratio.powf(f64::from(terms));
            let last = step * f64::from(terms - 1) + a;
            let down = ratio - 1.0;
            (last * next - a * g) / down - step * (next - g * ratio) / (down * down)
        };
        // fast_align exchanges the lengths in this normaliser only.
        (series(below, below) + series(below + 1, above)) / self.normalizer(j, n, m)
    }

    /// Performs the M step: moves the tension so that the mean distance that the model expects
    /// comes nearer to the one measured in the text. Both are negated here, as in `feature`.
    pub fn m_step(&mut self, sums: &EStepStatistics, sizes: &LengthPairCounts) {
        let measured = sums.diagonal_distance / sums.output_count;
        let sizes: Vec<(u32, u32, f64)> =
            sizes.iter().map(|(&(m, n), &count)| (m, n, count as f64)).collect();
        for _ in 0..GRADIENT_STEPS {
            let slopes: Vec<f64> = parallel::map_tasks(sizes.len(), &|at| {
                let (m, n, count) = sizes[at];
                (1..=m).map(|j| count * self.log_normalizer_derivative(j, m, n)).sum()
            });
            let expected = slopes.iter().sum::<f64>() / sums.output_count;
            let moved = self.tension + (measured - expected) * LEARNING_RATE;
            self.tension = moved.clamp(*TENSION_RANGE.start(), *TENSION_RANGE.end());
        }
    }
}

/// Computes -|i/n - j/m|.
fn feature(j: u32, i: u32, m: u32, n: u32) -> f64 {
    -(f64::from(i) / f64::from(n) - f64::from(j) / f64::from(m)).abs()
}

/// Returns how many states are on or below the diagonal, and how many are above it.
fn split_at_diagonal(j: u32, m: u32, n: u32) -> (u32, u32) {
    let below = (f64::from(j) * f64::from(n) / f64::from(m)) as u32;
    // With exchanged lengths the diagonal may be beyond the last state; fast_align's
    // unsigned difference then wraps around to a practically infinite series.
    (below, n.wrapping_sub(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normalizer_is_the_sum_of_the_weights() {
        for tension in [0.1, 4.0, 14.0] {
            let prior = DiagonalPrior::with_tension(tension);
            for (m, n) in [(1, 1), (3, 7), (7, 3), (20, 20), (1, 50)] {
                for j in 1..=m {
                    let sum: f64 = (1..=n).map(|i| prior.weight(j, i, m, n)).sum();
                    let closed = prior.normalizer(j, m, n);
                    assert!((sum - closed).abs() < 1e-9 * sum, "{tension} {j} {m} {n}");
                }
            }
        }
    }

    /// Probabilities are too small for an f64 if a prior is small and a sentence long.
    #[test]
    fn an_output_without_probability_has_no_posterior() {
        let mut view = DirectedPair::default();
        view.reset(&[0, 1], 2, 2);
        view.translation[LANES..LANES + 2].copy_from_slice(&[0.5, 0.5]);
        let (mut scratch, mut sums) = (DiagonalScratch::default(), EStepStatistics::default());
        DiagonalPrior::default().e_step(&mut view, &mut scratch, &mut sums);
        assert!(view.posterior[..LANES].iter().all(|&posterior| posterior == 0.0));
        let sum: f64 = view.posterior[LANES..].iter().sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        assert_eq!(view.null_posterior, [0.0, 0.0]);
        assert_eq!((sums.ln_likelihood, sums.null_count), (f64::NEG_INFINITY, 0.0));
        assert!(sums.diagonal_distance.is_finite());
    }

    #[test]
    fn the_derivative_is_that_of_the_normalizer_for_equal_lengths() {
        // With m = n the exchange of lengths changes nothing.
        let (n, step) = (9, 1e-6);
        for j in 1..=n {
            let ln = |tension| DiagonalPrior::with_tension(tension).normalizer(j, n, n).ln();
            let numeric = (ln(4.0 + step) - ln(4.0 - step)) / (2.0 * step);
            let slope = DiagonalPrior::with_tension(4.0).log_normalizer_derivative(j, n, n);
            assert!((slope - numeric).abs() < 1e-7, "{j}: {slope} {numeric}");
        }
    }
}
