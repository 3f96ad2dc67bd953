//! Rows of activations as integers.
//!
//! A row's own largest magnitude becomes the largest integer, so a row never depends on the
//! batch it is in. Eight bits have 127 of them. Of sixteen, a product's caller says how
//! many, which bounds what products must sum. (Devlin, 2017, and Marian multiply
//! sixteen bits by 1,024 whatever they hold: a row within 1 then has ten of them, and
//! outputs stray several times as far.)

use crate::isa::{Isa, LANES, dispatch, parts};
use crate::{Cpu, Mat, MatMut};

/// Rows of i8 in -127..=127, and what one unit of each row is worth.
#[derive(Clone, Copy, Debug)]
pub struct QuantisedI8<'a> {
    /// The integers.
    pub values: Mat<'a, i8>,
    /// A number is its integer times the scale of its row.
    pub scales: &'a [f32],
}

/// Rows of i16, and what one unit is worth.
#[derive(Clone, Copy, Debug)]
pub struct QuantisedI16<'a> {
    /// The integers, none of larger magnitude than `limit`.
    pub values: Mat<'a, i16>,
    /// A number is its integer times the scale of its row.
    pub scales: &'a [f32],
    /// The largest magnitude.
    pub limit: u16,
}

/// The magnitude that becomes 127.
#[derive(Clone, Copy, Debug)]
pub enum Span<'a> {
    /// The largest of the row itself, looked for.
    OfRow,
    /// The largest of each row, known from the product that made it.
    Known(&'a [f32]),
    /// The same for all rows; larger magnitudes are cut (Marian's `_QuantMultA`).
    Fixed(f32),
}

/// Quantises rows to eight bits, nearest integer, halves to even.
///
/// A row of zeros has scale 0; what is not a number becomes some integer in range.
///
/// # Panics
/// If shapes differ.
pub fn quantise_i8(cpu: Cpu, rows: Mat<f32>, span: Span, out: MatMut<i8>, scales: &mut [f32]) {
    assert_eq!((rows.rows(), rows.columns()), (out.rows(), out.columns()));
    assert_eq!(rows.rows(), scales.len());
    dispatch!(cpu, rows_i8(rows, span, out, scales))
}

#[inline(always)]
fn rows_i8<I: Isa>(isa: I, rows: Mat<f32>, span: Span, mut out: MatMut<i8>, scales: &mut [f32]) {
    for (index, scale) in scales.iter_mut().enumerate() {
        let row = rows.row(index);
        let largest = match span {
            Span::OfRow => largest(isa, row),
            Span::Known(largest) => largest[index],
            Span::Fixed(largest) => largest,
        };
        *scale = row_i8(isa, row, largest, out.row(index));
    }
}

/// Quantises one row and gives its scale.
#[inline(always)]
pub(crate) fn row_i8<I: Isa>(isa: I, row: &[f32], largest: f32, out: &mut [i8]) -> f32 {
    let factor = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    let (factor, most, least) = (isa.splat(factor), isa.splat(127.0), isa.splat(-127.0));
    for part in parts(row.len()) {
        let scaled = isa.mul(isa.load_part(&row[part.clone()], 0.0), factor);
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
    largest / 127.0
}

/// The largest magnitude of a row; what is not a number does not count.
#[inline(always)]
pub(crate) fn largest<I: Isa>(isa: I, row: &[f32]) -> f32 {
    let mut most = isa.splat(0.0);
    for part in parts(row.len()) {
        most = isa.max(isa.abs(isa.load_part(&row[part], 0.0)), most);
    }
    isa.largest(most)
}

/// Quantises rows to sixteen bits: the largest magnitude of each becomes `limit` (at most
/// 32,767), others the nearest integer.
///
/// A row of zeros has scale 0; what is not a number becomes some integer in range.
///
/// # Panics
/// If shapes differ.
pub fn quantise_i16(cpu: Cpu, rows: Mat<f32>, limit: u16, out: MatMut<i16>, scales: &mut [f32]) {
    assert_eq!((rows.rows(), rows.columns()), (out.rows(), out.columns()));
    assert_eq!(rows.rows(), scales.len());
    dispatch!(cpu, rows_i16(rows, f32::from(limit.min(i16::MAX as u16)), out, scales))
}

#[inline(always)]
fn rows_i16<I: Isa>(isa: I, rows: Mat<f32>, limit: f32, mut out: MatMut<i16>, scales: &mut [f32]) {
    let (most, least) = (isa.splat(limit), isa.splat(-limit));
    for (index, scale) in scales.iter_mut().enumerate() {
        let (row, out) = (rows.row(index), out.row(index));
        let largest = largest(isa, row);
        let factor = isa.splat(if largest > 0.0 { limit / largest } else { 0.0 });
        *scale = largest / limit;
        for part in parts(row.len()) {
            let scaled = isa.mul(isa.load_part(&row[part.clone()], 0.0), factor);
            let to = &mut out[part];
            let mut lanes = [0; LANES];
            isa.store_i32(isa.round(isa.min(isa.max(scaled, least), most)), &mut lanes);
            narrow(
                &lanes,
                to,
                #[inline(always)]
                |lane| lane as i16,
            );
        }
    }
}

/// Writes as many lanes as there is room for.
#[inline(always)]
fn narrow<T>(lanes: &[i32; LANES], to: &mut [T], cut: impl Fn(i32) -> T) {
    if let Some(to) = to.first_chunk_mut::<LANES>() {
        for lane in 0..LANES {
            to[lane] = cut(lanes[lane]);
        }
    } else {
        for lane in 0..to.len() {
            to[lane] = cut(lanes[lane]);
        }
    }
}
