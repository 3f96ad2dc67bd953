//! The backend of layers on NVIDIA's GPUs: tensors in pooled memory, weights that threads share,
//! and one kernel for each operation.
//!
//! Layers and search are shared with the CPU ([`miriam_nmt_network`]); this crate has only the
//! operations that a device computes. A thread has a [`CudaBackend`] with a stream of its own. The
//! results of a step stay on the device, except for those that the search reads: the best tokens of
//! each row and, if requested, logits and attention weights.
//!
//! Every sum of a kernel has an order that depends on nothing but the positions of its terms, so
//! the translation of a sentence does not depend on its batch. That holds in half precision too,
//! where weights have 16 bits and Tensor Cores multiply ([`WeightFormat`]).

#![cfg(feature = "cuda")]
// Only `kernels.rs` has an unsafe block: it loads PTX.
#![deny(unsafe_code)]

mod attention;
mod backend;
mod cuda_backend;
mod device;
mod half;
mod histories;
mod kernels;
mod kv_cache;
mod lists;
mod load;
mod memory;
mod operators;
mod output;
mod product;
mod queries;
mod recurrent;
mod rows;
mod weight_format;
mod weights;

pub use cuda_backend::CudaBackend;
pub use device::CudaDevice;
pub use kv_cache::KvCache;
pub use load::CudaLoader;
pub use memory::DeviceTensor;
pub use queries::SourceKv;
pub use recurrent::ProjectedEmbeddings;
pub use weight_format::WeightFormat;
pub use weights::{EmbeddingTable, PositionalEncoding, RelativeTerms, Weights};

use miriam_nmt_models::Error;

/// Converts an error of the driver to an error of the device.
fn device_error(error: miriam_gpu::Error) -> Error {
    let reason = error.to_string();
    match error {
        miriam_gpu::Error::OutOfMemory { .. }
        | miriam_gpu::Error::FullMemory { .. }
        | miriam_gpu::Error::PinnedMemory { .. } => Error::DeviceMemory { reason },
        _ => Error::Device { reason },
    }
}
