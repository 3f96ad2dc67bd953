//! Packed weight matrices, borrowed or in a mapped file.

use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::pack::{Layout, Line, PackedF32, PackedI8, PackedI16};
use miriam_storage::View;

/// Packed weights of one precision, borrowed.
#[derive(Clone, Copy)]
pub enum PackedView<'a> {
    /// Floats.
    F32(PackedF32<'a>),
    /// Sixteen-bit integers.
    I16(PackedI16<'a>),
    /// Eight-bit integers.
    I8(PackedI8<'a>),
}

impl PackedView<'_> {
    /// Returns the number of inputs.
    pub fn depth(&self) -> usize {
        match self {
            PackedView::F32(weights) => weights.depth(),
            PackedView::I16(weights) => weights.depth(),
            PackedView::I8(weights) => weights.depth(),
        }
    }

    /// Returns the number of outputs.
    pub fn columns(&self) -> usize {
        match self {
            PackedView::F32(weights) => weights.columns(),
            PackedView::I16(weights) => weights.columns(),
            PackedView::I8(weights) => weights.columns(),
        }
    }
}

/// A packed matrix of a mapped file, where its lines stay.
#[derive(Clone, Debug)]
pub struct MappedMatrix {
    /// The lines of all packed matrices of the file, 64 bytes each.
    pub lines: View<Line>,
    /// The lines of this matrix among them.
    pub range: Range<usize>,
    /// The scale of each column; empty for floats.
    pub scales: Arc<[f32]>,
    /// The corrections of columns, as in [`PackedParts`](super::PackedParts); empty unless the
    /// weights are eight-bit integers.
    pub corrections: Arc<[i32]>,
    /// The largest norm of a run, as in [`PackedParts`](super::PackedParts); only sixteen-bit
    /// integers need it.
    pub norm: u32,
    /// The layout in which it is packed.
    pub layout: Layout,
    /// The number of inputs.
    pub depth: usize,
    /// The number of outputs.
    pub columns: usize,
}

impl MappedMatrix {
    /// Returns the matrix, or the reason why the file is damaged.
    pub fn view(&self) -> Result<PackedView<'_>, String> {
        let lines = self.lines.get(self.range.clone()).ok_or("its lines are out of range")?;
        let MappedMatrix { scales, corrections, norm, depth, columns, .. } = self;
        let packed = match self.layout {
            Layout::F32 => PackedF32::new(lines, *depth, *columns).map(PackedView::F32),
            Layout::I16 => {
                PackedI16::new(lines, scales, *norm, *depth, *columns).map(PackedView::I16)
            }
            Layout::I8 => {
                PackedI8::new(lines, scales, corrections, *depth, *columns).map(PackedView::I8)
            }
        };
        packed.map_err(|error| error.to_string())
    }
}
