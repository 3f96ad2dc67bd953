//! Tensors in the memory of a device; their buffers return to a pool.
//!
//! A step needs some hundred tensors of the same sizes again and again, and asking the driver for
//! each would cost more than computing it. All work of a backend is queued on one stream, so memory
//! may be used again as soon as its tensor is dropped: what is queued later runs later.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use miriam_gpu::{Buffer, Error, Pod, Result, Stream};

/// Buffers that are free, by their length.
#[derive(Default)]
pub(crate) struct Pool {
    free: RefCell<BTreeMap<usize, Vec<Buffer<f32>>>>,
}

/// Returns how many numbers the buffer for `len` numbers holds: one of four lengths for each power
/// of two, so that tensors of similar sizes share buffers.
fn buffer_len(len: usize) -> usize {
    let len = len.max(64);
    let step = (len.next_power_of_two() / 8).max(1);
    len.next_multiple_of(step)
}

impl Pool {
    /// Takes a buffer of at least `len` arbitrary numbers.
    pub fn take(self: &Rc<Self>, stream: &Stream, len: usize) -> Result<PooledBuffer> {
        let len = buffer_len(len);
        let free = self.free.borrow_mut().get_mut(&len).and_then(Vec::pop);
        let buffer = match free {
            Some(buffer) => buffer,
            None => self.allocate(stream, len)?,
        };
        Ok(PooledBuffer { buffer: Some(buffer), pool: Rc::clone(self) })
    }

    /// Allocates a buffer of arbitrary numbers, which does not return to the pool.
    pub fn allocate<T: Pod>(&self, stream: &Stream, len: usize) -> Result<Buffer<T>> {
        self.retry(|| stream.alloc_uninitialized(len))
    }

    /// Allocates memory. If the device has no room, releases the free buffers of the pool and tries
    /// once more.
    pub fn retry<T>(&self, allocate: impl Fn() -> Result<T>) -> Result<T> {
        match allocate() {
            Err(Error::OutOfMemory { .. }) => {
                self.free.borrow_mut().clear();
                allocate()
            }
            outcome => outcome,
        }
    }
}

/// A buffer that returns to its pool.
pub(crate) struct PooledBuffer {
    /// `Some` until the pooled buffer is dropped.
    buffer: Option<Buffer<f32>>,
    pool: Rc<Pool>,
}

impl PooledBuffer {
    pub fn buffer(&self) -> &Buffer<f32> {
        self.buffer.as_ref().expect("taken only when dropped")
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.pool.free.borrow_mut().entry(buffer.len()).or_default().push(buffer);
        }
    }
}

/// A matrix in the memory of a device, `[rows, width]`, row-major. Clones share it.
#[derive(Clone)]
pub struct DeviceTensor {
    memory: Rc<PooledBuffer>,
    rows: usize,
    width: usize,
}

impl DeviceTensor {
    /// Returns a tensor of arbitrary numbers.
    pub(crate) fn new(stream: &Stream, pool: &Rc<Pool>, rows: usize, width: usize) -> Result<Self> {
        let memory = Rc::new(pool.take(stream, rows * width)?);
        Ok(DeviceTensor { memory, rows, width })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn buffer(&self) -> &Buffer<f32> {
        self.memory.buffer()
    }

    /// Returns the memory of a tensor that has no clones.
    ///
    /// # Panics
    /// If the tensor has a clone.
    pub(crate) fn buffer_mut(&mut self) -> &mut Buffer<f32> {
        let memory = Rc::get_mut(&mut self.memory).expect("a new tensor");
        memory.buffer.as_mut().expect("taken only when dropped")
    }

    /// Whether the tensor has no clones, so that its memory may be written.
    pub(crate) fn is_unique(&self) -> bool {
        Rc::strong_count(&self.memory) == 1
    }

    /// Whether one tensor is a clone of the other.
    pub(crate) fn shares_memory_with(&self, other: &DeviceTensor) -> bool {
        Rc::ptr_eq(&self.memory, &other.memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_have_room_and_waste_little() {
        for len in (1..5000).chain([1 << 20, (1 << 20) + 1, 12_345_678]) {
            let buffer = buffer_len(len);
            assert!(buffer >= len && buffer <= len + len / 4 + 64, "{len}: {buffer}");
            assert_eq!(buffer_len(buffer), buffer, "{len}");
        }
    }
}
