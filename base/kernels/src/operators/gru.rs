//! A step of a gated recurrent unit (Cho et al. 2014) from the products of its input and its state:
//!
//! ```text
//! r = sigmoid(x_r + s_r + b_r)      z = sigmoid(x_z + s_z + b_z)
//! h = tanh(x_h + r s_h + b_h)       state = (1 - z) h + z state'
//! ```
//!
//! `state'` is the state before the step. Gates are side by side in the order r, z, h; model
//! readers permute other orders.

use std::ops::Range;

use super::columns::{
    add_columns, add_gate, load_columns, load_gate, load_gate_or_zero, sigmoid_slope,
    store_columns, tanh_slope,
};
use super::{
    ActivationImpl, DeviceKernel, DeviceOperator, InputGradients, Inputs, Operator, assert_shape,
    gated_shape, sigmoid,
};
use crate::activation::{self, GateImpl, sigmoid_with, tanh_with};
use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef, Real};

/// The position of the bias of a GRU's candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GruVariant {
    /// `tanh(x + r * s + b)`: encoders, the first cell of a conditional GRU, and Devlin's
    /// cell (2017, section 4, with the formula there corrected).
    Standard,
    /// `tanh(x + r * (s + b))`: Nematus' second cell and its transitions.
    BiasInsideReset,
}

/// A step of a GRU, which gives the next state. The matrices are the product of the state with all
/// gates, `[rows, 3 * width]`, the state, `[rows, width]`, and the product of the input,
/// `[rows, 3 * width]`. The later cells of a deep transition cell have no input. The vector, if
/// there is one, is the bias, `[3 * width]`.
#[derive(Clone, Copy, Debug)]
pub struct Gru {
    /// The position of the bias.
    pub variant: GruVariant,
    /// The implementation of gates in vector instructions. Gradients always use exact gates.
    pub activation: ActivationImpl,
}

/// The inputs by name.
#[derive(Clone, Copy)]
struct Step<'a, R> {
    recurrent: MatRef<'a, R>,
    state: MatRef<'a, R>,
    input: Option<MatRef<'a, R>>,
    bias: Option<&'a [R]>,
}

impl<'a, R: Copy> Step<'a, R> {
    fn new(inputs: &Inputs<'a, R>, [rows, width]: [usize; 2]) -> Self {
        let [recurrent, state, rest @ ..] = inputs.matrices else {
            panic!("a GRU takes the product of its state, and its state");
        };
        let step = Step {
            recurrent: *recurrent,
            state: *state,
            input: rest.first().copied(),
            bias: inputs.vectors.first().copied(),
        };
        assert_shape(&step.state, [rows, width]);
        let products = [Some(step.recurrent), step.input];
        products.iter().flatten().for_each(|product| assert_shape(product, [rows, 3 * width]));
        assert!(step.bias.is_none_or(|bias| bias.len() == 3 * width), "three gates have a bias");
        step
    }
}

/// The gates and the candidate of an element.
struct Element<R> {
    reset: R,
    update: R,
    candidate: R,
    /// The part of the candidate's argument that the reset gate multiplies: the recurrent term, and
    /// in [`GruVariant::BiasInsideReset`] the bias too.
    inner: R,
}

impl Gru {
    fn element<R: Real>(&self, step: &Step<'_, R>, row: usize, column: usize) -> Element<R> {
        let width = step.state.columns();
        let gates = [0, 1, 2].map(|gate| gate * width + column);
        let x = gates.map(|at| step.input.map_or(R::ZERO, |input| input.row(row)[at]));
        let b = gates.map(|at| step.bias.map_or(R::ZERO, |bias| bias[at]));
        let s = gates.map(|at| step.recurrent.row(row)[at]);
        let reset = sigmoid(x[0] + s[0] + b[0]);
        let update = sigmoid(x[1] + s[1] + b[1]);
        let (inner, outer) = match self.variant {
            GruVariant::Standard => (s[2], b[2]),
            GruVariant::BiasInsideReset => (s[2] + b[2], R::ZERO),
        };
        let candidate = (x[2] + reset * inner + outer).tanh();
        Element { reset, update, candidate, inner }
    }
}

