//! Derivatives of activations.
//!
//! The derivatives of ReLU, tanh and sigmoid are simple functions of the result, so the forward
//! pass keeps only the result. For the other activations it keeps the argument.

use super::{Activation, SQRT_2_OVER_PI, erf_and_exp, sigmoid, tanh_of_cubic};
use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef};

/// Turns the gradient of the results of an activation into the gradient of its arguments:
/// multiplies `gradient` by the derivative. `saved` has the results of [`Activation::Relu`],
/// [`Activation::Tanh`] and [`Activation::Sigmoid`], and the arguments of the others;
/// [`Activation::None`] changes nothing. Both are `[rows, columns]`.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn activation_gradient(
    cpu: Cpu,
    activation: Activation,
    saved: MatRef<f32>,
    mut gradient: MatMut<f32>,
) {
    assert_eq!((saved.rows(), saved.columns()), (gradient.rows(), gradient.columns()));
    if activation == Activation::None {
        return;
    }
    for index in 0..saved.rows() {
        let (saved, gradient) = (saved.row(index), gradient.row_mut(index));
        dispatch!(cpu, gradient_row(activation, saved, gradient));
    }
}

#[inline(always)]
fn gradient_row<I: Isa>(isa: I, activation: Activation, saved: &[f32], gradient: &mut [f32]) {
    match activation {
        Activation::None => {}
        Activation::Relu => map_gradient(
            isa,
            saved,
            gradient,
            #[inline(always)]
            |isa, y, dy| {
                // The gradient where `y` is not positive: 0, or NaN if `y` or `dy` is not finite.
                let zero = isa.add(isa.sub(y, y), isa.sub(dy, dy));
                isa.select(isa.less(isa.splat(0.0), y), dy, zero)
            },
        ),
        Activation::Tanh => map_gradient(
            isa,
            saved,
            gradient,
            #[inline(always)]
            |isa, y, dy| isa.mul(dy, isa.sub(isa.splat(1.0), isa.mul(y, y))),
        ),
        Activation::Sigmoid => map_gradient(
            isa,
            saved,
            gradient,
            #[inline(always)]
            |isa, y, dy| isa.mul(dy, isa.mul(y, isa.sub(isa.splat(1.0), y))),
        ),
        Activation::Swish => map_gradient(
            isa,
            saved,
            gradient,
            #[inline(always)]
            |isa, z, dy| isa.mul(dy, swish_derivative(isa, z)),
        ),
        Activation::GeluSigmoid => map_gradient(
            isa,
            saved,
            gradient,
            #[inline(always)]
            |isa, z, dy| isa.mul(dy, swish_derivative(isa, isa.mul(z, isa.splat(1.702)))),
        ),
        Activation::Gelu => map_gradient(
            isa,
            saved,
            gradient,
            #[inline(always)]
            |isa, z, dy| isa.mul(dy, gelu_derivative(isa, z)),
        ),
        Activation::GeluTanh => map_gradient(
            isa,
            saved,
            gradient,
            #[inline(always)]
            |isa, z, dy| isa.mul(dy, gelu_tanh_derivative(isa, z)),
        ),
    }
}

#[inline(always)]
fn map_gradient<I: Isa>(
    isa: I,
    saved: &[f32],
    gradient: &mut [f32],
    function: impl Fn(I, I::F, I::F) -> I::F,
) {
    for part in lane_chunks(gradient.len()) {
        let saved = isa.load_partial(&saved[part.clone()], 0.0);
        let gradient = &mut gradient[part];
        let dy = isa.load_partial(gradient, 0.0);
        isa.store_partial(function(isa, saved, dy), gradient);
    }
}

/// Computes the derivative of `z sigmoid(z)`: `s (1 + z (1 - s))` with `s = sigmoid(z)`. The
/// derivative of `z sigmoid(a z)` is the same function of `a z`.
#[inline(always)]
fn swish_derivative<I: Isa>(isa: I, z: I::F) -> I::F {
    let (one, s) = (isa.splat(1.0), sigmoid(isa, z));
    isa.mul(s, isa.mul_add(z, isa.sub(one, s), one))
}

/// Computes `Phi(z) + z phi(z)` with the distribution function `Phi` and the density `phi` of the
/// standard normal distribution.
#[inline(always)]
fn gelu_derivative<I: Isa>(isa: I, z: I::F) -> I::F {
    let (erf, exponential) = erf_and_exp(isa, z);
    let half = isa.splat(0.5);
    // 1 / sqrt(2 pi)
    let density = isa.mul(exponential, isa.splat(0.398_942_3));
    isa.mul_add(z, density, isa.mul_add(half, erf, half))
}

