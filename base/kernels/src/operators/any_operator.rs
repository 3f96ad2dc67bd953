//! [`AnyOperator`], an operator whose type is erased, as the tape of training stores it.
//!
//! [`Operator`] has generic methods and is therefore not dyn-compatible; here each method has a
//! version for f32 and one for f64.

use std::fmt::Debug;

use super::{InputGradients, Inputs, Operator};
use crate::{Cpu, MatMut, MatRef, Real};

/// The implementation of an operator in f32.
#[derive(Clone, Copy, Debug)]
pub enum Implementation {
    /// The plain loops.
    Plain,
    /// The vector instructions of the CPU.
    Vector(Cpu),
}

/// An [`Operator`] whose type is erased.
pub trait AnyOperator: Debug + Send + Sync {
    /// Writes the result to `out` in f32. [`Operator::shape`] returns its shape.
    fn apply_f32(
        &self,
        implementation: Implementation,
        inputs: Inputs<'_, f32>,
        out: MatMut<'_, f32>,
    );

    /// Writes the result to `out` in f64. [`Operator::shape`] returns its shape.
    fn apply_f64(&self, inputs: Inputs<'_, f64>, out: MatMut<'_, f64>);

    /// Adds the gradients of the inputs to `into`, in f32. `out` is the result, `d_out` the
    /// gradient of the loss with respect to it, of the same shape.
    fn backpropagate_f32(
        &self,
        implementation: Implementation,
        inputs: Inputs<'_, f32>,
        out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    );

    /// Adds the gradients of the inputs to `into`, in f64. `out` is the result, `d_out` the
    /// gradient of the loss with respect to it, of the same shape.
    fn backpropagate_f64(
        &self,
        inputs: Inputs<'_, f64>,
        out: MatRef<'_, f64>,
        d_out: MatRef<'_, f64>,
        into: InputGradients<'_, '_, '_, f64>,
    );
}

impl<O: Operator> AnyOperator for O {
    fn apply_f32(
        &self,
        implementation: Implementation,
        inputs: Inputs<'_, f32>,
        out: MatMut<'_, f32>,
    ) {
        match implementation {
            Implementation::Plain => self.forward(inputs, out),
            Implementation::Vector(cpu) => self.forward_f32(cpu, inputs, out),
        }
    }

    fn apply_f64(&self, inputs: Inputs<'_, f64>, out: MatMut<'_, f64>) {
        self.forward(inputs, out);
    }

    fn backpropagate_f32(
        &self,
        implementation: Implementation,
        inputs: Inputs<'_, f32>,
        out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        match implementation {
            Implementation::Plain => self.gradient(inputs, out, d_out, into),
            Implementation::Vector(cpu) => {
                self.gradient_f32(cpu, inputs, out, d_out, into);
            }
        }
    }

    fn backpropagate_f64(
        &self,
        inputs: Inputs<'_, f64>,
        out: MatRef<'_, f64>,
        d_out: MatRef<'_, f64>,
        into: InputGradients<'_, '_, '_, f64>,
    ) {
        self.gradient(inputs, out, d_out, into);
    }
}

/// The number types of [`AnyOperator`], f32 and f64, for generic callers. f64 has only the plain
/// implementation, so its methods ignore `implementation`.
pub trait OperatorReal: Real {
    /// Writes the result of an operator.
    fn forward(
        operator: &dyn AnyOperator,
        implementation: Implementation,
        inputs: Inputs<'_, Self>,
        out: MatMut<'_, Self>,
    );

    /// Adds the gradients of the inputs of an operator to `into`. `out` is the result, `d_out` the
    /// gradient of the loss with respect to it, of the same shape.
    fn gradient(
        operator: &dyn AnyOperator,
        implementation: Implementation,
        inputs: Inputs<'_, Self>,
        out: MatRef<'_, Self>,
        d_out: MatRef<'_, Self>,
        into: InputGradients<'_, '_, '_, Self>,
    );
}

impl OperatorReal for f32 {
    fn forward(
        operator: &dyn AnyOperator,
        implementation: Implementation,
        inputs: Inputs<'_, f32>,
        out: MatMut<'_, f32>,
    ) {
        operator.apply_f32(implementation, inputs, out);
    }

    fn gradient(
        operator: &dyn AnyOperator,
        implementation: Implementation,
        inputs: Inputs<'_, f32>,
        out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        operator.backpropagate_f32(implementation, inputs, out, d_out, into);
    }
}

impl OperatorReal for f64 {
    fn forward(
        operator: &dyn AnyOperator,
        _: Implementation,
        inputs: Inputs<'_, f64>,
        out: MatMut<'_, f64>,
    ) {
        operator.apply_f64(inputs, out);
    }

    fn gradient(
        operator: &dyn AnyOperator,
        _: Implementation,
        inputs: Inputs<'_, f64>,
        out: MatRef<'_, f64>,
        d_out: MatRef<'_, f64>,
        into: InputGradients<'_, '_, '_, f64>,
    ) {
        operator.backpropagate_f64(inputs, out, d_out, into);
    }
}
