//! Rows in memory that comes back.
//!
//! A step of decoding makes some dozens of small matrices and drops them again. Each
//! engine keeps what was dropped and hands it out again, so that steps allocate nothing
//! once they have seen their largest shapes.

use std::cell::RefCell;
use std::rc::Rc;

use miriam_kernels::{Mat, MatMut};

/// Longer lists are given back: they come with long texts, and would make every list grow
/// to their length in time.
const MAX_POOLED_LEN: usize = 1 << 22;

/// Memory of dropped rows.
#[derive(Default)]
pub(super) struct BufferPool {
    free: RefCell<Vec<Vec<f32>>>,
}

/// A matrix of an engine. Its memory goes back to the engine when it is dropped.
pub struct PooledTensor {
    values: Vec<f32>,
    rows: usize,
    width: usize,
    pool: Rc<BufferPool>,
}

impl PooledTensor {
    /// Any numbers, for what writes all of them.
    pub(super) fn empty(home: &Rc<BufferPool>, rows: usize, width: usize) -> Self {
        let mut values = home.free.borrow_mut().pop().unwrap_or_default();
        // What is there already need not be cleared.
        if values.len() < rows * width {
            values.resize(rows * width, 0.0);
        }
        PooledTensor { values, rows, width, pool: Rc::clone(home) }
    }

    /// Zeros.
    pub(super) fn zeros(home: &Rc<BufferPool>, rows: usize, width: usize) -> Self {
        let mut zeros = Self::empty(home, rows, width);
        zeros.values[..rows * width].fill(0.0);
        zeros
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Elements of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The matrix, read.
    pub fn view(&self) -> Mat<'_, f32> {
        Mat::new(&self.values, self.rows, self.width)
    }

    /// The matrix, written.
    pub fn view_mut(&mut self) -> MatMut<'_, f32> {
        MatMut::new(&mut self.values, self.rows, self.width)
    }
}

impl Drop for PooledTensor {
    fn drop(&mut self) {
        let values = std::mem::take(&mut self.values);
        if values.capacity() <= MAX_POOLED_LEN {
            self.pool.free.borrow_mut().push(values);
        }
    }
}
