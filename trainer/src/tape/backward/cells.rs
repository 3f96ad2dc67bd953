//! Gradients of recurrent cells: a step of a GRU, of an LSTM, and the state of a multiplicative
//! LSTM.

use miriam_kernels::{MatMut, MatRef};
use miriam_nmt::layer::GruVariant;

use super::super::gradient_sums::add_vector_gradient;
use super::super::node::{Columns, Gradients, Tensor};
use super::super::weights::VectorId;
use super::NodeGradient;
use crate::Real;
use crate::kernels::{
    GruGradients, GruInputs, Kernels, LstmGradients, LstmInputs, MultiplicativeGradients,
    MultiplicativeInputs,
};

/// A gradient to be added to.
type Rows<'a, K> = MatMut<'a, <K as Kernels>::Real>;

/// Calls `body` with the gradients of the input of a cell, if it has one, of the product of its
/// state, and of the state.
fn with_gradients_of_cell<K: Kernels>(
    into: &mut Gradients<'_, K::Real>,
    kernels: &mut K,
    buffers: &mut [Vec<K::Real>; 4],
    input: Option<&Columns>,
    [recurrent, state]: [Tensor; 2],
    body: impl FnOnce(&mut K, Option<Rows<'_, K>>, Rows<'_, K>, Rows<'_, K>),
) {
    let [recurrent, state] = [recurrent, state].map(Columns::all);
    match input {
        Some(input) => {
            let results = [input, &recurrent, &state];
            into.with_each(kernels, buffers, results, |kernels, [input, recurrent, state]| {
                body(kernels, Some(input), recurrent, state);
            });
        }
        None => {
            let results = [&recurrent, &state];
            into.with_each(kernels, buffers, results, |kernels, [recurrent, state]| {
                body(kernels, None, recurrent, state);
            });
        }
    }
}

impl<K: Kernels> NodeGradient<'_, K> {
    pub(super) fn gru(
        &mut self,
        variant: GruVariant,
        input: Option<&Columns>,
        recurrent: Tensor,
        bias: Option<VectorId>,
        state: Tensor,
    ) {
        let (values, node) = (self.values, self.node);
        let inputs = GruInputs {
            variant,
            input: input.map(|input| values.columns(input)),
            recurrent: values.of(recurrent),
            bias: bias.map(|bias| self.packed_parameters.vector(bias)),
            state: values.of(state),
        };
        let own = MatRef::new(self.own, node.rows, node.width);
        let columns = &mut self.scratch.columns;
        columns.clear();
        columns.resize(3 * node.width, K::Real::ZERO);
        let (kernels, buffers) = (&mut *self.kernels, &mut self.scratch.buffers);
        let gradient = |kernels: &mut K,
                        input: Option<Rows<'_, K>>,
                        recurrent: Rows<'_, K>,
                        state: Rows<'_, K>| {
            let bias = bias.map(|_| &mut columns[..]);
            kernels.gru_gradient(inputs, own, GruGradients { input, recurrent, bias, state });
        };
        let results = [recurrent, state];
        with_gradients_of_cell(&mut self.into, kernels, buffers, input, results, gradient);
        if let Some(bias) = bias {
            add_vector_gradient(self.registry, bias, &self.scratch.columns, self.parameters);
        }
    }

    pub(super) fn lstm(
        &mut self,
        input: Option<&Columns>,
        recurrent: Tensor,
        bias: VectorId,
        cell: Tensor,
    ) {
        let (values, node) = (self.values, self.node);
        let (rows, width) = (node.rows, node.width);
        let inputs = LstmInputs {
            input: input.map(|input| values.columns(input)),
            recurrent: values.of(recurrent),
            bias: self.packed_parameters.vector(bias),
            cell: values.of(cell),
        };
        let columns = &mut self.scratch.columns;
        columns.clear();
        columns.resize(4 * width, K::Real::ZERO);
        let cell_gradient = self.next_gradient.map(|next| MatRef::new(next, rows, width));
        let next_cell = MatRef::new(values.saved(node), rows, width);
        let output_gradient = self.is_begun.then(|| MatRef::new(self.own, rows, width));
        let (kernels, buffers) = (&mut *self.kernels, &mut self.scratch.buffers);
        let gradient = |kernels: &mut K,
                        input: Option<Rows<'_, K>>,
                        recurrent: Rows<'_, K>,
                        cell: Rows<'_, K>| {
            let into = LstmGradients { input, recurrent, bias: &mut columns[..], cell };
            kernels.lstm_gradient(inputs, next_cell, output_gradient, cell_gradient, into);
        };
        let results = [recurrent, cell];
        with_gradients_of_cell(&mut self.into, kernels, buffers, input, results, gradient);
        add_vector_gradient(self.registry, bias, &self.scratch.columns, self.parameters);
    }

    pub(super) fn multiplicative_state(
        &mut self,
        input: &Columns,
        input_bias: VectorId,
        recurrent: Tensor,
        recurrent_bias: VectorId,
    ) {
        let (values, node) = (self.values, self.node);
        let inputs = MultiplicativeInputs {
            input: values.columns(input),
            input_bias: self.packed_parameters.vector(input_bias),
            recurrent: values.of(recurrent),
            recurrent_bias: self.packed_parameters.vector(recurrent_bias),
        };
        let own = MatRef::new(self.own, node.rows, node.width);
        let columns = &mut self.scratch.columns;
        columns.clear();
        columns.resize(2 * node.width, K::Real::ZERO);
        let (input_sums, recurrent_sums) = columns.split_at_mut(node.width);
        let results = [input, &Columns::all(recurrent)];
        let buffers = &mut self.scratch.buffers;
        self.into.with_each(self.kernels, buffers, results, |kernels, [input, recurrent]| {
            let into = MultiplicativeGradients {
                input,
                input_bias: &mut *input_sums,
                recurrent,
                recurrent_bias: &mut *recurrent_sums,
            };
            kernels.multiplicative_state_gradient(inputs, own, into);
        });
        add_vector_gradient(self.registry, input_bias, input_sums, self.parameters);
        add_vector_gradient(self.registry, recurrent_bias, recurrent_sums, self.parameters);
    }
}
