//! Helpers that add to the gradients of parameters and results.

use std::ops::Range;

use miriam_kernels::plain::add_scaled;
use miriam_kernels::{MatMut, MatRef};

use super::GuidedAlignment;
use super::forward::{ALIGNMENT_EPSILON, links_of};
use super::node::{Group, KeysValues, Node, Tensor};
use super::weights::{AffineSpec, MatrixPlace, VectorId, WeightRegistry};
use crate::Real;
use crate::kernels::{AttentionGradients, Kernels};

/// Returns the tensor of a node.
pub(super) fn tensor(index: usize, node: &Node) -> Tensor {
    Tensor { node: index as u32, rows: node.rows as u32, width: node.width as u32 }
}

/// Returns the gradient of a row of a table, `[1, columns]`.
pub(super) fn table_row<R>(parameters: &mut [R], table: MatrixPlace, row: u32) -> MatMut<'_, R> {
    let first = table.offset + row as usize * table.columns;
    MatMut::new(&mut parameters[first..], 1, table.columns)
}

/// Adds the gradient of weights, given their input `[rows, inputs]` and the gradient of their
/// output `[rows, outputs]`.
pub(super) fn add_weight_gradient<K: Kernels>(
    kernels: &mut K,
    spec: &AffineSpec,
    input: MatRef<'_, K::Real>,
    gradient: MatRef<'_, K::Real>,
    parameters: &mut [K::Real],
) {
    let mut first = 0;
    for part in &spec.parts {
        let outputs = if spec.is_transposed { part.rows } else { part.columns };
        let part_gradient = gradient.column_range(first..first + outputs);
        first += outputs;
        let into = MatMut::new(&mut parameters[part.range()], part.rows, part.columns);
        if spec.is_transposed {
            kernels.weight_gradient(part_gradient, input, into);
        } else {
            kernels.weight_gradient(input, part_gradient, into);
        }
    }
}

/// Adds the sums of columns to the gradient of a bias; `sums` is a buffer.
pub(super) fn add_bias_gradient<K: Kernels>(
    kernels: &mut K,
    registry: &WeightRegistry,
    bias: VectorId,
    gradient: MatRef<'_, K::Real>,
    sums: &mut Vec<K::Real>,
    parameters: &mut [K::Real],
) {
    sums.clear();
    sums.resize(gradient.columns(), K::Real::ZERO);
    kernels.column_sums(gradient, sums);
    add_vector_gradient(registry, bias, sums, parameters);
}

/// Adds the gradient of a vector to the gradients of its parts.
pub(super) fn add_vector_gradient<R: Real>(
    registry: &WeightRegistry,
    vector: VectorId,
    gradient: &[R],
    parameters: &mut [R],
) {
    let mut rest = gradient;
    for part in &registry.vector(vector).parts {
        let (part_gradient, others) = rest.split_at(part.len);
        rest = others;
        if let Some(offset) = part.offset {
            add_scaled(R::ONE, part_gradient, &mut parameters[offset..offset + part.len]);
        }
    }
}

/// Selects the gradients of a group from the gradients of all queries, keys and values: the rows of
/// its queries, and of the positions that they attend to.
pub(super) fn gradients_of_group<'a, R>(
    all: &'a mut [MatMut<'_, R>],
    rows: Range<usize>,
    sentence: &KeysValues,
) -> AttentionGradients<'a, R> {
    let [queries, keys, values] = all else { panic!("queries, keys and values") };
    AttentionGradients {
        queries: queries.reborrow().row_range(rows),
        keys: keys.reborrow().row_range(sentence.rows.clone()),
        values: values.reborrow().row_range(sentence.rows.clone()),
    }
}

/// Returns the gradient of guided alignment for the attention weights of a group's first head,
/// `[queries, positions]`; `weights` begins with the weights of that head.
pub(super) fn alignment_gradient<'a, R: Real>(
    guide: Option<&GuidedAlignment>,
    group: &Group,
    positions: &Option<Vec<u32>>,
    number: usize,
    weights: impl FnOnce() -> &'a [R],
) -> Option<Vec<R>> {
    let (guide, positions) = (guide?, positions.as_ref()?);
    let weights = weights();
    let mut gradient = vec![R::ZERO; group.0 * group.1.rows.len()];
    for (index, weight) in links_of(guide, group, positions[number]) {
        let below = weights[index].as_f64() + ALIGNMENT_EPSILON;
        gradient[index] -= R::of(guide.weight * weight / below);
    }
    Some(gradient)
}
