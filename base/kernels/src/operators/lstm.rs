//! A step of a long short-term memory from the products of its input and its state, as two
//! operators: the next memory cell, and the output that is read from it.
//!
//! ```text
//! f, i, o = sigmoid(x + s + b)      g = tanh(x_g + s_g + b_g)
//! c = f c' + i g                    output = o tanh(c)
//! ```
//!
//! `c'` is the memory cell before the step. Gates are side by side in the order f, i, g, o; model
//! readers permute other orders. No gate is computed by both operators.

use std::ops::Range;

use super::columns::{
    add_columns, add_gate, load_columns, load_gate, sigmoid_slope, store_columns, tanh_slope,
};
use super::{
    ActivationImpl, DeviceKernel, DeviceOperator, InputGradients, Inputs, Operator, assert_shape,
    gated_shape, sigmoid,
};
use crate::activation::{self, GateImpl, sigmoid_with, tanh_with};
use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef, Real};

/// The next memory cell, `f c' + i g`. The matrices are the product of the state with all gates,
/// `[rows, 4 * width]`, the cell before, `[rows, width]`, and the product of the input,
/// `[rows, 4 * width]`. The later cells of a deep transition cell have no input. The vector is the
/// bias, `[4 * width]`.
#[derive(Clone, Copy, Debug)]
pub struct LstmCell {
    /// The implementation of gates in vector instructions. Gradients always use exact gates.
    pub activation: ActivationImpl,
}

/// The output, `o tanh(c)`. The inputs are as in [`LstmCell`], but with the next memory cell
/// instead of the cell before.
#[derive(Clone, Copy, Debug)]
pub struct LstmOutput {
    /// The implementation of gates in vector instructions. Gradients always use exact gates.
    pub activation: ActivationImpl,
}

/// The positions of the gates f, i, g and o.
const FORGET_GATE: usize = 0;
const INPUT_GATE: usize = 1;
const CANDIDATE: usize = 2;
const OUTPUT_GATE: usize = 3;

/// Returns a kernel that takes the inputs of [`LstmCell`].
fn device_kernel(name: &'static str) -> DeviceKernel {
    DeviceKernel { vectors: [1, 1], vector_parts: 4, ..DeviceKernel::new(name, [2, 3]) }
}

/// The inputs by name.
#[derive(Clone, Copy)]
struct Step<'a, R> {
    recurrent: MatRef<'a, R>,
    cell: MatRef<'a, R>,
    input: Option<MatRef<'a, R>>,
    bias: &'a [R],
}

impl<'a, R: Copy> Step<'a, R> {
    fn new(inputs: &Inputs<'a, R>, [rows, width]: [usize; 2]) -> Self {
        let ([recurrent, cell, rest @ ..], [bias]) = (inputs.matrices, inputs.vectors) else {
            panic!("an LSTM takes the product of its state, its cell and a bias");
        };
        let step = Step { recurrent: *recurrent, cell: *cell, input: rest.first().copied(), bias };
        assert_shape(&step.cell, [rows, width]);
        let products = [Some(step.recurrent), step.input];
        products.iter().flatten().for_each(|product| assert_shape(product, [rows, 4 * width]));
        assert_eq!(bias.len(), 4 * width, "four gates have a bias");
        step
    }
}

impl<R: Real> Step<'_, R> {
    /// Returns the argument of a gate.
    fn gate(&self, gate: usize, row: usize, column: usize) -> R {
        let at = gate * self.cell.columns() + column;
        let x = self.input.map_or(R::ZERO, |input| input.row(row)[at]);
        x + self.recurrent.row(row)[at] + self.bias[at]
    }
}

/// Returns the argument of a gate for up to sixteen columns of a row.
#[inline(always)]
fn load_sum<I: Isa>(
    isa: I,
    step: &Step<'_, f32>,
    gate: usize,
    row: usize,
    (from, width): (usize, usize),
) -> I::F {
    let mut sum = load_gate(isa, step.recurrent.row(row), gate, width, from);
    if let Some(input) = step.input {
        sum = isa.add(load_gate(isa, input.row(row), gate, width, from), sum);
    }
    isa.add(sum, load_gate(isa, step.bias, gate, width, from))
}

/// The gradients of the inputs of a row, and the gradient of the bias.
struct RowGradients<'a> {
    recurrent: &'a mut [f32],
    cell: &'a mut [f32],
    input: Option<&'a mut [f32]>,
    bias: &'a mut [f32],
}

impl RowGradients<'_> {
    /// Adds the gradient of the argument of a gate.
    #[inline(always)]
    fn add<I: Isa>(&mut self, isa: I, d: I::F, gate: usize, (from, width): (usize, usize)) {
        if let Some(input) = &mut self.input {
            add_gate(isa, d, input, gate, width, from);
        }
        add_gate(isa, d, self.recurrent, gate, width, from);
        add_gate(isa, d, self.bias, gate, width, from);
    }
}

