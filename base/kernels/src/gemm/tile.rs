//! Tiles, their order, and their epilogue.
//!
//! A tile of bytes at depth 256 takes some six hundred cycles, so the code around its loop matters.
//! Rows are interleaved by step ([`Interleaved`]), which makes them one stream with one bounds
//! check. Results stay in registers from the last step to the store.

use std::ops::Range;

use super::{Epilogue, Tiling};
use crate::activation::{Activation, activate_row};
use crate::isa::{Isa, LANES, RegisterBlocking};
use crate::pack::{Line, Panels};
use crate::{MatMut, MatRef};

/// The bytes of a slab of prepared rows, which is multiplied with all weights before the next slab.
/// It fits in a second-level cache together with a few panels.
const CACHE_BLOCK_BYTES: usize = 256 << 10;

/// The largest number of rows of a tile.
const MAX_TILE_ROWS: usize = 6;

/// The arithmetic of a GEMM, with the scales of its rows and columns.
pub(super) trait Arithmetic: Copy {
    /// The operand of a row for one line of a panel.
    type Cell: Copy;
    /// Sixteen sums while lines are added.
    type Accumulators<I: Isa>: Copy;
    /// The number of lines after which accumulators are converted to floats and zeroed.
    const FLUSH_STEPS: usize;
    /// Whether the epilogue is compiled into each shape of tiles. Tiles of bytes are so short that
    /// a call costs them 5 %. The loops of other arithmetics are compiled better for AVX-512 if the
    /// epilogue is not inlined. In every arithmetic, an activation that is not fused is a call.
    const INLINE_EPILOGUE: bool;

    /// Returns the sums before the first line.
    fn initial_sums<I: Isa>(&self, isa: I, row: usize, panel: usize) -> Self::Accumulators<I>;
    /// Returns the sums after a flush.
    fn zero_sums<I: Isa>(isa: I) -> Self::Accumulators<I>;
    /// Returns the sums with one more line. The cell is passed by reference: by value, two words of
    /// it are loaded as one and split again, at half the speed.
    fn accumulate<I: Isa>(
        isa: I,
        sums: Self::Accumulators<I>,
        cell: &Self::Cell,
        line: &Line,
    ) -> Self::Accumulators<I>;
    /// Returns sums as floats.
    fn to_f32<I: Isa>(isa: I, sums: Self::Accumulators<I>) -> I::F;
    /// Returns the scale of each column of a panel.
    fn column_scales<I: Isa>(&self, isa: I, panel: usize) -> I::F;
    /// Returns the sums times the scales of their row and columns.
    fn dequantize<I: Isa>(&self, isa: I, sums: I::F, row: usize, columns: I::F) -> I::F;
}

/// The layout of the cells of rows.
pub(super) trait RowCells: Copy {
    /// The operand of a row for one line of a panel.
    type Cell: Copy;
    /// The cells of the rows of a tile.
    type Tile<const ROWS: usize>: Copy;

    /// Returns the tile of the rows from `row` on.
    fn tile<const ROWS: usize>(&self, row: usize) -> Self::Tile<ROWS>;
    /// Returns some steps of a tile.
    fn steps<const ROWS: usize>(tile: &Self::Tile<ROWS>, steps: Range<usize>) -> Self::Tile<ROWS>;
    /// Returns the cell of one of the rows at one of the steps.
    fn cell<const ROWS: usize>(tile: &Self::Tile<ROWS>, row: usize, step: usize) -> &Self::Cell;
}

/// Rows that are not interleaved.
impl<'a, T: Copy> RowCells for MatRef<'a, T> {
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

/// Rows whose cells are interleaved for the tiles of [`RowBlocks`]: the cells of all rows of a tile
/// at one step, then the cells at the next step.
#[derive(Clone, Copy)]
pub(super) struct Interleaved<'a, T> {
    pub cells: &'a [T],
    pub steps: usize,
}

