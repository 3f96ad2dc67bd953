//! Products of sixteen bits (Devlin 2017, section 4.1).
//!
//! Two products are summed in 32 bits by one instruction. How many more fit follows from
//! the largest weight and the limit of the rows: after so many steps the sums are set
//! aside as floats, in the worst case after each. Rows to 8,191 and weights to 8,191 allow
//! sixteen steps, of two products each.

use super::tile::{Arithmetic, Call};
use super::{Epilogue, Scratch, Tiling};
use crate::isa::{Isa, LANES, dispatch};
use crate::pack::{Line, PackedI16};
use crate::quantise::QuantisedI16;
use crate::{Cpu, Mat, MatMut};

#[derive(Clone, Copy)]
struct Pairs<'a> {
    interval: usize,
    row_scales: &'a [f32],
    column_scales: &'a [f32],
}

impl Arithmetic for Pairs<'_> {
    type Cell = u32;
    type Sums<I: Isa> = I::I;

    #[inline(always)]
    fn interval(&self) -> usize {
        self.interval
    }
    #[inline(always)]
    fn start<I: Isa>(&self, isa: I, _: usize, _: usize) -> I::I {
        isa.splat_i32(0)
    }
    #[inline(always)]
    fn again<I: Isa>(isa: I) -> I::I {
        isa.splat_i32(0)
    }
    #[inline(always)]
    fn step<I: Isa>(isa: I, sums: I::I, cell: &u32, line: &Line) -> I::I {
        isa.dot_i16(sums, *cell, line)
    }
    #[inline(always)]
    fn floats<I: Isa>(isa: I, sums: I::I) -> I::F {
        isa.to_f32(sums)
    }
    #[inline(always)]
    fn column_scales<I: Isa>(&self, isa: I, panel: usize) -> I::F {
        isa.load(&self.column_scales[panel * LANES..])
    }
    #[inline(always)]
    fn scale<I: Isa>(&self, isa: I, sums: I::F, row: usize, columns: I::F) -> I::F {
        isa.mul(sums, isa.mul(isa.splat(self.row_scales[row]), columns))
    }
}

/// Steps of two products each that 31 bits can sum.
fn interval(limit: u16, largest: u16) -> usize {
    let pair = 2 * u64::from(limit) * u64::from(largest);
    (i32::MAX as u64 / pair.max(1)).max(1) as usize
}

/// `out = activation((rows * weights) * scales + bias + residual)`, where sums are exact
/// up to the precision of f32, for rows in -32,767..=32,767 and weights of i16.
///
/// # Panics
/// If shapes do not fit.
pub fn product_i16(
    cpu: Cpu,
    tiling: Tiling,
    rows: QuantisedI16,
    weights: PackedI16,
    epilogue: Epilogue,
    out: MatMut<f32>,
    scratch: &mut Scratch,
) {
    assert_eq!(rows.values.columns(), weights.depth(), "rows as long as the weights are deep");
    assert_eq!(rows.values.rows(), rows.scales.len(), "a scale for each row");
    let pairs = &mut scratch.pairs;
    pairs.clear();
    for index in 0..rows.values.rows() {
        let (whole, rest) = rows.values.row(index).as_chunks::<2>();
        pairs.extend(whole.iter().map(|&[a, b]| u32::from(a as u16) | u32::from(b as u16) << 16));
        pairs.extend(rest.iter().map(|&last| u32::from(last as u16)));
    }
    let PackedI16 { panels, scales: column_scales, largest } = weights;
    let interval = interval(rows.limit, largest);
    let arithmetic = Pairs { interval, row_scales: rows.scales, column_scales };
    let cells = Mat::new(pairs.as_slice(), rows.values.rows(), panels.steps());
    let call = Call { arithmetic, cells, panels, epilogue, out };
    dispatch!(vnni cpu, multiply(call, tiling))
}

#[inline(always)]
fn multiply<I: Isa>(isa: I, call: Call<Pairs>, tiling: Tiling) {
    call.multiply(isa, tiling);
}
