//! The operations of all layers, and the KV cache.

use miriam_kernels::MatRef;
use miriam_kernels::activation::plain::activate;
use miriam_kernels::attention::{RelativeTerms, plain as attention};
use miriam_kernels::gemm::plain::{self as gemm, WeightPart};
use miriam_kernels::operators::InputArrays;

use super::{Matrix, ReferenceBackend, Rounding, Weights};
use crate::Result;
use crate::layer::{
    AttentionMask, Backend, ColumnSlice, DecodingOps, DistanceTerms, Epilogue, Operator,
    RelativePositions,
};

/// A positional encoding.
#[derive(Clone, Debug)]
pub enum PositionTable {
    /// Column `i < half` is `sin(p * 10000^(-i / steps))`; column `half + i` is the cosine of the
    /// same angle.
    Sinusoidal {
        /// Half of the width.
        half: usize,
        /// The number of columns over which frequencies fall to a ten-thousandth.
        steps: f64,
    },
    /// A row for each position.
    Learned(Matrix),
}

impl PositionTable {
    fn encode(&self, position: usize) -> Vec<f64> {
        match self {
            PositionTable::Learned(table) => table.row(position).to_vec(),
            PositionTable::Sinusoidal { half, steps } => {
                fn angle(i: usize, position: usize, steps: &f64) -> f64 {
                    position as f64 * 10_000f64.powf(-(i as f64) / steps)
                }
                let sines = (0..*half).map(|i| angle(i, position, steps).sin());
                sines.chain((0..*half).map(|i| angle(i, position, steps).cos())).collect()
            }
        }
    }
}

/// Keys and values `[positions, width]` of `heads` heads side by side.
#[derive(Clone, Debug)]
pub struct HeadKv {
    heads: usize,
    keys: Matrix,
    values: Matrix,
}

/// The KV cache: each hypothesis has keys and values of its own history.
pub type KvHistories = Vec<HeadKv>;

impl HeadKv {
    /// Creates keys and values without positions, as wide as `keys` and `values`.
    fn new(heads: usize, keys: &ColumnSlice<'_, Matrix>, values: &ColumnSlice<'_, Matrix>) -> Self {
        let [keys, values] = [keys, values].map(|part| Matrix::zeros(0, part.columns.len()));
        HeadKv { heads, keys, values }
    }

    /// Attends with consecutive queries. Returns the sums of values, all heads side by side,
    /// and the weights, `[heads * queries, positions]`.
    fn attend(&self, queries: MatRef<'_, f64>, mask: AttentionMask) -> (Matrix, Vec<f64>) {
        let HeadKv { heads, keys, values } = self;
        let mut out = Matrix::zeros(queries.rows(), values.width());
        let mut weights = vec![0.0; heads * queries.rows() * keys.rows()];
        let (keys, values) = (keys.view(), values.view());
        attention::attend(*heads, mask, queries, keys, values, None, &mut weights, out.view_mut());
        (out, weights)
    }

    /// Attends from one query to the first `visible` positions, where scores or values
    /// depend on the distance from `position` to each.
    fn attend_relative(
        &self,
        query: &[f64],
        (position, visible): (usize, usize),
        relative: &RelativePositions,
    ) -> Vec<f64> {
        let terms = match &relative.terms {
            DistanceTerms::Vectors { keys, values } => RelativeTerms::Vectors { keys, values },
            DistanceTerms::Biases(biases) => RelativeTerms::Biases(biases),
        };
        attention::attend_relative(
            self.heads,
            query,
            [self.keys.view(), self.values.view()],
            visible,
            |key| relative.class(position, key),
            terms,
        )
    }
}

/// Replaces `cache` by one history for each row: its parent's history, then its own key and value.
fn extend_histories(
    cache: &mut KvHistories,
    heads: usize,
    keys: &ColumnSlice<'_, Matrix>,
    values: &ColumnSlice<'_, Matrix>,
    parents: &[Option<u32>],
) {
    let histories = parents.iter().enumerate().map(|(row, parent)| {
        let mut history = match parent {
            Some(parent) => cache[*parent as usize].clone(),
            None => HeadKv::new(heads, keys, values),
        };
        history.keys.push_row(keys.row(row));
        history.values.push_row(values.row(row));
        history
    });
    *cache = histories.collect();
}

