//! Products of eight bits, summed exactly in 32.

use zerocopy::IntoBytes;

use super::tile::{Arithmetic, Blocks, Call, Interleaved, interleave};
use super::{Epilogue, Scratch, Tiling};
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

/// `out = activation((rows * weights) * scales + bias + residual)`, where the product
/// is exact for rows in -127..=127 and weights in -128..=127.
///
/// # Panics
/// If shapes do not fit.
pub fn product_i8(
    cpu: Cpu,
    tiling: Tiling,
    rows: QuantisedI8,
    weights: PackedI8,
    epilogue: Epilogue,
    out: MatMut<f32>,
    scratch: &mut Scratch,
) {
    assert_eq!(rows.values.columns(), weights.depth(), "rows as long as the weights are deep");
    assert_eq!(rows.values.rows(), rows.scales.len(), "a scale for each row");
    dispatch!(vnni cpu, multiply(tiling, rows, weights, epilogue, out, scratch))
}

#[inline(always)]
fn multiply<I: Isa>(
    isa: I,
    tiling: Tiling,
    rows: QuantisedI8,
    weights: PackedI8,
    epilogue: Epilogue,
    out: MatMut<f32>,
    scratch: &mut Scratch,
) {
    let blocks = Blocks::new::<I>(rows.values.rows(), tiling);
    let signed = prepare(isa, rows.values, blocks, scratch);
    let Scratch { quads, starts, .. } = scratch;
    let cells = Interleaved { cells: quads, steps: weights.panels.steps() };
    let PackedI8 { panels, scales: column_scales, corrections } = weights;
    let row_scales = rows.scales;
    // Rows without negative elements, as ReLU leaves them, need no signs. The sums are
    // the same.
    if signed || !I::SPARES_SIGNS {
        let arithmetic = Bytes::<true> { starts, corrections, row_scales, column_scales };
        Call { arithmetic, cells, blocks, panels, epilogue, out }.multiply(isa, tiling);
    } else {
        let arithmetic = Bytes::<false> { starts, corrections, row_scales, column_scales };
        Call { arithmetic, cells, blocks, panels, epilogue, out }.multiply(isa, tiling);
    }
}

/// Prepares rows for [`Isa::dot_i8`], four neighbours at a time, zeros behind the last.
/// Tells whether any element is negative.
#[inline(always)]
fn prepare<I: Isa>(isa: I, rows: Mat<i8>, blocks: Blocks, scratch: &mut Scratch) -> bool {
    let Scratch { quads, quads_of_row, starts, .. } = scratch;
    let steps = rows.columns().div_ceil(4);
    quads.resize(rows.rows() * steps, [0; 2]);
    quads_of_row.resize(steps, [0; 2]);
    starts.clear();
    let mut negative = 0;
    for block in blocks.ranges() {
        let into = &mut quads[block.start * steps..block.end * steps];
        for (place, row) in block.clone().enumerate() {
            // As bytes, so that four of them are one load and the loop becomes vectors.
            let (whole, rest) = rows.row(row).as_bytes().as_chunks::<4>();
            let (to, last) = quads_of_row.split_at_mut(whole.len());
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
            interleave(quads_of_row, block.len(), place, into);
        }
    }
    negative & 0x8080_8080 != 0
}
