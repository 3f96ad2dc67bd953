//! Rows as integer products take them: cells laid for tiles of one size, prepared once for
//! all columns that they are multiplied with.

use super::Tiling;
use crate::Cpu;

/// Rows prepared for products, whose cells are `C`.
#[derive(Clone, Debug, Default)]
pub struct PreparedRows<C> {
    pub(super) cells: C,
    pub(super) scales: Vec<f32>,
    pub(super) depth: usize,
    prepared_for: Option<(Cpu, Tiling)>,
}

impl<C> PreparedRows<C> {
    /// Takes what all rows have.
    pub(super) fn reset(&mut self, cpu: Cpu, tiling: Tiling, depth: usize, scales: &[f32]) {
        (self.prepared_for, self.depth) = (Some((cpu, tiling)), depth);
        self.scales.clear();
        self.scales.extend_from_slice(scales);
    }

    /// The tiles they are prepared for; none, if they were never or are
    /// [forgotten](Self::forget).
    pub fn tiling(&self) -> Option<Tiling> {
        self.prepared_for.map(|(_, tiling)| tiling)
    }

    /// Forgets the rows.
    pub fn invalidate(&mut self) {
        self.prepared_for = None;
    }

    /// The instructions and tiles they are prepared for.
    pub(super) fn prepared_for(&self) -> (Cpu, Tiling) {
        self.prepared_for.expect("prepared rows")
    }
}
