//! Linear recurrences and running means over whole sentences, and their gradients.
//!
//! In training all positions of a sentence are there at once. The forward pass makes the steps of
//! decoding one after the other; a gradient runs backward in time with the columns as the outer
//! loop, so that what is carried from step to step stays in a register.

use super::{highway_row, running_mean_row};
use crate::activation::sigmoid;
use crate::isa::{Isa, LANES, dispatch};
use crate::{Cpu, MatMut, MatRef};

/// The linear recurrence of SSRU and SRU over a sentence: `c_t = f_t c_{t-1} + (1 - f_t) x_t`
/// with `f = sigmoid(gate)` and `c_0` before the first step `initial`, the same bits as a
/// [`highway`](super::highway) each step. Matrices are `[steps, width]`, `initial` `[width]`.
///
/// # Panics
/// If shapes differ.
pub fn linear_recurrence(
    cpu: Cpu,
    gate: MatRef<f32>,
    input: MatRef<f32>,
    initial: &[f32],
    mut out: MatMut<f32>,
) {
    let shape = (out.rows(), out.columns());
    assert_eq!((gate.rows(), gate.columns()), shape);
    assert_eq!((input.rows(), input.columns()), shape);
    assert_eq!(initial.len(), shape.1);
    for step in 0..shape.0 {
        let row = previous_to_row(initial, step, &mut out);
        dispatch!(cpu, highway_row(gate.row(step), input.row(step), row));
    }
}

/// The row of a step, filled with that of the step before.
#[inline(always)]
fn previous_to_row<'a>(initial: &[f32], step: usize, out: &'a mut MatMut<f32>) -> &'a mut [f32] {
    if step == 0 {
        out.row(0).copy_from_slice(initial);
        return out.row(0);
    }
    let (before, row) = out.two_rows(step - 1, step);
    row.copy_from_slice(before);
    row
}

/// The gradient of [`linear_recurrence`]: adds to `d_gate`, `d_input`, `[steps, width]`, and
/// `d_initial`, `[width]`, the gradients of its inputs. `states` is its result and `d_out` the
/// gradient of that, both `[steps, width]`.
///
/// Backward in time: `G_t = d_out_t + f_{t+1} G_{t+1}`; `d_input_t += (1 - f_t) G_t`;
/// `d_gate_t += G_t (c_{t-1} - x_t) f_t (1 - f_t)`; `d_initial += f_1 G_1`.
///
/// # Panics
/// If shapes differ.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn linear_recurrence_gradient(
    cpu: Cpu,
    gate: MatRef<f32>,
    input: MatRef<f32>,
    initial: &[f32],
    states: MatRef<f32>,
    d_out: MatRef<f32>,
    d_gate: MatMut<f32>,
    d_input: MatMut<f32>,
    d_initial: &mut [f32],
) {
    let shape = (gate.rows(), gate.columns());
    for matrix in [input, states, d_out, d_gate.as_ref(), d_input.as_ref()] {
        assert_eq!((matrix.rows(), matrix.columns()), shape);
    }
    assert_eq!((initial.len(), d_initial.len()), (shape.1, shape.1));
    let steps = (gate, input, states, d_out);
    dispatch!(cpu, recurrence_gradient(steps, initial, d_gate, d_input, d_initial));
}

