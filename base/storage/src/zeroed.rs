//! Large lists of zeros that the system provides where they are first touched.
//!
//! A table is built in memory that nobody has used before, and at a page of 4 KiB
//! at a time its provision takes a good part of building. Here the system is asked
//! for huge pages, of which a table needs a few hundred; random accesses then find
//! their addresses translated as well.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What a [`Zeroed`] may hold: anything that is made of bytes, of which zeros are
/// a value.
pub trait Plain: FromBytes + IntoBytes + Immutable + KnownLayout {}

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout> Plain for T {}

/// A list whose items are zeros until they are written.
pub struct Zeroed<T> {
    memory: MmapMut,
    len: usize,
    items: PhantomData<T>,
}

impl<T: Plain> Zeroed<T> {
    /// `len` zeros. Panics where there is no memory.
    pub fn new(len: usize) -> Self {
        Zeroed { memory: reserve::<T>(len), len, items: PhantomData }
    }

    /// Makes the length `len` with items of any value, zeros where none has been.
    /// Memory that is too short is replaced, by such as holds `likely` items if the
    /// system grants that: what is not touched costs nothing.
    pub fn reuse(&mut self, len: usize, likely: usize) {
        if len > self.memory.len() / size_of::<T>() {
            self.len = 0;
            match map(likely.max(len).saturating_mul(size_of::<T>())) {
                Some(memory) => self.memory = memory,
                None => *self = Zeroed::new(len),
            }
        }
        self.len = len;
    }

    /// Changes the length; zeros stand where nothing has been.
    pub fn resize(&mut self, len: usize) {
        if len > self.memory.len() / size_of::<T>() {
            let mut larger = reserve::<T>(len);
            let used = self.len * size_of::<T>();
            larger[..used].copy_from_slice(&self.memory[..used]);
            self.memory = larger;
        } else if len < self.len {
            self[len..].as_mut_bytes().fill(0);
        }
        self.len = len;
    }
}

/// Room for `len` items and some more, which cost nothing until they are touched.
fn reserve<T>(len: usize) -> MmapMut {
    let bytes = (len + len / 64).saturating_mul(size_of::<T>());
    map(bytes).unwrap_or_else(|| panic!("no memory for {bytes} bytes"))
}

fn map(bytes: usize) -> Option<MmapMut> {
    let memory = MmapMut::map_anon(bytes.max(1)).ok()?;
    // Refused where the kernel has no transparent huge pages; small pages are as
    // good but slower.
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    Some(memory)
}

impl<T: Plain> Default for Zeroed<T> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<T: Plain> Deref for Zeroed<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        let bytes = &self.memory[..self.len * size_of::<T>()];
        // Pages are aligned to more than any item, and the bytes are whole items.
        <[T]>::ref_from_bytes(bytes).unwrap_or_else(|_| unreachable!())
    }
}

impl<T: Plain> DerefMut for Zeroed<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        let bytes = &mut self.memory[..self.len * size_of::<T>()];
        <[T]>::mut_from_bytes(bytes).unwrap_or_else(|_| unreachable!())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_wherever_nothing_has_been_written() {
        let mut list = Zeroed::<u64>::new(1000);
        assert!(list.iter().all(|&item| item == 0));
        list.fill(7);
        list.resize(3);
        list.resize(5000);
        assert_eq!(list[..4], [7, 7, 7, 0]);
        assert_eq!((list.len(), list[3..].iter().max()), (5000, Some(&0)));
        assert!(Zeroed::<u32>::new(0).is_empty());
        list.reuse(10_000, 20_000);
        assert_eq!((list.len(), list[9_999]), (10_000, 0));
        list.reuse(20_000_000, usize::MAX);
        assert_eq!(list.len(), 20_000_000);
    }
}
