//! Interpreter of PTX, the assembly of NVIDIA's GPUs, for tests on machines without one.
//!
//! It runs the shipped modules, and finds faults that a GPU does not report: accesses outside of a
//! buffer, reads of bytes that were not written, misaligned accesses, lanes that do not meet where
//! they exchange values, barriers that some threads never reach, accesses of two warps to shared
//! memory without a barrier between them. A seed chooses the order in which blocks, warps and lanes
//! run, so that a race shows under some seed and can be repeated.
//!
//! It knows what NVRTC emits for kernels of `f32`, `f16` and `bf16` arithmetic: no textures, no
//! double-precision approximations, no recursion, no variables of a module that kernels write. A
//! module with another instruction does not parse. Functions that the compiler has not inlined are
//! inlined here, at each call. Speed is secondary: a core runs some eight million instructions of
//! whole warps a second.
//!
//! # Examples
//!
//! A kernel that doubles its thread's number:
//!
//! ```
//! use miriam_ptx::{Grid, Memory, Module};
//!
//! let module = Module::parse(
//!     ".visible .entry double(.param .u64 out) {
//!         .reg .b32 %r<3>; .reg .b64 %rd<3>;
//!         ld.param.u64 %rd1, [out];
//!         mov.u32 %r1, %tid.x;
//!         shl.b32 %r2, %r1, 1;
//!         mad.wide.u32 %rd2, %r1, 4, %rd1;
//!         st.global.u32 [%rd2], %r2;
//!         ret;
//!     }",
//! )?;
//! let mut memory = Memory::new(1 << 20);
//! let out = memory.allocate(64 * 4)?;
//! let kernel = module.kernel("double").expect("it is in the module");
//! let grid = Grid { blocks: [1, 1, 1], threads: [64, 1, 1], seed: 1, ..Grid::default() };
//! kernel.run(&grid, &out.to_le_bytes(), &mut memory)?;
//! assert_eq!(memory.read(out + 20, 4)?, 10u32.to_le_bytes());
//! # Ok::<(), miriam_ptx::Fault>(())
//! ```

#![forbid(unsafe_code)]

mod arithmetic;
mod fault;
mod grid;
mod instruction;
mod launch;
mod lexer;
mod memory;
mod parse;
mod races;
mod random;
mod shared;
mod space;
mod tracked;
mod types;
mod warp;

pub use fault::{Fault, Place};
pub use grid::Grid;
pub use memory::Memory;
pub use parse::{Kernel, Module};
