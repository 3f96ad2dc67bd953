//! Registers that keep their values while a block runs: constants, and special registers such as
//! the index of a thread in its block.

use super::{LANES, Warp};
use crate::grid::Surroundings;
use crate::instruction::{LaneMask, Special, Value};
use crate::parse::Kernel;

impl Warp {
    pub(super) fn set_constants(&mut self, kernel: &Kernel) {
        for (value, register) in &kernel.code.values {
            if let Value::Constant(constant) = value {
                self.registers[*register as usize] = [*constant; LANES];
            }
        }
    }

    /// Sets the special registers for the block.
    pub(super) fn set_specials(&mut self, around: &Surroundings<'_>) {
        for (value, register) in &around.kernel.code.values {
            if let Value::Special(special) = value {
                let values =
                    std::array::from_fn(|lane| u64::from(self.special(*special, lane, around)));
                self.registers[*register as usize] = values;
            }
        }
    }

    fn special(&self, special: Special, lane: usize, around: &Surroundings<'_>) -> u32 {
        let [width, height, depth] = around.grid.threads;
        let thread = self.first_thread + lane as u32;
        match special {
            Special::Thread(0) => thread % width,
            Special::Thread(1) => thread / width % height,
            Special::Thread(_) => thread / width / height,
            Special::NumThreads(axis) => around.grid.threads[axis],
            Special::Block(axis) => around.block[axis],
            Special::NumBlocks(axis) => around.grid.blocks[axis],
            Special::Lane => lane as u32,
            Special::Warp => thread / LANES as u32,
            Special::NumWarps => (width * height * depth).div_ceil(LANES as u32),
            Special::WarpSize => LANES as u32,
            Special::DynamicSharedBytes => around.grid.shared_bytes as u32,
            Special::LaneMask(mask) => {
                let (own, below) = (1u32 << lane, (1u32 << lane) - 1);
                match mask {
                    LaneMask::Equal => own,
                    LaneMask::Less => below,
                    LaneMask::LessEqual => below | own,
                    LaneMask::Greater => !(below | own),
                    LaneMask::GreaterEqual => !below,
                }
            }
        }
    }
}
