//! Packed weights of sixteen bits, Devlin's (2017, section 4.1) and Marian's.
//!
//! Sums of products are 32 bits wide. A bound on single numbers allows few products (with
//! thirteen bits on both sides thirty-two), because it must fear that all are large
//! and none cancels. By Cauchy and Schwarz a sum is at most the norm of its weights times
//! the norm of its inputs, whatever they are: so columns and rows are scaled until
//! the Euclidean norms of their [runs](RUN) are small enough, and not their largest numbers.
//! Sums of a run, and of its beginning, then fit; typical numbers keep more bits, and what is
//! set aside as floats is set aside rarely.

use std::ops::Range;

use super::{Layout, Line, Panels, UnpackedWeights, check_len, pack_columns, round_ties_even};
use crate::{LANES, Result};

/// Numbers along the depth that are summed in 32 bits. Longer runs would leave fewer bits
/// to each number, shorter ones cost time.
pub const ACCUMULATION_RUN: usize = 64;

/// What columns are scaled to: rows get as much, the root of 2^31.
const TARGET_NORM: f32 = 46_340.0;

/// No run of sixteen bits has a larger norm, whatever a file says.
const MAX_RUN_NORM: u32 = 8 * 32_768;

/// Rounding moves each number of a run by half a unit at most, its norm by four units; half a
/// unit more is for floats.
pub(crate) const ROUNDING_SLACK: f32 = 4.5;

/// Packed i16 weights, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct PackedI16<'a> {
    pub(crate) panels: Panels<'a>,
    pub(crate) scales: &'a [f32],
    pub(crate) norm: u32,
}

/// Packed i16 weights, owned: what packing makes and shortlists fill.
#[derive(Clone, Debug, Default)]
pub struct WeightsI16 {
    lines: Vec<Line>,
    scales: Vec<f32>,
    norm: u32,
    depth: usize,
    columns: usize,
}

impl<'a> PackedI16<'a> {
    /// Weights from their parts; scales go on to a multiple of sixteen columns. `norm` is
    /// the largest Euclidean norm of a [run](RUN) of any column; if one is larger, sums
    /// overflow (and wrap).
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) or
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the shape does not fit.
    pub fn new(
        lines: &'a [Line],
        scales: &'a [f32],
        norm: u32,
        depth: usize,
        columns: usize,
    ) -> Result<Self> {
        let panels = Panels::new(Layout::I16, lines, depth, columns)?;
        let padded = columns.next_multiple_of(LANES);
        check_len("scales", padded, scales.len(), depth, columns)?;
        Ok(Self { panels, scales, norm })
    }

    /// Inputs.
    pub fn depth(&self) -> usize {
        self.panels.depth()
    }

    /// Outputs.
    pub fn columns(&self) -> usize {
        self.panels.columns()
    }

    /// The largest norm that a [run](RUN) of a row may have: products of such are below 2^31.
    pub fn headroom(&self) -> u32 {
        i32::MAX as u32 / self.norm.clamp(1, MAX_RUN_NORM)
    }

    /// Some columns, from a multiple of sixteen to another or to the end.
    ///
    /// # Panics
    /// If the range is none of those.
    pub fn column_range(&self, columns: Range<usize>) -> Self {
        let scales = &self.scales[columns.start..columns.end.next_multiple_of(LANES)];
        Self { panels: self.panels.column_range(&columns), scales, norm: self.norm }
    }

    /// The numbers of one column: the embedding of a word in a tied output layer.
    ///
    /// # Panics
    /// If there is no such column, or `into` is not as long as the depth.
    pub fn column(&self, column: usize, into: &mut [f32]) {
        assert_eq!(into.len(), self.depth());
        let scale = self.scales[column];
        for (to, cell) in into.chunks_mut(2).zip(self.panels.column_cells(column)) {
            for (to, bytes) in to.iter_mut().zip(cell.as_chunks::<2>().0) {
                *to = f32::from(i16::from_le_bytes(*bytes)) * scale;
            }
        }
    }
}

