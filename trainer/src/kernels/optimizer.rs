//! Optimisers (`docs/spec/training.md` A.2): they compute new values of a part of the flat vector
//! of parameters from its gradient.

use crate::Real;

/// An optimiser, with Marian's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptimizerKind {
    /// `p -= rate * g`.
    Sgd,
    /// `h += g^2; p -= rate * g / (sqrt(h) + epsilon)`.
    Adagrad {
        /// The number added to the root.
        epsilon: f64,
    },
    /// Adam with decoupled weight decay.
    Adam {
        /// The decay rate of the mean of gradients.
        beta1: f64,
        /// The decay rate of the mean of squared gradients.
        beta2: f64,
        /// The number added to the root.
        epsilon: f64,
        /// The decay of weights: a step subtracts this factor times the learning rate times the
        /// parameter.
        weight_decay: f64,
    },
}

impl Default for OptimizerKind {
    fn default() -> Self {
        OptimizerKind::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
    }
}

/// Adam's bias corrections: for each mean, the sum of the weights that gradients have in it so far.
/// With constant betas they equal `1 - beta^t`; they are also right if betas change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BiasCorrections(pub [f64; 2]);

impl BiasCorrections {
    /// Returns the corrections of the next step.
    pub fn advanced(self, beta1: f64, beta2: f64) -> Self {
        let [first, second] = self.0;
        BiasCorrections([beta1 * first + (1.0 - beta1), beta2 * second + (1.0 - beta2)])
    }
}

/// A step of the moving average of parameters (`exponential-smoothing`). The average is validated
/// and saved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothing {
    /// The weight of the newest parameters in this step.
    pub new_weight: f64,
}

impl Smoothing {
    /// Returns the smoothing for an update of `words` words after `updates` earlier updates.
    /// `alpha` applies to an update of `reference` words. As in Marian, earlier updates count as if
    /// they had been as large as this update; their number is converted to whole updates of
    /// `reference` words. After few updates the new parameters weigh more, so that the average
    /// soon forgets the initial ones.
    pub fn new(alpha: f64, updates: u64, words: u64, reference: u64) -> Self {
        let beta = (1.0 - alpha).powf(words as f64 / reference as f64);
        let steps = (updates * words / reference) as f64;
        Smoothing { new_weight: (1.0 - beta).max(1.0 - (steps + 1.0) / (steps + 10.0)) }
    }
}

/// A part of the flat vector of parameters with its optimiser's state. All slices that are used
/// have the same length.
pub struct Shard<'a, R> {
    /// The parameters.
    pub values: &'a mut [R],
    /// The gradient of the update.
    pub gradient: &'a [R],
    /// Adam's mean of gradients; empty for other optimisers.
    pub first: &'a mut [R],
    /// Adam's mean of squared gradients, Adagrad's sum of them; empty for SGD.
    pub second: &'a mut [R],
    /// The moving average; empty without smoothing.
    pub average: &'a mut [R],
}

/// The settings of an optimiser's step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The optimiser.
    pub kind: OptimizerKind,
    /// The learning rate.
    pub rate: f64,
    /// The factor of gradients, from normalisation and clipping.
    pub gradient_scale: f64,
    /// The bias corrections of this step.
    pub bias_corrections: BiasCorrections,
    /// The smoothing of the moving average, if there is one.
    pub smoothing: Option<Smoothing>,
}

