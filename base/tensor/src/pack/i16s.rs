//! Packed weights of sixteen bits, Devlin's (2017, section 4.1) and Marian's.
//!
//! Sums of products are 32 bits wide, so how many can be added before they must be
//! set aside depends on the largest weight and the largest input: the largest weight
//! is kept with the weights.

use std::ops::Range;

use super::{Layout, Line, Panels, Source, check, nearest, pack};
use crate::{LANES, Result};

/// Packed i16 weights, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct PackedI16<'a> {
    pub(crate) panels: Panels<'a>,
    pub(crate) scales: &'a [f32],
    pub(crate) largest: u16,
}

/// Packed i16 weights, owned: what packing makes and shortlists fill.
#[derive(Clone, Debug, Default)]
pub struct WeightsI16 {
    lines: Vec<Line>,
    scales: Vec<f32>,
    largest: u16,
    depth: usize,
    columns: usize,
}

impl<'a> PackedI16<'a> {
    /// Weights from their parts; scales go on to a multiple of sixteen columns. No
    /// weight's magnitude may exceed `largest`, or sums overflow (and wrap).
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) or
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the shape does not fit.
    pub fn new(
        lines: &'a [Line],
        scales: &'a [f32],
        largest: u16,
        depth: usize,
        columns: usize,
    ) -> Result<Self> {
        let panels = Panels::new(Layout::I16, lines, depth, columns)?;
        let padded = columns.next_multiple_of(LANES);
        check("scales", padded, scales.len(), depth, columns)?;
        Ok(Self { panels, scales, largest })
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
    pub fn part(&self, columns: Range<usize>) -> Self {
        let scales = &self.scales[columns.start..columns.end.next_multiple_of(LANES)];
        Self { panels: self.panels.part(&columns), scales, largest: self.largest }
    }

    /// The numbers of one column: the embedding of a word in a tied output layer.
    ///
    /// # Panics
    /// If there is no such column, or `into` is not as long as the depth.
    pub fn column(&self, column: usize, into: &mut [f32]) {
        assert_eq!(into.len(), self.depth());
        let scale = self.scales[column];
        for (to, cell) in into.chunks_mut(2).zip(self.panels.cells(column)) {
            for (to, bytes) in to.iter_mut().zip(cell.as_chunks::<2>().0) {
                *to = f32::from(i16::from_le_bytes(*bytes)) * scale;
            }
        }
    }
}

impl WeightsI16 {
    /// Quantises weights: the largest magnitude of each column becomes `limit`, at most
    /// 32,767.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge).
    pub fn quantise(source: Source<f32>, limit: u16) -> Result<Self> {
        let limit = f32::from(limit.min(i16::MAX as u16));
        let mut scales = vec![0.0; source.columns().next_multiple_of(LANES)];
        let lines = pack(Layout::I16, source, |column, numbers, bytes| {
            let largest = numbers.iter().fold(0f32, |largest, number| largest.max(number.abs()));
            scales[column] = largest / limit;
            let factor = if largest > 0.0 { limit / largest } else { 0.0 };
            bytes.extend(numbers.iter().flat_map(|&number| {
                let integer = nearest((number * factor).clamp(-limit, limit));
                (integer as i16).to_le_bytes()
            }));
        })?;
        let (depth, columns) = (source.depth(), source.columns());
        Ok(Self { lines, scales, largest: limit as u16, depth, columns })
    }

    /// Packs integers that a file has, with `scale(column)` each: a number is its
    /// integer times that.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge).
    pub fn pack(source: Source<i16>, scale: impl Fn(usize) -> f32) -> Result<Self> {
        let mut scales = vec![0.0; source.columns().next_multiple_of(LANES)];
        (0..source.columns()).for_each(|column| scales[column] = scale(column));
        let mut largest = 0;
        let lines = pack(Layout::I16, source, |_, numbers, bytes| {
            for number in numbers {
                largest = largest.max(number.unsigned_abs());
                bytes.extend(number.to_le_bytes());
            }
        })?;
        Ok(Self { lines, scales, largest, depth: source.depth(), columns: source.columns() })
    }

    /// Becomes the columns `ids` of other weights, in that order.
    ///
    /// # Errors
    /// [`Error::Column`](crate::Error::Column) if there is no such column.
    pub fn select(&mut self, from: &PackedI16, ids: &[u32]) -> Result<()> {
        from.panels.select(ids, &mut self.lines)?;
        (self.depth, self.columns, self.largest) = (from.depth(), ids.len(), from.largest);
        self.scales.clear();
        self.scales.extend(ids.iter().map(|&id| from.scales[id as usize]));
        self.scales.resize(ids.len().next_multiple_of(LANES), 0.0);
        Ok(())
    }

    /// The weights, borrowed.
    pub fn view(&self) -> PackedI16<'_> {
        PackedI16::new(&self.lines, &self.scales, self.largest, self.depth, self.columns)
            .expect("packed by this type")
    }

    /// What a file holds: lines, scales and the largest magnitude.
    pub fn parts(&self) -> (&[Line], &[f32], u16) {
        (&self.lines, &self.scales, self.largest)
    }
}