impl<'a, T: Copy> RowCells for Interleaved<'a, T> {
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

/// Writes the cells of `row` as row `row_of_tile` of a tile of `rows` rows.
#[inline(always)]
pub(super) fn interleave_row<T: Copy>(row: &[T], rows: usize, row_of_tile: usize, into: &mut [T]) {
    for (cells, cell) in into.chunks_exact_mut(rows).zip(row) {
        cells[row_of_tile] = *cell;
    }
}

/// The division of rows into tiles of about equal size: the first ones can have one row more.
#[derive(Clone, Copy)]
pub(super) struct RowBlocks {
    count: usize,
    min_rows: usize,
    larger_blocks: usize,
}

impl RowBlocks {
    /// Divides `rows` rows into tiles of at most the size that `tiling` gives.
    #[inline(always)]
    pub(super) fn new<I: Isa>(rows: usize, tiling: Tiling) -> Self {
        let most = if I::REGISTER_BLOCKING == RegisterBlocking::One {
            1
        } else {
            tiling.rows.min(MAX_TILE_ROWS)
        };
        let count = rows.div_ceil(most);
        Self { count, min_rows: rows / count.max(1), larger_blocks: rows % count.max(1) }
    }

    /// Returns the rows of each tile.
    pub(super) fn ranges(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.count).map(move |block| self.start(block)..self.start(block + 1))
    }

    #[inline(always)]
    fn start(self, block: usize) -> usize {
        block * self.min_rows + block.min(self.larger_blocks)
    }

    /// Returns the number of tiles with one row more than the others, and the number of rows of
    /// each.
    pub(super) fn larger_blocks(self) -> (usize, usize) {
        (self.larger_blocks, self.min_rows + 1)
    }

    /// Returns the number of rows of each of the other tiles.
    pub(super) fn smaller_rows(self) -> usize {
        self.min_rows
    }

    /// Returns the number of rows of the largest tile.
    fn max_rows(self) -> usize {
        self.min_rows + usize::from(self.larger_blocks > 0)
    }
}

/// The operands, the epilogue and the result of a GEMM.
pub(super) struct Gemm<'a, 'b, A, C> {
    pub arithmetic: A,
    pub cells: C,
    pub blocks: RowBlocks,
    pub panels: Panels<'a>,
    pub epilogue: Epilogue<'b>,
    pub out: MatMut<'b, f32>,
}

/// Tiles of one size: consecutive blocks of rows by consecutive groups of panels.
struct TileGrid {
    /// The first row.
    row: usize,
    blocks: usize,
    /// The first panel.
    panel: usize,
    groups: usize,
}

impl<A: Arithmetic, C: RowCells<Cell = A::Cell>> Gemm<'_, '_, A, C> {
    /// Computes the GEMM.
    pub(super) fn multiply<I: Isa>(mut self, isa: I, tiling: Tiling) {
        let blocks = self.blocks;
        let shape = (blocks.start(blocks.count), self.panels.columns());
        assert_eq!(shape, (self.out.rows(), self.out.columns()));
        self.epilogue.check(&self.out);
        if let Some(largest) = &mut self.epilogue.absmax {
            largest.fill(0.0);
        }
        let block_bytes = blocks.max_rows() * self.panels.steps() * size_of::<A::Cell>();
        let slab = (CACHE_BLOCK_BYTES / block_bytes.max(1)).max(8);
        let panels = self.panels.columns().div_ceil(LANES);
        let at_once = max_panels::<I>(blocks.max_rows()).min(tiling.panels);
        for first in (0..blocks.count).step_by(slab) {
            let last = (first + slab).min(blocks.count);
            // Blocks before `middle` have one row more than the others.
            let middle = blocks.larger_blocks.clamp(first, last);
            let mut panel = 0;
            // The last panels are too few for a group of the usual size.
            for group in [at_once, at_once.min(remainder_panels::<I>(blocks.max_rows())), 1] {
                let groups = (panels - panel) / group;
                // A single tile of rows is multiplied with all groups of panels in one call. If
                // there are more tiles, all are multiplied with one group before the next group.
                let run = if last - first == 1 { groups.max(1) } else { 1 };
                for _ in (0..groups).step_by(run) {
                    for (first, last) in [(first, middle), (middle, last)] {
                        if first < last {
                            let row = blocks.start(first);
                            let rows = blocks.start(first + 1) - row;
                            let tiled = TileGrid { row, blocks: last - first, panel, groups: run };
                            self.run_tiles(isa, rows, group, tiled);
                        }
                    }
                    panel += run * group;
                }
            }
        }
    }