impl<'a> ColumnSlice<'a, Matrix> {
    pub(super) fn row(&self, row: usize) -> &'a [f64] {
        &self.tensor.row(row)[self.columns.clone()]
    }

    fn view(&self) -> MatRef<'a, f64> {
        self.tensor.view().column_range(self.columns.clone())
    }
}

/// Multiplies `input`, `[rows, inputs]`, with weights and adds the bias and the residual: `[rows,
/// outputs]`. The input is rounded first, as the weights were.
pub(super) fn product(
    input: MatRef<'_, f64>,
    weights: &Weights,
    residual: Option<MatRef<'_, f64>>,
) -> Matrix {
    assert_eq!(input.columns(), weights.matrix.rows(), "as many inputs as the weights have");
    let rounded;
    let input = match weights.rounding {
        Rounding::Exact => input,
        rounding => {
            rounded =
                Matrix::from_fn(input.rows(), input.columns(), |row: usize, column: usize| {
                    rounding.round(input.row(row)[column])
                });
            rounded.view()
        }
    };
    let mut out = Matrix::zeros(input.rows(), weights.matrix.width());
    let parts = [WeightPart { values: weights.matrix.view(), is_transposed: false }];
    gemm::gemm(input, &parts, weights.bias.as_deref(), residual, out.view_mut());
    out
}

impl Backend for ReferenceBackend {
    type Tensor = Matrix;
    type Weights = Weights;
    type Vector = Vec<f64>;
    type EmbeddingTable = Matrix;
    type PositionalEncoding = PositionTable;
    type PackedKv = HeadKv;
    type RelativePositions = RelativePositions;

    fn shape(&self, tensor: &Matrix) -> [usize; 2] {
        [tensor.rows(), tensor.width()]
    }

    fn zeros(&mut self, rows: usize, width: usize) -> Result<Matrix> {
        Ok(Matrix::zeros(rows, width))
    }

    fn index_select(&mut self, from: &Matrix, indices: &[u32]) -> Result<Matrix> {
        Ok(Matrix::from_fn(indices.len(), from.width(), |row: usize, column: usize| {
            from.row(indices[row] as usize)[column]
        }))
    }

    fn embed(
        &mut self,
        table: &Matrix,
        tokens: &[Option<u32>],
        scale: f32,
        positional_encoding: Option<(&PositionTable, &[u32])>,
    ) -> Result<Matrix> {
        let mut out = Matrix::zeros(tokens.len(), table.width());
        for (row, token) in tokens.iter().enumerate() {
            if let Some(token) = *token {
                let vector = table.row(token as usize);
                out.row_mut(row)
                    .iter_mut()
                    .zip(vector)
                    .for_each(|(out, x)| *out = f64::from(scale) * x);
            }
            if let Some((encoding, positions)) = positional_encoding {
                let encoded = encoding.encode(positions[row] as usize);
                out.row_mut(row).iter_mut().zip(encoded).for_each(|(out, x)| *out += x);
            }
        }
        Ok(out)
    }

    fn affine(
        &mut self,
        input: &Matrix,
        weights: &Weights,
        epilogue: Epilogue<'_, Matrix>,
    ) -> Result<Matrix> {
        let mut out = product(input.view(), weights, epilogue.residual.map(Matrix::view));
        activate(epilogue.activation, out.view_mut());
        Ok(out)
    }

