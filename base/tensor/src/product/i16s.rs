//! Products of sixteen bits (Devlin 2017, section 4.1).
//!
//! Two products are summed in 32 bits by one instruction, thirty-two times: a
//! [run](RUN), whose norms bound what it may sum to (see [`crate::pack`]). Then sums are
//! set aside as floats.

use super::tile::{Arithmetic, Blocks, Call, Interleaved, interleave};
use super::{Epilogue, Tiling};
use crate::isa::{Isa, LANES, dispatch};
use crate::pack::{Line, PackedI16, RUN};
use crate::quantise::QuantisedI16;
use crate::{Cpu, Mat, MatMut};

#[derive(Clone, Copy)]
struct Pairs<'a> {
    row_scales: &'a [f32],
    column_scales: &'a [f32],
}

impl Arithmetic for Pairs<'_> {
    type Cell = u32;
    type Sums<I: Isa> = I::I;
    const INTERVAL: usize = RUN / 2;

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

/// Rows of sixteen bits as products take them, in tiles of one size: prepared once for all
/// columns that they are multiplied with.
#[derive(Clone, Debug, Default)]
pub struct RowsI16 {
    pairs: Vec<u32>,
    pairs_of_row: Vec<u32>,
    scales: Vec<f32>,
    room: u32,
    depth: usize,
    prepared: Option<(Cpu, Tiling)>,
}

impl RowsI16 {
    /// Takes other rows.
    ///
    /// # Panics
    /// If there is not a scale for each row.
    pub fn prepare(&mut self, cpu: Cpu, tiling: Tiling, rows: QuantisedI16) {
        assert_eq!(rows.values.rows(), rows.scales.len(), "a scale for each row");
        (self.prepared, self.room) = (Some((cpu, tiling)), rows.room);
        self.depth = rows.values.columns();
        self.scales.clear();
        self.scales.extend_from_slice(rows.scales);
        dispatch!(vnni cpu, interleaved(tiling, rows.values, self));
    }

    /// The tiles they are prepared for; none, if they were never or are [forgotten](Self::forget).
    pub fn tiling(&self) -> Option<Tiling> {
        self.prepared.map(|(_, tiling)| tiling)
    }

    /// Forgets the rows.
    pub fn forget(&mut self) {
        self.prepared = None;
    }
}

/// `out = activation((rows * weights) * scales + bias + residual)`, where sums are exact
/// up to the precision of f32.
///
/// # Panics
/// If shapes do not fit, or rows were quantised for weights of smaller norm, or none are
/// prepared.
pub fn product_i16(rows: &RowsI16, weights: PackedI16, epilogue: Epilogue, out: MatMut<f32>) {
    assert_eq!(rows.depth, weights.depth(), "rows as long as the weights are deep");
    assert!(rows.room <= weights.room(), "rows with room beside the weights");
    let (cpu, tiling) = rows.prepared.expect("prepared rows");
    dispatch!(vnni cpu, multiply(tiling, rows, weights, epilogue, out))
}

#[inline(always)]
fn multiply<I: Isa>(
    isa: I,
    tiling: Tiling,
    rows: &RowsI16,
    weights: PackedI16,
    epilogue: Epilogue,
    out: MatMut<f32>,
) {
    let PackedI16 { panels, scales: column_scales, .. } = weights;
    let arithmetic = Pairs { row_scales: &rows.scales, column_scales };
    let cells = Interleaved { cells: &rows.pairs[..], steps: panels.steps() };
    let blocks = Blocks::new::<I>(rows.scales.len(), tiling);
    Call { arithmetic, cells, blocks, panels, epilogue, out }.multiply(isa, tiling);
}

/// Prepares rows for [`Isa::dot_i16`], two neighbours at a time, zero behind the last.
#[inline(always)]
fn interleaved<I: Isa>(_: I, tiling: Tiling, rows: Mat<i16>, to: &mut RowsI16) {
    let RowsI16 { pairs, pairs_of_row, .. } = to;
    let steps = rows.columns().div_ceil(2);
    pairs.resize(rows.rows() * steps, 0);
    for block in Blocks::new::<I>(rows.rows(), tiling).ranges() {
        let into = &mut pairs[block.start * steps..block.end * steps];
        for (place, row) in block.clone().enumerate() {
            let (whole, rest) = rows.row(row).as_chunks::<2>();
            pairs_of_row.clear();
            let pair = |&[a, b]: &[i16; 2]| u32::from(a as u16) | u32::from(b as u16) << 16;
            pairs_of_row.extend(whole.iter().map(pair));
            pairs_of_row.extend(rest.iter().map(|&last| u32::from(last as u16)));
            interleave(pairs_of_row, block.len(), place, into);
        }
    }
}
