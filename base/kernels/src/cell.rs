//! The element-wise part of recurrent cells and averaging layers: gates, states, running
//! means.
//!
//! The products of a step have all gates side by side, `[rows, gates * width]`; each
//! function here is one pass over the rows. Gate orders are Marian's: r, z and the
//! candidate for GRU; f, i, c, o for LSTM. Model readers permute other orders.

mod gradient;
mod sequence;

use std::ops::Range;

use crate::activation::{GateImpl, sigmoid, sigmoid_with, tanh_with};
use crate::isa::{Isa, LANES, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef};

pub use gradient::{
    CellGradients, MultiplicativeGradients, average_attention_gate_gradient, gru_gradient,
    highway_gradient, lstm_gradient, multiplicative_state_gradient,
};
pub use sequence::{
    linear_recurrence, linear_recurrence_gradient, running_means, running_means_gradient,
};

/// The position of the bias of a GRU's candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GruVariant {
    /// `tanh(x + r * s + b)`: encoders, the first cell of a conditional GRU, and Devlin's
    /// cell (2017, section 4, with the formula there corrected).
    Standard,
    /// `tanh(x + r * (s + b))`: Nematus' second cell and its transitions.
    BiasInsideReset,
}

/// Up to sixteen columns from `from`, before `end`.
#[inline(always)]
fn load_columns<I: Isa>(isa: I, row: &[f32], from: usize, end: usize) -> I::F {
    isa.load_partial(&row[from..(from + LANES).min(end)], 0.0)
}

/// Up to sixteen columns of gate `gate` of a row `[gates * width]`.
#[inline(always)]
fn load_gate<I: Isa>(isa: I, row: &[f32], gate: usize, width: usize, from: usize) -> I::F {
    load_columns(isa, row, gate * width + from, (gate + 1) * width)
}

#[inline(always)]
fn store_columns<I: Isa>(isa: I, value: I::F, row: &mut [f32], from: usize) {
    let to = (from + LANES).min(row.len());
    isa.store_partial(value, &mut row[from..to]);
}

/// One step of a gated recurrent unit.
///
/// `input` (`x` times `[W | Wx]`; `None` for transitions, which have no input) and
/// `recurrent` (the state times `[U | Ux]`) are `[rows, 3 * width]`: r, z and the
/// candidate. `bias` is `[3 * width]`, `state` and `out` are `[rows, width]`;
/// `out = (1 - z) * candidate + z * state`.
///
/// # Panics
/// If shapes differ.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn gru(
    cpu: Cpu,
    gate_impl: GateImpl,
    variant: GruVariant,
    input: Option<MatRef<f32>>,
    recurrent: MatRef<f32>,
    bias: &[f32],
    state: MatRef<f32>,
    mut out: MatMut<f32>,
) {
    let (rows, width) = (out.rows(), out.columns());
    assert_eq!((state.rows(), state.columns()), (rows, width));
    assert_eq!((recurrent.rows(), recurrent.columns()), (rows, 3 * width));
    assert!(input.is_none_or(|input| (input.rows(), input.columns()) == (rows, 3 * width)));
    assert_eq!(bias.len(), 3 * width);
    for row in 0..rows {
        let input = input.map(|input| input.row(row));
        let out = out.row(row);
        let (recurrent, state) = (recurrent.row(row), state.row(row));
        dispatch!(cpu, gru_row(gate_impl, variant, input, recurrent, bias, state, out));
    }
}

#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
#[inline(always)]
fn gru_row<I: Isa>(
    isa: I,
    gate_impl: GateImpl,
    variant: GruVariant,
    input: Option<&[f32]>,
    recurrent: &[f32],
    bias: &[f32],
    state: &[f32],
    out: &mut [f32],
) {
    let width = out.len();
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
        let r = sigmoid_with(isa, gate_impl, isa.add(isa.add(x[0], s[0]), b[0]));
        let z = sigmoid_with(isa, gate_impl, isa.add(isa.add(x[1], s[1]), b[1]));
        let inner = match variant {
            GruVariant::Standard => isa.add(isa.mul_add(r, s[2], x[2]), b[2]),
            GruVariant::BiasInsideReset => isa.mul_add(r, isa.add(s[2], b[2]), x[2]),
        };
        let candidate = tanh_with(isa, gate_impl, inner);
        // (1 - z) * candidate + z * state
        let difference = isa.sub(load_columns(isa, state, from, width), candidate);
        store_columns(isa, isa.mul_add(z, difference, candidate), out, from);
    }
}

