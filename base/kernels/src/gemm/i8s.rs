//! Products of eight bits, summed exactly in 32.

use zerocopy::IntoBytes;

use super::tile::{Arithmetic, Gemm, Interleaved, RowBlocks, interleave_row};
use super::{Epilogue, PreparedRows, Tiling};
use crate::isa::{Isa, dispatch};
use crate::pack::{Line, PackedI8};
use crate::quantise::QuantisedI8;
use crate::{Cpu, Mat, MatMut};

#[derive(Clone, Copy)]
struct I8Arithmetic<'a, const SIGNED: bool> {
    /// What the sums of each row begin with.
    initial_sums: &'a [i32],
    corrections: &'a [i32],
    row_scales: &'a [f32],
    column_scales: &'a [f32],
}

impl<const SIGNED: bool> Arithmetic for I8Arithmetic<'_, SIGNED> {
    type Cell = [u32; 2];
    type Accumulators<I: Isa> = I::I;
    const FLUSH_STEPS: usize = usize::MAX;

    #[inline(always)]
    fn initial_sums<I: Isa>(&self, isa: I, row: usize, panel: usize) -> I::I {
        if I::SHIFTS_TO_UNSIGNED {
            isa.load_i32(&self.corrections[panel * crate::LANES..])
        } else {
            isa.splat_i32(self.initial_sums[row])
        }
    }
    #[inline(always)]
    fn zero_sums<I: Isa>(isa: I) -> I::I {
        isa.splat_i32(0)
    }
    #[inline(always)]
    fn accumulate<I: Isa>(isa: I, sums: I::I, cell: &[u32; 2], line: &Line) -> I::I {
        isa.dot_i8::<SIGNED>(sums, cell, line)
    }
    #[inline(always)]
    fn to_f32<I: Isa>(isa: I, sums: I::I) -> I::F {
        isa.to_f32(sums)
    }
    #[inline(always)]
    fn column_scales<I: Isa>(&self, isa: I, panel: usize) -> I::F {
        isa.load(&self.column_scales[panel * crate::LANES..])
    }
    #[inline(always)]
    fn dequantise<I: Isa>(&self, isa: I, sums: I::F, row: usize, columns: I::F) -> I::F {
        isa.mul(sums, isa.mul(isa.splat(self.row_scales[row]), columns))
    }
}

/// Rows of bytes, [prepared](Prepared).
pub type PreparedI8 = PreparedRows<QuadCells>;

/// Four neighbours of a row at a time, as [`Isa::dot_i8`] takes them.
#[derive(Clone, Debug, Default)]
pub struct QuadCells {
    quads: Vec<[u32; 2]>,
    row_buffer: Vec<[u32; 2]>,
    initial_sums: Vec<i32>,
    signed: bool,
}

impl PreparedI8 {
    /// Takes other rows.
    ///
    /// # Panics
    /// If there is not a scale for each row.
    pub fn prepare(&mut self, cpu: Cpu, tiling: Tiling, rows: QuantisedI8) {
        assert_eq!(rows.values.rows(), rows.scales.len(), "a scale for each row");
        self.reset(cpu, tiling, rows.values.columns(), rows.scales);
        let cells = &mut self.cells;
        dispatch!(vnni cpu, interleave_rows(tiling, rows.values, cells));
    }
}

/// `out = activation((rows * weights) * scales + bias + residual)`, where the product
/// is exact for rows in -127..=127 and weights in -128..=127.
///
/// # Panics
/// If shapes do not fit, or no rows are prepared.
pub fn gemm_i8(rows: &PreparedI8, weights: PackedI8, epilogue: Epilogue, out: MatMut<f32>) {
    assert_eq!(rows.depth, weights.depth(), "rows as long as the weights are deep");
    let (cpu, tiling) = rows.prepared_for();
    dispatch!(vnni cpu, multiply(tiling, rows, weights, epilogue, out))
}

#[inline(always)]
fn multiply<I: Isa>(
    isa: I,
    tiling: Tiling,
    rows: &PreparedI8,
    weights: PackedI8,
    epilogue: Epilogue,
    out: MatMut<f32>,
) {
    let (QuadCells { quads, initial_sums: starts, signed, .. }, row_scales) =
        (&rows.cells, &rows.scales[..]);
    let PackedI8 { panels, scales: column_scales, corrections } = weights;
    let cells = Interleaved { cells: quads, steps: panels.steps() };
    let blocks = RowBlocks::new::<I>(row_scales.len(), tiling);
    // Rows without negative elements, as ReLU leaves them, need no signs. The sums are
    // the same.
    if *signed || !I::PREFERS_UNSIGNED {
        let arithmetic =
            I8Arithmetic::<true> { initial_sums: starts, corrections, row_scales, column_scales };
        Gemm { arithmetic, cells, blocks, panels, epilogue, out }.multiply(isa, tiling);
    } else {
        let arithmetic =
            I8Arithmetic::<false> { initial_sums: starts, corrections, row_scales, column_scales };
        Gemm { arithmetic, cells, blocks, panels, epilogue, out }.multiply(isa, tiling);
    }
}

/// Prepares rows for [`Isa::dot_i8`], four neighbours at a time, zeros behind the last.
#[inline(always)]
fn interleave_rows<I: Isa>(isa: I, tiling: Tiling, rows: Mat<i8>, to: &mut QuadCells) {
    let QuadCells { quads, row_buffer: of_row, initial_sums: starts, signed } = to;
    let steps = rows.columns().div_ceil(4);
    quads.resize(rows.rows() * steps, [0; 2]);
    of_row.resize(steps, [0; 2]);
    starts.clear();
    let mut negative = 0;
    for block in RowBlocks::new::<I>(rows.rows(), tiling).ranges() {
        let into = &mut quads[block.start * steps..block.end * steps];
        for (place, row) in block.clone().enumerate() {
            // As bytes, so that four of them are one load and the loop becomes vectors.
            let (whole, rest) = rows.row(row).as_bytes().as_chunks::<4>();
            let (to, last) = of_row.split_at_mut(whole.len());
            let mut start = 0i32;
            for (quad, to) in whole.iter().zip(to) {
                let quad = u32::from_le_bytes(*quad);
                let (prepared, missing) = isa.prepare_i8(quad);
                *to = prepared;
                negative |= quad;
                start = start.wrapping_add(missing);
            }
            if let [last] = last {
                let mut bytes = [0; 4];
                bytes[..rest.len()].copy_from_slice(rest);
                let quad = u32::from_le_bytes(bytes);
                let (prepared, missing) = isa.prepare_i8(quad);
                *last = prepared;
                negative |= quad;
                start = start.wrapping_add(missing);
            }
            starts.push(start);
            interleave_row(of_row, block.len(), place, into);
        }
    }
    *signed = negative & 0x8080_8080 != 0;
}
