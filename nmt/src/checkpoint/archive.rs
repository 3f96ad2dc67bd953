//! Zip archives as NumPy and Marian write them: entries stored or deflated, perhaps with
//! 64-bit sizes.
//!
//! Stored entries stay where they are in the mapped file. Of the crates that read zip
//! none hands out a place in a map, and what occurs here is little: the directory at the
//! end and one short header an entry.

use std::io::Read;
use std::path::Path;

use flate2::bufread::DeflateDecoder;
use miriam_storage::{Bytes, View};

use super::cursor::Cursor;
use super::tensor::Window;
use crate::{Error, Result};

const DIRECTORY_END: &[u8] = b"PK\x05\x06";
const DIRECTORY_END_64: u32 = 0x0606_4b50;
const LOCATOR_64: &[u8] = b"PK\x06\x07";
const DIRECTORY_ENTRY: u32 = 0x0201_4b50;
const LOCAL_HEADER: u32 = 0x0403_4b50;
/// The directory's end is followed by a comment of at most 65,535 bytes.
const END_WITHIN: usize = 22 + 65_535;
/// All entries together unpack to at most so many times the file's length, plus
/// [`UNPACKED_ROOM`]; weights barely shrink, bombs do.
const UNPACKED_RATIO: u64 = 64;
const UNPACKED_ROOM: u64 = 16 << 20;

/// A file in an archive, not yet read.
pub struct Entry {
    pub name: String,
    method: u16,
    checksum: u32,
    packed: u64,
    unpacked: u64,
    header: u64,
}

/// The directory of an archive.
pub struct Archive<'a> {
    window: Window,
    path: &'a Path,
    entries: Vec<Entry>,
    /// Bytes that may still be unpacked.
    room: u64,
}

impl<'a> Archive<'a> {
    pub fn open(window: &Window, path: &'a Path) -> Result<Self> {
        let (count, at) = find_directory(window, path)?;
        let mut cursor = Cursor::new(window, path, at);
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(read_entry(&mut cursor)?);
        }
        let room = UNPACKED_ROOM.saturating_add(UNPACKED_RATIO.saturating_mul(window.len() as u64));
        Ok(Archive { window: window.clone(), path, entries, room })
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The content of entry `index`: a window on the file if it is stored, memory of its
    /// own, checked, if it is deflated.
    pub fn content(&mut self, index: usize) -> Result<Window> {
        let (entry, stored) = self.stored(index)?;
        match entry.method {
            0 => Ok(stored),
            8 => {
                let content = self.inflate(index, &stored)?;
                let bytes = Bytes::copy_from(&content);
                let view = View::new(&bytes, 0, bytes.len());
                Ok(Window::new(view.map_err(|reason| self.damaged(index, reason))?))
            }
            method => Err(Error::unsupported(
                self.path,
                format!(
                    "{}: packed by method {method}; unpack the archive and zip it again, stored \
                     or deflated",
                    entry.name
                ),
            )),
        }
    }

    fn stored(&self, index: usize) -> Result<(&Entry, Window)> {
        let entry = &self.entries[index];
        let at = usize::try_from(entry.header).unwrap_or(usize::MAX);
        let mut cursor = Cursor::new(&self.window, self.path, at);
        if cursor.u32(&entry.name)? != LOCAL_HEADER {
            return Err(self.damaged(index, "no entry begins where the directory says"));
        }
        cursor.take(22, &entry.name)?;
        let (name, extra) = (cursor.u16(&entry.name)?, cursor.u16(&entry.name)?);
        cursor.take(usize::from(name) + usize::from(extra), &entry.name)?;
        let packed = usize::try_from(entry.packed).unwrap_or(usize::MAX);
        let window = cursor.window(packed, &entry.name)?;
        if entry.method == 0 && entry.packed != entry.unpacked {
            return Err(self.damaged(index, "it is stored in two sizes"));
        }
        Ok((entry, window))
    }

    fn inflate(&mut self, index: usize, packed: &[u8]) -> Result<Vec<u8>> {
        let entry = &self.entries[index];
        let promised = entry.unpacked;
        if promised > self.room {
            return Err(self.damaged(
                index,
                format!("it would unpack to {promised} bytes, too many for a file of this size"),
            ));
        }
        let mut content = Vec::new();
        // One byte more would show that it does not keep its promise.
        let mut decoder = DeflateDecoder::new(packed).take(promised + 1);
        decoder.read_to_end(&mut content).map_err(|e| self.damaged(index, e.to_string()))?;
        if content.len() as u64 != promised {
            return Err(self.damaged(index, format!("it does not unpack to {promised} bytes")));
        }
        self.check(index, &content)?;
        self.room -= promised;
        Ok(content)
    }

