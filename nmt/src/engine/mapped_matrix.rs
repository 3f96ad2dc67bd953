//! Packed weights where they lie in a file of ours.

use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::pack::{Layout, Line, PackedF32, PackedI8, PackedI16};
use miriam_storage::View;

use super::{WeightMatrix, Weights};

/// Packed weights of one precision, borrowed.
#[derive(Clone, Copy)]
pub(crate) enum PackedView<'a> {
    F32(PackedF32<'a>),
    I16(PackedI16<'a>),
    I8(PackedI8<'a>),
}

impl PackedView<'_> {
    pub(super) fn depth(&self) -> usize {
        match self {
            PackedView::F32(weights) => weights.depth(),
            PackedView::I16(weights) => weights.depth(),
            PackedView::I8(weights) => weights.depth(),
        }
    }

    pub(super) fn columns(&self) -> usize {
        match self {
            PackedView::F32(weights) => weights.columns(),
            PackedView::I16(weights) => weights.columns(),
            PackedView::I8(weights) => weights.columns(),
        }
    }
}

impl WeightMatrix {
    pub(super) fn view(&self) -> PackedView<'_> {
        match self {
            WeightMatrix::F32(weights) => PackedView::F32(weights.view()),
            WeightMatrix::I16(weights) => PackedView::I16(weights.view()),
            WeightMatrix::I8(weights) => PackedView::I8(weights.view()),
            WeightMatrix::Mapped(stored) => stored.view().expect("checked when it was opened"),
        }
    }
}

/// A packed matrix of a mapped file. Its lines stay there.
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
    /// The matrix, or why it is none.
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

/// What a file holds of packed weights, beside their shape.
pub(crate) struct PackedParts<'a> {
    pub lines: &'a [Line],
    pub scales: &'a [f32],
    pub corrections: &'a [i32],
    pub norm: u32,
}

impl Weights {
    pub(crate) fn packed_parts(&self) -> PackedParts<'_> {
        match &self.matrix {
            WeightMatrix::F32(weights) => {
                PackedParts { lines: weights.lines(), scales: &[], corrections: &[], norm: 0 }
            }
            WeightMatrix::I16(weights) => {
                let (lines, scales, norm) = weights.parts();
                PackedParts { lines, scales, corrections: &[], norm }
            }
            WeightMatrix::I8(weights) => {
                let (lines, scales, corrections) = weights.parts();
                PackedParts { lines, scales, corrections, norm: 0 }
            }
            WeightMatrix::Mapped(stored) => PackedParts {
                lines: &stored.lines[stored.range.clone()],
                scales: &stored.scales,
                corrections: &stored.corrections,
                norm: stored.norm,
            },
        }
    }
}
