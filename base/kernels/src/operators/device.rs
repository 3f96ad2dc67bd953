//! Operators as devices see them: the kernel that computes an operator, and its arguments besides
//! matrices and vectors.
//!
//! A device has a kernel for each name and no list of operators: it launches what
//! [`Operator::device`](super::Operator::device) asks for. The kernels for CUDA are in
//! `nmt/cuda/kernels/operators.cu`, with the formulas of the files here.

use std::borrow::Cow;
use std::ops::Range;

use super::Sequences;

/// The work of a device for an operator.
#[derive(Clone, Debug)]
pub enum DeviceOperator<'a> {
    /// A kernel with a thread for each element of the result.
    Elements(DeviceKernel),
    /// A kernel with a group of threads for each row of the result.
    Rows(DeviceKernel),
    /// A kernel with a thread for each column of each sequence.
    Sequences {
        /// The kernel.
        kernel: DeviceKernel,
        /// The rows that follow each other.
        sequences: Cow<'a, Sequences>,
        /// A number for each sequence, if the kernel takes one.
        counts: &'a [u32],
    },
    /// Copies of the matrices below each other.
    ConcatRows,
    /// Copies of the matrices side by side.
    ConcatColumns,
    /// A kernel for each of several ranges of columns, which together are all columns.
    ColumnRanges(Vec<DeviceColumns>),
    /// Nothing: only training applies the operator, and devices do not train.
    Unsupported,
}

/// Columns of the result that a kernel computes from the same columns of the only matrix.
#[derive(Clone, Debug)]
pub struct DeviceColumns {
    /// The columns.
    pub columns: Range<usize>,
    /// The kernel, which computes elements or whole rows.
    pub kernel: DeviceKernel,
    /// Whether the kernel computes whole rows.
    pub by_rows: bool,
    /// The range of the operator's vectors that the kernel takes.
    pub vectors: Range<usize>,
}

/// The kernel of an operator.
#[derive(Clone, Copy, Debug)]
pub struct DeviceKernel {
    /// The name.
    pub name: &'static str,
    /// The fewest and the most matrices that it takes.
    pub matrices: [usize; 2],
    /// The fewest and the most vectors that it takes.
    pub vectors: [usize; 2],
    /// The number of elements that a vector has for each column of the result: one, or the number
    /// of gates.
    pub vector_parts: usize,
    /// An activation, a kind of norm, or the position of a bias.
    pub code: u32,
    /// An epsilon or a limit.
    pub number: f32,
}

impl DeviceKernel {
    /// A copy of elements: the activation that changes nothing.
    pub(super) const COPY: DeviceKernel = DeviceKernel::new("activate_elements", [1, 1]);

    /// Returns a kernel that takes matrices and no other arguments.
    pub(super) const fn new(name: &'static str, matrices: [usize; 2]) -> Self {
        DeviceKernel { name, matrices, vectors: [0, 0], vector_parts: 1, code: 0, number: 0.0 }
    }

    /// Panics unless the kernel takes this number of matrices, and vectors of these lengths, for a
    /// result of `width` columns. The kernel would read beyond the end of shorter vectors.
    pub fn check_inputs(
        &self,
        matrices: usize,
        mut vectors: impl ExactSizeIterator<Item = usize>,
        width: usize,
    ) {
        let DeviceKernel { name, vector_parts, .. } = *self;
        let takes = |[least, most]: [usize; 2], count| (least..=most).contains(&count);
        assert!(takes(self.matrices, matrices), "{name} does not take {matrices} matrices");
        assert!(
            takes(self.vectors, vectors.len()),
            "{name} does not take {} vectors",
            vectors.len()
        );
        assert!(
            vectors.all(|len| len == vector_parts * width),
            "{name} takes {vector_parts} numbers of a vector for each of {width} columns"
        );
    }
}
