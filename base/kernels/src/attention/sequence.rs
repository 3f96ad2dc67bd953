//! Attention of whole sentences in training, and its gradients.
//!
//! A sentence has tens of positions, so scores, contexts and their gradients are small GEMMs, a few
//! for each head, and the probabilities of all heads are kept for the backward pass. Queries, keys
//! and values may be columns of one matrix, which one fused GEMM computes for all sentences.

use super::{AttentionMask, PackedKv, shape};
use crate::activation::softmax_row;
use crate::gemm::{Epilogue, GemmScratch, Tiling, gemm_f32, gemm_f32_transposed};
use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef};

/// Buffers of [`attend_sequence`] and [`attend_sequence_gradient`] to reuse.
#[derive(Clone, Debug, Default)]
pub struct SequenceScratch {
    packed: PackedKv,
    gemm: GemmScratch,
    scores: Vec<f32>,
    dropped: Vec<f32>,
}

/// The inputs of the attention of one sentence.
#[derive(Clone, Copy, Debug)]
pub struct SequenceAttention<'a> {
    /// The number of heads, which are side by side in the columns.
    pub heads: usize,
    /// The factor of the scores, above 0: `1 / sqrt(head_dim)` in transformers.
    pub scale: f32,
    /// `[queries, heads * head_dim]`.
    pub queries: MatRef<'a, f32>,
    /// `[positions, heads * head_dim]`.
    pub keys: MatRef<'a, f32>,
    /// `[positions, heads * value_dim]`.
    pub values: MatRef<'a, f32>,
    /// A dropout mask, `[heads, queries, positions]`, whose elements are 0, or `1 / keep` with the
    /// probability `keep`. Attention probabilities are multiplied by it before values are summed.
    pub dropout: Option<&'a [f32]>,
}

impl SequenceAttention<'_> {
    fn check(&self) {
        let (heads, keys, values) = (self.heads, self.keys, self.values);
        assert_eq!(self.queries.columns(), keys.columns());
        assert_eq!(keys.rows(), values.rows(), "a value for each key");
        let divides = |columns: usize| heads > 0 && columns.is_multiple_of(heads);
        assert!(divides(keys.columns()) && divides(values.columns()), "columns of whole heads");
        let probabilities = self.probabilities();
        assert!(self.dropout.is_none_or(|mask| mask.len() == probabilities));
    }

    /// Returns the number of probabilities of all heads: `heads * queries * positions`.
    pub fn probabilities(&self) -> usize {
        self.heads * self.queries.rows() * self.keys.rows()
    }

    /// Returns the matrix `[queries, positions]` of one head from `[heads, queries, positions]`.
    fn head<'p>(&self, probabilities: &'p [f32], head: usize) -> MatRef<'p, f32> {
        let (rows, positions) = (self.queries.rows(), self.keys.rows());
        MatRef::new(&probabilities[head * rows * positions..], rows, positions)
    }
}

/// Computes multi-head attention of a sentence. For each head,
/// `out = (softmax(scale * queries * keys^T) * dropout) * values`. Without dropout, the result has
/// the same bits as in [`attend`](super::attend). `probabilities`, `[heads, queries, positions]`,
/// become the softmax, 0 where masked; `out` is `[queries, heads * value_dim]`.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn attend_sequence(
    cpu: Cpu,
    inputs: &SequenceAttention,
    mask: AttentionMask,
    probabilities: &mut [f32],
    mut out: MatMut<f32>,
    scratch: &mut SequenceScratch,
) {
    inputs.check();
    let (heads, queries) = (inputs.heads, inputs.queries);
    let (rows, positions) = (queries.rows(), inputs.keys.rows());
    assert_eq!(probabilities.len(), inputs.probabilities());
    assert_eq!((out.rows(), out.columns()), (rows, inputs.values.columns()));
    let (key_width, width) = (queries.columns() / heads, out.columns() / heads);
    let SequenceScratch { packed, dropped, .. } = scratch;
    packed.pack(heads, inputs.keys, inputs.values);
    let tiling = Tiling::default_for(cpu);
    for head in 0..heads {
        let part = head * rows * positions..(head + 1) * rows * positions;
        let queries = queries.column_range(head * key_width..(head + 1) * key_width);
        let mut scores = MatMut::new(&mut probabilities[part.clone()], rows, positions);
        let keys = packed.key_head(head);
        gemm_f32(cpu, tiling, queries, keys, Epilogue::default(), scores.reborrow());
        for row in 0..rows {
            let visible = mask.visible(row, rows, positions);
            let (seen, masked) = scores.row_mut(row).split_at_mut(visible);
            masked.fill(0.0);
            dispatch!(cpu, softmax_row(seen, inputs.scale));
        }
        let mut weights = &probabilities[part.clone()];
        if let Some(mask) = inputs.dropout {
            weights = drop_weights(cpu, weights, &mask[part], dropped);
        }
        let weights = MatRef::new(weights, rows, positions);
        let values = packed.value_head(head, width);
        let out = out.reborrow().column_range(head * width..(head + 1) * width);
        gemm_f32(cpu, tiling, weights, values, Epilogue::default(), out);
    }
}

