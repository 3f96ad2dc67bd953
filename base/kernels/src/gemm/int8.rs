//! GEMM in i8, summed exactly in 32 bits.

use zerocopy::IntoBytes;

#[cfg(target_arch = "x86_64")]
use super::Unit;
use super::tile::{Arithmetic, Gemm, Interleaved, RowBlocks, interleave_row};
#[cfg(target_arch = "x86_64")]
use super::tiled::{self, TiledRows};
use super::{Epilogue, PreparedRows, Tiling};
use crate::isa::{Isa, dispatch};
#[cfg(target_arch = "x86_64")]
use crate::isa::{Level, TileUnit, call};
use crate::pack::{Line, PackedI8};
use crate::quantize::QuantizedI8;
use crate::{Cpu, MatMut, MatRef};

/// Sums of products of bytes. `SIGNED` may be false if no element of the rows is negative. Sums
/// begin with what corrects the products of [`Isa::dot_i8`].
#[derive(Clone, Copy)]
struct I8Arithmetic<'a, const SIGNED: bool> {
    /// The initial sum of each row, unless [`Isa::SHIFTS_TO_UNSIGNED`].
    initial_sums: &'a [i32],
    /// The initial sum of each column if [`Isa::SHIFTS_TO_UNSIGNED`].
    corrections: &'a [i32],
    row_scales: &'a [f32],
    column_scales: &'a [f32],
}

impl<const SIGNED: bool> Arithmetic for I8Arithmetic<'_, SIGNED> {
    type Cell = [u32; 2];
    type Accumulators<I: Isa> = I::I;
    const FLUSH_STEPS: usize = usize::MAX;
    const INLINE_EPILOGUE: bool = true;

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
    fn dequantize<I: Isa>(&self, isa: I, sums: I::F, row: usize, columns: I::F) -> I::F {
        isa.mul(sums, isa.mul(isa.splat(self.row_scales[row]), columns))
    }
}

/// i8 rows, [prepared](PreparedRows) for GEMM.
pub type PreparedI8 = PreparedRows<QuadCells>;

/// The cells of i8 rows: quads of adjacent elements of a row, or rows in tiles.
#[derive(Clone, Debug, Default)]
pub struct QuadCells {
    /// Operands of `Isa::dot_i8`, interleaved for the tiles of `RowBlocks`.
    quads: Vec<[u32; 2]>,
    /// A buffer for the quads of one row.
    row_buffer: Vec<[u32; 2]>,
    /// For each row the sum of the corrections of its quads (`Isa::prepare_i8`).
    initial_sums: Vec<i32>,
    /// Whether any element is negative.
    signed: bool,
    /// The rows for [`Unit::Tiles`], which needs none of the other fields.
    #[cfg(target_arch = "x86_64")]
    pub(super) tiles: TiledRows,
}

impl PreparedI8 {
    /// Replaces the rows by `rows`, `[rows, depth]`.
    ///
    /// # Panics
    /// If there is not a scale for each row, or the tiling is not for this CPU.
    pub fn prepare(&mut self, cpu: Cpu, tiling: Tiling, rows: QuantizedI8) {
        assert_eq!(rows.values.rows(), rows.scales.len(), "a scale for each row");
        self.reset(cpu, tiling, rows.values.columns(), rows.scales);
        let cells = &mut self.cells;
        #[cfg(target_arch = "x86_64")]
        if tiling.unit == Unit::Tiles {
            assert!(matches!(cpu.level(), Level::Avx512Amx(_)), "a tiling of this CPU");
            return dispatch!(cpu, fill_tiles(rows.values, &mut cells.tiles));
        }
        dispatch!(vnni cpu, interleave_rows(tiling, rows.values, cells));
    }
}