impl Operator for Gru {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        let [recurrent, state, input @ ..] = matrices else { panic!("products and a state") };
        gated_shape(*state, 3, std::iter::once(recurrent).chain(input))
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Elements(DeviceKernel {
            code: u32::from(self.variant == GruVariant::BiasInsideReset),
            vectors: [0, 1],
            vector_parts: 3,
            ..DeviceKernel::new("gru", [2, 3])
        })
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let step = Step::new(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            let state = step.state.row(row);
            for (column, out) in out.row_mut(row).iter_mut().enumerate() {
                let Element { update, candidate, .. } = self.element(&step, row, column);
                *out = (R::ONE - update) * candidate + update * state[column];
            }
        }
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, mut out: MatMut<'_, f32>) {
        let step = Step::new(&inputs, [out.rows(), out.columns()]);
        let (cpu, gate_impl) = self.activation.on(cpu);
        for row in 0..out.rows() {
            let out = out.row_mut(row);
            dispatch!(cpu, forward_row(gate_impl, self.variant, &step, row, out));
        }
    }

    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        let (one, width) = (R::ONE, d_out.columns());
        let step = Step::new(&inputs, [d_out.rows(), width]);
        let [d_recurrent, d_state, rest @ ..] = into.matrices else { panic!("two gradients") };
        let mut d_input = rest.first_mut();
        let mut d_bias = into.vectors.first_mut();
        for row in 0..d_out.rows() {
            for column in 0..width {
                let Element { reset, update, candidate, inner } = self.element(&step, row, column);
                let d = d_out.row(row)[column];
                let d_argument = d * (one - update) * (one - candidate * candidate);
                let difference = step.state.row(row)[column] - candidate;
                let d_gates = [
                    d_argument * inner * reset * (one - reset),
                    d * difference * update * (one - update),
                    d_argument,
                ];
                let d_candidate_bias = match self.variant {
                    GruVariant::Standard => d_argument,
                    GruVariant::BiasInsideReset => d_argument * reset,
                };
                for (gate, d_gate) in d_gates.into_iter().enumerate() {
                    let at = gate * width + column;
                    let (through_state, d_gate_bias) = match gate {
                        2 => (d_argument * reset, d_candidate_bias),
                        _ => (d_gate, d_gate),
                    };
                    d_recurrent.row_mut(row)[at] += through_state;
                    if let Some(d_input) = &mut d_input {
                        d_input.row_mut(row)[at] += d_gate;
                    }
                    if let Some(d_bias) = &mut d_bias {
                        d_bias[at] += d_gate_bias;
                    }
                }
                d_state.row_mut(row)[column] += d * update;
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
        let [d_recurrent, d_state, rest @ ..] = into.matrices else { panic!("two gradients") };
        let mut d_input = rest.first_mut();
        let mut d_bias = into.vectors.first_mut();
        for row in 0..d_out.rows() {
            let gradients = RowGradients {
                recurrent: d_recurrent.row_mut(row),
                state: d_state.row_mut(row),
                input: d_input.as_mut().map(|d_input| d_input.row_mut(row)),
                bias: d_bias.as_mut().map(|d_bias| &mut ***d_bias),
            };
            dispatch!(cpu, gradient_row(self.variant, &step, row, d_out.row(row), gradients));
        }
    }
}

#[inline(always)]
fn forward_row<I: Isa>(
    isa: I,
    gate_impl: GateImpl,
    variant: GruVariant,
    step: &Step<'_, f32>,
    row: usize,
    out: &mut [f32],
) {
    let width = out.len();
    let (input, recurrent) = (step.input.map(|input| input.row(row)), step.recurrent.row(row));
    let state = step.state.row(row);
    for Range { start: from, .. } in lane_chunks(width) {
        let mut x = [isa.splat(0.0); 3];
        let (mut s, mut b) = (x, x);
        for index in 0..3 {
            x[index] = load_gate_or_zero(isa, input, index, width, from);
            s[index] = load_gate(isa, recurrent, index, width, from);
            b[index] = load_gate_or_zero(isa, step.bias, index, width, from);
        }
        let r = sigmoid_with(isa, gate_impl, isa.add(isa.add(x[0], s[0]), b[0]));
        let z = sigmoid_with(isa, gate_impl, isa.add(isa.add(x[1], s[1]), b[1]));
        let argument = match variant {
            GruVariant::Standard => isa.add(isa.mul_add(r, s[2], x[2]), b[2]),
            GruVariant::BiasInsideReset => isa.mul_add(r, isa.add(s[2], b[2]), x[2]),
        };
        let candidate = tanh_with(isa, gate_impl, argument);
        // (1 - z) * candidate + z * state
        let difference = isa.sub(load_columns(isa, state, from, width), candidate);
        store_columns(isa, isa.mul_add(z, difference, candidate), out, from);
    }
}

