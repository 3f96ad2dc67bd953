//! Tiles, the order in which they are visited, and what follows them.

use std::ops::Range;

use super::{Epilogue, Tiling};
use crate::function::{Activation, activate_row};
use crate::isa::{Isa, LANES, Tiles};
use crate::pack::{Line, Panels};
use crate::{Mat, MatMut};

/// Bytes of prepared rows that are multiplied with all weights before the next: what a
/// second-level cache holds beside a few panels.
const SLAB: usize = 256 << 10;

/// One of the arithmetics of products, with what its rows and columns are worth.
pub(super) trait Arithmetic: Copy {
    /// What a row has for each line of a panel.
    type Cell: Copy;
    /// Sixteen sums while lines are added.
    type Sums<I: Isa>: Copy;

    /// The lines that may be summed before sums must be set aside as floats.
    fn interval(&self) -> usize;
    /// Sums before the first line.
    fn start<I: Isa>(&self, isa: I, row: usize, panel: usize) -> Self::Sums<I>;
    /// Sums after they were set aside.
    fn again<I: Isa>(isa: I) -> Self::Sums<I>;
    /// Sums with one more line. The cell comes as a reference: as a value, two words of it
    /// are loaded as one and taken apart again, at half the speed.
    fn step<I: Isa>(isa: I, sums: Self::Sums<I>, cell: &Self::Cell, line: &Line) -> Self::Sums<I>;
    /// Sums as floats.
    fn floats<I: Isa>(isa: I, sums: Self::Sums<I>) -> I::F;
    /// What a unit of each column of a panel is worth.
    fn column_scales<I: Isa>(&self, isa: I, panel: usize) -> I::F;
    /// Whole sums in the units of the result.
    fn scale<I: Isa>(&self, isa: I, sums: I::F, row: usize, columns: I::F) -> I::F;
}

/// Where a product reads and writes.
pub(super) struct Call<'a, 'b, A: Arithmetic> {
    pub arithmetic: A,
    pub cells: Mat<'a, A::Cell>,
    pub panels: Panels<'a>,
    pub epilogue: Epilogue<'b>,
    pub out: MatMut<'b, f32>,
}

impl<A: Arithmetic> Call<'_, '_, A> {
    /// Does the product.
    pub(super) fn multiply<I: Isa>(mut self, isa: I, tiling: Tiling) {
        let rows = self.cells.rows();
        assert_eq!((rows, self.panels.columns()), (self.out.rows(), self.out.columns()));
        self.epilogue.check(&self.out);
        if let Some(largest) = &mut self.epilogue.largest {
            largest.fill(0.0);
        }
        let row_bytes = self.panels.steps() * size_of::<A::Cell>();
        let slab = (SLAB / row_bytes.max(1)).max(8 * tiling.rows);
        let panels = self.panels.columns().div_ceil(LANES);
        let mut sums = [[0.0; LANES]; MOST];
        for first in (0..rows).step_by(slab) {
            let slab = first..(first + slab).min(rows);
            let blocks = slab.len().div_ceil(most_rows::<I>().min(tiling.rows));
            let at_once = at_once::<I>(slab.len().div_ceil(blocks)).min(tiling.panels);
            // Rows of a tile, of which the first few have one more.
            let (least, more) = (slab.len() / blocks, slab.len() % blocks);
            // The last panels are too few for a group of the usual size.
            let groups = panels / at_once;
            for (from, group, groups) in
                [(0, at_once, groups), (groups * at_once, 1, panels % at_once)]
            {
                // Rows of one tile take all panels in turn.
                let run = if blocks == 1 { groups.max(1) } else { 1 };
                for index in (0..groups).step_by(run) {
                    let mut row = slab.start;
                    for block in 0..blocks {
                        let rows = row..row + least + usize::from(block < more);
                        row = rows.end;
                        self.block(isa, rows, from + index * group, group, run, &mut sums);
                    }
                }
            }
        }
    }

