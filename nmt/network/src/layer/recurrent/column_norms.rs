//! Layer norms that each normalise one range of columns.

use std::ops::Range;

use miriam_kernels::operators::{ColumnNorm, NormalizeColumns};

use crate::Result;
use crate::layer::{Backend, LayerNorm};

/// Layer norms of a matrix, each of one range of its columns.
pub struct ColumnNorms<B: Backend> {
    operator: NormalizeColumns,
    /// The scale of each norm, followed by its bias if it has one.
    vectors: Vec<B::Vector>,
}

impl<B: Backend> ColumnNorms<B> {
    /// Creates a norm for each range of columns. The ranges must ascend and must not overlap.
    pub fn new(norms: impl IntoIterator<Item = (Range<usize>, LayerNorm<B::Vector>)>) -> Self {
        let mut vectors = Vec::new();
        let norms = norms
            .into_iter()
            .map(|(columns, norm)| {
                let column_norm =
                    ColumnNorm { columns, norm: norm.operator(), has_bias: norm.bias.is_some() };
                vectors.push(norm.scale);
                vectors.extend(norm.bias);
                column_norm
            })
            .collect();
        ColumnNorms { operator: NormalizeColumns { norms }, vectors }
    }

    /// Whether there are no norms.
    pub fn is_empty(&self) -> bool {
        self.operator.norms.is_empty()
    }

    /// Normalises the ranges of columns of `rows`, `[rows, width]`; other columns stay unchanged.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn forward(&self, backend: &mut B, rows: B::Tensor) -> Result<B::Tensor> {
        if self.is_empty() {
            return Ok(rows);
        }
        backend.apply_in_place(&self.operator, rows, &self.vectors)
    }
}
