//! The gate of average attention (Zhang et al. 2018):
//! `sigmoid(input_gate) * input + sigmoid(forget_gate) * y`.

use std::ops::Range;

use super::columns::{add_columns, load_columns, sigmoid_slope, store_columns};
use super::{
    DeviceKernel, DeviceOperator, InputGradients, Inputs, Operator, common_shape, matrix_gradients,
    same_shape, sigmoid,
};
use crate::activation;
use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef, Real};

/// `sigmoid(input_gate) * input + sigmoid(forget_gate) * y`. The matrices are `input_gate`,
/// `forget_gate`, `input` and `y`, each `[rows, width]`.
#[derive(Clone, Copy, Debug)]
pub struct AverageAttentionGate;

impl Operator for AverageAttentionGate {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        common_shape(matrices)
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Elements(DeviceKernel::new("average_attention_gate", [4, 4]))
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let inputs = same_shape(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            let [i, f, x, y] = inputs.map(|matrix: MatRef<'_, R>| matrix.row(row));
            for (column, out) in out.row_mut(row).iter_mut().enumerate() {
                *out = sigmoid(i[column]) * x[column] + sigmoid(f[column]) * y[column];
            }
        }
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, mut out: MatMut<'_, f32>) {
        let inputs = same_shape(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            let inputs = inputs.map(|matrix: MatRef<'_, f32>| matrix.row(row));
            dispatch!(cpu, forward_row(inputs, out.row_mut(row)));
        }
    }

    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        let inputs = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let [d_input_gate, d_forget_gate, d_input, d_y] = matrix_gradients(into.matrices);
        for row in 0..d_out.rows() {
            let [i, f, x, y] = inputs.map(|matrix: MatRef<'_, R>| matrix.row(row));
            for (column, &d) in d_out.row(row).iter().enumerate() {
                let (i, f) = (sigmoid(i[column]), sigmoid(f[column]));
                d_input_gate.row_mut(row)[column] += d * x[column] * i * (R::ONE - i);
                d_input.row_mut(row)[column] += d * i;
                d_forget_gate.row_mut(row)[column] += d * y[column] * f * (R::ONE - f);
                d_y.row_mut(row)[column] += d * f;
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
        let inputs = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let [d_input_gate, d_forget_gate, d_input, d_y] = matrix_gradients(into.matrices);
        for row in 0..d_out.rows() {
            let d_out = d_out.row(row);
            let [i, f, x, y] = inputs.map(|matrix: MatRef<'_, f32>| matrix.row(row));
            let (d_gate, d_value) = (d_input_gate.row_mut(row), d_input.row_mut(row));
            dispatch!(cpu, gradient_row(i, x, d_out, d_gate, d_value));
            let (d_gate, d_value) = (d_forget_gate.row_mut(row), d_y.row_mut(row));
            dispatch!(cpu, gradient_row(f, y, d_out, d_gate, d_value));
        }
    }
}

#[inline(always)]
fn forward_row<I: Isa>(isa: I, [i, f, input, y]: [&[f32]; 4], out: &mut [f32]) {
    let width = out.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let i = activation::sigmoid(isa, load_columns(isa, i, from, width));
        let f = activation::sigmoid(isa, load_columns(isa, f, from, width));
        let kept = isa.mul(f, load_columns(isa, y, from, width));
        let sum = isa.mul_add(i, load_columns(isa, input, from, width), kept);
        store_columns(isa, sum, out, from);
    }
}

/// Adds the gradients of `sigmoid(gate) * value` to `d_gate` and `d_value`.
#[inline(always)]
fn gradient_row<I: Isa>(
    isa: I,
    gate: &[f32],
    value: &[f32],
    d_out: &[f32],
    d_gate: &mut [f32],
    d_value: &mut [f32],
) {
    let width = d_out.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let g = activation::sigmoid(isa, load_columns(isa, gate, from, width));
        let d = load_columns(isa, d_out, from, width);
        let value = load_columns(isa, value, from, width);
        add_columns(isa, isa.mul(isa.mul(d, value), sigmoid_slope(isa, g)), d_gate, from, width);
        add_columns(isa, isa.mul(d, g), d_value, from, width);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, same};
    use super::*;

    #[test]
    fn average_attention_gate_passes_the_operator_check() {
        check(&AverageAttentionGate, &same(4), 3);
    }
}
