//! Global memory of the emulated device: buffers with a gap after each.
//!
//! An address belongs to one buffer or to none, so that an access past the end of a buffer is seen,
//! and each byte knows whether it was written.

use std::collections::BTreeMap;

use crate::fault::Fault;

/// The alignment of buffers, as that of `cuMemAlloc`.
const ALIGNMENT: u64 = 256;

/// The least number of bytes between buffers.
const GAP: u64 = 4096;

/// The first address.
const BASE: u64 = 0x7_0000_0000;

/// A buffer's bytes, and which of them were written.
#[derive(Clone, Debug)]
struct Buffer {
    bytes: Vec<u8>,
    is_written: Vec<bool>,
}

/// The buffers by address.
#[derive(Clone, Debug)]
pub struct Memory {
    buffers: BTreeMap<u64, Buffer>,
    next: u64,
    size: u64,
    in_use: u64,
}

impl Memory {
    /// Creates the memory of a device with `size` bytes.
    pub fn new(size: u64) -> Self {
        Memory { buffers: BTreeMap::new(), next: BASE, size, in_use: 0 }
    }

    /// The number of bytes that are not in use.
    pub fn free_bytes(&self) -> u64 {
        self.size - self.in_use
    }

    /// Allocates `bytes` bytes, none of which is written yet, and returns their address.
    ///
    /// # Errors
    /// [`Fault::OutOfMemory`].
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, Fault> {
        if bytes > self.free_bytes() {
            return Err(Fault::OutOfMemory { wanted: bytes, free: self.free_bytes() });
        }
        let address = self.next;
        self.next = (address + bytes + GAP).next_multiple_of(ALIGNMENT);
        self.in_use += bytes;
        let length = bytes as usize;
        self.buffers
            .insert(address, Buffer { bytes: vec![0; length], is_written: vec![false; length] });
        Ok(address)
    }

    /// Frees the buffer at `address`. Its addresses are not used again, so that later accesses fail.
    ///
    /// # Errors
    /// [`Fault::Caller`] if no buffer begins there.
    pub fn release(&mut self, address: u64) -> Result<(), Fault> {
        match self.buffers.remove(&address) {
            Some(buffer) => {
                self.in_use -= buffer.bytes.len() as u64;
                Ok(())
            }
            None => Err(Fault::Caller(format!("no buffer begins at {address:#x}"))),
        }
    }

    /// The bytes from `address` on.
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

    /// The bytes from `address` on, or the reason why they cannot be read.
    pub(crate) fn load(&self, address: u64, length: usize) -> Result<&[u8], String> {
        let (start, buffer) = self.find(address, length, "a read")?;
        let range = (address - start) as usize..(address - start) as usize + length;
        if let Some(at) = buffer.is_written[range.clone()].iter().position(|written| !written) {
            let offset = range.start + at;
            return Err(format!("a read of byte {offset} of a buffer, which was not written"));
        }
        Ok(&buffer.bytes[range])
    }

    /// Writes `bytes` from `address` on, or returns the reason why they cannot be written.
    pub(crate) fn store(&mut self, address: u64, bytes: &[u8]) -> Result<(), String> {
        let (start, _) = self.find(address, bytes.len(), "a write")?;
        let buffer = self.buffers.get_mut(&start).expect("it was found");
        let range = (address - start) as usize..(address - start) as usize + bytes.len();
        buffer.bytes[range.clone()].copy_from_slice(bytes);
        buffer.is_written[range].fill(true);
        Ok(())
    }

    /// The buffer that holds `length` bytes from `address` on, with its address.
    fn find(&self, address: u64, length: usize, access: &str) -> Result<(u64, &Buffer), String> {
        let Some((&start, buffer)) = self.buffers.range(..=address).next_back() else {
            return Err(format!("{access} at {address:#x}, before all buffers"));
        };
        let (offset, size) = (address - start, buffer.bytes.len() as u64);
        if offset.checked_add(length as u64).is_none_or(|end| end > size) {
            return Err(format!(
                "{access} of {length} bytes at offset {offset} of a buffer of {size} bytes"
            ));
        }
        Ok((start, buffer))
    }
}
