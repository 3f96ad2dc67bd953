//! Packed i16 weights, as in Devlin (2017, section 4.1) and Marian.
//!
//! Sums of products are 32 bits wide. A bound on single numbers allows few products (thirty-two
//! with thirteen bits on both sides), because it must assume that all are large and none cancels.
//! By the Cauchy-Schwarz inequality a sum is at most the norm of its weights times the norm of its
//! inputs. So the scales of columns and rows limit the Euclidean norms of their
//! [runs](ACCUMULATION_RUN), not their largest numbers. The sum of a run and all its partial sums
//! then fit. Typical numbers keep more bits, and accumulators are rarely converted to floats.

use std::ops::Range;

use super::{Layout, Line, Panels, UnpackedWeights, check_len, pack_columns, round_ties_even};
use crate::{LANES, Result};

/// The number of products along the depth that are summed in 32 bits. Longer runs would leave fewer
/// bits for each number, shorter ones cost time.
pub const ACCUMULATION_RUN: usize = 64;

/// The norm to which runs of columns and of rows are scaled: the root of 2^31.
const TARGET_NORM: f32 = 46_340.0;

/// The largest norm that a run of i16 can have.
const MAX_RUN_NORM: u32 = 8 * 32_768;

/// The amount by which rounding may increase the norm of a run: each number changes by at most half
/// a unit, the norm by four units; half a unit more is for rounding errors of f32.
pub(crate) const ROUNDING_SLACK: f32 = 4.5;

/// Packed i16 weights `[depth, columns]`, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct PackedI16<'a> {
    pub(crate) panels: Panels<'a>,
    pub(crate) scales: &'a [f32],
    pub(crate) norm: u32,
}

/// Packed i16 weights `[depth, columns]`, owned: the result of packing, or the selected
/// columns of a shortlist.
#[derive(Clone, Debug, Default)]
pub struct WeightsI16 {
    lines: Vec<Line>,
    scales: Vec<f32>,
    norm: u32,
    depth: usize,
    columns: usize,
}

impl<'a> PackedI16<'a> {
    /// Returns the weights that these parts contain. `scales` must already be padded to a multiple
    /// of sixteen columns. `norm` must be the largest Euclidean norm of a [run](ACCUMULATION_RUN)
    /// of any column; if a run has a larger norm, sums can overflow (and wrap).
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if a part does not have the length of this shape,
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the shape cannot be packed.
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

    /// Returns the number of inputs, the depth of a product.
    pub fn depth(&self) -> usize {
        self.panels.depth()
    }

    /// Returns the number of outputs, the columns of a product.
    pub fn columns(&self) -> usize {
        self.panels.columns()
    }

    /// Returns the largest norm that a [run](ACCUMULATION_RUN) of a row may have, so that its sums
    /// are below 2^31.
    pub fn headroom(&self) -> u32 {
        i32::MAX as u32 / self.norm.clamp(1, MAX_RUN_NORM)
    }

    /// Returns the columns `columns`. The range must begin at a multiple of sixteen, and end at a
    /// multiple of sixteen or after the last column.
    ///
    /// # Panics
    /// If the range begins or ends elsewhere.
    pub fn column_range(&self, columns: Range<usize>) -> Self {
        let scales = &self.scales[columns.start..columns.end.next_multiple_of(LANES)];
        Self { panels: self.panels.column_range(&columns), scales, norm: self.norm }
    }

