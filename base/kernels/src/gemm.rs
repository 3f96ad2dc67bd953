//! GEMM of rows with packed weights, with a fused epilogue.
//!
//! Shapes are `[rows, depth] x [depth, columns]`. The result is computed in tiles: a few rows by a
//! few panels of sixteen columns. All sums of a tile stay in registers during one pass along the
//! depth. Whatever the tile, each sum has its own lane, and its products are added in the order of
//! the depth (in f32 and i16 in runs, whose sums are then added). So the results of a row depend
//! neither on other rows nor on the tiling. The outer loop runs over slabs of rows that stay in the
//! cache, the next one over panels: each slab reads the weights once, and each panel reads the rows
//! of the slab again. The arithmetics (`float32`, `bf16`, `int16`, `int8`) differ only in the step
//! along the depth.
//!
//! If a CPU has tile units (AMX), bytes are multiplied there (`tiled`), with the same sums and the
//! same epilogue. Products of bf16 are computed there too, but are added in another order.

mod bf16;
mod float32;
mod int16;
mod int8;
pub mod plain;
mod prepared;
mod tile;
#[cfg(target_arch = "x86_64")]
mod tiled;
mod transposed;

pub use bf16::{Bf16Scratch, gemm_bf16, gemm_bf16_transposed};
pub use float32::{gemm_f32, gemm_f32_blocked};
pub use int8::{PreparedI8, QuadCells, gemm_i8};
pub use int16::{PairCells, PreparedI16, gemm_i16};
pub use prepared::PreparedRows;
pub use transposed::{GemmScratch, gemm_f32_transposed};

use crate::activation::Activation;
use crate::isa::Level;
use crate::{Cpu, MatMut, MatRef};

/// The epilogue of a GEMM: `out = activation(product * scales + bias + residual + out)`, where each
/// term is optional. The old `out` is added if [`accumulate`](Self::accumulate) is set.
#[derive(Debug, Default)]
pub struct Epilogue<'a> {
    /// Added to each row, `[columns]`.
    pub bias: Option<&'a [f32]>,
    /// Added before the activation, `[rows, columns]`, as in the stacked layers of Devlin (2017).
    /// Without an activation, it is the residual connection of a transformer.
    pub residual: Option<MatRef<'a, f32>>,
    /// Whether the old elements of `out` are added too, before the activation, for gradients of a
    /// matrix that is used several times.
    pub accumulate: bool,
    /// Applied to the sum of all terms.
    pub activation: Activation,
    /// Gets the largest magnitude of each row of the result, `[rows]`, for its quantisation.
    pub absmax: Option<&'a mut [f32]>,
}

impl Epilogue<'_> {
    /// Panics if an operand does not fit the shape of `out`.
    fn check(&self, out: &MatMut<f32>) {
        let shape = (out.rows(), out.columns());
        assert!(self.bias.is_none_or(|bias| bias.len() == shape.1), "a bias for each column");
        let residual = self.residual.map(|residual| (residual.rows(), residual.columns()));
        assert!(residual.is_none_or(|rows| rows == shape), "a residual of the result's shape");
        let largest = self.absmax.as_deref();
        assert!(largest.is_none_or(|largest| largest.len() == shape.0), "an absmax for each row");
    }
}

/// The size of a tile, and the unit that computes it. They change only the speed. The
/// [`autotuner`](crate::autotuner) chooses among [`alternatives`](Tiling::alternatives).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    rows: usize,
    panels: usize,
    unit: Unit,
}

/// The unit that holds the sums of a GEMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// Vector registers.
    Registers,
    /// The tile registers of AMX, for products of bytes.
    #[cfg(target_arch = "x86_64")]
    Tiles,
}

impl Tiling {
    const fn registers(rows: usize, panels: usize) -> Self {
        Tiling { rows, panels, unit: Unit::Registers }
    }

    /// Returns the tiling that is fastest in most cases.
    pub fn default_for(cpu: Cpu) -> Self {
        Self::alternatives(cpu)[0]
    }

    /// Returns all tilings worth trying, the default first.
    pub fn alternatives(cpu: Cpu) -> &'static [Tiling] {
        const NARROW: [Tiling; 4] = [
            Tiling::registers(5, 4),
            Tiling::registers(6, 4),
            Tiling::registers(4, 4),
            Tiling::registers(5, 1),
        ];
        #[cfg(target_arch = "x86_64")]
        const WIDE: [Tiling; 3] =
            [Tiling::registers(6, 4), Tiling::registers(4, 4), Tiling::registers(5, 1)];
        match cpu.level() {
            Level::Plain(_) => &NARROW[3..],
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(_) => &NARROW,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(_) | Level::Avx512Vnni(_) | Level::Avx512Amx(_) => &WIDE,
        }
    }

    /// Returns the tiling that is fastest in most products of `rows` rows of bytes.
    pub fn default_i8(cpu: Cpu, rows: usize) -> Self {
        Self::alternatives_i8(cpu, rows)[0]
    }

    /// Returns all tilings worth trying in products of `rows` rows of bytes, the default first.
    pub fn alternatives_i8(cpu: Cpu, rows: usize) -> &'static [Tiling] {
        #[cfg(target_arch = "x86_64")]
        if let Level::Avx512Amx(_) = cpu.level() {
            const TILES: [Tiling; 3] = [
                Tiling { rows: 16, panels: 4, unit: Unit::Tiles },
                Tiling::registers(6, 4),
                Tiling::registers(4, 4),
            ];
            // With up to three rows tiles were never faster, with eight or more always.
            return match rows {
                ..=3 => Self::alternatives(cpu),
                4..=7 => &TILES,
                8.. => &TILES[..1],
            };
        }
        let _ = rows;
        Self::alternatives(cpu)
    }
}

#[cfg(test)]
mod tests;