    /// Computes tiles of `rows` rows and `group` panels.
    #[inline(always)]
    fn run_tiles<I: Isa>(&mut self, isa: I, rows: usize, group: usize, tiled: TileGrid) {
        let is_blocked = I::REGISTER_BLOCKING != RegisterBlocking::One;
        let is_wide = I::REGISTER_BLOCKING == RegisterBlocking::Wide;
        // Only the tile shapes listed here are compiled.
        match (rows, group) {
            (1, 1) => self.run_tile::<I, 1, 1>(isa, tiled),
            (1, 2) if is_blocked => self.run_tile::<I, 1, 2>(isa, tiled),
            (1, 4) if is_blocked => self.run_tile::<I, 1, 4>(isa, tiled),
            (2, 2) if is_blocked => self.run_tile::<I, 2, 2>(isa, tiled),
            (2, 1) if is_blocked => self.run_tile::<I, 2, 1>(isa, tiled),
            (3, 1) if is_blocked => self.run_tile::<I, 3, 1>(isa, tiled),
            (4, 1) if is_blocked => self.run_tile::<I, 4, 1>(isa, tiled),
            (5, 1) if is_blocked => self.run_tile::<I, 5, 1>(isa, tiled),
            (6, 1) if is_blocked => self.run_tile::<I, 6, 1>(isa, tiled),
            (3, 2) if is_wide => self.run_tile::<I, 3, 2>(isa, tiled),
            (4, 2) if is_wide => self.run_tile::<I, 4, 2>(isa, tiled),
            (5, 2) if is_wide => self.run_tile::<I, 5, 2>(isa, tiled),
            (6, 2) if is_wide => self.run_tile::<I, 6, 2>(isa, tiled),
            (2, 4) if is_wide => self.run_tile::<I, 2, 4>(isa, tiled),
            (3, 4) if is_wide => self.run_tile::<I, 3, 4>(isa, tiled),
            (4, 4) if is_wide => self.run_tile::<I, 4, 4>(isa, tiled),
            (5, 4) if is_wide => self.run_tile::<I, 5, 4>(isa, tiled),
            (6, 4) if is_wide => self.run_tile::<I, 6, 4>(isa, tiled),
            shape => unreachable!("no tile has the shape {shape:?}"),
        }
    }

    /// Computes tiles of one shape. Not inlined: it runs for hundreds of cycles, and there
    /// are many instances of it.
    #[inline(never)]
    fn run_tile<I: Isa, const ROWS: usize, const PANELS: usize>(
        &mut self,
        isa: I,
        tiled: TileGrid,
    ) {
        isa.run(
            #[inline(always)]
            |isa| {
                for group in 0..tiled.groups {
                    let panel = tiled.panel + group * PANELS;
                    for block in 0..tiled.blocks {
                        let row = tiled.row + block * ROWS;
                        let sums = self.accumulate_tile::<I, ROWS, PANELS>(isa, row, panel);
                        self.apply_epilogue::<I, ROWS, PANELS>(isa, sums, row, panel);
                    }
                }
            },
        )
    }