    /// So many tiles of the rows and of `group` panels, from `panel` on.
    #[inline(always)]
    fn block<I: Isa>(
        &mut self,
        isa: I,
        rows: Range<usize>,
        panel: usize,
        group: usize,
        count: usize,
        sums: &mut [[f32; LANES]; MOST],
    ) {
        let (row, out) = (rows.start, sums);
        // Which tiles exist is known to the compiler: others are not compiled.
        match (rows.len(), group) {
            (1, 1) => self.tile::<I, 1, 1>(isa, row, panel, count, out),
            (1, 4) if I::TILES != Tiles::One => self.tile::<I, 1, 4>(isa, row, panel, count, out),
            (2, 2) if I::TILES == Tiles::Narrow => {
                self.tile::<I, 2, 2>(isa, row, panel, count, out)
            }
            (2, 1) if I::TILES != Tiles::One => self.tile::<I, 2, 1>(isa, row, panel, count, out),
            (3, 1) if I::TILES != Tiles::One => self.tile::<I, 3, 1>(isa, row, panel, count, out),
            (4, 1) if I::TILES != Tiles::One => self.tile::<I, 4, 1>(isa, row, panel, count, out),
            (5, 1) if I::TILES != Tiles::One => self.tile::<I, 5, 1>(isa, row, panel, count, out),
            (6, 1) if I::TILES != Tiles::One => self.tile::<I, 6, 1>(isa, row, panel, count, out),
            (2, 4) if I::TILES == Tiles::Wide => self.tile::<I, 2, 4>(isa, row, panel, count, out),
            (3, 4) if I::TILES == Tiles::Wide => self.tile::<I, 3, 4>(isa, row, panel, count, out),
            (4, 4) if I::TILES == Tiles::Wide => self.tile::<I, 4, 4>(isa, row, panel, count, out),
            (5, 4) if I::TILES == Tiles::Wide => self.tile::<I, 5, 4>(isa, row, panel, count, out),
            (6, 4) if I::TILES == Tiles::Wide => self.tile::<I, 6, 4>(isa, row, panel, count, out),
            shape => unreachable!("no tile of {shape:?} is asked for"),
        }
    }

    /// Does some tiles of one shape. Not inlined: it runs for hundreds of cycles, and there
    /// are many of it.
    #[inline(never)]
    fn tile<I: Isa, const ROWS: usize, const PANELS: usize>(
        &mut self,
        isa: I,
        row: usize,
        panel: usize,
        count: usize,
        out: &mut [[f32; LANES]; MOST],
    ) {
        isa.run(
            #[inline(always)]
            |isa| {
                for index in 0..count {
                    let panel = panel + index * PANELS;
                    self.tile_in::<I, ROWS, PANELS>(isa, row, panel, out);
                    self.finish::<I, ROWS, PANELS>(isa, out, row, panel);
                }
            },
        )
    }

    /// Multiplies a tile and stores its sums, row by row.
    #[inline(always)]
    fn tile_in<I: Isa, const ROWS: usize, const PANELS: usize>(
        &self,
        isa: I,
        row: usize,
        panel: usize,
        out: &mut [[f32; LANES]; MOST],
    ) {
        let steps = self.panels.steps();
        let interval = self.arithmetic.interval();
        let mut cells: [&[A::Cell]; ROWS] = [&[]; ROWS];
        let mut lines: [&[Line]; PANELS] = [&[]; PANELS];
        let mut sums = [[A::again(isa); PANELS]; ROWS];
        for (r, (cells, sums)) in cells.iter_mut().zip(&mut sums).enumerate() {
            *cells = self.cells.row(row + r);
            for (p, sums) in sums.iter_mut().enumerate() {
                *sums = self.arithmetic.start(isa, row + r, panel + p);
            }
        }
        for (p, lines) in lines.iter_mut().enumerate() {
            *lines = self.panels.panel(panel + p);
        }
        if steps <= interval {
            sums = along::<I, A, ROWS, PANELS>(isa, &cells, &lines, 0..steps, sums);
            for r in 0..ROWS {
                for p in 0..PANELS {
                    isa.store(A::floats(isa, sums[r][p]), &mut out[r * PANELS + p]);
                }
            }
            return;
        }
        for from in (0..steps).step_by(interval) {
            let steps = from..steps.min(from + interval);
            sums = along::<I, A, ROWS, PANELS>(isa, &cells, &lines, steps, sums);
            for r in 0..ROWS {
                for p in 0..PANELS {
                    let out = &mut out[r * PANELS + p];
                    let part = A::floats(isa, sums[r][p]);
                    let all = if from == 0 { part } else { isa.add(isa.load(out), part) };
                    isa.store(all, out);
                }
            }
            sums = [[A::again(isa); PANELS]; ROWS];
        }
    }

