//! Tiles, the order in which they are visited, and what follows them.
//!
//! A tile of bytes at depth 256 lasts some six hundred cycles, so what stands around its
//! loop counts: rows lie step by step ([`Interleaved`]), which makes them one stream with
//! one check, and results stay in registers from the last step to the store.

use std::ops::Range;

use super::{Epilogue, Tiling};
use crate::function::{Activation, activate_row};
use crate::isa::{Isa, LANES, Tiles};
use crate::pack::{Line, Panels};
use crate::{Mat, MatMut};

/// Bytes of prepared rows that are multiplied with all weights before the next: what a
/// second-level cache holds beside a few panels.
const SLAB: usize = 256 << 10;

/// The most rows of a tile.
const MOST_ROWS: usize = 6;

/// One of the arithmetics of products, with what its rows and columns are worth.
pub(super) trait Arithmetic: Copy {
    /// What a row has for each line of a panel.
    type Cell: Copy;
    /// Sixteen sums while lines are added.
    type Sums<I: Isa>: Copy;
    /// The lines that are summed before sums are set aside as floats.
    const INTERVAL: usize;

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

/// Where the cells of rows lie.
pub(super) trait Cells: Copy {
    /// What a row has for each line of a panel.
    type Cell: Copy;
    /// The cells of the rows of a tile.
    type Tile<const ROWS: usize>: Copy;

    /// The rows from `row` on.
    fn tile<const ROWS: usize>(&self, row: usize) -> Self::Tile<ROWS>;
    /// Some steps of them.
    fn steps<const ROWS: usize>(tile: &Self::Tile<ROWS>, steps: Range<usize>) -> Self::Tile<ROWS>;
    /// The cell of one of the rows at one of the steps.
    fn cell<const ROWS: usize>(tile: &Self::Tile<ROWS>, row: usize, step: usize) -> &Self::Cell;
}

/// Rows as they came.
impl<'a, T: Copy> Cells for Mat<'a, T> {
    type Cell = T;
    type Tile<const ROWS: usize> = [&'a [T]; ROWS];

    #[inline(always)]
    fn tile<const ROWS: usize>(&self, row: usize) -> [&'a [T]; ROWS] {
        let mut tile: [&[T]; ROWS] = [&[]; ROWS];
        for (r, cells) in tile.iter_mut().enumerate() {
            *cells = self.row(row + r);
        }
        tile
    }
    #[inline(always)]
    fn steps<const ROWS: usize>(tile: &[&'a [T]; ROWS], steps: Range<usize>) -> [&'a [T]; ROWS] {
        let mut tile = *tile;
        for cells in &mut tile {
            *cells = &cells[steps.clone()];
        }
        tile
    }
    #[inline(always)]
    fn cell<'t, const ROWS: usize>(tile: &'t [&'a [T]; ROWS], row: usize, step: usize) -> &'t T {
        &tile[row][step]
    }
}

/// Rows whose cells were written for the tiles of [`Blocks`]: all rows of a tile at one step,
/// then those at the next.
#[derive(Clone, Copy)]
pub(super) struct Interleaved<'a, T> {
    pub cells: &'a [T],
    pub steps: usize,
}

impl<'a, T: Copy> Cells for Interleaved<'a, T> {
    type Cell = T;
    type Tile<const ROWS: usize> = &'a [[T; ROWS]];

    #[inline(always)]
    fn tile<const ROWS: usize>(&self, row: usize) -> &'a [[T; ROWS]] {
        self.cells[row * self.steps..][..ROWS * self.steps].as_chunks().0
    }
    #[inline(always)]
    fn steps<const ROWS: usize>(tile: &&'a [[T; ROWS]], steps: Range<usize>) -> &'a [[T; ROWS]] {
        &tile[steps]
    }
    #[inline(always)]
    fn cell<'t, const ROWS: usize>(tile: &'t &'a [[T; ROWS]], row: usize, step: usize) -> &'t T {
        &tile[step][row]
    }
}

/// Writes the cells of one row of a tile of so many.
#[inline(always)]
pub(super) fn interleave<T: Copy>(row: &[T], rows: usize, place: usize, into: &mut [T]) {
    for (cells, cell) in into.chunks_exact_mut(rows).zip(row) {
        cells[place] = *cell;
    }
}

/// Which rows make a tile: as even as they go, the first few having one more.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    count: usize,
    least: usize,
    more: usize,
}

impl Blocks {
    /// So many rows in tiles of at most as many as the tiling says.
    #[inline(always)]
    pub(super) fn new<I: Isa>(rows: usize, tiling: Tiling) -> Self {
        let most = if I::TILES == Tiles::One { 1 } else { tiling.rows.min(MOST_ROWS) };
        let count = rows.div_ceil(most);
        Self { count, least: rows / count.max(1), more: rows % count.max(1) }
    }

