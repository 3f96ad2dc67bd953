//! Scaled dot-product attention over packed keys and values and over a KV cache, and the
//! additive attention of recurrent decoders.
//!
//! The keys and values of a source sentence are packed like weights when it is encoded
//! ([`PackedKv`]): positions are the columns of the keys and the depth of the values.
//! So scores and contexts are computed by f32 GEMMs without sums across SIMD lanes, whether the
//! queries are the hypotheses of a beam or all positions of a sentence. All hypotheses of a beam
//! share these keys and values.
//!
//! The KV cache differs between hypotheses and is read once per step. Its keys and values stay
//! where they were written, in a pool of rows ([`KvPool`]), and each hypothesis has the list of its
//! rows: reordering a beam reorders lists and copies nothing.

mod additive_gradient;
pub mod plain;
mod relative;
mod sequence;

pub use additive_gradient::{AdditiveAttention, AdditiveGradients, attend_additive_gradient};
pub use relative::{RelativeQuery, RelativeTerms, attend_relative_row};
pub use sequence::{
    SequenceAttention, SequenceGradients, SequenceScratch, attend_sequence,
    attend_sequence_gradient,
};

use crate::activation::{GateImpl, softmax_row, tanh_with};
use crate::gemm::{Epilogue, Tiling, gemm_f32};
use crate::isa::{Isa, LANES, dispatch, lane_chunks};
use crate::pack::{PackedF32, UnpackedWeights, WeightsF32};
use crate::{Cpu, MatMut, MatRef};

/// The packed keys and values of one sentence, for all heads.
#[derive(Clone, Debug, Default)]
pub struct PackedKv {
    keys: WeightsF32,
    values: WeightsF32,
    positions: usize,
    heads: usize,
}

/// The positions that a query attends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttentionMask {
    /// All positions.
    All,
    /// This many positions from the first; the rest is padding.
    Prefix(usize),
    /// Queries are at the last positions, and each attends to the positions up to its own.
    Causal,
}

impl AttentionMask {
    /// Returns the number of positions, from the first, that query `row` of `rows` attends to.
    pub fn visible(self, row: usize, rows: usize, positions: usize) -> usize {
        match self {
            AttentionMask::All => positions,
            AttentionMask::Prefix(count) => count.min(positions),
            AttentionMask::Causal => (row + 1 + positions.saturating_sub(rows)).min(positions),
        }
    }
}

impl PackedKv {
    /// Packs `keys`, `[positions, heads * head_dim]`, and `values`,
    /// `[positions, heads * value_dim]`, of a sentence into the buffers of the previous sentence.
    ///
    /// # Panics
    /// If `keys` and `values` have different numbers of rows, or the number of columns of either is
    /// not a multiple of `heads`.
    pub fn pack(&mut self, heads: usize, keys: MatRef<f32>, values: MatRef<f32>) {
        assert_eq!(keys.rows(), values.rows(), "a value for each key");
        assert!(
            heads > 0
                && keys.columns().is_multiple_of(heads)
                && values.columns().is_multiple_of(heads)
        );
        (self.heads, self.positions) = (heads, keys.rows());
        self.keys.fill(&[UnpackedWeights::outputs_by_inputs(keys)]);
        // The values of each head begin a new panel, so that they can be multiplied on their own.
        self.values.fill_rows(values, values.columns() / heads);
    }

    /// Returns the number of positions of the sentence.
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// Returns the number of columns of the keys of one head; `None` before the first sentence.
    pub fn head_dim(&self) -> Option<usize> {
        self.key_columns().checked_div(self.heads)
    }

    /// Returns the number of columns of the keys of all heads.
    pub(crate) fn key_columns(&self) -> usize {
        self.keys.view().depth()
    }

    fn key_head(&self, head: usize) -> PackedF32<'_> {
        let width = self.key_columns() / self.heads;
        self.keys.view().depth_range(head * width..(head + 1) * width)
    }

    fn value_head(&self, head: usize, width: usize) -> PackedF32<'_> {
        let padded = width.next_multiple_of(LANES);
        self.values.view().column_range(head * padded..(head + 1) * padded).narrow(width)
    }
}