/// One step of a long short-term memory: `c = f * c + i * g`, `out = o * tanh(c)`. `input`
/// (`None` for transitions) and `recurrent` are `[rows, 4 * width]` in the order f, i, g, o,
/// `bias` is `[4 * width]`, `cell` and `out` are `[rows, width]`.
///
/// # Panics
/// If shapes differ.
pub fn lstm(
    cpu: Cpu,
    gate_impl: GateImpl,
    input: Option<MatRef<f32>>,
    recurrent: MatRef<f32>,
    bias: &[f32],
    mut cell: MatMut<f32>,
    mut out: MatMut<f32>,
) {
    let (rows, width) = (out.rows(), out.columns());
    assert_eq!((cell.rows(), cell.columns()), (rows, width));
    assert!(input.is_none_or(|input| (input.rows(), input.columns()) == (rows, 4 * width)));
    assert_eq!((recurrent.rows(), recurrent.columns()), (rows, 4 * width));
    assert_eq!(bias.len(), 4 * width);
    for row in 0..rows {
        let (cell, out) = (cell.row(row), out.row(row));
        let (input, recurrent) = (input.map(|input| input.row(row)), recurrent.row(row));
        dispatch!(cpu, lstm_row(gate_impl, input, recurrent, bias, cell, out));
    }
}

#[inline(always)]
fn lstm_row<I: Isa>(
    isa: I,
    gate_impl: GateImpl,
    input: Option<&[f32]>,
    recurrent: &[f32],
    bias: &[f32],
    cell: &mut [f32],
    out: &mut [f32],
) {
    let width = out.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let mut sums = [isa.splat(0.0); 4];
        for index in 0..4 {
            let mut sum = load_gate(isa, recurrent, index, width, from);
            if let Some(input) = input {
                sum = isa.add(load_gate(isa, input, index, width, from), sum);
            }
            sums[index] = isa.add(sum, load_gate(isa, bias, index, width, from));
        }
        let f = sigmoid_with(isa, gate_impl, sums[0]);
        let i = sigmoid_with(isa, gate_impl, sums[1]);
        let g = tanh_with(isa, gate_impl, sums[2]);
        let o = sigmoid_with(isa, gate_impl, sums[3]);
        let c = isa.mul_add(f, load_columns(isa, cell, from, width), isa.mul(i, g));
        store_columns(isa, c, cell, from);
        store_columns(isa, isa.mul(o, tanh_with(isa, gate_impl, c)), out, from);
    }
}

/// The multiplicative state of an mLSTM, which replaces the state in the gates:
/// `out = (input + input_bias) * (recurrent + recurrent_bias)`. Matrices are
/// `[rows, width]`, biases `[width]`.
///
/// # Panics
/// If shapes differ.
pub fn multiplicative_state(
    cpu: Cpu,
    input: MatRef<f32>,
    input_bias: &[f32],
    recurrent: MatRef<f32>,
    recurrent_bias: &[f32],
    mut out: MatMut<f32>,
) {
    let shape = (out.rows(), out.columns());
    assert_eq!((input.rows(), input.columns()), shape);
    assert_eq!((recurrent.rows(), recurrent.columns()), shape);
    assert_eq!((input_bias.len(), recurrent_bias.len()), (shape.1, shape.1));
    for row in 0..shape.0 {
        let (input, recurrent, out) = (input.row(row), recurrent.row(row), out.row(row));
        dispatch!(cpu, multiplicative_row(input, input_bias, recurrent, recurrent_bias, out));
    }
}

