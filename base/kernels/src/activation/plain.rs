//! Activations and their derivatives by plain arithmetic: the reference of the kernels.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI, FRAC_2_SQRT_PI, PI};

use super::Activation;
use crate::{MatMut, MatRef, Real};

/// The slope of the sigmoid in Marian's approximation of gelu.
const GELU_SIGMOID: f64 = 1.702;
/// The coefficient of the cube in gelu's approximation by tanh.
const GELU_CUBE: f64 = 0.044_715;

/// Applies an activation to every element of `rows`, in place.
pub fn activate<R: Real>(activation: Activation, mut rows: MatMut<'_, R>) {
    for row in 0..rows.rows() {
        rows.row_mut(row).iter_mut().for_each(|x| *x = apply(activation, *x));
    }
}

/// Multiplies `gradient` with the derivative of an activation. `saved` is the result of the
/// activation if [`saves_result`] says so, else its argument.
pub fn activation_gradient<R: Real>(
    activation: Activation,
    saved: MatRef<'_, R>,
    mut gradient: MatMut<'_, R>,
) {
    for row in 0..saved.rows() {
        let saved = saved.row(row).iter();
        let gradient = gradient.row_mut(row).iter_mut().zip(saved);
        gradient.for_each(|(g, &saved)| *g *= derivative(activation, saved));
    }
}

/// Whether the derivative of an activation is computed from its result (`docs/spec/training.md`
/// B.3).
pub fn saves_result(activation: Activation) -> bool {
    matches!(
        activation,
        Activation::None | Activation::Relu | Activation::Tanh | Activation::Sigmoid
    )
}

/// Returns the logistic function.
pub fn sigmoid<R: Real>(x: R) -> R {
    R::ONE / (R::ONE + (-x).exp())
}

/// Computes `erf(x) = 2 / sqrt(pi) * exp(-x^2) * sum(2^n x^(2n+1) / (1 * 3 * ... * (2n+1)))`.
fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

/// Returns the cumulative standard normal distribution at `x`.
fn normal_distribution(x: f64) -> f64 {
    (1.0 + erf(x * FRAC_1_SQRT_2)) / 2.0
}

/// Returns an activation of an element.
pub fn apply<R: Real>(activation: Activation, x: R) -> R {
    match activation {
        Activation::None => x,
        // Not `max`, which would turn NaN into 0.
        Activation::Relu if x < R::ZERO => R::ZERO,
        Activation::Relu => x,
        Activation::Swish => x * sigmoid(x),
        Activation::Gelu => x * R::of(normal_distribution(x.as_f64())),
        Activation::GeluSigmoid => x * sigmoid(R::of(GELU_SIGMOID) * x),
        Activation::GeluTanh => {
            let inner = R::of(FRAC_2_PI.sqrt()) * (x + R::of(GELU_CUBE) * x * x * x);
            x * R::of(0.5) * (R::ONE + inner.tanh())
        }
        Activation::Tanh => x.tanh(),
        Activation::Sigmoid => sigmoid(x),
    }
}

/// Returns the derivative of an activation, from `saved`: the result if [`saves_result`] says so,
/// else the argument.
pub fn derivative<R: Real>(activation: Activation, saved: R) -> R {
    let one = R::ONE;
    match activation {
        Activation::None => one,
        Activation::Relu if saved > R::ZERO => one,
        Activation::Relu if saved.is_nan() => saved,
        Activation::Relu => R::ZERO,
        Activation::Tanh => one - saved * saved,
        Activation::Sigmoid => saved * (one - saved),
        Activation::Swish => swish_derivative(one, saved),
        Activation::GeluSigmoid => swish_derivative(R::of(GELU_SIGMOID), saved),
        Activation::Gelu => {
            let z = saved.as_f64();
            let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
            R::of(normal_distribution(z) + z * density)
        }
        Activation::GeluTanh => {
            let (half, square) = (R::of(0.5), saved * saved);
            let root = R::of(FRAC_2_PI.sqrt());
            let t = (root * (saved + R::of(GELU_CUBE) * square * saved)).tanh();
            let inner = root * (one + R::of(3.0 * GELU_CUBE) * square);
            half * (one + t) + half * saved * (one - t * t) * inner
        }
    }
}

/// Returns the derivative of `x * sigmoid(slope * x)`.
#[inline]
fn swish_derivative<R: Real>(slope: R, x: R) -> R {
    let s = sigmoid(slope * x);
    s * (R::ONE + slope * x * (R::ONE - s))
}