/// Computes multi-head attention to one sentence. For each head, `out = softmax(scale * queries *
/// keys^T) * values` with the shapes `[rows, value_dim] = softmax([rows, head_dim] x [head_dim,
/// positions]) x [positions, value_dim]`. Heads are side by side in the columns of `queries` and
/// `out`.
///
/// If `weights` is a head and a matrix `[rows, positions]`, the attention weights of that head are
/// written to the matrix; Marian's alignments are the weights of head 0. `scratch` is a buffer to
/// reuse.
///
/// # Panics
/// If the shapes do not fit these equations.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn attend(
    cpu: Cpu,
    scale: f32,
    queries: MatRef<f32>,
    packed: &PackedKv,
    mask: AttentionMask,
    mut out: MatMut<f32>,
    mut weights: Option<(usize, MatMut<f32>)>,
    scratch: &mut Vec<f32>,
) {
    let (rows, heads, positions) = (queries.rows(), packed.heads, packed.positions);
    assert_eq!(queries.columns(), packed.key_columns());
    assert_eq!(rows, out.rows());
    assert!(heads > 0 && out.columns().is_multiple_of(heads));
    for first in (0..rows).step_by(QUERY_BLOCK) {
        let block = first..rows.min(first + QUERY_BLOCK);
        let (part, rest) = out.split_rows(block.len());
        out = rest;
        let weights_part = weights.as_mut().map(|(head, weights)| (*head, first, weights));
        let queries = queries.row_range(block);
        attend_query_block(
            cpu,
            scale,
            queries,
            packed,
            |row: usize| mask.visible(first + row, rows, positions),
            part,
            weights_part,
            scratch,
        );
    }
}

/// The number of queries whose scores are computed together, so that scratch memory stays small
/// for long sentences.
const QUERY_BLOCK: usize = 128;

/// Computes [`attend`] for a block of queries, each of which attends to the first `visible(row)`
/// positions. `weights` has the head whose weights are requested, the row of the matrix for the
/// first query of the block, and the matrix.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
fn attend_query_block(
    cpu: Cpu,
    scale: f32,
    queries: MatRef<f32>,
    packed: &PackedKv,
    visible: impl Fn(usize) -> usize,
    mut out: MatMut<f32>,
    mut weights: Option<(usize, usize, &mut MatMut<f32>)>,
    scratch: &mut Vec<f32>,
) {
    let (rows, heads, positions) = (queries.rows(), packed.heads, packed.positions);
    let (key_width, width) = (queries.columns() / heads, out.columns() / heads);
    scratch.clear();
    scratch.resize(rows * positions, 0.0);
    let tiling = Tiling::default_for(cpu);
    for head in 0..heads {
        let queries = queries.column_range(head * key_width..(head + 1) * key_width);
        let mut scores = MatMut::new(scratch, rows, positions);
        let keys = packed.key_head(head);
        gemm_f32(cpu, tiling, queries, keys, Epilogue::default(), scores.reborrow());
        for row in 0..rows {
            let (seen, masked) = scores.row_mut(row).split_at_mut(visible(row));
            masked.fill(0.0);
            dispatch!(cpu, softmax_row(seen, scale));
        }
        if let Some((requested, first, weights)) = &mut weights
            && *requested == head
        {
            (0..rows)
                .for_each(|row| weights.row_mut(*first + row).copy_from_slice(scores.row(row)));
        }
        let values = packed.value_head(head, width);
        let out = out.reborrow().column_range(head * width..(head + 1) * width);
        gemm_f32(cpu, tiling, scores.as_ref(), values, Epilogue::default(), out);
    }
}

/// A pool of keys and values, one row for each position of each hypothesis in the KV cache.
#[derive(Clone, Copy, Debug)]
pub struct KvPool<'a> {
    /// Keys, `[pool rows, heads * head_dim]`.
    pub keys: MatRef<'a, f32>,
    /// Values, `[pool rows, heads * value_dim]`.
    pub values: MatRef<'a, f32>,
}

/// Computes multi-head attention of each query to its own cached positions: `row_lists[i]` lists
/// the rows of the pool that query i attends to, oldest first. `queries` is `[rows, heads *
/// head_dim]`, `out` is `[rows, heads * value_dim]`.
///
/// # Panics
/// If these shapes do not fit each other, or a list names a row outside the pool.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn attend_paged(
    cpu: Cpu,
    heads: usize,
    scale: f32,
    queries: MatRef<f32>,
    pool: KvPool,
    row_lists: &[&[u32]],
    mut out: MatMut<f32>,
    scratch: &mut Vec<f32>,
) {
    assert_eq!((queries.rows(), row_lists.len()), (out.rows(), out.rows()));
    assert_eq!(queries.columns(), pool.keys.columns());
    assert_eq!(out.columns(), pool.values.columns());
    assert!(
        heads > 0 && queries.columns().is_multiple_of(heads) && out.columns().is_multiple_of(heads)
    );
    for (row, row_list) in row_lists.iter().enumerate() {
        let (query, out) = (queries.row(row), out.row_mut(row));
        dispatch!(cpu, attend_paged_row(heads, scale, query, pool, row_list, out, scratch));
    }
}