/// Writes the weights times their dropout mask to `dropped` and returns them.
fn drop_weights<'a>(
    cpu: Cpu,
    weights: &[f32],
    mask: &[f32],
    dropped: &'a mut Vec<f32>,
) -> &'a [f32] {
    dropped.resize(weights.len(), 0.0);
    let row = |values| MatRef::new(values, 1, weights.len());
    let out = MatMut::new(dropped, 1, weights.len());
    crate::elementwise::multiply(cpu, row(weights), row(mask), out);
    dropped
}

/// The gradients of the inputs of an attention. [`attend_sequence_gradient`] adds to them.
#[derive(Debug)]
pub struct SequenceGradients<'a> {
    /// `[queries, heads * head_dim]`.
    pub queries: MatMut<'a, f32>,
    /// `[positions, heads * head_dim]`.
    pub keys: MatMut<'a, f32>,
    /// `[positions, heads * value_dim]`.
    pub values: MatMut<'a, f32>,
}

/// Adds the gradients of the inputs of [`attend_sequence`] to `gradients`. `probabilities` are
/// the values that it wrote. `d_out`, `[queries, heads * value_dim]`, is the gradient of its `out`.
/// `d_first`, `[queries, positions]`, is an additional gradient of the probabilities of head 0
/// (before dropout), such as the gradient of a loss over alignments.
///
/// For each head, with `W = P * dropout`: `dV += W^T dO`; `dP = dO V^T * dropout + d_first`;
/// `dS = scale * P * (dP - sum(dP * P))`; `dQ += dS K`; `dK += dS^T Q`.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn attend_sequence_gradient(
    cpu: Cpu,
    inputs: &SequenceAttention,
    probabilities: &[f32],
    d_out: MatRef<f32>,
    d_first: Option<MatRef<f32>>,
    gradients: SequenceGradients,
    scratch: &mut SequenceScratch,
) {
    inputs.check();
    let SequenceAttention { heads, queries, keys, values, .. } = *inputs;
    let (rows, positions) = (queries.rows(), keys.rows());
    assert_eq!(probabilities.len(), inputs.probabilities());
    assert_eq!(shape(d_out), (rows, values.columns()));
    assert!(d_first.is_none_or(|d_first| shape(d_first) == (rows, positions)));
    let SequenceGradients { queries: mut d_queries, keys: mut d_keys, values: mut d_values } =
        gradients;
    assert_eq!(shape(d_queries.as_ref()), shape(queries));
    assert_eq!(shape(d_keys.as_ref()), shape(keys));
    assert_eq!(shape(d_values.as_ref()), shape(values));
    let (key_width, width) = (keys.columns() / heads, values.columns() / heads);
    let SequenceScratch { packed, gemm, scores, dropped } = scratch;
    // Unlike in the forward pass, values are packed as keys, and keys as values.
    packed.pack(heads, values, keys);
    scores.resize(rows * positions, 0.0);
    let tiling = Tiling::default_for(cpu);
    for head in 0..heads {
        let query_columns = head * key_width..(head + 1) * key_width;
        let value_columns = head * width..(head + 1) * width;
        let d_out = d_out.column_range(value_columns.clone());
        let part = head * rows * positions..(head + 1) * rows * positions;
        let weights = inputs.head(probabilities, head);
        let mask = inputs.dropout.map(|mask| &mask[part.clone()]);
        let used = match mask {
            Some(mask) => drop_weights(cpu, &probabilities[part], mask, dropped),
            None => &probabilities[part],
        };
        let used = MatRef::new(used, rows, positions);
        let into = d_values.reborrow().column_range(value_columns);
        gemm_f32_transposed(cpu, used, d_out, gemm, into);

        let d_scores = MatMut::new(scores, rows, positions);
        gemm_f32(cpu, tiling, d_out, packed.key_head(head), Epilogue::default(), d_scores);
        let first = d_first.filter(|_| head == 0);
        for row in 0..rows {
            let part = row * positions..(row + 1) * positions;
            let d_scores = &mut scores[part.clone()];
            let terms = (mask.map(|mask| &mask[part]), first.map(|first| first.row(row)));
            dispatch!(cpu, softmax_gradient(weights.row(row), terms, inputs.scale, d_scores));
        }
        let d_scores = MatRef::new(scores, rows, positions);
        let keys = packed.value_head(head, key_width);
        let into = d_queries.reborrow().column_range(query_columns.clone());
        let accumulate = Epilogue { accumulate: true, ..Epilogue::default() };
        gemm_f32(cpu, tiling, d_scores, keys, accumulate, into);
        let queries = queries.column_range(query_columns.clone());
        let into = d_keys.reborrow().column_range(query_columns);
        gemm_f32_transposed(cpu, d_scores, queries, gemm, into);
    }
}

