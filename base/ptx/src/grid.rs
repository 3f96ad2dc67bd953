//! Grids, and the surroundings of the threads of a block: the kernel, memory, parameters.

use crate::fault::{Fault, Place};
use crate::memory::Memory;
use crate::parse::Kernel;

/// The shape of a launch, and the order in which its threads run.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// The numbers of blocks by axis.
    pub blocks: [u32; 3],
    /// The numbers of threads of a block by axis; 1,024 in all at most.
    pub threads: [u32; 3],
    /// The bytes of shared memory beside those that the kernel declares.
    pub shared_bytes: usize,
    /// Names the order in which blocks, warps and lanes run.
    pub seed: u64,
    /// The greatest number of instructions that the warps of a block run, against endless loops.
    pub max_steps: u64,
}

impl Default for Grid {
    fn default() -> Self {
        Grid { blocks: [1; 3], threads: [1; 3], shared_bytes: 0, seed: 0, max_steps: 1 << 32 }
    }
}

/// What the threads of a block share.
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
    /// A fault of `thread` at `line`.
    pub fn fault(&self, thread: u32, line: u32, reason: String) -> Fault {
        let kernel = self.kernel.name.clone();
        Fault::Kernel { place: Place { kernel, line, block: self.block, thread }, reason }
    }
}

/// The shared memory of a block, nothing of which is written at first.
#[derive(Clone, Debug)]
pub(crate) struct SharedMemory {
    bytes: Vec<u8>,
    is_written: Vec<bool>,
}

impl SharedMemory {
    pub fn new(size: usize) -> Self {
        SharedMemory { bytes: vec![0; size], is_written: vec![false; size] }
    }

    /// The bytes from `offset` on, or the reason why they cannot be read.
    pub fn load(&self, offset: u64, length: usize) -> Result<&[u8], String> {
        let range = self.range(offset, length, "a read")?;
        if self.is_written[range.clone()].contains(&false) {
            return Err(format!("a read at {offset} of shared memory, which was not written"));
        }
        Ok(&self.bytes[range])
    }

    /// Writes `bytes` from `offset` on, or returns the reason why they cannot be written.
    pub fn store(&mut self, offset: u64, bytes: &[u8]) -> Result<(), String> {
        let range = self.range(offset, bytes.len(), "a write")?;
        self.bytes[range.clone()].copy_from_slice(bytes);
        self.is_written[range].fill(true);
        Ok(())
    }

    fn range(
        &self,
        offset: u64,
        length: usize,
        access: &str,
    ) -> Result<std::ops::Range<usize>, String> {
        let size = self.bytes.len();
        let start =
            usize::try_from(offset).ok().filter(|start| start.saturating_add(length) <= size);
        start.map(|start| start..start + length).ok_or_else(|| {
            format!("{access} of {length} bytes at {offset} of shared memory of {size} bytes")
        })
    }
}
