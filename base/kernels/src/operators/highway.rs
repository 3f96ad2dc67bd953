//! Highway connections: `g * y + (1 - g) * input` with `g = sigmoid(gate)`.

use std::ops::Range;

use super::columns::{add_columns, load_columns, sigmoid_slope, store_columns};
use super::{
    DeviceKernel, DeviceOperator, InputGradients, Inputs, Operator, common_shape, matrix_gradients,
    same_shape, sigmoid,
};
use crate::activation;
use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef, Real};

/// `g * y + (1 - g) * input` with `g = sigmoid(gate)`. The matrices are `gate`, `input` and `y`,
/// each `[rows, width]`.
#[derive(Clone, Copy, Debug)]
pub struct Highway;

impl Operator for Highway {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        common_shape(matrices)
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Elements(DeviceKernel::new("highway", [3, 3]))
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let inputs = same_shape(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            let [gate, x, y] = inputs.map(|matrix: MatRef<'_, R>| matrix.row(row));
            for (column, out) in out.row_mut(row).iter_mut().enumerate() {
                let g = sigmoid(gate[column]);
                *out = g * y[column] + (R::ONE - g) * x[column];
            }
        }
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, mut out: MatMut<'_, f32>) {
        let [gate, input, y] = same_shape(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            let out = out.row_mut(row);
            out.copy_from_slice(y.row(row));
            dispatch!(cpu, highway_row(gate.row(row), input.row(row), out));
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
        let [d_gate, d_input, d_y] = matrix_gradients(into.matrices);
        for row in 0..d_out.rows() {
            let [gate, x, y] = inputs.map(|matrix: MatRef<'_, R>| matrix.row(row));
            for (column, &d) in d_out.row(row).iter().enumerate() {
                let g = sigmoid(gate[column]);
                d_gate.row_mut(row)[column] += d * (y[column] - x[column]) * g * (R::ONE - g);
                d_input.row_mut(row)[column] += d * (R::ONE - g);
                d_y.row_mut(row)[column] += d * g;
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
        let gradients: &mut [MatMut<'_, f32>; 3] = matrix_gradients(into.matrices);
        for row in 0..d_out.rows() {
            let inputs = inputs.map(|matrix: MatRef<'_, f32>| matrix.row(row));
            let gradients = gradients.each_mut().map(|matrix| matrix.row_mut(row));
            dispatch!(cpu, gradient_row(inputs, d_out.row(row), gradients));
        }
    }
}

/// Replaces `y` by `g * y + (1 - g) * input` with `g = sigmoid(gate)`.
#[inline(always)]
pub(super) fn highway_row<I: Isa>(isa: I, gate: &[f32], input: &[f32], y: &mut [f32]) {
    let width = y.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let g = activation::sigmoid(isa, load_columns(isa, gate, from, width));
        let x = load_columns(isa, input, from, width);
        let difference = isa.sub(load_columns(isa, y, from, width), x);
        store_columns(isa, isa.mul_add(g, difference, x), y, from);
    }
}

/// Adds the gradients of a row to `d_gate`, `d_input` and `d_y`.
#[inline(always)]
fn gradient_row<I: Isa>(
    isa: I,
    [gate, input, y]: [&[f32]; 3],
    d_out: &[f32],
    [d_gate, d_input, d_y]: [&mut [f32]; 3],
) {
    let width = d_out.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let g = activation::sigmoid(isa, load_columns(isa, gate, from, width));
        let d = load_columns(isa, d_out, from, width);
        let difference =
            isa.sub(load_columns(isa, y, from, width), load_columns(isa, input, from, width));
        let slope = isa.mul(difference, sigmoid_slope(isa, g));
        add_columns(isa, isa.mul(d, slope), d_gate, from, width);
        add_columns(isa, isa.mul(d, isa.sub(isa.splat(1.0), g)), d_input, from, width);
        add_columns(isa, isa.mul(d, g), d_y, from, width);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, same};
    use super::*;

    #[test]
    fn highway_passes_the_operator_check() {
        check(&Highway, &same(3), 2);
    }
}
