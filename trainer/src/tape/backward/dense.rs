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
    pub(super) fn embed(
        &mut self,
        table: MatrixPlace,
        tokens: &[Option<u32>],
        scale: f32,
        mask: Option<&[f32]>,
        positions: Option<&Positions>,
    ) {
        let own = MatRef::new(self.own, self.node.rows, self.node.width);
        let scales = embedding_scales::<K::Real>(scale, mask);
        for (row, token) in tokens.iter().enumerate() {
            let own = own.row_range(row..row + 1);
            if let Some(token) = token {
                let vector = table_row(self.parameters, table, *token);
                self.kernels.add_scaled(scales(row), own, vector);
            }
            if let Some(positions) = positions
                && let PositionTable::Learned(table) = positions.table
            {
                let position = positions.positions[row];
                self.kernels.add(own, table_row(self.parameters, table, position));
            }
        }
    }

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
        let out = MatMut::new(self.own, node.rows, node.width);
        kernels.activation_gradient(activation, saved, out);
        let own = MatRef::new(self.own, node.rows, node.width);
        if let Some(residual) = residual {
            self.into.add(kernels, own, residual);
        }
        self.packed_parameters.with_weights(self.registry, weights, |weights| {
            let (into, is_begun) = self.into.begin(input);
            kernels.gemm_gradient(own, weights, is_begun, into);
        });
        let spec = self.registry.affine(weights);
        if let Some(bias) = spec.bias {
            let sums = &mut self.scratch.columns;
            add_bias_gradient(kernels, self.registry, bias, own, sums, self.parameters);
        }
        if num_uses[weights.0 as usize] == 1 {
            add_weight_gradient(kernels, spec, values.of(input), own, self.parameters);
        } else {
            deferred[weights.0 as usize].push((input, self.index));
        }
    }
}
