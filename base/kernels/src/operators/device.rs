//! Operators as devices see them: the kernel that computes one, and what it is told beside matrices
//! and vectors.
//!
//! A device has a kernel for each name and no list of operators: it launches what
//! [`Operator::device`](super::Operator::device) asks for. The kernels for CUDA are in
//! `nmt/cuda/kernels/operators.cu`, with the formulas of the files here.

use std::borrow::Cow;

use super::{NormalizeColumns, Sequences};

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
    /// Norms of ranges of columns.
    NormalizeColumns(&'a NormalizeColumns),
    /// Nothing: only training applies the operator, and devices do not train.
    Unsupported,
}

/// The kernel of an operator.
#[derive(Clone, Copy, Debug)]
pub struct DeviceKernel {
    /// The name.
    pub name: &'static str,
    /// An activation, a kind of norm, or the position of a bias.
    pub code: u32,
    /// An epsilon or a limit.
    pub number: f32,
}

impl DeviceKernel {
    /// Returns a kernel that is told nothing more.
    pub(super) fn named(name: &'static str) -> Self {
        DeviceKernel { name, code: 0, number: 0.0 }
    }
}