    /// Copies the numbers of one column, `[depth]`: the embedding of a token in a tied output
    /// layer.
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
    /// Quantises weights: the largest norm of a [run](ACCUMULATION_RUN) of each column becomes
    /// 46,340, the root of 2^31, unless a weight would then exceed 32,767. The scale is
    /// rounded up to a power of two if this leaves less than a quarter of the squared error, as
    /// with numbers that come from a format of few bits. The scale of a column that is not finite
    /// is NaN.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the shape cannot be packed.
    pub fn quantize(source: UnpackedWeights<f32>) -> Result<Self> {
        let mut scales = vec![0.0; source.columns().next_multiple_of(LANES)];
        let mut norm = 0;
        let mut integers = Vec::new();
        let lines = pack_columns(Layout::I16, source, |column, numbers, bytes| {
            let scale = column_scale(numbers);
            scales[column] = scale;
            let factor = if scale > 0.0 { 1.0 / scale } else { 0.0 };
            let limit = f32::from(i16::MAX);
            integers.clear();
            integers.extend(
                numbers
                    .iter()
                    .map(|number| round_ties_even((number * factor).clamp(-limit, limit)) as i16),
            );
            norm = norm.max(encode_column(&integers, bytes));
        })?;
        let (depth, columns) = (source.depth(), source.columns());
        Ok(Self { lines, scales, norm, depth, columns })
    }

    /// Packs quantised integers: a number is its integer times `scale(column)`.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the shape cannot be packed.
    pub fn pack(source: UnpackedWeights<i16>, scale: impl Fn(usize) -> f32) -> Result<Self> {
        let mut scales = vec![0.0; source.columns().next_multiple_of(LANES)];
        (0..source.columns()).for_each(|column| scales[column] = scale(column));
        let mut norm = 0;
        let lines = pack_columns(Layout::I16, source, |_, numbers, bytes| {
            norm = norm.max(encode_column(numbers, bytes));
        })?;
        Ok(Self { lines, scales, norm, depth: source.depth(), columns: source.columns() })
    }

    /// Replaces the weights by the columns `ids` of `from`, in that order.
    ///
    /// # Errors
    /// [`Error::ColumnOutOfRange`](crate::Error::ColumnOutOfRange) if an id is not a column of
    /// `from`.
    pub fn select(&mut self, from: &PackedI16, ids: &[u32]) -> Result<()> {
        from.panels.select(ids, &mut self.lines)?;
        (self.depth, self.columns, self.norm) = (from.depth(), ids.len(), from.norm);
        self.scales.clear();
        self.scales.extend(ids.iter().map(|&id| from.scales[id as usize]));
        self.scales.resize(ids.len().next_multiple_of(LANES), 0.0);
        Ok(())
    }

    /// Returns the weights, borrowed.
    pub fn view(&self) -> PackedI16<'_> {
        PackedI16::new(&self.lines, &self.scales, self.norm, self.depth, self.columns)
            .expect("packed by this type")
    }

    /// Returns the parts to write into a file: lines, scales and the largest norm of a run.
    pub fn parts(&self) -> (&[Line], &[f32], u32) {
        (&self.lines, &self.scales, self.norm)
    }
}

/// Returns the scale of a column.
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
    // The next power of two: a carry into the exponent, unless the mantissa is zero.
    let power = f32::from_bits((finest.to_bits() + 0x7f_ffff) & !0x7f_ffff);
    if squared_error(numbers, power) * MIN_ERROR_GAIN < squared_error(numbers, finest) {
        power
    } else {
        finest
    }
}

/// The factor by which the squared error must fall before a coarser unit is taken. A coarser unit
/// has no other cost: weights of smaller norm leave more headroom for rows.
const MIN_ERROR_GAIN: f32 = 4.0;

/// Returns the sum of the squared errors of rounding to multiples of `unit`.
fn squared_error(numbers: &[f32], unit: f32) -> f32 {
    let factor = 1.0 / unit;
    let errors = numbers.iter().map(|number| number * factor - round_ties_even(number * factor));
    let sum: f32 = errors.map(|error| error.powi(2)).sum();
    sum * unit * unit
}

/// Appends a column and returns the largest norm of its runs, rounded up.
fn encode_column(integers: &[i16], bytes: &mut Vec<u8>) -> u32 {
    let squares = integers
        .chunks(ACCUMULATION_RUN)
        .map(|run| run.iter().map(|integer| u64::from(integer.unsigned_abs()).pow(2)).sum::<u64>());
    let most = squares.max().unwrap_or(0);
    bytes.extend(integers.iter().flat_map(|integer| integer.to_le_bytes()));
    let root = most.isqrt();
    (root + u64::from(root * root < most)) as u32
}
