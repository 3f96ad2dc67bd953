//! Activations, exponentials and softmax over rows.
//!
//! Sigmoid and tanh of gates have two implementations. One computes them from the exponential, to a
//! few units in the last place; the other looks them up in tables, as in Devlin (2017,
//! section 4.4). The choice changes the numbers of a model, so the caller makes it.
//!
//! A NaN that arithmetic produces stays NaN in every function and every gradient: a model that
//! overflows must not give plausible numbers. The order of the arguments of minima and maxima
//! matters for that.

mod exp;
mod gradient;
mod lookup_table;
pub mod plain;
mod softmax;

pub(crate) use exp::{exp, exp_for_sum};
pub use gradient::activation_gradient;
pub(crate) use softmax::softmax_row;
pub use softmax::{log_softmax, softmax};

use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut};

/// The activation function of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Activation {
    /// The element itself.
    #[default]
    None,
    /// The positive part.
    Relu,
    /// `x * sigmoid(x)`.
    Swish,
    /// `x / 2 * (1 + erf(x / sqrt 2))`, as in Marian.
    Gelu,
    /// `x * sigmoid(1.702 x)`, as in the browser version of Marian and in CTranslate2's
    /// `gelu-sigmoid`.
    GeluSigmoid,
    /// `x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`, as in CTranslate2's `gelu-tanh`.
    GeluTanh,
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
}

impl Activation {
    /// Returns the number of the activation in the kernels of devices.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Whether the epilogue applies it while results are in registers.
    pub(crate) fn is_fused(self) -> bool {
        matches!(self, Activation::None | Activation::Relu)
    }
}

/// `sqrt(2 / pi)`.
const SQRT_2_OVER_PI: f32 = 0.797_884_6;

/// The implementation of sigmoid and tanh in gates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GateImpl {
    /// From the exponential: within 4e-7.
    #[default]
    Exact,
    /// Looked up in 4,096 entries over [-8, 8): sigmoid within 6e-4, tanh within 2e-3.
    Table,
}

/// Applies an activation to every element of `rows`, `[rows, columns]`, in place.
pub fn activate(cpu: Cpu, activation: Activation, mut rows: MatMut<f32>) {
    for index in 0..rows.rows() {
        let row = rows.row_mut(index);
        dispatch!(cpu, activate_row(activation, row));
    }
}

/// Applies an activation to a row and returns the largest magnitude of the result. Not
/// inlined: GEMM calls it for whole tiles, and the functions are long.
#[inline(never)]
pub(crate) fn activate_row<I: Isa>(isa: I, activation: Activation, row: &mut [f32]) -> f32 {
    isa.run(
        #[inline(always)]
        |isa| match activation {
            Activation::None => map_row(
                isa,
                row,
                #[inline(always)]
                |_, x| x,
            ),
            Activation::Relu => map_row(
                isa,
                row,
                #[inline(always)]
                |isa, x| isa.max(isa.splat(0.0), x),
            ),
            Activation::Swish => map_row(
                isa,
                row,
                #[inline(always)]
                |isa, x| isa.mul(x, sigmoid(isa, x)),
            ),
            Activation::Gelu => map_row(isa, row, gelu),
            Activation::GeluSigmoid => map_row(
                isa,
                row,
                #[inline(always)]
                |isa, x| isa.mul(x, sigmoid(isa, isa.mul(x, isa.splat(1.702)))),
            ),
            Activation::GeluTanh => map_row(isa, row, gelu_tanh),
            Activation::Tanh => map_row(isa, row, tanh),
            Activation::Sigmoid => map_row(isa, row, sigmoid),
        },
    )
}

#[inline(always)]
fn map_row<I: Isa>(isa: I, row: &mut [f32], function: impl Fn(I, I::F) -> I::F) -> f32 {
    let mut largest = isa.splat(0.0);
    for part in lane_chunks(row.len()) {
        let chunk = &mut row[part];
        let y = function(isa, isa.load_partial(chunk, 0.0));
        isa.store_partial(y, chunk);
        // Loaded again, because past the end `y` is the function of 0, which may be larger.
        largest = isa.max_abs(isa.load_partial(chunk, 0.0), largest);
    }
    isa.reduce_max_abs(largest)
}

