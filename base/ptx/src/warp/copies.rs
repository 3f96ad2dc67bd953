//! Asynchronous copies to shared memory (`cp.async`), which are performed as late as possible: when
//! their lane waits for them.
//!
//! Until then the bytes that they will write are in flight, and reading or writing them is a fault.
//! The source is read only when the copy is performed. A kernel that overwrites the source before
//! that therefore gets wrong results.

use std::collections::VecDeque;

use super::Warp;
use crate::fault::Fault;
use crate::grid::Surroundings;
use crate::instruction::{Address, Register, Space};
use crate::races::Access;
use crate::space::resolve;

/// The bytes of the longest copy.
const MAX_COPY: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Copy {
    /// The offset in shared memory.
    to: u64,
    from: u64,
    size: usize,
    /// The number of bytes that are read; zeros follow them.
    read: usize,
}

/// The copies of a lane that are not done yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    groups: VecDeque<Vec<Copy>>,
    /// The copies since the end of the last group.
    last: Vec<Copy>,
}

impl Copies {
    pub(super) fn end_group(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.last));
    }

    pub(super) fn clear(&mut self) {
        self.groups.clear();
        self.last.clear();
    }
}

impl Warp {
    pub(super) fn copy_later(
        &mut self,
        lane: usize,
        to: Address,
        from: Address,
        (size, read): (usize, Register),
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let to = self.checked_address(lane, to, size, around)?;
        let from = self.checked_address(lane, from, size, around)?;
        let read = self.registers[read as usize][lane] as usize;
        if read > size {
            let reason = format!("a copy of {size} bytes that reads {read}");
            return Err(self.fault(around, lane, reason));
        }
        let (_, to) = resolve(Space::Shared, to);
        let copy = Copy { to, from, size, read };
        // Invalid addresses of the source are reported here, where the copy begins.
        self.read(lane, Space::Global, from, &mut [0; MAX_COPY][..read], around)?;
        self.record(lane, Space::Shared, to, size, Access::Write, around)?;
        let marked = around.shared.set_in_flight(to, size, true);
        marked.map_err(|reason| self.fault(around, lane, reason))?;
        self.copies[lane].last.push(copy);
        Ok(())
    }

    /// Performs a lane's copies in all groups except the last `groups_left`. If `groups_left` is
    /// `None`, performs all copies, also copies that belong to no group yet.
    pub(super) fn await_copies(
        &mut self,
        lane: usize,
        groups_left: Option<usize>,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        while self.copies[lane].groups.len() > groups_left.unwrap_or(0) {
            let group = self.copies[lane].groups.pop_front().expect("there are more");
            self.do_copies(lane, &group, around)?;
        }
        if groups_left.is_none() {
            let last = std::mem::take(&mut self.copies[lane].last);
            self.do_copies(lane, &last, around)?;
        }
        Ok(())
    }

    fn do_copies(
        &self,
        lane: usize,
        copies: &[Copy],
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        for &Copy { to, from, size, read } in copies {
            let mut bytes = [0; MAX_COPY];
            self.read(lane, Space::Global, from, &mut bytes[..read], around)?;
            self.record(lane, Space::Shared, to, size, Access::Write, around)?;
            let shared = &mut around.shared;
            let done = shared
                .set_in_flight(to, size, false)
                .and_then(|()| shared.store(to, &bytes[..size]));
            done.map_err(|reason| self.fault(around, lane, reason))?;
        }
        Ok(())
    }
}
