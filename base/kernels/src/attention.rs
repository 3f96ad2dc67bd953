//! Attention: over a memory that is read by many queries, over each hypothesis' own
//! past, and the additive one of recurrent decoders.
//!
//! *A memory* is a sentence's keys and values, packed like weights when the sentence is
//! encoded ([`Memory`]): positions are the columns of the keys and the depth of the
//! values. Scores and contexts are then products of packed f32, for the beam of a
//! sentence as for the whole sentence at once, without a sum across lanes. Beams share the
//! memory of their source.
//!
//! *A past* differs from hypothesis to hypothesis and is only looked at once a step.
//! Keys and values stay where they were written, in a pool of rows, and each hypothesis
//! has the list of its rows: a beam is reordered by lists, nothing is copied.

use crate::activation::{GateImpl, softmax_row, tanh_with};
use crate::gemm::{Epilogue, Tiling, gemm_f32};
use crate::isa::{Isa, LANES, dispatch, lane_chunks};
use crate::pack::{PackedF32, WeightsF32};
use crate::{Cpu, Mat, MatMut};

/// The keys and values of one sentence, for all heads.
#[derive(Clone, Debug, Default)]
pub struct PackedKv {
    keys: WeightsF32,
    values: WeightsF32,
    positions: usize,
    heads: usize,
}

/// Which positions a query sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttentionMask {
    /// All.
    All,
    /// The first so many: a sentence with padding behind.
    Prefix(usize),
    /// Queries are the last positions, and each sees those up to its own.
    Causal,
}

impl PackedKv {
    /// Takes the keys and values of a sentence, a row a position, heads side by side.
    /// Memory of the sentence before is used again.
    ///
    /// # Panics
    /// If shapes differ or columns do not divide into heads.
    pub fn pack(&mut self, heads: usize, keys: Mat<f32>, values: Mat<f32>) {
        assert_eq!(keys.rows(), values.rows(), "a value for each key");
        assert!(
            heads > 0
                && keys.columns().is_multiple_of(heads)
                && values.columns().is_multiple_of(heads)
        );
        (self.heads, self.positions) = (heads, keys.rows());
        self.keys.fill_columns(keys);
        // Every head begins a panel, so that it can be taken by itself.
        self.values.fill_rows(values, values.columns() / heads);
    }

    /// Positions of the sentence.
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// Columns of the keys of one head; none before the first sentence.
    pub fn head_dim(&self) -> Option<usize> {
        self.key_columns().checked_div(self.heads)
    }

    /// Columns of the keys, heads side by side.
    pub fn key_columns(&self) -> usize {
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

/// Attends with each query (a row, heads side by side) to one memory:
/// `out = softmax(scale * queries * keys^T) * values` by head.
///
/// `weights`, where given, gets the weights of `weights_head`, a row for each query and a
/// column for each position: Marian's alignment is that of head 0. `scratch` is
/// kept by the caller.
///
/// # Panics
/// If shapes differ.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn attend(
    cpu: Cpu,
    scale: f32,
    queries: Mat<f32>,
    memory: &PackedKv,
    visible: AttentionMask,
    mut out: MatMut<f32>,
    mut weights: Option<(usize, MatMut<f32>)>,
    scratch: &mut Vec<f32>,
) {
    let (rows, heads, positions) = (queries.rows(), memory.heads, memory.positions);
    assert_eq!(queries.columns(), memory.key_columns());
    assert_eq!(rows, out.rows());
    assert!(heads > 0 && out.columns().is_multiple_of(heads));
    for first in (0..rows).step_by(QUERY_BLOCK) {
        let block = first..rows.min(first + QUERY_BLOCK);
        let (part, behind) = out.split_rows(block.len());
        out = behind;
        let seen = |row: usize| match visible {
            AttentionMask::All => positions,
            AttentionMask::Prefix(seen) => seen.min(positions),
            AttentionMask::Causal => {
                (first + row + 1 + positions.saturating_sub(rows)).min(positions)
            }
        };
        let weights_part = weights.as_mut().map(|(head, weights)| (*head, first, weights));
        let queries = queries.row_range(block);
        attend_query_block(cpu, scale, queries, memory, seen, part, weights_part, scratch);
    }
}

/// Queries whose scores are in memory together: a text of any length needs no more.
const QUERY_BLOCK: usize = 128;

/// Attends with some of the queries; `tell` has the head whose weights are wanted, and the
/// first of their rows.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
fn attend_query_block(
    cpu: Cpu,
    scale: f32,
    queries: Mat<f32>,
    memory: &PackedKv,
    seen: impl Fn(usize) -> usize,
    mut out: MatMut<f32>,
    mut weights: Option<(usize, usize, &mut MatMut<f32>)>,
    scratch: &mut Vec<f32>,
) {
    let (rows, heads, positions) = (queries.rows(), memory.heads, memory.positions);
    let (key_width, width) = (queries.columns() / heads, out.columns() / heads);
    scratch.clear();
    scratch.resize(rows * positions, 0.0);
    let tiling = Tiling::default_for(cpu);
    for head in 0..heads {
        let queries = queries.column_range(head * key_width..(head + 1) * key_width);
        let mut scores = MatMut::new(scratch, rows, positions);
        let keys = memory.key_head(head);
        gemm_f32(cpu, tiling, queries, keys, Epilogue::default(), scores.reborrow());
        for row in 0..rows {
            let (seen, hidden) = scores.row(row).split_at_mut(seen(row));
            hidden.fill(0.0);
            dispatch!(cpu, softmax_row(seen, scale));
        }
        if let Some((wanted, first, weights)) = &mut weights
            && *wanted == head
        {
            (0..rows).for_each(|row| weights.row(*first + row).copy_from_slice(scores.row(row)));
        }
        let values = memory.value_head(head, width);
        let out = out.reborrow().column_range(head * width..(head + 1) * width);
        gemm_f32(cpu, tiling, scores.as_ref(), values, Epilogue::default(), out);
    }
}

/// A pool of keys and values, a row for each position of each hypothesis that was ever
/// kept.
#[derive(Clone, Copy, Debug)]
pub struct KvPool<'a> {
    /// Keys, heads side by side.
    pub keys: Mat<'a, f32>,
    /// Values, heads side by side.
    pub values: Mat<'a, f32>,
}

