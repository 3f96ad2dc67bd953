//! The running means of average attention: the mean of the rows of a sequence up to and including
//! each row.
//!
//! The forward pass computes one row after the other as decoding does, with the same bits. The
//! gradient has the columns as the outer loop.

use std::borrow::Cow;
use std::ops::Range;

use super::columns::{load_columns, store_columns};
use super::sequences::{Sequences, previous_to_row};
use super::{
    DeviceKernel, DeviceOperator, InputGradients, Inputs, Operator, assert_initial_states,
    assert_shape, matrix_gradients,
};
use crate::isa::{Isa, LANES, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef, Real};

/// `mean = (mean * seen + input) / (seen + 1)` along sequences. The matrices are the input,
/// `[rows, width]`, and the means before the first rows, `[sequences, width]`; the result is the
/// mean at every row.
#[derive(Clone, Debug)]
pub struct RunningMean {
    /// The rows that follow each other.
    pub sequences: Sequences,
    /// For each sequence, the number of earlier rows in its initial mean.
    pub counts: Vec<u32>,
}

/// Returns the input and the means before the first rows.
fn matrices<'a, R>(inputs: &Inputs<'a, R>, shape: [usize; 2]) -> [MatRef<'a, R>; 2] {
    let [input, initial]: [MatRef<'a, R>; 2] = inputs.matrices.try_into().expect("two matrices");
    assert_shape(&input, shape);
    [input, initial]
}

impl Operator for RunningMean {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        let [input, initial] = matrices else { panic!("rows and the means before") };
        assert_initial_states(*initial, &self.sequences, *input);
        assert_eq!(self.counts.len(), initial[0], "a count for each sequence");
        *input
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Sequences {
            kernel: DeviceKernel::new("running_mean", [2, 2]),
            sequences: Cow::Borrowed(&self.sequences),
            counts: &self.counts,
        }
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let [input, initial] = matrices(&inputs, [out.rows(), out.columns()]);
        for (sequence, rows) in self.sequences.ranges(out.rows()).enumerate() {
            for (step, row) in rows.clone().enumerate() {
                let count = R::of(f64::from(self.counts[sequence]) + step as f64);
                let mean = previous_to_row(initial.row(sequence), (rows.start, step), &mut out);
                for (mean, &x) in mean.iter_mut().zip(input.row(row)) {
                    *mean = (count * *mean + x) / (count + R::ONE);
                }
            }
        }
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, mut out: MatMut<'_, f32>) {
        let [input, initial] = matrices(&inputs, [out.rows(), out.columns()]);
        for (sequence, rows) in self.sequences.ranges(out.rows()).enumerate() {
            for (step, row) in rows.clone().enumerate() {
                let seen = self.counts[sequence] + step as u32;
                let mean = previous_to_row(initial.row(sequence), (rows.start, step), &mut out);
                dispatch!(cpu, forward_row(input.row(row), seen, mean));
            }
        }
    }

    fn gradient<R: Real>(
        &self,
        _inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        let [d_input, d_initial] = matrix_gradients(into.matrices);
        for (sequence, rows) in self.sequences.ranges(d_out.rows()).enumerate() {
            let seen = f64::from(self.counts[sequence]);
            for column in 0..d_out.columns() {
                // The gradient of the sum at a row, from the means of this row and of all later
                // ones.
                let mut sum = R::ZERO;
                for (step, row) in rows.clone().enumerate().rev() {
                    sum += d_out.row(row)[column] / R::of(seen + step as f64 + 1.0);
                    d_input.row_mut(row)[column] += sum;
                }
                d_initial.row_mut(sequence)[column] += R::of(seen) * sum;
            }
        }
    }

    /// Computes `d_input_t += G_t` and `d_initial += seen G_0`, where steps count from 0 and
    /// `G_t = sum over i >= t of d_out_i / (seen + i + 1)`.
    fn gradient_f32(
        &self,
        cpu: Cpu,
        _inputs: Inputs<'_, f32>,
        _out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        let [d_input, d_initial] = matrix_gradients(into.matrices);
        for (sequence, rows) in self.sequences.ranges(d_out.rows()).enumerate() {
            let seen = self.counts[sequence];
            let d_out = d_out.row_range(rows.clone());
            let d_input = d_input.reborrow().row_range(rows);
            dispatch!(cpu, sequence_gradient(seen, d_out, d_input, d_initial.row_mut(sequence)));
        }
    }
}

#[inline(always)]
fn forward_row<I: Isa>(isa: I, input: &[f32], seen: u32, mean: &mut [f32]) {
    let (seen, factor) = (seen as f32, 1.0 / (seen as f32 + 1.0));
    let (seen, factor) = (isa.splat(seen), isa.splat(factor));
    let width = mean.len();
    for Range { start: from, .. } in lane_chunks(width) {
        let old = load_columns(isa, mean, from, width);
        let sum = isa.mul_add(old, seen, load_columns(isa, input, from, width));
        store_columns(isa, isa.mul(sum, factor), mean, from);
    }
}

#[inline(always)]
fn sequence_gradient<I: Isa>(
    isa: I,
    seen: u32,
    d_out: MatRef<f32>,
    mut d_input: MatMut<f32>,
    d_initial: &mut [f32],
) {
    let width = d_out.columns();
    for from in (0..width).step_by(LANES) {
        let part: Range<usize> = from..(from + LANES).min(width);
        let mut sums = isa.splat(0.0);
        for step in (0..d_out.rows()).rev() {
            let share = isa.splat(1.0 / ((seen + step as u32) as f32 + 1.0));
            sums = isa.mul_add(isa.load_partial(&d_out.row(step)[part.clone()], 0.0), share, sums);
            let d_input = &mut d_input.row_mut(step)[part.clone()];
            isa.store_partial(isa.add(isa.load_partial(d_input, 0.0), sums), d_input);
        }
        let d_initial = &mut d_initial[part];
        let before = isa.load_partial(d_initial, 0.0);
        isa.store_partial(isa.mul_add(isa.splat(seen as f32), sums, before), d_initial);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Shapes, WIDTH, all_sequences, check};
    use super::*;

    #[test]
    fn running_mean_passes_the_operator_check() {
        for (sequences, rows, count) in all_sequences() {
            let matrices = vec![[rows, WIDTH], [count, WIDTH]];
            let shapes = Shapes { matrices, vectors: Vec::new() };
            let counts = (0..count as u32).map(|sequence| 3 * sequence).collect();
            check(&RunningMean { sequences, counts }, &shapes, 6);
        }
    }
}
