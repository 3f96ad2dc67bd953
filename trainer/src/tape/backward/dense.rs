//! Gradients of operations on single rows: embeddings, products with weights, sums and activations.

use miriam_kernels::activation::Activation;
use miriam_kernels::{MatMut, MatRef};

use super::super::forward::embedding_scales;
use super::super::gradient_sums::{add_bias_gradient, add_weight_gradient, table_row, tensor};
use super::super::node::{PositionTable, Positions, Tensor};
use super::super::weights::{AffineId, MatrixPlace};
use super::{NodeGradient, Occurrence};
use crate::kernels::{Kernels, saves_result};

impl<K: Kernels> NodeGradient<'_, K> {
    /// Adds the gradients of embeddings to the rows of their tables.
    pub(super) fn embed(
        &mut self,
        table: MatrixPlace,
        tokens: &[Option<u32>],
        scale: f32,
        mask: Option<&[f32]>,
        positions: Option<&Positions>,
    ) {
        let d_out = MatRef::new(self.d_out, self.node.rows, self.node.width);
        let scales = embedding_scales::<K::Real>(scale, mask);
        for (row, token) in tokens.iter().enumerate() {
            let row_gradient = d_out.row_range(row..row + 1);
            if let Some(token) = token {
                let vector = table_row(self.parameters, table, *token);
                self.kernels.add_scaled(scales(row), row_gradient, vector);
            }
            if let Some(positions) = positions
                && let PositionTable::Learned(table) = positions.table
            {
                let position = positions.positions[row];
                self.kernels.add(row_gradient, table_row(self.parameters, table, position));
            }
        }
    }

    /// Passes gradients through a product with weights. If the weights occur several times, the
    /// occurrence is added to `deferred`, and their gradient is computed later.
    pub(super) fn affine(
        &mut self,
        input: Tensor,
        weights: AffineId,
        residual: Option<Tensor>,
        activation: Activation,
        num_uses: &[usize],
        deferred: &mut [Vec<Occurrence>],
    ) {
        let (node, values, kernels) = (self.node, self.values, &mut *self.kernels);
        let saved = if saves_result(activation) {
            values.of(tensor(self.index, node))
        } else {
            MatRef::new(values.saved(node), node.rows, node.width)
        };
        let out = MatMut::new(self.d_out, node.rows, node.width);
        kernels.activation_gradient(activation, saved, out);
        let d_out = MatRef::new(self.d_out, node.rows, node.width);
        if let Some(residual) = residual {
            self.input_gradients.add(kernels, d_out, residual);
        }
        self.packed_parameters.with_weights(self.registry, weights, |weights| {
            let (into, is_begun) = self.input_gradients.begin(input);
            kernels.gemm_gradient(d_out, weights, is_begun, into);
        });
        let spec = self.registry.affine(weights);
        if let Some(bias) = spec.bias {
            let sums = &mut self.scratch.vector_gradients;
            add_bias_gradient(kernels, self.registry, bias, d_out, sums, self.parameters);
        }
        if num_uses[weights.0 as usize] == 1 {
            add_weight_gradient(kernels, spec, values.of(input), d_out, self.parameters);
        } else {
            deferred[weights.0 as usize].push((input, self.index));
        }
    }
}