    /// Returns the sums of a tile, without scales.
    #[inline(always)]
    fn accumulate_tile<I: Isa, const ROWS: usize, const PANELS: usize>(
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
        let mut sums = [[A::zero_sums(isa); PANELS]; ROWS];
        for (r, sums) in sums.iter_mut().enumerate() {
            for (p, sums) in sums.iter_mut().enumerate() {
                *sums = self.arithmetic.initial_sums(isa, row + r, panel + p);
            }
        }
        let mut from = A::FLUSH_STEPS.min(steps);
        sums = accumulate_steps::<I, A, C, ROWS, PANELS>(isa, &cells, &lines, 0..from, sums);
        let mut totals = [[isa.splat(0.0); PANELS]; ROWS];
        for r in 0..ROWS {
            for p in 0..PANELS {
                totals[r][p] = A::to_f32(isa, sums[r][p]);
            }
        }
        while from < steps {
            let part = from..(from + A::FLUSH_STEPS).min(steps);
            from = part.end;
            sums = [[A::zero_sums(isa); PANELS]; ROWS];
            sums = accumulate_steps::<I, A, C, ROWS, PANELS>(isa, &cells, &lines, part, sums);
            for r in 0..ROWS {
                for p in 0..PANELS {
                    totals[r][p] = isa.add(totals[r][p], A::to_f32(isa, sums[r][p]));
                }
            }
        }
        totals
    }

    /// Scales the sums of a tile, applies the epilogue and stores the results.
    #[inline(always)]
    fn apply_epilogue<I: Isa, const ROWS: usize, const PANELS: usize>(
        &mut self,
        isa: I,
        sums: [[I::F; PANELS]; ROWS],
        row: usize,
        panel: usize,
    ) {
        for p in 0..PANELS {
            // A loop, because `map` is compiled without the instructions of `isa`.
            let mut sums_of_panel = [isa.splat(0.0); ROWS];
            for r in 0..ROWS {
                sums_of_panel[r] = sums[r][p];
            }
            if A::INLINE_EPILOGUE {
                self.finish_panel::<I, ROWS>(isa, &sums_of_panel, row, panel + p);
            } else {
                self.finish_panel_outlined::<I, ROWS>(isa, &sums_of_panel, row, panel + p);
            }
        }
        if !self.epilogue.activation.is_fused() {
            self.activate_tile(isa, row..row + ROWS, panel, PANELS);
        }
    }
}

impl<A: Arithmetic, C> Gemm<'_, '_, A, C> {
    /// Computes [`Gemm::finish_panel`], compiled once for all shapes of tiles with the same number
    /// of rows.
    #[inline(never)]
    fn finish_panel_outlined<I: Isa, const ROWS: usize>(
        &mut self,
        isa: I,
        sums: &[I::F; ROWS],
        row: usize,
        panel: usize,
    ) {
        isa.run(
            #[inline(always)]
            |isa| self.finish_panel::<I, ROWS>(isa, sums, row, panel),
        )
    }

    /// Scales the sums of one panel of a tile, applies the epilogue and stores the results.
    #[inline(always)]
    fn finish_panel<I: Isa, const ROWS: usize>(
        &mut self,
        isa: I,
        sums: &[I::F; ROWS],
        row: usize,
        panel: usize,
    ) {
        let columns = panel * LANES..((panel + 1) * LANES).min(self.out.columns());
        let Epilogue { bias, residual, accumulate, activation, absmax: largest } =
            &mut self.epilogue;
        let scales = self.arithmetic.column_scales(isa, panel);
        let mut values = *sums;
        for (r, value) in values.iter_mut().enumerate() {
            *value = self.arithmetic.dequantize(isa, *value, row + r, scales);
        }
        if let Some(bias) = bias {
            let bias = isa.load_partial(&bias[columns.clone()], 0.0);
            for value in &mut values {
                *value = isa.add(*value, bias);
            }
        }
        if let Some(residual) = residual {
            for (r, value) in values.iter_mut().enumerate() {
                let residual = &residual.row(row + r)[columns.clone()];
                *value = isa.add(*value, isa.load_partial(residual, 0.0));
            }
        }
        if *accumulate {
            for (r, value) in values.iter_mut().enumerate() {
                let before = self.out.row_columns(row + r, columns.clone());
                *value = isa.add(*value, isa.load_partial(before, 0.0));
            }
        }
        if *activation == Activation::Relu {
            for value in &mut values {
                // In this order NaN stays NaN.
                *value = isa.max(isa.splat(0.0), *value);
            }
        }
        if activation.is_fused()
            && let Some(largest) = largest
        {
            for (value, largest) in values.iter().zip(&mut largest[row..row + ROWS]) {
                // Lanes past the last column are sums of zeros.
                *largest = nan_max(*largest, isa.reduce_max_abs(isa.abs(*value)));
            }
        }
        for (r, value) in values.into_iter().enumerate() {
            isa.store_partial(value, self.out.row_columns(row + r, columns.clone()));
        }
    }