/// Attends with each query to its own past: `paths[i]` lists the rows of the pool that
/// query i sees, oldest first.
///
/// # Panics
/// If shapes differ, or a path leaves the pool.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn attend_paged(
    cpu: Cpu,
    heads: usize,
    scale: f32,
    queries: Mat<f32>,
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
    for (row, path) in row_lists.iter().enumerate() {
        let (query, out) = (queries.row(row), out.row(row));
        dispatch!(cpu, attend_paged_row(heads, scale, query, pool, path, out, scratch));
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
    path: &[u32],
    out: &mut [f32],
    scratch: &mut Vec<f32>,
) {
    let (key_width, width) = (query.len() / heads, out.len() / heads);
    scratch.clear();
    scratch.resize(heads * path.len(), 0.0);
    for (position, &slot) in path.iter().enumerate() {
        let key = pool.keys.row(slot as usize);
        for head in 0..heads {
            let columns = head * key_width..(head + 1) * key_width;
            scratch[head * path.len() + position] =
                dot(isa, &query[columns.clone()], &key[columns]);
        }
    }
    for head in 0..heads {
        let weights = &mut scratch[head * path.len()..][..path.len()];
        softmax_row(isa, weights, scale);
        let out = &mut out[head * width..(head + 1) * width];
        for part in lane_chunks(width) {
            let columns = head * width + part.start..head * width + part.end;
            let mut sums = isa.splat(0.0);
            for position in 0..path.len() {
                let value = &pool.values.row(path[position] as usize)[columns.clone()];
                let weight = isa.splat(weights[position]);
                sums = isa.mul_add(weight, isa.load_partial(value, 0.0), sums);
            }
            isa.store_partial(sums, &mut out[part]);
        }
    }
}

/// The inner product of two rows of one length.
#[inline(always)]
fn dot<I: Isa>(isa: I, a: &[f32], b: &[f32]) -> f32 {
    let mut sums = isa.splat(0.0);
    for part in lane_chunks(a.len()) {
        let (a, b) = (&a[part.clone()], &b[part]);
        sums = isa.mul_add(isa.load_partial(a, 0.0), isa.load_partial(b, 0.0), sums);
    }
    isa.reduce_sum(sums)
}

/// The attention of recurrent decoders: `e_j = v . tanh(keys_j + query)`,
/// `weights = softmax(e)`, `out = sum of weights_j * values_j`. The keys, products of the
/// encoder's states with their bias added, are made once a sentence; the values are
/// packed as the second half of a product
/// ([`WeightsF32::fill_rows`]).
///
/// # Panics
/// If shapes differ.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn attend_additive(
    cpu: Cpu,
    gate_impl: GateImpl,
    keys: Mat<f32>,
    values: PackedF32,
    v: &[f32],
    queries: Mat<f32>,
    mut weights: MatMut<f32>,
    out: MatMut<f32>,
) {
    assert_eq!((keys.rows(), keys.columns()), (values.depth(), v.len()));
    assert_eq!((queries.rows(), queries.columns()), (out.rows(), v.len()));
    assert_eq!((weights.rows(), weights.columns()), (out.rows(), keys.rows()));
    for row in 0..out.rows() {
        let (query, weights) = (queries.row(row), weights.row(row));
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
    keys: Mat<f32>,
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

#[cfg(test)]
mod tests;
