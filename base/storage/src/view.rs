//! Typed view of bytes, checked once when it is created.
//!
//! Reading an element is then a slice access, without casts, checks of alignment or reference
//! counting in hot loops.

use std::ops::Deref;
use std::ptr::NonNull;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::Bytes;

/// A slice of `T` in [`Bytes`], which the view keeps alive.
pub struct View<T> {
    start: NonNull<T>,
    len: usize,
    owner: Bytes,
}

// SAFETY: a view is a shared reference to immutable memory with a counted owner, so it may be sent
// like `&[T]`.
unsafe impl<T: Sync> Send for View<T> {}
// SAFETY: as for `Send`: a shared reference to immutable memory.
unsafe impl<T: Sync> Sync for View<T> {}

impl<T: FromBytes + Immutable + KnownLayout> View<T> {
    /// Returns the view of the bytes `offset..offset + length`.
    ///
    /// # Errors
    /// The reason why the bytes are not a slice of `T`.
    pub fn new(owner: &Bytes, offset: usize, length: usize) -> Result<Self, &'static str> {
        let end = offset.checked_add(length).ok_or("its end overflows")?;
        let bytes = owner.get(offset..end).ok_or("it reaches beyond the end of the file")?;
        let items = <[T]>::ref_from_bytes(bytes)
            .map_err(|_| "it is misaligned or not a whole number of items")?;
        Ok(View { start: NonNull::from(items).cast(), len: items.len(), owner: owner.clone() })
    }
}

impl<T> View<T> {
    /// Calls [`Bytes::release_pages`] for the items of `range`.
    pub fn release_pages(&self, range: std::ops::Range<usize>) {
        let first = self.start.as_ptr() as usize - self.owner.as_ptr() as usize;
        let place = |item: usize| first + item.min(self.len) * size_of::<T>();
        self.owner.release_pages(place(range.start)..place(range.end));
    }
}

impl<T> Clone for View<T> {
    fn clone(&self) -> Self {
        View { start: self.start, len: self.len, owner: self.owner.clone() }
    }
}

impl<T> Deref for View<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `start` and `len` come from a valid `&[T]` into `owner`,
        // whose memory is immutable, never moves (an `Arc` owns it), and
        // lives as long as this view.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for View<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_alignment_length_and_bounds() {
        let bytes = Bytes::copy_from(&[1, 0, 0, 0, 2, 0, 0, 0, 3]);
        assert_eq!(&View::<u32>::new(&bytes, 0, 8).unwrap()[..], [1, 2]);
        assert_eq!(View::<u32>::new(&bytes, 4, 0).unwrap().len(), 0);
        assert!(View::<u32>::new(&bytes, 1, 8).is_err());
        assert!(View::<u32>::new(&bytes, 0, 9).is_err());
        assert!(View::<u32>::new(&bytes, 0, 12).is_err());
        assert!(View::<u32>::new(&bytes, usize::MAX, 8).is_err());
    }

    #[test]
    fn outlives_the_handle_it_came_from() {
        let view = {
            let bytes = Bytes::copy_from(&7u64.to_le_bytes());
            View::<u64>::new(&bytes, 0, 8).unwrap()
        };
        assert_eq!(view.clone()[0], 7);
    }
}
