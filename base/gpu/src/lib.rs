//! The one place that talks to a GPU: devices, or why there are none, modules,
//! buffers, streams, events, launches.
//!
//! The driver is found at run time; nothing of CUDA is needed to build. `cudarc` is
//! named here and nowhere else.

mod error;

pub use error::{Error, Result};

/// What a device is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Its number, from 0.
    pub number: u32,
    /// As its maker calls it.
    pub name: String,
    /// Its compute capability, such as (9, 0).
    pub capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of the second-level cache.
    pub l2: u64,
    /// How many of them may be set aside for what should persist.
    pub l2_persisting: u64,
    /// Bytes of memory.
    pub memory: u64,
}
