//! The parameters of an engine: packed matrices, embedding tables, positional encodings.

use std::sync::Arc;

use miriam_kernels::embedding::SinusoidKind;
use miriam_kernels::pack::{WeightsF32, WeightsI8, WeightsI16};

use miriam_nmt_models::checkpoint::{StorageOrder, Tensor};
use miriam_nmt_models::packed::{MappedMatrix, PackedParts, PackedView};

/// A packed matrix and its bias.
pub struct Weights {
    pub(super) matrix: WeightMatrix,
    pub(super) bias: Option<Vec<f32>>,
    /// The magnitude at which inputs are clipped before they are quantised to eight bits; if
    /// `None`, each row has its own scale.
    pub(super) input_clip: Option<f32>,
}

pub(super) enum WeightMatrix {
    F32(WeightsF32),
    I16(WeightsI16),
    I8(WeightsI8),
    Mapped(MappedMatrix),
}

impl Weights {
    /// Returns the number of inputs.
    pub fn depth(&self) -> usize {
        self.matrix.view().depth()
    }

    /// Returns the number of outputs.
    pub fn columns(&self) -> usize {
        self.matrix.view().columns()
    }
}

/// A vector for each token or position.
pub struct EmbeddingTable {
    rows: EmbeddingRows,
    pub(super) vocab_size: usize,
    pub(super) width: usize,
}

enum EmbeddingRows {
    /// Rows of a file, each converted when it is needed: tables are large, and texts need few
    /// of their rows.
    Mapped(Tensor),
    /// All rows as floats, because the file stores the table column by column.
    Decoded(Vec<f32>),
}

impl EmbeddingTable {
    pub(super) fn new(tensor: &Tensor) -> Self {
        let rows = match tensor.order() {
            StorageOrder::RowMajor => EmbeddingRows::Mapped(tensor.clone()),
            StorageOrder::ColumnMajor => EmbeddingRows::Decoded(tensor.values()),
        };
        let [vocab_size, width] = [tensor.shape()[0], tensor.shape()[1]];
        EmbeddingTable { rows, vocab_size, width }
    }

    /// Writes the vector of a token.
    pub(super) fn read_row(&self, token: usize, into: &mut [f32]) {
        match &self.rows {
            EmbeddingRows::Mapped(tensor) => tensor.read_row(token, into),
            EmbeddingRows::Decoded(rows) => {
                into.copy_from_slice(&rows[token * self.width..][..self.width]);
            }
        }
    }
}

/// A positional encoding.
pub enum PositionalEncoding {
    /// Sinusoids of this kind and width, computed for as many positions as are needed.
    Sinusoidal(SinusoidKind, usize),
    /// A learned table.
    Learned(Arc<EmbeddingTable>),
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

impl Weights {
    /// Returns the parts of the matrix that a file stores.
    pub(crate) fn packed_parts(&self) -> PackedParts<'_> {
        let (depth, columns) = (self.depth(), self.columns());
        let (lines, scales, corrections, norm): (_, &[f32], &[i32], _) = match &self.matrix {
            WeightMatrix::F32(weights) => (weights.lines(), &[], &[], 0),
            WeightMatrix::I16(weights) => {
                let (lines, scales, norm) = weights.parts();
                (lines, scales, &[], norm)
            }
            WeightMatrix::I8(weights) => {
                let (lines, scales, corrections) = weights.parts();
                (lines, scales, corrections, 0)
            }
            WeightMatrix::Mapped(stored) => (
                &stored.lines[stored.range.clone()],
                &stored.scales,
                &stored.corrections,
                stored.norm,
            ),
        };
        PackedParts { depth, columns, lines, scales, corrections, norm }
    }
}
