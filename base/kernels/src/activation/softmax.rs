//! Softmax and log-softmax over rows.

use super::exp;
use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut};

/// Replaces each row of `rows`, `[rows, columns]`, by its softmax. A row of -infinity
/// becomes zeros.
pub fn softmax(cpu: Cpu, mut rows: MatMut<f32>) {
    for index in 0..rows.rows() {
        let row = rows.row_mut(index);
        dispatch!(cpu, softmax_row(row, 1.0));
    }
}

/// Replaces each row of `rows`, `[rows, columns]`, by its log-softmax (natural logarithm).
pub fn log_softmax(cpu: Cpu, mut rows: MatMut<f32>) {
    for index in 0..rows.rows() {
        let row = rows.row_mut(index);
        dispatch!(cpu, log_softmax_row(row));
    }
}

/// Replaces the row by the softmax of `scale` (positive) times the row.
#[inline(always)]
pub(crate) fn softmax_row<I: Isa>(isa: I, row: &mut [f32], scale: f32) {
    let largest = row_max(isa, row);
    if largest == f32::NEG_INFINITY {
        let no_nan = row.iter().all(|x| !x.is_nan());
        return row.fill(if no_nan { 0.0 } else { f32::NAN });
    }
    let (scales, shift) = (isa.splat(scale), isa.splat(largest));
    let mut sums = isa.splat(0.0);
    for part in lane_chunks(row.len()) {
        let x = isa.load_partial(&row[part.clone()], f32::NEG_INFINITY);
        let y = exp(isa, isa.mul(isa.sub(x, shift), scales));
        sums = isa.add(sums, y);
        isa.store_partial(y, &mut row[part]);
    }
    let factor = isa.splat(1.0 / isa.reduce_sum(sums));
    for part in lane_chunks(row.len()) {
        let y = isa.mul(isa.load_partial(&row[part.clone()], 0.0), factor);
        isa.store_partial(y, &mut row[part]);
    }
}

#[inline(always)]
fn log_softmax_row<I: Isa>(isa: I, row: &mut [f32]) {
    let largest = row_max(isa, row);
    if largest == f32::NEG_INFINITY {
        return;
    }
    let shift = isa.splat(largest);
    let mut sums = isa.splat(0.0);
    for part in lane_chunks(row.len()) {
        let x = isa.load_partial(&row[part], f32::NEG_INFINITY);
        sums = isa.add(sums, exp(isa, isa.sub(x, shift)));
    }
    let shift = isa.splat(largest + isa.reduce_sum(sums).ln());
    for part in lane_chunks(row.len()) {
        let y = isa.sub(isa.load_partial(&row[part.clone()], 0.0), shift);
        isa.store_partial(y, &mut row[part]);
    }
}

#[inline(always)]
fn row_max<I: Isa>(isa: I, row: &[f32]) -> f32 {
    let mut largest = isa.splat(f32::NEG_INFINITY);
    for part in lane_chunks(row.len()) {
        largest = isa.max(isa.load_partial(&row[part], f32::NEG_INFINITY), largest);
    }
    isa.reduce_max(largest)
}
