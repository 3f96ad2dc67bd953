//! Loading of networks on the chosen devices: the CPU, or one or more GPUs with a copy on each.

use std::path::Path;
use std::sync::Arc;

use miriam_gpu::DeviceSet;
use miriam_kernels::autotuner::Autotuner;

use crate::{Error, Result};
use miriam_nmt_models::architecture::Model;
use miriam_nmt_models::packed::Precision;
use miriam_nmt_network::network::Network;

/// The devices on which networks compute, their precision, and the tuner of their kernels.
#[derive(Clone, Copy)]
pub struct Placement<'a> {
    /// The devices.
    pub devices: &'a DeviceSet,
    /// The precision of GEMM.
    pub precision: Precision,
    /// The tuner that chooses GEMM kernels of the CPU, and learns from its measurements.
    pub tuner: &'a Arc<Autotuner>,
}

/// The networks of an ensemble on each device.
pub(super) type NetworksByDevice = Vec<Arc<[Network]>>;

/// The precisions in which every supported GPU computes; bf16 needs compute capability 8.0.
pub const GPU_PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F16];

impl Placement<'_> {
    /// Loads one model and returns its network on the first device, for measurements and
    /// comparisons: if a GPU fails later, that is an error, and nothing continues on the CPU.
    /// `path` names the model in messages.
    ///
    /// # Errors
    /// If a device or the precision cannot be used, or a parameter is missing or has the wrong
    /// shape.
    pub fn load_network(&self, model: &Model, path: &Path) -> Result<Network> {
        Ok(self.load_on_devices(&[(model, path)], false)?[0][0].clone())
    }

    /// Loads all models on each device. The path of a model names it in messages. If a GPU fails
    /// later, the CPU continues.
    pub(super) fn load(&self, models: &[(&Model, &Path)]) -> Result<NetworksByDevice> {
        self.load_on_devices(models, true)
    }

    /// Loads all models on each device. With `falls_back`, the CPU continues if a GPU fails later.
    fn load_on_devices(
        &self,
        models: &[(&Model, &Path)],
        falls_back: bool,
    ) -> Result<NetworksByDevice> {
        match self.devices.clone().resolve().map_err(device_error)? {
            DeviceSet::Cuda(numbers) => self.load_on_gpus(models, &numbers, falls_back),
            DeviceSet::Cpu | DeviceSet::Auto => {
                let networks = models.iter().map(|&(model, path)| {
                    Network::load_tuned(model, path, self.precision, self.tuner)
                });
                Ok(vec![networks.collect::<Result<_>>()?])
            }
        }
    }

    /// Works as [`load_on_devices`](Self::load_on_devices), for GPUs.
    #[cfg(feature = "cuda")]
    fn load_on_gpus(
        &self,
        models: &[(&Model, &Path)],
        gpus: &[u32],
        falls_back: bool,
    ) -> Result<NetworksByDevice> {
        use miriam_nmt_cuda::{CudaDevice, CudaLoader};
        use miriam_nmt_network::layer::recurrent::Speedups;

        let format = weight_format(self.precision)?;
        let copies = gpus.iter().map(|&number| {
            let device = CudaDevice::open(number)?;
            let networks = models.iter().map(|&(model, path)| {
                let mut parameters = CudaLoader::new(&device, model, path, format)?;
                // With the products computed once per sentence, as on CPUs, attention would sum
                // them in the place of the encoder's states, which are narrower.
                let speedups = Speedups { precompute_context: false, ..Speedups::default() };
                let network =
                    Network::load_on(device.clone(), &mut parameters, model, path, &speedups)?;
                if !falls_back {
                    return Ok(network);
                }
                let (model, path, tuner) = (model.clone(), path.to_owned(), Arc::clone(self.tuner));
                Ok(network.with_fallback(move || {
                    // The precision of GPUs may be one that CPUs do not compute in.
                    let precision = model.precision().unwrap_or(Precision::F32);
                    Network::load_tuned(&model, &path, precision, &tuner)
                }))
            });
            networks.collect::<Result<_>>()
        });
        copies.collect()
    }

    #[cfg(not(feature = "cuda"))]
    fn load_on_gpus(&self, _: &[(&Model, &Path)], _: &[u32], _: bool) -> Result<NetworksByDevice> {
        Err(device_error(miriam_gpu::BuiltWithoutCuda))
    }
}

/// Returns the type of weights on GPUs for a precision.
#[cfg(feature = "cuda")]
fn weight_format(precision: Precision) -> Result<miriam_nmt_cuda::WeightFormat> {
    use miriam_nmt_cuda::WeightFormat;

    match precision {
        Precision::F32 => Ok(WeightFormat::F32),
        Precision::F16 => Ok(WeightFormat::F16),
        Precision::Bf16 => Ok(WeightFormat::Bf16),
        Precision::I16 | Precision::I8 | Precision::Mixed | Precision::I8Alphas => {
            let reason = format!(
                "GPUs compute in f32, f16 and bf16, not in {}; give --precision f32 or --device cpu",
                precision.name()
            );
            Err(Error::Device { reason })
        }
    }
}

fn device_error(error: miriam_gpu::BuiltWithoutCuda) -> Error {
    Error::Device { reason: error.to_string() }
}