    /// Their rows, tile by tile.
    pub(super) fn ranges(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.count).map(move |block| self.start(block)..self.start(block + 1))
    }

    #[inline(always)]
    fn start(self, block: usize) -> usize {
        block * self.least + block.min(self.more)
    }

    /// The most rows that a tile has.
    fn most(self) -> usize {
        self.least + usize::from(self.more > 0)
    }
}

/// Where a product reads and writes.
pub(super) struct Call<'a, 'b, A, C> {
    pub arithmetic: A,
    pub cells: C,
    pub blocks: Blocks,
    pub panels: Panels<'a>,
    pub epilogue: Epilogue<'b>,
    pub out: MatMut<'b, f32>,
}

/// Tiles of one size: some blocks, one after another, for each of some groups of panels.
struct Tiled {
    /// The first row.
    row: usize,
    blocks: usize,
    /// The first panel.
    panel: usize,
    groups: usize,
}

impl<A: Arithmetic, C: Cells<Cell = A::Cell>> Call<'_, '_, A, C> {
    /// Does the product.
    pub(super) fn multiply<I: Isa>(mut self, isa: I, tiling: Tiling) {
        let blocks = self.blocks;
        let shape = (blocks.start(blocks.count), self.panels.columns());
        assert_eq!(shape, (self.out.rows(), self.out.columns()));
        self.epilogue.check(&self.out);
        if let Some(largest) = &mut self.epilogue.largest {
            largest.fill(0.0);
        }
        let block_bytes = blocks.most() * self.panels.steps() * size_of::<A::Cell>();
        let slab = (SLAB / block_bytes.max(1)).max(8);
        let panels = self.panels.columns().div_ceil(LANES);
        let at_once = at_once::<I>(blocks.most()).min(tiling.panels);
        for first in (0..blocks.count).step_by(slab) {
            let last = (first + slab).min(blocks.count);
            // Blocks with one more row, and the others.
            let middle = blocks.more.clamp(first, last);
            let mut panel = 0;
            // The last panels are too few for a group of the usual size.
            for group in [at_once, at_once.min(of_rest::<I>(blocks.most())), 1] {
                let groups = (panels - panel) / group;
                // Rows of one tile take all panels in turn; else all rows take each panel.
                let run = if last - first == 1 { groups.max(1) } else { 1 };
                for _ in (0..groups).step_by(run) {
                    for (first, last) in [(first, middle), (middle, last)] {
                        if first < last {
                            let row = blocks.start(first);
                            let rows = blocks.start(first + 1) - row;
                            let tiled = Tiled { row, blocks: last - first, panel, groups: run };
                            self.tiles(isa, rows, group, tiled);
                        }
                    }
                    panel += run * group;
                }
            }
        }
    }

