//! Large zeroed lists whose pages the system allocates when they are first touched.
//!
//! Tables are built in new memory, and page faults of 4 KiB each take a large part of the time.
//! Therefore the system is advised to use huge pages for this memory: a table needs only a few
//! hundred. They also reduce TLB misses of random accesses.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// An item of a [`ZeroedVec`]: plain bytes, with a valid value of all zeros.
pub trait Pod: FromBytes + IntoBytes + Immutable + KnownLayout {}

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout> Pod for T {}

/// A list whose items are zeros until they are written.
pub struct ZeroedVec<T> {
    memory: MmapMut,
    len: usize,
    items: PhantomData<T>,
}

impl<T: Pod> ZeroedVec<T> {
    /// Returns a list of `len` zeros. Panics if there is too little memory.
    pub fn new(len: usize) -> Self {
        ZeroedVec { memory: allocate::<T>(len), len, items: PhantomData }
    }

    /// Sets the length to `len`. Items have unspecified values; those never written are zero. If
    /// the memory is too small, it is replaced by memory for `capacity` items, whose untouched
    /// pages cost nothing. If the system does not provide that much, there is room for `len` items.
    pub fn resize_for_overwrite(&mut self, len: usize, capacity: usize) {
        if len > self.memory.len() / size_of::<T>() {
            self.len = 0;
            match map_anonymous(capacity.max(len).saturating_mul(size_of::<T>())) {
                Some(memory) => self.memory = memory,
                None => *self = ZeroedVec::new(len),
            }
        }
        self.len = len;
    }

    /// Increases the length to `len`. Old items stay; new ones have unspecified values, and those
    /// never written are zero. If the memory is too small, it is replaced by memory for `capacity`
    /// items. If the system does not provide that much, there is room for twice as many items as
    /// before, or else for `len` items.
    pub fn grow_for_overwrite(&mut self, len: usize, capacity: usize) {
        let had = self.memory.len() / size_of::<T>();
        if len > had {
            let capacities = [capacity, had.saturating_mul(2)];
            let larger = capacities
                .into_iter()
                .find_map(|items| map_anonymous(items.max(len).saturating_mul(size_of::<T>())));
            let mut larger = larger.unwrap_or_else(|| allocate::<T>(len));
            let used = self.len * size_of::<T>();
            larger[..used].copy_from_slice(&self.memory[..used]);
            self.memory = larger;
        }
        self.len = len;
    }

    /// Sets the length to `len`; new items are zeros, unless [`ZeroedVec::resize_for_overwrite`]
    /// has made the list shorter.
    pub fn resize(&mut self, len: usize) {
        if len > self.memory.len() / size_of::<T>() {
            let mut larger = allocate::<T>(len);
            let used = self.len * size_of::<T>();
            larger[..used].copy_from_slice(&self.memory[..used]);
            self.memory = larger;
        } else if len < self.len {
            self[len..].as_mut_bytes().fill(0);
        }
        self.len = len;
    }
}

/// Allocates memory for `len` items and some more, which cost nothing until they are touched.
fn allocate<T>(len: usize) -> MmapMut {
    let bytes = (len + len / 64).saturating_mul(size_of::<T>());
    map_anonymous(bytes).unwrap_or_else(|| panic!("no memory for {bytes} bytes"))
}

fn map_anonymous(bytes: usize) -> Option<MmapMut> {
    let memory = MmapMut::map_anon(bytes.max(1)).ok()?;
    // Fails if the kernel has no transparent huge pages; small pages are only slower.
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    Some(memory)
}

impl<T: Pod> Default for ZeroedVec<T> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<T: Pod> Deref for ZeroedVec<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        let bytes = &self.memory[..self.len * size_of::<T>()];
        // The alignment of pages exceeds that of any item, and the bytes are whole items.
        <[T]>::ref_from_bytes(bytes).unwrap_or_else(|_| unreachable!())
    }
}

impl<T: Pod> DerefMut for ZeroedVec<T> {
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
    fn unwritten_items_are_zero() {
        let mut list = ZeroedVec::<u64>::new(1000);
        assert!(list.iter().all(|&item| item == 0));
        list.fill(7);
        list.resize(3);
        list.resize(5000);
        assert_eq!(list[..4], [7, 7, 7, 0]);
        assert_eq!((list.len(), list[3..].iter().max()), (5000, Some(&0)));
        assert!(ZeroedVec::<u32>::new(0).is_empty());
        list.resize_for_overwrite(10_000, 20_000);
        assert_eq!((list.len(), list[9_999]), (10_000, 0));
        list.resize_for_overwrite(20_000_000, usize::MAX);
        assert_eq!(list.len(), 20_000_000);
        let mut list = ZeroedVec::<u32>::default();
        for (len, capacity) in [(3, usize::MAX), (2_000, usize::MAX), (5_000, 10_000), (9_000, 0)] {
            list.grow_for_overwrite(len, capacity);
            list[len - 1] = len as u32;
        }
        assert_eq!((list[2], list[1_999], list[4_999], list.len()), (3, 2_000, 5_000, 9_000));
    }
}
