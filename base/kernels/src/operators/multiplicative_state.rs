//! The intermediate state of a multiplicative LSTM (Krause et al. 2017):
//! `(input + input_bias) * (recurrent + recurrent_bias)`. The gates take it in the place of the
//! previous state.

use std::ops::Range;

use super::columns::{add_columns, load_columns, store_columns};
use super::{
    DeviceKernel, DeviceOperator, InputGradients, Inputs, Operator, common_shape, matrix_gradients,
    same_shape,
};
use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef, Real};

/// `(input + input_bias) * (recurrent + recurrent_bias)`. The matrices are `input` and `recurrent`,
/// each `[rows, width]`: the products of the input and of the previous state with their weights.
/// The vectors are `input_bias` and `recurrent_bias`.
#[derive(Clone, Copy, Debug)]
pub struct MultiplicativeState;

/// Returns the biases of `input` and `recurrent`.
fn biases<'a, R>(inputs: &Inputs<'a, R>, width: usize) -> [&'a [R]; 2] {
    let biases: [&[R]; 2] = inputs.vectors.try_into().expect("two biases");
    assert!(biases.iter().all(|bias| bias.len() == width), "a number for each column");
    biases
}

impl Operator for MultiplicativeState {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        common_shape(matrices)
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Elements(DeviceKernel {
            vectors: [2, 2],
            ..DeviceKernel::new("multiplicative_state", [2, 2])
        })
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let [input_bias, recurrent_bias] = biases(&inputs, out.columns());
        let [input, recurrent] = same_shape(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            let (x, s) = (input.row(row), recurrent.row(row));
            for (column, out) in out.row_mut(row).iter_mut().enumerate() {
                *out = (x[column] + input_bias[column]) * (s[column] + recurrent_bias[column]);
            }
        }
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, mut out: MatMut<'_, f32>) {
        let [input_bias, recurrent_bias] = biases(&inputs, out.columns());
        let [input, recurrent] = same_shape(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            let (x, s, out) = (input.row(row), recurrent.row(row), out.row_mut(row));
            dispatch!(cpu, forward_row(x, input_bias, s, recurrent_bias, out));
        }
    }

    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        let [input_bias, recurrent_bias] = biases(&inputs, d_out.columns());
        let [input, recurrent] = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let [d_input, d_recurrent] = matrix_gradients(into.matrices);
        let [d_input_bias, d_recurrent_bias] = into.vectors else { panic!("two biases") };
        for row in 0..d_out.rows() {
            let (x, s) = (input.row(row), recurrent.row(row));
            for (column, &d) in d_out.row(row).iter().enumerate() {
                let d_x = d * (s[column] + recurrent_bias[column]);
                let d_s = d * (x[column] + input_bias[column]);
                d_input.row_mut(row)[column] += d_x;
                d_input_bias[column] += d_x;
                d_recurrent.row_mut(row)[column] += d_s;
                d_recurrent_bias[column] += d_s;
            }
        }
    }

    fn gradient_f32(
        &self,
        cpu: Cpu,
        inputs: Inputs<'_, f32>,
        _out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        let [input_bias, recurrent_bias] = biases(&inputs, d_out.columns());
        let [input, recurrent] = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let [d_input, d_recurrent] = matrix_gradients(into.matrices);
        let [d_input_bias, d_recurrent_bias] = into.vectors else { panic!("two biases") };
        for row in 0..d_out.rows() {
            let (x, s, d_out) = (input.row(row), recurrent.row(row), d_out.row(row));
            let (d_x, d_bias) = (d_input.row_mut(row), &mut **d_input_bias);
            dispatch!(cpu, gradient_row(s, recurrent_bias, d_out, d_x, d_bias));
            let (d_s, d_bias) = (d_recurrent.row_mut(row), &mut **d_recurrent_bias);
            dispatch!(cpu, gradient_row(x, input_bias, d_out, d_s, d_bias));
        }
    }
}

#[inline(always)]
fn forward_row<I: Isa>(
    isa: I,
    input: &[f32],
    input_bias: &[f32],
    recurrent: &[f32],
    recurrent_bias: &[f32],
    out: &mut [f32],
) {
    let width = out.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let load = |row: &[f32]| load_columns(isa, row, from, width);
        let x = isa.add(load(input), load(input_bias));
        let s = isa.add(load(recurrent), load(recurrent_bias));
        store_columns(isa, isa.mul(x, s), out, from);
    }
}

/// Adds `d_out * (other + other_bias)` to the gradient of `input` or `recurrent` and to that of its
/// bias. `other` is the matrix that it is multiplied with.
#[inline(always)]
fn gradient_row<I: Isa>(
    isa: I,
    other: &[f32],
    other_bias: &[f32],
    d_out: &[f32],
    gradient: &mut [f32],
    bias_gradient: &mut [f32],
) {
    let width = d_out.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let load = |row: &[f32]| load_columns(isa, row, from, width);
        let factor = isa.add(load(other), load(other_bias));
        let product = isa.mul(load(d_out), factor);
        add_columns(isa, product, gradient, from, width);
        add_columns(isa, product, bias_gradient, from, width);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Shapes, WIDTH, check, same};
    use super::*;

    #[test]
    fn multiplicative_state_passes_the_operator_check() {
        check(&MultiplicativeState, &Shapes { vectors: vec![WIDTH; 2], ..same(2) }, 4);
    }
}
