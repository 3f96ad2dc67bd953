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
//!
//! # Examples
//!
//! Numbers copied to a device and back, or the reason why there is none:
//!
//! ```
//! use miriam_gpu::Device;
//!
//! match Device::open(0) {
//!     Ok(device) => {
//!         let stream = device.new_stream()?;
//!         let mut numbers = stream.alloc_zeros::<u32>(4)?;
//!         stream.upload_blocking(&mut numbers, 1, &[5, 6, 7])?;
//!         let mut copy = stream.alloc_pinned::<u32>(4)?;
//!         stream.download(&numbers, 4, &mut copy)?;
//!         assert_eq!(copy.get()?, [0, 5, 6, 7]);
//!         println!("{} has copied them", device.properties().name);
//!     }
//!     Err(reason) => println!("{reason}"),
//! }
//! # Ok::<(), miriam_gpu::Error>(())
//! ```

//! Without the feature `cuda` the crate has the names of devices alone ([`DeviceSet`]).

#[cfg(feature = "cuda")]
mod device;
mod device_choice;
#[cfg(feature = "cuda")]
mod error;
#[cfg(feature = "cuda")]
mod launch;
#[cfg(feature = "cuda")]
mod memory;
#[cfg(feature = "cuda")]
mod ptx_archive;

pub use device_choice::{BuiltWithoutCuda, DeviceChoice, DeviceSet, gpu_count};

#[cfg(feature = "cuda")]
pub use device::{Device, DeviceProperties, Event, Stream};
#[cfg(feature = "cuda")]
pub use error::{Error, Result};
#[cfg(feature = "cuda")]
pub use launch::{Kernel, Launch, Module};
#[cfg(feature = "cuda")]
pub use memory::{Buffer, PinnedBuffer, Pod};
#[cfg(feature = "cuda")]
pub use ptx_archive::PtxArchive;
