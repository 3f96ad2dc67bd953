//! The linear recurrence of simple recurrent units: `c = g c' + (1 - g) x` along sequences, with
//! `g = sigmoid(gate)` and c' the state of the row before.
//!
//! The forward pass computes one row after the other as decoding does, with the same bits. The
//! gradient runs backward in time with the columns as the outer loop, so that the gradient that is
//! carried from step to step stays in a register.

use std::borrow::Cow;
use std::ops::Range;

use super::highway::highway_row;
use super::sequences::{Sequences, previous_to_row};
use super::{
    DeviceKernel, DeviceOperator, InputGradients, Inputs, Operator, assert_initial_states,
    assert_shape, common_shape, matrix_gradients, sigmoid,
};
use crate::activation;
use crate::isa::{Isa, LANES, dispatch};
use crate::{Cpu, MatMut, MatRef, Real};

/// `c = g c' + (1 - g) x` along sequences. The matrices are gate and x, `[rows, width]`, and the
/// initial states, `[sequences, width]`; the result is c of every row.
#[derive(Clone, Debug)]
pub struct LinearRecurrence {
    /// The rows that follow each other.
    pub sequences: Sequences,
}

/// Returns the gate, the input and the initial states.
fn matrices<'a, R>(inputs: &Inputs<'a, R>, shape: [usize; 2]) -> [MatRef<'a, R>; 3] {
    let matrices: [MatRef<'a, R>; 3] = inputs.matrices.try_into().expect("three matrices");
    matrices[..2].iter().for_each(|matrix| assert_shape(matrix, shape));
    matrices
}

impl Operator for LinearRecurrence {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        let [gate, input, initial] = matrices else { panic!("gates, inputs and initial states") };
        assert_initial_states(*initial, &self.sequences, common_shape(&[*gate, *input]));
        *gate
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Sequences {
            kernel: DeviceKernel::new("linear_recurrence", [3, 3]),
            sequences: Cow::Borrowed(&self.sequences),
            counts: &[],
        }
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let [gate, input, initial] = matrices(&inputs, [out.rows(), out.columns()]);
        for (sequence, rows) in self.sequences.ranges(out.rows()).enumerate() {
            for (step, row) in rows.clone().enumerate() {
                let state = previous_to_row(initial.row(sequence), (rows.start, step), &mut out);
                for (column, c) in state.iter_mut().enumerate() {
                    let g = sigmoid(gate.row(row)[column]);
                    *c = g * *c + (R::ONE - g) * input.row(row)[column];
                }
            }
        }
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, mut out: MatMut<'_, f32>) {
        let [gate, input, initial] = matrices(&inputs, [out.rows(), out.columns()]);
        for (sequence, rows) in self.sequences.ranges(out.rows()).enumerate() {
            for (step, row) in rows.clone().enumerate() {
                let state = previous_to_row(initial.row(sequence), (rows.start, step), &mut out);
                dispatch!(cpu, highway_row(gate.row(row), input.row(row), state));
            }
        }
    }

    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        let [gate, input, initial] = matrices(&inputs, [out.rows(), out.columns()]);
        let [d_gate, d_input, d_initial] = matrix_gradients(into.matrices);
        let mut carried = Vec::new();
        for (sequence, rows) in self.sequences.ranges(out.rows()).enumerate() {
            carried.clear();
            carried.resize(out.columns(), R::ZERO);
            for row in rows.clone().rev() {
                let before =
                    if row == rows.start { initial.row(sequence) } else { out.row(row - 1) };
                for (column, carried) in carried.iter_mut().enumerate() {
                    let g = sigmoid(gate.row(row)[column]);
                    let d = *carried + d_out.row(row)[column];
                    let difference = before[column] - input.row(row)[column];
                    d_gate.row_mut(row)[column] += d * difference * g * (R::ONE - g);
                    d_input.row_mut(row)[column] += d * (R::ONE - g);
                    *carried = d * g;
                }
            }
            let elements = d_initial.row_mut(sequence).iter_mut().zip(&carried);
            elements.for_each(|(d_initial, &d)| *d_initial += d);
        }
    }

    /// Goes backward in time: `G_t = d_out_t + g_{t+1} G_{t+1}`; `d_input_t += (1 - g_t) G_t`;
    /// `d_gate_t += G_t (c_{t-1} - x_t) g_t (1 - g_t)`; `d_initial += g_1 G_1`.
    fn gradient_f32(
        &self,
        cpu: Cpu,
        inputs: Inputs<'_, f32>,
        out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        let [gate, input, initial] = matrices(&inputs, [out.rows(), out.columns()]);
        let [d_gate, d_input, d_initial] = matrix_gradients(into.matrices);
        for (sequence, rows) in self.sequences.ranges(out.rows()).enumerate() {
            let steps = [gate, input, out, d_out];
            let steps = steps.map(|matrix: MatRef<'_, f32>| matrix.row_range(rows.clone()));
            let initial = initial.row(sequence);
            let d_gate = d_gate.reborrow().row_range(rows.clone());
            let d_input = d_input.reborrow().row_range(rows.clone());
            let d_initial = d_initial.row_mut(sequence);
            dispatch!(cpu, sequence_gradient(steps, initial, d_gate, d_input, d_initial));
        }
    }
}

#[inline(always)]
fn sequence_gradient<I: Isa>(
    isa: I,
    [gate, input, states, d_out]: [MatRef<f32>; 4],
    initial: &[f32],
    mut d_gate: MatMut<f32>,
    mut d_input: MatMut<f32>,
    d_initial: &mut [f32],
) {
    let (steps, width, one) = (gate.rows(), gate.columns(), isa.splat(1.0));
    for from in (0..width).step_by(LANES) {
        let part: Range<usize> = from..(from + LANES).min(width);
        let mut carried = isa.splat(0.0);
        for step in (0..steps).rev() {
            let g = activation::sigmoid(isa, isa.load_partial(&gate.row(step)[part.clone()], 0.0));
            let x = isa.load_partial(&input.row(step)[part.clone()], 0.0);
            let before = if step == 0 { initial } else { states.row(step - 1) };
            let before = isa.load_partial(&before[part.clone()], 0.0);
            let d = isa.add(carried, isa.load_partial(&d_out.row(step)[part.clone()], 0.0));
            let rest = isa.sub(one, g);
            let d_input = &mut d_input.row_mut(step)[part.clone()];
            isa.store_partial(isa.mul_add(rest, d, isa.load_partial(d_input, 0.0)), d_input);
            let slope = isa.mul(isa.mul(g, rest), isa.sub(before, x));
            let d_gate = &mut d_gate.row_mut(step)[part.clone()];
            isa.store_partial(isa.mul_add(slope, d, isa.load_partial(d_gate, 0.0)), d_gate);
            carried = isa.mul(g, d);
        }
        let d_initial = &mut d_initial[part];
        isa.store_partial(isa.add(isa.load_partial(d_initial, 0.0), carried), d_initial);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Shapes, WIDTH, all_sequences, check};
    use super::*;

    #[test]
    fn linear_recurrence_passes_the_operator_check() {
        for (sequences, rows, count) in all_sequences() {
            let matrices = vec![[rows, WIDTH], [rows, WIDTH], [count, WIDTH]];
            let shapes = Shapes { matrices, vectors: Vec::new() };
            check(&LinearRecurrence { sequences }, &shapes, 5);
        }
    }
}
