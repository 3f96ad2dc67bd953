//! The backend that translates: packed weights, memory that is used again, nothing kept for
//! a gradient.
//!
//! An engine belongs to one thread. What threads share, the weights, is behind `Arc`s that
//! [`Loader`] makes once.

mod load;
mod mapped_matrix;
mod operations;
mod output;
mod pooled_tensor;
mod recurrent_ops;

use std::rc::Rc;
use std::sync::Arc;

use miriam_kernels::gemm::{PreparedI8, PreparedI16};
use miriam_kernels::pack::{Layout, WeightsF32, WeightsI8, WeightsI16};

use crate::checkpoint::{StorageOrder, Tensor};
pub use miriam_kernels::Cpu;
pub use miriam_kernels::tuner::Tuner;
pub use recurrent_ops::{Annotations, ProjectedEmbeddingCache};

pub use load::WeightLoader;
pub use mapped_matrix::MappedMatrix;
pub use output::OutputColumns;
pub use pooled_tensor::PooledTensor;

pub(crate) use load::{UsedParameters, is_transposed, matrix_names};

use mapped_matrix::PackedView;
use pooled_tensor::BufferPool;

/// The numbers that products multiply with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Precision {
    /// Floats.
    #[default]
    F32,
    /// Sixteen bits (Devlin 2017, section 4.1): as eight, as fine as sums allow.
    I16,
    /// Eight bits: a multiplier for each row of the input and each column of weights.
    I8,
    /// Sixteen bits in the encoder, eight elsewhere. What the encoder errs by every step of the
    /// decoder sees again, and it works on many rows at once, where sixteen bits cost
    /// least.
    Mixed,
}

impl Precision {
    /// All of them.
    pub const ALL: [Precision; 4] =
        [Precision::F32, Precision::I16, Precision::I8, Precision::Mixed];

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|precision| precision.name() == name)
    }

    /// Its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::I16 => "i16",
            Precision::I8 => "i8",
            Precision::Mixed => "mixed",
        }
    }

    /// How a matrix, or several from one of that name, is packed.
    pub(crate) fn layout(self, name: &str) -> Layout {
        match self {
            Precision::F32 => Layout::F32,
            Precision::I16 => Layout::I16,
            Precision::I8 => Layout::I8,
            Precision::Mixed if name.starts_with("encoder") => Layout::I16,
            Precision::Mixed => Layout::I8,
        }
    }
}

/// Weights, shared by all threads.
pub struct Weights {
    matrix: WeightMatrix,
    bias: Option<Vec<f32>>,
}

enum WeightMatrix {
    F32(WeightsF32),
    I16(WeightsI16),
    I8(WeightsI8),
    Mapped(MappedMatrix),
}

impl Weights {
    /// Inputs.
    pub fn depth(&self) -> usize {
        self.matrix.view().depth()
    }

    /// Outputs.
    pub fn columns(&self) -> usize {
        self.matrix.view().columns()
    }
}

/// Vectors of words or marks of positions, a row each.
pub struct EmbeddingTable {
    rows: EmbeddingRows,
    vocab_size: usize,
    width: usize,
}

enum EmbeddingRows {
    /// Those of a file, each converted when it is needed: tables are large, and texts need
    /// little of them.
    Mapped(Tensor),
    /// Of a file that has them as columns.
    Decoded(Vec<f32>),
}

impl EmbeddingTable {
    fn new(tensor: &Tensor) -> Self {
        let rows = match tensor.order() {
            StorageOrder::RowMajor => EmbeddingRows::Mapped(tensor.clone()),
            StorageOrder::ColumnMajor => EmbeddingRows::Decoded(tensor.values()),
        };
        let [vocab_size, width] = [tensor.shape()[0], tensor.shape()[1]];
        EmbeddingTable { rows, vocab_size, width }
    }

    /// Writes the vector of a word.
    fn read_row(&self, word: usize, into: &mut [f32]) {
        match &self.rows {
            EmbeddingRows::Mapped(tensor) => tensor.read_row(word, into),
            EmbeddingRows::Decoded(rows) => {
                into.copy_from_slice(&rows[word * self.width..][..self.width]);
            }
        }
    }
}

/// Marks of positions.
pub enum PositionalEncoding {
    /// Computed as far as they are needed.
    Sinusoidal(miriam_kernels::embedding::SinusoidKind, usize),
    /// Learned.
    Learned(Arc<EmbeddingTable>),
}

/// The backend of a thread.
pub struct Engine {
    cpu: Cpu,
    tuner: Arc<Tuner>,
    pool: Rc<BufferPool>,
    // The rows that were quantised last, their scales, and what was prepared of them.
    quantised_i8: Vec<i8>,
    prepared_i8: PreparedI8,
    quantised_i16: Vec<i16>,
    prepared_i16: PreparedI16,
    scales: Vec<f32>,
    scratch: Vec<f32>,
    logits: Vec<f32>,
    /// Of attention.
    attention_weights: Vec<f32>,
    /// Marks of the first positions by kind of waves and width.
    sinusoid_tables: Vec<(miriam_kernels::embedding::SinusoidKind, usize, Vec<f32>)>,
}

impl Engine {
    /// An engine that computes with the instructions of `cpu`.
    pub fn new(cpu: Cpu) -> Self {
        Self::with_tuner(cpu, Arc::new(Tuner::new(cpu)))
    }

    /// The instructions that it computes with.
    pub fn cpu(&self) -> Cpu {
        self.cpu
    }

    /// As [`new`](Engine::new), choosing among ways of the same product by what others have measured.
    pub fn with_tuner(cpu: Cpu, tuner: Arc<Tuner>) -> Self {
        Engine {
            cpu,
            tuner,
            pool: Rc::default(),
            quantised_i8: Vec::new(),
            prepared_i8: PreparedI8::default(),
            quantised_i16: Vec::new(),
            prepared_i16: PreparedI16::default(),
            scales: Vec::new(),
            scratch: Vec::new(),
            logits: Vec::new(),
            attention_weights: Vec::new(),
            sinusoid_tables: Vec::new(),
        }
    }
}
