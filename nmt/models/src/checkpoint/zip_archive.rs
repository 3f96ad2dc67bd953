//! Zip archives as NumPy and Marian write them: entries stored or deflated, perhaps with
//! 64-bit sizes.
//!
//! Stored entries stay in the mapped file. The crate `zip` 9 gives their positions too
//! (`data_start`), but for reading two kinds of entries it would add a writer, extraction to
//! folders, and crates for paths, random numbers and wiping memory to every build.

use std::io::Read;
use std::path::Path;

use flate2::bufread::DeflateDecoder;
use miriam_storage::{Bytes, View};

use super::cursor::Cursor;
use super::owned_bytes::OwnedBytes;
use crate::{Error, Result};

const DIRECTORY_END: &[u8] = b"PK\x05\x06";
const ZIP64_DIRECTORY_END: u32 = 0x0606_4b50;
const ZIP64_LOCATOR: &[u8] = b"PK\x06\x07";
const DIRECTORY_ENTRY: u32 = 0x0201_4b50;
const LOCAL_HEADER: u32 = 0x0403_4b50;
/// The end of the directory has 22 bytes and a comment of at most 65,535 bytes.
const MAX_END_LEN: usize = 22 + 65_535;
/// All entries together may inflate to this many times the length of the file, plus
/// [`INFLATE_ALLOWANCE`]: weights hardly compress, decompression bombs do.
const MAX_INFLATE_RATIO: u64 = 64;
/// The number of bytes that even the smallest archive may inflate to.
const INFLATE_ALLOWANCE: u64 = 16 << 20;

/// An entry of the directory.
pub struct ZipEntry {
    pub name: String,
    method: u16,
    crc32: u32,
    compressed_size: u64,
    uncompressed_size: u64,
    header_offset: u64,
}

/// An archive with its directory.
pub struct ZipArchive<'a> {
    bytes: OwnedBytes,
    path: &'a Path,
    entries: Vec<ZipEntry>,
    /// Bytes that may still be inflated.
    inflate_budget: u64,
    /// Bytes of the file that may still be read as entries: each byte once, because entries must
    /// not overlap.
    stored_budget: u64,
}

impl<'a> ZipArchive<'a> {
    pub fn open(window: &OwnedBytes, path: &'a Path) -> Result<Self> {
        let (count, at) = find_directory(window, path)?;
        let mut cursor = Cursor::new(window, path, at);
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(read_entry(&mut cursor)?);
        }
        let inflate_budget =
            INFLATE_ALLOWANCE.saturating_add(MAX_INFLATE_RATIO.saturating_mul(window.len() as u64));
        let stored_budget = window.len() as u64;
        Ok(ZipArchive { bytes: window.clone(), path, entries, inflate_budget, stored_budget })
    }

    /// Returns the size of the archive in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn entries(&self) -> &[ZipEntry] {
        &self.entries
    }

    /// Reads the content of entry `index`: a window on the file if it is stored; new memory with a
    /// verified checksum if it is deflated.
    pub fn read_content(&mut self, index: usize) -> Result<OwnedBytes> {
        let packed = self.raw_entry(index)?;
        match self.entries[index].method {
            0 => Ok(packed),
            8 => {
                let bytes = self.inflate(index, &packed)?;
                let view = View::new(&bytes, 0, bytes.len());
                Ok(OwnedBytes::new(view.map_err(|reason| self.damaged(index, reason))?))
            }
            method => Err(Error::unsupported(
                self.path,
                format!(
                    "{}: packed by method {method}; unpack the archive and zip it again, stored \
                     or deflated",
                    self.entries[index].name
                ),
            )),
        }
    }

    /// Reads the entries that `is_wanted` accepts and that are not folders, and checks their
    /// checksums. Returns their names and contents, each in its own memory.
    pub fn read_files(&mut self, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<(String, Bytes)>> {
        let files: Vec<usize> = (0..self.entries.len())
            .filter(|index| {
                let name = &self.entries[*index].name;
                !name.ends_with('/') && is_wanted(name)
            })
            .collect();
        files
            .into_iter()
            .map(|index| {
                let name = self.entries[index].name.clone();
                if self.entries[index].method == 8 {
                    let packed = self.raw_entry(index)?;
                    return Ok((name, self.inflate(index, &packed)?));
                }
                let content = self.read_content(index)?;
                self.check_crc(index, &content)?;
                Ok((name, Bytes::copy_from(&content)))
            })
            .collect()
    }

    /// Returns the bytes of an entry as stored in the file.
    fn raw_entry(&mut self, index: usize) -> Result<OwnedBytes> {
        let entry = &self.entries[index];
        let at = usize::try_from(entry.header_offset).unwrap_or(usize::MAX);
        let mut cursor = Cursor::new(&self.bytes, self.path, at);
        if cursor.u32(&entry.name)? != LOCAL_HEADER {
            return Err(self.damaged(index, "no entry begins at the offset in the directory"));
        }
        cursor.take(22, &entry.name)?;
        let (name, extra) = (cursor.u16(&entry.name)?, cursor.u16(&entry.name)?);
        cursor.take(usize::from(name) + usize::from(extra), &entry.name)?;
        let packed = usize::try_from(entry.compressed_size).unwrap_or(usize::MAX);
        let window = cursor.take_shared(packed, &entry.name)?;
        if entry.method == 0 && entry.compressed_size != entry.uncompressed_size {
            return Err(self.damaged(index, "its stored and unpacked sizes differ"));
        }
        let left = self.stored_budget.checked_sub(entry.compressed_size);
        self.stored_budget = left.ok_or_else(|| {
            self.damaged(index, "entries overlap: together they are larger than the file")
        })?;
        Ok(window)
    }

    fn inflate(&mut self, index: usize, packed: &[u8]) -> Result<Bytes> {
        let entry = &self.entries[index];
        let size = entry.uncompressed_size;
        if size > self.inflate_budget {
            return Err(self.damaged(
                index,
                format!("it would unpack to {size} bytes, too many for a file of this size"),
            ));
        }
        // Reading one byte more shows whether the directory's size is wrong.
        let decoder = DeflateDecoder::new(packed).take(size + 1);
        let content = Bytes::read_from(decoder).map_err(|e| self.damaged(index, e.to_string()))?;
        if content.len() as u64 != size {
            return Err(self.damaged(index, format!("it does not unpack to {size} bytes")));
        }
        self.check_crc(index, &content)?;
        self.inflate_budget -= size;
        Ok(content)
    }

    /// Checks the unpacked `content` of entry `index` against the checksum in the directory.
    pub fn check_crc(&self, index: usize, content: &[u8]) -> Result<()> {
        let mut checksum = flate2::Crc::new();
        checksum.update(content);
        if checksum.sum() != self.entries[index].crc32 {
            return Err(self.damaged(index, "its checksum does not match"));
        }
        Ok(())
    }

    fn damaged(&self, index: usize, reason: impl Into<String>) -> Error {
        Error::damaged(self.path, &self.entries[index].name, reason)
    }
}

