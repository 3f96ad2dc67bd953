//! GEMM of rows with packed weights, with a fused epilogue.
//!
//! Shapes are `[rows, depth] x [depth, columns]`. A product is computed in tiles: some rows
//! by some panels of sixteen columns, all sums in registers, one pass along the depth. Every
//! sum is made in the order of the depth (in f32, in runs) in a lane of its own in any tile,
//! so the results of a row depend on nothing else. Panels are the outer loop: weights are
//! read once, rows (few, and prepared) again for each panel. The three arithmetics (`float32`,
//! `int16`, `int8`) differ in a step along the depth and share all else.

mod float32;
mod int16;
mod int8;
pub mod plain;
mod prepared;
mod tile;
mod transposed;

pub use float32::{gemm_f32, gemm_f32_blocked};
pub use int8::{PreparedI8, QuadCells, gemm_i8};
pub use int16::{PairCells, PreparedI16, gemm_i16};
pub use prepared::PreparedRows;
pub use transposed::{GemmScratch, gemm_f32_transposed};

use crate::activation::Activation;
use crate::isa::Level;
use crate::{Cpu, MatMut, MatRef};

/// The epilogue of a GEMM: `activation(product * scales + bias + residual + out)`, the last
/// only where asked for.
#[derive(Debug, Default)]
pub struct Epilogue<'a> {
    /// Added to each row, `[columns]`.
    pub bias: Option<&'a [f32]>,
    /// Added before the activation, `[rows, columns]`, as in Devlin's stacks; without
    /// activation, the residual of a transformer.
    pub residual: Option<MatRef<'a, f32>>,
    /// Whether the elements that are there are added too, before the activation: gradients
    /// of a matrix that is used several times.
    pub accumulate: bool,
    /// Applied last.
    pub activation: Activation,
    /// Set to the largest magnitude of each row of the result, `[rows]`, for its quantisation.
    pub absmax: Option<&'a mut [f32]>,
}

impl Epilogue<'_> {
    fn check(&self, out: &MatMut<f32>) {
        let shape = (out.rows(), out.columns());
        assert!(self.bias.is_none_or(|bias| bias.len() == shape.1), "a bias for each column");
        let residual = self.residual.map(|residual| (residual.rows(), residual.columns()));
        assert!(residual.is_none_or(|rows| rows == shape), "a residual of the result's shape");
        let largest = self.absmax.as_deref();
        assert!(largest.is_none_or(|largest| largest.len() == shape.0), "a largest for each row");
    }
}

/// The rows and panels of a tile, which change only the speed. The
/// [`autotuner`](crate::autotuner) chooses among [`alternatives`](Tiling::alternatives).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    rows: usize,
    panels: usize,
}

impl Tiling {
    /// Returns the tiling that is fastest in most cases.
    pub fn default_for(cpu: Cpu) -> Self {
        Self::alternatives(cpu)[0]
    }

    /// Returns all tilings worth trying, the default first.
    pub fn alternatives(cpu: Cpu) -> &'static [Tiling] {
        const NARROW: [Tiling; 4] = [
            Tiling { rows: 5, panels: 4 },
            Tiling { rows: 6, panels: 4 },
            Tiling { rows: 4, panels: 4 },
            Tiling { rows: 5, panels: 1 },
        ];
        const WIDE: [Tiling; 3] = [
            Tiling { rows: 6, panels: 4 },
            Tiling { rows: 4, panels: 4 },
            Tiling { rows: 5, panels: 1 },
        ];
        match cpu.level() {
            Level::Plain(_) => &NARROW[3..],
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(_) => &NARROW,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(_) | Level::Avx512Vnni(_) => &WIDE,
        }
    }
}

#[cfg(test)]
mod tests;
