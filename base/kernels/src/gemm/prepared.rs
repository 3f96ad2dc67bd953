//! Rows prepared for integer GEMM: their cells are interleaved for tiles of one size, once for
//! all columns that they are multiplied with.

use super::Tiling;
use crate::Cpu;

/// Rows, `[rows, depth]`, prepared for GEMM, with cells of the type `C`.
#[derive(Clone, Debug, Default)]
pub struct PreparedRows<C> {
    pub(super) cells: C,
    pub(super) scales: Vec<f32>,
    pub(super) depth: usize,
    prepared_for: Option<(Cpu, Tiling)>,
}

impl<C> PreparedRows<C> {
    /// Sets the fields that do not depend on the cell type.
    pub(super) fn reset(&mut self, cpu: Cpu, tiling: Tiling, depth: usize, scales: &[f32]) {
        (self.prepared_for, self.depth) = (Some((cpu, tiling)), depth);
        self.scales.clear();
        self.scales.extend_from_slice(scales);
    }

    /// Returns the tiling the rows are prepared for; `None` before the first call of `prepare` and
    /// after [`PreparedRows::invalidate`].
    pub fn tiling(&self) -> Option<Tiling> {
        self.prepared_for.map(|(_, tiling)| tiling)
    }

    /// Marks the rows as not prepared.
    pub fn invalidate(&mut self) {
        self.prepared_for = None;
    }

    /// Returns the instructions and the tiling the rows are prepared for.
    pub(super) fn prepared_for(&self) -> (Cpu, Tiling) {
        self.prepared_for.expect("prepared rows")
    }
}
