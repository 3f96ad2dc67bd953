//! Faults of a module or of a run, with their places.

use std::fmt;

/// The place of a fault in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The name of the kernel.
    pub kernel: String,
    /// The line of the module's text, from 1.
    pub line: u32,
    /// The block's coordinates in the grid.
    pub block: [u32; 3],
    /// The index of the thread in its block.
    pub thread: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { kernel, line, block: [x, y, z], thread } = self;
        let (warp, lane) = (thread / 32, thread % 32);
        write!(f, "kernel {kernel}, line {line}, block ({x}, {y}, {z}), warp {warp}, lane {lane}")
    }
}

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The text of a module is not PTX, or has instructions that are not supported.
    #[error("line {line}: {reason}")]
    Module {
        /// The line, from 1.
        line: u32,
        /// What was found, and what is expected.
        reason: String,
    },
    /// A kernel does what it must not do.
    #[error("{place}: {reason}")]
    Kernel {
        /// The instruction and the thread.
        place: Place,
        /// What it does.
        reason: String,
    },
    /// The caller's copy or launch is not within bounds.
    #[error("{0}")]
    Caller(String),
    /// There is not enough memory.
    #[error("out of memory: {wanted} bytes are wanted, {free} are free")]
    OutOfMemory {
        /// The bytes of the allocation.
        wanted: u64,
        /// The bytes that are not in use.
        free: u64,
    },
}
