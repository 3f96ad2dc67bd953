//! Weights packed for GEMM.
//!
//! One layout serves every instruction set, so that a model file need not be converted again for
//! another machine: columns are grouped by sixteen (a *panel*), and a panel is a sequence of
//! 64-byte [`Line`]s along the depth. In a line every column has a cell of four bytes: one f32,
//! two i16 or bf16, or four i8, adjacent along the depth. A line is a register of AVX-512 or two of
//! AVX2, and a cache line; `vpdpbusd`, `vpmaddubsw`, `vpmaddwd` and multiply-add can all read it
//! directly. The four panels that AVX-512 multiplies at once are four streams, which prefetchers
//! follow. The gain of a separate layout for an instruction set (one stream instead of four) was
//! not worth a separate model file.
//!
//! A column has one cell per line in every type, so shortlists gather the columns of their tokens
//! from the packed form ([`WeightsF32::select`], [`WeightsI16::select`], [`WeightsI8::select`]).

mod bf16;
mod fill;
mod float32;
mod int16;
mod int8;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

pub(crate) use bf16::zip_rows;
pub use bf16::{PackedBf16, WeightsBf16};
pub use float32::{PackedF32, WeightsF32};
pub use int8::{PackedI8, WeightsI8};
pub(crate) use int16::ROUNDING_SLACK;
pub use int16::{ACCUMULATION_RUN, PackedI16, WeightsI16};

use crate::{Error, LANES, MatRef, Result};

/// Sixteen columns at one, two or four depth steps: a cell of four bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub struct Line(pub [u8; 64]);

impl Line {
    pub(crate) const ZERO: Line = Line([0; 64]);

    fn cell(&self, column: usize) -> [u8; 4] {
        *self.0[4 * column..].first_chunk().expect("a cell of the line")
    }

    fn cell_mut(&mut self, column: usize) -> &mut [u8; 4] {
        self.0[4 * column..].first_chunk_mut().expect("a cell of the line")
    }
}

/// The layout of the numbers of a type in lines. Names and versions are written into files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// f32, one per cell.
    F32,
    /// i16, two per cell.
    I16,
    /// i8, four per cell.
    I8,
}

impl Layout {
    /// Returns the name in files: type, columns of a line and depth of a cell.
    pub fn name(self) -> &'static str {
        match self {
            Layout::F32 => "f32x16x1",
            Layout::I16 => "i16x16x2",
            Layout::I8 => "i8x16x4",
        }
    }

    /// Returns the version in files, raised with every change of the bytes.
    pub fn version(self) -> u32 {
        match self {
            Layout::F32 | Layout::I8 => 1,
            // Bounds are norms of runs; in version 1 they were largest magnitudes.
            Layout::I16 => 2,
        }
    }

    /// Returns the layout of that name and version.
    ///
    /// # Errors
    /// [`Error::Layout`] if this program has none of that name and version.
    pub fn from_name(name: &str, version: u32) -> Result<Self> {
        [Layout::F32, Layout::I16, Layout::I8]
            .into_iter()
            .find(|layout| layout.name() == name && layout.version() == version)
            .ok_or_else(|| Error::Layout { name: name.to_owned(), version })
    }

    /// Returns the number of depth steps in a cell, each of which has one number.
    pub fn cell_depth(self) -> usize {
        match self {
            Layout::F32 => 1,
            Layout::I16 => 2,
            Layout::I8 => 4,
        }
    }

    /// Returns the largest depth of a product. In i8, sums of products up to 255 * 128 must be
    /// below 2^31.
    fn max_depth(self) -> usize {
        match self {
            Layout::I8 => 65_000,
            Layout::F32 | Layout::I16 => 1 << 31,
        }
    }

    /// Returns the number of lines of weights `[depth, columns]`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if products of that depth may overflow, or the weights exceed the
    /// address space.
    pub fn lines(self, depth: usize, columns: usize) -> Result<usize> {
        // Scales are padded to whole panels, even if the weights have no lines.
        let padded = columns.checked_next_multiple_of(LANES);
        let steps = depth.div_ceil(self.cell_depth());
        let lines = padded.and_then(|padded| steps.checked_mul(padded / LANES));
        let bytes = lines.and_then(|lines| lines.checked_mul(size_of::<Line>()));
        match bytes {
            Some(bytes) if depth <= self.max_depth() && bytes <= isize::MAX as usize => {
                Ok(bytes / size_of::<Line>())
            }
            _ => Err(Error::TooLarge { depth, columns, most: self.max_depth() }),
        }
    }
}

/// Lines with their shape, common to the packed types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panels<'a> {
    lines: &'a [Line],
    depth: usize,
    columns: usize,
    /// The number of lines of a panel that are used.
    steps: usize,
    /// The number of lines from the start of a panel to the start of the next.
    stride: usize,
}

impl<'a> Panels<'a> {
    fn new(layout: Layout, lines: &'a [Line], depth: usize, columns: usize) -> Result<Self> {
        check_len("lines", layout.lines(depth, columns)?, lines.len(), depth, columns)?;
        let steps = depth.div_ceil(layout.cell_depth());
        Ok(Self { lines, depth, columns, steps, stride: steps })
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of lines of a panel.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// Returns the lines of panel `index`.
    #[inline(always)]
    pub(crate) fn panel(&self, index: usize) -> &'a [Line] {
        &self.lines[index * self.stride..][..self.steps]
    }

