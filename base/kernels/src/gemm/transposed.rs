//! The product of a transpose with a matrix: gradients of weights.
//!
//! The depth of `x^T dz` is the number of rows of a batch, hundreds to thousands. The product is
//! added to the old values of the result. Rows are divided into blocks of at most [`DEPTH_BLOCK`].
//! In each block `dz` is packed like weights and the columns of `x` are interleaved, both once, as
//! the tiles of every GEMM read them. A sum runs through a block in a register and is then added to
//! the result, so the order of additions depends on the number of rows only.

use super::float32::F32Arithmetic;
use super::tile::{Gemm, Interleaved, RowBlocks};
use super::{Epilogue, Tiling};
use crate::isa::{Isa, dispatch};
use crate::pack::{UnpackedWeights, WeightsF32};
use crate::{Cpu, MatMut, MatRef};

/// The largest number of rows of a block: four panels of this depth have 128 KiB and stay in the
/// second-level cache. With blocks of 256 rows, results would be read and written twice as often,
/// which takes up to 1.1 times as long.
const DEPTH_BLOCK: usize = 512;

/// The number of tiles that are interleaved in one pass over the rows.
const TILES_AT_ONCE: usize = 2;

/// Buffers of [`gemm_f32_transposed`] to reuse.
#[derive(Clone, Debug, Default)]
pub struct GemmScratch {
    panels: WeightsF32,
    cells: Vec<f32>,
}

/// Computes `out += x^T * dz` with the shapes `[inputs, outputs] += [rows, inputs]^T x [rows,
/// outputs]`: the gradient of weights, from the rows `x` that were multiplied by them and the
/// gradients `dz` of the results.
///
/// # Panics
/// If shapes do not fit.
pub fn gemm_f32_transposed(
    cpu: Cpu,
    x: MatRef<f32>,
    dz: MatRef<f32>,
    scratch: &mut GemmScratch,
    out: MatMut<f32>,
) {
    assert_eq!(x.rows(), dz.rows(), "a gradient for each row");
    assert_eq!((x.columns(), dz.columns()), (out.rows(), out.columns()));
    dispatch!(cpu, multiply(x, dz, scratch, out))
}

#[inline(always)]
fn multiply<I: Isa>(
    isa: I,
    x: MatRef<f32>,
    dz: MatRef<f32>,
    scratch: &mut GemmScratch,
    mut out: MatMut<f32>,
) {
    let tiling = Tiling::registers(6, 4);
    let blocks = RowBlocks::new::<I>(x.columns(), tiling);
    let GemmScratch { panels, cells } = scratch;
    // Blocks of about equal size.
    let count = x.rows().div_ceil(DEPTH_BLOCK);
    for block in 0..count {
        let rows = x.rows() * block / count..x.rows() * (block + 1) / count;
        panels.fill(&[UnpackedWeights::inputs_by_outputs(dz.row_range(rows.clone()))]);
        interleave_columns(x.row_range(rows.clone()), blocks, cells);
        let call = Gemm {
            // Sums run through a whole block.
            arithmetic: F32Arithmetic::<DEPTH_BLOCK>,
            cells: Interleaved { cells, steps: rows.len() },
            blocks,
            panels: panels.view().panels,
            epilogue: Epilogue { accumulate: true, ..Epilogue::default() },
            out: out.reborrow(),
        };
        call.multiply(isa, tiling);
    }
}

/// Interleaves `x` for tiles whose rows are the columns of `x`: `cells` becomes, for each tile, the
/// elements of its columns in the first row of `x`, then those in the second row and so on.
#[inline(always)]
pub(super) fn interleave_columns<T: Copy + Default>(
    x: MatRef<T>,
    blocks: RowBlocks,
    cells: &mut Vec<T>,
) {
    cells.resize(x.rows() * x.columns(), T::default());
    let (larger, rows) = blocks.larger_blocks();
    let boundary = larger * rows;
    let (first, rest) = cells.split_at_mut(boundary * x.rows());
    interleave_tiles(x.column_range(0..boundary), rows, first);
    interleave_tiles(x.column_range(boundary..x.columns()), blocks.smaller_rows(), rest);
}

/// Interleaves columns for tiles of `width` columns each, as [`interleave_columns`] does.
#[inline(always)]
fn interleave_tiles<T: Copy>(x: MatRef<T>, width: usize, cells: &mut [T]) {
    if x.columns() == 0 {
        return;
    }
    match width {
        1 => interleave::<1, T>(x, cells),
        2 => interleave::<2, T>(x, cells),
        3 => interleave::<3, T>(x, cells),
        4 => interleave::<4, T>(x, cells),
        5 => interleave::<5, T>(x, cells),
        6 => interleave::<6, T>(x, cells),
        _ => unreachable!("no tile has {width} rows"),
    }
}

#[inline(always)]
fn interleave<const WIDTH: usize, T: Copy>(x: MatRef<T>, cells: &mut [T]) {
    let (rows, tiles) = (x.rows(), x.columns() / WIDTH);
    let cells = cells.as_chunks_mut::<WIDTH>().0;
    for first in (0..tiles).step_by(TILES_AT_ONCE) {
        let tiles = first..(first + TILES_AT_ONCE).min(tiles);
        for row in 0..rows {
            let numbers = &x.row(row)[tiles.start * WIDTH..tiles.end * WIDTH];
            let numbers = numbers.as_chunks::<WIDTH>().0;
            for tile in 0..numbers.len() {
                cells[(tiles.start + tile) * rows + row] = numbers[tile];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestRng, assert_close};

    #[test]
    fn transposed_products_add_the_gradients_of_weights() {
        let mut numbers = TestRng::new(31);
        for (rows, inputs, outputs) in [
            (0, 3, 5),
            (1, 1, 1),
            (1, 17, 33),
            (7, 6, 16),
            (90, 13, 64),
            (257, 12, 70),
            (600, 31, 21),
        ] {
            // Columns of wider matrices.
            let x = numbers.floats(rows * (inputs + 3), 1.0);
            let dz = numbers.floats(rows * (outputs + 2), 1.0);
            let x = MatRef::new(&x, rows, inputs + 3).column_range(2..inputs + 2);
            let dz = MatRef::new(&dz, rows, outputs + 2).column_range(1..outputs + 1);
            let before = numbers.floats(inputs * outputs, 5.0);
            let mut expected = Vec::new();
            for input in 0..inputs {
                for output in 0..outputs {
                    let products = (0..rows)
                        .map(|row| f64::from(x.row(row)[input]) * f64::from(dz.row(row)[output]));
                    expected
                        .push(f64::from(before[input * outputs + output]) + products.sum::<f64>());
                }
            }
            let mut results = Vec::new();
            let mut scratch = GemmScratch::default();
            for cpu in Cpu::all() {
                let mut out = before.clone();
                let into = MatMut::new(&mut out, inputs, outputs);
                gemm_f32_transposed(cpu, x, dz, &mut scratch, into);
                assert_close(&out, &expected, 4e-6 + 4e-6 * (rows as f64).sqrt(), cpu.name());
                if cpu != Cpu::plain() {
                    results.push(out);
                }
            }
            assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "AVX2 and AVX-512 agree");
        }
    }
}
