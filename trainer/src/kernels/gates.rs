//! What averages and gates states, element by element: running means and gates of average
//! attention, highway connections, the state of a multiplicative LSTM; and their gradients.

use miriam_kernels::{MatMut, MatRef};

use super::{add_scaled, sigmoid};
use crate::Real;

pub(super) fn running_means<R: Real>(
    input: MatRef<'_, R>,
    seen: u32,
    initial: &[R],
    mut out: MatMut<'_, R>,
) {
    let mut mean = initial.to_vec();
    for step in 0..input.rows() {
        let count = R::of(f64::from(seen) + step as f64);
        for (mean, &x) in mean.iter_mut().zip(input.row(step)) {
            *mean = (count * *mean + x) / (count + R::ONE);
        }
        out.row(step).copy_from_slice(&mean);
    }
}

pub(super) fn running_means_gradient<R: Real>(
    seen: u32,
    gradient: MatRef<'_, R>,
    mut input_gradient: MatMut<'_, R>,
    initial_gradient: &mut [R],
) {
    // What flows into each sum from the means after it.
    let mut sums = vec![R::ZERO; gradient.columns()];
    for step in (0..gradient.rows()).rev() {
        let count = R::of(f64::from(seen) + step as f64 + 1.0);
        add_scaled(count.recip(), gradient.row(step), &mut sums);
        add_scaled(R::ONE, &sums, input_gradient.row(step));
    }
    add_scaled(R::of(seen.into()), &sums, initial_gradient);
}

/// The inputs of the gate of average attention, each `[rows, width]`.
#[derive(Clone, Copy, Debug)]
pub struct AverageGateInputs<'a, R> {
    /// The argument of the input's gate.
    pub input_gate: MatRef<'a, R>,
    /// The argument of the gate of `rows`.
    pub forget_gate: MatRef<'a, R>,
    /// The input.
    pub input: MatRef<'a, R>,
    /// The averages.
    pub rows: MatRef<'a, R>,
}

/// Where the gradients of the gate of average attention are added.
pub struct AverageGateGradients<'a, R> {
    /// Of the argument of the input's gate.
    pub input_gate: MatMut<'a, R>,
    /// Of the argument of the gate of the averages.
    pub forget_gate: MatMut<'a, R>,
    /// Of the input.
    pub input: MatMut<'a, R>,
    /// Of the averages.
    pub rows: MatMut<'a, R>,
}

pub(super) fn average_attention_gate<R: Real>(
    inputs: AverageGateInputs<'_, R>,
    mut out: MatMut<'_, R>,
) {
    let AverageGateInputs { input_gate, forget_gate, input, rows } = inputs;
    for row in 0..rows.rows() {
        let [i, f, x, y] = [input_gate, forget_gate, input, rows].map(|all| all.row(row));
        for (column, out) in out.row(row).iter_mut().enumerate() {
            *out = sigmoid(i[column]) * x[column] + sigmoid(f[column]) * y[column];
        }
    }
}

pub(super) fn average_attention_gate_gradient<R: Real>(
    inputs: AverageGateInputs<'_, R>,
    gradient: MatRef<'_, R>,
    mut into: AverageGateGradients<'_, R>,
) {
    let AverageGateInputs { input_gate, forget_gate, input, rows } = inputs;
    for row in 0..rows.rows() {
        let [i, f, x, y] = [input_gate, forget_gate, input, rows].map(|all| all.row(row));
        for (column, &d) in gradient.row(row).iter().enumerate() {
            let (a, b) = (sigmoid(i[column]), sigmoid(f[column]));
            into.input_gate.row(row)[column] += d * x[column] * a * (R::ONE - a);
            into.input.row(row)[column] += d * a;
            into.forget_gate.row(row)[column] += d * y[column] * b * (R::ONE - b);
            into.rows.row(row)[column] += d * b;
        }
    }
}

/// The inputs of a highway connection, each `[rows, width]`.
#[derive(Clone, Copy, Debug)]
pub struct HighwayInputs<'a, R> {
    /// The argument of the gate.
    pub gate: MatRef<'a, R>,
    /// What passes where the gate is closed.
    pub input: MatRef<'a, R>,
    /// What passes where it is open.
    pub rows: MatRef<'a, R>,
}

