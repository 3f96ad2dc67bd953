//! Packed weights of eight bits.
//!
//! A column has its own scale, a number is its integer times that. Marian's files have
//! one multiplier for all columns: a scale that happens to be the same everywhere.
//! Corrections are -128 times the sum of each column, what products of rows shifted by
//! 128 must be changed by.

use std::ops::Range;

use super::{Layout, Line, Panels, UnpackedWeights, check_len, pack_columns, round_ties_even};
use crate::{LANES, Result};

/// Packed i8 weights, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct PackedI8<'a> {
    pub(crate) panels: Panels<'a>,
    pub(crate) scales: &'a [f32],
    pub(crate) corrections: &'a [i32],
}

/// Packed i8 weights, owned: what packing makes and shortlists fill.
#[derive(Clone, Debug, Default)]
pub struct WeightsI8 {
    lines: Vec<Line>,
    scales: Vec<f32>,
    corrections: Vec<i32>,
    depth: usize,
    columns: usize,
}

/// Columns with those that fill the last panel.
fn padded(columns: usize) -> usize {
    columns.next_multiple_of(LANES)
}

impl<'a> PackedI8<'a> {
    /// Weights from their parts; scales and corrections go on to a multiple of sixteen
    /// columns.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) or
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the shape does not fit.
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

    /// Inputs.
    pub fn depth(&self) -> usize {
        self.panels.depth()
    }

    /// Outputs.
    pub fn columns(&self) -> usize {
        self.panels.columns()
    }

    /// Some columns, from a multiple of sixteen to another or to the end.
    ///
    /// # Panics
    /// If the range is none of those.
    pub fn column_range(&self, columns: Range<usize>) -> Self {
        let padded = columns.start..padded(columns.end);
        Self {
            panels: self.panels.column_range(&columns),
            scales: &self.scales[padded.clone()],
            corrections: &self.corrections[padded],
        }
    }

    /// The numbers of one column: the embedding of a word in a tied output layer.
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
}

impl WeightsI8 {
    /// Quantises weights with a scale for each column, its largest magnitude / 127, NaN if it
    /// has something that is not a finite number.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge).
    pub fn quantise(source: UnpackedWeights<f32>) -> Result<Self> {
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

    /// Packs integers that a file has, with `scale(column)` each: a number is its
    /// integer times that, 1 / multiplier for Marian's files.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge).
    pub fn pack(source: UnpackedWeights<i8>, scale: impl Fn(usize) -> f32) -> Result<Self> {
        let mut scales = vec![0.0; padded(source.columns())];
        let mut corrections = vec![0; padded(source.columns())];
        let lines = pack_columns(Layout::I8, source, |column, numbers, bytes| {
            scales[column] = scale(column);
            bytes.extend(numbers.iter().map(|&number| number as u8));
            corrections[column] = column_correction(bytes);
        })?;
        Ok(Self { lines, scales, corrections, depth: source.depth(), columns: source.columns() })
    }

    /// Becomes the columns `ids` of other weights, in that order.
    ///
    /// # Errors
    /// [`Error::Column`](crate::Error::Column) if there is no such column.
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

    /// The weights, borrowed.
    pub fn view(&self) -> PackedI8<'_> {
        PackedI8::new(&self.lines, &self.scales, &self.corrections, self.depth, self.columns)
            .expect("packed by this type")
    }

    /// What a file holds: lines, scales and corrections.
    pub fn parts(&self) -> (&[Line], &[f32], &[i32]) {
        (&self.lines, &self.scales, &self.corrections)
    }
}

fn column_correction(bytes: &[u8]) -> i32 {
    -128 * bytes.iter().map(|&byte| i32::from(byte as i8)).sum::<i32>()
}