/// Calls `body` with the gradients of each row.
fn for_each_row(
    rows: usize,
    into: InputGradients<'_, '_, '_, f32>,
    mut body: impl FnMut(usize, RowGradients<'_>),
) {
    let ([d_recurrent, d_cell, rest @ ..], [d_bias]) = (into.matrices, into.vectors) else {
        panic!("two gradients, and the gradient of the bias");
    };
    let mut d_input = rest.first_mut();
    for row in 0..rows {
        let gradients = RowGradients {
            recurrent: d_recurrent.row_mut(row),
            cell: d_cell.row_mut(row),
            input: d_input.as_mut().map(|d_input| d_input.row_mut(row)),
            bias: d_bias,
        };
        body(row, gradients);
    }
}

/// Adds gradients of the arguments of gates at an element; `gates` has pairs of a gate and its
/// gradient.
fn add_gates<R: Real>(
    into: &mut InputGradients<'_, '_, '_, R>,
    gates: &[(usize, R)],
    row: usize,
    (column, width): (usize, usize),
) {
    let ([d_recurrent, _, rest @ ..], [d_bias]) = (&mut *into.matrices, &mut *into.vectors) else {
        panic!("two gradients, and the gradient of the bias");
    };
    let mut d_input = rest.first_mut();
    for &(gate, d) in gates {
        let at = gate * width + column;
        d_recurrent.row_mut(row)[at] += d;
        d_bias[at] += d;
        if let Some(d_input) = &mut d_input {
            d_input.row_mut(row)[at] += d;
        }
    }
}

impl Operator for LstmCell {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        let [recurrent, cell, input @ ..] = matrices else { panic!("products and a cell") };
        gated_shape(*cell, 4, std::iter::once(recurrent).chain(input))
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Elements(device_kernel("lstm_cell"))
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let step = Step::new(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            for (column, out) in out.row_mut(row).iter_mut().enumerate() {
                let [f, i] =
                    [FORGET_GATE, INPUT_GATE].map(|gate| sigmoid(step.gate(gate, row, column)));
                let g = step.gate(CANDIDATE, row, column).tanh();
                *out = f * step.cell.row(row)[column] + i * g;
            }
        }
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, mut out: MatMut<'_, f32>) {
        let step = Step::new(&inputs, [out.rows(), out.columns()]);
        let (cpu, gate_impl) = self.activation.on(cpu);
        for row in 0..out.rows() {
            dispatch!(cpu, cell_row(gate_impl, &step, row, out.row_mut(row)));
        }
    }

    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        mut into: InputGradients<'_, '_, '_, R>,
    ) {
        let (one, width) = (R::ONE, d_out.columns());
        let step = Step::new(&inputs, [d_out.rows(), width]);
        for row in 0..d_out.rows() {
            for (column, &d) in d_out.row(row).iter().enumerate() {
                let [f, i] =
                    [FORGET_GATE, INPUT_GATE].map(|gate| sigmoid(step.gate(gate, row, column)));
                let g = step.gate(CANDIDATE, row, column).tanh();
                let before = step.cell.row(row)[column];
                let gates = [
                    (FORGET_GATE, d * before * f * (one - f)),
                    (INPUT_GATE, d * g * i * (one - i)),
                    (CANDIDATE, d * i * (one - g * g)),
                ];
                add_gates(&mut into, &gates, row, (column, width));
                into.matrices[1].row_mut(row)[column] += d * f;
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
        let step = Step::new(&inputs, [d_out.rows(), d_out.columns()]);
        for_each_row(d_out.rows(), into, |row, gradients| {
            dispatch!(cpu, cell_gradient_row(&step, row, d_out.row(row), gradients));
        });
    }
}

#[inline(always)]
fn cell_row<I: Isa>(
    isa: I,
    gate_impl: GateImpl,
    step: &Step<'_, f32>,
    row: usize,
    out: &mut [f32],
) {
    let width = out.len();
    let before = step.cell.row(row);
    for Range { start: from, .. } in lane_chunks(width) {
        let at = (from, width);
        let f = sigmoid_with(isa, gate_impl, load_sum(isa, step, FORGET_GATE, row, at));
        let i = sigmoid_with(isa, gate_impl, load_sum(isa, step, INPUT_GATE, row, at));
        let g = tanh_with(isa, gate_impl, load_sum(isa, step, CANDIDATE, row, at));
        let c = isa.mul_add(f, load_columns(isa, before, from, width), isa.mul(i, g));
        store_columns(isa, c, out, from);
    }
}

#[inline(always)]
fn cell_gradient_row<I: Isa>(
    isa: I,
    step: &Step<'_, f32>,
    row: usize,
    d_out: &[f32],
    mut gradients: RowGradients<'_>,
) {
    let width = d_out.len();
    let before = step.cell.row(row);
    for Range { start: from, .. } in lane_chunks(width) {
        let at = (from, width);
        let f = activation::sigmoid(isa, load_sum(isa, step, FORGET_GATE, row, at));
        let i = activation::sigmoid(isa, load_sum(isa, step, INPUT_GATE, row, at));
        let g = activation::tanh(isa, load_sum(isa, step, CANDIDATE, row, at));
        let before = load_columns(isa, before, from, width);
        let d = load_columns(isa, d_out, from, width);
        let d_f = isa.mul(isa.mul(d, before), sigmoid_slope(isa, f));
        let d_i = isa.mul(isa.mul(d, g), sigmoid_slope(isa, i));
        let d_g = isa.mul(isa.mul(d, i), tanh_slope(isa, g));
        add_columns(isa, isa.mul(d, f), gradients.cell, from, width);
        gradients.add(isa, d_f, FORGET_GATE, at);
        gradients.add(isa, d_i, INPUT_GATE, at);
        gradients.add(isa, d_g, CANDIDATE, at);
    }
}

impl Operator for LstmOutput {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        let [recurrent, cell, input @ ..] = matrices else { panic!("products and a cell") };
        gated_shape(*cell, 4, std::iter::once(recurrent).chain(input))
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Elements(device_kernel("lstm_output"))
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let step = Step::new(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            for (column, out) in out.row_mut(row).iter_mut().enumerate() {
                let o = sigmoid(step.gate(OUTPUT_GATE, row, column));
                *out = o * step.cell.row(row)[column].tanh();
            }
        }
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, mut out: MatMut<'_, f32>) {
        let step = Step::new(&inputs, [out.rows(), out.columns()]);
        let (cpu, gate_impl) = self.activation.on(cpu);
        for row in 0..out.rows() {
            dispatch!(cpu, output_row(gate_impl, &step, row, out.row_mut(row)));
        }
    }

    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        mut into: InputGradients<'_, '_, '_, R>,
    ) {
        let (one, width) = (R::ONE, d_out.columns());
        let step = Step::new(&inputs, [d_out.rows(), width]);
        for row in 0..d_out.rows() {
            for (column, &d) in d_out.row(row).iter().enumerate() {
                let o = sigmoid(step.gate(OUTPUT_GATE, row, column));
                let squashed = step.cell.row(row)[column].tanh();
                let gates = [(OUTPUT_GATE, d * squashed * o * (one - o))];
                add_gates(&mut into, &gates, row, (column, width));
                into.matrices[1].row_mut(row)[column] += d * o * (one - squashed * squashed);
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
        let step = Step::new(&inputs, [d_out.rows(), d_out.columns()]);
        for_each_row(d_out.rows(), into, |row, gradients| {
            dispatch!(cpu, output_gradient_row(&step, row, d_out.row(row), gradients));
        });
    }
}

#[inline(always)]
fn output_row<I: Isa>(
    isa: I,
    gate_impl: GateImpl,
    step: &Step<'_, f32>,
    row: usize,
    out: &mut [f32],
) {
    let width = out.len();
    let cell = step.cell.row(row);
    for Range { start: from, .. } in lane_chunks(width) {
        let o = sigmoid_with(isa, gate_impl, load_sum(isa, step, OUTPUT_GATE, row, (from, width)));
        let squashed = tanh_with(isa, gate_impl, load_columns(isa, cell, from, width));
        store_columns(isa, isa.mul(o, squashed), out, from);
    }
}

#[inline(always)]
fn output_gradient_row<I: Isa>(
    isa: I,
    step: &Step<'_, f32>,
    row: usize,
    d_out: &[f32],
    mut gradients: RowGradients<'_>,
) {
    let width = d_out.len();
    let cell = step.cell.row(row);
    for Range { start: from, .. } in lane_chunks(width) {
        let at = (from, width);
        let o = activation::sigmoid(isa, load_sum(isa, step, OUTPUT_GATE, row, at));
        let squashed = activation::tanh(isa, load_columns(isa, cell, from, width));
        let d = load_columns(isa, d_out, from, width);
        let d_cell = isa.mul(isa.mul(d, o), tanh_slope(isa, squashed));
        add_columns(isa, d_cell, gradients.cell, from, width);
        let d_o = isa.mul(isa.mul(d, squashed), sigmoid_slope(isa, o));
        gradients.add(isa, d_o, OUTPUT_GATE, at);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cell_shapes, check};
    use super::*;

    #[test]
    fn lstm_passes_the_operator_check() {
        let activation = ActivationImpl::Vector;
        for with_input in [false, true] {
            let shapes = cell_shapes(4, with_input, true);
            check(&LstmCell { activation }, &shapes, 8);
            check(&LstmOutput { activation }, &shapes, 9);
        }
    }
}
