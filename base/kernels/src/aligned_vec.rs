//! Buffers of numbers that begin at a cache line.
//!
//! A vector of AVX-512 and a row of an AMX tile have 64 bytes, like a cache line. If a buffer
//! begins inside a line, each of them spans two lines, which costs a second access.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::pack::Line;

/// Numbers in whole cache lines; the length is that of all lines, so it may be larger than the one
/// that was asked for. Numbers that were never written are zero.
#[derive(Clone, Debug)]
pub struct AlignedVec<T> {
    lines: Vec<Line>,
    numbers: PhantomData<T>,
}

impl<T> AlignedVec<T> {
    /// The number of elements in a line.
    const PER_LINE: usize = size_of::<Line>() / size_of::<T>();

    /// Grows the buffer to at least `length` numbers. It keeps the numbers that it has, and never
    /// shrinks.
    pub fn grow(&mut self, length: usize) {
        let lines = length.div_ceil(Self::PER_LINE);
        if self.lines.len() < lines {
            self.lines.resize(lines, Line::ZERO);
        }
    }
}

impl<T> Default for AlignedVec<T> {
    fn default() -> Self {
        AlignedVec { lines: Vec::new(), numbers: PhantomData }
    }
}

impl<T: FromBytes + Immutable> Deref for AlignedVec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        <[T]>::ref_from_bytes(self.lines.as_bytes()).expect("lines hold whole, aligned numbers")
    }
}

impl<T: FromBytes + IntoBytes + Immutable> DerefMut for AlignedVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        let bytes = self.lines.as_mut_bytes();
        <[T]>::mut_from_bytes(bytes).expect("lines hold whole, aligned numbers")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_at_lines_and_keep_their_numbers() {
        let mut floats = AlignedVec::<f32>::default();
        assert!(floats.is_empty());
        floats.grow(17);
        assert_eq!((floats.len(), floats.as_ptr().addr() % 64), (32, 0));
        floats[..17].fill(2.5);
        floats.grow(5);
        floats.grow(1000);
        assert_eq!((floats.len(), floats.as_ptr().addr() % 64), (1008, 0));
        assert!(floats[..17].iter().all(|&number| number == 2.5));
        let mut bytes = AlignedVec::<i8>::default();
        bytes.grow(65);
        bytes[64] = -3;
        assert_eq!((bytes.len(), bytes[64]), (128, -3));
    }
}