/// Where the gradients of a highway connection are added.
pub struct HighwayGradients<'a, R> {
    /// Of the argument of the gate.
    pub gate: MatMut<'a, R>,
    /// Of the input.
    pub input: MatMut<'a, R>,
    /// Of the rows.
    pub rows: MatMut<'a, R>,
}

pub(super) fn highway<R: Real>(inputs: HighwayInputs<'_, R>, mut out: MatMut<'_, R>) {
    let HighwayInputs { gate, input, rows } = inputs;
    for row in 0..rows.rows() {
        let [u, x, y] = [gate, input, rows].map(|all| all.row(row));
        for (column, out) in out.row(row).iter_mut().enumerate() {
            let g = sigmoid(u[column]);
            *out = g * y[column] + (R::ONE - g) * x[column];
        }
    }
}

pub(super) fn highway_gradient<R: Real>(
    inputs: HighwayInputs<'_, R>,
    gradient: MatRef<'_, R>,
    mut into: HighwayGradients<'_, R>,
) {
    let HighwayInputs { gate, input, rows } = inputs;
    for row in 0..rows.rows() {
        let [u, x, y] = [gate, input, rows].map(|all| all.row(row));
        for (column, &d) in gradient.row(row).iter().enumerate() {
            let g = sigmoid(u[column]);
            into.gate.row(row)[column] += d * (y[column] - x[column]) * g * (R::ONE - g);
            into.input.row(row)[column] += d * (R::ONE - g);
            into.rows.row(row)[column] += d * g;
        }
    }
}

/// The inputs of the state of a multiplicative LSTM.
#[derive(Clone, Copy, Debug)]
pub struct MultiplicativeInputs<'a, R> {
    /// The product of the input, `[rows, width]`.
    pub input: MatRef<'a, R>,
    /// Its bias, `[width]`.
    pub input_bias: &'a [R],
    /// The product of the state before, `[rows, width]`.
    pub recurrent: MatRef<'a, R>,
    /// Its bias, `[width]`.
    pub recurrent_bias: &'a [R],
}

/// Where the gradients of the state of a multiplicative LSTM are added.
pub struct MultiplicativeGradients<'a, R> {
    /// Of the product of the input.
    pub input: MatMut<'a, R>,
    /// Of its bias.
    pub input_bias: &'a mut [R],
    /// Of the product of the state before.
    pub recurrent: MatMut<'a, R>,
    /// Of its bias.
    pub recurrent_bias: &'a mut [R],
}

pub(super) fn multiplicative_state<R: Real>(
    inputs: MultiplicativeInputs<'_, R>,
    mut out: MatMut<'_, R>,
) {
    let MultiplicativeInputs { input, input_bias, recurrent, recurrent_bias } = inputs;
    for row in 0..input.rows() {
        let (x, s) = (input.row(row), recurrent.row(row));
        for (column, out) in out.row(row).iter_mut().enumerate() {
            *out = (x[column] + input_bias[column]) * (s[column] + recurrent_bias[column]);
        }
    }
}

pub(super) fn multiplicative_state_gradient<R: Real>(
    inputs: MultiplicativeInputs<'_, R>,
    gradient: MatRef<'_, R>,
    mut into: MultiplicativeGradients<'_, R>,
) {
    let MultiplicativeInputs { input, input_bias, recurrent, recurrent_bias } = inputs;
    for row in 0..input.rows() {
        let (x, s) = (input.row(row), recurrent.row(row));
        for (column, &d) in gradient.row(row).iter().enumerate() {
            let of_input = d * (s[column] + recurrent_bias[column]);
            let of_recurrent = d * (x[column] + input_bias[column]);
            into.input.row(row)[column] += of_input;
            into.input_bias[column] += of_input;
            into.recurrent.row(row)[column] += of_recurrent;
            into.recurrent_bias[column] += of_recurrent;
        }
    }
}