#[inline(always)]
fn recurrence_gradient<I: Isa>(
    isa: I,
    (gate, input, states, d_out): (MatRef<f32>, MatRef<f32>, MatRef<f32>, MatRef<f32>),
    initial: &[f32],
    mut d_gate: MatMut<f32>,
    mut d_input: MatMut<f32>,
    d_initial: &mut [f32],
) {
    let (steps, width, one) = (gate.rows(), gate.columns(), isa.splat(1.0));
    for from in (0..width).step_by(LANES) {
        let part = from..(from + LANES).min(width);
        let mut carried = isa.splat(0.0);
        for step in (0..steps).rev() {
            let f = sigmoid(isa, isa.load_partial(&gate.row(step)[part.clone()], 0.0));
            let x = isa.load_partial(&input.row(step)[part.clone()], 0.0);
            let before = if step == 0 { initial } else { states.row(step - 1) };
            let before = isa.load_partial(&before[part.clone()], 0.0);
            let d = isa.add(carried, isa.load_partial(&d_out.row(step)[part.clone()], 0.0));
            let rest = isa.sub(one, f);
            let d_input = &mut d_input.row(step)[part.clone()];
            isa.store_partial(isa.mul_add(rest, d, isa.load_partial(d_input, 0.0)), d_input);
            let slope = isa.mul(isa.mul(f, rest), isa.sub(before, x));
            let d_gate = &mut d_gate.row(step)[part.clone()];
            isa.store_partial(isa.mul_add(slope, d, isa.load_partial(d_gate, 0.0)), d_gate);
            carried = isa.mul(f, d);
        }
        let d_initial = &mut d_initial[part];
        isa.store_partial(isa.add(isa.load_partial(d_initial, 0.0), carried), d_initial);
    }
}

/// The running means of a sentence, in average attention: row t becomes the mean of `input`'s
/// rows up to t and of `seen` inputs before, whose mean is `initial`; the same bits as a
/// [`running_mean`](super::running_mean) each step. Matrices are `[steps, width]`, `initial` is
/// `[width]`.
///
/// # Panics
/// If shapes differ.
pub fn running_means(
    cpu: Cpu,
    input: MatRef<f32>,
    seen: u32,
    initial: &[f32],
    mut out: MatMut<f32>,
) {
    assert_eq!((input.rows(), input.columns()), (out.rows(), out.columns()));
    assert_eq!(initial.len(), out.columns());
    for step in 0..input.rows() {
        let row = previous_to_row(initial, step, &mut out);
        dispatch!(cpu, running_mean_row(input.row(step), seen + step as u32, row));
    }
}

/// The gradient of [`running_means`]: adds to `d_input`, `[steps, width]`, that of the input and
/// to `d_initial`, `[width]`, that of the mean before. `d_out`, `[steps, width]`, is the gradient
/// of the means. With `G_t = sum over i >= t of d_out_i / (seen + i + 1)`, steps counted from 0,
/// `d_input_t += G_t` and `d_initial += seen G_0`.
///
/// # Panics
/// If shapes differ.
pub fn running_means_gradient(
    cpu: Cpu,
    seen: u32,
    d_out: MatRef<f32>,
    d_input: MatMut<f32>,
    d_initial: &mut [f32],
) {
    assert_eq!((d_out.rows(), d_out.columns()), (d_input.rows(), d_input.columns()));
    assert_eq!(d_initial.len(), d_out.columns());
    dispatch!(cpu, means_gradient(seen, d_out, d_input, d_initial));
}

