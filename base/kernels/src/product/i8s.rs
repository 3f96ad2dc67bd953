//! Products of eight bits, summed exactly in 32.

use zerocopy::IntoBytes;

use super::tile::{Arithmetic, Blocks, Call, Interleaved, interleave};
use super::{Epilogue, Prepared, Tiling};
use crate::isa::{Isa, dispatch};
use crate::pack::{Line, PackedI8};
use crate::quantise::QuantisedI8;
use crate::{Cpu, Mat, MatMut};

#[derive(Clone, Copy)]
struct Bytes<'a, const SIGNED: bool> {
    /// What the sums of each row begin with.
    starts: &'a [i32],
    corrections: &'a [i32],
    row_scales: &'a [f32],
    column_scales: &'a [f32],
}

impl<const SIGNED: bool> Arithmetic for Bytes<'_, SIGNED> {
    type Cell = [u32; 2];
    type Sums<I: Isa> = I::I;
    const INTERVAL: usize = usize::MAX;

    #[inline(always)]
    fn start<I: Isa>(&self, isa: I, row: usize, panel: usize) -> I::I {
        if I::SHIFTED {
            isa.load_i32(&self.corrections[panel * crate::LANES..])
        } else {
            isa.splat_i32(self.starts[row])
        }
    }
    #[inline(always)]
    fn again<I: Isa>(isa: I) -> I::I {
        isa.splat_i32(0)
    }
    #[inline(always)]
    fn step<I: Isa>(isa: I, sums: I::I, cell: &[u32; 2], line: &Line) -> I::I {
        isa.dot_i8::<SIGNED>(sums, cell, line)
    }
    #[inline(always)]
    fn floats<I: Isa>(isa: I, sums: I::I) -> I::F {
        isa.to_f32(sums)
    }
    #[inline(always)]
    fn column_scales<I: Isa>(&self, isa: I, panel: usize) -> I::F {
        isa.load(&self.column_scales[panel * crate::LANES..])
    }
    #[inline(always)]
    fn scale<I: Isa>(&self, isa: I, sums: I::F, row: usize, columns: I::F) -> I::F {
        isa.mul(sums, isa.mul(isa.splat(self.row_scales[row]), columns))
    }
}

/// Rows of bytes, [prepared](Prepared).
pub type RowsI8 = Prepared<Quads>;

/// Four neighbours of a row at a time, as [`Isa::dot_i8`] takes them.
#[derive(Clone, Debug, Default)]
pub struct Quads {
    quads: Vec<[u32; 2]>,
    of_row: Vec<[u32; 2]>,
    starts: Vec<i32>,
    signed: bool,
}

impl RowsI8 {
    /// Takes other rows.
    ///
    /// # Panics
    /// If there is not a scale for each row.
    pub fn prepare(&mut self, cpu: Cpu, tiling: Tiling, rows: QuantisedI8) {
        assert_eq!(rows.values.rows(), rows.scales.len(), "a scale for each row");
        self.renew(cpu, tiling, rows.values.columns(), rows.scales);
        let cells = &mut self.cells;
        dispatch!(vnni cpu, interleaved(tiling, rows.values, cells));
    }
}

/// `out = activation((rows * weights) * scales + bias + residual)`, where the product
/// is exact for rows in -127..=127 and weights in -128..=127.
///
/// # Panics
/// If shapes do not fit, or no rows are prepared.
pub fn product_i8(rows: &RowsI8, weights: PackedI8, epilogue: Epilogue, out: MatMut<f32>) {
    assert_eq!(rows.depth, weights.depth(), "rows as long as the weights are deep");
    let (cpu, tiling) = rows.tiles();
    dispatch!(vnni cpu, multiply(tiling, rows, weights, epilogue, out))
}

#[inline(always)]
fn multiply<I: Isa>(
    isa: I,
    tiling: Tiling,
    rows: &RowsI8,
    weights: PackedI8,
    epilogue: Epilogue,
    out: MatMut<f32>,
) {
    let (Quads { quads, starts, signed, .. }, row_scales) = (&rows.cells, &rows.scales[..]);
    let PackedI8 { panels, scales: column_scales, corrections } = weights;
    let cells = Interleaved { cells: quads, steps: panels.steps() };
    let blocks = Blocks::new::<I>(row_scales.len(), tiling);
    // Rows without negative elements, as ReLU leaves them, need no signs. The sums are
    // the same.
    if *signed || !I::SPARES_SIGNS {
        let arithmetic = Bytes::<true> { starts, corrections, row_scales, column_scales };
        Call { arithmetic, cells, blocks, panels, epilogue, out }.multiply(isa, tiling);
    } else {
        let arithmetic = Bytes::<false> { starts, corrections, row_scales, column_scales };
        Call { arithmetic, cells, blocks, panels, epilogue, out }.multiply(isa, tiling);
    }
}

/// Prepares rows for [`Isa::dot_i8`], four neighbours at a time, zeros behind the last.
#[inline(always)]
fn interleaved<I: Isa>(isa: I, tiling: Tiling, rows: Mat<i8>, to: &mut Quads) {
    let Quads { quads, of_row, starts, signed } = to;
    let steps = rows.columns().div_ceil(4);
    quads.resize(rows.rows() * steps, [0; 2]);
    of_row.resize(steps, [0; 2]);
    starts.clear();
    let mut negative = 0;
    for block in Blocks::new::<I>(rows.rows(), tiling).ranges() {
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
            interleave(of_row, block.len(), place, into);
        }
    }
    *signed = negative & 0x8080_8080 != 0;
}
