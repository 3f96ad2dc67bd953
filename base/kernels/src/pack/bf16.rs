//! Packed bf16 weights, for training: numbers of 16 bits with the exponents of f32.
//!
//! They are rounded from f32 after each update and never written into files.

use std::ops::Range;

use super::{Layout, Line, PackedF32, Panels};
use crate::isa::{Isa, dispatch};
use crate::{Cpu, LANES, MatRef};

/// The layout of lines: like i16, two bf16 that are adjacent along the depth share a cell.
const LAYOUT: Layout = Layout::I16;

/// Packed bf16 weights `[depth, columns]`, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct PackedBf16<'a> {
    pub(crate) panels: Panels<'a>,
}

/// Packed bf16 weights `[depth, columns]`, owned.
#[derive(Clone, Debug, Default)]
pub struct WeightsBf16 {
    lines: Vec<Line>,
    depth: usize,
    columns: usize,
}

impl PackedBf16<'_> {
    /// Returns the number of inputs, the depth of a product.
    pub fn depth(&self) -> usize {
        self.panels.depth()
    }

    /// Returns the number of outputs, the columns of a product.
    pub fn columns(&self) -> usize {
        self.panels.columns()
    }

    /// Returns the rows `depth`, a part of the depth that must start at an even row.
    pub(crate) fn depth_range(&self, depth: Range<usize>) -> Self {
        Self { panels: self.panels.depth_range(&depth, LAYOUT.cell_depth()) }
    }
}

impl WeightsBf16 {
    /// Replaces the weights by `from`, rounded to the nearest bf16.
    pub fn round(&mut self, cpu: Cpu, from: PackedF32) {
        self.reshape(from.depth(), from.columns());
        dispatch!(bf16 cpu, round_panels(from.panels, &mut self.lines));
    }

    /// Replaces the weights by `rows`, `[depth, columns]`, rounded to the nearest bf16.
    pub fn fill_rows(&mut self, cpu: Cpu, rows: MatRef<f32>) {
        self.reshape(rows.rows(), rows.columns());
        dispatch!(bf16 cpu, round_rows(rows, &mut self.lines));
    }

    /// Returns the weights, borrowed.
    pub fn view(&self) -> PackedBf16<'_> {
        let panels = Panels::new(LAYOUT, &self.lines, self.depth, self.columns);
        PackedBf16 { panels: panels.expect("packed by this type") }
    }

    /// Resizes the lines for weights `[depth, columns]`, without clearing their content.
    fn reshape(&mut self, depth: usize, columns: usize) {
        let count = LAYOUT.lines(depth, columns).expect("weights fit the address space");
        self.lines.resize(count, Line::ZERO);
        (self.depth, self.columns) = (depth, columns);
    }
}

/// Rounds panels of f32: two of their lines become one.
#[inline(always)]
fn round_panels<I: Isa>(isa: I, from: Panels, to: &mut [Line]) {
    let steps = from.depth().div_ceil(2);
    for panel in 0..from.columns().div_ceil(LANES) {
        let lines = from.panel(panel);
        let to = &mut to[panel * steps..][..steps];
        for step in 0..steps {
            let even = isa.load_line(&lines[2 * step]);
            let odd = match lines.get(2 * step + 1) {
                Some(line) => isa.load_line(line),
                None => isa.splat(0.0),
            };
            isa.store_line(isa.zip_bf16(even, odd), &mut to[step]);
        }
    }
}

/// Rounds rows, two of which become a line of each panel.
#[inline(always)]
fn round_rows<I: Isa>(isa: I, from: MatRef<f32>, to: &mut [Line]) {
    let steps = from.rows().div_ceil(2);
    for step in 0..steps {
        let even = from.row(2 * step);
        let odd = if 2 * step + 1 < from.rows() { from.row(2 * step + 1) } else { &[] };
        zip_rows(isa, even, odd, |panel, cells| {
            isa.store_line(cells, &mut to[panel * steps + step]);
        });
    }
}

/// Pairs the numbers of two rows as bf16, and calls `store` with sixteen pairs at a time and their
/// index. If the second row is empty, its numbers are zeros.
#[inline(always)]
pub(crate) fn zip_rows<I: Isa>(
    isa: I,
    even: &[f32],
    odd: &[f32],
    mut store: impl FnMut(usize, I::F),
) {
    let mut from = 0;
    while from < even.len() {
        let end = if from + LANES < even.len() { from + LANES } else { even.len() };
        let second = if odd.is_empty() { odd } else { &odd[from..end] };
        let first = isa.load_partial(&even[from..end], 0.0);
        store(from / LANES, isa.zip_bf16(first, isa.load_partial(second, 0.0)));
        from += LANES;
    }
}
