//! Steps of optimisers over flat vectors of parameters.
//!
//! All of a model's parameters are one vector, as are their gradients and each moment. The speed of
//! a step is limited by memory, so it makes one pass, which can also update the moving average of
//! the parameters. Elements do not depend on each other: a vector may be cut anywhere into shards.

use crate::Cpu;
use crate::isa::{Isa, LANES, dispatch, lane_chunks};

/// The numbers of a step of Adam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// The learning rate.
    pub rate: f32,
    /// The decay of the first moment.
    pub beta1: f32,
    /// The decay of the second moment.
    pub beta2: f32,
    /// The weight of the gradient in the first moment, `1 - beta1`. It is given in addition to
    /// `beta1`, since the difference of two f32 would have a relative error of up to 1e-5.
    pub rest1: f32,
    /// The weight of the squared gradient in the second moment, `1 - beta2`.
    pub rest2: f32,
    /// Added to the root of the second moment.
    pub epsilon: f32,
    /// The decay of the parameters, decoupled from the gradient.
    pub weight_decay: f32,
    /// The bias correction of the first moment, `1 / d1`. `d1` is 0 at first, and each step sets
    /// `d1 = beta1 d1 + 1 - beta1`.
    pub correction1: f32,
    /// The bias correction of the second moment, `1 / d2`. `d2` is 0 at first, and each step sets
    /// `d2 = beta2 d2 + 1 - beta2`.
    pub correction2: f32,
    /// The factor of the gradient, for clipping and normalisation.
    pub gradient_scale: f32,
}

/// A moving average of the parameters, updated after the step:
/// `average = (1 - weight) * average + weight * parameters`.
#[derive(Debug)]
pub struct MovingAverage<'a> {
    /// The average, `[parameters]`.
    pub average: &'a mut [f32],
    /// The weight of the new parameters.
    pub weight: f32,
}

impl MovingAverage<'_> {
    fn check(average: &Option<MovingAverage>, length: usize) {
        assert!(average.as_ref().is_none_or(|average| average.average.len() == length));
    }
}

/// Performs a step of Adam with decoupled weight decay: with `g` the scaled gradient,
/// `m = beta1 m + rest1 g`, `v = beta2 v + rest2 g^2`,
/// `p -= rate (m correction1 / (sqrt(v correction2) + epsilon) + weight_decay p)`. `moments` are m
/// and v; all slices have the same length.
///
/// # Panics
/// If lengths differ.
pub fn adam(
    cpu: Cpu,
    step: AdamStep,
    gradient: &[f32],
    parameters: &mut [f32],
    moments: [&mut [f32]; 2],
    average: Option<MovingAverage>,
) {
    let length = parameters.len();
    assert_eq!((gradient.len(), moments[0].len(), moments[1].len()), (length, length, length));
    MovingAverage::check(&average, length);
    dispatch!(cpu, adam_slices(step, gradient, parameters, moments, average));
}

#[inline(always)]
fn adam_slices<I: Isa>(
    isa: I,
    step: AdamStep,
    gradient: &[f32],
    parameters: &mut [f32],
    [first, second]: [&mut [f32]; 2],
    mut average: Option<MovingAverage>,
) {
    let scale = isa.splat(step.gradient_scale);
    let (beta1, rest1) = (isa.splat(step.beta1), isa.splat(step.rest1));
    let (beta2, rest2) = (isa.splat(step.beta2), isa.splat(step.rest2));
    let (correction1, correction2) = (isa.splat(step.correction1), isa.splat(step.correction2));
    let (epsilon, decay) = (isa.splat(step.epsilon), isa.splat(step.weight_decay));
    let rate = isa.splat(-step.rate);
    for part in lane_chunks(parameters.len()) {
        let g = isa.mul(isa.load_partial(&gradient[part.clone()], 0.0), scale);
        let m = isa.load_partial(&first[part.clone()], 0.0);
        let m = isa.mul_add(beta1, m, isa.mul(rest1, g));
        isa.store_partial(m, &mut first[part.clone()]);
        let v = isa.load_partial(&second[part.clone()], 0.0);
        let v = isa.mul_add(beta2, v, isa.mul(rest2, isa.mul(g, g)));
        isa.store_partial(v, &mut second[part.clone()]);
        let p = isa.load_partial(&parameters[part.clone()], 0.0);
        let deviation = isa.add(isa.sqrt(isa.mul(v, correction2)), epsilon);
        // If epsilon is 0, lanes past the end are 0 / 0; they are not stored.
        let direction = isa.mul_add(decay, p, isa.div(isa.mul(m, correction1), deviation));
        let p = isa.mul_add(rate, direction, p);
        isa.store_partial(p, &mut parameters[part.clone()]);
        if let Some(MovingAverage { average, weight }) = &mut average {
            average_columns(isa, p, *weight, &mut average[part]);
        }
    }
}

