//! GEMM of f32 rounded to bf16, for training: operands have 16 bits, sums 32.
//!
//! An instruction adds the products of two steps to sixteen sums, so a CPU that has it does twice
//! the work of f32 in the same time and reads half the bytes of weights. Results differ from f32
//! results by the rounding of both operands (2^-9 of each number), and denormal numbers count as
//! zero. For gradients this is less than the noise of a batch; in decoding it would change
//! translations. Without the instruction ([`Cpu::multiplies_bf16`]) the same products are computed
//! one by one. If a CPU has tile units (AMX), they compute the products of many rows.

use zerocopy::{FromBytes, IntoBytes};

use super::tile::{Arithmetic, Gemm, Interleaved, RowBlocks};
#[cfg(target_arch = "x86_64")]
use super::tiled::{self, TiledRows};
use super::transposed::interleave_columns;
use super::{Epilogue, Tiling};
#[cfg(target_arch = "x86_64")]
use crate::isa::{Avx512Amx, Level, call};
use crate::isa::{Isa, LANES, dispatch};
use crate::pack::{Line, PackedBf16, WeightsBf16, zip_rows};
use crate::{Cpu, MatMut, MatRef};

/// The largest number of steps of the depth that are multiplied at once: four panels of this depth
/// have 128 KiB and stay in the second-level cache.
const DEPTH_BLOCK: usize = 1024;

/// Sums in f32, without intermediate sums within a block of the depth: their rounding errors are
/// far smaller than the rounding errors of the operands.
#[derive(Clone, Copy)]
struct Bf16Arithmetic;

impl Arithmetic for Bf16Arithmetic {
    type Cell = u32;
    type Accumulators<I: Isa> = I::F;
    const FLUSH_STEPS: usize = usize::MAX;
    const INLINE_EPILOGUE: bool = false;

    #[inline(always)]
    fn initial_sums<I: Isa>(&self, isa: I, _: usize, _: usize) -> I::F {
        isa.splat(0.0)
    }
    #[inline(always)]
    fn zero_sums<I: Isa>(isa: I) -> I::F {
        isa.splat(0.0)
    }
    #[inline(always)]
    fn accumulate<I: Isa>(isa: I, sums: I::F, cell: &u32, line: &Line) -> I::F {
        isa.dot_bf16(sums, *cell, line)
    }
    #[inline(always)]
    fn to_f32<I: Isa>(_: I, sums: I::F) -> I::F {
        sums
    }
    #[inline(always)]
    fn column_scales<I: Isa>(&self, isa: I, _: usize) -> I::F {
        isa.splat(1.0)
    }
    #[inline(always)]
    fn dequantize<I: Isa>(&self, _: I, sums: I::F, _: usize, _: I::F) -> I::F {
        sums
    }
}

/// Buffers of [`gemm_bf16`] and [`gemm_bf16_transposed`] to reuse.
#[derive(Clone, Debug, Default)]
pub struct Bf16Scratch {
    /// Rows, or columns, as pairs of bf16.
    pairs: Vec<Line>,
    panels: WeightsBf16,
    cells: Vec<u32>,
    #[cfg(target_arch = "x86_64")]
    transposed: Vec<Line>,
    #[cfg(target_arch = "x86_64")]
    tiles: TiledRows,
}

/// The smallest number of rows that are multiplied in tiles. A tile has at most this number of
/// rows.
#[cfg(target_arch = "x86_64")]
const MIN_TILED_ROWS: usize = 16;

/// Returns the tile units of the CPU, if it has them and they are faster for `rows` rows.
#[cfg(target_arch = "x86_64")]
fn tile_units(cpu: Cpu, rows: usize) -> Option<Avx512Amx> {
    match cpu.level() {
        Level::Avx512Amx(amx) if rows >= MIN_TILED_ROWS && amx.has_bf16() => Some(amx),
        _ => None,
    }
}

/// Computes `out = activation(rows * weights + bias + residual)` with the shapes `[rows, columns] =
/// [rows, depth] x [depth, columns]`, rows rounded to bf16. The depth is divided into blocks of
/// about equal size, at most 1,024 steps each, whose sums are added up. The result depends on the
/// CPU, not on the tiling. If the CPU has tile units, it also depends on whether there are at least
/// sixteen rows.
///
/// # Panics
/// If shapes do not fit.
pub fn gemm_bf16(
    cpu: Cpu,
    tiling: Tiling,
    scratch: &mut Bf16Scratch,
    rows: MatRef<f32>,
    weights: PackedBf16,
    epilogue: Epilogue,
    mut out: MatMut<f32>,
) {
    let depth = weights.depth();
    assert_eq!(rows.columns(), depth, "rows as long as the weights are deep");
    assert_eq!(rows.rows(), out.rows(), "a row of the result for each row");
    // A line of a panel has two steps.
    let lines = depth.div_ceil(2);
    let count = depth.div_ceil(DEPTH_BLOCK).max(1);
    let start = |block: usize| (2 * (lines * block / count)).min(depth);
    for block in 0..count - 1 {
        let part = start(block)..start(block + 1);
        let accumulate = block > 0 || epilogue.accumulate;
        let epilogue = Epilogue { accumulate, ..Epilogue::default() };
        let (rows, weights) = (rows.column_range(part.clone()), weights.depth_range(part));
        multiply_block(cpu, tiling, scratch, rows, weights, epilogue, out.reborrow());
    }
    let part = start(count - 1)..depth;
    let epilogue = Epilogue { accumulate: count > 1 || epilogue.accumulate, ..epilogue };
    let (rows, weights) = (rows.column_range(part.clone()), weights.depth_range(part));
    multiply_block(cpu, tiling, scratch, rows, weights, epilogue, out);
}

