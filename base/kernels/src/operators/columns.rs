//! Sixteen columns of a row at a time, for operators on rows of any width.

use crate::isa::{Isa, LANES};

/// Loads up to sixteen columns of a row, from column `from` on and before column `end`.
#[inline(always)]
pub(super) fn load_columns<I: Isa>(isa: I, row: &[f32], from: usize, end: usize) -> I::F {
    isa.load_partial(&row[from..(from + LANES).min(end)], 0.0)
}

/// Loads up to sixteen columns of gate `gate` of a row `[gates * width]`.
#[inline(always)]
pub(super) fn load_gate<I: Isa>(
    isa: I,
    row: &[f32],
    gate: usize,
    width: usize,
    from: usize,
) -> I::F {
    load_columns(isa, row, gate * width + from, (gate + 1) * width)
}

/// Loads up to sixteen columns of a gate, or zeros if there is no row.
#[inline(always)]
pub(super) fn load_gate_or_zero<I: Isa>(
    isa: I,
    row: Option<&[f32]>,
    gate: usize,
    width: usize,
    from: usize,
) -> I::F {
    match row {
        Some(row) => load_gate(isa, row, gate, width, from),
        None => isa.splat(0.0),
    }
}

#[inline(always)]
pub(super) fn store_columns<I: Isa>(isa: I, value: I::F, row: &mut [f32], from: usize) {
    let to = (from + LANES).min(row.len());
    isa.store_partial(value, &mut row[from..to]);
}

/// Adds `value` to up to sixteen columns of a row, from column `from` on and before column `end`.
#[inline(always)]
pub(super) fn add_columns<I: Isa>(isa: I, value: I::F, row: &mut [f32], from: usize, end: usize) {
    let columns = &mut row[from..(from + LANES).min(end)];
    isa.store_partial(isa.add(isa.load_partial(columns, 0.0), value), columns);
}

/// Adds `value` to up to sixteen columns of gate `gate` of a row `[gates * width]`.
#[inline(always)]
pub(super) fn add_gate<I: Isa>(
    isa: I,
    value: I::F,
    row: &mut [f32],
    gate: usize,
    width: usize,
    from: usize,
) {
    add_columns(isa, value, row, gate * width + from, (gate + 1) * width);
}

/// Computes `y (1 - y)`, the slope of a sigmoid with the result y.
#[inline(always)]
pub(super) fn sigmoid_slope<I: Isa>(isa: I, y: I::F) -> I::F {
    isa.mul(y, isa.sub(isa.splat(1.0), y))
}

/// Computes `1 - y^2`, the slope of a tanh with the result y.
#[inline(always)]
pub(super) fn tanh_slope<I: Isa>(isa: I, y: I::F) -> I::F {
    isa.sub(isa.splat(1.0), isa.mul(y, y))
}
