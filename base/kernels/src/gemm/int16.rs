//! GEMM in i16 (Devlin 2017, section 4.1).
//!
//! A step along the depth adds two products to each sum of 32 bits. Thirty-two steps make a
//! [run](ACCUMULATION_RUN); the norms of its rows and weights are limited so that no sum overflows
//! (see [`PackedI16`]). The sums of runs are converted to f32 and added up.

use super::tile::{Arithmetic, Gemm, Interleaved, RowBlocks, interleave_row};
use super::{Epilogue, PreparedRows, Tiling};
use crate::isa::{Isa, LANES, dispatch};
use crate::pack::{ACCUMULATION_RUN, Line, PackedI16};
use crate::quantize::QuantizedI16;
use crate::{Cpu, MatMut, MatRef};

#[derive(Clone, Copy)]
struct I16Arithmetic<'a> {
    row_scales: &'a [f32],
    column_scales: &'a [f32],
}

impl Arithmetic for I16Arithmetic<'_> {
    type Cell = u32;
    type Accumulators<I: Isa> = I::I;
    const FLUSH_STEPS: usize = ACCUMULATION_RUN / 2;
    const INLINE_EPILOGUE: bool = false;

    #[inline(always)]
    fn initial_sums<I: Isa>(&self, isa: I, _: usize, _: usize) -> I::I {
        isa.splat_i32(0)
    }
    #[inline(always)]
    fn zero_sums<I: Isa>(isa: I) -> I::I {
        isa.splat_i32(0)
    }
    #[inline(always)]
    fn accumulate<I: Isa>(isa: I, sums: I::I, cell: &u32, line: &Line) -> I::I {
        isa.dot_i16(sums, *cell, line)
    }
    #[inline(always)]
    fn to_f32<I: Isa>(isa: I, sums: I::I) -> I::F {
        isa.to_f32(sums)
    }
    #[inline(always)]
    fn column_scales<I: Isa>(&self, isa: I, panel: usize) -> I::F {
        isa.load(&self.column_scales[panel * LANES..])
    }
    #[inline(always)]
    fn dequantize<I: Isa>(&self, isa: I, sums: I::F, row: usize, columns: I::F) -> I::F {
        isa.mul(sums, isa.mul(isa.splat(self.row_scales[row]), columns))
    }
}

/// i16 rows, [prepared](PreparedRows) for GEMM.
pub type PreparedI16 = PreparedRows<PairCells>;

/// Pairs of adjacent i16 of a row, the operand of `Isa::dot_i16`.
#[derive(Clone, Debug, Default)]
pub struct PairCells {
    pairs: Vec<u32>,
    row_buffer: Vec<u32>,
    headroom: u32,
}

impl PreparedI16 {
    /// Prepares `rows`, `[rows, depth]`, in place of the earlier ones.
    ///
    /// # Panics
    /// If there is not a scale for each row.
    pub fn prepare(&mut self, cpu: Cpu, tiling: Tiling, rows: QuantizedI16) {
        assert_eq!(rows.values.rows(), rows.scales.len(), "a scale for each row");
        self.reset(cpu, tiling, rows.values.columns(), rows.scales);
        let cells = &mut self.cells;
        cells.headroom = rows.headroom;
        dispatch!(vnni cpu, interleave_rows(tiling, rows.values, cells));
    }
}

/// Computes `out = activation((rows * weights) * scales + bias + residual)` with the shapes `[rows,
/// columns] = [rows, depth] x [depth, columns]`. The sum of each [run](ACCUMULATION_RUN) is exact
/// before it is converted to f32.
///
/// # Panics
/// If shapes do not fit, or rows were quantised for weights of smaller norm, or no rows
/// are prepared.
pub fn gemm_i16(rows: &PreparedI16, weights: PackedI16, epilogue: Epilogue, out: MatMut<f32>) {
    assert_eq!(rows.depth, weights.depth(), "rows as long as the weights are deep");
    assert!(rows.cells.headroom <= weights.headroom(), "rows within the headroom of the weights");
    let (cpu, tiling) = rows.prepared_for();
    dispatch!(vnni cpu, multiply(tiling, rows, weights, epilogue, out))
}

#[inline(always)]
fn multiply<I: Isa>(
    isa: I,
    tiling: Tiling,
    rows: &PreparedI16,
    weights: PackedI16,
    epilogue: Epilogue,
    out: MatMut<f32>,
) {
    let PackedI16 { panels, scales: column_scales, .. } = weights;
    let arithmetic = I16Arithmetic { row_scales: &rows.scales, column_scales };
    let cells = Interleaved { cells: &rows.cells.pairs[..], steps: panels.steps() };
    let blocks = RowBlocks::new::<I>(rows.scales.len(), tiling);
    Gemm { arithmetic, cells, blocks, panels, epilogue, out }.multiply(isa, tiling);
}

/// Interleaves rows in pairs of adjacent numbers for `Isa::dot_i16`. An odd last number is paired
/// with zero.
#[inline(always)]
fn interleave_rows<I: Isa>(_: I, tiling: Tiling, rows: MatRef<i16>, to: &mut PairCells) {
    let PairCells { pairs, row_buffer, .. } = to;
    let steps = rows.columns().div_ceil(2);
    pairs.resize(rows.rows() * steps, 0);
    for block in RowBlocks::new::<I>(rows.rows(), tiling).ranges() {
        let into = &mut pairs[block.start * steps..block.end * steps];
        for (row_of_tile, row) in block.clone().enumerate() {
            let (whole, rest) = rows.row(row).as_chunks::<2>();
            row_buffer.clear();
            row_buffer.extend(
                whole.iter().map(|&[a, b]| u32::from(a as u16) | u32::from(b as u16) << 16),
            );
            row_buffer.extend(rest.iter().map(|&last| u32::from(last as u16)));
            interleave_row(row_buffer, block.len(), row_of_tile, into);
        }
    }
}
