//! GPU that runs the layers of networks. Each thread has a backend of its own, with its own stream.

use std::sync::Arc;

use miriam_gpu::Buffer;
use miriam_nmt_models::{Error, Result};
use miriam_nmt_network::layer::{Device, RelativePositions};
use miriam_nmt_network::plain_parameters::{PlainMatrix, PlainWeights};

use crate::kernels::{BF16_CAPABILITY, Kernels};
use crate::weights::uploaded;
use crate::{CudaBackend, EmbeddingTable, RelativeTerms, WeightFormat, Weights, device_error};

/// A GPU with the kernels of networks loaded. Clones share both.
#[derive(Clone)]
pub struct CudaDevice {
    device: miriam_gpu::Device,
    kernels: Arc<Kernels>,
}

impl CudaDevice {
    /// Opens the GPU `number`, counted from 0.
    ///
    /// # Errors
    /// If there is no such GPU, or it cannot load the kernels.
    pub fn open(number: u32) -> Result<Self> {
        let device = miriam_gpu::Device::open(number).map_err(device_error)?;
        let kernels = Arc::new(Kernels::load(&device).map_err(device_error)?);
        Ok(CudaDevice { device, kernels })
    }

    /// Returns the properties of the GPU.
    pub fn properties(&self) -> &miriam_gpu::DeviceProperties {
        self.device.properties()
    }

    /// Uploads numbers to the memory of the GPU.
    ///
    /// # Errors
    /// If the GPU has too little free memory.
    pub fn vector(&self, values: &[f32]) -> Result<Arc<Buffer<f32>>> {
        let stream = self.device.new_stream().map_err(device_error)?;
        Ok(Arc::new(uploaded(&stream, values).map_err(device_error)?))
    }

    /// Uploads a table that has a row for each token or position.
    ///
    /// # Errors
    /// If the GPU has too little free memory.
    pub fn embedding_table(&self, rows: &PlainMatrix) -> Result<EmbeddingTable> {
        let stream = self.device.new_stream().map_err(device_error)?;
        EmbeddingTable::upload(&stream, rows).map_err(device_error)
    }

    /// Uploads the relative-position terms of an attention layer.
    ///
    /// # Errors
    /// If the GPU has too little free memory.
    pub fn relative_positions(&self, positions: RelativePositions) -> Result<RelativeTerms> {
        let stream = self.device.new_stream().map_err(device_error)?;
        RelativeTerms::upload(&stream, positions).map_err(device_error)
    }

    /// Checks that this GPU can multiply with weights of `format`.
    ///
    /// # Errors
    /// If the GPU is too old for the format.
    pub fn check_format(&self, format: WeightFormat) -> Result<()> {
        let properties = self.properties();
        if format == WeightFormat::Bf16 && properties.compute_capability < BF16_CAPABILITY {
            let (major, minor) = BF16_CAPABILITY;
            let reason = format!(
                "GPU {} ({}) computes in f32 and f16; bf16 needs compute capability \
                 {major}.{minor}",
                properties.number, properties.name
            );
            return Err(Error::Device { reason });
        }
        Ok(())
    }

    /// Rounds the weights of a matrix product, `[depth, columns]`, to `format` and uploads them.
    ///
    /// # Errors
    /// If the GPU has too little free memory, or cannot multiply with weights of this format.
    ///
    /// # Panics
    /// If the bias does not have a number for each column.
    pub fn weights(&self, weights: &PlainWeights, format: WeightFormat) -> Result<Arc<Weights>> {
        self.check_format(format)?;
        let stream = self.device.new_stream().map_err(device_error)?;
        Ok(Arc::new(Weights::upload(&stream, weights, format).map_err(device_error)?))
    }

    /// Returns the GPU itself.
    pub(crate) fn gpu(&self) -> &miriam_gpu::Device {
        &self.device
    }
}

impl Device for CudaDevice {
    type Backend = CudaBackend;

    fn new_backend(&self) -> Result<CudaBackend> {
        let stream = self.device.new_stream().map_err(device_error)?;
        Ok(CudaBackend::new(stream, Arc::clone(&self.kernels)))
    }
}
