//! Packed weight matrices, borrowed or in a mapped file.

use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::pack::{Layout, Line, PackedF32, PackedI8, PackedI16};
use miriam_storage::View;

/// Packed weights of one precision, borrowed.
#[derive(Clone, Copy)]
pub(crate) enum PackedView<'a> {
    F32(PackedF32<'a>),
    I16(PackedI16<'a>),
    I8(PackedI8<'a>),
}

impl PackedView<'_> {
    /// Inputs.
    pub(crate) fn depth(&self) -> usize {
        match self {
            PackedView::F32(weights) => weights.depth(),
            PackedView::I16(weights) => weights.depth(),
            PackedView::I8(weights) => weights.depth(),
        }
    }

    /// Outputs.
    pub(crate) fn columns(&self) -> usize {
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
    pub(crate) lines: View<Line>,
    pub(crate) range: Range<usize>,
    pub(crate) scales: Arc<[f32]>,
    pub(crate) corrections: Arc<[i32]>,
    pub(crate) norm: u32,
    pub(crate) layout: Layout,
    pub(crate) depth: usize,
    pub(crate) columns: usize,
}

impl MappedMatrix {
    /// The matrix, or why the file does not hold one.
    pub(crate) fn view(&self) -> Result<PackedView<'_>, String> {
        let lines = self.lines.get(self.range.clone()).ok_or("lines that are not there")?;
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