/// The gradients of the inputs of a row, and the gradient of the bias.
struct RowGradients<'a> {
    recurrent: &'a mut [f32],
    state: &'a mut [f32],
    input: Option<&'a mut [f32]>,
    bias: Option<&'a mut [f32]>,
}

#[inline(always)]
fn gradient_row<I: Isa>(
    isa: I,
    variant: GruVariant,
    step: &Step<'_, f32>,
    row: usize,
    d_out: &[f32],
    mut gradients: RowGradients<'_>,
) {
    let width = d_out.len();
    let (input, recurrent) = (step.input.map(|input| input.row(row)), step.recurrent.row(row));
    let state = step.state.row(row);
    for Range { start: from, .. } in lane_chunks(width) {
        let mut x = [isa.splat(0.0); 3];
        let (mut s, mut b) = (x, x);
        for index in 0..3 {
            x[index] = load_gate_or_zero(isa, input, index, width, from);
            s[index] = load_gate(isa, recurrent, index, width, from);
            b[index] = load_gate_or_zero(isa, step.bias, index, width, from);
        }
        let r = activation::sigmoid(isa, isa.add(isa.add(x[0], s[0]), b[0]));
        let z = activation::sigmoid(isa, isa.add(isa.add(x[1], s[1]), b[1]));
        let (argument, inner) = match variant {
            GruVariant::Standard => (isa.add(isa.mul_add(r, s[2], x[2]), b[2]), s[2]),
            GruVariant::BiasInsideReset => {
                let inner = isa.add(s[2], b[2]);
                (isa.mul_add(r, inner, x[2]), inner)
            }
        };
        let candidate = activation::tanh(isa, argument);

        let d = load_columns(isa, d_out, from, width);
        let d_candidate = isa.mul(d, isa.sub(isa.splat(1.0), z));
        let d_argument = isa.mul(d_candidate, tanh_slope(isa, candidate));
        let d_inner = isa.mul(d_argument, r);
        let d_r = isa.mul(isa.mul(d_argument, inner), sigmoid_slope(isa, r));
        let before = load_columns(isa, state, from, width);
        let d_z = isa.mul(isa.mul(d, isa.sub(before, candidate)), sigmoid_slope(isa, z));
        let d_bias = match variant {
            GruVariant::Standard => d_argument,
            GruVariant::BiasInsideReset => d_inner,
        };
        add_columns(isa, isa.mul(d, z), gradients.state, from, width);
        let to_recurrent = [d_r, d_z, d_inner];
        let (to_input, to_bias) = ([d_r, d_z, d_argument], [d_r, d_z, d_bias]);
        for index in 0..3 {
            if let Some(d_input) = &mut gradients.input {
                add_gate(isa, to_input[index], d_input, index, width, from);
            }
            add_gate(isa, to_recurrent[index], gradients.recurrent, index, width, from);
            if let Some(d_bias) = &mut gradients.bias {
                add_gate(isa, to_bias[index], d_bias, index, width, from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cell_shapes, check};
    use super::*;

    #[test]
    fn gru_passes_the_operator_check() {
        let activation = ActivationImpl::Vector;
        for variant in [GruVariant::Standard, GruVariant::BiasInsideReset] {
            for (with_input, with_bias) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let shapes = cell_shapes(3, with_input, with_bias);
                check(&Gru { variant, activation }, &shapes, 7);
            }
        }
    }
}