/// Computes [`gemm_bf16`] for a part of the depth.
fn multiply_block(
    cpu: Cpu,
    tiling: Tiling,
    scratch: &mut Bf16Scratch,
    rows: MatRef<f32>,
    weights: PackedBf16,
    epilogue: Epilogue,
    out: MatMut<f32>,
) {
    let pairs = &mut scratch.pairs;
    dispatch!(bf16 cpu, join_rows(rows, pairs));
    #[cfg(target_arch = "x86_64")]
    if let (Some(amx), Some(isa)) = (tile_units(cpu, rows.rows()), cpu.bf16_isa()) {
        let tiles = &mut scratch.tiles;
        tiles.fill(line_bytes(pairs, rows.rows()));
        return call!(isa, multiply_in_tiles(amx, tiles, weights, epilogue, out));
    }
    dispatch!(bf16 cpu, multiply(tiling, rows, weights, pairs, epilogue, out))
}

/// Rounds rows to bf16, each padded to whole lines.
#[inline(always)]
fn join_rows<I: Isa>(isa: I, rows: MatRef<f32>, pairs: &mut Vec<Line>) {
    let row_lines = rows.columns().div_ceil(2 * LANES);
    pairs.resize(rows.rows() * row_lines, Line::ZERO);
    for row in 0..rows.rows() {
        join_row(isa, rows.row(row), &mut pairs[row * row_lines..][..row_lines]);
    }
}

/// Returns lines as bytes, the same number in each of `rows` rows.
#[cfg(target_arch = "x86_64")]
fn line_bytes(lines: &[Line], rows: usize) -> MatRef<'_, i8> {
    let bytes = <[i8]>::ref_from_bytes(lines.as_bytes()).expect("bytes have no alignment");
    MatRef::new(bytes, rows, bytes.len() / rows.max(1))
}

/// Multiplies rows in tiles with weights.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn multiply_in_tiles<I: Isa>(
    isa: I,
    amx: Avx512Amx,
    tiles: &TiledRows,
    weights: PackedBf16,
    epilogue: Epilogue,
    out: MatMut<f32>,
) {
    let (configure, panels) = (|rows| amx.configure(rows), weights.panels);
    tiled::multiply::<true, _, _, _>(isa, configure, Bf16Arithmetic, tiles, panels, epilogue, out);
}

#[inline(always)]
fn multiply<I: Isa>(
    isa: I,
    tiling: Tiling,
    rows: MatRef<f32>,
    weights: PackedBf16,
    pairs: &[Line],
    epilogue: Epilogue,
    out: MatMut<f32>,
) {
    let panels = weights.panels;
    let row_lines = rows.columns().div_ceil(2 * LANES);
    let cells = MatRef::new(pair_cells(pairs), rows.rows(), row_lines * LANES);
    let cells = cells.column_range(0..panels.steps());
    let blocks = RowBlocks::new::<I>(rows.rows(), tiling);
    let call = Gemm { arithmetic: Bf16Arithmetic, cells, blocks, panels, epilogue, out };
    call.multiply(isa, tiling);
}

/// Rounds a row to pairs of adjacent bf16, padded with zeros to whole lines.
#[inline(always)]
fn join_row<I: Isa>(isa: I, row: &[f32], to: &mut [Line]) {
    for (at, line) in to.iter_mut().enumerate() {
        let first = at * 2 * LANES;
        let middle = if first + LANES < row.len() { first + LANES } else { row.len() };
        let end = if middle + LANES < row.len() { middle + LANES } else { row.len() };
        let low = isa.load_partial(&row[first..middle], 0.0);
        let high = isa.load_partial(&row[middle..end], 0.0);
        isa.store_line(isa.join_bf16(low, high), line);
    }
}

/// Returns the cells of lines.
fn pair_cells(lines: &[Line]) -> &[u32] {
    <[u32]>::ref_from_bytes(lines.as_bytes()).expect("lines are aligned and whole")
}

