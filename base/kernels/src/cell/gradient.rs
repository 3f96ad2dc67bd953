//! Gradients of the steps of recurrent cells and gates.
//!
//! Nothing but the inputs of a step is saved: gates are computed again, which costs less than
//! writing and reading them. Sigmoid and tanh are the exact ones. Every gradient is added to what
//! is there.

use std::ops::Range;

use super::{GruVariant, load_columns, load_gate};
use crate::activation::{sigmoid, tanh};
use crate::isa::{Isa, LANES, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef};

/// Adds to up to sixteen columns from `from`, before `end`.
#[inline(always)]
fn add_columns<I: Isa>(isa: I, value: I::F, row: &mut [f32], from: usize, end: usize) {
    let columns = &mut row[from..(from + LANES).min(end)];
    isa.store_partial(isa.add(isa.load_partial(columns, 0.0), value), columns);
}

/// Adds to up to sixteen columns of gate `gate` of a row `[gates * width]`.
#[inline(always)]
fn add_gate<I: Isa>(isa: I, value: I::F, row: &mut [f32], gate: usize, width: usize, from: usize) {
    add_columns(isa, value, row, gate * width + from, (gate + 1) * width);
}

/// `y (1 - y)`, the slope of a sigmoid with the result y.
#[inline(always)]
fn sigmoid_slope<I: Isa>(isa: I, y: I::F) -> I::F {
    isa.mul(y, isa.sub(isa.splat(1.0), y))
}

/// `1 - y^2`, the slope of a tanh with the result y.
#[inline(always)]
fn tanh_slope<I: Isa>(isa: I, y: I::F) -> I::F {
    isa.sub(isa.splat(1.0), isa.mul(y, y))
}

fn assert_shape(matrix: MatRef<f32>, shape: (usize, usize)) {
    assert_eq!((matrix.rows(), matrix.columns()), shape);
}

/// The gradients of the inputs of a step of a [`gru`](super::gru) or [`lstm`](super::lstm),
/// which are added to.
#[derive(Debug)]
pub struct CellGradients<'a> {
    /// Of the input's products, `[rows, gates * width]`; `None` for transitions.
    pub input: Option<MatMut<'a, f32>>,
    /// Of the state's products, `[rows, gates * width]`.
    pub recurrent: MatMut<'a, f32>,
    /// `[gates * width]`.
    pub bias: &'a mut [f32],
    /// Of the state before (GRU) or the memory cell before (LSTM), `[rows, width]`.
    pub state: MatMut<'a, f32>,
}

impl CellGradients<'_> {
    fn check(&self, gates: usize, (rows, width): (usize, usize), with_input: bool) {
        assert_eq!(self.input.is_some(), with_input, "a gradient for the input, if there is one");
        if let Some(input) = &self.input {
            assert_shape(input.as_ref(), (rows, gates * width));
        }
        assert_shape(self.recurrent.as_ref(), (rows, gates * width));
        assert_eq!(self.bias.len(), gates * width);
        assert_shape(self.state.as_ref(), (rows, width));
    }
}

/// The gradient of [`gru`](super::gru) with exact gates: `input`, `recurrent`, `bias` and
/// `state` are its arguments, `d_out`, `[rows, width]`, the gradient of its result.
///
/// # Panics
/// If shapes differ.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn gru_gradient(
    cpu: Cpu,
    variant: GruVariant,
    input: Option<MatRef<f32>>,
    recurrent: MatRef<f32>,
    bias: &[f32],
    state: MatRef<f32>,
    d_out: MatRef<f32>,
    mut gradients: CellGradients,
) {
    let shape @ (rows, width) = (d_out.rows(), d_out.columns());
    assert_shape(state, shape);
    assert_shape(recurrent, (rows, 3 * width));
    if let Some(input) = input {
        assert_shape(input, (rows, 3 * width));
    }
    assert_eq!(bias.len(), 3 * width);
    gradients.check(3, shape, input.is_some());
    for row in 0..rows {
        let step = (input.map(|input| input.row(row)), recurrent.row(row), state.row(row));
        let d_out = d_out.row(row);
        dispatch!(cpu, gru_gradient_row(variant, step, bias, d_out, row, &mut gradients));
    }
}

