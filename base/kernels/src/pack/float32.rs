//! Packed f32 weights.

use std::ops::Range;

use super::{Layout, Line, Panels, UnpackedWeights, pack_columns};
use crate::Result;

/// Packed f32 weights `[depth, columns]`, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct PackedF32<'a> {
    pub(crate) panels: Panels<'a>,
}

/// Packed f32 weights `[depth, columns]`, owned: the result of packing, or the selected
/// columns of a shortlist.
#[derive(Clone, Debug, Default)]
pub struct WeightsF32 {
    pub(super) lines: Vec<Line>,
    pub(super) depth: usize,
    pub(super) columns: usize,
}

impl<'a> PackedF32<'a> {
    /// Returns the weights that `lines` contain.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if `lines` do not have the length of this shape,
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the shape cannot be packed.
    pub fn new(lines: &'a [Line], depth: usize, columns: usize) -> Result<Self> {
        Ok(Self { panels: Panels::new(Layout::F32, lines, depth, columns)? })
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
        Self { panels: self.panels.column_range(&columns) }
    }

    /// Returns the rows `depth`, a part of the depth.
    ///
    /// # Panics
    /// If the range exceeds the depth.
    pub(crate) fn depth_range(&self, depth: Range<usize>) -> Self {
        Self { panels: self.panels.depth_range(&depth, 1) }
    }

    /// Returns the first `columns` columns; only columns of the last panel may be dropped.
    pub(crate) fn narrow(mut self, columns: usize) -> Self {
        self.panels.narrow(columns);
        self
    }

    /// Copies the numbers of one column, `[depth]`: the embedding of a token in a tied output
    /// layer.
    ///
    /// # Panics
    /// If there is no such column, or `into` is not as long as the depth.
    pub fn column(&self, column: usize, into: &mut [f32]) {
        assert_eq!(into.len(), self.depth());
        for (to, cell) in into.iter_mut().zip(self.panels.column_cells(column)) {
            *to = f32::from_le_bytes(cell);
        }
    }
}

impl WeightsF32 {
    /// Packs weights.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the shape cannot be packed.
    pub fn pack(source: UnpackedWeights<f32>) -> Result<Self> {
        let lines = pack_columns(Layout::F32, source, |_, numbers, bytes| {
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        })?;
        Ok(Self { lines, depth: source.depth(), columns: source.columns() })
    }

    /// Replaces the weights by the columns `ids` of `from`, in that order.
    ///
    /// # Errors
    /// [`Error::ColumnOutOfRange`](crate::Error::ColumnOutOfRange) if an id is not a column of
    /// `from`.
    pub fn select(&mut self, from: &PackedF32, ids: &[u32]) -> Result<()> {
        from.panels.select(ids, &mut self.lines)?;
        (self.depth, self.columns) = (from.depth(), ids.len());
        Ok(())
    }

    /// Returns the weights, borrowed.
    pub fn view(&self) -> PackedF32<'_> {
        PackedF32::new(&self.lines, self.depth, self.columns).expect("packed by this type")
    }

    /// Returns the lines to write into a file.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}
