//! The errors of this crate: the reasons why there is no GPU, and failures of its driver.

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of using a GPU. Each message, except that of [`Error::Refused`], says what to do about
/// it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no CUDA driver library on this machine.
    #[error(
        "no GPU: the driver's library libcuda.so was not found; install NVIDIA's driver, or use \
         the CPU (--device cpu)"
    )]
    NoLibrary,
    /// The library is there, but the driver does not work, at least for this process.
    #[error(
        "no GPU: the driver does not answer ({reason}); check whether nvidia-smi works here, or \
         use the CPU (--device cpu)"
    )]
    NoDriver {
        /// The error text of the library.
        reason: String,
    },
    /// The driver sees no device.
    #[error(
        "no GPU: the driver sees no device; check whether CUDA_VISIBLE_DEVICES hides it, or use \
         the CPU (--device cpu)"
    )]
    NoDevice,
    /// There are fewer devices than asked for.
    #[error(
        "there is no GPU {number}: the driver sees {count}, numbered from 0; give a lower number"
    )]
    NoSuchDevice {
        /// The number that was asked for.
        number: u32,
        /// The number of devices.
        count: u32,
    },
    /// The driver is too old for the kernels.
    #[error(
        "the driver is too old: it supports CUDA {}.{}, the kernels need 12.4; install driver 550 \
         or later, or use the CPU (--device cpu)",
        .version / 1000, .version % 1000 / 10
    )]
    OldDriver {
        /// The version of CUDA in the driver's notation: 12040 is 12.4.
        version: i32,
    },
    /// The device is too old for the kernels.
    #[error(
        "GPU {number} ({name}) is too old: its compute capability is {}.{}, the kernels need 7.5; \
         use another (--device cuda:N) or the CPU (--device cpu)",
        .capability.0, .capability.1
    )]
    OldDevice {
        /// The number of the device.
        number: u32,
        /// Its product name.
        name: String,
        /// Its compute capability, such as (9, 0).
        capability: (u32, u32),
    },
    /// The device does not have enough free memory.
    #[error(
        "GPU {number} has no space for another {bytes} bytes, {free} are free; use a GPU with more \
         memory, end other programs that use it, or use the CPU (--device cpu)"
    )]
    OutOfMemory {
        /// The number of the device.
        number: u32,
        /// The number of bytes that were asked for.
        bytes: u64,
        /// The number of bytes that are free.
        free: u64,
    },
    /// This machine does not grant pinned memory, which a device copies from and to.
    #[error(
        "this machine has no space for {bytes} bytes of pinned memory, through which GPU {number} \
         copies; free memory of the machine, raise the memory limit of the container or the limit \
         of locked memory (ulimit -l), or use the CPU (--device cpu)"
    )]
    PinnedMemory {
        /// The number of the device.
        number: u32,
        /// The number of bytes that were asked for.
        bytes: u64,
    },
    /// A call other than an allocation finds the memory of the device full.
    #[error(
        "GPU {number} has no memory left to {action}; use a GPU with more memory, end other \
         programs that use it, or use the CPU (--device cpu)"
    )]
    FullMemory {
        /// The number of the device.
        number: u32,
        /// The action that failed, as a verb phrase.
        action: &'static str,
    },
    /// The driver rejects a module, or the module lacks a kernel.
    #[error("GPU {number} cannot load the kernels: {reason}; update NVIDIA's driver")]
    Module {
        /// The number of the device.
        number: u32,
        /// The kernel, if a single one could not be loaded, and the error text of the driver.
        reason: String,
    },
    /// Any other failure of the driver.
    #[error("GPU {number} failed to {action}: {reason}")]
    Refused {
        /// The number of the device.
        number: u32,
        /// The action that failed, as a verb phrase.
        action: &'static str,
        /// The error text of the driver.
        reason: String,
    },
}
