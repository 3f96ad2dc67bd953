//! Loads, stores and atomic accesses.

use super::{LANES, Warp, lanes};
use crate::arithmetic::{Mode, binary};
use crate::fault::Fault;
use crate::grid::Surroundings;
use crate::instruction::{Address, Atomic, Register, Space};
use crate::races::Access;
use crate::space::resolve;
use crate::tracked::TrackedBytes;
use crate::types::Type;

/// The length of the longest access, in bytes.
const MAX_ACCESS: usize = 32;

impl Warp {
    pub(super) fn load(
        &mut self,
        active: u32,
        (space, ty): (Space, Type),
        to: &[Register],
        address: Address,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let length = ty.size() * to.len();
        if matches!(space, Space::Shared | Space::Generic) {
            self.record_reads(active, space, address, length, around)?;
        }
        let first = self.address(active.trailing_zeros() as usize, address);
        // The bytes around the first lane's address, from which most lanes read.
        let (near_space, near_offset) = resolve(space, first);
        let near = match near_space {
            Space::Global | Space::Generic => around.memory.buffer(near_offset),
            Space::Shared => Some(around.shared.part(near_offset)),
            _ => None,
        };
        if let Some((start, near)) = near {
            // The start as an address of the access, which may be generic.
            let start = start.wrapping_add(first - near_offset);
            let is_word = ty.size() == 4 && !ty.is_signed();
            let is_done = is_word
                && match to {
                    [a] => self.load_words(active, [*a], address, near, start),
                    [a, b] => self.load_words(active, [*a, *b], address, near, start),
                    [a, b, c, d] => self.load_words(active, [*a, *b, *c, *d], address, near, start),
                    _ => false,
                };
            if is_done {
                return Ok(());
            }
        }
        for lane in lanes(active) {
            let address = self.checked_address(lane, address, length, around)?;
            let mut bytes = [0; MAX_ACCESS];
            self.read(lane, space, address, &mut bytes[..length], around)?;
            for (register, part) in to.iter().zip(bytes.chunks_exact(ty.size())) {
                let mut whole = [0; 8];
                whole[..part.len()].copy_from_slice(part);
                // Registers may be wider than what is loaded.
                let value = ty.extend(u64::from_le_bytes(whole)) as u64;
                self.registers[*register as usize][lane] = value;
            }
        }
        Ok(())
    }

    /// Loads words from bytes that begin at the address `start`. Returns whether all words are
    /// within these bytes, were written and are aligned; otherwise nothing is loaded.
    fn load_words<const N: usize>(
        &mut self,
        active: u32,
        to: [Register; N],
        Address { base, offset }: Address,
        near: &TrackedBytes,
        start: u64,
    ) -> bool {
        let zero = [0; LANES];
        let bases = base.map_or(&zero, |base| &self.registers[base as usize]);
        let mut results = [[0; LANES]; N];
        let last_bits = 4 * N as u64 - 1;
        for (number, results) in results.iter_mut().enumerate() {
            for lane in lanes(active) {
                let address = bases[lane].wrapping_add(offset as u64);
                let place = address.wrapping_sub(start).wrapping_add(4 * number as u64);
                match near.get(place) {
                    Some(bytes) if address & last_bits == 0 => {
                        results[lane] = u64::from(u32::from_le_bytes(bytes));
                    }
                    _ => return false,
                }
            }
        }
        for (register, results) in to.iter().zip(&results) {
            self.write(*register, active, results);
        }
        true
    }

