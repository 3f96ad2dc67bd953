//! Loader of networks for the CPU, the only place in [`network`](crate::network) that names the
//! engine.

use std::path::Path;
use std::sync::Arc;

use super::Layers;
use super::Network;
use crate::engine::{Autotuner, CpuDevice, Engine, UsedParameters, WeightLoader};
use crate::layer::recurrent::Speedups;
use crate::{Error, Result};
use miriam_nmt_models::architecture::Model;
use miriam_nmt_models::packed::Precision;

impl Network {
    /// Packs the parameters of `model` for GEMM in `precision` on the CPU. `path` names
    /// the model in messages.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if a parameter is missing or too large for `precision`;
    /// [`Error::Device`] if only GPUs compute in `precision`.
    pub fn load(model: &Model, path: &Path, precision: Precision) -> Result<Self> {
        Self::load_on_cpu(CpuDevice::default(), model, path, precision, &Speedups::default())
    }

    /// Works as [`load`](Network::load) with `tuner`, which chooses the fastest GEMM kernel for
    /// each shape, from cached choices or by measuring.
    ///
    /// # Errors
    /// Those of [`load`](Network::load).
    pub fn load_tuned(
        model: &Model,
        path: &Path,
        precision: Precision,
        tuner: &Arc<Autotuner>,
    ) -> Result<Self> {
        Self::load_on_cpu(CpuDevice::new(tuner), model, path, precision, &Speedups::default())
    }

    /// Works as [`load`](Network::load), with the speedups `speedups` in recurrent models.
    ///
    /// # Errors
    /// Those of [`load`](Network::load).
    pub fn load_with(
        model: &Model,
        path: &Path,
        precision: Precision,
        speedups: &Speedups,
    ) -> Result<Self> {
        Self::load_on_cpu(CpuDevice::default(), model, path, precision, speedups)
    }

    fn load_on_cpu(
        device: CpuDevice,
        model: &Model,
        path: &Path,
        precision: Precision,
        speedups: &Speedups,
    ) -> Result<Self> {
        check_precision(precision)?;
        let mut parameters = WeightLoader::new(model, path, precision);
        Self::load_on(device, &mut parameters, model, path, speedups)
    }
}

/// Rejects the precisions that CPUs do not compute in.
fn check_precision(precision: Precision) -> Result<()> {
    if precision.needs_gpu() {
        let name = precision.name();
        let reason =
            format!("{name} is a precision of GPUs; give --device cuda or --precision f32");
        return Err(Error::Device { reason });
    }
    Ok(())
}

/// Returns the parameters that the layers of `model` load in `precision`: a model file must have
/// them.
pub(crate) fn used_parameters(
    model: &Model,
    path: &Path,
    precision: Precision,
) -> Result<UsedParameters> {
    check_precision(precision)?;
    let mut parameters = WeightLoader::new(model, path, precision);
    Layers::<Engine>::load(model.architecture(), &Speedups::default(), &mut parameters)?;
    Ok(parameters.into_used_parameters())
}