    /// Does tiles of so many rows and so many panels.
    #[inline(always)]
    fn tiles<I: Isa>(&mut self, isa: I, rows: usize, group: usize, tiled: Tiled) {
        // Which tiles exist is known to the compiler: others are not compiled.
        match (rows, group) {
            (1, 1) => self.tile::<I, 1, 1>(isa, tiled),
            (1, 2) if I::TILES != Tiles::One => self.tile::<I, 1, 2>(isa, tiled),
            (1, 4) if I::TILES != Tiles::One => self.tile::<I, 1, 4>(isa, tiled),
            (2, 2) if I::TILES == Tiles::Narrow => self.tile::<I, 2, 2>(isa, tiled),
            (2, 1) if I::TILES != Tiles::One => self.tile::<I, 2, 1>(isa, tiled),
            (3, 1) if I::TILES != Tiles::One => self.tile::<I, 3, 1>(isa, tiled),
            (4, 1) if I::TILES != Tiles::One => self.tile::<I, 4, 1>(isa, tiled),
            (5, 1) if I::TILES != Tiles::One => self.tile::<I, 5, 1>(isa, tiled),
            (6, 1) if I::TILES != Tiles::One => self.tile::<I, 6, 1>(isa, tiled),
            (2, 4) if I::TILES == Tiles::Wide => self.tile::<I, 2, 4>(isa, tiled),
            (3, 4) if I::TILES == Tiles::Wide => self.tile::<I, 3, 4>(isa, tiled),
            (4, 4) if I::TILES == Tiles::Wide => self.tile::<I, 4, 4>(isa, tiled),
            (5, 4) if I::TILES == Tiles::Wide => self.tile::<I, 5, 4>(isa, tiled),
            (6, 4) if I::TILES == Tiles::Wide => self.tile::<I, 6, 4>(isa, tiled),
            shape => unreachable!("no tile of {shape:?} is asked for"),
        }
    }

    /// Does some tiles of one shape. Not inlined: it runs for hundreds of cycles, and there
    /// are many of it.
    #[inline(never)]
    fn tile<I: Isa, const ROWS: usize, const PANELS: usize>(&mut self, isa: I, tiled: Tiled) {
        isa.run(
            #[inline(always)]
            |isa| {
                for group in 0..tiled.groups {
                    let panel = tiled.panel + group * PANELS;
                    for block in 0..tiled.blocks {
                        let row = tiled.row + block * ROWS;
                        let sums = self.sums::<I, ROWS, PANELS>(isa, row, panel);
                        self.finish::<I, ROWS, PANELS>(isa, sums, row, panel);
                    }
                }
            },
        )
    }

    /// Multiplies a tile.
    #[inline(always)]
    fn sums<I: Isa, const ROWS: usize, const PANELS: usize>(
        &self,
        isa: I,
        row: usize,
        panel: usize,
    ) -> [[I::F; PANELS]; ROWS] {
        let steps = self.panels.steps();
        let cells = self.cells.tile::<ROWS>(row);
        let mut lines: [&[Line]; PANELS] = [&[]; PANELS];
        for (p, lines) in lines.iter_mut().enumerate() {
            *lines = self.panels.panel(panel + p);
        }
        let mut sums = [[A::again(isa); PANELS]; ROWS];
        for (r, sums) in sums.iter_mut().enumerate() {
            for (p, sums) in sums.iter_mut().enumerate() {
                *sums = self.arithmetic.start(isa, row + r, panel + p);
            }
        }
        let mut from = A::INTERVAL.min(steps);
        sums = along::<I, A, C, ROWS, PANELS>(isa, &cells, &lines, 0..from, sums);
        let mut whole = [[isa.splat(0.0); PANELS]; ROWS];
        for r in 0..ROWS {
            for p in 0..PANELS {
                whole[r][p] = A::floats(isa, sums[r][p]);
            }
        }
        while from < steps {
            let part = from..(from + A::INTERVAL).min(steps);
            from = part.end;
            sums = [[A::again(isa); PANELS]; ROWS];
            sums = along::<I, A, C, ROWS, PANELS>(isa, &cells, &lines, part, sums);
            for r in 0..ROWS {
                for p in 0..PANELS {
                    whole[r][p] = isa.add(whole[r][p], A::floats(isa, sums[r][p]));
                }
            }
        }
        whole
    }