    /// Scales the sums of a tile and does what the epilogue says.
    #[inline(always)]
    fn finish<I: Isa, const ROWS: usize, const PANELS: usize>(
        &mut self,
        isa: I,
        sums: &[[f32; LANES]; MOST],
        row: usize,
        panel: usize,
    ) {
        for p in 0..PANELS {
            let columns = (panel + p) * LANES..((panel + p + 1) * LANES).min(self.out.columns());
            let Epilogue { bias, residual, activation, largest } = &mut self.epilogue;
            let scales = self.arithmetic.column_scales(isa, panel + p);
            let bias = bias.map(
                #[inline(always)]
                |bias| isa.load_part(&bias[columns.clone()], 0.0),
            );
            for r in 0..ROWS {
                let row = row + r;
                let sums = isa.load(&sums[r * PANELS + p]);
                let mut value = self.arithmetic.scale(isa, sums, row, scales);
                if let Some(bias) = bias {
                    value = isa.add(value, bias);
                }
                if let Some(residual) = residual {
                    let residual = &residual.row(row)[columns.clone()];
                    value = isa.add(value, isa.load_part(residual, 0.0));
                }
                if *activation == Activation::Relu {
                    // In this order what is not a number stays that.
                    value = isa.max(isa.splat(0.0), value);
                }
                if activation.is_cheap()
                    && let Some(largest) = largest
                {
                    // Lanes past the last column are sums of zeros.
                    largest[row] = larger(largest[row], isa.largest_abs(isa.abs(value)));
                }
                isa.store_part(value, &mut self.out.row(row)[columns.clone()]);
            }
        }
        if !self.epilogue.activation.is_cheap() {
            self.activate(isa, row..row + ROWS, panel, PANELS);
        }
    }

    /// Applies the activation to the panels of a tile.
    #[inline(always)]
    fn activate<I: Isa>(&mut self, isa: I, rows: Range<usize>, panel: usize, group: usize) {
        let columns = panel * LANES..((panel + group) * LANES).min(self.out.columns());
        let Epilogue { activation, largest, .. } = &mut self.epilogue;
        for row in rows {
            let out = &mut self.out.row(row)[columns.clone()];
            let of_tile = activate_row(isa, *activation, out);
            if let Some(largest) = largest {
                largest[row] = larger(largest[row], of_tile);
            }
        }
    }
}

/// The larger of two magnitudes; what is not a number is larger than any.
fn larger(a: f32, b: f32) -> f32 {
    if a.is_nan() || a > b { a } else { b }
}

/// Sums of the largest tile.
const MOST: usize = 24;

/// The most rows of a tile.
fn most_rows<I: Isa>() -> usize {
    if I::TILES == Tiles::One { 1 } else { 6 }
}

/// How many panels a tile of so many rows takes: as many as there are registers for.
fn at_once<I: Isa>(rows: usize) -> usize {
    match (I::TILES, rows) {
        (Tiles::One, _) => 1,
        (Tiles::Wide, _) | (Tiles::Narrow, 1) => 4,
        (Tiles::Narrow, 2) => 2,
        (Tiles::Narrow, _) => 1,
    }
}

/// The sums of a tile after these steps.
#[inline(always)]
fn along<I: Isa, A: Arithmetic, const ROWS: usize, const PANELS: usize>(
    isa: I,
    cells: &[&[A::Cell]; ROWS],
    lines: &[&[Line]; PANELS],
    steps: Range<usize>,
    mut sums: [[A::Sums<I>; PANELS]; ROWS],
) -> [[A::Sums<I>; PANELS]; ROWS] {
    let (mut cells, mut lines) = (*cells, *lines);
    // The same length for all, so that the loop checks it once.
    for cells in &mut cells {
        *cells = &cells[steps.clone()];
    }
    for lines in &mut lines {
        *lines = &lines[steps.clone()];
    }
    for step in 0..steps.len() {
        for r in 0..ROWS {
            let cell = &cells[r][step];
            for p in 0..PANELS {
                sums[r][p] = A::step(isa, sums[r][p], cell, &lines[p][step]);
            }
        }
    }
    sums
}
