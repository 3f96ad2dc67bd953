//! Loader of layers whose parameters are places in the flat vector.

use std::path::{Path, PathBuf};

use miriam_nmt::architecture::PositionalEncodingKind;
use miriam_nmt::layer::{
    AffineNames, ParameterLoader, RecurrentParameterLoader, RelativePositions,
};
use miriam_nmt::{Error, Result};

use super::weights::{AffineId, AffineSpec, MatrixPlace, VectorId, VectorPart, WeightRegistry};
use super::{PositionTable, ProjectedEmbeddings, Tape};
use crate::kernels::Kernels;
use crate::parameters::{Parameter, ParameterLayout};

/// Loader that gives layers on a [`Tape`] the places of their parameters.
pub struct TapeLoader {
    registry: WeightRegistry,
    path: PathBuf,
}

impl TapeLoader {
    /// Creates a loader for the parameters of `layout`; `path` names the model in messages.
    pub fn new(layout: ParameterLayout, path: &Path) -> Self {
        TapeLoader { registry: WeightRegistry::new(layout), path: path.to_owned() }
    }

    /// Returns the registry that the ids of the loaded layers refer to.
    pub fn into_registry(self) -> WeightRegistry {
        self.registry
    }

    fn parameter(&self, name: &str) -> Result<&Parameter> {
        self.registry.layout.get(name).ok_or_else(|| Error::Mismatch {
            file: self.path.display().to_string(),
            place: name.to_owned(),
            reason: "the parameter is missing".into(),
        })
    }

    fn matrix(&self, name: &str) -> Result<MatrixPlace> {
        let Parameter { offset, shape: [rows, columns], .. } = *self.parameter(name)?;
        Ok(MatrixPlace { offset, rows, columns })
    }

    fn vector_part(&self, name: &str) -> Result<VectorPart> {
        let parameter = self.parameter(name)?;
        Ok(VectorPart { offset: Some(parameter.offset), len: parameter.len() })
    }
}

impl<K: Kernels> ParameterLoader<Tape<K>> for TapeLoader {
    fn weights(&mut self, affine: AffineNames<'_>) -> Result<AffineId> {
        let parts = affine.matrices.iter().map(|name| self.matrix(name));
        let parts: Vec<MatrixPlace> = parts.collect::<Result<_>>()?;
        let biases = affine.biases.iter().zip(&parts).map(|(name, part)| match *name {
            "" => Ok(VectorPart { offset: None, len: part.columns }),
            name => self.vector_part(name),
        });
        let biases: Vec<VectorPart> = biases.collect::<Result<_>>()?;
        let bias = (!biases.is_empty()).then(|| self.registry.vector_id(biases));
        Ok(self.registry.affine_id(AffineSpec {
            inputs: parts[0].rows,
            outputs: parts.iter().map(|part| part.columns).sum(),
            parts,
            is_transposed: false,
            bias,
        }))
    }

    fn output_weights(&mut self, table: &str, bias: Option<&str>) -> Result<AffineId> {
        let place = self.matrix(table)?;
        let bias = match bias {
            Some(name) => {
                let part = self.vector_part(name)?;
                Some(self.registry.vector_id(vec![part]))
            }
            None => None,
        };
        Ok(self.registry.affine_id(AffineSpec {
            inputs: place.columns,
            outputs: place.rows,
            parts: vec![place],
            is_transposed: true,
            bias,
        }))
    }

    fn vector(&mut self, name: &str) -> Result<VectorId> {
        ParameterLoader::<Tape<K>>::concat_vectors(self, &[name])
    }

    fn values(&mut self, name: &str) -> Result<Vec<f32>> {
        Err(Error::Device { reason: format!("{name}: parameters of a tape have no stored values") })
    }

    fn concat_vectors(&mut self, names: &[&str]) -> Result<VectorId> {
        let parts = names.iter().map(|name| self.vector_part(name)).collect::<Result<_>>()?;
        Ok(self.registry.vector_id(parts))
    }

    fn relative_positions(&mut self, host: RelativePositions) -> Result<RelativePositions> {
        Ok(host)
    }

    fn embedding_table(&mut self, name: &str) -> Result<MatrixPlace> {
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
                Some(PositionTable::Sinusoidal { half, steps: half.saturating_sub(1).max(1) })
            }
            PositionalEncodingKind::Sinusoidal => {
                Some(PositionTable::Sinusoidal { half, steps: half.max(1) })
            }
            PositionalEncodingKind::Table { .. } => {
                Some(PositionTable::Learned(self.matrix(name)?))
            }
        })
    }
}

impl<K: Kernels> RecurrentParameterLoader<Tape<K>> for TapeLoader {
    fn projected_embedding_cache(
        &mut self,
        table: &str,
        affine: AffineNames<'_>,
        _cached_tokens: usize,
    ) -> Result<ProjectedEmbeddings> {
        let table = self.matrix(table)?;
        let weights = ParameterLoader::<Tape<K>>::weights(self, affine)?;
        Ok(ProjectedEmbeddings { table, weights })
    }
}
