//! Quantisation of rows of activations.
//!
//! The scale of a row follows from the row itself or is fixed, so it never depends on the batch. In
//! i8 the largest magnitude of the row becomes 127, unless [`ClipRange::Fixed`] gives the magnitude
//! that does. In i16 the largest magnitude becomes 32,767, or less if norms of the row would exceed
//! the headroom of the weights (see [`crate::pack`]). (Devlin, 2017, and Marian multiply by 1,024
//! for i16. A row with values from -1 to 1 then uses only ten bits and the sign, and the outputs
//! have errors several times as large.)
//!
//! No integer represents NaN or infinity. If a row has one of them, its scale is NaN, and so are
//! all products of the row.

use crate::isa::{Isa, LANES, dispatch, lane_chunks};
use crate::pack::{ACCUMULATION_RUN, PackedI16, ROUNDING_SLACK};
use crate::{Cpu, MatMut, MatRef};

/// Rows of i8 in -127..=127 with the scale of each row.
#[derive(Clone, Copy, Debug)]
pub struct QuantizedI8<'a> {
    /// The integers, `[rows, columns]`.
    pub values: MatRef<'a, i8>,
    /// The scale of each row, `[rows]`: a number is its integer times the scale.
    pub scales: &'a [f32],
}

/// Rows of i16 with the scale of each row.
#[derive(Clone, Copy, Debug)]
pub struct QuantizedI16<'a> {
    /// The integers, `[rows, columns]`.
    pub values: MatRef<'a, i16>,
    /// The scale of each row, `[rows]`: a number is its integer times the scale.
    pub scales: &'a [f32],
    /// A bound on the Euclidean norm of every [run](ACCUMULATION_RUN).
    pub headroom: u32,
}

/// The magnitude that becomes 127.
#[derive(Clone, Copy, Debug)]
pub enum ClipRange<'a> {
    /// The largest magnitude of the row, which is computed.
    PerRow,
    /// The largest magnitude of each row, `[rows]`, from the epilogue of a GEMM.
    Precomputed(&'a [f32]),
    /// This magnitude for all rows; larger ones are clipped (Marian's `_QuantMultA`).
    Fixed(f32),
}

/// Quantises `rows`, `[rows, columns]`, to i8, to the nearest integer, halves to even.
///
/// The scale of a row is 1/127 of the magnitude that `clip` gives. A row that is not finite has the
/// scale NaN.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn quantize_i8(
    cpu: Cpu,
    rows: MatRef<f32>,
    clip: ClipRange,
    out: MatMut<i8>,
    scales: &mut [f32],
) {
    assert_eq!((rows.rows(), rows.columns()), (out.rows(), out.columns()));
    assert_eq!(rows.rows(), scales.len());
    dispatch!(cpu, quantize_rows_i8(rows, clip, out, scales))
}

#[inline(always)]
fn quantize_rows_i8<I: Isa>(
    isa: I,
    rows: MatRef<f32>,
    clip: ClipRange,
    mut out: MatMut<i8>,
    scales: &mut [f32],
) {
    for (index, scale) in scales.iter_mut().enumerate() {
        let row = rows.row(index);
        let largest = match clip {
            ClipRange::PerRow => absmax(isa, row),
            ClipRange::Precomputed(largest) => largest[index],
            ClipRange::Fixed(_) if !absmax(isa, row).is_finite() => f32::NAN,
            ClipRange::Fixed(largest) => largest,
        };
        *scale = quantize_row_i8(isa, row, largest, out.row_mut(index));
    }
}

/// Quantises one row and returns its scale.
#[inline(always)]
pub(crate) fn quantize_row_i8<I: Isa>(isa: I, row: &[f32], largest: f32, out: &mut [i8]) -> f32 {
    let factor = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    let (factor, most, least) = (isa.splat(factor), isa.splat(127.0), isa.splat(-127.0));
    for part in lane_chunks(row.len()) {
        let scaled = isa.mul(isa.load_partial(&row[part.clone()], 0.0), factor);
        let to = &mut out[part];
        let whole = isa.round(isa.min(isa.max(scaled, least), most));
        if to.len() == LANES {
            isa.store_i8(whole, to);
        } else {
            let mut lanes = [0; LANES];
            isa.store_i8(whole, &mut lanes);
            to.copy_from_slice(&lanes[..to.len()]);
        }
    }
    // Infinity times 0 is NaN.
    largest / 127.0 + (largest * 0.0)
}

