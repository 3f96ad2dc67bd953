//! GEMM in i8 and bf16 with tile units: the order of tiles, their tails and their epilogue.
//!
//! Rows are divided into tiles of one size, so that one configuration of the unit serves a whole
//! call. The last tile is padded with fewer rows of zeros than there are tiles. Two tiles of rows
//! are multiplied with two panels at once, a single tile with four panels, so that four tiles of
//! sums are independent. The sums of i8 are exact as in the other kernels, and the epilogue has the
//! same operations in the same order, so results are equal to the bit.
//!
//! The epilogue runs one block late: it reads one of two buffers of sums while the next block is
//! multiplied into the other.

use std::ops::Range;

use zerocopy::{FromBytes, IntoBytes};

use super::tile::{Arithmetic, Gemm, RowBlocks, nan_max};
use super::{Epilogue, Tiling};
use crate::activation::Activation;
use crate::isa::{Isa, Sums, TILE_ROWS, TileUnit};
use crate::pack::{Line, Panels};
use crate::{LANES, MatMut, MatRef};

/// The bytes of a slab of prepared rows, which is multiplied with all weights before the next slab:
/// a quarter of a second-level cache of the CPUs that have tiles.
const CACHE_BLOCK_BYTES: usize = 512 << 10;

/// Rows in tiles: for each tile, for each step of 64 bytes, a line of each row.
#[derive(Clone, Debug, Default)]
pub(super) struct TiledRows {
    lines: Vec<Line>,
    tiles: usize,
    /// The number of rows of a tile.
    tile_rows: usize,
    steps: usize,
}

impl TiledRows {
    /// Replaces the rows.
    #[inline(always)]
    pub(super) fn fill(&mut self, rows: MatRef<i8>) {
        self.tiles = rows.rows().div_ceil(TILE_ROWS);
        self.tile_rows = rows.rows().div_ceil(self.tiles.max(1));
        self.steps = rows.columns().div_ceil(size_of::<Line>());
        let (tile_rows, tile_lines) = (self.tile_rows, self.tile_rows * self.steps);
        self.lines.resize(self.tiles * tile_lines, Line::ZERO);
        for at in 0..self.tiles * tile_rows {
            let tile = &mut self.lines[at / tile_rows * tile_lines..][..tile_lines];
            let row: &[u8] = if at < rows.rows() { rows.row(at).as_bytes() } else { &[] };
            let (whole, rest) = row.as_chunks::<{ size_of::<Line>() }>();
            for step in 0..self.steps {
                let line = &mut tile[step * tile_rows + at % tile_rows];
                if step < whole.len() {
                    line.0 = whole[step];
                    continue;
                }
                *line = Line::ZERO;
                if step == whole.len() {
                    line.0[..rest.len()].copy_from_slice(rest);
                }
            }
        }
    }

    fn tile(&self, tile: usize) -> &[Line] {
        let length = self.tile_rows * self.steps;
        &self.lines[tile * length..][..length]
    }
}

/// Computes a GEMM of rows in tiles. The rows are i8, or pairs of bf16 if `BF16` is set.
/// `configure` returns the tile unit for tiles of the given number of rows. `arithmetic` turns sums
/// into results.
#[inline(always)]
pub(super) fn multiply<const BF16: bool, I: Isa, A: Arithmetic, U: TileUnit>(
    isa: I,
    configure: impl FnOnce(usize) -> U,
    arithmetic: A,
    rows: &TiledRows,
    panels: Panels,
    mut epilogue: Epilogue,
    out: MatMut<f32>,
) {
    assert_eq!(panels.columns(), out.columns(), "a column of the result for each of the weights");
    epilogue.check(&out);
    if let Some(largest) = &mut epilogue.absmax {
        largest.fill(0.0);
    }
    if rows.tiles == 0 || panels.columns() == 0 {
        return;
    }
    // Sums come from tiles, so no cells are multiplied one by one.
    let blocks = RowBlocks::new::<I>(0, Tiling::registers(1, 1));
    let call = TiledGemm::<A, U, BF16> {
        gemm: Gemm { arithmetic, cells: (), blocks, panels, epilogue, out },
        rows,
        unit: configure(rows.tile_rows),
        sums: [Sums::ZERO, Sums::ZERO],
        current: 0,
        pending: None,
        tail: Vec::new(),
    };
    call.multiply(isa);
}