    /// Returns the panels of `columns`. The range must begin at a multiple of sixteen, and end at a
    /// multiple of sixteen or after the last column.
    fn column_range(&self, columns: &std::ops::Range<usize>) -> Self {
        assert!(columns.start.is_multiple_of(LANES) && columns.start <= columns.end);
        assert!(columns.end == self.columns || columns.end.is_multiple_of(LANES));
        assert!(columns.end <= self.columns);
        let panels = columns.start / LANES..columns.end.div_ceil(LANES);
        let end = (panels.end * self.stride).min(self.lines.len());
        let lines = &self.lines[(panels.start * self.stride).min(end)..end];
        Self { lines, columns: columns.len(), ..*self }
    }

    /// Keeps the first `columns` columns; only columns of the last panel may be dropped.
    fn narrow(&mut self, columns: usize) {
        assert_eq!(columns.div_ceil(LANES), self.columns.div_ceil(LANES));
        assert!(columns <= self.columns);
        self.columns = columns;
    }

    /// Returns the range `depth` of the depth, such as a head of keys or a part that fits in the
    /// cache. It must start at a line, which has `cell_depth` steps.
    fn depth_range(&self, depth: &std::ops::Range<usize>, cell_depth: usize) -> Self {
        assert!(depth.start <= depth.end && depth.end <= self.depth);
        assert!(depth.start.is_multiple_of(cell_depth), "parts that start at lines");
        let lines = &self.lines[(depth.start / cell_depth).min(self.lines.len())..];
        Self { lines, depth: depth.len(), steps: depth.len().div_ceil(cell_depth), ..*self }
    }

    /// Gathers columns into lines of the same layout, in the order of `ids`. Missing
    /// lanes of the last panel are zero.
    fn select(&self, ids: &[u32], into: &mut Vec<Line>) -> Result<()> {
        if let Some(&column) = ids.iter().find(|&&id| id as usize >= self.columns) {
            return Err(Error::ColumnOutOfRange { column, columns: self.columns });
        }
        into.clear();
        into.reserve(ids.len().div_ceil(LANES) * self.steps);
        for ids in ids.chunks(LANES) {
            let from = into.len();
            into.resize(from + self.steps, Line::ZERO);
            for (lane, &id) in ids.iter().enumerate() {
                let panel = self.panel(id as usize / LANES);
                for (to, line) in into[from..].iter_mut().zip(panel) {
                    *to.cell_mut(lane) = line.cell(id as usize % LANES);
                }
            }
        }
        Ok(())
    }

    /// Returns the cells of one column, from the first depth step to the last.
    fn column_cells(&self, column: usize) -> impl Iterator<Item = [u8; 4]> + 'a {
        assert!(column < self.columns, "column {column} of {}", self.columns);
        self.panel(column / LANES).iter().map(move |line| line.cell(column % LANES))
    }
}

fn check_len(
    part: &'static str,
    expected: usize,
    found: usize,
    depth: usize,
    columns: usize,
) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Length { part, depth, columns, expected, found })
}

/// Weights in the order of a model file, to be packed.
#[derive(Debug)]
pub struct UnpackedWeights<'a, T> {
    values: MatRef<'a, T>,
    transposed: bool,
}

impl<T> Clone for UnpackedWeights<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for UnpackedWeights<'_, T> {}

impl<'a, T: Copy> UnpackedWeights<'a, T> {
    /// Returns weights `[inputs, outputs]`: Marian's and Nematus' `W`.
    pub fn inputs_by_outputs(values: MatRef<'a, T>) -> Self {
        Self { values, transposed: false }
    }

    /// Returns weights `[outputs, inputs]`: embedding tables, weights of CTranslate2, Hugging Face
    /// and intgemm.
    pub fn outputs_by_inputs(values: MatRef<'a, T>) -> Self {
        Self { values, transposed: true }
    }

    /// Returns the number of inputs, the depth of a product.
    pub fn depth(&self) -> usize {
        if self.transposed { self.values.columns() } else { self.values.rows() }
    }

    /// Returns the number of outputs, the columns of a product.
    pub fn columns(&self) -> usize {
        if self.transposed { self.values.rows() } else { self.values.columns() }
    }

    #[inline]
    fn get(&self, depth: usize, column: usize) -> T {
        if self.transposed {
            self.values.row(column)[depth]
        } else {
            self.values.row(depth)[column]
        }
    }

    /// Copies column `column` into `into`.
    fn column(&self, column: usize, into: &mut Vec<T>) {
        into.clear();
        if self.transposed {
            into.extend_from_slice(self.values.row(column));
        } else {
            into.extend((0..self.depth()).map(|depth| self.get(depth, column)));
        }
    }
}

/// Computes [`f32::round_ties_even`] for magnitudes below 2^22, without the library call that is
/// compiled if not every CPU of the target has the instruction.
fn round_ties_even(number: f32) -> f32 {
    /// From here on floats are integers.
    const WHOLE: f32 = 1.5 * (1 << 23) as f32;
    (number + WHOLE) - WHOLE
}

/// Packs weights by columns: `encode` appends the numbers of a column as bytes, which must fit in
/// the column's cells.
fn pack_columns<T: Copy>(
    layout: Layout,
    source: UnpackedWeights<T>,
    mut encode: impl FnMut(usize, &[T], &mut Vec<u8>),
) -> Result<Vec<Line>> {
    let mut lines = vec![Line::ZERO; layout.lines(source.depth(), source.columns())?];
    let steps = source.depth().div_ceil(layout.cell_depth());
    let (mut numbers, mut bytes) = (Vec::new(), Vec::new());
    for column in 0..source.columns() {
        source.column(column, &mut numbers);
        bytes.clear();
        encode(column, &numbers, &mut bytes);
        bytes.resize(4 * steps, 0);
        let panel = &mut lines[column / LANES * steps..][..steps];
        for (line, cell) in panel.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *line.cell_mut(column % LANES) = *cell;
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests;
