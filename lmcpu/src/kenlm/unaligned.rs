//! Unaligned reads: the sections of KenLM's files follow each other without padding.

use std::path::Path;

use miriam_storage::{Bytes, View};

use crate::Result;

/// Returns the little-endian u64 at `at`. All its bytes must be within `bytes`.
#[inline(always)]
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

/// Returns the little-endian u32 at `at`. All its bytes must be within `bytes`.
#[inline(always)]
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

/// Returns the little-endian f32 at `at`. All its bytes must be within `bytes`.
#[inline(always)]
pub fn f32_at(bytes: &[u8], at: usize) -> f32 {
    f32::from_bits(u32_at(bytes, at))
}

#[inline(always)]
fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

/// A reader of the sections of a file, one after another.
pub struct SectionReader<'a> {
    pub bytes: &'a Bytes,
    pub path: &'a Path,
    /// The start of the next section.
    pub offset: usize,
}

impl SectionReader<'_> {
    /// Returns the next `count` items of `N` bytes each; `section` is their name for messages.
    pub fn take<const N: usize>(&mut self, section: &str, count: u64) -> Result<View<[u8; N]>> {
        let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(N));
        let end = length.and_then(|length| self.offset.checked_add(length));
        let (Some(length), Some(end)) = (length, end) else {
            return Err(self.damaged(section, "its size overflows"));
        };
        let view = View::new(self.bytes, self.offset, length).map_err(|_| {
            let reason = format!(
                "it should end at byte {end}, but the file ends at {}; it is cut",
                self.bytes.len()
            );
            self.damaged(section, &reason)
        })?;
        self.offset = end;
        Ok(view)
    }

    /// Returns the error that the section `section` is damaged.
    pub fn damaged(&self, section: &str, reason: &str) -> crate::Error {
        miriam_storage::Error::damaged(self.path, section, reason).into()
    }
}