    pub(super) fn store(
        &mut self,
        active: impl Iterator<Item = usize>,
        (space, ty): (Space, Type),
        from: &[Register],
        address: Address,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let length = ty.size() * from.len();
        for lane in active {
            let address = self.checked_address(lane, address, length, around)?;
            let (near_space, offset) = resolve(space, address);
            let mut bytes = [0; MAX_ACCESS];
            for (place, register) in from.iter().enumerate() {
                let value = self.registers[*register as usize][lane].to_le_bytes();
                bytes[place * ty.size()..][..ty.size()].copy_from_slice(&value[..ty.size()]);
            }
            let bytes = &bytes[..length];
            if near_space == Space::Shared {
                let raced = self.record(lane, space, address, length, Access::Write, around);
                if raced.is_err() && around.shared.load(offset, length) != Ok(bytes) {
                    return raced;
                }
            }
            if let ([register], 4, Space::Shared | Space::Global) = (from, length, near_space) {
                let near = if near_space == Space::Shared {
                    Some(around.shared.part_mut(offset))
                } else {
                    around.memory.buffer_mut(offset)
                };
                let word = self.registers[*register as usize][lane] as u32;
                let is_written =
                    near.is_some_and(|(start, near)| near.put(offset - start, word.to_le_bytes()));
                if is_written {
                    continue;
                }
            }
            self.write_bytes(lane, space, address, bytes, around)?;
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of the instruction")]
    pub(super) fn atomic(
        &mut self,
        lane: usize,
        kind: Atomic,
        (space, ty): (Space, Type),
        to: Option<Register>,
        address: Address,
        from: [Register; 2],
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let length = ty.size();
        let address = self.checked_address(lane, address, length, around)?;
        self.record(lane, space, address, length, Access::Atomic, around)?;
        let mut bytes = [0; 8];
        self.read(lane, space, address, &mut bytes[..length], around)?;
        let found = u64::from_le_bytes(bytes);
        let [first, second] =
            from.map(|register| ty.truncate(self.registers[register as usize][lane]));
        let written = match kind {
            Atomic::Combine(kind) => binary(kind, ty, Mode::default(), found, first)
                .expect("none of these operations fails"),
            Atomic::Exchange => first,
            Atomic::CompareAndSwap if found == first => second,
            Atomic::CompareAndSwap => found,
            Atomic::Increment if found >= first => 0,
            Atomic::Increment => found + 1,
            Atomic::Decrement if found == 0 || found > first => first,
            Atomic::Decrement => found - 1,
        };
        self.write_bytes(lane, space, address, &written.to_le_bytes()[..length], around)?;
        if let Some(to) = to {
            self.registers[to as usize][lane] = found;
        }
        Ok(())
    }

    /// Records the reads of the active lanes if the first of them is in shared memory.
    fn record_reads(
        &self,
        active: u32,
        space: Space,
        address: Address,
        length: usize,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let first = self.address(active.trailing_zeros() as usize, address);
        let (Space::Shared, near) = resolve(space, first) else { return Ok(()) };
        let window = first - near;
        let warp = self.first_thread / LANES as u32;
        let offsets = lanes(active).map(|lane| self.address(lane, address).wrapping_sub(window));
        if around.shared.record_reads(near, offsets, length, warp) {
            return Ok(());
        }
        for lane in lanes(active) {
            self.record(lane, space, self.address(lane, address), length, Access::Read, around)?;
        }
        Ok(())
    }

    /// Records an access to shared memory, or reports that it races with an access of another warp.
    #[inline]
    pub(super) fn record(
        &self,
        lane: usize,
        space: Space,
        address: u64,
        length: usize,
        access: Access,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let (Space::Shared, offset) = resolve(space, address) else { return Ok(()) };
        let warp = self.first_thread / LANES as u32;
        let recorded = around.shared.record(offset, length, warp, access);
        recorded.map_err(|reason| self.fault(around, lane, reason))
    }

    /// Reads bytes from any space for a lane.
    pub(super) fn read(
        &self,
        lane: usize,
        space: Space,
        address: u64,
        bytes: &mut [u8],
        around: &Surroundings<'_>,
    ) -> Result<(), Fault> {
        let length = bytes.len();
        let (space, address) = resolve(space, address);
        let found = match space {
            Space::Global | Space::Generic => around.memory.load(address, length),
            Space::Shared => around.shared.load(address, length),
            Space::Local => {
                let local = &self.local[lane];
                let range = local.range(address, length).ok_or_else(|| {
                    let size = local.len();
                    format!("a read of {length} bytes at {address} of local memory of {size} bytes")
                });
                range.and_then(|range| {
                    local.read(range).map_err(|_| {
                        format!("a read at {address} of local memory, which was not written")
                    })
                })
            }
            Space::Module => {
                let data = &around.kernel.data;
                data.range(address, length)
                    .and_then(|range| data.read(range).ok())
                    .ok_or_else(|| format!("a read at {address} past the module's arrays"))
            }
            Space::Parameters => {
                let bytes =
                    around.parameters.get(address as usize..).and_then(|all| all.get(..length));
                bytes.ok_or_else(|| format!("a read at {address} of the parameters"))
            }
        };
        match found {
            Ok(found) => {
                bytes.copy_from_slice(found);
                Ok(())
            }
            Err(reason) => Err(self.fault(around, lane, reason)),
        }
    }

    /// Writes bytes to any space for a lane.
    pub(super) fn write_bytes(
        &mut self,
        lane: usize,
        space: Space,
        address: u64,
        bytes: &[u8],
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let (space, address) = resolve(space, address);
        let written = match space {
            Space::Global | Space::Generic => around.memory.store(address, bytes),
            Space::Shared => around.shared.store(address, bytes),
            Space::Local => {
                let local = &mut self.local[lane];
                let (length, size) = (bytes.len(), local.len());
                match local.range(address, length) {
                    Some(range) => {
                        local.write(range.start, bytes).expect("local memory has no gaps");
                        Ok(())
                    }
                    None => Err(format!(
                        "a write of {length} bytes at {address} of local memory of {size} bytes"
                    )),
                }
            }
            Space::Module => Err("a write to an array of the module, not supported".to_owned()),
            Space::Parameters => Err("a write to the parameters".to_owned()),
        };
        written.map_err(|reason| self.fault(around, lane, reason))
    }

    #[inline(always)]
    fn address(&self, lane: usize, Address { base, offset }: Address) -> u64 {
        let base = base.map_or(0, |register| self.registers[register as usize][lane]);
        base.wrapping_add(offset as u64)
    }

    /// Returns the address of an access of `length` bytes. The address must be a multiple of
    /// `length`.
    pub(super) fn checked_address(
        &self,
        lane: usize,
        address: Address,
        length: usize,
        around: &Surroundings<'_>,
    ) -> Result<u64, Fault> {
        let address = self.address(lane, address);
        // Lengths of accesses are powers of two.
        if address & (length as u64 - 1) == 0 {
            return Ok(address);
        }
        let reason = format!("an access of {length} bytes at {address:#x}, which is not aligned");
        Err(self.fault(around, lane, reason))
    }
}