/// Some tiles of rows by some panels, whose sums are computed but not yet stored as results.
#[derive(Clone, Copy)]
struct Block {
    tile: usize,
    tiles: usize,
    panel: usize,
    panels: usize,
}

struct TiledGemm<'a, 'b, A, U, const BF16: bool> {
    gemm: Gemm<'a, 'b, A, ()>,
    rows: &'a TiledRows,
    unit: U,
    /// The sums of the last two blocks. The next block overwrites the buffer `current`.
    sums: [Sums; 2],
    current: usize,
    pending: Option<Block>,
    /// The last lines of some panels, padded to whole tiles, where the depth ends within a tile.
    tail: Vec<Line>,
}

impl<A: Arithmetic, U: TileUnit, const BF16: bool> TiledGemm<'_, '_, A, U, BF16> {
    #[inline(always)]
    fn multiply<I: Isa>(mut self, isa: I) {
        let panels = self.gemm.panels.columns().div_ceil(LANES);
        let tile_bytes = self.rows.tile_rows * self.rows.steps * size_of::<Line>();
        // Even, so that only the last tile of all may be without a pair.
        let slab = (CACHE_BLOCK_BYTES / tile_bytes.max(1)).max(4) / 2 * 2;
        for first in (0..self.rows.tiles).step_by(slab) {
            let last = (first + slab).min(self.rows.tiles);
            let is_odd = !(last - first).is_multiple_of(2);
            let mut panel = 0;
            while panel < panels {
                let width = if is_odd { 4 } else { 2 }.min(panels - panel);
                self.pack_tail(panel..panel + width);
                for tile in (first..last - usize::from(is_odd)).step_by(2) {
                    for at in (0..width).step_by(2) {
                        if at + 2 <= width {
                            self.multiply_block::<I, 2, 2>(isa, tile, panel, at);
                        } else {
                            self.multiply_block::<I, 2, 1>(isa, tile, panel, at);
                        }
                    }
                }
                if is_odd && width == 4 {
                    self.multiply_block::<I, 1, 4>(isa, last - 1, panel, 0);
                } else if is_odd {
                    for at in 0..width {
                        self.multiply_block::<I, 1, 1>(isa, last - 1, panel, at);
                    }
                }
                panel += width;
            }
        }
        if let Some(last) = self.pending.take() {
            self.store(isa, last, 1 - self.current);
        }
    }

    /// Copies the last lines of panels, padded with zeros, if they are not whole tiles.
    #[inline(always)]
    fn pack_tail(&mut self, panels: Range<usize>) {
        let lines = self.gemm.panels.steps();
        let rest = lines % TILE_ROWS;
        if rest == 0 {
            return;
        }
        self.tail.clear();
        for panel in panels {
            self.tail.extend_from_slice(&self.gemm.panels.panel(panel)[lines - rest..]);
            self.tail.resize(self.tail.len().next_multiple_of(TILE_ROWS), Line::ZERO);
        }
    }

    /// Multiplies `TILES` tiles of rows, from `tile` on, with `PANELS` panels, from
    /// `first_panel + at` on. In `tail`, the first of these panels has the index `at`. Then stores
    /// the results of the block before.
    #[inline(always)]
    fn multiply_block<I: Isa, const TILES: usize, const PANELS: usize>(
        &mut self,
        isa: I,
        tile: usize,
        first_panel: usize,
        at: usize,
    ) {
        let (weights, panel) = (self.gemm.panels, first_panel + at);
        let whole = weights.steps() / TILE_ROWS;
        let has_tail = !weights.steps().is_multiple_of(TILE_ROWS);
        let (mut rows, mut panels): ([&[Line]; TILES], [&[Line]; PANELS]) =
            ([&[]; TILES], [&[]; PANELS]);
        for (t, rows) in rows.iter_mut().enumerate() {
            *rows = self.rows.tile(tile + t);
        }
        for (p, lines) in panels.iter_mut().enumerate() {
            *lines = weights.panel(panel + p);
        }
        let to = &mut self.sums[self.current];
        if whole > 0 {
            self.unit.multiply::<BF16, TILES, PANELS>(rows, panels, whole, false, to);
        }
        if has_tail {
            for rows in &mut rows {
                *rows = &rows[whole * self.rows.tile_rows..];
            }
            for (p, lines) in panels.iter_mut().enumerate() {
                *lines = &self.tail[(at + p) * TILE_ROWS..][..TILE_ROWS];
            }
            self.unit.multiply::<BF16, TILES, PANELS>(rows, panels, 1, whole > 0, to);
        } else if whole == 0 {
            *to = Sums::ZERO;
        }
        self.current = 1 - self.current;
        let block = Block { tile, tiles: TILES, panel, panels: PANELS };
        if let Some(before) = self.pending.replace(block) {
            self.store(isa, before, self.current);
        }
    }