/// Performs a step of Adagrad: with `g = gradient_scale * gradient`, `h += g^2`,
/// `p -= rate / (sqrt(h) + epsilon) * g`. All slices have the same length.
///
/// # Panics
/// If lengths differ.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn adagrad(
    cpu: Cpu,
    rate: f32,
    epsilon: f32,
    gradient_scale: f32,
    gradient: &[f32],
    parameters: &mut [f32],
    squares: &mut [f32],
    average: Option<MovingAverage>,
) {
    assert_eq!((gradient.len(), squares.len()), (parameters.len(), parameters.len()));
    MovingAverage::check(&average, parameters.len());
    let numbers = [rate, epsilon, gradient_scale];
    dispatch!(cpu, adagrad_slices(numbers, gradient, parameters, squares, average));
}

#[inline(always)]
fn adagrad_slices<I: Isa>(
    isa: I,
    [rate, epsilon, scale]: [f32; 3],
    gradient: &[f32],
    parameters: &mut [f32],
    squares: &mut [f32],
    mut average: Option<MovingAverage>,
) {
    let (rate, epsilon, scale) = (isa.splat(-rate), isa.splat(epsilon), isa.splat(scale));
    for part in lane_chunks(parameters.len()) {
        let g = isa.mul(isa.load_partial(&gradient[part.clone()], 0.0), scale);
        let h = isa.mul_add(g, g, isa.load_partial(&squares[part.clone()], 0.0));
        isa.store_partial(h, &mut squares[part.clone()]);
        let direction = isa.div(g, isa.add(isa.sqrt(h), epsilon));
        let p = isa.mul_add(rate, direction, isa.load_partial(&parameters[part.clone()], 0.0));
        isa.store_partial(p, &mut parameters[part.clone()]);
        if let Some(MovingAverage { average, weight }) = &mut average {
            average_columns(isa, p, *weight, &mut average[part]);
        }
    }
}

/// Performs a step of stochastic gradient descent: `p -= rate * gradient_scale * gradient`.
///
/// # Panics
/// If lengths differ.
pub fn sgd(
    cpu: Cpu,
    rate: f32,
    gradient_scale: f32,
    gradient: &[f32],
    parameters: &mut [f32],
    average: Option<MovingAverage>,
) {
    assert_eq!(gradient.len(), parameters.len());
    MovingAverage::check(&average, parameters.len());
    dispatch!(cpu, sgd_slices(rate * gradient_scale, gradient, parameters, average));
}

#[inline(always)]
fn sgd_slices<I: Isa>(
    isa: I,
    rate: f32,
    gradient: &[f32],
    parameters: &mut [f32],
    mut average: Option<MovingAverage>,
) {
    let rate = isa.splat(-rate);
    for part in lane_chunks(parameters.len()) {
        let g = isa.load_partial(&gradient[part.clone()], 0.0);
        let p = isa.mul_add(rate, g, isa.load_partial(&parameters[part.clone()], 0.0));
        isa.store_partial(p, &mut parameters[part.clone()]);
        if let Some(MovingAverage { average, weight }) = &mut average {
            average_columns(isa, p, *weight, &mut average[part]);
        }
    }
}

