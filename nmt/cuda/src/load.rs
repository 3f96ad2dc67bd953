//! Loader of the parameters of a model into the memory of a device.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use miriam_gpu::Stream;
use miriam_kernels::embedding::SinusoidKind;
use miriam_nmt_models::Result;
use miriam_nmt_models::architecture::{Model, PositionalEncodingKind};
use miriam_nmt_network::layer::{
    AffineNames, ParameterLoader, RecurrentParameterLoader, RelativePositions,
};
use miriam_nmt_network::plain_parameters::{PlainParameters, PlainWeights};

use crate::weights::uploaded;
use crate::{
    CudaBackend, CudaDevice, EmbeddingTable, PositionalEncoding, ProjectedEmbeddings,
    RelativeTerms, WeightFormat, Weights, device_error,
};

/// Loader that gives the parameters of a model to layers on a [`CudaBackend`]. Integers of files
/// are unpacked to floats.
pub struct CudaLoader<'a> {
    parameters: PlainParameters<'a>,
    stream: Stream,
    format: WeightFormat,
    /// Tables that several layers share.
    tables: BTreeMap<String, Arc<EmbeddingTable>>,
}

impl<'a> CudaLoader<'a> {
    /// Creates a loader of the parameters of `model` for `device`. It rounds the weights of matrix
    /// products to `format`. `path` names the model in messages.
    ///
    /// # Errors
    /// If the device cannot create a stream, or cannot multiply with weights of this format.
    pub fn new(
        device: &CudaDevice,
        model: &'a Model,
        path: &Path,
        format: WeightFormat,
    ) -> Result<Self> {
        device.check_format(format)?;
        let stream = device.gpu().new_stream().map_err(device_error)?;
        let parameters = PlainParameters::new(model, path);
        Ok(CudaLoader { parameters, stream, format, tables: BTreeMap::new() })
    }

    fn upload(&self, values: &[f32]) -> Result<miriam_gpu::Buffer<f32>> {
        uploaded(&self.stream, values).map_err(device_error)
    }

    fn upload_weights(&self, weights: &PlainWeights) -> Result<Arc<Weights>> {
        Ok(Arc::new(Weights::upload(&self.stream, weights, self.format).map_err(device_error)?))
    }

    fn read_table(&self, name: &str) -> Result<EmbeddingTable> {
        let matrix = self.parameters.matrix(name)?;
        EmbeddingTable::upload(&self.stream, &matrix).map_err(device_error)
    }
}

impl ParameterLoader<CudaBackend> for CudaLoader<'_> {
    fn weights(&mut self, affine: AffineNames<'_>) -> Result<Arc<Weights>> {
        self.upload_weights(&self.parameters.weights(affine)?)
    }

    fn output_weights(&mut self, table: &str, bias: Option<&str>) -> Result<Arc<Weights>> {
        self.upload_weights(&self.parameters.output_weights(table, bias)?)
    }

    fn vector(&mut self, name: &str) -> Result<Arc<miriam_gpu::Buffer<f32>>> {
        self.concat_vectors(&[name])
    }

    fn values(&mut self, name: &str) -> Result<Vec<f32>> {
        self.parameters.values(name)
    }

    fn concat_vectors(&mut self, names: &[&str]) -> Result<Arc<miriam_gpu::Buffer<f32>>> {
        Ok(Arc::new(self.upload(&self.parameters.concat_values(names)?)?))
    }

    fn embedding_table(&mut self, name: &str) -> Result<Arc<EmbeddingTable>> {
        if let Some(table) = self.tables.get(name) {
            return Ok(Arc::clone(table));
        }
        let table = Arc::new(self.read_table(name)?);
        self.tables.insert(name.to_owned(), Arc::clone(&table));
        Ok(table)
    }

    fn relative_positions(&mut self, host: RelativePositions) -> Result<RelativeTerms> {
        RelativeTerms::upload(&self.stream, host).map_err(device_error)
    }

    fn positional_encoding(
        &mut self,
        kind: PositionalEncodingKind,
        width: usize,
        name: &str,
    ) -> Result<Option<PositionalEncoding>> {
        Ok(match kind {
            PositionalEncodingKind::None
            | PositionalEncodingKind::RelativeVectors { .. }
            | PositionalEncodingKind::RelativeBias(_) => None,
            PositionalEncodingKind::SinusoidalMarian
            | PositionalEncodingKind::SinusoidalFromOne
            | PositionalEncodingKind::SinusoidalFromTwo => {
                Some(PositionalEncoding::sinusoidal(SinusoidKind::Marian, width))
            }
            PositionalEncodingKind::Sinusoidal => {
                Some(PositionalEncoding::sinusoidal(SinusoidKind::CTranslate2, width))
            }
            PositionalEncodingKind::Table { .. } => {
                Some(PositionalEncoding::Learned(self.read_table(name)?))
            }
        })
    }
}

impl RecurrentParameterLoader<CudaBackend> for CudaLoader<'_> {
    /// Loads the table and the weights. The device caches no products: it computes the product of a
    /// token whenever a step needs it.
    fn projected_embedding_cache(
        &mut self,
        table: &str,
        affine: AffineNames<'_>,
        _cached_tokens: usize,
    ) -> Result<ProjectedEmbeddings> {
        Ok(ProjectedEmbeddings {
            table: self.embedding_table(table)?,
            weights: ParameterLoader::<CudaBackend>::weights(self, affine)?,
        })
    }
}
