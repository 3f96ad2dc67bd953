//! The operations of all layers by the kernels of `miriam-kernels`.

use std::sync::Arc;

use miriam_kernels::attention::{
    self, KvPool, PackedKv, RelativeQuery, RelativeTerms, attend_relative_row,
};
use miriam_kernels::embedding::{EmbeddingLookup, SinusoidKind, embed, fill_sinusoids, row_lookup};
use miriam_kernels::operators::InputArrays;
use miriam_kernels::{MatMut, MatRef};

use super::{EmbeddingTable, Engine, PooledTensor, PositionalEncoding, Weights};
use crate::Result;
use crate::layer::{
    AttentionMask, Backend, ColumnSlice, DistanceTerms, Epilogue, InPlaceOperator, Operator,
    RelativePositions,
};

/// The largest number of rows, of whole sentences, that pass through the layers together. The
/// results of the widest layers of common models, 1 MiB at 2,048 columns, then stay in a
/// second-level cache. Weights are still read once for many rows.
pub(crate) const MAX_GROUP_ROWS: usize = 128;

impl<'a> ColumnSlice<'a, PooledTensor> {
    pub(super) fn view(&self) -> MatRef<'a, f32> {
        self.tensor.view().column_range(self.columns.clone())
    }
}

/// Converts the terms of distances for the kernel.
pub(super) fn distance_terms(relative: &RelativePositions) -> RelativeTerms<'_> {
    match &relative.terms {
        DistanceTerms::Vectors { keys, values } => RelativeTerms::Vectors { keys, values },
        DistanceTerms::Biases(biases) => RelativeTerms::Biases(biases),
    }
}

impl Engine {
    /// Returns zeros, `[rows, width]`.
    pub(super) fn zero_tensor(&self, rows: usize, width: usize) -> PooledTensor {
        PooledTensor::zeros(&self.pool, rows, width)
    }

    /// Returns a tensor `[rows, width]` of arbitrary numbers, for operations that overwrite all of
    /// them.
    pub(super) fn empty_tensor(&self, rows: usize, width: usize) -> PooledTensor {
        PooledTensor::empty(&self.pool, rows, width)
    }

    /// Returns the index of the sinusoid table of that kind and width, with at least `positions`
    /// rows.
    fn sinusoid_table(&mut self, kind: SinusoidKind, width: usize, positions: usize) -> usize {
        let index = self.sinusoid_tables.iter().position(|(k, w, _)| (*k, *w) == (kind, width));
        let index = index.unwrap_or_else(|| {
            self.sinusoid_tables.push((kind, width, Vec::new()));
            self.sinusoid_tables.len() - 1
        });
        let table = &mut self.sinusoid_tables[index].2;
        if table.len() < positions * width {
            let positions = positions.next_power_of_two().max(64);
            table.resize(positions * width, 0.0);
            fill_sinusoids(kind, MatMut::new(table, positions, width));
        }
        index
    }
}

impl Backend for Engine {
    type Tensor = PooledTensor;
    type Weights = Arc<Weights>;
    type Vector = Arc<[f32]>;
    type EmbeddingTable = Arc<EmbeddingTable>;
    type PositionalEncoding = PositionalEncoding;
    type PackedKv = PackedKv;
    type RelativePositions = RelativePositions;

    fn shape(&self, rows: &PooledTensor) -> [usize; 2] {
        [rows.rows(), rows.width()]
    }

    fn max_group_rows(&self) -> usize {
        MAX_GROUP_ROWS
    }

    fn zeros(&mut self, rows: usize, width: usize) -> Result<PooledTensor> {
        Ok(self.zero_tensor(rows, width))
    }

    fn index_select(&mut self, from: &PooledTensor, indices: &[u32]) -> Result<PooledTensor> {
        let mut out = self.empty_tensor(indices.len(), from.width());
        let (from, mut to) = (from.view(), out.view_mut());
        for (row, &index) in indices.iter().enumerate() {
            to.row_mut(row).copy_from_slice(from.row(index as usize));
        }
        Ok(out)
    }

    fn embed(
        &mut self,
        table: &Arc<EmbeddingTable>,
        tokens: &[Option<u32>],
        scale: f32,
        positional_encoding: Option<(&PositionalEncoding, &[u32])>,
    ) -> Result<PooledTensor> {
        let mut out = self.empty_tensor(tokens.len(), table.width);
        let vectors = |token: usize, into: &mut [f32]| table.read_row(token, into);
        match positional_encoding {
            None => embed(&vectors, tokens, scale, None, out.view_mut(), &mut self.scratch),
            Some((PositionalEncoding::Learned(learned), positions)) => {
                let encodings: Option<(EmbeddingLookup, _)> =
                    Some((&|position, into| learned.read_row(position, into), positions));
                embed(&vectors, tokens, scale, encodings, out.view_mut(), &mut self.scratch);
            }
            Some((PositionalEncoding::Sinusoidal(kind, width), positions)) => {
                let rows = positions.iter().max().map_or(0, |&last| last as usize + 1);
                let index = self.sinusoid_table(*kind, *width, rows);
                let sinusoids = &self.sinusoid_tables[index].2;
                let lookup = row_lookup(MatRef::new(sinusoids, sinusoids.len() / width, *width));
                let encodings: Option<(EmbeddingLookup, _)> = Some((&lookup, positions));
                embed(&vectors, tokens, scale, encodings, out.view_mut(), &mut self.scratch);
            }
        }
        Ok(out)
    }