/// Computes `average = (1 - weight) * average + weight * p` for at most sixteen elements.
#[inline(always)]
fn average_columns<I: Isa>(isa: I, p: I::F, weight: f32, average: &mut [f32]) {
    let new = isa.mul(isa.splat(weight), p);
    let old = isa.load_partial(average, 0.0);
    isa.store_partial(isa.mul_add(isa.splat(1.0 - weight), old, new), average);
}

/// The number of elements of a leaf of [`sum_of_squares`].
pub const SUM_LEAF: usize = 4096;

/// Returns the sum of the squares in f64, by a fixed tree. Leaves have [`SUM_LEAF`] elements. The
/// number of leaves of the left subtree is the largest power of two below the number of all leaves.
/// The sum of a slice is the sum of its two subtrees' sums, to the bit and on every CPU.
pub fn sum_of_squares(cpu: Cpu, values: &[f32]) -> f64 {
    if values.len() <= SUM_LEAF {
        return dispatch!(cpu, sum_leaf(values));
    }
    let leaves = values.len().div_ceil(SUM_LEAF);
    let half = 1 << (leaves - 1).ilog2();
    let (left, right) = values.split_at(half * SUM_LEAF);
    sum_of_squares(cpu, left) + sum_of_squares(cpu, right)
}

/// Computes sixteen sums, in loops over lanes that compilers turn into vectors. Squares of f32 are
/// exact in f64, so that fused multiplication changes nothing.
#[inline(always)]
fn sum_leaf<I: Isa>(_: I, values: &[f32]) -> f64 {
    let mut sums = [0f64; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for index in 0..chunks.len() {
        for lane in 0..LANES {
            let x = f64::from(chunks[index][lane]);
            sums[lane] += x * x;
        }
    }
    for lane in 0..rest.len() {
        let x = f64::from(rest[lane]);
        sums[lane] += x * x;
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestRng, assert_close};

    const LENGTHS: [usize; 5] = [0, 1, 16, 37, 1000];

    fn wide(numbers: &[f32]) -> Vec<f64> {
        numbers.iter().map(|&x| f64::from(x)).collect()
    }

    #[test]
    fn adam_matches_its_formula_over_several_steps() {
        let mut numbers = TestRng::new(46);
        for length in LENGTHS {
            let start = numbers.floats(length, 1.0);
            let gradients: Vec<Vec<f32>> = (0..5).map(|_| numbers.floats(length, 3.0)).collect();
            for cpu in Cpu::all() {
                let (mut p, mut m, mut v) = (start.clone(), vec![0.0; length], vec![0.0; length]);
                let mut average = start.clone();
                let (mut p64, mut m64, mut v64) = (wide(&p), wide(&m), wide(&v));
                let mut average64 = p64.clone();
                let (mut d1, mut d2) = (0.0f64, 0.0f64);
                for gradient in &gradients {
                    let (b1, b2) = (f64::from(0.9f32), f64::from(0.98f32));
                    (d1, d2) = (b1 * d1 + 1.0 - b1, b2 * d2 + 1.0 - b2);
                    let step = AdamStep {
                        rate: 0.01,
                        beta1: 0.9,
                        beta2: 0.98,
                        rest1: (1.0 - b1) as f32,
                        rest2: (1.0 - b2) as f32,
                        epsilon: 1e-3,
                        weight_decay: 0.1,
                        correction1: (1.0 / d1) as f32,
                        correction2: (1.0 / d2) as f32,
                        gradient_scale: 0.5,
                    };
                    let moving = MovingAverage { average: &mut average, weight: 0.25 };
                    adam(cpu, step, gradient, &mut p, [&mut m, &mut v], Some(moving));
                    for at in 0..length {
                        let g = 0.5 * f64::from(gradient[at]);
                        m64[at] = b1 * m64[at] + (1.0 - b1) * g;
                        v64[at] = b2 * v64[at] + (1.0 - b2) * g * g;
                        let direction = m64[at] / d1 / ((v64[at] / d2).sqrt() + 1e-3);
                        p64[at] -= 0.01 * (direction + 0.1 * p64[at]);
                        average64[at] = 0.75 * average64[at] + 0.25 * p64[at];
                    }
                }
                assert_close(&p, &p64, 1e-6, "parameters");
                assert_close(&m, &m64, 1e-6, "first moment");
                assert_close(&v, &v64, 1e-6, "second moment");
                assert_close(&average, &average64, 1e-6, "average");
            }
        }
    }

    #[test]
    fn adagrad_sgd_and_averages_match_their_formulas() {
        let mut numbers = TestRng::new(47);
        for length in LENGTHS {
            let (p, g) = (numbers.floats(length, 1.0), numbers.floats(length, 1.0));
            let h: Vec<f32> = numbers.floats(length, 1.0).iter().map(|x| x.abs()).collect();
            let expected = |element: &dyn Fn(f64, f64, f64) -> f64| -> Vec<f64> {
                let wide = wide(&p).into_iter().zip(wide(&g)).zip(wide(&h));
                wide.map(|((p, g), h)| element(p, g, h)).collect()
            };
            for cpu in Cpu::all() {
                let (mut found, mut squares) = (p.clone(), h.clone());
                let mut average = h.clone();
                let moving = MovingAverage { average: &mut average, weight: 0.5 };
                adagrad(cpu, 0.1, 1e-2, 2.0, &g, &mut found, &mut squares, Some(moving));
                let next =
                    |p: f64, g: f64, h: f64| p - 0.1 / ((h + 4.0 * g * g).sqrt() + 1e-2) * 2.0 * g;
                assert_close(&found, &expected(&next), 2e-6, "adagrad");
                assert_close(&squares, &expected(&|_, g, h| h + 4.0 * g * g), 2e-6, "squares");
                let average64 = expected(&|p, g, h| 0.5 * h + 0.5 * next(p, g, h));
                assert_close(&average, &average64, 2e-6, "average");

                let (mut found, mut average) = (p.clone(), h.clone());
                let moving = MovingAverage { average: &mut average, weight: 0.5 };
                sgd(cpu, 0.5, 0.25, &g, &mut found, Some(moving));
                assert_close(&found, &expected(&|p, g, _| p - 0.125 * g), 1e-6, "sgd");
                let average64 = expected(&|p, g, h| 0.5 * h + 0.5 * (p - 0.125 * g));
                assert_close(&average, &average64, 1e-6, "average");
            }
        }
    }

    #[test]
    fn sums_of_squares_are_trees_and_equal_everywhere() {
        let mut numbers = TestRng::new(48);
        for length in [0, 1, 37, SUM_LEAF, SUM_LEAF + 1, 5 * SUM_LEAF + 100] {
            let values = numbers.floats(length, 3.0);
            let exact: f64 = wide(&values).iter().map(|x| x * x).sum();
            let found = sum_of_squares(Cpu::plain(), &values);
            assert!((found - exact).abs() <= 1e-12 * exact, "{found} {exact}");
            for cpu in Cpu::all() {
                assert_eq!(sum_of_squares(cpu, &values), found);
            }
            if length > 4 * SUM_LEAF {
                // Each of the six shards is a leaf; the left subtree has four of them.
                let shards: Vec<f64> = values
                    .chunks(SUM_LEAF)
                    .map(|part| sum_of_squares(Cpu::plain(), part))
                    .collect();
                let tree =
                    ((shards[0] + shards[1]) + (shards[2] + shards[3])) + (shards[4] + shards[5]);
                assert_eq!(tree, found);
            }
        }
    }
}
