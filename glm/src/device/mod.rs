//! A model on a GPU, and the choice between GPU and CPU.
//!
//! `DeviceModel` holds the n-grams in the memory of one GPU and launches its kernels
//! (`glm/kernels`). Batches of any size are cut into chunks that go through several streams, so
//! that copies overlap with kernels. Any thread may score at any time. Scores equal those of the
//! CPU to the bit.
//!
//! All that needs a driver is compiled with the cargo feature `cuda` only. Without it
//! [`open_on_device`] rejects `cuda` and uses the CPU for `auto`.
//!
//! Words are ids of the model; ids that are not below its number of words count as
//! `<unk>`.

mod batch;
#[cfg(feature = "cuda")]
mod kernels;
#[cfg(feature = "cuda")]
mod language_model;
#[cfg(feature = "cuda")]
mod model;
mod open;
#[cfg(feature = "cuda")]
mod resident_batch;
#[cfg(feature = "cuda")]
mod sections;
#[cfg(feature = "cuda")]
mod tile;
#[cfg(feature = "cuda")]
mod workspace;

pub use batch::{PAD, SENTENCE_START, ScoreBuffers, SentenceSum};
pub use miriam_gpu::DeviceChoice;
#[cfg(feature = "cuda")]
pub use model::{DeviceModel, DeviceOptions};
pub use open::open_on_device;
#[cfg(feature = "cuda")]
pub use resident_batch::{ResidentBatch, time_random_reads};
#[cfg(feature = "cuda")]
pub use tile::Tile;
