//! Shared memory of a block: the arrays that the kernel declares, with gaps between them, and those
//! that the launch adds; and local memory of a thread.
//!
//! Gaps and bytes that were not written are reported, and those that an asynchronous copy has not
//! yet written.

use std::ops::Range;

use crate::tracked::{State, TrackedBytes};

/// The offset of the bytes that the launch adds, past all arrays of a kernel.
pub(crate) const DYNAMIC_SHARED: u64 = 1 << 20;

/// The least number of bytes between arrays.
pub(crate) const GAP: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct SharedMemory {
    fixed: TrackedBytes,
    dynamic: TrackedBytes,
}

impl SharedMemory {
    /// Creates the shared memory of a kernel with these arrays.
    pub fn new(arrays: &[Range<usize>], dynamic_bytes: usize) -> Self {
        let mut fixed = TrackedBytes::new(arrays.last().map_or(0, |last| last.end));
        for pair in arrays.windows(2) {
            fixed.set_states(pair[0].end..pair[1].start, State::Gap);
        }
        SharedMemory { fixed, dynamic: TrackedBytes::new(dynamic_bytes) }
    }

    /// The bytes around an offset, and the offset of the first.
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

    /// The bytes from `offset` on, or the reason why they cannot be read.
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

    /// Marks bytes that an asynchronous copy will write, or lets it write them.
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

/// The reason why an access to a byte of this state is a fault.
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