    /// Applies the activation to the panels of a tile.
    #[inline(never)]
    pub(super) fn activate_tile<I: Isa>(
        &mut self,
        isa: I,
        rows: Range<usize>,
        panel: usize,
        group: usize,
    ) {
        isa.run(
            #[inline(always)]
            |isa| {
                let columns = panel * LANES..((panel + group) * LANES).min(self.out.columns());
                let Epilogue { activation, absmax: largest, .. } = &mut self.epilogue;
                for row in rows {
                    let tile_maximum =
                        activate_row(isa, *activation, self.out.row_columns(row, columns.clone()));
                    if let Some(largest) = largest {
                        largest[row] = nan_max(largest[row], tile_maximum);
                    }
                }
            },
        )
    }
}

/// Returns the larger of two magnitudes; NaN is larger than any.
pub(super) fn nan_max(a: f32, b: f32) -> f32 {
    if a.is_nan() || a > b { a } else { b }
}

/// Returns the largest number of panels of a tile of `rows` rows whose sums fit in registers.
fn max_panels<I: Isa>(rows: usize) -> usize {
    match (I::REGISTER_BLOCKING, rows) {
        (RegisterBlocking::One, _) => 1,
        (RegisterBlocking::Wide, _) | (RegisterBlocking::Narrow, ..=1) => 4,
        (RegisterBlocking::Narrow, 2) => 2,
        (RegisterBlocking::Narrow, _) => 1,
    }
}

/// Returns the number of panels of a tile for the panels that are left over. It is two if registers
/// suffice: latency limits the speed of few sums, as in attention with two panels per head.
fn remainder_panels<I: Isa>(rows: usize) -> usize {
    match I::REGISTER_BLOCKING {
        RegisterBlocking::Wide => 2,
        RegisterBlocking::Narrow if rows <= 1 => 2,
        _ => 1,
    }
}

/// Returns the sums of a tile after the steps `steps`.
#[inline(always)]
fn accumulate_steps<
    I: Isa,
    A: Arithmetic,
    C: RowCells<Cell = A::Cell>,
    const ROWS: usize,
    const PANELS: usize,
>(
    isa: I,
    cells: &C::Tile<ROWS>,
    lines: &[&[Line]; PANELS],
    steps: Range<usize>,
    mut sums: [[A::Accumulators<I>; PANELS]; ROWS],
) -> [[A::Accumulators<I>; PANELS]; ROWS] {
    // All slices get the same length, so that the loop checks it once.
    let cells = C::steps::<ROWS>(cells, steps.clone());
    let mut lines = *lines;
    for lines in &mut lines {
        *lines = &lines[steps.clone()];
    }
    for step in 0..steps.len() {
        for r in 0..ROWS {
            let cell = C::cell::<ROWS>(&cells, r, step);
            for p in 0..PANELS {
                sums[r][p] = A::accumulate(isa, sums[r][p], cell, &lines[p][step]);
            }
        }
    }
    sums
}
