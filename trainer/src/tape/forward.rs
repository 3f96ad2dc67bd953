//! Forward pass: the results of recorded operations.

use miriam_kernels::MatMut;
use miriam_kernels::activation::Activation;
use miriam_kernels::operators::{InputArrays, OperatorReal};

use super::backend::attention_site;
use super::node::{Group, Op, PositionTable, Positions, Values};
use super::sinusoids::Sinusoids;
use super::weights::MatrixPlace;
use super::{GuidedAlignment, Tape};
use crate::Real;
use crate::dropout::fill_mask;
use crate::kernels::{Kernels, RecurrentAttention, saves_result};

impl<K: Kernels> Tape<K> {
    /// Computes node `index`; earlier nodes must have been computed.
    pub(super) fn forward(&mut self, index: usize) {
        let packed_parameters = self.packed_parameters();
        let node = &self.nodes[index];
        let (before, rest) = self.values.split_at_mut(node.value);
        let (result, rest) = rest.split_at_mut(node.len());
        let saved = &mut rest[..node.saved];
        let inputs = Values { nodes: &self.nodes, values: before };
        let mut out = MatMut::new(result, node.rows, node.width);
        let kernels = &mut self.kernels;
        match &node.op {
            Op::Zeros => result.fill(K::Real::ZERO),
            Op::IndexSelect { from, indices } => {
                let from = inputs.of(*from);
                for (row, &index) in indices.iter().enumerate() {
                    out.row_mut(row).copy_from_slice(from.row(index as usize));
                }
            }
            Op::Embed { table, tokens, scale, mask, positions } => {
                let scales = embedding_scales(*scale, mask.as_deref());
                let sinusoids = &mut self.scratch.sinusoids;
                let positions = positions.as_ref();
                embed(
                    packed_parameters.values(),
                    *table,
                    tokens,
                    scales,
                    positions,
                    sinusoids,
                    out,
                );
            }
            Op::Affine { input, weights, residual, activation } => {
                let bias =
                    self.registry.affine(*weights).bias.map(|bias| packed_parameters.vector(bias));
                let residual = residual.map(|residual| inputs.of(residual));
                let fused = if saves_result(*activation) { *activation } else { Activation::None };
                packed_parameters.with_weights(&self.registry, *weights, |weights| {
                    let input = inputs.of(*input);
                    kernels.gemm(input, weights, bias, residual, fused, out.reborrow());
                });
                if !saves_result(*activation) {
                    saved.copy_from_slice(result);
                    let out = MatMut::new(result, node.rows, node.width);
                    kernels.activate(*activation, out);
                }
            }
            Op::Apply { operator, matrices, vectors } => {
                let matrices = matrices.iter().map(|matrix| inputs.columns(matrix));
                let vectors = vectors.iter().map(|&vector| packed_parameters.vector(vector));
                let inputs = InputArrays::new(matrices, vectors);
                K::Real::forward(&**operator, kernels.implementation(), inputs.inputs(), out);
            }
            Op::Attend { queries, groups, visible, positions, dropout_site } => {
                let heads = groups.first().map_or(1, |(_, group)| group.heads);
                let (weights, mut masks) = saved.split_at_mut(match dropout_site {
                    Some(_) => node.saved / 2,
                    None => node.saved,
                });
                let queries_all = inputs.columns(queries);
                let (mut first, mut rest, mut weights_rest) = (0, out, &mut *weights);
                for (rows, group) in groups {
                    let queries = queries_all.row_range(first..first + rows);
                    let pairs = heads * rows * group.rows.len();
                    let (part, others) = rest.split_rows(*rows);
                    let (group_weights, later) = weights_rest.split_at_mut(pairs);
                    let mask = dropout_site.map(|(side, site)| {
                        let (mask, later) = std::mem::take(&mut masks).split_at_mut(pairs);
                        masks = later;
                        let keys = &self.row_keys[side as usize];
                        let rate = self.dropout.attention;
                        for (row, mask) in mask.chunks_exact_mut(group.rows.len()).enumerate() {
                            let key = keys[first + row % rows];
                            let scratch = &mut self.scratch.mask;
                            scratch.resize(mask.len(), 0.0);
                            let place = key.mask_row(attention_site(site, row / rows));
                            fill_mask(self.dropout.key, place, rate, scratch);
                            let elements = mask.iter_mut().zip(&*scratch);
                            elements.for_each(|(to, &from)| *to = K::Real::of(from.into()));
                        }
                        &*mask
                    });
                    let keys = inputs.columns(&group.keys).row_range(group.rows.clone());
                    let values = inputs.columns(&group.values).row_range(group.rows.clone());
                    kernels.attend(
                        heads,
                        *visible,
                        queries,
                        keys,
                        values,
                        mask,
                        group_weights,
                        part,
                    );
                    (first, rest, weights_rest) = (first + rows, others, later);
                }
                if let (Some(positions), Some(guide)) = (positions, &self.guided_alignment) {
                    self.alignment_loss += alignment_loss(guide, groups, positions, weights, heads);
                }
            }
            Op::AttendAnnotations { vector, queries, groups, positions } => {
                let vector = vector.map(|vector| packed_parameters.vector(vector));
                let queries = inputs.of(*queries);
                let (mut first, mut rest, mut weights_rest) = (0, out, &mut *saved);
                for (rows, group) in groups {
                    let (part, others) = rest.split_rows(*rows);
                    let (group_weights, later) = weights_rest.split_at_mut(rows * group.rows.len());
                    let attention = RecurrentAttention {
                        vector,
                        queries: queries.row_range(first..first + rows),
                        keys: inputs.columns(&group.keys).row_range(group.rows.clone()),
                        values: inputs.columns(&group.values).row_range(group.rows.clone()),
                    };
                    kernels.attend_annotations(attention, group_weights, part);
                    (first, rest, weights_rest) = (first + rows, others, later);
                }
                if let (Some(positions), Some(guide)) = (positions, &self.guided_alignment) {
                    self.alignment_loss += alignment_loss(guide, groups, positions, saved, 1);
                }
            }
            Op::CrossEntropy { .. } => {
                unreachable!("losses are computed by Tape::cross_entropy")
            }
        }
    }
}