    fn affine(
        &mut self,
        input: &PooledTensor,
        weights: &Arc<Weights>,
        epilogue: Epilogue<'_, PooledTensor>,
    ) -> Result<PooledTensor> {
        let mut out = self.empty_tensor(input.rows(), weights.columns());
        let epilogue = miriam_kernels::gemm::Epilogue {
            bias: weights.bias.as_deref(),
            residual: epilogue.residual.map(PooledTensor::view),
            activation: epilogue.activation,
            ..Default::default()
        };
        self.matmul(input.view(), weights, epilogue, out.view_mut());
        Ok(out)
    }

    fn apply(
        &mut self,
        operator: impl Operator,
        matrices: &[ColumnSlice<'_, PooledTensor>],
        vectors: &[&Arc<[f32]>],
    ) -> Result<PooledTensor> {
        let views = matrices.iter().map(|matrix| matrix.view());
        let inputs = InputArrays::new(views, vectors.iter().map(|vector| &***vector));
        let [rows, width] = inputs.shape_of_result(&operator);
        let mut out = self.empty_tensor(rows, width);
        operator.forward_f32(self.cpu, inputs.inputs(), out.view_mut());
        Ok(out)
    }

    fn apply_in_place(
        &mut self,
        operator: &impl InPlaceOperator,
        mut matrix: PooledTensor,
        vectors: &[Arc<[f32]>],
    ) -> Result<PooledTensor> {
        let inputs = InputArrays::new([], vectors.iter().map(|vector| &**vector));
        operator.forward_in_place_f32(self.cpu, matrix.view_mut(), inputs.inputs().vectors);
        Ok(matrix)
    }

    fn pack_kv(
        &mut self,
        heads: usize,
        keys: ColumnSlice<'_, PooledTensor>,
        values: ColumnSlice<'_, PooledTensor>,
        lengths: &[usize],
    ) -> Result<Vec<PackedKv>> {
        let mut first = 0;
        let packed = lengths.iter().map(|length| {
            let rows = first..first + length;
            first = rows.end;
            let mut packed = PackedKv::default();
            packed.pack(heads, keys.view().row_range(rows.clone()), values.view().row_range(rows));
            packed
        });
        Ok(packed.collect())
    }

    fn attend(
        &mut self,
        queries: ColumnSlice<'_, PooledTensor>,
        groups: &[(usize, &PackedKv)],
        mask: AttentionMask,
    ) -> Result<PooledTensor> {
        Ok(self.attend_groups(queries, groups, mask, None))
    }

    fn attend_relative(
        &mut self,
        heads: usize,
        [queries, keys, values]: [ColumnSlice<'_, PooledTensor>; 3],
        lengths: &[usize],
        mask: AttentionMask,
        relative: &RelativePositions,
    ) -> Result<PooledTensor> {
        let (queries, keys, values) = (queries.view(), keys.view(), values.view());
        let mut out = self.empty_tensor(queries.rows(), values.columns());
        let scale = 1.0 / ((queries.columns() / heads) as f32).sqrt();
        let mut to = out.view_mut();
        let mut first = 0;
        for &length in lengths {
            let rows: Vec<u32> = (first as u32..(first + length) as u32).collect();
            for position in 0..length {
                let visible = match mask {
                    AttentionMask::All => length,
                    AttentionMask::Prefix(count) => count.min(length),
                    AttentionMask::Causal => position + 1,
                };
                let pool = KvPool { keys, values };
                let query = RelativeQuery {
                    heads,
                    scale,
                    query: queries.row(first + position),
                    terms: distance_terms(relative),
                };
                attend_relative_row(
                    self.cpu,
                    query,
                    pool,
                    &rows[..visible],
                    |key| relative.class(position, key),
                    to.row_mut(first + position),
                    &mut self.scratch,
                );
            }
            first += length;
        }
        assert_eq!(first, queries.rows(), "every query is in a sentence");
        Ok(out)
    }
}

impl Engine {
    /// Attends group by group. `head_weights` is a head and the list that gets its weights, a
    /// vector for each query.
    pub(super) fn attend_groups(
        &mut self,
        queries: ColumnSlice<'_, PooledTensor>,
        groups: &[(usize, &PackedKv)],
        mask: AttentionMask,
        mut head_weights: Option<(usize, &mut Vec<Vec<f32>>)>,
    ) -> PooledTensor {
        let queries = queries.view();
        let mut out = self.empty_tensor(queries.rows(), queries.columns());
        let mut rest = out.view_mut();
        let mut first = 0;
        for &(rows, packed) in groups {
            let (part, others) = rest.split_rows(rows);
            rest = others;
            let queries = queries.row_range(first..first + rows);
            first += rows;
            let positions = packed.positions();
            let mut weights = vec![0.0; if head_weights.is_some() { rows * positions } else { 0 }];
            let head = head_weights.as_ref().map(|(head, _)| *head);
            let weights_out = head.map(|head| (head, MatMut::new(&mut weights, rows, positions)));
            let scale = 1.0 / packed.head_dim().map_or(1.0, |width| (width as f32).sqrt());
            let floats = &mut self.scratch;
            attention::attend(self.cpu, scale, queries, packed, mask, part, weights_out, floats);
            if let Some((_, all)) = &mut head_weights {
                all.extend((0..rows).map(|row| weights[row * positions..][..positions].to_vec()));
            }
        }
        assert_eq!(first, queries.rows(), "every query is in a group");
        out
    }
}