/// Replaces `gradient`, that of a query's weights after dropout, by the gradient of its scores.
/// `mask` is the dropout mask, and `more` an additional gradient of the weights before dropout.
#[inline(always)]
fn softmax_gradient<I: Isa>(
    isa: I,
    weights: &[f32],
    (mask, more): (Option<&[f32]>, Option<&[f32]>),
    scale: f32,
    gradient: &mut [f32],
) {
    let mut sums = isa.splat(0.0);
    for part in lane_chunks(weights.len()) {
        let mut d = isa.load_partial(&gradient[part.clone()], 0.0);
        if let Some(mask) = mask {
            d = isa.mul(d, isa.load_partial(&mask[part.clone()], 0.0));
        }
        if let Some(more) = more {
            d = isa.add(d, isa.load_partial(&more[part.clone()], 0.0));
        }
        isa.store_partial(d, &mut gradient[part.clone()]);
        sums = isa.mul_add(d, isa.load_partial(&weights[part], 0.0), sums);
    }
    let (sum, scale) = (isa.splat(isa.reduce_sum(sums)), isa.splat(scale));
    for part in lane_chunks(weights.len()) {
        let p = isa.mul(isa.load_partial(&weights[part.clone()], 0.0), scale);
        let d = isa.load_partial(&gradient[part.clone()], 0.0);
        isa.store_partial(isa.mul(p, isa.sub(d, sum)), &mut gradient[part]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::attend;
    use crate::testing::{TestRng, assert_close, numeric_gradients};

    struct Shape {
        heads: usize,
        queries: usize,
        positions: usize,
        key_width: usize,
        width: usize,
        mask: AttentionMask,
    }

    impl Shape {
        fn visible(&self, query: usize) -> usize {
            match self.mask {
                AttentionMask::All => self.positions,
                AttentionMask::Prefix(count) => count,
                AttentionMask::Causal => self.positions - self.queries + query + 1,
            }
        }

        /// Returns the probabilities, `[heads, queries, positions]`, and the results.
        fn forward(&self, [q, k, v]: [&[f64]; 3], scale: f64, mask: &[f64]) -> [Vec<f64>; 2] {
            let (rows, positions) = (self.queries, self.positions);
            let (key_columns, columns) = (self.heads * self.key_width, self.heads * self.width);
            let mut probabilities = vec![0.0; self.heads * rows * positions];
            let mut out = vec![0.0; rows * columns];
            for head in 0..self.heads {
                for i in 0..rows {
                    let powers: Vec<f64> = (0..self.visible(i))
                        .map(|j| {
                            let products = (0..self.key_width).map(|c| {
                                let c = head * self.key_width + c;
                                q[i * key_columns + c] * k[j * key_columns + c]
                            });
                            (scale * products.sum::<f64>()).exp()
                        })
                        .collect();
                    let sum: f64 = powers.iter().sum();
                    for (j, power) in powers.iter().enumerate() {
                        let at = (head * rows + i) * positions + j;
                        probabilities[at] = power / sum;
                        for c in head * self.width..(head + 1) * self.width {
                            out[i * columns + c] += power / sum * mask[at] * v[j * columns + c];
                        }
                    }
                }
            }
            [probabilities, out]
        }
    }

    #[test]
    fn attention_and_its_gradient_match_the_formula() {
        let mut numbers = TestRng::new(51);
        for (heads, queries, positions, key_width, width, mask) in [
            (1, 1, 1, 1, 1, AttentionMask::All),
            (2, 3, 7, 8, 5, AttentionMask::All),
            (2, 5, 5, 16, 16, AttentionMask::Causal),
            (3, 2, 9, 4, 4, AttentionMask::Causal),
            (1, 4, 20, 18, 18, AttentionMask::Prefix(13)),
            (2, 0, 3, 4, 4, AttentionMask::All),
        ] {
            for (dropout, aligned) in [(false, false), (true, false), (true, true)] {
                let shape = Shape { heads, queries, positions, key_width, width, mask };
                let scale = 0.4f32;
                let (key_columns, columns) = (heads * key_width, heads * width);
                let count = heads * queries * positions;
                // Queries, keys and values are columns of one matrix with three more columns.
                let stride = 2 * key_columns + columns + 3;
                let rows = queries.max(positions);
                let fused = numbers.floats(rows * stride, 1.0);
                let fused = MatRef::new(&fused, rows, stride);
                let q = fused.row_range(0..queries).column_range(1..1 + key_columns);
                let source = fused.row_range(0..positions);
                let k = source.column_range(1 + key_columns..1 + 2 * key_columns);
                let v = source.column_range(2 + 2 * key_columns..stride - 1);
                let d_out = numbers.floats(queries * columns, 1.0);
                let d_first = numbers.floats(queries * positions, 1.0);
                let kept: Vec<f32> = (0..count)
                    .map(|_| [0.0, 1.25][usize::from(numbers.integer(0, 4) > 0)])
                    .collect();
                let mask64: Vec<f64> =
                    kept.iter().map(|&x| if dropout { f64::from(x) } else { 1.0 }).collect();
                let flat = |of: MatRef<f32>| -> Vec<f32> {
                    (0..of.rows()).flat_map(|row| of.row(row).to_vec()).collect()
                };
                let parts = [flat(q), flat(k), flat(v)];
                let wide: Vec<Vec<f64>> =
                    parts.iter().map(|part| part.iter().map(|&x| f64::from(x)).collect()).collect();
                let forward = |x: &[Vec<f64>]| {
                    shape.forward([&x[0], &x[1], &x[2]], f64::from(scale), &mask64)
                };
                let [probabilities64, out64] = forward(&wide);
                let expected = numeric_gradients(&[&parts[0], &parts[1], &parts[2]], |x| {
                    let [probabilities, out] = forward(x);
                    let output_sum: f64 =
                        out.iter().zip(&d_out).map(|(x, &d)| x * f64::from(d)).sum();
                    let first = probabilities.iter().zip(&d_first);
                    let first_sum: f64 = first.map(|(x, &d)| x * f64::from(d)).sum();
                    output_sum + if aligned { first_sum } else { 0.0 }
                });
                let mut scratch = SequenceScratch::default();
                for cpu in Cpu::all() {
                    let inputs = SequenceAttention {
                        heads,
                        scale,
                        queries: q,
                        keys: k,
                        values: v,
                        dropout: dropout.then_some(&kept[..]),
                    };
                    let mut probabilities = vec![f32::NAN; count];
                    let mut out = vec![f32::NAN; queries * columns];
                    let into = MatMut::new(&mut out, queries, columns);
                    attend_sequence(cpu, &inputs, mask, &mut probabilities, into, &mut scratch);
                    assert_close(&probabilities, &probabilities64, 2e-6, "probabilities");
                    assert_close(&out, &out64, 3e-6, "out");
                    if !dropout {
                        let (mut packed, mut other) = (PackedKv::default(), out.clone());
                        packed.pack(heads, k, v);
                        let into = MatMut::new(&mut other, queries, columns);
                        attend(cpu, scale, q, &packed, mask, into, None, &mut Vec::new());
                        assert_eq!(out, other, "the same bits as in decoding");
                    }

                    let mut sums = parts.each_ref().map(|part| vec![0.5; part.len()]);
                    let [d_queries, d_keys, d_values] = &mut sums;
                    let gradients = SequenceGradients {
                        queries: MatMut::new(d_queries, queries, key_columns),
                        keys: MatMut::new(d_keys, positions, key_columns),
                        values: MatMut::new(d_values, positions, columns),
                    };
                    let d_out = MatRef::new(&d_out, queries, columns);
                    let d_first = MatRef::new(&d_first, queries, positions);
                    attend_sequence_gradient(
                        cpu,
                        &inputs,
                        &probabilities,
                        d_out,
                        aligned.then_some(d_first),
                        gradients,
                        &mut scratch,
                    );
                    for (found, expected) in sums.iter().zip(&expected) {
                        let expected: Vec<f64> = expected.iter().map(|x| x + 0.5).collect();
                        assert_close(found, &expected, 1e-5, cpu.name());
                    }
                }
            }
        }
    }
}