#[inline(always)]
fn gru_gradient_row<I: Isa>(
    isa: I,
    variant: GruVariant,
    (input, recurrent, state): (Option<&[f32]>, &[f32], &[f32]),
    bias: &[f32],
    d_out: &[f32],
    row: usize,
    gradients: &mut CellGradients,
) {
    let width = d_out.len();
    let d_recurrent = gradients.recurrent.row(row);
    let d_state = gradients.state.row(row);
    for Range { start: from, .. } in lane_chunks(width) {
        let mut x = [isa.splat(0.0); 3];
        let (mut s, mut b) = (x, x);
        for index in 0..3 {
            if let Some(input) = input {
                x[index] = load_gate(isa, input, index, width, from);
            }
            s[index] = load_gate(isa, recurrent, index, width, from);
            b[index] = load_gate(isa, bias, index, width, from);
        }
        let r = sigmoid(isa, isa.add(isa.add(x[0], s[0]), b[0]));
        let z = sigmoid(isa, isa.add(isa.add(x[1], s[1]), b[1]));
        let (inner, reset) = match variant {
            GruVariant::Standard => (isa.add(isa.mul_add(r, s[2], x[2]), b[2]), s[2]),
            GruVariant::BiasInsideReset => {
                let reset = isa.add(s[2], b[2]);
                (isa.mul_add(r, reset, x[2]), reset)
            }
        };
        let candidate = tanh(isa, inner);

        let d = load_columns(isa, d_out, from, width);
        let d_candidate = isa.mul(d, isa.sub(isa.splat(1.0), z));
        let d_inner = isa.mul(d_candidate, tanh_slope(isa, candidate));
        let d_reset = isa.mul(d_inner, r);
        let d_r = isa.mul(isa.mul(d_inner, reset), sigmoid_slope(isa, r));
        let before = load_columns(isa, state, from, width);
        let d_z = isa.mul(isa.mul(d, isa.sub(before, candidate)), sigmoid_slope(isa, z));
        let d_bias = match variant {
            GruVariant::Standard => d_inner,
            GruVariant::BiasInsideReset => d_reset,
        };
        add_columns(isa, isa.mul(d, z), d_state, from, width);
        if let Some(d_input) = &mut gradients.input {
            let d_input = d_input.row(row);
            add_gate(isa, d_r, d_input, 0, width, from);
            add_gate(isa, d_z, d_input, 1, width, from);
            add_gate(isa, d_inner, d_input, 2, width, from);
        }
        add_gate(isa, d_r, d_recurrent, 0, width, from);
        add_gate(isa, d_z, d_recurrent, 1, width, from);
        add_gate(isa, d_reset, d_recurrent, 2, width, from);
        add_gate(isa, d_r, gradients.bias, 0, width, from);
        add_gate(isa, d_z, gradients.bias, 1, width, from);
        add_gate(isa, d_bias, gradients.bias, 2, width, from);
    }
}

/// The gradient of [`lstm`](super::lstm) with exact gates: `input`, `recurrent`, `bias` and
/// `cell`, the memory cell before the step, are its arguments; `d_cell` and `d_out`,
/// `[rows, width]`, the gradients of the memory cell after it (if anything uses it) and of the
/// result.
///
/// # Panics
/// If shapes differ.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn lstm_gradient(
    cpu: Cpu,
    input: Option<MatRef<f32>>,
    recurrent: MatRef<f32>,
    bias: &[f32],
    cell: MatRef<f32>,
    d_cell: Option<MatRef<f32>>,
    d_out: MatRef<f32>,
    mut gradients: CellGradients,
) {
    let shape @ (rows, width) = (d_out.rows(), d_out.columns());
    assert_shape(cell, shape);
    assert_shape(recurrent, (rows, 4 * width));
    if let Some(input) = input {
        assert_shape(input, (rows, 4 * width));
    }
    if let Some(d_cell) = d_cell {
        assert_shape(d_cell, shape);
    }
    assert_eq!(bias.len(), 4 * width);
    gradients.check(4, shape, input.is_some());
    for row in 0..rows {
        let step = (input.map(|input| input.row(row)), recurrent.row(row), cell.row(row));
        let after = (d_cell.map(|d_cell| d_cell.row(row)), d_out.row(row));
        dispatch!(cpu, lstm_gradient_row(step, bias, after, row, &mut gradients));
    }
}

