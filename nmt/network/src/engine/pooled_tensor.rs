//! Tensors in pooled memory.
//!
//! A step of decoding makes dozens of small matrices and drops them again. Each engine keeps their
//! memory for later matrices, so that a step allocates no matrix once the largest shapes have
//! occurred.

use std::cell::RefCell;
use std::rc::Rc;

use miriam_kernels::{AlignedVec, MatMut, MatRef};

/// Buffers of more numbers than this are freed. Otherwise, after one long text, every buffer would
/// in time grow to the length that this text needs.
const MAX_POOLED_LEN: usize = 1 << 22;

/// The memory of dropped tensors.
#[derive(Default)]
pub(super) struct BufferPool {
    free: RefCell<Vec<AlignedVec<f32>>>,
}

/// A matrix of an engine. Its memory goes back to the pool when it is dropped.
pub struct PooledTensor {
    values: AlignedVec<f32>,
    rows: usize,
    width: usize,
    pool: Rc<BufferPool>,
}

impl PooledTensor {
    /// Creates a tensor `[rows, width]` of arbitrary numbers, for operations that overwrite all of
    /// them.
    pub(super) fn empty(pool: &Rc<BufferPool>, rows: usize, width: usize) -> Self {
        let mut values = pool.free.borrow_mut().pop().unwrap_or_default();
        values.grow(rows * width);
        PooledTensor { values, rows, width, pool: Rc::clone(pool) }
    }

    /// Returns zeros, `[rows, width]`.
    pub(super) fn zeros(pool: &Rc<BufferPool>, rows: usize, width: usize) -> Self {
        let mut zeros = Self::empty(pool, rows, width);
        zeros.values[..rows * width].fill(0.0);
        zeros
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the matrix `[rows, width]`.
    pub fn view(&self) -> MatRef<'_, f32> {
        MatRef::new(&self.values, self.rows, self.width)
    }

    /// Returns the matrix `[rows, width]` for writing.
    pub fn view_mut(&mut self) -> MatMut<'_, f32> {
        MatMut::new(&mut self.values, self.rows, self.width)
    }
}

impl Drop for PooledTensor {
    fn drop(&mut self) {
        let values = std::mem::take(&mut self.values);
        if values.len() <= MAX_POOLED_LEN {
            self.pool.free.borrow_mut().push(values);
        }
    }
}
