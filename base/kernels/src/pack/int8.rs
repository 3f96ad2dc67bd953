//! Packed i8 weights.
//!
//! Each column has its own scale, and a number is its integer times this scale. Marian's files have
//! one multiplier, which becomes the scale of all columns. The corrections, -128 times the sum of
//! each column, are added to products of rows shifted by 128.

use std::ops::Range;

use super::{Layout, Line, Panels, UnpackedWeights, check_len, pack_columns, round_ties_even};
use crate::{LANES, MatRef, Result};

/// Packed i8 weights `[depth, columns]`, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct PackedI8<'a> {
    pub(crate) panels: Panels<'a>,
    pub(crate) scales: &'a [f32],
    pub(crate) corrections: &'a [i32],
}

/// Packed i8 weights `[depth, columns]`, owned: the result of packing, or the selected
/// columns of a shortlist.
///
/// ```
/// use miriam_kernels::gemm::{Epilogue, PreparedI8, Tiling, gemm_i8};
/// use miriam_kernels::pack::{UnpackedWeights, WeightsI8};
/// use miriam_kernels::quantize::{ClipRange, QuantizedI8, quantize_i8};
/// use miriam_kernels::{Cpu, MatRef, MatMut};
///
/// // [1, 2] x [2, 2]
/// let (rows, weights) = ([0.5, -1.0], [1.0, -1.0, 0.5, 2.0]);
/// let weights = WeightsI8::quantize(UnpackedWeights::inputs_by_outputs(MatRef::new(&weights, 2,
/// 2)))?;
///
/// let (cpu, mut values, mut scales) = (Cpu::detect(), [0; 2], [0.0]);
/// let quantised = MatMut::new(&mut values, 1, 2);
/// quantize_i8(cpu, MatRef::new(&rows, 1, 2), ClipRange::PerRow, quantised, &mut scales);
/// let quantised = QuantizedI8 { values: MatRef::new(&values, 1, 2), scales: &scales };
/// let mut prepared = PreparedI8::default();
/// prepared.prepare(cpu, Tiling::default_for(cpu), quantised);
///
/// let mut out = [0.0; 2];
/// gemm_i8(&prepared, weights.view(), Epilogue::default(), MatMut::new(&mut out, 1, 2));
/// assert!(out[0].abs() < 0.02 && (out[1] + 2.5).abs() < 0.02);
/// # Ok::<(), miriam_kernels::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct WeightsI8 {
    lines: Vec<Line>,
    scales: Vec<f32>,
    corrections: Vec<i32>,
    depth: usize,
    columns: usize,
}

/// Returns the number of columns, including the padding of the last panel.
fn padded(columns: usize) -> usize {
    columns.next_multiple_of(LANES)
}

impl<'a> PackedI8<'a> {
    /// Returns the weights that these parts contain. Scales and corrections must already be padded
    /// to a multiple of sixteen columns.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if a part does not have the length of this shape,
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the shape cannot be packed.
    pub fn new(
        lines: &'a [Line],
        scales: &'a [f32],
        corrections: &'a [i32],
        depth: usize,
        columns: usize,
    ) -> Result<Self> {
        let panels = Panels::new(Layout::I8, lines, depth, columns)?;
        check_len("scales", padded(columns), scales.len(), depth, columns)?;
        check_len("corrections", padded(columns), corrections.len(), depth, columns)?;
        Ok(Self { panels, scales, corrections })
    }

    /// Returns the number of inputs, the depth of a product.
    pub fn depth(&self) -> usize {
        self.panels.depth()
    }

    /// Returns the number of outputs, the columns of a product.
    pub fn columns(&self) -> usize {
        self.panels.columns()
    }

    /// Returns the columns `columns`. The range must begin at a multiple of sixteen, and end at a
    /// multiple of sixteen or after the last column.
    ///
    /// # Panics
    /// If the range begins or ends elsewhere.
    pub fn column_range(&self, columns: Range<usize>) -> Self {
        let padded = columns.start..padded(columns.end);
        Self {
            panels: self.panels.column_range(&columns),
            scales: &self.scales[padded.clone()],
            corrections: &self.corrections[padded],
        }
    }

    /// Copies the numbers of one column, `[depth]`: the embedding of a token in a tied output
    /// layer.
    ///
    /// # Panics
    /// If there is no such column, or `into` is not as long as the depth.
    pub fn column(&self, column: usize, into: &mut [f32]) {
        assert_eq!(into.len(), self.depth());
        let scale = self.scales[column];
        for (to, cell) in into.chunks_mut(4).zip(self.panels.column_cells(column)) {
            for (to, byte) in to.iter_mut().zip(cell) {
                *to = f32::from(byte as i8) * scale;
            }
        }
    }

    /// Copies the integers of one column as bytes, `[depth]`.
    ///
    /// # Panics
    /// If there is no such column, or `into` is not as long as the depth.
    pub fn column_integers(&self, column: usize, into: &mut [u8]) {
        assert_eq!(into.len(), self.depth());
        for (to, cell) in into.chunks_mut(4).zip(self.panels.column_cells(column)) {
            to.copy_from_slice(&cell[..to.len()]);
        }
    }
}

