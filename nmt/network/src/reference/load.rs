//! Loader of unpacked parameters in f64.

use std::path::Path;

use super::operations::PositionTable;
use super::{Matrix, ProjectedEmbeddings, ReferenceBackend, Rounding, Weights};
use crate::Result;
use crate::layer::{AffineNames, ParameterLoader, RecurrentParameterLoader, RelativePositions};
use crate::plain_parameters::{PlainMatrix, PlainParameters, PlainWeights};
use miriam_nmt_models::architecture::{Model, PositionalEncodingKind};

/// Loader of a model's parameters for the [`ReferenceBackend`].
pub struct ReferenceLoader<'a> {
    parameters: PlainParameters<'a>,
    rounding: Rounding,
}

/// Widens numbers.
fn widen(values: Vec<f32>) -> Vec<f64> {
    values.into_iter().map(f64::from).collect()
}

fn wide_matrix(matrix: PlainMatrix) -> Matrix {
    Matrix::new(matrix.rows, matrix.columns, widen(matrix.values))
}

impl<'a> ReferenceLoader<'a> {
    /// Creates a loader of the parameters of `model`; `path` names the model in messages.
    pub fn new(model: &'a Model, path: &Path) -> Self {
        Self::with_rounding(model, path, Rounding::Exact)
    }

    /// Creates a loader of the parameters of `model` for products that round their factors; `path`
    /// names the model in messages.
    pub fn with_rounding(model: &'a Model, path: &Path, rounding: Rounding) -> Self {
        ReferenceLoader { parameters: PlainParameters::new(model, path), rounding }
    }

    fn round_weights(&self, weights: PlainWeights) -> Weights {
        let PlainMatrix { rows, columns, values } = weights.matrix;
        let rounded = values.into_iter().map(|value| self.rounding.round(value.into()));
        Weights {
            matrix: Matrix::new(rows, columns, rounded.collect()),
            bias: weights.bias.map(widen),
            rounding: self.rounding,
        }
    }
}

impl ParameterLoader<ReferenceBackend> for ReferenceLoader<'_> {
    fn weights(&mut self, affine: AffineNames<'_>) -> Result<Weights> {
        Ok(self.round_weights(self.parameters.weights(affine)?))
    }

    fn output_weights(&mut self, table: &str, bias: Option<&str>) -> Result<Weights> {
        Ok(self.round_weights(self.parameters.output_weights(table, bias)?))
    }

    fn vector(&mut self, name: &str) -> Result<Vec<f64>> {
        self.concat_vectors(&[name])
    }

    fn values(&mut self, name: &str) -> Result<Vec<f32>> {
        self.parameters.values(name)
    }

    fn concat_vectors(&mut self, names: &[&str]) -> Result<Vec<f64>> {
        Ok(widen(self.parameters.concat_values(names)?))
    }

    fn relative_positions(&mut self, host: RelativePositions) -> Result<RelativePositions> {
        Ok(host)
    }

    fn embedding_table(&mut self, name: &str) -> Result<Matrix> {
        Ok(wide_matrix(self.parameters.matrix(name)?))
    }

    fn positional_encoding(
        &mut self,
        kind: PositionalEncodingKind,
        width: usize,
        name: &str,
    ) -> Result<Option<PositionTable>> {
        let half = width / 2;
        Ok(match kind {
            PositionalEncodingKind::None
            | PositionalEncodingKind::RelativeVectors { .. }
            | PositionalEncodingKind::RelativeBias(_) => None,
            PositionalEncodingKind::SinusoidalMarian
            | PositionalEncodingKind::SinusoidalFromOne
            | PositionalEncodingKind::SinusoidalFromTwo => {
                let steps = half.saturating_sub(1).max(1) as f64;
                Some(PositionTable::Sinusoidal { half, steps })
            }
            PositionalEncodingKind::Sinusoidal => {
                Some(PositionTable::Sinusoidal { half, steps: half.max(1) as f64 })
            }
            PositionalEncodingKind::Table { .. } => {
                Some(PositionTable::Learned(self.embedding_table(name)?))
            }
        })
    }
}

impl RecurrentParameterLoader<ReferenceBackend> for ReferenceLoader<'_> {
    fn projected_embedding_cache(
        &mut self,
        table: &str,
        affine: AffineNames<'_>,
        _cached_tokens: usize,
    ) -> Result<ProjectedEmbeddings> {
        Ok(ProjectedEmbeddings {
            table: self.embedding_table(table)?,
            weights: self.weights(affine)?,
        })
    }
}
