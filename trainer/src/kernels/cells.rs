//! Steps of recurrent cells, the linear recurrence of simple recurrent units, and their
//! gradients.

use miriam_kernels::cell::GruVariant;
use miriam_kernels::{MatMut, MatRef};

use super::sigmoid;
use crate::Real;

/// The inputs of a step of a GRU.
#[derive(Clone, Copy, Debug)]
pub struct GruInputs<'a, R> {
    /// Where the bias of the candidate is added.
    pub variant: GruVariant,
    /// The product of the input with r, z and the candidate, `[rows, 3*width]`.
    pub input: Option<MatRef<'a, R>>,
    /// The product of the state with the same.
    pub recurrent: MatRef<'a, R>,
    /// `[3*width]`.
    pub bias: Option<&'a [R]>,
    /// `[rows, width]`.
    pub state: MatRef<'a, R>,
}

/// Where the gradients of a step of a GRU are added.
pub struct GruGradients<'a, R> {
    /// Of the product of the input.
    pub input: Option<MatMut<'a, R>>,
    /// Of the product of the state.
    pub recurrent: MatMut<'a, R>,
    /// Of the bias.
    pub bias: Option<&'a mut [R]>,
    /// Of the state.
    pub state: MatMut<'a, R>,
}

/// The terms of an element of a GRU's step.
struct GruElement<R> {
    reset: R,
    update: R,
    candidate: R,
    /// The recurrent term of the candidate, with the bias where that is reset.
    inner: R,
}

impl<R: Real> GruInputs<'_, R> {
    fn element(&self, row: usize, column: usize) -> GruElement<R> {
        let width = self.state.columns();
        let at = |gate: usize| gate * width + column;
        let x = |gate| self.input.map_or(R::ZERO, |input| input.row(row)[at(gate)]);
        let b = |gate| self.bias.map_or(R::ZERO, |bias| bias[at(gate)]);
        let s = |gate| self.recurrent.row(row)[at(gate)];
        let reset = sigmoid(x(0) + s(0) + b(0));
        let update = sigmoid(x(1) + s(1) + b(1));
        let (inner, outer) = match self.variant {
            GruVariant::Standard => (s(2), b(2)),
            GruVariant::BiasInsideReset => (s(2) + b(2), R::ZERO),
        };
        let candidate = (x(2) + reset * inner + outer).tanh();
        GruElement { reset, update, candidate, inner }
    }
}

pub(super) fn gru<R: Real>(inputs: GruInputs<'_, R>, mut out: MatMut<'_, R>) {
    for row in 0..inputs.state.rows() {
        let state = inputs.state.row(row);
        for (column, out) in out.row(row).iter_mut().enumerate() {
            let GruElement { update, candidate, .. } = inputs.element(row, column);
            *out = (R::ONE - update) * candidate + update * state[column];
        }
    }
}

pub(super) fn gru_gradient<R: Real>(
    inputs: GruInputs<'_, R>,
    gradient: MatRef<'_, R>,
    mut into: GruGradients<'_, R>,
) {
    let (one, width) = (R::ONE, inputs.state.columns());
    for row in 0..inputs.state.rows() {
        for column in 0..width {
            let GruElement { reset, update, candidate, inner } = inputs.element(row, column);
            let a = gradient.row(row)[column];
            let t = a * (one - update) * (one - candidate * candidate);
            let d_reset = t * inner * reset * (one - reset);
            let d_update =
                a * (inputs.state.row(row)[column] - candidate) * update * (one - update);
            let gates = [d_reset, d_update];
            for (gate, d) in gates.into_iter().enumerate() {
                into.recurrent.row(row)[gate * width + column] += d;
                if let Some(input) = &mut into.input {
                    input.row(row)[gate * width + column] += d;
                }
                if let Some(bias) = &mut into.bias {
                    bias[gate * width + column] += d;
                }
            }
            let at = 2 * width + column;
            into.recurrent.row(row)[at] += t * reset;
            if let Some(input) = &mut into.input {
                input.row(row)[at] += t;
            }
            if let Some(bias) = &mut into.bias {
                bias[at] += match inputs.variant {
                    GruVariant::Standard => t,
                    GruVariant::BiasInsideReset => t * reset,
                };
            }
            into.state.row(row)[column] += a * update;
        }
    }
}

/// The inputs of a step of an LSTM, gates in the order f, i, g, o.
#[derive(Clone, Copy, Debug)]
pub struct LstmInputs<'a, R> {
    /// The product of the input with the gates, `[rows, 4*width]`.
    pub input: Option<MatRef<'a, R>>,
    /// The product of the state with the same.
    pub recurrent: MatRef<'a, R>,
    /// `[4*width]`.
    pub bias: &'a [R],
    /// The cell before, `[rows, width]`.
    pub cell: MatRef<'a, R>,
}