/// Computes `out += x^T * dz` with the shapes `[inputs, outputs] += [rows, inputs]^T x [rows,
/// outputs]`, where `x` and `dz` are rounded to bf16: the gradient of weights. Rows are divided
/// into blocks of about equal size, at most 1,024 rows each.
///
/// # Panics
/// If shapes do not fit.
pub fn gemm_bf16_transposed(
    cpu: Cpu,
    scratch: &mut Bf16Scratch,
    x: MatRef<f32>,
    dz: MatRef<f32>,
    mut out: MatMut<f32>,
) {
    assert_eq!(x.rows(), dz.rows(), "a gradient for each row");
    assert_eq!((x.columns(), dz.columns()), (out.rows(), out.columns()));
    let count = x.rows().div_ceil(DEPTH_BLOCK);
    for block in 0..count {
        let rows = x.rows() * block / count..x.rows() * (block + 1) / count;
        let (x, dz) = (x.row_range(rows.clone()), dz.row_range(rows));
        scratch.panels.fill_rows(cpu, dz);
        let pairs = &mut scratch.pairs;
        dispatch!(bf16 cpu, zip_row_pairs(x, pairs));
        #[cfg(target_arch = "x86_64")]
        if let (Some(amx), Some(isa)) = (tile_units(cpu, x.columns()), cpu.bf16_isa()) {
            let Bf16Scratch { pairs, panels, tiles, transposed, .. } = scratch;
            call!(isa, transpose_pairs(pairs, x.rows().div_ceil(2), transposed));
            // Inputs past the last are padding.
            let inputs = x.columns().next_multiple_of(LANES);
            tiles.fill(line_bytes(transposed, inputs).row_range(0..x.columns()));
            let epilogue = Epilogue { accumulate: true, ..Epilogue::default() };
            let out = out.reborrow();
            call!(isa, multiply_in_tiles(amx, tiles, panels.view(), epilogue, out));
            continue;
        }
        dispatch!(bf16 cpu, multiply_transposed(x, scratch, out.reborrow()));
    }
}

/// Rounds rows to bf16 in pairs: two rows become one cell for each column.
#[inline(always)]
fn zip_row_pairs<I: Isa>(isa: I, x: MatRef<f32>, pairs: &mut Vec<Line>) {
    let (steps, row_lines) = (x.rows().div_ceil(2), x.columns().div_ceil(LANES));
    pairs.resize(steps * row_lines, Line::ZERO);
    for step in 0..steps {
        let odd = if 2 * step + 1 < x.rows() { x.row(2 * step + 1) } else { &[] };
        let to = &mut pairs[step * row_lines..][..row_lines];
        zip_rows(isa, x.row(2 * step), odd, |at, cells| isa.store_line(cells, &mut to[at]));
    }
}

/// Transposes cells, `[steps, columns]` to `[columns, steps]`, both padded to whole lines.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn transpose_pairs<I: Isa>(isa: I, pairs: &[Line], steps: usize, transposed: &mut Vec<Line>) {
    let (row_lines, column_lines) = (pairs.len() / steps.max(1), steps.div_ceil(LANES));
    transposed.resize(row_lines * LANES * column_lines, Line::ZERO);
    for first in (0..steps).step_by(LANES) {
        let count = if first + LANES < steps { LANES } else { steps - first };
        for at in 0..row_lines {
            let mut rows = [isa.splat(0.0); LANES];
            for row in 0..count {
                rows[row] = isa.load_line(&pairs[(first + row) * row_lines + at]);
            }
            let columns = isa.transpose(rows);
            for column in 0..LANES {
                let to = (at * LANES + column) * column_lines + first / LANES;
                isa.store_line(columns[column], &mut transposed[to]);
            }
        }
    }
}

#[inline(always)]
fn multiply_transposed<I: Isa>(
    isa: I,
    x: MatRef<f32>,
    scratch: &mut Bf16Scratch,
    out: MatMut<f32>,
) {
    let Bf16Scratch { pairs, panels, cells, .. } = scratch;
    let (steps, row_lines) = (x.rows().div_ceil(2), x.columns().div_ceil(LANES));
    let tiling = Tiling::registers(6, 4);
    let blocks = RowBlocks::new::<I>(x.columns(), tiling);
    let paired = MatRef::new(pair_cells(pairs), steps, row_lines * LANES);
    interleave_columns(paired.column_range(0..x.columns()), blocks, cells);
    let call = Gemm {
        arithmetic: Bf16Arithmetic,
        cells: Interleaved { cells, steps },
        blocks,
        panels: panels.view().panels,
        epilogue: Epilogue { accumulate: true, ..Epilogue::default() },
        out,
    };
    call.multiply(isa, tiling);
}

#[cfg(test)]
mod tests;