#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
#[inline(always)]
fn attend_paged_row<I: Isa>(
    isa: I,
    heads: usize,
    scale: f32,
    query: &[f32],
    pool: KvPool,
    row_list: &[u32],
    out: &mut [f32],
    scratch: &mut Vec<f32>,
) {
    let (key_width, width) = (query.len() / heads, out.len() / heads);
    scratch.clear();
    scratch.resize(heads * row_list.len(), 0.0);
    for (position, &slot) in row_list.iter().enumerate() {
        let key = pool.keys.row(slot as usize);
        for head in 0..heads {
            let columns = head * key_width..(head + 1) * key_width;
            scratch[head * row_list.len() + position] =
                dot(isa, &query[columns.clone()], &key[columns]);
        }
    }
    for head in 0..heads {
        let weights = &mut scratch[head * row_list.len()..][..row_list.len()];
        softmax_row(isa, weights, scale);
        let out = &mut out[head * width..(head + 1) * width];
        for part in lane_chunks(width) {
            let columns = head * width + part.start..head * width + part.end;
            let mut sums = isa.splat(0.0);
            for position in 0..row_list.len() {
                let value = &pool.values.row(row_list[position] as usize)[columns.clone()];
                let weight = isa.splat(weights[position]);
                sums = isa.mul_add(weight, isa.load_partial(value, 0.0), sums);
            }
            isa.store_partial(sums, &mut out[part]);
        }
    }
}

/// Returns the dot product of two rows of equal length.
#[inline(always)]
fn dot<I: Isa>(isa: I, a: &[f32], b: &[f32]) -> f32 {
    let mut sums = isa.splat(0.0);
    for part in lane_chunks(a.len()) {
        let (a, b) = (&a[part.clone()], &b[part]);
        sums = isa.mul_add(isa.load_partial(a, 0.0), isa.load_partial(b, 0.0), sums);
    }
    isa.reduce_sum(sums)
}

/// Computes the additive attention of recurrent decoders: `e_j = v . tanh(keys_j + query)`,
/// `weights = softmax(e)`, `out = sum of weights_j * values_j`. `keys`, `[positions, width]`, are
/// projected encoder states with their bias, computed once a sentence; `values`, `[positions,
/// columns]`, are packed by [`WeightsF32::fill_rows`]. `queries` is `[rows, width]`, `weights`
/// `[rows, positions]`, `out` `[rows, columns]`, and `v` has `width` numbers.
///
/// # Panics
/// If these shapes do not fit each other.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn attend_additive(
    cpu: Cpu,
    gate_impl: GateImpl,
    keys: MatRef<f32>,
    values: PackedF32,
    v: &[f32],
    queries: MatRef<f32>,
    mut weights: MatMut<f32>,
    out: MatMut<f32>,
) {
    assert_eq!((keys.rows(), keys.columns()), (values.depth(), v.len()));
    assert_eq!((queries.rows(), queries.columns()), (out.rows(), v.len()));
    assert_eq!((weights.rows(), weights.columns()), (out.rows(), keys.rows()));
    for row in 0..out.rows() {
        let (query, weights) = (queries.row(row), weights.row_mut(row));
        dispatch!(cpu, additive_weights_row(gate_impl, keys, v, query, weights));
    }
    let columns = out.columns();
    let values = values.narrow(columns);
    gemm_f32(cpu, Tiling::default_for(cpu), weights.as_ref(), values, Epilogue::default(), out);
}

#[inline(always)]
fn additive_weights_row<I: Isa>(
    isa: I,
    gate_impl: GateImpl,
    keys: MatRef<f32>,
    v: &[f32],
    query: &[f32],
    weights: &mut [f32],
) {
    for position in 0..keys.rows() {
        let key = keys.row(position);
        let mut sums = isa.splat(0.0);
        for part in lane_chunks(v.len()) {
            let key = isa.load_partial(&key[part.clone()], 0.0);
            let sum = isa.add(key, isa.load_partial(&query[part.clone()], 0.0));
            sums =
                isa.mul_add(tanh_with(isa, gate_impl, sum), isa.load_partial(&v[part], 0.0), sums);
        }
        weights[position] = isa.reduce_sum(sums);
    }
    softmax_row(isa, weights, 1.0);
}

fn shape(matrix: MatRef<f32>) -> (usize, usize) {
    (matrix.rows(), matrix.columns())
}

#[cfg(test)]
mod tests;
