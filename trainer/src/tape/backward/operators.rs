//! Back-propagation through operators: collects the values and gradient buffers that an operator
//! needs.

use miriam_kernels::MatRef;
use miriam_kernels::operators::{AnyOperator, InputArrays, InputGradients, OperatorReal};

use super::super::gradient_sums::{add_vector_gradient, tensor};
use super::super::node::Columns;
use super::super::weights::VectorId;
use super::NodeGradient;
use crate::Real;
use crate::kernels::Kernels;

impl<K: Kernels> NodeGradient<'_, K> {
    /// Adds the gradients of an operator's matrices and vectors, given the gradient of its result.
    pub(super) fn apply(
        &mut self,
        operator: &dyn AnyOperator,
        matrices: &[Columns],
        vectors: &[VectorId],
    ) {
        let (values, parameters) = (self.values, self.packed_parameters);
        let lengths: Vec<usize> =
            vectors.iter().map(|&vector| parameters.vector(vector).len()).collect();
        let vector_gradients = &mut self.scratch.vector_gradients;
        vector_gradients.clear();
        vector_gradients.resize(lengths.iter().sum(), K::Real::ZERO);
        let mut parts: Vec<&mut [K::Real]> = Vec::with_capacity(vectors.len());
        let mut rest = &mut vector_gradients[..];
        for &length in &lengths {
            let (part, others) = rest.split_at_mut(length);
            parts.push(part);
            rest = others;
        }

        let inputs = InputArrays::new(
            matrices.iter().map(|matrix| values.columns(matrix)),
            vectors.iter().map(|&vector| parameters.vector(vector)),
        );
        let out = values.of(tensor(self.index, self.node));
        let d_out = MatRef::new(self.d_out, self.node.rows, self.node.width);
        let buffers = &mut self.scratch.buffers;
        self.input_gradients.with_all(self.kernels, buffers, matrices, |kernels, gradients| {
            let into = InputGradients { matrices: gradients, vectors: &mut parts };
            let implementation = kernels.implementation();
            K::Real::gradient(operator, implementation, inputs.inputs(), out, d_out, into);
        });
        let mut start = 0;
        for (&vector, &length) in vectors.iter().zip(&lengths) {
            let gradient = &vector_gradients[start..start + length];
            add_vector_gradient(self.registry, vector, gradient, self.parameters);
            start += length;
        }
    }
}
