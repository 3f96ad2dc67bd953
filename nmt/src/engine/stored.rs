//! Packed weights where they lie in a file of ours.

use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::pack::{Layout, Line, PackedF32, PackedI8, PackedI16};
use miriam_storage::View;

use super::{Matrix, Weights};

/// Packed weights of one precision, borrowed.
#[derive(Clone, Copy)]
pub(crate) enum Packed<'a> {
    F32(PackedF32<'a>),
    I16(PackedI16<'a>),
    I8(PackedI8<'a>),
}

impl Packed<'_> {
    pub(super) fn depth(&self) -> usize {
        match self {
            Packed::F32(weights) => weights.depth(),
            Packed::I16(weights) => weights.depth(),
            Packed::I8(weights) => weights.depth(),
        }
    }

    pub(super) fn columns(&self) -> usize {
        match self {
            Packed::F32(weights) => weights.columns(),
            Packed::I16(weights) => weights.columns(),
            Packed::I8(weights) => weights.columns(),
        }
    }
}

impl Matrix {
    pub(super) fn packed(&self) -> Packed<'_> {
        match self {
            Matrix::F32(weights) => Packed::F32(weights.view()),
            Matrix::I16(weights) => Packed::I16(weights.view()),
            Matrix::I8(weights) => Packed::I8(weights.view()),
            Matrix::Stored(stored) => stored.packed().expect("checked when it was opened"),
        }
    }
}

/// A packed matrix of a mapped file. Its lines stay there.
#[derive(Clone, Debug)]
pub struct Stored {
    pub(crate) lines: View<Line>,
    pub(crate) range: Range<usize>,
    pub(crate) scales: Arc<[f32]>,
    pub(crate) corrections: Arc<[i32]>,
    pub(crate) norm: u32,
    pub(crate) layout: Layout,
    pub(crate) depth: usize,
    pub(crate) columns: usize,
}

impl Stored {
    /// The matrix, or why it is none.
    pub(crate) fn packed(&self) -> Result<Packed<'_>, String> {
        let lines = self.lines.get(self.range.clone()).ok_or("lines that are not there")?;
        let Stored { scales, corrections, norm, depth, columns, .. } = self;
        let packed = match self.layout {
            Layout::F32 => PackedF32::new(lines, *depth, *columns).map(Packed::F32),
            Layout::I16 => PackedI16::new(lines, scales, *norm, *depth, *columns).map(Packed::I16),
            Layout::I8 => {
                PackedI8::new(lines, scales, corrections, *depth, *columns).map(Packed::I8)
            }
        };
        packed.map_err(|error| error.to_string())
    }
}

/// What a file holds of packed weights, beside their shape.
pub(crate) struct Parts<'a> {
    pub lines: &'a [Line],
    pub scales: &'a [f32],
    pub corrections: &'a [i32],
    pub norm: u32,
}

impl Weights {
    pub(crate) fn parts(&self) -> Parts<'_> {
        match &self.matrix {
            Matrix::F32(weights) => {
                Parts { lines: weights.lines(), scales: &[], corrections: &[], norm: 0 }
            }
            Matrix::I16(weights) => {
                let (lines, scales, norm) = weights.parts();
                Parts { lines, scales, corrections: &[], norm }
            }
            Matrix::I8(weights) => {
                let (lines, scales, corrections) = weights.parts();
                Parts { lines, scales, corrections, norm: 0 }
            }
            Matrix::Stored(stored) => Parts {
                lines: &stored.lines[stored.range.clone()],
                scales: &stored.scales,
                corrections: &stored.corrections,
                norm: stored.norm,
            },
        }
    }
}