/// The name of the directory in errors.
const PLACE: &str = "zip directory";

/// Finds the directory. Returns the number of its entries, and its offset.
fn find_directory(window: &OwnedBytes, path: &Path) -> Result<(u64, usize)> {
    let from = window.len().saturating_sub(MAX_END_LEN);
    let end = window[from..].windows(4).rposition(|bytes| bytes == DIRECTORY_END);
    let end =
        end.ok_or_else(|| Error::damaged(path, PLACE, "it is missing; the file is truncated"))?;
    let end = from + end;
    let mut cursor = Cursor::new(window, path, end + 10);
    let count = u64::from(cursor.u16(PLACE)?);
    cursor.take(4, PLACE)?;
    let at = u64::from(cursor.u32(PLACE)?);
    if count != 0xffff && at != 0xffff_ffff {
        return Ok((count, at as usize));
    }
    let locator = end.checked_sub(20).filter(|&at| window[at..].starts_with(ZIP64_LOCATOR));
    let Some(locator) = locator else { return Ok((count, at as usize)) };
    let record = Cursor::new(window, path, locator + 8).usize(PLACE)?;
    let mut cursor = Cursor::new(window, path, record);
    if cursor.u32(PLACE)? != ZIP64_DIRECTORY_END {
        return Err(cursor.damaged(PLACE, "its 64-bit end is not where the locator says"));
    }
    cursor.take(28, PLACE)?;
    let count = cursor.u64(PLACE)?;
    cursor.take(8, PLACE)?;
    Ok((count, cursor.usize(PLACE)?))
}