#[inline(always)]
fn multiplicative_row<I: Isa>(
    isa: I,
    input: &[f32],
    input_bias: &[f32],
    recurrent: &[f32],
    recurrent_bias: &[f32],
    out: &mut [f32],
) {
    let width = out.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let x = isa
            .add(load_columns(isa, input, from, width), load_columns(isa, input_bias, from, width));
        let s = isa.add(
            load_columns(isa, recurrent, from, width),
            load_columns(isa, recurrent_bias, from, width),
        );
        store_columns(isa, isa.mul(x, s), out, from);
    }
}

/// Running means of average attention: `mean = (mean * seen + input) / (seen + 1)`, where
/// `seen`, `[rows]`, is the number of inputs in the mean of each row. `input` and `mean` are
/// `[rows, width]`.
///
/// # Panics
/// If shapes differ.
pub fn running_mean(cpu: Cpu, input: MatRef<f32>, seen: &[u32], mut mean: MatMut<f32>) {
    assert_eq!((input.rows(), input.columns()), (mean.rows(), mean.columns()));
    assert_eq!(seen.len(), mean.rows());
    for (row, &seen) in seen.iter().enumerate() {
        let (input, mean) = (input.row(row), mean.row(row));
        dispatch!(cpu, running_mean_row(input, seen, mean));
    }
}

#[inline(always)]
fn running_mean_row<I: Isa>(isa: I, input: &[f32], seen: u32, mean: &mut [f32]) {
    let (seen, factor) = (seen as f32, 1.0 / (seen as f32 + 1.0));
    let (seen, factor) = (isa.splat(seen), isa.splat(factor));
    let width = mean.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let old = load_columns(isa, mean, from, width);
        let sum = isa.mul_add(old, seen, load_columns(isa, input, from, width));
        store_columns(isa, isa.mul(sum, factor), mean, from);
    }
}

/// The gate of average attention: `y = sigmoid(input_gate) * input +
/// sigmoid(forget_gate) * y`. All matrices are `[rows, width]`.
///
/// # Panics
/// If shapes differ.
pub fn average_attention_gate(
    cpu: Cpu,
    input_gate: MatRef<f32>,
    forget_gate: MatRef<f32>,
    input: MatRef<f32>,
    mut y: MatMut<f32>,
) {
    let shape = (y.rows(), y.columns());
    for rows in [input_gate, forget_gate, input] {
        assert_eq!((rows.rows(), rows.columns()), shape);
    }
    for row in 0..shape.0 {
        let (i, f) = (input_gate.row(row), forget_gate.row(row));
        let (input, y) = (input.row(row), y.row(row));
        dispatch!(cpu, average_gate_row(i, f, input, y));
    }
}

#[inline(always)]
fn average_gate_row<I: Isa>(isa: I, i: &[f32], f: &[f32], input: &[f32], y: &mut [f32]) {
    let width = y.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let i = sigmoid(isa, load_columns(isa, i, from, width));
        let f = sigmoid(isa, load_columns(isa, f, from, width));
        let kept = isa.mul(f, load_columns(isa, y, from, width));
        store_columns(isa, isa.mul_add(i, load_columns(isa, input, from, width), kept), y, from);
    }
}

/// A highway connection: `y = g * y + (1 - g) * input` with `g = sigmoid(gate)`. All matrices
/// are `[rows, width]`.
///
/// # Panics
/// If shapes differ.
pub fn highway(cpu: Cpu, gate: MatRef<f32>, input: MatRef<f32>, mut y: MatMut<f32>) {
    let shape = (y.rows(), y.columns());
    for rows in [gate, input] {
        assert_eq!((rows.rows(), rows.columns()), shape);
    }
    for row in 0..shape.0 {
        let (gate, input, y) = (gate.row(row), input.row(row), y.row(row));
        dispatch!(cpu, highway_row(gate, input, y));
    }
}

#[inline(always)]
fn highway_row<I: Isa>(isa: I, gate: &[f32], input: &[f32], y: &mut [f32]) {
    let width = y.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let g = sigmoid(isa, load_columns(isa, gate, from, width));
        let x = load_columns(isa, input, from, width);
        store_columns(
            isa,
            isa.mul_add(g, isa.sub(load_columns(isa, y, from, width), x), x),
            y,
            from,
        );
    }
}

#[cfg(test)]
mod tests;
