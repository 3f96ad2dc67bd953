//! Loader of unpacked parameters in f64.

use std::path::{Path, PathBuf};

use super::operations::PositionTable;
use super::{Matrix, ProjectedEmbeddings, ReferenceBackend, Weights};
use crate::layer::{AffineNames, ParameterLoader, RecurrentParameterLoader};
use crate::{Error, Result};
use miriam_nmt_models::architecture::{Model, PositionalEncodingKind};

/// Loader of a model's parameters for the [`ReferenceBackend`].
pub struct ReferenceLoader<'a> {
    model: &'a Model,
    path: PathBuf,
}

impl<'a> ReferenceLoader<'a> {
    /// Loads parameters of `model`; `path` names it in messages.
    pub fn new(model: &'a Model, path: &Path) -> Self {
        ReferenceLoader { model, path: path.to_owned() }
    }

    fn matrix(&self, name: &str) -> Result<Matrix> {
        let tensor = self
            .model
            .parameter(name)
            .ok_or_else(|| Error::mismatch(&self.path, name, "the parameter is missing"))?;
        let values = tensor.values().into_iter().map(f64::from).collect();
        Ok(Matrix::new(tensor.shape()[0], tensor.shape()[1], values))
    }
}

impl ParameterLoader<ReferenceBackend> for ReferenceLoader<'_> {
    fn weights(&mut self, affine: AffineNames<'_>) -> Result<Weights> {
        let parts = affine.matrices.iter().map(|name| self.matrix(name));
        let parts: Vec<Matrix> = parts.collect::<Result<_>>()?;
        let mut matrix = Matrix::default();
        for input in 0..parts[0].rows() {
            let row: Vec<f64> = parts.iter().flat_map(|part| part.row(input)).copied().collect();
            matrix.push_row(&row);
        }
        let mut bias = Vec::new();
        for (name, part) in affine.biases.iter().zip(&parts) {
            match *name {
                "" => bias.resize(bias.len() + part.width(), 0.0),
                name => bias.extend(self.vector(name)?),
            }
        }
        Ok(Weights { matrix, bias: (!affine.biases.is_empty()).then_some(bias) })
    }

    fn output_weights(&mut self, table: &str, bias: Option<&str>) -> Result<Weights> {
        let table = self.matrix(table)?;
        let matrix =
            Matrix::from_fn(table.width(), table.rows(), |row, column| table.row(column)[row]);
        Ok(Weights { matrix, bias: bias.map(|name| self.vector(name)).transpose()? })
    }

    fn vector(&mut self, name: &str) -> Result<Vec<f64>> {
        self.concat_vectors(&[name])
    }

    fn values(&mut self, name: &str) -> Result<Vec<f32>> {
        let matrix = self.matrix(name)?;
        Ok(matrix.iter().flatten().map(|&value| value as f32).collect())
    }

    fn concat_vectors(&mut self, names: &[&str]) -> Result<Vec<f64>> {
        let mut all = Vec::new();
        for name in names {
            self.matrix(name)?.iter().for_each(|row| all.extend(row));
        }
        Ok(all)
    }

    fn embedding_table(&mut self, name: &str) -> Result<Matrix> {
        self.matrix(name)
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
                Some(PositionTable::Learned(self.matrix(name)?))
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
        Ok(ProjectedEmbeddings { table: self.matrix(table)?, weights: self.weights(affine)? })
    }
}
