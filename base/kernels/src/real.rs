//! The numbers that operators compute with: f64 in the reference, f32 in decoding and training.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{AddAssign, DivAssign, MulAssign, SubAssign};

use miriam_storage::Pod;
use num_traits::Float;

use crate::operators::{AnyOperator, Arithmetic, InputGradients, Inputs};
use crate::{MatMut, MatRef};

/// f32 or f64.
pub trait Real:
    Float
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Sum
    + Default
    + Debug
    + Send
    + Sync
    + Pod
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The nearest number.
    fn of(value: f64) -> Self;
    /// The number, which is one of f64.
    fn as_f64(self) -> f64;

    /// Writes the result of an operator.
    fn forward(
        operator: &dyn AnyOperator,
        arithmetic: Arithmetic,
        inputs: Inputs<'_, Self>,
        out: MatMut<'_, Self>,
    );

    /// Adds the gradients of the inputs of an operator, whose result is `out`.
    fn gradient(
        operator: &dyn AnyOperator,
        arithmetic: Arithmetic,
        inputs: Inputs<'_, Self>,
        out: MatRef<'_, Self>,
        d_out: MatRef<'_, Self>,
        into: InputGradients<'_, '_, '_, Self>,
    );

    /// The nearest number from `-limit` to `limit`; NaN is kept, so that it is detected.
    fn clipped(self, limit: Self) -> Self {
        if self > limit {
            limit
        } else if self < -limit {
            -limit
        } else {
            self
        }
    }
}

impl Real for f32 {
    fn forward(
        operator: &dyn AnyOperator,
        arithmetic: Arithmetic,
        inputs: Inputs<'_, f32>,
        out: MatMut<'_, f32>,
    ) {
        operator.forward_f32(arithmetic, inputs, out);
    }

    fn gradient(
        operator: &dyn AnyOperator,
        arithmetic: Arithmetic,
        inputs: Inputs<'_, f32>,
        out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        operator.gradient_f32(arithmetic, inputs, out, d_out, into);
    }

    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    fn of(value: f64) -> Self {
        value as f32
    }
    fn as_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    fn forward(
        operator: &dyn AnyOperator,
        _: Arithmetic,
        inputs: Inputs<'_, f64>,
        out: MatMut<'_, f64>,
    ) {
        operator.forward_f64(inputs, out);
    }

    fn gradient(
        operator: &dyn AnyOperator,
        _: Arithmetic,
        inputs: Inputs<'_, f64>,
        out: MatRef<'_, f64>,
        d_out: MatRef<'_, f64>,
        into: InputGradients<'_, '_, '_, f64>,
    ) {
        operator.gradient_f64(inputs, out, d_out, into);
    }

    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn of(value: f64) -> Self {
        value
    }
    fn as_f64(self) -> f64 {
        self
    }
}