/// Computes `out = activation((rows * weights) * scales + bias + residual)` with the shapes `[rows,
/// columns] = [rows, depth] x [depth, columns]`. The product `rows * weights` is exact for rows in
/// -127..=127 and weights in -128..=127.
///
/// # Panics
/// If shapes do not fit, or no rows are prepared.
pub fn gemm_i8(rows: &PreparedI8, weights: PackedI8, epilogue: Epilogue, out: MatMut<f32>) {
    assert_eq!(rows.depth, weights.depth(), "rows as long as the weights are deep");
    let (cpu, tiling) = rows.prepared_for();
    #[cfg(target_arch = "x86_64")]
    if let (Unit::Tiles, Level::Avx512Amx(amx)) = (tiling.unit, cpu.level()) {
        let (isa, configure) = (amx.without_amx(), |rows| amx.configure(rows));
        return call!(isa, multiply_in_tiles(configure, rows, weights, epilogue, out));
    }
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
    let (QuadCells { quads, initial_sums, signed, .. }, row_scales) =
        (&rows.cells, &rows.scales[..]);
    let PackedI8 { panels, scales: column_scales, corrections } = weights;
    let cells = Interleaved { cells: quads, steps: panels.steps() };
    let blocks = RowBlocks::new::<I>(row_scales.len(), tiling);
    // Without negative elements, as after ReLU, a product without signs gives the same sums.
    if *signed || !I::PREFERS_UNSIGNED {
        let arithmetic =
            I8Arithmetic::<true> { initial_sums, corrections, row_scales, column_scales };
        Gemm { arithmetic, cells, blocks, panels, epilogue, out }.multiply(isa, tiling);
    } else {
        let arithmetic =
            I8Arithmetic::<false> { initial_sums, corrections, row_scales, column_scales };
        Gemm { arithmetic, cells, blocks, panels, epilogue, out }.multiply(isa, tiling);
    }
}

/// Calls [`TiledRows::fill`], in the form that `dispatch!` needs.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn fill_tiles<I: Isa>(_: I, rows: MatRef<i8>, to: &mut TiledRows) {
    to.fill(rows);
}

/// Computes [`gemm_i8`] for rows in tiles.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn multiply_in_tiles<I: Isa, U: TileUnit>(
    isa: I,
    configure: impl FnOnce(usize) -> U,
    rows: &PreparedI8,
    weights: PackedI8,
    epilogue: Epilogue,
    out: MatMut<f32>,
) {
    let PackedI8 { panels, scales: column_scales, corrections } = weights;
    let row_scales = &rows.scales[..];
    assert_eq!(row_scales.len(), out.rows(), "a row of the result for each row");
    let arithmetic =
        I8Arithmetic::<true> { initial_sums: &[], corrections, row_scales, column_scales };
    tiled::multiply::<false, _, _, _>(
        isa,
        configure,
        arithmetic,
        &rows.cells.tiles,
        panels,
        epilogue,
        out,
    );
}

/// Fills `to` with the quads of `rows`, padded with zeros and interleaved for the tiles of
/// [`RowBlocks`].
#[inline(always)]
fn interleave_rows<I: Isa>(isa: I, tiling: Tiling, rows: MatRef<i8>, to: &mut QuadCells) {
    let QuadCells { quads, row_buffer, initial_sums, signed, .. } = to;
    let steps = rows.columns().div_ceil(4);
    quads.resize(rows.rows() * steps, [0; 2]);
    row_buffer.resize(steps, [0; 2]);
    initial_sums.clear();
    // The highest bit of a byte says whether an element in this place of a quad is negative.
    let mut sign_bits = 0;
    for block in RowBlocks::new::<I>(rows.rows(), tiling).ranges() {
        let into = &mut quads[block.start * steps..block.end * steps];
        for (row_of_tile, row) in block.clone().enumerate() {
            // As bytes, so that four of them are one load and the loop is vectorised.
            let (whole, rest) = rows.row(row).as_bytes().as_chunks::<4>();
            let (to, last) = row_buffer.split_at_mut(whole.len());
            let mut initial_sum = 0i32;
            for (quad, to) in whole.iter().zip(to) {
                let quad = u32::from_le_bytes(*quad);
                let (prepared, correction) = isa.prepare_i8(quad);
                *to = prepared;
                sign_bits |= quad;
                initial_sum = initial_sum.wrapping_add(correction);
            }
            if let [last] = last {
                let mut bytes = [0; 4];
                bytes[..rest.len()].copy_from_slice(rest);
                let quad = u32::from_le_bytes(bytes);
                let (prepared, correction) = isa.prepare_i8(quad);
                *last = prepared;
                sign_bits |= quad;
                initial_sum = initial_sum.wrapping_add(correction);
            }
            initial_sums.push(initial_sum);
            interleave_row(row_buffer, block.len(), row_of_tile, into);
        }
    }
    *signed = sign_bits & 0x8080_8080 != 0;
}