    fn apply(
        &mut self,
        operator: impl Operator,
        matrices: &[ColumnSlice<'_, Matrix>],
        vectors: &[&Vec<f64>],
    ) -> Result<Matrix> {
        let views = matrices.iter().map(ColumnSlice::view);
        let inputs = InputArrays::new(views, vectors.iter().map(|vector| &vector[..]));
        let [rows, width] = inputs.shape_of_result(&operator);
        let mut out = Matrix::zeros(rows, width);
        operator.forward(inputs.inputs(), out.view_mut());
        Ok(out)
    }

    fn pack_kv(
        &mut self,
        heads: usize,
        keys: ColumnSlice<'_, Matrix>,
        values: ColumnSlice<'_, Matrix>,
        lengths: &[usize],
    ) -> Result<Vec<HeadKv>> {
        let mut rows = 0..keys.tensor.rows();
        Ok(lengths
            .iter()
            .map(|&length| {
                let mut packed = HeadKv::new(heads, &keys, &values);
                for row in rows.by_ref().take(length) {
                    packed.keys.push_row(keys.row(row));
                    packed.values.push_row(values.row(row));
                }
                packed
            })
            .collect())
    }

    fn attend(
        &mut self,
        queries: ColumnSlice<'_, Matrix>,
        groups: &[(usize, &HeadKv)],
        mask: AttentionMask,
    ) -> Result<Matrix> {
        let mut out = Matrix::zeros(0, queries.columns.len());
        for &(rows, packed) in groups {
            let first = out.rows();
            let (sums, _) = packed.attend(queries.view().row_range(first..first + rows), mask);
            sums.iter().for_each(|row| out.push_row(row));
        }
        Ok(out)
    }

    fn attend_relative(
        &mut self,
        heads: usize,
        [queries, keys, values]: [ColumnSlice<'_, Matrix>; 3],
        lengths: &[usize],
        mask: AttentionMask,
        relative: &RelativePositions,
    ) -> Result<Matrix> {
        let sentences = self.pack_kv(heads, keys, values, lengths)?;
        let mut out = Matrix::zeros(0, queries.columns.len());
        for (packed, &length) in sentences.iter().zip(lengths) {
            for position in 0..length {
                let visible = mask.visible(position, length, length);
                let query = queries.row(out.rows());
                out.push_row(&packed.attend_relative(query, (position, visible), relative));
            }
        }
        Ok(out)
    }
}

impl DecodingOps for ReferenceBackend {
    type KvCache = KvHistories;

    fn new_kv_cache(&mut self) -> Result<KvHistories> {
        Ok(Vec::new())
    }

    fn attend_kv_cache(
        &mut self,
        cache: &mut KvHistories,
        heads: usize,
        [queries, keys, values]: [ColumnSlice<'_, Matrix>; 3],
        parents: &[Option<u32>],
        relative: Option<&RelativePositions>,
    ) -> Result<Matrix> {
        extend_histories(cache, heads, &keys, &values, parents);
        let mut out = Matrix::zeros(0, queries.columns.len());
        for (row, history) in cache.iter().enumerate() {
            let query = queries.view().row_range(row..row + 1);
            match relative {
                Some(relative) => {
                    let length = history.keys.rows();
                    let at = (length - 1, length);
                    out.push_row(&history.attend_relative(query.row(0), at, relative));
                }
                None => out.push_row(history.attend(query, AttentionMask::All).0.row(0)),
            }
        }
        Ok(out)
    }

    fn gather_state(&mut self, state: &Matrix, parents: &[Option<u32>]) -> Result<Matrix> {
        Ok(Matrix::from_fn(parents.len(), state.width(), |row: usize, column: usize| {
            parents[row].map_or(0.0, |parent| state.row(parent as usize)[column])
        }))
    }

    fn replace_rows(
        &mut self,
        mut rows: Matrix,
        indices: &[u32],
        from: ColumnSlice<'_, Matrix>,
    ) -> Result<Matrix> {
        for (row, &index) in indices.iter().enumerate() {
            rows.row_mut(index as usize).copy_from_slice(from.row(row));
        }
        Ok(rows)
    }

    fn attend_with_weights(
        &mut self,
        queries: ColumnSlice<'_, Matrix>,
        groups: &[(usize, &HeadKv)],
        head: usize,
        weights: &mut Vec<Vec<f32>>,
    ) -> Result<Matrix> {
        let mut out = Matrix::zeros(0, queries.columns.len());
        for &(rows, packed) in groups {
            let (first, positions) = (out.rows(), packed.keys.rows());
            let queries = queries.view().row_range(first..first + rows);
            let (sums, all) = packed.attend(queries, AttentionMask::All);
            sums.iter().for_each(|row| out.push_row(row));
            weights.extend((head * rows..(head + 1) * rows).map(|row| -> Vec<f32> {
                let row_weights = &all[row * positions..][..positions];
                row_weights.iter().map(|&weight| weight as f32).collect()
            }));
        }
        Ok(out)
    }
}
