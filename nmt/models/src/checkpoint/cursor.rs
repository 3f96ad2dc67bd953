//! Sequential reading of numbers and byte ranges of a file.

use std::path::Path;

use super::owned_bytes::OwnedBytes;
use crate::{Error, Result};

/// A position in a file that advances with each read. `what` names the item in messages.
pub struct Cursor<'a> {
    bytes: &'a OwnedBytes,
    path: &'a Path,
    /// Offset of the next byte.
    pub position: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a OwnedBytes, path: &'a Path, position: usize) -> Self {
        Cursor { bytes, path, position }
    }

    /// Takes the next `length` bytes.
    pub fn take(&mut self, length: usize, what: &str) -> Result<&'a [u8]> {
        let bytes =
            self.position.checked_add(length).and_then(|end| self.bytes.get(self.position..end));
        let bytes = bytes.ok_or_else(|| self.truncated(length, what))?;
        self.position += length;
        Ok(bytes)
    }

    /// Takes the next `length` bytes as a window that shares the file.
    pub fn take_shared(&mut self, length: usize, what: &str) -> Result<OwnedBytes> {
        let part =
            self.bytes.slice(self.position, length).ok_or_else(|| self.truncated(length, what))?;
        self.position += length;
        Ok(part)
    }

    pub fn u8(&mut self, what: &str) -> Result<u8> {
        Ok(self.array::<1>(what)?[0])
    }

    pub fn u16(&mut self, what: &str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub fn u32(&mut self, what: &str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub fn u64(&mut self, what: &str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// Returns a `u64` that must fit a `usize`.
    pub fn usize(&mut self, what: &str) -> Result<usize> {
        let number = self.u64(what)?;
        usize::try_from(number).map_err(|_| self.damaged(what, format!("{number} is too many")))
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    fn truncated(&self, length: usize, what: &str) -> Error {
        let reason = format!(
            "{length} bytes are needed from byte {}, the file ends at {}; it is truncated or of \
             another format",
            self.position,
            self.bytes.len()
        );
        self.damaged(what, reason)
    }

    /// Returns the error that `what` is damaged.
    pub fn damaged(&self, what: &str, reason: impl Into<String>) -> Error {
        miriam_storage::Error::Damaged {
            path: self.path.to_owned(),
            place: what.to_owned(),
            reason: reason.into(),
        }
        .into()
    }
}