fn read_entry(cursor: &mut Cursor) -> Result<ZipEntry> {
    if cursor.u32(PLACE)? != DIRECTORY_ENTRY {
        return Err(cursor.damaged(PLACE, "it has fewer entries than its end declares"));
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
    // Numbers that do not fit 32 bits are in extra field 1: first the size, then the size in the
    // archive, then the offset of the header.
    let mut long = zip64_field(extra).as_chunks::<8>().0.iter().map(|&b| u64::from_le_bytes(b));
    let mut number = |short: u32| match short {
        u32::MAX => long.next().unwrap_or(u64::from(short)),
        _ => u64::from(short),
    };
    let (unpacked, packed, header) = (number(unpacked), number(packed), number(header));
    Ok(ZipEntry {
        name,
        method,
        crc32: checksum,
        compressed_size: packed,
        uncompressed_size: unpacked,
        header_offset: header,
    })
}

/// Returns the content of extra field 1, which has 64-bit numbers.
fn zip64_field(mut extra: &[u8]) -> &[u8] {
    while let &[kind, 0, low, high, ref rest @ ..] = extra {
        let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        if kind == 1 {
            return &rest[..length];
        }
        extra = &rest[length..];
    }
    &[]
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Returns an archive of `members`: name, method, the bytes in the archive, the content.
    fn archive(members: &[(&str, u16, &[u8], &[u8])]) -> Vec<u8> {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for &(name, method, packed, content) in members {
            let mut checksum = flate2::Crc::new();
            checksum.update(content);
            let common = [
                &20u16.to_le_bytes()[..],
                &[0, 0],
                &method.to_le_bytes(),
                &[0; 4],
                &checksum.sum().to_le_bytes(),
                &(packed.len() as u32).to_le_bytes(),
                &(content.len() as u32).to_le_bytes(),
                &(name.len() as u16).to_le_bytes(),
                &[0, 0],
            ]
            .concat();
            directory.extend([b"PK\x01\x02\x14\0", &common[..], &[0; 10]].concat());
            directory.extend((bytes.len() as u32).to_le_bytes());
            directory.extend(name.as_bytes());
            bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes(), packed].concat());
        }
        let (count, start) = (members.len() as u16, bytes.len() as u32);
        bytes.extend(&directory);
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        bytes.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
        bytes.extend([(directory.len() as u32).to_le_bytes(), start.to_le_bytes()].concat());
        bytes.extend([0, 0]);
        bytes
    }

    fn open(file: &[u8]) -> ZipArchive<'static> {
        let bytes = Bytes::copy_from(file);
        let window = OwnedBytes::new(View::new(&bytes, 0, bytes.len()).unwrap());
        ZipArchive::open(&window, Path::new("m.zip")).unwrap()
    }

    #[test]
    fn damaged_entries_that_are_stored_are_rejected() {
        let file = archive(&[("a.json", 0, b"weighty", b"weights")]);
        let error = open(&file).read_files(&|_| true).err().unwrap().to_string();
        assert!(error.contains("a.json") && error.contains("checksum"), "{error}");
        let file = archive(&[("a.json", 0, b"weights", b"weights")]);
        let files = open(&file).read_files(&|_| true).unwrap();
        assert_eq!((files[0].0.as_str(), &files[0].1[..]), ("a.json", &b"weights"[..]));
    }

    /// A directory that names one large entry 50 times.
    #[test]
    fn entries_that_overlap_are_rejected() {
        let content = vec![7; 10_000];
        let mut file = archive(&[("a", 0, &content, &content)]);
        let end = file.len() - 22;
        // The directory begins after the entry: a header of 30 bytes, the name, the content.
        let start = 30 + 1 + content.len();
        let entry = file[start..end].to_vec();
        let count = 50u16;
        let directory = entry.repeat(count.into());
        let mut tail = file[end..].to_vec();
        tail[8..10].copy_from_slice(&count.to_le_bytes());
        tail[10..12].copy_from_slice(&count.to_le_bytes());
        tail[12..16].copy_from_slice(&(directory.len() as u32).to_le_bytes());
        file.truncate(start);
        file.extend([directory, tail].concat());
        let error = open(&file).read_files(&|_| true).err().unwrap().to_string();
        assert!(error.contains("overlap"), "{error}");
    }

    /// Stored entries are used in place in the mapped file, whatever their size; only deflated ones
    /// take memory.
    #[test]
    fn stored_members_are_windows_on_the_file() {
        let content = b"weights weights weights".repeat(9);
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Default::default());
        encoder.write_all(&content).unwrap();
        let packed = encoder.finish().unwrap();
        assert!(packed.len() < content.len());
        let file = archive(&[("a.npy", 0, &content, &content), ("b.npy", 8, &packed, &content)]);
        let bytes = Bytes::copy_from(&file);
        let window = OwnedBytes::new(View::new(&bytes, 0, bytes.len()).unwrap());
        let mut archive = ZipArchive::open(&window, Path::new("m.npz")).unwrap();
        let names: Vec<&str> = archive.entries().iter().map(|entry| &entry.name[..]).collect();
        assert_eq!(names, ["a.npy", "b.npy"]);
        let [stored, inflated] = [0, 1].map(|index| archive.read_content(index).unwrap());
        assert!(stored[..] == content[..] && inflated[..] == content[..]);
        // A local header has 30 bytes and the name.
        assert_eq!(stored.as_ptr_range().start, window[35..].as_ptr());
        assert!(!window.as_ptr_range().contains(&inflated.as_ptr()));
    }
}