#[inline(always)]
fn means_gradient<I: Isa>(
    isa: I,
    seen: u32,
    d_out: MatRef<f32>,
    mut d_input: MatMut<f32>,
    d_initial: &mut [f32],
) {
    let width = d_out.columns();
    for from in (0..width).step_by(LANES) {
        let part = from..(from + LANES).min(width);
        let mut sums = isa.splat(0.0);
        for step in (0..d_out.rows()).rev() {
            let share = isa.splat(1.0 / ((seen + step as u32) as f32 + 1.0));
            sums = isa.mul_add(isa.load_partial(&d_out.row(step)[part.clone()], 0.0), share, sums);
            let d_input = &mut d_input.row(step)[part.clone()];
            isa.store_partial(isa.add(isa.load_partial(d_input, 0.0), sums), d_input);
        }
        let d_initial = &mut d_initial[part];
        let before = isa.load_partial(d_initial, 0.0);
        isa.store_partial(isa.mul_add(isa.splat(seen as f32), sums, before), d_initial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{highway, running_mean};
    use crate::testing::{TestRng, assert_close, numeric_gradients};

    const SHAPES: [(usize, usize); 5] = [(0, 5), (1, 1), (1, 16), (7, 37), (40, 20)];

    #[test]
    fn recurrences_are_their_steps_and_have_their_gradients() {
        let mut numbers = TestRng::new(53);
        for (steps, width) in SHAPES {
            let count = steps * width;
            let parts = [
                numbers.floats(count, 2.0),
                numbers.floats(count, 1.0),
                numbers.floats(width, 1.0),
            ];
            let d_out = numbers.floats(count, 1.0);
            let expected = numeric_gradients(&parts.each_ref().map(|part| &part[..]), |x| {
                let mut loss = 0.0;
                for c in 0..width {
                    let mut state = x[2][c];
                    for at in (0..steps).map(|step| step * width + c) {
                        let f = 1.0 / (1.0 + (-x[0][at]).exp());
                        state = f * state + (1.0 - f) * x[1][at];
                        loss += state * f64::from(d_out[at]);
                    }
                }
                loss
            });
            let [gate, input] = [0, 1].map(|part: usize| MatRef::new(&parts[part], steps, width));
            let initial = &parts[2];
            for cpu in Cpu::all() {
                let mut states = vec![f32::NAN; count];
                linear_recurrence(
                    cpu,
                    gate,
                    input,
                    initial,
                    MatMut::new(&mut states, steps, width),
                );
                let mut state = initial.clone();
                for step in 0..steps {
                    let these = step..step + 1;
                    let (gate, input) = (gate.row_range(these.clone()), input.row_range(these));
                    highway(cpu, gate, input, MatMut::new(&mut state, 1, width));
                    assert_eq!(state, states[step * width..][..width], "the bits of decoding");
                }
                let mut sums = parts.each_ref().map(|part| vec![0.5; part.len()]);
                let [d_gate, d_input, d_initial] = &mut sums;
                linear_recurrence_gradient(
                    cpu,
                    gate,
                    input,
                    initial,
                    MatRef::new(&states, steps, width),
                    MatRef::new(&d_out, steps, width),
                    MatMut::new(d_gate, steps, width),
                    MatMut::new(d_input, steps, width),
                    d_initial,
                );
                for (found, expected) in sums.iter().zip(&expected) {
                    let expected: Vec<f64> = expected.iter().map(|x| x + 0.5).collect();
                    assert_close(found, &expected, 5e-6, cpu.name());
                }
            }
        }
    }

    #[test]
    fn running_means_are_their_steps_and_have_their_gradients() {
        let mut numbers = TestRng::new(54);
        for (steps, width) in SHAPES {
            for seen in [0, 3] {
                let count = steps * width;
                let (input, initial) = (numbers.floats(count, 1.0), numbers.floats(width, 1.0));
                let d_out = numbers.floats(count, 1.0);
                let expected = numeric_gradients(&[&input, &initial], |x| {
                    let mut loss = 0.0;
                    for c in 0..width {
                        let mut sum = x[1][c] * f64::from(seen);
                        for step in 0..steps {
                            sum += x[0][step * width + c];
                            let mean = sum / (f64::from(seen) + step as f64 + 1.0);
                            loss += mean * f64::from(d_out[step * width + c]);
                        }
                    }
                    loss
                });
                let input = MatRef::new(&input, steps, width);
                for cpu in Cpu::all() {
                    let mut means = vec![f32::NAN; count];
                    let into = MatMut::new(&mut means, steps, width);
                    running_means(cpu, input, seen, &initial, into);
                    let mut mean = initial.clone();
                    for step in 0..steps {
                        let row = input.row_range(step..step + 1);
                        let counts = [seen + step as u32];
                        running_mean(cpu, row, &counts, MatMut::new(&mut mean, 1, width));
                        assert_eq!(mean, means[step * width..][..width], "the bits of decoding");
                    }
                    let mut found = [vec![0.5; count], vec![0.5; width]];
                    let [d_input, d_initial] = &mut found;
                    let d_out = MatRef::new(&d_out, steps, width);
                    let d_input = MatMut::new(d_input, steps, width);
                    running_means_gradient(cpu, seen, d_out, d_input, d_initial);
                    for (found, expected) in found.iter().zip(&expected) {
                        let expected: Vec<f64> = expected.iter().map(|x| x + 0.5).collect();
                        assert_close(found, &expected, 5e-6, cpu.name());
                    }
                }
            }
        }
    }
}