impl WeightsI16 {
    /// Quantises weights: the largest norm of a [run](RUN) of each column becomes 46,340, the
    /// root of 2^31, if no weight has to exceed 32,767 for it. Where a power of two a little
    /// coarser hits most numbers exactly, because they come from a format of few bits, it is
    /// taken. A column with something that is not a finite number has scale NaN.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge).
    pub fn quantise(source: UnpackedWeights<f32>) -> Result<Self> {
        let mut scales = vec![0.0; source.columns().next_multiple_of(LANES)];
        let mut norm = 0;
        let mut integers = Vec::new();
        let lines = pack_columns(Layout::I16, source, |column, numbers, bytes| {
            let scale = column_scale(numbers);
            scales[column] = scale;
            let factor = if scale > 0.0 { 1.0 / scale } else { 0.0 };
            let limit = f32::from(i16::MAX);
            let integer =
                |number: &f32| round_ties_even((number * factor).clamp(-limit, limit)) as i16;
            integers.clear();
            integers.extend(numbers.iter().map(integer));
            norm = norm.max(encode_column(&integers, bytes));
        })?;
        let (depth, columns) = (source.depth(), source.columns());
        Ok(Self { lines, scales, norm, depth, columns })
    }

    /// Packs integers that a file has, with `scale(column)` each: a number is its
    /// integer times that.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge).
    pub fn pack(source: UnpackedWeights<i16>, scale: impl Fn(usize) -> f32) -> Result<Self> {
        let mut scales = vec![0.0; source.columns().next_multiple_of(LANES)];
        (0..source.columns()).for_each(|column| scales[column] = scale(column));
        let mut norm = 0;
        let lines = pack_columns(Layout::I16, source, |_, numbers, bytes| {
            norm = norm.max(encode_column(numbers, bytes));
        })?;
        Ok(Self { lines, scales, norm, depth: source.depth(), columns: source.columns() })
    }

    /// Becomes the columns `ids` of other weights, in that order.
    ///
    /// # Errors
    /// [`Error::Column`](crate::Error::Column) if there is no such column.
    pub fn select(&mut self, from: &PackedI16, ids: &[u32]) -> Result<()> {
        from.panels.select(ids, &mut self.lines)?;
        (self.depth, self.columns, self.norm) = (from.depth(), ids.len(), from.norm);
        self.scales.clear();
        self.scales.extend(ids.iter().map(|&id| from.scales[id as usize]));
        self.scales.resize(ids.len().next_multiple_of(LANES), 0.0);
        Ok(())
    }

    /// The weights, borrowed.
    pub fn view(&self) -> PackedI16<'_> {
        PackedI16::new(&self.lines, &self.scales, self.norm, self.depth, self.columns)
            .expect("packed by this type")
    }

    /// What a file holds: lines, scales and the largest norm of a run.
    pub fn parts(&self) -> (&[Line], &[f32], u32) {
        (&self.lines, &self.scales, self.norm)
    }
}

/// What one unit of a column is worth.
fn column_scale(numbers: &[f32]) -> f32 {
    if !numbers.iter().all(|number| number.is_finite()) {
        return f32::NAN;
    }
    let largest = numbers.iter().fold(0f32, |largest, number| largest.max(number.abs()));
    let norms = numbers.chunks(ACCUMULATION_RUN).map(|run| {
        let squares = run.iter().map(|&number| f64::from(number) * f64::from(number));
        squares.sum::<f64>().sqrt()
    });
    let norm = norms.fold(0.0, f64::max) as f32;
    let finest = (largest / f32::from(i16::MAX)).max(norm / (TARGET_NORM - ROUNDING_SLACK));
    if !finest.is_normal() {
        return 0.0;
    }
    // The next power of two: a carry into the exponent, unless there is no mantissa.
    let power = f32::from_bits((finest.to_bits() + 0x7f_ffff) & !0x7f_ffff);
    if squared_error(numbers, power) * MIN_ERROR_GAIN < squared_error(numbers, finest) {
        power
    } else {
        finest
    }
}

/// Squared errors that must vanish before a coarser unit is taken. It costs nothing else:
/// weights of smaller norm leave more room to rows.
const MIN_ERROR_GAIN: f32 = 4.0;

/// The sum of the squared errors that rounding to this unit makes.
fn squared_error(numbers: &[f32], unit: f32) -> f32 {
    let factor = 1.0 / unit;
    let apart = |number: &f32| number * factor - round_ties_even(number * factor);
    let sum: f32 = numbers.iter().map(|number| apart(number).powi(2)).sum();
    sum * unit * unit
}

/// Appends a column and gives its largest norm, rounded up.
fn encode_column(integers: &[i16], bytes: &mut Vec<u8>) -> u32 {
    let square = |integer: &i16| u64::from(integer.unsigned_abs()).pow(2);
    let squares = integers.chunks(ACCUMULATION_RUN).map(|run| run.iter().map(square).sum::<u64>());
    let most = squares.max().unwrap_or(0);
    bytes.extend(integers.iter().flat_map(|integer| integer.to_le_bytes()));
    let root = most.isqrt();
    (root + u64::from(root * root < most)) as u32
}
