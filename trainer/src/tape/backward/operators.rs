//! Gradients of operators: the tape finds their places, and operators compute them.

use miriam_kernels::MatRef;
use miriam_kernels::operators::{AnyOperator, InputArrays, InputGradients, OperatorReal};

use super::super::gradient_sums::{add_vector_gradient, tensor};
use super::super::node::Columns;
use super::super::weights::VectorId;
use super::NodeGradient;
use crate::Real;
use crate::kernels::Kernels;

impl<K: Kernels> NodeGradient<'_, K> {
    pub(super) fn apply(
        &mut self,
        operator: &dyn AnyOperator,
        matrices: &[Columns],
        vectors: &[VectorId],
    ) {
        let (values, parameters) = (self.values, self.packed_parameters);
        let lengths: Vec<usize> =
            vectors.iter().map(|&vector| parameters.vector(vector).len()).collect();
        let columns = &mut self.scratch.columns;
        columns.clear();
        columns.resize(lengths.iter().sum(), K::Real::ZERO);
        let mut sums: Vec<&mut [K::Real]> = Vec::with_capacity(vectors.len());
        let mut rest = &mut columns[..];
        for &length in &lengths {
            let (vector_sums, others) = rest.split_at_mut(length);
            sums.push(vector_sums);
            rest = others;
        }

        let inputs = InputArrays::new(
            matrices.iter().map(|matrix| values.columns(matrix)),
            vectors.iter().map(|&vector| parameters.vector(vector)),
        );
        let out = values.of(tensor(self.index, self.node));
        let own = MatRef::new(self.own, self.node.rows, self.node.width);
        let buffers = &mut self.scratch.buffers;
        self.into.with_all(self.kernels, buffers, matrices, |kernels, gradients| {
            let into = InputGradients { matrices: gradients, vectors: &mut sums };
            let implementation = kernels.implementation();
            K::Real::gradient(operator, implementation, inputs.inputs(), out, own, into);
        });
        let mut rest = &columns[..];
        for (&vector, &length) in vectors.iter().zip(&lengths) {
            let (vector_sums, others) = rest.split_at(length);
            add_vector_gradient(self.registry, vector, vector_sums, self.parameters);
            rest = others;
        }
    }
}
