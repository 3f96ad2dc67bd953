//! Loader that gives layers the shapes of a model's parameters. Only `values` gives numbers, which
//! layers read themselves.

use std::path::Path;

use miriam_nmt::Result;
use miriam_nmt::architecture::{Model, PositionalEncodingKind};
use miriam_nmt::layer::{
    AffineNames, ParameterLoader, RecurrentParameterLoader, RelativePositions,
};
use miriam_nmt::plain_parameters::{PlainParameters, PlainWeights};

use super::backend::{ProjectedEmbeddings, ShapeBackend, WeightShape};

/// A loader that passes the shapes of parameters to layers on a [`ShapeBackend`].
pub struct ShapeLoader<'a> {
    parameters: PlainParameters<'a>,
}

impl<'a> ShapeLoader<'a> {
    /// Creates a loader for `model`; `path` names the model in messages.
    pub fn new(model: &'a Model, path: &Path) -> Self {
        ShapeLoader { parameters: PlainParameters::new(model, path) }
    }
}

fn weight_shape(weights: &PlainWeights) -> WeightShape {
    let PlainWeights { matrix, bias } = weights;
    WeightShape { depth: matrix.rows, columns: matrix.columns, has_bias: bias.is_some() }
}

impl ParameterLoader<ShapeBackend> for ShapeLoader<'_> {
    fn weights(&mut self, affine: AffineNames<'_>) -> Result<WeightShape> {
        Ok(weight_shape(&self.parameters.weights(affine)?))
    }

    fn output_weights(&mut self, table: &str, bias: Option<&str>) -> Result<WeightShape> {
        Ok(weight_shape(&self.parameters.output_weights(table, bias)?))
    }

    fn vector(&mut self, name: &str) -> Result<usize> {
        self.concat_vectors(&[name])
    }

    fn values(&mut self, name: &str) -> Result<Vec<f32>> {
        self.parameters.values(name)
    }

    fn concat_vectors(&mut self, names: &[&str]) -> Result<usize> {
        Ok(self.parameters.concat_values(names)?.len())
    }

    fn embedding_table(&mut self, name: &str) -> Result<usize> {
        Ok(self.parameters.matrix(name)?.columns)
    }

    fn relative_positions(&mut self, _host: RelativePositions) -> Result<()> {
        Ok(())
    }

    fn positional_encoding(
        &mut self,
        kind: PositionalEncodingKind,
        _width: usize,
        _name: &str,
    ) -> Result<Option<()>> {
        Ok(match kind {
            PositionalEncodingKind::None
            | PositionalEncodingKind::RelativeVectors { .. }
            | PositionalEncodingKind::RelativeBias(_) => None,
            _ => Some(()),
        })
    }
}

impl RecurrentParameterLoader<ShapeBackend> for ShapeLoader<'_> {
    fn projected_embedding_cache(
        &mut self,
        table: &str,
        affine: AffineNames<'_>,
        _cached_tokens: usize,
    ) -> Result<ProjectedEmbeddings> {
        let width = self.embedding_table(table)?;
        Ok(ProjectedEmbeddings { width, weights: self.weights(affine)? })
    }
}
