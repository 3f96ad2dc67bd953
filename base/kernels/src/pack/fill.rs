//! Refilling of packed f32 weights after each update in training.
//!
//! [`WeightsF32::pack`] goes column by column, which is fast enough for a model file. Here memory
//! is reused, and each weight is read and written once. Matrices that need no transposition are
//! copied sixteen numbers at a time. The others are copied in blocks of sixteen by sixteen, which
//! are transposed in registers. The bytes are the same as from `pack`.

use super::{Layout, Line, UnpackedWeights, WeightsF32};
use crate::isa::{Isa, dispatch};
use crate::{Cpu, LANES, MatRef};

/// The number of panels that are written side by side. A row is read in runs of this number of
/// cache lines, and hardware prefetchers follow this number of streams.
const PANELS_AT_ONCE: usize = 4;

/// Lines `[panels, steps]`, and the step and the column at which a part is written.
struct Destination<'a> {
    lines: &'a mut [Line],
    /// The number of lines of a panel.
    steps: usize,
    step: usize,
    column: usize,
}

impl WeightsF32 {
    /// Replaces the weights by `parts` side by side, `[inputs, sum of outputs]`, such as the
    /// matrices of queries, keys and values as one. The bytes are the same as from
    /// [`WeightsF32::pack`] of their concatenation.
    ///
    /// # Panics
    /// If the parts have different inputs, or are too large.
    pub fn fill(&mut self, parts: &[UnpackedWeights<f32>]) {
        let depth = common_depth(parts);
        self.reshape(depth, parts.iter().map(UnpackedWeights::columns).sum());
        let mut column = 0;
        for part in parts {
            let to = Destination { lines: &mut self.lines, steps: depth, step: 0, column };
            to.write(part.values, part.transposed);
            column += part.columns();
        }
    }

    /// Replaces the weights by the transpose of the matrix that [`fill`](WeightsF32::fill) makes of
    /// `parts`: `[sum of outputs, inputs]`. Multiplied by these weights, gradients of outputs
    /// become gradients of inputs.
    ///
    /// # Panics
    /// If the parts have different inputs, or are too large.
    pub fn fill_transposed(&mut self, parts: &[UnpackedWeights<f32>]) {
        let depth = parts.iter().map(UnpackedWeights::columns).sum();
        self.reshape(depth, common_depth(parts));
        let mut step = 0;
        for part in parts {
            let to = Destination { lines: &mut self.lines, steps: depth, step, column: 0 };
            to.write(part.values, !part.transposed);
            step += part.columns();
        }
    }

    /// Replaces the weights by `rows`, `[rows, columns]`, such as the values that belong to the
    /// keys of an attention layer. Every `width` columns start a new panel.
    ///
    /// # Panics
    /// If the number of columns is not a multiple of `width`, or the weights are too large.
    pub fn fill_rows(&mut self, rows: MatRef<f32>, width: usize) {
        assert!(width > 0 && rows.columns().is_multiple_of(width));
        let (parts, padded) = (rows.columns() / width, width.next_multiple_of(LANES));
        let steps = rows.rows();
        self.reshape(steps, parts * padded);
        for part in 0..parts {
            let column = part * padded;
            let to = Destination { lines: &mut self.lines, steps, step: 0, column };
            to.write(rows.column_range(part * width..(part + 1) * width), false);
        }
    }

    /// Resizes the lines for weights `[depth, columns]`, without clearing their content: a part
    /// that starts a line writes all of it, and the parts after it in the line write their cells.
    fn reshape(&mut self, depth: usize, columns: usize) {
        let count = Layout::F32.lines(depth, columns).expect("weights fit the address space");
        self.lines.resize(count, Line::ZERO);
        (self.depth, self.columns) = (depth, columns);
    }
}

/// Returns the number of inputs, which must be the same in all parts.
fn common_depth(parts: &[UnpackedWeights<f32>]) -> usize {
    let depth = parts.first().map_or(0, UnpackedWeights::depth);
    assert!(parts.iter().all(|part| part.depth() == depth), "parts with the same inputs");
    depth
}

impl Destination<'_> {
    /// Writes `values`: `[steps, columns]`, or `[columns, steps]` if transposed.
    fn write(self, values: MatRef<f32>, transposed: bool) {
        // Copies are the same on every instruction set.
        let cpu = Cpu::detect();
        if transposed {
            dispatch!(cpu, write_transposed(self, values));
        } else {
            dispatch!(cpu, write_rows(self, values));
        }
    }

    /// Returns the line of a panel at a step of the part.
    #[inline(always)]
    fn line(&mut self, panel: usize, step: usize) -> &mut Line {
        &mut self.lines[panel * self.steps + self.step + step]
    }
}

#[inline(always)]
fn write_rows<I: Isa>(isa: I, mut to: Destination, values: MatRef<f32>) {
    let mut from = 0;
    while from < values.columns() {
        let (panel, lane) = ((to.column + from) / LANES, (to.column + from) % LANES);
        let rest = values.columns() - from;
        if lane == 0 && rest >= LANES {
            let panels = (rest / LANES).min(PANELS_AT_ONCE);
            for step in 0..values.rows() {
                let row = &values.row(step)[from..from + panels * LANES];
                for p in 0..panels {
                    isa.store_line(isa.load(&row[p * LANES..]), to.line(panel + p, step));
                }
            }
            from += panels * LANES;
        } else {
            let count = rest.min(LANES - lane);
            for step in 0..values.rows() {
                let row = &values.row(step)[from..from + count];
                if lane == 0 {
                    isa.store_line(isa.load_partial(row, 0.0), to.line(panel, step));
                } else {
                    write_cells(to.line(panel, step), lane, row);
                }
            }
            from += count;
        }
    }
}

/// Writes the cells of a line from a lane on.
#[inline(always)]
fn write_cells(line: &mut Line, lane: usize, numbers: &[f32]) {
    for at in 0..numbers.len() {
        *line.cell_mut(lane + at) = numbers[at].to_le_bytes();
    }
}

#[inline(always)]
fn write_transposed<I: Isa>(isa: I, mut to: Destination, values: MatRef<f32>) {
    let steps = values.columns();
    let mut from = 0;
    while from < values.rows() {
        let (panel, lane) = ((to.column + from) / LANES, (to.column + from) % LANES);
        let count = (values.rows() - from).min(LANES - lane);
        for step in (0..steps).step_by(LANES) {
            let part = step..(step + LANES).min(steps);
            let mut rows = [isa.splat(0.0); LANES];
            for r in 0..count {
                rows[r] = isa.load_partial(&values.row(from + r)[part.clone()], 0.0);
            }
            let columns = isa.transpose(rows);
            for at in 0..part.len() {
                let line = to.line(panel, step + at);
                if lane == 0 {
                    isa.store_line(columns[at], line);
                } else {
                    write_cells(line, lane, &isa.to_array(columns[at])[..count]);
                }
            }
        }
        from += count;
    }
}
