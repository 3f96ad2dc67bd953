//! The one place that talks to a GPU: devices, or why there are none, modules,
//! buffers, streams, events, launches.
//!
//! The driver is found at run time; nothing of CUDA is needed to build. `cudarc` is
//! named here and nowhere else, and its safe layer does what it can: buffers and
//! pinned memory know by events who still uses them, so that they may be dropped, read
//! and written at any time, from any thread.
//!
//! One thing no type can promise: that a kernel stays within the buffers it is given.
//! Whoever hands PTX to [`Device::load`] answers for that, as whoever maps a file
//! answers for nobody changing it. [`Launch`] checks the number and the sizes of what a
//! kernel is given.

mod device;
mod error;
mod launch;
mod memory;

pub use device::{Device, DeviceProperties, Event, Stream};
pub use error::{Error, Result};
pub use launch::{Kernel, Launch, Module};
pub use memory::{Buffer, PinnedBuffer, Pod};