    /// Scales the sums of a tile and does what the epilogue says.
    #[inline(always)]
    fn finish<I: Isa, const ROWS: usize, const PANELS: usize>(
        &mut self,
        isa: I,
        sums: [[I::F; PANELS]; ROWS],
        row: usize,
        panel: usize,
    ) {
        for p in 0..PANELS {
            let columns = (panel + p) * LANES..((panel + p + 1) * LANES).min(self.out.columns());
            let Epilogue { bias, residual, activation, largest } = &mut self.epilogue;
            let scales = self.arithmetic.column_scales(isa, panel + p);
            let mut values = [isa.splat(0.0); ROWS];
            for r in 0..ROWS {
                values[r] = self.arithmetic.scale(isa, sums[r][p], row + r, scales);
            }
            if let Some(bias) = bias {
                let bias = isa.load_part(&bias[columns.clone()], 0.0);
                for value in &mut values {
                    *value = isa.add(*value, bias);
                }
            }
            if let Some(residual) = residual {
                for (r, value) in values.iter_mut().enumerate() {
                    let residual = &residual.row(row + r)[columns.clone()];
                    *value = isa.add(*value, isa.load_part(residual, 0.0));
                }
            }
            if *activation == Activation::Relu {
                for value in &mut values {
                    // In this order what is not a number stays that.
                    *value = isa.max(isa.splat(0.0), *value);
                }
            }
            if activation.is_cheap()
                && let Some(largest) = largest
            {
                for (value, largest) in values.iter().zip(&mut largest[row..row + ROWS]) {
                    // Lanes past the last column are sums of zeros.
                    *largest = larger(*largest, isa.largest_abs(isa.abs(*value)));
                }
            }
            for (r, value) in values.into_iter().enumerate() {
                isa.store_part(value, self.out.part(row + r, columns.clone()));
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
            let of_tile = activate_row(isa, *activation, self.out.part(row, columns.clone()));
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

/// How many panels a tile of so many rows takes: as many as there are registers for.
fn at_once<I: Isa>(rows: usize) -> usize {
    match (I::TILES, rows) {
        (Tiles::One, _) => 1,
        (Tiles::Wide, _) | (Tiles::Narrow, ..=1) => 4,
        (Tiles::Narrow, 2) => 2,
        (Tiles::Narrow, _) => 1,
    }
}

/// Panels at once among those that are left over: a single row, as attention has, is bound by
/// the latency of its sums.
fn of_rest<I: Isa>(rows: usize) -> usize {
    if I::TILES != Tiles::One && rows <= 1 { 2 } else { 1 }
}

/// The sums of a tile after these steps.
#[inline(always)]
fn along<
    I: Isa,
    A: Arithmetic,
    C: Cells<Cell = A::Cell>,
    const ROWS: usize,
    const PANELS: usize,
>(
    isa: I,
    cells: &C::Tile<ROWS>,
    lines: &[&[Line]; PANELS],
    steps: Range<usize>,
    mut sums: [[A::Sums<I>; PANELS]; ROWS],
) -> [[A::Sums<I>; PANELS]; ROWS] {
    // The same length for all, so that the loop checks it once.
    let cells = C::steps::<ROWS>(cells, steps.clone());
    let mut lines = *lines;
    for lines in &mut lines {
        *lines = &lines[steps.clone()];
    }
    for step in 0..steps.len() {
        for r in 0..ROWS {
            let cell = C::cell::<ROWS>(&cells, r, step);
            for p in 0..PANELS {
                sums[r][p] = A::step(isa, sums[r][p], cell, &lines[p][step]);
            }
        }
    }
    sums
}