    /// Compares the checksum of entry `index` with its unpacked `content`.
    pub fn check(&self, index: usize, content: &[u8]) -> Result<()> {
        let mut checksum = flate2::Crc::new();
        checksum.update(content);
        if checksum.sum() != self.entries[index].checksum {
            return Err(self.damaged(index, "its checksum does not match"));
        }
        Ok(())
    }

    fn damaged(&self, index: usize, reason: impl Into<String>) -> Error {
        Error::damaged(self.path, &self.entries[index].name, reason)
    }
}

/// How many entries the directory has and where it begins.
fn find_directory(window: &Window, path: &Path) -> Result<(u64, usize)> {
    let damaged = |reason: &str| Error::damaged(path, "zip directory", reason);
    let from = window.len().saturating_sub(END_WITHIN);
    let end = window[from..].windows(4).rposition(|bytes| bytes == DIRECTORY_END);
    let end = from + end.ok_or_else(|| damaged("it is missing; the file is cut"))?;
    let mut cursor = Cursor::new(window, path, end + 10);
    let count = u64::from(cursor.u16("zip directory")?);
    cursor.take(4, "zip directory")?;
    let at = u64::from(cursor.u32("zip directory")?);
    if count != 0xffff && at != 0xffff_ffff {
        return Ok((count, at as usize));
    }
    let locator = end.checked_sub(20).filter(|&at| window[at..].starts_with(LOCATOR_64));
    let Some(locator) = locator else { return Ok((count, at as usize)) };
    let record = Cursor::new(window, path, locator + 8).count("zip directory")?;
    let mut cursor = Cursor::new(window, path, record);
    if cursor.u32("zip directory")? != DIRECTORY_END_64 {
        return Err(damaged("its 64-bit end is not where it should be"));
    }
    cursor.take(28, "zip directory")?;
    let count = cursor.u64("zip directory")?;
    cursor.take(8, "zip directory")?;
    Ok((count, cursor.count("zip directory")?))
}

fn read_entry(cursor: &mut Cursor) -> Result<Entry> {
    const PLACE: &str = "zip directory";
    if cursor.u32(PLACE)? != DIRECTORY_ENTRY {
        return Err(cursor.damaged(PLACE, "fewer entries than promised"));
    }
    cursor.take(4, PLACE)?;
    let flags = cursor.u16(PLACE)?;
    let method = cursor.u16(PLACE)?;
    cursor.take(4, PLACE)?;
    let checksum = cursor.u32(PLACE)?;
    let packed = cursor.u32(PLACE)?;
    let unpacked = cursor.u32(PLACE)?;
    let lengths = [cursor.u16(PLACE)?, cursor.u16(PLACE)?, cursor.u16(PLACE)?].map(usize::from);
    cursor.take(8, PLACE)?;
    let header = cursor.u32(PLACE)?;
    let name = String::from_utf8_lossy(cursor.take(lengths[0], PLACE)?).into_owned();
    let extra = cursor.take(lengths[1], PLACE)?;
    cursor.take(lengths[2], PLACE)?;
    if flags & 1 != 0 {
        return Err(cursor.damaged(&name, "it is encrypted"));
    }
    // Numbers that do not fit 32 bits stand in field 1, those that need it in this order.
    let mut long = long_numbers(extra).as_chunks::<8>().0.iter().map(|&b| u64::from_le_bytes(b));
    let mut number = |short: u32| match short {
        u32::MAX => long.next().unwrap_or(u64::from(short)),
        _ => u64::from(short),
    };
    let (unpacked, packed, header) = (number(unpacked), number(packed), number(header));
    Ok(Entry { name, method, checksum, packed, unpacked, header })
}

/// The content of the extra field of 64-bit numbers.
fn long_numbers(mut extra: &[u8]) -> &[u8] {
    while let &[kind, 0, low, high, ref rest @ ..] = extra {
        let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        if kind == 1 {
            return &rest[..length];
        }
        extra = &rest[length..];
    }
    &[]
}
