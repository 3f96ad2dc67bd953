//! Gradients of embeddings, products with weights, sums, norms and activations: of
//! operations on each row by itself.

use std::ops::Range;

use miriam_kernels::activation::Activation;
use miriam_kernels::{MatMut, MatRef};

use super::super::forward::{embedding_scales, norm_of};
use super::super::gradient_sums::{
    NormSums, add_bias_gradient, add_norm_sums, add_weight_gradient, table_row, tensor,
};
use super::super::node::{NormSpec, PositionTable, Positions, Tensor};
use super::super::weights::{AffineId, MatrixPlace};
use super::{NodeGradient, Occurrence};
use crate::Real;
use crate::kernels::{Kernels, NormGradients, saves_result};

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

    pub(super) fn layer_norm(&mut self, rows: Tensor, residual: Option<Tensor>, norm: &NormSpec) {
        let (node, values, kernels) = (self.node, self.values, &mut *self.kernels);
        let own = MatRef::new(self.own, node.rows, node.width);
        let sums = NormSums::new(&mut self.scratch.columns, node.width);
        // Both summands get the same gradient: it is made once, apart from what is there.
        let gradient = &mut self.scratch.rows;
        let is_apart = residual.is_some_and(|other| other == rows || self.into.is_begun(rows));
        let into_rows = match is_apart {
            true => {
                gradient.clear();
                gradient.resize(node.len(), K::Real::ZERO);
                MatMut::new(gradient, node.rows, node.width)
            }
            false => self.into.of(rows),
        };
        let residual_rows = residual.map(|residual| values.of(residual));
        kernels.layer_norm_gradient(
            norm_of(self.packed_parameters, norm).scale,
            values.of(rows),
            residual_rows,
            values.saved(node),
            own,
            NormGradients { rows: into_rows, scale: sums.scale, bias: Some(sums.bias) },
        );
        match residual {
            Some(residual) if is_apart => {
                let gradient = MatRef::new(gradient, node.rows, node.width);
                self.into.add(kernels, gradient, rows);
                self.into.add(kernels, gradient, residual);
            }
            Some(residual) => self.into.add_other(kernels, rows, residual),
            None => {}
        }
        let sums = &self.scratch.columns;
        add_norm_sums(self.registry, norm.scale, norm.bias, sums, self.parameters);
    }

    /// Norms of some columns; columns without a norm are copies.
    pub(super) fn norm_columns(&mut self, rows: Tensor, norms: &[(Range<usize>, NormSpec)]) {
        let (node, values) = (self.node, self.values);
        let own = MatRef::new(self.own, node.rows, node.width);
        let mut is_normed = vec![false; node.width];
        for (part, (columns, norm)) in norms.iter().enumerate() {
            is_normed[columns.clone()].fill(true);
            let sums = NormSums::new(&mut self.scratch.columns, columns.len());
            self.kernels.layer_norm_gradient(
                norm_of(self.packed_parameters, norm).scale,
                values.of(rows).column_range(columns.clone()),
                None,
                &values.saved(node)[2 * part * node.rows..2 * (part + 1) * node.rows],
                own.column_range(columns.clone()),
                NormGradients {
                    rows: self.into.of(rows).column_range(columns.clone()),
                    scale: sums.scale,
                    bias: Some(sums.bias),
                },
            );
            let sums = &self.scratch.columns;
            add_norm_sums(self.registry, norm.scale, norm.bias, sums, self.parameters);
        }
        let mut rows = self.into.of(rows);
        for row in 0..node.rows {
            let elements = rows.row(row).iter_mut().zip(own.row(row)).zip(&is_normed);
            let copied = elements.filter(|(_, is_normed)| !**is_normed);
            copied.for_each(|((into, &g), _)| *into += g);
        }
    }
}
