//! GPUs through the CUDA driver: devices, modules, kernels and their launches, buffers, streams and
//! events.
//!
//! The driver is loaded at run time, so CUDA is not needed to build. Without the feature `cuda` the
//! crate contains only the choice of devices ([`DeviceChoice`], [`DeviceSet`]); its examples need
//! the feature. This is the only crate that uses `cudarc`, through its safe interface where
//! possible: buffers and pinned memory record events for the work that uses them, so that a buffer
//! can be dropped, read and written at any time and from any thread. Only [`Launch::in_order`]
//! records nothing: it is for buffers that one stream alone uses.
//!
//! The type system cannot ensure that a kernel stays within its buffers. So [`Device::load`] is
//! `unsafe`, and its caller guarantees that every launch stays within them. [`Launch::run`] checks
//! the number and the sizes of a kernel's parameters.
//!
//! # Examples
//!
//! Copy numbers to a device and back, or print the reason why there is no device:
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
//!         println!("copied by {}", device.properties().name);
//!     }
//!     Err(reason) => println!("{reason}"),
//! }
//! # Ok::<(), miriam_gpu::Error>(())
//! ```

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
