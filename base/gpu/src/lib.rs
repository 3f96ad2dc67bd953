//! The one place that talks to a GPU: devices, or why there are none, modules,
//! buffers, streams, events, launches.
//!
//! The driver is found at run time; nothing of CUDA is needed to build. `cudarc` is
//! named here and nowhere else, and its safe layer does what it can: buffers and
//! pinned memory know by events who still uses them, so that they may be dropped, read
//! and written at any time, from any thread.
//!
//! No type can promise that a kernel stays within its buffers. So [`Device::load`] is
//! `unsafe`: whoever loads PTX promises it for every launch. [`Launch::run`] checks the
//! number and the sizes of a kernel's parameters.

#![cfg(feature = "cuda")]

mod device;
mod error;
mod launch;
mod memory;

pub use device::{Device, DeviceProperties, Event, Stream};
pub use error::{Error, Result};
pub use launch::{Kernel, Launch, Module};
pub use memory::{Buffer, PinnedBuffer, Pod};