/// Returns the largest magnitude of a row, or NaN if one of its numbers is NaN.
#[inline(always)]
pub(crate) fn absmax<I: Isa>(isa: I, row: &[f32]) -> f32 {
    let mut most = isa.splat(0.0);
    for part in lane_chunks(row.len()) {
        most = isa.max_abs(isa.load_partial(&row[part], 0.0), most);
    }
    isa.reduce_max_abs(most)
}

/// Quantises `rows`, `[rows, columns]`, to i16 for products with `weights`, to the nearest
/// integer, as finely as 32,767 and the [headroom](PackedI16::headroom) of the weights allow.
///
/// A row of zeros has the scale 0. A row that is not finite has the scale NaN.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn quantize_i16<'a>(
    cpu: Cpu,
    rows: MatRef<f32>,
    weights: &PackedI16,
    mut values: MatMut<'a, i16>,
    scales: &'a mut [f32],
) -> QuantizedI16<'a> {
    assert_eq!((rows.rows(), rows.columns()), (values.rows(), values.columns()));
    assert_eq!(rows.rows(), scales.len());
    let headroom = weights.headroom();
    dispatch!(cpu, quantize_rows_i16(rows, headroom as f32, values.reborrow(), scales));
    QuantizedI16 { values: values.into_ref(), scales, headroom }
}

#[inline(always)]
fn quantize_rows_i16<I: Isa>(
    isa: I,
    rows: MatRef<f32>,
    headroom: f32,
    mut out: MatMut<i16>,
    scales: &mut [f32],
) {
    const LIMIT: f32 = i16::MAX as f32;
    let (most, least) = (isa.splat(LIMIT), isa.splat(-LIMIT));
    for (index, scale) in scales.iter_mut().enumerate() {
        let (row, out) = (rows.row(index), out.row_mut(index));
        let largest = absmax(isa, row);
        // A row this small vanishes in any product.
        let finest = if largest < MIN_ABSMAX { 0.0 } else { LIMIT / largest };
        let norm = max_run_norm(isa, row, finest);
        let factor = finest
            * if norm > headroom - ROUNDING_SLACK {
                (headroom - ROUNDING_SLACK) / norm
            } else {
                1.0
            };
        *scale = if !largest.is_finite() {
            f32::NAN
        } else if factor > 0.0 {
            1.0 / factor
        } else {
            0.0
        };
        let factor = isa.splat(factor);
        for part in lane_chunks(row.len()) {
            let scaled = isa.mul(isa.load_partial(&row[part.clone()], 0.0), factor);
            let to = &mut out[part];
            let mut lanes = [0; LANES];
            isa.store_i32(isa.round(isa.min(isa.max(scaled, least), most)), &mut lanes);
            store_i16(&lanes, to);
        }
    }
}

/// A power of two whose 32,767th part is just a normal number. Rows with smaller magnitudes become
/// zeros.
const MIN_ABSMAX: f32 = 32_768.0 * f32::MIN_POSITIVE;

/// Returns the largest Euclidean norm of a [run](ACCUMULATION_RUN) of the row times `factor`.
#[inline(always)]
fn max_run_norm<I: Isa>(isa: I, row: &[f32], factor: f32) -> f32 {
    let factor = isa.splat(factor);
    let mut most = 0f32;
    for from in (0..row.len()).step_by(ACCUMULATION_RUN) {
        let run = &row[from..row.len().min(from + ACCUMULATION_RUN)];
        let mut squares = isa.splat(0.0);
        for part in lane_chunks(run.len()) {
            let x = isa.mul(isa.load_partial(&run[part], 0.0), factor);
            squares = isa.mul_add(x, x, squares);
        }
        most = most.max(isa.reduce_sum(squares));
    }
    most.sqrt()
}

/// Stores the first `to.len()` lanes, at most sixteen, as i16.
#[inline(always)]
fn store_i16(lanes: &[i32; LANES], to: &mut [i16]) {
    if let Some(to) = to.first_chunk_mut::<LANES>() {
        for lane in 0..LANES {
            to[lane] = lanes[lane] as i16;
        }
    } else {
        for lane in 0..to.len() {
            to[lane] = lanes[lane] as i16;
        }
    }
}

#[cfg(test)]
mod tests;