/// Computes `(1 + T) / 2 + z (1 - T^2) c (1 + 3 * 0.044715 z^2) / 2` with `c = sqrt(2 / pi)` and
/// `T = tanh(c (z + 0.044715 z^3))`.
#[inline(always)]
fn gelu_tanh_derivative<I: Isa>(isa: I, z: I::F) -> I::F {
    let (one, half) = (isa.splat(1.0), isa.splat(0.5));
    let t = tanh_of_cubic(isa, z);
    let slope = isa.mul_add(isa.mul(z, z), isa.splat(0.134_145), one);
    let inner = isa.mul(isa.mul(z, isa.splat(0.5 * SQRT_2_OVER_PI)), slope);
    // Where |T| is 1, its slope is 0 but `inner` may be infinite; their product must be 0.
    let tanh_slope = isa.sub(one, isa.mul(t, t));
    let product = isa.mul(tanh_slope, inner);
    let second = isa.select(isa.less(isa.splat(0.0), tanh_slope), product, isa.splat(0.0));
    isa.add(isa.mul_add(half, t, half), second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::activate;
    use crate::testing::{TestRng, assert_close};

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    /// Computes the normal distribution function at `z` by Simpson's rule.
    fn normal(z: f64) -> f64 {
        let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let (steps, width) = (2000, z / 2000.0);
        let inner: f64 = (1..steps)
            .map(|at| density(f64::from(at) * width) * if at % 2 == 0 { 2.0 } else { 4.0 })
            .sum();
        0.5 + (density(0.0) + inner + density(z)) * width / 3.0
    }

    fn derivative(activation: Activation, z: f64) -> f64 {
        let swish = |z: f64| sigmoid(z) * (1.0 + z * (1.0 - sigmoid(z)));
        match activation {
            Activation::None => 1.0,
            Activation::Relu => f64::from(z > 0.0),
            Activation::Tanh => 1.0 - z.tanh().powi(2),
            Activation::Sigmoid => sigmoid(z) * (1.0 - sigmoid(z)),
            Activation::Swish => swish(z),
            Activation::GeluSigmoid => swish(1.702 * z),
            Activation::Gelu => {
                normal(z) + z * (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
            }
            Activation::GeluTanh => {
                let c = (2.0 / std::f64::consts::PI).sqrt();
                let t = (c * (z + 0.044715 * z.powi(3))).tanh();
                0.5 * (1.0 + t) + 0.5 * z * (1.0 - t * t) * c * (1.0 + 0.134145 * z * z)
            }
        }
    }

    #[test]
    fn derivatives_match_their_formulas() {
        let mut numbers = TestRng::new(41);
        for (rows, columns) in [(0, 7), (1, 1), (3, 37), (2, 64)] {
            let z = numbers.floats(rows * columns, 6.0);
            let dy = numbers.floats(rows * columns, 2.0);
            for activation in [
                Activation::None,
                Activation::Relu,
                Activation::Tanh,
                Activation::Sigmoid,
                Activation::Swish,
                Activation::Gelu,
                Activation::GeluSigmoid,
                Activation::GeluTanh,
            ] {
                let expected: Vec<f64> = z
                    .iter()
                    .zip(&dy)
                    .map(|(&z, &dy)| f64::from(dy) * derivative(activation, f64::from(z)))
                    .collect();
                for cpu in Cpu::all() {
                    let mut saved = z.clone();
                    if matches!(
                        activation,
                        Activation::Relu | Activation::Tanh | Activation::Sigmoid
                    ) {
                        activate(cpu, activation, MatMut::new(&mut saved, rows, columns));
                    }
                    let mut gradient = dy.clone();
                    let saved = MatRef::new(&saved, rows, columns);
                    let into = MatMut::new(&mut gradient, rows, columns);
                    activation_gradient(cpu, activation, saved, into);
                    assert_close(&gradient, &expected, 5e-6, &format!("{activation:?}"));
                }
            }
        }
    }

    #[test]
    fn derivatives_of_large_arguments_are_finite() {
        for cpu in Cpu::all() {
            for activation in
                [Activation::Swish, Activation::Gelu, Activation::GeluSigmoid, Activation::GeluTanh]
            {
                let mut gradient = [1.0; 4];
                let saved = [-1e30, -100.0, 100.0, 1e30];
                let into = MatMut::new(&mut gradient, 1, 4);
                activation_gradient(cpu, activation, MatRef::new(&saved, 1, 4), into);
                assert_close(&gradient, &[0.0, 0.0, 1.0, 1.0], 1e-7, &format!("{activation:?}"));
            }
        }
    }
}
