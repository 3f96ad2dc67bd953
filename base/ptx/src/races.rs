//! Races in shared memory: accesses of two warps of a block to one byte, at least one of them a
//! write, without a barrier between them.
//!
//! Memory is divided into parts, each as long as the shortest access of the kernel, at most four
//! bytes. The last warp that wrote a part and the last that read it are recorded, each with the
//! number of barriers before the access. So a missing barrier is found even if the order of warps
//! that the seed has chosen does no harm. Atomic accesses do not race with each other, nor do
//! writes of the value that is there already.

use std::ops::Range;

/// Marks a part that several warps have read.
const MANY: u32 = 0x7F;

/// Marks a part that was written by an atomic access.
const ATOMIC: u32 = 0x80;

const WARP: u32 = 0x7F;

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

    pub fn pass_barrier(&mut self) {
        self.epoch += u32::from(self.epoch > 0);
    }

    /// Records an access of `warp`, and returns whether it is free of races.
    #[inline(always)]
    pub fn record(&mut self, range: Range<usize>, warp: u32, access: Access) -> bool {
        if self.epoch == 0 {
            return true;
        }
        let mut parts = self.parts(range);
        parts.all(|place| self.record_part(place, warp, access))
    }

    fn parts(&self, range: Range<usize>) -> Range<usize> {
        range.start >> self.part_bits..((range.end - 1) >> self.part_bits) + 1
    }

    fn is_other(&self, last: u32, warp: u32) -> bool {
        last >= self.epoch << 8 && last & WARP != warp
    }

    #[inline(always)]
    fn record_part(&mut self, place: usize, warp: u32, access: Access) -> bool {
        let now = self.epoch << 8;
        let (writer, reader) = (self.writers[place], self.readers[place]);
        let both_atomic = access == Access::Atomic && writer & ATOMIC != 0;
        if self.is_other(writer, warp) && !both_atomic {
            return false;
        }
        let has_other_reader = self.is_other(reader, warp);
        if access == Access::Read {
            self.readers[place] = now | if has_other_reader { MANY } else { warp };
            return true;
        }
        self.writers[place] = now | warp | if access == Access::Atomic { ATOMIC } else { 0 };
        !has_other_reader
    }

    /// Describes the earlier access that an access of `warp` to `range` races with.
    #[cold]
    pub fn other_side(&self, range: Range<usize>, warp: u32) -> String {
        for place in self.parts(range) {
            let (writer, reader) = (self.writers[place], self.readers[place]);
            if self.is_other(writer, warp) {
                return format!("warp {} has written", writer & WARP);
            }
            if self.is_other(reader, warp) && reader & WARP != MANY {
                return format!("warp {} has read", reader & WARP);
            }
        }
        "several warps have read".to_owned()
    }
}
