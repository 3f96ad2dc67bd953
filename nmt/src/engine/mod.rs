//! The backend that translates: packed weights, memory that is used again, nothing kept for
//! a gradient.
//!
//! An engine belongs to one thread. What threads share, the weights, is behind `Arc`s that
//! [`Loader`] makes once.

mod gates;
mod load;
mod operations;
mod output;
mod rows;
mod stored;

use std::rc::Rc;
use std::sync::Arc;

use miriam_kernels::pack::{Layout, WeightsF32, WeightsI8, WeightsI16};
use miriam_kernels::product::{RowsI8, RowsI16};

use crate::checkpoint::{Order, Tensor};
pub use gates::{Annotations, Lexicon};
pub use miriam_kernels::Cpu;
pub use miriam_kernels::tuner::Tuner;

pub use load::Loader;
pub use output::Columns;
pub use rows::Rows;
pub use stored::Stored;

pub(crate) use load::{Recording, is_turned, matrices};

use rows::Store;
use stored::Packed;

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
    pub fn named(name: &str) -> Option<Self> {
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
    matrix: Matrix,
    bias: Option<Vec<f32>>,
}

enum Matrix {
    F32(WeightsF32),
    I16(WeightsI16),
    I8(WeightsI8),
    Stored(Stored),
}

impl Weights {
    /// Inputs.
    pub fn depth(&self) -> usize {
        self.matrix.packed().depth()
    }

    /// Outputs.
    pub fn columns(&self) -> usize {
        self.matrix.packed().columns()
    }
}

/// Vectors of words or marks of positions, a row each.
pub struct Table {
    rows: TableRows,
    words: usize,
    width: usize,
}

enum TableRows {
    /// Those of a file, each converted when it is needed: tables are large, and texts need
    /// little of them.
    There(Tensor),
    /// Of a file that has them as columns.
    Read(Vec<f32>),
}

impl Table {
    fn new(tensor: &Tensor) -> Self {
        let rows = match tensor.order() {
            Order::Rows => TableRows::There(tensor.clone()),
            Order::Columns => TableRows::Read(tensor.values()),
        };
        let [words, width] = [tensor.shape()[0], tensor.shape()[1]];
        Table { rows, words, width }
    }

    /// Writes the vector of a word.
    fn vector(&self, word: usize, into: &mut [f32]) {
        match &self.rows {
            TableRows::There(tensor) => tensor.row(word, into),
            TableRows::Read(rows) => {
                into.copy_from_slice(&rows[word * self.width..][..self.width]);
            }
        }
    }
}

/// Marks of positions.
pub enum Marks {
    /// Computed as far as they are needed.
    Sinusoidal(miriam_kernels::embedding::Waves, usize),
    /// Learned.
    Table(Arc<Table>),
}

/// The backend of a thread.
pub struct Engine {
    cpu: Cpu,
    tuner: Arc<Tuner>,
    store: Rc<Store>,
    // The rows that were quantised last, their scales, and what was prepared of them.
    bytes: Vec<i8>,
    prepared_bytes: RowsI8,
    shorts: Vec<i16>,
    prepared_shorts: RowsI16,
    scales: Vec<f32>,
    floats: Vec<f32>,
    logits: Vec<f32>,
    /// Of attention.
    weights: Vec<f32>,
    /// Marks of the first positions by kind of waves and width.
    waves: Vec<(miriam_kernels::embedding::Waves, usize, Vec<f32>)>,
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
            store: Rc::default(),
            bytes: Vec::new(),
            prepared_bytes: RowsI8::default(),
            shorts: Vec::new(),
            prepared_shorts: RowsI16::default(),
            scales: Vec::new(),
            floats: Vec::new(),
            logits: Vec::new(),
            weights: Vec::new(),
            waves: Vec::new(),
        }
    }
}