/// Returns the factor of each token's vector: the scale times the mask of word dropout.
pub(super) fn embedding_scales<R: Real>(scale: f32, mask: Option<&[f32]>) -> impl Fn(usize) -> R {
    move |row| {
        let kept = mask.map_or(1.0, |mask| mask[row]);
        R::of(f64::from(scale)) * R::of(f64::from(kept))
    }
}

fn embed<R: Real>(
    values: &[R],
    table: MatrixPlace,
    tokens: &[Option<u32>],
    scale: impl Fn(usize) -> R,
    positions: Option<&Positions>,
    sinusoids: &mut Sinusoids<R>,
    mut out: MatMut<'_, R>,
) {
    let row_of = |table: MatrixPlace, row: u32| {
        &values[table.offset + row as usize * table.columns..][..table.columns]
    };
    for (row, token) in tokens.iter().enumerate() {
        let out = out.row_mut(row);
        match *token {
            Some(token) => {
                let scale = scale(row);
                let elements = out.iter_mut().zip(row_of(table, token));
                elements.for_each(|(out, &x)| *out = scale * x);
            }
            None => out.fill(R::ZERO),
        }
        let Some(Positions { table, positions }) = positions else { continue };
        let encoding = match *table {
            PositionTable::Learned(table) => row_of(table, positions[row]),
            PositionTable::Sinusoidal { half, steps } => {
                sinusoids.row([half, steps], positions[row])
            }
        };
        out.iter_mut().zip(encoding).for_each(|(out, &x)| *out += x);
    }
}

/// The number added to attention weights before the logarithm.
pub(super) const ALIGNMENT_EPSILON: f64 = 1e-6;

/// Returns the links of a group, each as the index of its attention weight in the first head and
/// the weight of the link.
pub(super) fn links_of<'a>(
    guide: &'a GuidedAlignment,
    (queries, group): &'a Group,
    first_position: u32,
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let (queries, positions) = (*queries, group.rows.len());
    let links = guide.links.get(group.sentence).map_or(&[][..], |links| &links[..]);
    links.iter().filter_map(move |&(target, source, weight)| {
        let query = target.checked_sub(first_position)? as usize;
        let is_there = query < queries && (source as usize) < positions;
        is_there.then_some((query * positions + source as usize, f64::from(weight)))
    })
}

/// Returns the weighted loss of guided alignment. In `weights`, the attention weights of all heads
/// of a group are consecutive.
fn alignment_loss<R: Real>(
    guide: &GuidedAlignment,
    groups: &[Group],
    positions: &[u32],
    weights: &[R],
    heads: usize,
) -> f64 {
    let (mut loss, mut first) = (0.0, 0);
    for (group, &position) in groups.iter().zip(positions) {
        for (index, weight) in links_of(guide, group, position) {
            loss -= weight * (weights[first + index].as_f64() + ALIGNMENT_EPSILON).ln();
        }
        first += heads * group.0 * group.1.rows.len();
    }
    guide.weight * loss
}
