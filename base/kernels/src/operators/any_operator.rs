//! Operators of any type, as tapes keep them: only the type of the numbers is known.

use std::fmt::Debug;

use super::{InputGradients, Inputs, Operator};
use crate::{Cpu, MatMut, MatRef, Real};

/// The way in which numbers are computed.
#[derive(Clone, Copy, Debug)]
pub enum Arithmetic {
    /// By the plain loops.
    Plain,
    /// By the vector instructions of the CPU, if numbers are f32.
    Vector(Cpu),
}

/// An [`Operator`] of any kind, as tapes keep it.
pub trait AnyOperator: Debug + Send + Sync {
    /// Writes the result in f32.
    fn forward_f32(&self, arithmetic: Arithmetic, inputs: Inputs<'_, f32>, out: MatMut<'_, f32>);

    /// Writes the result in f64.
    fn forward_f64(&self, inputs: Inputs<'_, f64>, out: MatMut<'_, f64>);

    /// Adds the gradients of the inputs in f32.
    fn gradient_f32(
        &self,
        arithmetic: Arithmetic,
        inputs: Inputs<'_, f32>,
        out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    );

    /// Adds the gradients of the inputs in f64.
    fn gradient_f64(
        &self,
        inputs: Inputs<'_, f64>,
        out: MatRef<'_, f64>,
        d_out: MatRef<'_, f64>,
        into: InputGradients<'_, '_, '_, f64>,
    );
}

impl<O: Operator> AnyOperator for O {
    fn forward_f32(&self, arithmetic: Arithmetic, inputs: Inputs<'_, f32>, out: MatMut<'_, f32>) {
        match arithmetic {
            Arithmetic::Plain => self.forward(inputs, out),
            Arithmetic::Vector(cpu) => Operator::forward_f32(self, cpu, inputs, out),
        }
    }

    fn forward_f64(&self, inputs: Inputs<'_, f64>, out: MatMut<'_, f64>) {
        self.forward(inputs, out);
    }

    fn gradient_f32(
        &self,
        arithmetic: Arithmetic,
        inputs: Inputs<'_, f32>,
        out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        match arithmetic {
            Arithmetic::Plain => self.gradient(inputs, out, d_out, into),
            Arithmetic::Vector(cpu) => {
                Operator::gradient_f32(self, cpu, inputs, out, d_out, into);
            }
        }
    }

    fn gradient_f64(
        &self,
        inputs: Inputs<'_, f64>,
        out: MatRef<'_, f64>,
        d_out: MatRef<'_, f64>,
        into: InputGradients<'_, '_, '_, f64>,
    ) {
        self.gradient(inputs, out, d_out, into);
    }
}

/// The numbers that operators of any kind compute with: f32 or f64.
pub trait OperatorReal: Real {
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
}

impl OperatorReal for f32 {
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
}

impl OperatorReal for f64 {
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
}