/// Computes `1 / (1 + exp(-x))`.
#[inline(always)]
pub(crate) fn sigmoid<I: Isa>(isa: I, x: I::F) -> I::F {
    let one = isa.splat(1.0);
    isa.div(one, isa.add(one, exp(isa, isa.sub(isa.splat(0.0), x))))
}

/// Returns the hyperbolic tangent: `(e - 1) / (e + 1)` for `e = exp(2 |x|)`, with the sign of x.
/// The numerator is computed without cancellation, so that small arguments lose no accuracy.
#[inline(always)]
pub(crate) fn tanh<I: Isa>(isa: I, x: I::F) -> I::F {
    // Beyond 9.1 the nearest f32 is 1.
    let magnitude = isa.min(isa.splat(9.1), isa.abs(x));
    let minus_one = exp::expm1(isa, isa.add(magnitude, magnitude));
    isa.copysign(isa.div(minus_one, isa.add(minus_one, isa.splat(2.0))), x)
}

/// Computes gelu with an absolute error of `|x| * 1e-7`.
#[inline(always)]
fn gelu<I: Isa>(isa: I, x: I::F) -> I::F {
    let (erf, _) = erf_and_exp(isa, x);
    let half = isa.mul(x, isa.splat(0.5));
    isa.mul_add(half, erf, half)
}

/// Computes `erf(x / sqrt 2)` after Abramowitz and Stegun, 7.1.26, with an absolute error of
/// 1.5e-7, and `exp(-x^2 / 2)`.
#[inline(always)]
fn erf_and_exp<I: Isa>(isa: I, x: I::F) -> (I::F, I::F) {
    let z = isa.mul(isa.abs(x), isa.splat(std::f32::consts::FRAC_1_SQRT_2));
    let one = isa.splat(1.0);
    let t = isa.div(one, isa.mul_add(z, isa.splat(0.327_591_1), one));
    let mut p = isa.splat(1.061_405_4);
    for coefficient in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6] {
        p = isa.mul_add(p, t, isa.splat(coefficient));
    }
    let square = isa.mul(z, z);
    let exponential = exp(isa, isa.sub(isa.splat(0.0), square));
    let tail = isa.mul(isa.mul(p, t), exponential);
    (isa.copysign(isa.sub(one, tail), x), exponential)
}

/// Computes `tanh(sqrt(2 / pi) (x + 0.044715 x^3))`.
#[inline(always)]
fn tanh_of_cubic<I: Isa>(isa: I, x: I::F) -> I::F {
    let cube = isa.mul(isa.mul(x, x), x);
    let inner = isa.mul_add(cube, isa.splat(0.044_715), x);
    tanh(isa, isa.mul(inner, isa.splat(SQRT_2_OVER_PI)))
}

#[inline(always)]
fn gelu_tanh<I: Isa>(isa: I, x: I::F) -> I::F {
    let t = tanh_of_cubic(isa, x);
    let half = isa.mul(x, isa.splat(0.5));
    isa.mul_add(half, t, half)
}

#[inline(always)]
pub(crate) fn sigmoid_with<I: Isa>(isa: I, gate_impl: GateImpl, x: I::F) -> I::F {
    match gate_impl {
        GateImpl::Exact => sigmoid(isa, x),
        GateImpl::Table => lookup_table::look_up(isa, lookup_table::sigmoid_table(), x),
    }
}

#[inline(always)]
pub(crate) fn tanh_with<I: Isa>(isa: I, gate_impl: GateImpl, x: I::F) -> I::F {
    match gate_impl {
        GateImpl::Exact => tanh(isa, x),
        GateImpl::Table => lookup_table::look_up(isa, lookup_table::tanh_table(), x),
    }
}

#[cfg(test)]
mod tests;