impl Step {
    /// Takes this step on a shard.
    ///
    /// # Panics
    /// If the numbers of parameters and of gradients differ.
    pub fn apply<R: Real>(&self, shard: Shard<'_, R>) {
        let Shard { values, gradient, first, second, average } = shard;
        assert_eq!(values.len(), gradient.len(), "one gradient per parameter");
        let (rate, scale) = (R::of(self.rate), R::of(self.gradient_scale));
        match self.kind {
            OptimizerKind::Sgd => {
                for (p, &g) in values.iter_mut().zip(gradient) {
                    *p -= rate * (scale * g);
                }
            }
            OptimizerKind::Adagrad { epsilon } => {
                let epsilon = R::of(epsilon);
                for ((p, &g), h) in values.iter_mut().zip(gradient).zip(second) {
                    let g = scale * g;
                    *h += g * g;
                    *p -= rate / (h.sqrt() + epsilon) * g;
                }
            }
            OptimizerKind::Adam { beta1, beta2, epsilon, weight_decay } => {
                let [d1, d2] = self.bias_corrections.0.map(|d| R::of(1.0 / d));
                let [b1, b2] = [beta1, beta2].map(R::of);
                let [c1, c2] = [1.0 - beta1, 1.0 - beta2].map(R::of);
                let [epsilon, decay] = [epsilon, weight_decay].map(R::of);
                let state = first.iter_mut().zip(second.iter_mut());
                for ((p, &g), (m, v)) in values.iter_mut().zip(gradient).zip(state) {
                    let g = scale * g;
                    *m = b1 * *m + c1 * g;
                    *v = b2 * *v + c2 * (g * g);
                    *p -= rate * (*m * d1 / ((*v * d2).sqrt() + epsilon) + decay * *p);
                }
            }
        }
        if let Some(Smoothing { new_weight }) = self.smoothing {
            let (keep, new_weight) = (R::of(1.0 - new_weight), R::of(new_weight));
            for (average, &p) in average.iter_mut().zip(&*values) {
                *average = keep * *average + new_weight * p;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::kernels::{Fast, Kernels};

    fn step(kind: OptimizerKind, bias_corrections: BiasCorrections) -> Step {
        Step { kind, rate: 0.1, gradient_scale: 2.0, bias_corrections, smoothing: None }
    }

    fn apply(step: Step, values: &mut [f64], state: [&mut [f64]; 2], gradient: &[f64]) {
        let [first, second] = state;
        step.apply(Shard { values, gradient, first, second, average: &mut [] });
    }

    /// Expected values are computed by hand: the scaled gradient is 1, then -2.
    #[test]
    fn rules_follow_their_formulas() {
        let mut p = [1.0];
        apply(
            step(OptimizerKind::Sgd, BiasCorrections::default()),
            &mut p,
            [&mut [], &mut []],
            &[0.5],
        );
        assert!((p[0] - 0.9f64).abs() < 1e-12);

        let (mut p, mut h) = ([1.0], [3.0]);
        let kind = OptimizerKind::Adagrad { epsilon: 0.5 };
        apply(step(kind, BiasCorrections::default()), &mut p, [&mut [], &mut h], &[0.5]);
        assert_eq!(h, [4.0]);
        assert!((p[0] - (1.0 - 0.1 / 2.5f64)).abs() < 1e-12);

        let (mut p, mut m, mut v) = ([1.0], [0.0], [0.0]);
        let kind = OptimizerKind::Adam { beta1: 0.9, beta2: 0.99, epsilon: 0.0, weight_decay: 0.5 };
        let first = BiasCorrections::default().advanced(0.9, 0.99);
        apply(step(kind, first), &mut p, [&mut m, &mut v], &[0.5]);
        // Adam's first step has the sign of the gradient and the size of the rate; weight decay
        // subtracts half of the parameter times the rate.
        assert!((p[0] - (1.0 - 0.1 * 1.5f64)).abs() < 1e-12, "{}", p[0]);
        let second = first.advanced(0.9, 0.99);
        assert!((second.0[0] - (1.0 - 0.81f64)).abs() < 1e-12);
        apply(step(kind, second), &mut p, [&mut m, &mut v], &[-1.0]);
        let mean = (0.9 * 0.1 - 0.1 * 2.0) / 0.19;
        let square: f64 = (0.99 * 0.01 + 0.01 * 4.0) / (1.0 - 0.9801);
        let expected = 0.85 - 0.1 * (mean / square.sqrt() + 0.5 * 0.85);
        assert!((p[0] - expected).abs() < 1e-12, "{} {expected}", p[0]);
    }

    /// Expected weights are derived from the averages that Marian wrote after 1 to 5 updates with
    /// these numbers of words.
    #[test]
    fn large_updates_count_as_several() {
        let words = [272, 280, 326, 317, 332];
        let expected = [0.9, 0.818_181_8, 0.692_307_7, 0.642_857_1, 0.562_5];
        for (updates, (words, expected)) in (0..).zip(words.into_iter().zip(expected)) {
            let decay = Smoothing::new(1e-2, updates, words, 200).new_weight;
            assert!((decay - expected).abs() < 1e-6f64, "{updates}: {decay}");
        }
    }

    #[test]
    fn averages_begin_fast_and_become_slow() {
        let decay = |updates| Smoothing::new(1e-4, updates, 1, 1).new_weight;
        assert!((decay(0) - 0.9f64).abs() < 1e-12);
        assert!((decay(90) - 0.09f64).abs() < 1e-12);
        assert!((decay(1_000_000) - 1e-4f64).abs() < 1e-9);
        let (mut p, mut average) = ([1.0], [3.0]);
        let smoothing = Some(Smoothing { new_weight: 0.25 });
        let step =
            Step { rate: 0.0, smoothing, ..step(OptimizerKind::Sgd, BiasCorrections::default()) };
        let shard = Shard {
            values: &mut p,
            gradient: &[0.0],
            first: &mut [],
            second: &mut [],
            average: &mut average,
        };
        step.apply(shard);
        assert_eq!(average, [2.5]);
    }

    /// Vector kernels agree with the formulas, and give the same bytes with one shard and with
    /// several.
    #[test]
    fn vector_kernels_follow_the_formulas() {
        let kinds = [
            OptimizerKind::Sgd,
            OptimizerKind::Adagrad { epsilon: 1e-3 },
            OptimizerKind::Adam { beta1: 0.9, beta2: 0.98, epsilon: 1e-6, weight_decay: 0.1 },
        ];
        let len = 150;
        let of = |factor: f64| -> Vec<f32> {
            (0..len).map(|index| (f64::from(index) * factor).sin() as f32).collect()
        };
        for kind in kinds {
            for smoothing in [None, Some(Smoothing { new_weight: 0.3 })] {
                let kernels = Fast::default();
                let [mut found, mut cut] = [0, 1].map(|_| {
                    [of(0.7), of(1.1), of(1.3).iter().map(|x| x.abs()).collect(), of(1.9)]
                });
                let mut expected = found
                    .each_ref()
                    .map(|all| all.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>());
                let mut bias_corrections = BiasCorrections::default();
                for factor in [0.3, 0.5, 0.9] {
                    bias_corrections = bias_corrections.advanced(0.9, 0.98);
                    let step = Step { smoothing, ..step(kind, bias_corrections) };
                    let gradient = of(factor);
                    let wide: Vec<f64> = gradient.iter().map(|&x| f64::from(x)).collect();
                    kernels.take_step(&step, shard_of(&mut found, &gradient, 0..150));
                    for part in [0..1, 1..67, 67..150] {
                        let shard = shard_of(&mut cut, &gradient[part.clone()], part);
                        kernels.take_step(&step, shard);
                    }
                    step.apply(shard_of(&mut expected, &wide, 0..150));
                }
                assert_eq!(found, cut, "{kind:?}");
                for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
                    let error = (f64::from(*found) - expected).abs();
                    assert!(error < 2e-6 * expected.abs().max(0.1), "{kind:?}: {found} {expected}");
                }
            }
        }
    }

    fn shard_of<'a, R>(
        [values, first, second, average]: &'a mut [Vec<R>; 4],
        gradient: &'a [R],
        part: Range<usize>,
    ) -> Shard<'a, R> {
        Shard {
            values: &mut values[part.clone()],
            gradient,
            first: &mut first[part.clone()],
            second: &mut second[part.clone()],
            average: &mut average[part],
        }
    }
}
