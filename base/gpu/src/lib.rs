//! GPUs through the CUDA driver: devices, or why there are none, modules, kernels and
//! their launches, buffers, streams, events.
//!
//! The driver is found at run time; nothing of CUDA is needed to build. Only this crate
//! names `cudarc`. Its safe layer is used where there is one: buffers and pinned memory
//! record events for the work that uses them, so that they may be dropped, read and
//! written at any time, from any thread.
//!
//! No type can promise that a kernel stays within its buffers. So [`Device::load`] is
//! `unsafe`: its caller promises it for every launch. [`Launch::run`] checks the
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
