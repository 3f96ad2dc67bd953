//! The backend that translates on the CPU: packed weights, pooled memory, no gradients.
//!
//! An engine belongs to one thread. Parameters are in `Arc`s, which [`WeightLoader`] makes once
//! for all threads; a [`CpuDevice`] makes the engines.

mod kv_cache;
mod load;
mod matmul;
mod operations;
mod output;
mod pooled_tensor;
mod recurrent_ops;
mod weights;

use std::rc::Rc;
use std::sync::Arc;

use miriam_kernels::AlignedVec;
use miriam_kernels::embedding::SinusoidKind;
use miriam_kernels::gemm::{PreparedI8, PreparedI16};

pub use kv_cache::KvCache;
pub use load::WeightLoader;
pub use miriam_kernels::Cpu;
pub use miriam_kernels::autotuner::Autotuner;
pub use miriam_nmt_models::packed::{MappedMatrix, Precision};
pub use pooled_tensor::PooledTensor;
pub use recurrent_ops::{Annotations, ProjectedEmbeddingCache};
pub use weights::{EmbeddingTable, PositionalEncoding, Weights};

pub(crate) use load::{UsedParameters, packs_losslessly};
#[cfg(test)]
pub(crate) use operations::MAX_GROUP_ROWS;

use crate::Result;
use crate::layer::Device;
use pooled_tensor::BufferPool;

/// The CPU as a device, whose engines share the tuner's measurements of GEMM.
#[derive(Clone)]
pub struct CpuDevice {
    cpu: Cpu,
    tuner: Arc<Autotuner>,
}

impl CpuDevice {
    /// Returns the CPU with all its instruction sets. Engines use the fastest GEMM kernels that
    /// `tuner` knows and measure others; the tuner can be saved for the next run of the program.
    pub fn new(tuner: &Arc<Autotuner>) -> Self {
        CpuDevice { cpu: Cpu::detect(), tuner: Arc::clone(tuner) }
    }
}

impl Default for CpuDevice {
    /// Returns the CPU with a tuner that has measured nothing yet.
    fn default() -> Self {
        Self::new(&Arc::new(Autotuner::new(Cpu::detect())))
    }
}

impl Device for CpuDevice {
    type Backend = Engine;

    fn new_backend(&self) -> Result<Engine> {
        Ok(Engine::with_tuner(self.cpu, Arc::clone(&self.tuner)))
    }
}

/// The CPU backend of one thread.
pub struct Engine {
    cpu: Cpu,
    tuner: Arc<Autotuner>,
    pool: Rc<BufferPool>,
    // The rows that were quantised last, the same rows prepared for a tiling, and their scales.
    quantized_i8: AlignedVec<i8>,
    prepared_i8: PreparedI8,
    quantized_i16: AlignedVec<i16>,
    prepared_i16: PreparedI16,
    scales: Vec<f32>,
    scratch: Vec<f32>,
    logits: AlignedVec<f32>,
    /// Attention weights of a group of rows.
    attention_weights: Vec<f32>,
    /// Encodings of the first positions, by kind and width.
    sinusoid_tables: Vec<(SinusoidKind, usize, Vec<f32>)>,
}

impl Engine {
    /// Creates an engine that computes with the instructions of `cpu`.
    pub fn new(cpu: Cpu) -> Self {
        Self::with_tuner(cpu, Arc::new(Autotuner::new(cpu)))
    }

    /// Creates an engine that chooses GEMM kernels by the measurements of `tuner`.
    pub fn with_tuner(cpu: Cpu, tuner: Arc<Autotuner>) -> Self {
        Engine {
            cpu,
            tuner,
            pool: Rc::default(),
            quantized_i8: AlignedVec::default(),
            prepared_i8: PreparedI8::default(),
            quantized_i16: AlignedVec::default(),
            prepared_i16: PreparedI16::default(),
            scales: Vec::new(),
            scratch: Vec::new(),
            logits: AlignedVec::default(),
            attention_weights: Vec::new(),
            sinusoid_tables: Vec::new(),
        }
    }
}