#[inline(always)]
fn lstm_gradient_row<I: Isa>(
    isa: I,
    (input, recurrent, cell): (Option<&[f32]>, &[f32], &[f32]),
    bias: &[f32],
    (d_cell, d_out): (Option<&[f32]>, &[f32]),
    row: usize,
    gradients: &mut CellGradients,
) {
    let width = d_out.len();
    let d_recurrent = gradients.recurrent.row(row);
    let d_before = gradients.state.row(row);
    for Range { start: from, .. } in lane_chunks(width) {
        let mut sums = [isa.splat(0.0); 4];
        for index in 0..4 {
            let mut sum = load_gate(isa, recurrent, index, width, from);
            if let Some(input) = input {
                sum = isa.add(load_gate(isa, input, index, width, from), sum);
            }
            sums[index] = isa.add(sum, load_gate(isa, bias, index, width, from));
        }
        let f = sigmoid(isa, sums[0]);
        let i = sigmoid(isa, sums[1]);
        let g = tanh(isa, sums[2]);
        let o = sigmoid(isa, sums[3]);
        let before = load_columns(isa, cell, from, width);
        let squashed = tanh(isa, isa.mul_add(f, before, isa.mul(i, g)));

        let d = load_columns(isa, d_out, from, width);
        let mut d_c = isa.mul(isa.mul(d, o), tanh_slope(isa, squashed));
        if let Some(d_cell) = d_cell {
            d_c = isa.add(d_c, load_columns(isa, d_cell, from, width));
        }
        let of_gates = [
            isa.mul(isa.mul(d_c, before), sigmoid_slope(isa, f)),
            isa.mul(isa.mul(d_c, g), sigmoid_slope(isa, i)),
            isa.mul(isa.mul(d_c, i), tanh_slope(isa, g)),
            isa.mul(isa.mul(d, squashed), sigmoid_slope(isa, o)),
        ];
        add_columns(isa, isa.mul(d_c, f), d_before, from, width);
        for index in 0..4 {
            if let Some(d_input) = &mut gradients.input {
                add_gate(isa, of_gates[index], d_input.row(row), index, width, from);
            }
            add_gate(isa, of_gates[index], d_recurrent, index, width, from);
            add_gate(isa, of_gates[index], gradients.bias, index, width, from);
        }
    }
}

/// The gradients of the inputs of a [`multiplicative_state`](super::multiplicative_state), which
/// are added to. Matrices are `[rows, width]`, biases `[width]`.
#[derive(Debug)]
pub struct MultiplicativeGradients<'a> {
    /// Of the input's products.
    pub input: MatMut<'a, f32>,
    /// Of their bias.
    pub input_bias: &'a mut [f32],
    /// Of the state's products.
    pub recurrent: MatMut<'a, f32>,
    /// Of their bias.
    pub recurrent_bias: &'a mut [f32],
}

/// The gradient of [`multiplicative_state`](super::multiplicative_state), the first arguments of
/// which are those of that; `d_out`, `[rows, width]`, is the gradient of its result.
///
/// # Panics
/// If shapes differ.
pub fn multiplicative_state_gradient(
    cpu: Cpu,
    (input, input_bias): (MatRef<f32>, &[f32]),
    (recurrent, recurrent_bias): (MatRef<f32>, &[f32]),
    d_out: MatRef<f32>,
    mut gradients: MultiplicativeGradients,
) {
    let shape = (d_out.rows(), d_out.columns());
    assert_shape(input, shape);
    assert_shape(recurrent, shape);
    assert_shape(gradients.input.as_ref(), shape);
    assert_shape(gradients.recurrent.as_ref(), shape);
    for bias in [input_bias, recurrent_bias, gradients.input_bias, gradients.recurrent_bias] {
        assert_eq!(bias.len(), shape.1);
    }
    for row in 0..shape.0 {
        let (input, recurrent) =
            ((input.row(row), input_bias), (recurrent.row(row), recurrent_bias));
        let d_out = d_out.row(row);
        let to_input = (gradients.input.row(row), &mut *gradients.input_bias);
        let to_recurrent = (gradients.recurrent.row(row), &mut *gradients.recurrent_bias);
        dispatch!(cpu, multiply_gradient_row(recurrent, d_out, to_input));
        dispatch!(cpu, multiply_gradient_row(input, d_out, to_recurrent));
    }
}

