//! Races in shared memory: accesses of two warps of a block to one byte, at least one of them a
//! write, without a barrier between them.
//!
//! Memory is divided into parts, each as long as the shortest access of the kernel, at most four
//! bytes. The last warp that wrote a part and the last that read it are recorded, each with the
//! number of barriers before the access. So a missing barrier is found even if the warps run in an
//! order in which it does no harm. Atomic accesses do not race with each other. Callers
//! tolerate a write of the value that is there already.

use std::ops::Range;

/// Marks a part that several warps have read, or written by atomic accesses.
const MANY: u32 = 0x7F;

/// Marks a part that was written by atomic accesses only.
const ATOMIC: u32 = 0x80;

/// The bits of the warp's number, or of [`MANY`].
const WARP: u32 = 0x7F;

/// The largest epoch that can be recorded.
const MAX_EPOCH: u32 = u32::MAX >> 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Atomic,
}

/// The last accesses to the parts of some bytes. Each is recorded as the epoch of the access, then
/// eight bits for the warp.
#[derive(Clone, Debug, Default)]
pub(crate) struct Races {
    /// The logarithm of the number of bytes of a part.
    part_bits: u32,
    /// The number of barriers so far plus one; zero means that nothing is recorded.
    epoch: u32,
    writers: Vec<u32>,
    readers: Vec<u32>,
}

impl Races {
    /// Creates a record for `size` bytes in parts of `1 << part_bits` bytes.
    pub fn new(size: usize, part_bits: u32) -> Self {
        let num_parts = size.div_ceil(1 << part_bits);
        Races { part_bits, epoch: 1, writers: vec![0; num_parts], readers: vec![0; num_parts] }
    }

    /// Separates accesses: later accesses do not race with earlier ones.
    pub fn pass_barrier(&mut self) {
        if self.epoch == MAX_EPOCH {
            self.writers.fill(0);
            self.readers.fill(0);
            self.epoch = 1;
        } else if self.epoch > 0 {
            self.epoch += 1;
        }
    }

    /// Records an access of `warp`, and returns whether it is free of races.
    #[inline(always)]
    pub fn record(&mut self, range: Range<usize>, warp: u32, access: Access) -> bool {
        if self.epoch == 0 {
            return true;
        }
        let mut is_safe = true;
        for part in self.parts(range) {
            is_safe &= self.record_part(part, warp, access);
        }
        is_safe
    }

    /// Returns the indices of the parts that `range` touches; it is not empty.
    fn parts(&self, range: Range<usize>) -> Range<usize> {
        range.start >> self.part_bits..((range.end - 1) >> self.part_bits) + 1
    }

    /// Whether the access recorded as `last` was made by another warp than `warp`, or by several,
    /// since the last barrier.
    fn is_other(&self, last: u32, warp: u32) -> bool {
        last >= self.epoch << 8 && last & WARP != warp
    }

    #[inline(always)]
    fn record_part(&mut self, part: usize, warp: u32, access: Access) -> bool {
        let now = self.epoch << 8;
        let (writer, reader) = (self.writers[part], self.readers[part]);
        let is_atomic = access == Access::Atomic;
        let has_other_writer = self.is_other(writer, warp);
        if has_other_writer && !(is_atomic && writer & ATOMIC != 0) {
            return false;
        }
        let has_other_reader = self.is_other(reader, warp);
        if access == Access::Read {
            self.readers[part] = now | if has_other_reader { MANY } else { warp };
            return true;
        }
        // An atomic access must not hide an earlier plain write of this warp, nor the atomic
        // accesses of other warps.
        let has_plain_write = writer >= now && writer & ATOMIC == 0;
        let kind = if is_atomic && !has_plain_write { ATOMIC } else { 0 };
        self.writers[part] = now | kind | if has_other_writer { MANY } else { warp };
        !has_other_reader
    }

    /// Describes the earlier access that an access of `warp` to `range` races with.
    #[cold]
    pub fn other_side(&self, range: Range<usize>, warp: u32) -> String {
        for part in self.parts(range) {
            let (writer, reader) = (self.writers[part], self.readers[part]);
            if self.is_other(writer, warp) {
                return match writer & WARP {
                    MANY => "several warps have written".to_owned(),
                    writer => format!("warp {writer} has written"),
                };
            }
            if self.is_other(reader, warp) && reader & WARP != MANY {
                return format!("warp {} has read", reader & WARP);
            }
        }
        "several warps have read".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_atomic_access_hides_no_other_access() {
        let mut races = Races::new(4, 2);
        assert!(races.record(0..4, 0, Access::Write));
        assert!(races.record(0..4, 0, Access::Atomic));
        assert!(!races.record(0..4, 1, Access::Atomic), "warp 0 has written plainly");
        assert_eq!(races.other_side(0..4, 1), "warp 0 has written");

        races.pass_barrier();
        assert!(races.record(0..4, 0, Access::Atomic));
        assert!(races.record(0..4, 1, Access::Atomic));
        assert!(races.record(0..4, 2, Access::Atomic));
        assert!(!races.record(0..4, 2, Access::Read), "warps 0 and 1 have written");
        assert_eq!(races.other_side(0..4, 2), "several warps have written");
        assert!(!races.record(0..4, 2, Access::Write));

        races.pass_barrier();
        assert!(races.record(0..4, 2, Access::Write));
    }

    #[test]
    fn every_part_of_an_access_is_recorded() {
        let mut races = Races::new(8, 2);
        assert!(races.record(0..4, 0, Access::Write));
        assert!(!races.record(0..8, 1, Access::Write));
        assert!(!races.record(4..8, 0, Access::Read), "warp 1 has written the second part");
    }

    #[test]
    fn records_begin_anew_after_the_largest_epoch() {
        let mut races = Races::new(4, 2);
        races.epoch = MAX_EPOCH;
        assert!(races.record(0..4, 0, Access::Write));
        assert!(!races.record(0..4, 1, Access::Read));
        races.pass_barrier();
        assert!(races.record(0..4, 1, Access::Read));
        assert!(!races.record(0..4, 0, Access::Write));
    }
}
