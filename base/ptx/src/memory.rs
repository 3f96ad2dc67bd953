//! Global memory of the emulated device: buffers with a gap after each.
//!
//! An address belongs to one buffer or to none, so that an access past the end of a buffer is
//! found. Each buffer records which of its bytes were written.

use std::collections::BTreeMap;

use crate::fault::Fault;
use crate::tracked::TrackedBytes;

/// The alignment of buffers, the same as with `cuMemAlloc`.
const ALIGNMENT: u64 = 256;

/// The least number of bytes between buffers.
const GAP: u64 = 4096;

/// The first address.
const BASE: u64 = 0x7_0000_0000;

/// The buffers by address.
#[derive(Clone, Debug)]
pub struct Memory {
    buffers: BTreeMap<u64, TrackedBytes>,
    next: u64,
    size: u64,
    in_use: u64,
}

impl Memory {
    /// Creates the memory of a device with `size` bytes.
    pub fn new(size: u64) -> Self {
        Memory { buffers: BTreeMap::new(), next: BASE, size, in_use: 0 }
    }

    /// Returns the number of bytes that are not in use.
    pub fn free_bytes(&self) -> u64 {
        self.size - self.in_use
    }

    /// Allocates `bytes` bytes, none of which is written yet, and returns their address.
    ///
    /// # Errors
    /// [`Fault::OutOfMemory`] if fewer bytes are free.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, Fault> {
        if bytes > self.free_bytes() {
            return Err(Fault::OutOfMemory { wanted: bytes, free: self.free_bytes() });
        }
        let address = self.next;
        self.next = (address + bytes + GAP).next_multiple_of(ALIGNMENT);
        self.in_use += bytes;
        self.buffers.insert(address, TrackedBytes::new(bytes as usize));
        Ok(address)
    }

    /// Frees the buffer at `address`. Its addresses are not used again, so that later accesses
    /// fail.
    ///
    /// # Errors
    /// [`Fault::Caller`] if no buffer begins there.
    pub fn release(&mut self, address: u64) -> Result<(), Fault> {
        match self.buffers.remove(&address) {
            Some(buffer) => {
                self.in_use -= buffer.len() as u64;
                Ok(())
            }
            None => Err(Fault::Caller(format!("no buffer begins at {address:#x}"))),
        }
    }

    /// Returns the bytes from `address` on.
    ///
    /// # Errors
    /// [`Fault::Caller`] if they are not within a buffer, or not all of them were written.
    pub fn read(&self, address: u64, length: usize) -> Result<&[u8], Fault> {
        self.load(address, length).map_err(Fault::Caller)
    }

    /// Writes `bytes` from `address` on.
    ///
    /// # Errors
    /// [`Fault::Caller`] if they are not within a buffer.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.store(address, bytes).map_err(Fault::Caller)
    }

    /// Copies `length` bytes between buffers; bytes that were not written count as not written in
    /// the copy too.
    ///
    /// # Errors
    /// [`Fault::Caller`] if they are not within buffers.
    pub fn copy(&mut self, to: u64, from: u64, length: usize) -> Result<(), Fault> {
        let source = self.find(from, length, "a read").map_err(Fault::Caller)?;
        let target = self.find(to, length, "a write").map_err(Fault::Caller)?;
        let copied = self.buffers[&source].part((from - source) as usize, length);
        let buffer = self.buffers.get_mut(&target).expect("it was found");
        buffer.replace((to - target) as usize, &copied);
        Ok(())
    }

    /// Returns the bytes from `address` on, or the reason why they cannot be read.
    pub(crate) fn load(&self, address: u64, length: usize) -> Result<&[u8], String> {
        let start = self.find(address, length, "a read")?;
        read(&self.buffers[&start], address - start, length)
    }

    /// Writes `bytes` from `address` on, or returns the reason why they cannot be written.
    pub(crate) fn store(&mut self, address: u64, bytes: &[u8]) -> Result<(), String> {
        let start = self.find(address, bytes.len(), "a write")?;
        let buffer = self.buffers.get_mut(&start).expect("it was found");
        write(buffer, address - start, bytes)
    }

    /// Returns the last buffer that begins at `address` or before it, with the address where it
    /// begins.
    pub(crate) fn buffer(&self, address: u64) -> Option<(u64, &TrackedBytes)> {
        self.buffers.range(..=address).next_back().map(|(&start, buffer)| (start, buffer))
    }

    pub(crate) fn buffer_mut(&mut self, address: u64) -> Option<(u64, &mut TrackedBytes)> {
        self.buffers.range_mut(..=address).next_back().map(|(&start, buffer)| (start, buffer))
    }

    /// Returns the address of the buffer that holds `length` bytes from `address` on.
    fn find(&self, address: u64, length: usize, access: &str) -> Result<u64, String> {
        let Some((start, buffer)) = self.buffer(address) else {
            return Err(format!("{access} at {address:#x}, before all buffers"));
        };
        let (offset, size) = (address - start, buffer.len());
        if buffer.range(offset, length).is_none() {
            return Err(format!(
                "{access} of {length} bytes at offset {offset} of a buffer of {size} bytes"
            ));
        }
        Ok(start)
    }
}

fn read(buffer: &TrackedBytes, offset: u64, length: usize) -> Result<&[u8], String> {
    let range = buffer.range(offset, length).expect("it was found");
    buffer
        .read(range)
        .map_err(|(place, _)| format!("a read of byte {place} of a buffer, which was not written"))
}

fn write(buffer: &mut TrackedBytes, offset: u64, bytes: &[u8]) -> Result<(), String> {
    let written = buffer.write(offset as usize, bytes);
    written.map_err(|(place, _)| format!("a write to byte {place} of a buffer"))
}