impl WeightsI8 {
    /// Quantises weights with a scale for each column: its largest magnitude / 127, or NaN if
    /// the column is not finite.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the shape cannot be packed.
    pub fn quantize(source: UnpackedWeights<f32>) -> Result<Self> {
        let mut scales = vec![0.0; padded(source.columns())];
        let mut corrections = vec![0; padded(source.columns())];
        let lines = pack_columns(Layout::I8, source, |column, numbers, bytes| {
            let largest = numbers.iter().fold(0f32, |largest, number| largest.max(number.abs()));
            let finite = numbers.iter().all(|number| number.is_finite());
            scales[column] = if finite { largest / 127.0 } else { f32::NAN };
            let factor = if largest > 0.0 { 127.0 / largest } else { 0.0 };
            bytes.extend(numbers.iter().map(|&number| {
                round_ties_even((number * factor).clamp(-127.0, 127.0)) as i8 as u8
            }));
            corrections[column] = column_correction(bytes);
        })?;
        Ok(Self { lines, scales, corrections, depth: source.depth(), columns: source.columns() })
    }

    /// Packs quantised integers: a number is its integer times `scale(column)`, which is
    /// 1 / multiplier for Marian's files.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the shape cannot be packed.
    pub fn pack(source: UnpackedWeights<i8>, scale: impl Fn(usize) -> f32) -> Result<Self> {
        Self::pack_numbers(source, |number| number as u8, scale)
    }

    /// Works like [`pack`](WeightsI8::pack), for integers in the byte layout of files.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the shape cannot be packed.
    pub fn pack_bytes(source: UnpackedWeights<u8>, scale: impl Fn(usize) -> f32) -> Result<Self> {
        if !source.transposed || !source.depth().is_multiple_of(4) {
            return Self::pack_numbers(source, |byte| byte, scale);
        }
        let (depth, columns) = (source.depth(), source.columns());
        let count = Layout::I8.lines(depth, columns)?;
        let (mut scales, mut corrections) = (vec![0.0; padded(columns)], vec![0; padded(columns)]);
        for column in 0..columns {
            scales[column] = scale(column);
            corrections[column] = column_correction(source.values.row(column));
        }
        let mut lines = Vec::with_capacity(count);
        for first in (0..columns).step_by(LANES) {
            interleave(source.values, first..columns.min(first + LANES), &mut lines);
        }
        Ok(Self { lines, scales, corrections, depth, columns })
    }

    fn pack_numbers<T: Copy>(
        source: UnpackedWeights<T>,
        byte: impl Fn(T) -> u8,
        scale: impl Fn(usize) -> f32,
    ) -> Result<Self> {
        let mut scales = vec![0.0; padded(source.columns())];
        let mut corrections = vec![0; padded(source.columns())];
        let lines = pack_columns(Layout::I8, source, |column, numbers, bytes| {
            scales[column] = scale(column);
            bytes.extend(numbers.iter().map(|&number| byte(number)));
            corrections[column] = column_correction(bytes);
        })?;
        Ok(Self { lines, scales, corrections, depth: source.depth(), columns: source.columns() })
    }

    /// Replaces the weights by the columns `ids` of `from`, in that order.
    ///
    /// # Errors
    /// [`Error::ColumnOutOfRange`](crate::Error::ColumnOutOfRange) if an id is not a column of
    /// `from`.
    pub fn select(&mut self, from: &PackedI8, ids: &[u32]) -> Result<()> {
        from.panels.select(ids, &mut self.lines)?;
        (self.depth, self.columns) = (from.depth(), ids.len());
        self.scales.clear();
        self.scales.extend(ids.iter().map(|&id| from.scales[id as usize]));
        self.scales.resize(padded(ids.len()), 0.0);
        self.corrections.clear();
        self.corrections.extend(ids.iter().map(|&id| from.corrections[id as usize]));
        self.corrections.resize(padded(ids.len()), 0);
        Ok(())
    }

    /// Returns the weights, borrowed.
    pub fn view(&self) -> PackedI8<'_> {
        PackedI8::new(&self.lines, &self.scales, &self.corrections, self.depth, self.columns)
            .expect("packed by this type")
    }

    /// Returns the parts to write into a file: lines, scales and corrections.
    pub fn parts(&self) -> (&[Line], &[f32], &[i32]) {
        (&self.lines, &self.scales, &self.corrections)
    }
}

/// Appends the lines of a panel of at most sixteen columns. A column is a row of `values` and has
/// whole cells.
fn interleave(values: MatRef<u8>, columns: Range<usize>, lines: &mut Vec<Line>) {
    const NONE: &[[u8; 4]] = &[];
    let mut cells = [NONE; LANES];
    for (cells, column) in cells.iter_mut().zip(columns.clone()) {
        *cells = values.row(column).as_chunks().0;
    }
    let steps = cells[0].len();
    if columns.len() == LANES {
        // Lengths that the compiler knows to be equal need no checks in the loop.
        let cells = cells.map(|cells| &cells[..steps]);
        lines.extend((0..steps).map(|step| {
            let mut line = Line::ZERO;
            for lane in 0..LANES {
                *line.cell_mut(lane) = cells[lane][step];
            }
            line
        }));
        return;
    }
    lines.extend((0..steps).map(|step| {
        let mut line = Line::ZERO;
        for (lane, cells) in cells[..columns.len()].iter().enumerate() {
            *line.cell_mut(lane) = cells[step];
        }
        line
    }));
}

fn column_correction(bytes: &[u8]) -> i32 {
    -128 * bytes.iter().map(|&byte| i32::from(byte as i8)).sum::<i32>()
}