    /// Stores the results of a block whose sums are in the buffer `from`.
    #[inline(always)]
    fn store<I: Isa>(&mut self, isa: I, block: Block, from: usize) {
        let tile_rows = self.rows.tile_rows;
        for t in 0..block.tiles {
            let first = (block.tile + t) * tile_rows;
            let rows = tile_rows.min(self.gemm.out.rows().saturating_sub(first));
            for p in 0..block.panels {
                let sums = &self.sums[from].0[t * block.panels + p];
                let operands = self.gemm.panel_operands(isa, block.panel + p);
                for row in 0..rows {
                    let sums = &sums[row * LANES..][..LANES];
                    let sums = if BF16 {
                        let bits = <[f32]>::ref_from_bytes(sums.as_bytes());
                        isa.load(bits.expect("as many f32 as i32"))
                    } else {
                        isa.to_f32(isa.load_i32(sums))
                    };
                    self.gemm.finish_row(isa, sums, first + row, &operands);
                }
            }
            if !self.gemm.epilogue.activation.is_fused() && rows > 0 {
                self.gemm.activate_tile(isa, first..first + rows, block.panel, block.panels);
            }
        }
    }
}

/// The operands of the epilogue that all rows of a panel share.
struct PanelOperands<I: Isa> {
    columns: Range<usize>,
    scales: I::F,
    bias: Option<I::F>,
}

impl<A: Arithmetic> Gemm<'_, '_, A, ()> {
    /// Returns the operands of the epilogue that all rows of a panel share.
    #[inline(always)]
    fn panel_operands<I: Isa>(&self, isa: I, panel: usize) -> PanelOperands<I> {
        let columns = panel * LANES..((panel + 1) * LANES).min(self.out.columns());
        #[expect(
            clippy::manual_map,
            reason = "the closure of `map` is compiled without the instructions of `isa`"
        )]
        let bias = match self.epilogue.bias {
            Some(bias) => Some(isa.load_partial(&bias[columns.clone()], 0.0)),
            None => None,
        };
        PanelOperands { scales: self.arithmetic.column_scales(isa, panel), bias, columns }
    }

    /// Does for one row what `Gemm::finish_panel` does for all rows of a tile, to the bit. For sums
    /// in memory it takes 0.6 of that function's time; for sums in registers it would make a GEMM
    /// 2 to 4 % slower.
    #[inline(always)]
    fn finish_row<I: Isa>(&mut self, isa: I, sums: I::F, row: usize, operands: &PanelOperands<I>) {
        let PanelOperands { columns, scales, bias } = operands;
        let Epilogue { residual, accumulate, activation, absmax: largest, .. } = &mut self.epilogue;
        let mut value = self.arithmetic.dequantize(isa, sums, row, *scales);
        if let Some(bias) = bias {
            value = isa.add(value, *bias);
        }
        if let Some(residual) = residual {
            let residual = &residual.row(row)[columns.clone()];
            value = isa.add(value, isa.load_partial(residual, 0.0));
        }
        if *accumulate {
            let before = self.out.row_columns(row, columns.clone());
            value = isa.add(value, isa.load_partial(before, 0.0));
        }
        if *activation == Activation::Relu {
            // In this order NaN stays NaN.
            value = isa.max(isa.splat(0.0), value);
        }
        if activation.is_fused()
            && let Some(largest) = largest
        {
            // Lanes past the last column are sums of zeros.
            largest[row] = nan_max(largest[row], isa.reduce_max_abs(isa.abs(value)));
        }
        isa.store_partial(value, self.out.row_columns(row, columns.clone()));
    }
}

#[cfg(test)]
mod tests;
