//! Grids, and the surroundings of the threads of a block: the kernel, memory, parameters.

use crate::fault::{Fault, Place};
use crate::memory::Memory;
use crate::parse::Kernel;
use crate::shared::SharedMemory;

/// The shape of a launch, and the order in which its threads run.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// The numbers of blocks by axis.
    pub blocks: [u32; 3],
    /// The numbers of threads of a block by axis; 1,024 in all at most.
    pub threads: [u32; 3],
    /// The size in bytes of shared memory in addition to what the kernel declares.
    pub shared_bytes: usize,
    /// Chooses the order in which blocks, warps and lanes run.
    pub seed: u64,
    /// The greatest number of instructions that the warps of a block run, against endless loops.
    pub max_steps: u64,
}

impl Default for Grid {
    fn default() -> Self {
        Grid { blocks: [1; 3], threads: [1; 3], shared_bytes: 0, seed: 0, max_steps: 1 << 32 }
    }
}

/// The state that the threads of a block share.
pub(crate) struct Surroundings<'r> {
    pub kernel: &'r Kernel,
    pub grid: &'r Grid,
    /// The block's coordinates.
    pub block: [u32; 3],
    pub parameters: &'r [u8],
    pub memory: &'r mut Memory,
    pub shared: SharedMemory,
}

impl Surroundings<'_> {
    /// Returns a fault of `thread` at `line`.
    pub fn fault(&self, thread: u32, line: u32, reason: String) -> Fault {
        let kernel = self.kernel.name.clone();
        Fault::Kernel { place: Place { kernel, line, block: self.block, thread }, reason }
    }
}
