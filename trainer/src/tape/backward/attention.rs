//! Gradients of attention. Queries are in groups; each group attends to the positions of one
//! sentence.

use std::ops::Range;

use miriam_kernels::MatRef;

use super::super::gradient_sums::{add_vector_gradient, alignment_gradient, gradients_of_group};
use super::super::node::{Columns, Group, Tensor};
use super::super::weights::VectorId;
use super::NodeGradient;
use crate::Real;
use crate::kernels::{Kernels, RecurrentAttention};

/// Returns the rows of each group's queries and the places of their weights; all heads of a group
/// are consecutive.
fn ranges_of_groups(
    groups: &[Group],
    heads: usize,
) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let (mut first, mut pairs_before) = (0, 0);
    groups.iter().map(move |(rows, sentence)| {
        let rows = first..first + rows;
        let pairs = pairs_before..pairs_before + heads * rows.len() * sentence.rows.len();
        (first, pairs_before) = (rows.end, pairs.end);
        (rows, pairs)
    })
}

impl<K: Kernels> NodeGradient<'_, K> {
    /// Passes gradients through multi-head attention; `has_masks` says whether masks of dropout are
    /// saved after weights.
    pub(super) fn attend(
        &mut self,
        queries: &Columns,
        groups: &[Group],
        positions: &Option<Vec<u32>>,
        has_masks: bool,
    ) {
        let (node, values, guide) = (self.node, self.values, self.guide);
        let Some((_, any)) = groups.first() else { return };
        let heads = any.heads;
        let num_weights = if has_masks { node.saved / 2 } else { node.saved };
        let (weights, masks) = values.saved(node).split_at(num_weights);
        let d_out = MatRef::new(self.d_out, node.rows, node.width);
        let queries_all = values.columns(queries);
        let results = [queries.clone(), any.keys.clone(), any.values.clone()];
        let buffers = &mut self.scratch.buffers;
        self.input_gradients.with_all(self.kernels, buffers, &results, |kernels, into| {
            let all = groups.iter().zip(ranges_of_groups(groups, heads)).enumerate();
            for (number, (group, (rows, pairs))) in all {
                let (_, sentence) = group;
                let extra =
                    alignment_gradient(guide, group, positions, number, || &weights[pairs.start..]);
                kernels.attend_gradient(
                    heads,
                    queries_all.row_range(rows.clone()),
                    values.columns(&sentence.keys).row_range(sentence.rows.clone()),
                    values.columns(&sentence.values).row_range(sentence.rows.clone()),
                    has_masks.then(|| &masks[pairs.clone()]),
                    &weights[pairs.clone()],
                    extra.as_deref(),
                    d_out.row_range(rows.clone()),
                    gradients_of_group(into, rows, sentence),
                );
            }
        });
    }

    /// Passes gradients through the attention of recurrent decoders; `vector` is the vector of
    /// additive scores.
    pub(super) fn attend_annotations(
        &mut self,
        vector: Option<VectorId>,
        queries: Tensor,
        groups: &[Group],
        positions: &Option<Vec<u32>>,
    ) {
        let (node, values, guide) = (self.node, self.values, self.guide);
        let Some((_, any)) = groups.first() else { return };
        let d_out = MatRef::new(self.d_out, node.rows, node.width);
        let weights = values.saved(node);
        let queries_all = values.of(queries);
        let packed_parameters = self.packed_parameters;
        let vector_gradient = &mut self.scratch.vector_gradients;
        vector_gradient.clear();
        vector_gradient.resize(queries.width(), K::Real::ZERO);
        let results = [Columns::all(queries), any.keys.clone(), any.values.clone()];
        let buffers = &mut self.scratch.buffers;
        self.input_gradients.with_all(self.kernels, buffers, &results, |kernels, into| {
            let all = groups.iter().zip(ranges_of_groups(groups, 1)).enumerate();
            for (number, (group, (rows, pairs))) in all {
                let (_, sentence) = group;
                let extra =
                    alignment_gradient(guide, group, positions, number, || &weights[pairs.start..]);
                let positions = sentence.rows.clone();
                let attention = RecurrentAttention {
                    vector: vector.map(|vector| packed_parameters.vector(vector)),
                    queries: queries_all.row_range(rows.clone()),
                    keys: values.columns(&sentence.keys).row_range(positions.clone()),
                    values: values.columns(&sentence.values).row_range(positions),
                };
                kernels.attend_annotations_gradient(
                    attention,
                    &weights[pairs],
                    extra.as_deref(),
                    d_out.row_range(rows.clone()),
                    gradients_of_group(into, rows, sentence),
                    vector_gradient,
                );
            }
        });
        if let Some(vector) = vector {
            add_vector_gradient(self.registry, vector, vector_gradient, self.parameters);
        }
    }
}