/// Adds `d_out * (other + bias)` to a gradient and that of its bias.
#[inline(always)]
fn multiply_gradient_row<I: Isa>(
    isa: I,
    (other, bias): (&[f32], &[f32]),
    d_out: &[f32],
    (to, to_bias): (&mut [f32], &mut [f32]),
) {
    let width = d_out.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let other =
            isa.add(load_columns(isa, other, from, width), load_columns(isa, bias, from, width));
        let product = isa.mul(load_columns(isa, d_out, from, width), other);
        add_columns(isa, product, to, from, width);
        add_columns(isa, product, to_bias, from, width);
    }
}

/// The gradient of [`average_attention_gate`](super::average_attention_gate). `forward` are the
/// input gate, the forget gate, the input and `y` before it, `d_out` the gradient of its result;
/// adds to `gradients`, in the order of `forward`. All matrices are `[rows, width]`.
///
/// # Panics
/// If shapes differ.
pub fn average_attention_gate_gradient(
    cpu: Cpu,
    forward: [MatRef<f32>; 4],
    d_out: MatRef<f32>,
    gradients: [MatMut<f32>; 4],
) {
    let shape = (d_out.rows(), d_out.columns());
    let [input_gate, forget_gate, input, y] = forward;
    let [mut d_input_gate, mut d_forget_gate, mut d_input, mut d_y] = gradients;
    forward.into_iter().for_each(|matrix| assert_shape(matrix, shape));
    for matrix in [&d_input_gate, &d_forget_gate, &d_input, &d_y] {
        assert_shape(matrix.as_ref(), shape);
    }
    for row in 0..shape.0 {
        let d_out = d_out.row(row);
        let (gate, value) = (input_gate.row(row), input.row(row));
        let (d_gate, d_value) = (d_input_gate.row(row), d_input.row(row));
        dispatch!(cpu, gated_gradient_row(gate, value, d_out, d_gate, d_value));
        let (gate, value) = (forget_gate.row(row), y.row(row));
        let (d_gate, d_value) = (d_forget_gate.row(row), d_y.row(row));
        dispatch!(cpu, gated_gradient_row(gate, value, d_out, d_gate, d_value));
    }
}

/// The gradient of `sigmoid(gate) * value`.
#[inline(always)]
fn gated_gradient_row<I: Isa>(
    isa: I,
    gate: &[f32],
    value: &[f32],
    d_out: &[f32],
    d_gate: &mut [f32],
    d_value: &mut [f32],
) {
    let width = d_out.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let g = sigmoid(isa, load_columns(isa, gate, from, width));
        let d = load_columns(isa, d_out, from, width);
        let value = load_columns(isa, value, from, width);
        add_columns(isa, isa.mul(isa.mul(d, value), sigmoid_slope(isa, g)), d_gate, from, width);
        add_columns(isa, isa.mul(d, g), d_value, from, width);
    }
}

/// The gradient of [`highway`](super::highway). `forward` are the gate, the input and `y` before
/// it, `d_out` the gradient of its result; adds to `gradients`, in the order of `forward`. All
/// matrices are `[rows, width]`.
///
/// # Panics
/// If shapes differ.
pub fn highway_gradient(
    cpu: Cpu,
    forward: [MatRef<f32>; 3],
    d_out: MatRef<f32>,
    gradients: [MatMut<f32>; 3],
) {
    let shape = (d_out.rows(), d_out.columns());
    let [mut d_gate, mut d_input, mut d_y] = gradients;
    forward.into_iter().for_each(|matrix| assert_shape(matrix, shape));
    [&d_gate, &d_input, &d_y].into_iter().for_each(|matrix| assert_shape(matrix.as_ref(), shape));
    for row in 0..shape.0 {
        let forward = forward.map(|matrix| matrix.row(row));
        let gradients = [d_gate.row(row), d_input.row(row), d_y.row(row)];
        dispatch!(cpu, highway_gradient_row(forward, d_out.row(row), gradients));
    }
}

#[inline(always)]
fn highway_gradient_row<I: Isa>(
    isa: I,
    [gate, input, y]: [&[f32]; 3],
    d_out: &[f32],
    [d_gate, d_input, d_y]: [&mut [f32]; 3],
) {
    let width = d_out.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let g = sigmoid(isa, load_columns(isa, gate, from, width));
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
mod tests;
