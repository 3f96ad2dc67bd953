//! The errors of this crate: why there is no GPU, or what it refused.

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of using a GPU. Each message says what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no CUDA driver library on this machine.
    #[error(
        "no GPU: the driver's library libcuda.so is not there; install NVIDIA's driver, or use the \
         CPU (--device cpu)"
    )]
    NoLibrary,
    /// The library is there, but the driver does not work, or not for this process.
    #[error(
        "no GPU: the driver does not answer ({reason}); see whether nvidia-smi works here, or use \
         the CPU (--device cpu)"
    )]
    NoDriver {
        /// What the library says.
        reason: String,
    },
    /// The driver sees no device.
    #[error(
        "no GPU: the driver sees no device; see whether CUDA_VISIBLE_DEVICES hides it, or use the \
         CPU (--device cpu)"
    )]
    NoDevice,
    /// There are fewer devices than asked for.
    #[error(
        "there is no GPU {number}: the driver sees {count}, counted from 0; give a lower number"
    )]
    NoSuchDevice {
        /// The number asked for.
        number: u32,
        /// How many there are.
        count: u32,
    },
    /// The driver is older than the kernels.
    #[error(
        "the driver is too old: it speaks CUDA {}.{}, the kernels need 12.4; install driver 550 or \
         later, or use the CPU (--device cpu)",
        .version / 1000, .version % 1000 / 10
    )]
    OldDriver {
        /// As the driver counts: 12040 is 12.4.
        version: i32,
    },
    /// The device is older than the kernels.
    #[error(
        "GPU {number} ({name}) is too old: its compute capability is {}.{}, the kernels need 7.5; \
         use another (--device cuda:N) or the CPU (--device cpu)",
        .capability.0, .capability.1
    )]
    OldDevice {
        /// Its number.
        number: u32,
        /// Its name.
        name: String,
        /// Its compute capability.
        capability: (u32, u32),
    },
    /// The device has not enough free memory.
    #[error(
        "GPU {number} has no room for {bytes} bytes more, {free} are free; use a GPU with more \
         memory, end what else runs there, or use the CPU (--device cpu)"
    )]
    OutOfMemory {
        /// Its number.
        number: u32,
        /// How many were asked for.
        bytes: u64,
        /// How many are free.
        free: u64,
    },
    /// The driver rejects a module or lacks a kernel.
    #[error("GPU {number} does not take the kernels: {reason}; update NVIDIA's driver")]
    Module {
        /// Its number.
        number: u32,
        /// Which kernel, and what the driver says.
        reason: String,
    },
    /// Any other failure of the driver.
    #[error("GPU {number} failed to {action}: {reason}")]
    Refused {
        /// Its number.
        number: u32,
        /// The action that failed.
        action: &'static str,
        /// What the driver says.
        reason: String,
    },
}
