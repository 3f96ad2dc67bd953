//! The numeric oracle: every operation of layers in f64, by plain loops.
//!
//! [`ReferenceBackend`] implements the traits of [`layer`](crate::layer) for clarity, not speed: no
//! operation depends on anything but its arguments, and nothing is packed, pooled or fused. All
//! architectures decode on it by the same code as on other backends, so that their results can be
//! compared. Parameters are the floats of the file. Products can round what they multiply
//! ([`Rounding`]), as on devices that compute in half precision.

mod load;
mod matrix;
mod operations;
mod output;
mod recurrent_ops;
mod rounding;

pub use load::ReferenceLoader;
pub use matrix::Matrix;
pub use operations::{HeadKv, KvHistories, PositionTable};
pub use recurrent_ops::{Annotations, ProjectedEmbeddings};
pub use rounding::Rounding;

use std::path::Path;

use crate::Result;
use crate::layer::Device;
use crate::layer::recurrent::Speedups;
use crate::network::Network;
use miriam_nmt_models::architecture::Model;

/// The backend and its device in one, since it has no state.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceBackend;

/// Weights `[inputs, outputs]` and a bias.
#[derive(Clone, Debug)]
pub struct Weights {
    /// The matrix.
    pub matrix: Matrix,
    /// A number for each output.
    pub bias: Option<Vec<f64>>,
    /// The rounding of the rows that are multiplied with the matrix. The matrix is rounded already.
    pub rounding: Rounding,
}

impl Device for ReferenceBackend {
    type Backend = ReferenceBackend;

    fn new_backend(&self) -> Result<ReferenceBackend> {
        Ok(ReferenceBackend)
    }
}

impl Network {
    /// Loads `model` for computation in f64. `path` names the model in messages.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load_reference(model: &Model, path: &Path, speedups: &Speedups) -> Result<Self> {
        let mut parameters = ReferenceLoader::new(model, path);
        Self::load_on(ReferenceBackend, &mut parameters, model, path, speedups)
    }
}