/// Where the gradients of a step of an LSTM are added.
pub struct LstmGradients<'a, R> {
    /// Of the product of the input.
    pub input: Option<MatMut<'a, R>>,
    /// Of the product of the state.
    pub recurrent: MatMut<'a, R>,
    /// Of the bias.
    pub bias: &'a mut [R],
    /// Of the cell before.
    pub cell: MatMut<'a, R>,
}

impl<R: Real> LstmInputs<'_, R> {
    /// f, i, g and o of an element.
    fn gates(&self, row: usize, column: usize) -> [R; 4] {
        let width = self.cell.columns();
        std::array::from_fn(|gate| {
            let at = gate * width + column;
            let x = self.input.map_or(R::ZERO, |input| input.row(row)[at]);
            let sum = x + self.recurrent.row(row)[at] + self.bias[at];
            if gate == 2 { sum.tanh() } else { sigmoid(sum) }
        })
    }
}

pub(super) fn lstm<R: Real>(
    inputs: LstmInputs<'_, R>,
    mut output: MatMut<'_, R>,
    mut cell: MatMut<'_, R>,
) {
    for row in 0..inputs.cell.rows() {
        for column in 0..inputs.cell.columns() {
            let [f, i, g, o] = inputs.gates(row, column);
            let next = f * inputs.cell.row(row)[column] + i * g;
            cell.row(row)[column] = next;
            output.row(row)[column] = o * next.tanh();
        }
    }
}

pub(super) fn lstm_gradient<R: Real>(
    inputs: LstmInputs<'_, R>,
    cell: MatRef<'_, R>,
    output_gradient: Option<MatRef<'_, R>>,
    cell_gradient: Option<MatRef<'_, R>>,
    mut into: LstmGradients<'_, R>,
) {
    let (one, width) = (R::ONE, inputs.cell.columns());
    let of = |gradient: Option<MatRef<'_, R>>, row: usize, column: usize| {
        gradient.map_or(R::ZERO, |gradient| gradient.row(row)[column])
    };
    for row in 0..inputs.cell.rows() {
        for column in 0..width {
            let [f, i, g, o] = inputs.gates(row, column);
            let before = inputs.cell.row(row)[column];
            let squashed = cell.row(row)[column].tanh();
            let dh = of(output_gradient, row, column);
            let dc = of(cell_gradient, row, column) + dh * o * (one - squashed * squashed);
            let gates = [
                dc * before * f * (one - f),
                dc * g * i * (one - i),
                dc * i * (one - g * g),
                dh * squashed * o * (one - o),
            ];
            for (gate, d) in gates.into_iter().enumerate() {
                let at = gate * width + column;
                into.recurrent.row(row)[at] += d;
                into.bias[at] += d;
                if let Some(input) = &mut into.input {
                    input.row(row)[at] += d;
                }
            }
            into.cell.row(row)[column] += dc * f;
        }
    }
}

pub(super) fn linear_recurrence<R: Real>(
    gate: MatRef<'_, R>,
    input: MatRef<'_, R>,
    initial: &[R],
    mut out: MatMut<'_, R>,
) {
    let mut state = initial.to_vec();
    for row in 0..gate.rows() {
        for (column, state) in state.iter_mut().enumerate() {
            let g = sigmoid(gate.row(row)[column]);
            *state = g * *state + (R::ONE - g) * input.row(row)[column];
        }
        out.row(row).copy_from_slice(&state);
    }
}

#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub(super) fn linear_recurrence_gradient<R: Real>(
    gate: MatRef<'_, R>,
    input: MatRef<'_, R>,
    initial: &[R],
    states: MatRef<'_, R>,
    gradient: MatRef<'_, R>,
    mut gate_gradient: MatMut<'_, R>,
    mut input_gradient: MatMut<'_, R>,
    initial_gradient: &mut [R],
) {
    let one = R::ONE;
    // What flows into the state of each row from the rows after it.
    let mut carried = vec![R::ZERO; initial.len()];
    for row in (0..gate.rows()).rev() {
        let before = if row == 0 { initial } else { states.row(row - 1) };
        for (column, carried) in carried.iter_mut().enumerate() {
            let total = gradient.row(row)[column] + *carried;
            let g = sigmoid(gate.row(row)[column]);
            input_gradient.row(row)[column] += (one - g) * total;
            let difference = before[column] - input.row(row)[column];
            gate_gradient.row(row)[column] += total * difference * g * (one - g);
            *carried = g * total;
        }
    }
    super::add_scaled(one, &carried, initial_gradient);
}
