//! Places where models compute: the CPU, a GPU, and the reference in f64.

use std::fmt;
use std::sync::Arc;

use miriam_kernels::Cpu;
use miriam_kernels::autotuner::Autotuner;
use miriam_nmt::DeviceSet;
use miriam_nmt::engine::Precision;
use miriam_nmt::layer::recurrent::Speedups;
use miriam_nmt::network::Network;
use miriam_nmt::translate::{GPU_PRECISIONS, Placement};

use super::super::resolve_device;
use super::models::Subject;
use crate::error::Result;

/// A place where a model computes.
#[derive(Clone)]
pub enum Place {
    /// The CPU in f32.
    Cpu(Arc<Autotuner>),
    /// A GPU in a precision.
    Gpu(u32, Precision, Arc<Autotuner>),
    /// The slow reference implementation in f64 on the CPU.
    Reference,
}

impl Place {
    /// Returns the CPU, and the chosen GPU in each of its precisions.
    ///
    /// # Errors
    /// If a GPU is chosen but this build does not support GPUs, or if several are chosen.
    pub fn for_devices(devices: &DeviceSet) -> Result<Vec<Place>> {
        let tuner = Arc::new(Autotuner::new(Cpu::detect()));
        let mut places = vec![Place::Cpu(Arc::clone(&tuner))];
        if let DeviceSet::Cuda(numbers) = resolve_device(devices)? {
            for number in numbers {
                let place = |precision| Place::Gpu(number, precision, Arc::clone(&tuner));
                places.extend(GPU_PRECISIONS.map(place));
            }
        }
        Ok(places)
    }

    /// Loads a model.
    ///
    /// # Errors
    /// If the device cannot be used or has too little memory.
    pub fn load(&self, subject: &Subject) -> Result<Network> {
        let (model, path) = (&subject.model, &*subject.path);
        let (devices, precision, tuner) = match self {
            Place::Cpu(tuner) => (DeviceSet::Cpu, Precision::F32, tuner),
            Place::Gpu(number, precision, tuner) => {
                (DeviceSet::Cuda(vec![*number]), *precision, tuner)
            }
            Place::Reference => {
                return Ok(Network::load_reference(model, path, &Speedups::default())?);
            }
        };
        Ok(Placement { devices: &devices, precision, tuner }.load_network(model, path)?)
    }

    /// Returns the precision; for the reference, the precision with which it is compared.
    pub fn precision(&self) -> Precision {
        match self {
            Place::Gpu(_, precision, _) => *precision,
            Place::Cpu(_) | Place::Reference => Precision::F32,
        }
    }

    /// Whether this is a GPU.
    pub fn is_gpu(&self) -> bool {
        matches!(self, Place::Gpu(..))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Cpu(_) => formatter.write_str("cpu f32"),
            Place::Gpu(number, precision, _) => {
                write!(formatter, "cuda:{number} {}", precision.name())
            }
            Place::Reference => formatter.write_str("reference f64"),
        }
    }
}
