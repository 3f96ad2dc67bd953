//! Shared memory of a block: the arrays that the kernel declares, with gaps between them, and the
//! bytes that the launch adds.
//!
//! It reports races of warps, accesses to gaps, accesses to bytes that an asynchronous copy will
//! still write, and reads of bytes that were not written.

use std::ops::Range;

use crate::races::{Access, Races};
use crate::tracked::{State, TrackedBytes};

/// The offset of the bytes that the launch adds, past all arrays of a kernel.
pub(crate) const DYNAMIC_SHARED: u64 = 1 << 20;

/// The least number of bytes between arrays.
pub(crate) const GAP: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct SharedMemory {
    fixed: TrackedBytes,
    dynamic: TrackedBytes,
    /// The accesses to `fixed` and to `dynamic`.
    races: [Races; 2],
}

impl SharedMemory {
    /// Creates the shared memory of a kernel with these arrays, for a block of `num_warps`
    /// warps. The shortest accesses have `1 << part_bits` bytes.
    pub fn new(
        arrays: &[Range<usize>],
        dynamic_bytes: usize,
        num_warps: usize,
        part_bits: u32,
    ) -> Self {
        let mut fixed = TrackedBytes::new(arrays.last().map_or(0, |last| last.end));
        for pair in arrays.windows(2) {
            fixed.set_states(pair[0].end..pair[1].start, State::Gap);
        }
        // A single warp has no other warp to race with.
        let races = match num_warps {
            1 => Default::default(),
            _ => [fixed.len(), dynamic_bytes].map(|size| Races::new(size, part_bits)),
        };
        SharedMemory { fixed, dynamic: TrackedBytes::new(dynamic_bytes), races }
    }

    /// Separates accesses: later accesses do not race with earlier ones.
    pub fn pass_barrier(&mut self) {
        self.races.iter_mut().for_each(Races::pass_barrier);
    }

    /// Records reads of a warp in the part of shared memory that contains the offset `near`, and
    /// returns whether none of them races. Offsets outside the part are not recorded.
    #[inline(always)]
    pub fn record_reads(
        &mut self,
        near: u64,
        offsets: impl Iterator<Item = u64>,
        length: usize,
        warp: u32,
    ) -> bool {
        let (start, part) = self.part(near);
        let size = part.len();
        let races = &mut self.races[usize::from(start > 0)];
        let (mut is_safe, mut last) = (true, u64::MAX);
        for offset in offsets {
            let place = offset.wrapping_sub(start) as usize;
            let is_within = place.checked_add(length).is_some_and(|end| end <= size);
            if is_within && offset != last {
                is_safe &= races.record(place..place + length, warp, Access::Read);
            }
            last = offset;
        }
        is_safe
    }

    /// Records an access of a warp, or returns the reason why it races with an access of another
    /// warp.
    #[inline(always)]
    pub fn record(
        &mut self,
        offset: u64,
        length: usize,
        warp: u32,
        access: Access,
    ) -> Result<(), String> {
        let (start, part) = self.part(offset);
        let Some(range) = part.range(offset - start, length) else { return Ok(()) };
        let races = &mut self.races[usize::from(start > 0)];
        if races.record(range.clone(), warp, access) {
            return Ok(());
        }
        let other = races.other_side(range, warp);
        let name = if start > 0 { "dynamic shared memory" } else { "shared memory" };
        let what = if access == Access::Read { "a read" } else { "a write" };
        Err(format!("{what} at {} of {name}, which {other} without a barrier", offset - start))
    }

    /// Returns the part of shared memory that an offset is in, with the offset of the part's first
    /// byte. A part is all declared arrays, or the bytes that the launch adds.
    pub fn part(&self, offset: u64) -> (u64, &TrackedBytes) {
        if offset < DYNAMIC_SHARED { (0, &self.fixed) } else { (DYNAMIC_SHARED, &self.dynamic) }
    }

    pub fn part_mut(&mut self, offset: u64) -> (u64, &mut TrackedBytes) {
        if offset < DYNAMIC_SHARED {
            (0, &mut self.fixed)
        } else {
            (DYNAMIC_SHARED, &mut self.dynamic)
        }
    }

    /// Returns the bytes from `offset` on, or the reason why they cannot be read.
    pub fn load(&self, offset: u64, length: usize) -> Result<&[u8], String> {
        let (part, range) = self.find(offset, length, "a read")?;
        part.read(range).map_err(|(_, state)| denied(offset, "a read", state))
    }

    /// Writes `bytes` from `offset` on, or returns the reason why they cannot be written.
    pub fn store(&mut self, offset: u64, bytes: &[u8]) -> Result<(), String> {
        let (_, range) = self.find(offset, bytes.len(), "a write")?;
        let (_, part) = self.part_mut(offset);
        part.write(range.start, bytes).map_err(|(_, state)| denied(offset, "a write", state))
    }

    /// Marks bytes that an asynchronous copy will write, or removes the mark so that the copy can
    /// write them.
    pub fn set_in_flight(
        &mut self,
        offset: u64,
        length: usize,
        is_in_flight: bool,
    ) -> Result<(), String> {
        let (part, range) = self.find(offset, length, "an asynchronous write")?;
        if let (true, Err((_, state @ (State::InFlight | State::Gap)))) =
            (is_in_flight, part.read(range.clone()))
        {
            return Err(denied(offset, "an asynchronous write", state));
        }
        let (_, part) = self.part_mut(offset);
        part.set_states(range, if is_in_flight { State::InFlight } else { State::Unwritten });
        Ok(())
    }

    fn find(
        &self,
        offset: u64,
        length: usize,
        access: &str,
    ) -> Result<(&TrackedBytes, Range<usize>), String> {
        let (part, offset, name) = match offset.checked_sub(DYNAMIC_SHARED) {
            None => (&self.fixed, offset, "shared memory"),
            Some(offset) => (&self.dynamic, offset, "dynamic shared memory"),
        };
        match part.range(offset, length) {
            Some(range) => Ok((part, range)),
            None => {
                let size = part.len();
                Err(format!("{access} of {length} bytes at {offset} of {name} of {size} bytes"))
            }
        }
    }
}

/// Returns the reason why an access to a byte of this state is a fault.
fn denied(offset: u64, access: &str, state: State) -> String {
    let (offset, name) = match offset.checked_sub(DYNAMIC_SHARED) {
        None => (offset, "shared memory"),
        Some(offset) => (offset, "dynamic shared memory"),
    };
    let reason = match state {
        State::InFlight => "which an asynchronous copy may still write",
        State::Gap => "between two arrays",
        State::Unwritten | State::Written => "which was not written",
    };
    format!("{access} at {offset} of {name}, {reason}")
}
