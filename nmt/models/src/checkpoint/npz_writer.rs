//! Writer of `.npz` archives: the checkpoints of training, which Marian and NumPy open too.
//!
//! Entries are not compressed: Marian does not read deflated ones. The checksum of an entry comes
//! before its content, so each array is read twice: for the checksum and for writing. But it is
//! never copied, which would cost more for many gigabytes of weights. Numbers begin at multiples of
//! 64 bytes in the file, so that a mapped archive can be used in place. NumPy's header is padded
//! for this, and so is the zip header of the entry, in an extra field. Time stamps are fixed: the
//! same arrays give the same bytes.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use miriam_storage::atomic_file::AtomicFile;
use miriam_storage::zerocopy::IntoBytes;

use crate::{Error, Result};

/// Numbers begin at a multiple of this number of bytes in the file.
const ALIGNMENT: u64 = 64;
/// From this number on, sizes and offsets are in 64-bit fields.
const MAX_SHORT: u64 = 0xffff_ffff;
/// From this number of entries on, their number is in a 64-bit field.
const MAX_SHORT_COUNT: u64 = 0xffff;
/// The kind of the extra field with 64-bit sizes and offsets.
const ZIP64_FIELD: u16 = 1;
/// The kind of the extra field that aligns an entry: the alignment, then zeros.
const ALIGNMENT_FIELD: u16 = 0xd935;
/// Kind and length of an extra field, before its content.
const FIELD_HEADER_LEN: usize = 4;
/// The version of the zip format that plain readers know, and the version with 64-bit fields.
const VERSIONS: [u16; 2] = [20, 45];
/// Bit 11: the name is UTF-8.
const UTF8_NAME: u16 = 1 << 11;
/// The first of January 1980, the earliest date that an archive can store.
const DOS_DATE: u16 = 1 << 5 | 1;
/// A regular file that its owner may write and everybody may read, for unpacking on Unix.
const UNIX_MODE: u32 = 0o100_644;
/// The system of [`UNIX_MODE`].
const UNIX: u16 = 3;

/// An entry that was written.
struct WrittenEntry {
    name: String,
    crc32: u32,
    size: u64,
    header_offset: u64,
}

/// A `.npz` archive that is being written. Its file appears when it is
/// [finished](NpzWriter::finish); if it is dropped before, an old file stays as it was.
///
/// ```
/// use miriam_nmt_models::checkpoint::{Checkpoint, NpzWriter};
/// use miriam_storage::LoadMethod;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("moments.npz");
/// let mut archive = NpzWriter::create(&path)?;
/// archive.add_f32("adam_mt", &[1, 3], &[0.5, 0.0, -1.5])?;
/// archive.finish()?;
/// let checkpoint = Checkpoint::open(&path, LoadMethod::Lazy)?;
/// assert_eq!(checkpoint.get("adam_mt").unwrap().values(), [0.5, 0.0, -1.5]);
/// # Ok(())
/// # }
/// ```
pub struct NpzWriter {
    path: PathBuf,
    file: AtomicFile,
    position: u64,
    entries: Vec<WrittenEntry>,
    names: BTreeSet<String>,
    /// Whether writing failed, after which the archive cannot be finished.
    failed: bool,
    /// [`MAX_SHORT`]; less in tests of 64-bit fields.
    max_short: u64,
    /// [`MAX_SHORT_COUNT`]; less in tests of 64-bit fields.
    max_short_count: u64,
}

impl NpzWriter {
    /// Starts an archive that becomes the file `path`, whose folder must exist.
    ///
    /// # Errors
    /// If no file can be written there.
    pub fn create(path: &Path) -> Result<Self> {
        Ok(NpzWriter {
            path: path.to_owned(),
            file: AtomicFile::create(path)?,
            position: 0,
            entries: Vec::new(),
            names: BTreeSet::new(),
            failed: false,
            max_short: MAX_SHORT,
            max_short_count: MAX_SHORT_COUNT,
        })
    }

    /// Adds an array of 32-bit floats in row-major order, outermost dimension first.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the number of `values` does not fit `shape`, or `name` is empty, too
    /// long, contains NUL or exists already. Also if the file cannot be written.
    pub fn add_f32(&mut self, name: &str, shape: &[usize], values: &[f32]) -> Result<()> {
        self.add(name, "<f4", shape, values.len(), values.as_bytes())
    }

    /// Adds an array of 64-bit floats, as [`add_f32`](NpzWriter::add_f32) does.
    ///
    /// # Errors
    /// Those of [`add_f32`](NpzWriter::add_f32).
    pub fn add_f64(&mut self, name: &str, shape: &[usize], values: &[f64]) -> Result<()> {
        self.add(name, "<f8", shape, values.len(), values.as_bytes())
    }

    /// Adds a vector of bytes as int8, which is how Marian stores text.
    ///
    /// # Errors
    /// Those of [`add_f32`](NpzWriter::add_f32).
    pub fn add_bytes(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.add(name, "|i1", &[bytes.len()], bytes.len(), bytes)
    }

    /// Writes the directory and puts the file in place.
    ///
    /// # Errors
    /// If the file cannot be written, now or before; an old file then stays.
    pub fn finish(mut self) -> Result<()> {
        if self.failed {
            return Err(self.mismatch(
                "archive",
                "one of its arrays was not written; write the archive again",
            ));
        }
        let directory = self.directory();
        self.write(&directory)?;
        Ok(self.file.commit()?)
    }

    fn add(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        count: usize,
        data: &[u8],
    ) -> Result<()> {
        if shape.iter().try_fold(1usize, |count, &n| count.checked_mul(n)) != Some(count) {
            return Err(
                self.mismatch(name, format!("{count} numbers do not fit the shape {shape:?}"))
            );
        }
        let header = numpy_header(descr, shape).map_err(|reason| self.mismatch(name, reason))?;
        let file_name = format!("{name}.npy");
        let Ok(name_len) = u16::try_from(file_name.len()) else {
            let beginning: String = name.chars().take(32).collect();
            return Err(self.mismatch(&beginning, "the name has more than 65,531 bytes"));
        };
        if name.is_empty() || name.contains('\0') {
            return Err(
                self.mismatch(name, "the name of an array must not be empty or contain NUL")
            );
        }
        if !self.names.insert(name.to_owned()) {
            return Err(self.mismatch(name, "the archive already has an array of this name"));
        }
        let mut checksum = flate2::Crc::new();
        checksum.update(&header);
        checksum.update(data);
        let entry = WrittenEntry {
            name: file_name,
            crc32: checksum.sum(),
            size: header.len() as u64 + data.len() as u64,
            header_offset: self.position,
        };
        let local_header = self.local_header(&entry, name_len);
        self.write(&local_header)?;
        self.write(&header)?;
        debug_assert!(self.position.is_multiple_of(ALIGNMENT));
        self.write(data)?;
        self.entries.push(entry);
        Ok(())
    }

    /// Returns the header before an entry, padded so that its content begins at a multiple of
    /// [`ALIGNMENT`].
    fn local_header(&self, entry: &WrittenEntry, name_len: u16) -> Vec<u8> {
        let long = entry.size >= self.max_short;
        let mut extra = Vec::new();
        if long {
            // This field must have both sizes, compressed and uncompressed.
            push_field(&mut extra, ZIP64_FIELD, &[entry.size.to_le_bytes(); 2].concat());
        }
        let fixed = 30 + usize::from(name_len) + extra.len() + FIELD_HEADER_LEN + 2;
        let end = entry.header_offset + fixed as u64;
        let padding = (end.next_multiple_of(ALIGNMENT) - end) as usize;
        let mut alignment = (ALIGNMENT as u16).to_le_bytes().to_vec();
        alignment.resize(2 + padding, 0);
        push_field(&mut extra, ALIGNMENT_FIELD, &alignment);
        let mut header = b"PK\x03\x04".to_vec();
        push_u16(&mut header, VERSIONS[usize::from(long)]);
        self.push_common(&mut header, entry, name_len, extra.len());
        header.extend(entry.name.as_bytes());
        header.extend(extra);
        header
    }

    /// Appends the fields that an entry has before its content and in the directory.
    fn push_common(&self, to: &mut Vec<u8>, entry: &WrittenEntry, name_len: u16, extra_len: usize) {
        let flags = if entry.name.is_ascii() { 0 } else { UTF8_NAME };
        for number in [flags, 0, 0, DOS_DATE] {
            push_u16(to, number);
        }
        to.extend(entry.crc32.to_le_bytes());
        for size in [entry.size; 2] {
            to.extend(self.short(size).to_le_bytes());
        }
        push_u16(to, name_len);
        push_u16(to, extra_len as u16);
    }

    /// Returns the directory and its end record. The directory begins at `self.position`.
    fn directory(&self) -> Vec<u8> {
        let mut directory = Vec::new();
        for entry in &self.entries {
            let sizes = if entry.size >= self.max_short { &[entry.size; 2][..] } else { &[] };
            let offset = Some(entry.header_offset).filter(|&offset| offset >= self.max_short);
            let long: Vec<u8> =
                sizes.iter().copied().chain(offset).flat_map(u64::to_le_bytes).collect();
            let mut extra = Vec::new();
            if !long.is_empty() {
                push_field(&mut extra, ZIP64_FIELD, &long);
            }
            directory.extend(b"PK\x01\x02");
            let version = VERSIONS[usize::from(!long.is_empty())];
            push_u16(&mut directory, UNIX << 8 | version);
            push_u16(&mut directory, version);
            self.push_common(&mut directory, entry, entry.name.len() as u16, extra.len());
            // No comment, the first disk, no attributes of the content.
            directory.extend([0; 6]);
            directory.extend((UNIX_MODE << 16).to_le_bytes());
            directory.extend(self.short(entry.header_offset).to_le_bytes());
            directory.extend(entry.name.as_bytes());
            directory.extend(extra);
        }
        let (count, length) = (self.entries.len() as u64, directory.len() as u64);
        let long_count = count >= self.max_short_count;
        if long_count || length >= self.max_short || self.position >= self.max_short {
            let end = self.position + length;
            directory.extend(b"PK\x06\x06");
            // The length of the rest of this record. Versions and the numbers of two disks follow.
            directory.extend(44u64.to_le_bytes());
            push_u16(&mut directory, UNIX << 8 | VERSIONS[1]);
            push_u16(&mut directory, VERSIONS[1]);
            directory.extend([0; 8]);
            for number in [count, count, length, self.position] {
                directory.extend(number.to_le_bytes());
            }
            // The locator: the disk and the offset of the record above, and the number of disks.
            directory.extend(b"PK\x06\x07");
            directory.extend(0u32.to_le_bytes());
            directory.extend(end.to_le_bytes());
            directory.extend(1u32.to_le_bytes());
        }
        let short_count = if long_count { u16::MAX } else { count as u16 };
        directory.extend(b"PK\x05\x06");
        directory.extend([0; 4]);
        push_u16(&mut directory, short_count);
        push_u16(&mut directory, short_count);
        directory.extend(self.short(length).to_le_bytes());
        directory.extend(self.short(self.position).to_le_bytes());
        directory.extend([0; 2]);
        directory
    }

    /// Returns a number in 32 bits, or all ones if a 64-bit field has the number.
    fn short(&self, number: u64) -> u32 {
        if number >= self.max_short { u32::MAX } else { number as u32 }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| {
            self.failed = true;
            miriam_storage::Error::io(&self.path, "write", error)
        })?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn mismatch(&self, place: &str, reason: impl Into<String>) -> Error {
        Error::mismatch(&self.path, place, reason)
    }
}

/// Returns the header of a NumPy array of version 1.0, padded with spaces to a multiple of
/// [`ALIGNMENT`].
fn numpy_header(descr: &str, shape: &[usize]) -> Result<Vec<u8>, String> {
    let dimensions = match shape {
        [n] => format!("{n},"),
        _ => shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dimensions}), }}");
    let mut header = b"\x93NUMPY\x01\0".to_vec();
    let length = (header.len() + 2 + text.len() + 1).next_multiple_of(ALIGNMENT as usize);
    let text_len = length - header.len() - 2;
    let stored = u16::try_from(text_len).map_err(|_| format!("{} dimensions", shape.len()))?;
    header.extend(stored.to_le_bytes());
    header.extend(text.as_bytes());
    header.resize(length - 1, b' ');
    header.push(b'\n');
    Ok(header)
}

fn push_u16(to: &mut Vec<u8>, number: u16) {
    to.extend(number.to_le_bytes());
}

fn push_field(extra: &mut Vec<u8>, kind: u16, content: &[u8]) {
    push_u16(extra, kind);
    push_u16(extra, content.len() as u16);
    extra.extend(content);
}

#[cfg(test)]
mod tests {
    use miriam_storage::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::checkpoint::Checkpoint;

    /// Returns an archive of vectors of these `lengths`. It has 64-bit fields for numbers from the
    /// limits `max_short` and `max_short_count` on.
    fn archive(lengths: &[usize], max_short: u64, max_short_count: u64) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.npz");
        let mut archive = NpzWriter::create(&path).unwrap();
        (archive.max_short, archive.max_short_count) = (max_short, max_short_count);
        for (index, &length) in lengths.iter().enumerate() {
            let values = vec![index as f32; length];
            archive.add_f32(&format!("v{index}"), &[length], &values).unwrap();
        }
        archive.finish().unwrap();
        std::fs::read(path).unwrap()
    }

    fn assert_vectors(file: &[u8], lengths: &[usize]) {
        let (bytes, path) = (Bytes::copy_from(file), Path::new("m.npz"));
        Checkpoint::verify(&bytes, path).unwrap();
        let checkpoint = Checkpoint::from_bytes(&bytes, path).unwrap();
        assert_eq!(checkpoint.names().count(), lengths.len());
        for (index, &length) in lengths.iter().enumerate() {
            let tensor = checkpoint.get(&format!("v{index}")).unwrap();
            assert_eq!(
                (tensor.shape(), tensor.values()),
                (&[length][..], vec![index as f32; length])
            );
        }
    }

    proptest! {
        /// Small limits for the 32-bit fields stand in for files of more than 4 GiB.
        #[test]
        fn long_fields_are_read_back(
            lengths in prop::collection::vec(0usize..90, 0..9),
            max_short in 0u64..3000,
            max_short_count in 0u64..9,
        ) {
            // Readers recognise a zip archive by its first entry.
            prop_assume!(!lengths.is_empty());
            let file = archive(&lengths, max_short, max_short_count);
            assert_vectors(&file, &lengths);
        }
    }

    #[test]
    fn small_archives_have_no_long_fields() {
        let file = archive(&[3, 0], MAX_SHORT, MAX_SHORT_COUNT);
        assert!(!file.windows(4).any(|bytes| bytes == b"PK\x06\x06"));
        // The version of the format in the header of the first entry: 2.0.
        assert_eq!(file[4..6], [20, 0]);
        let long = archive(&[3, 0], 0, MAX_SHORT_COUNT);
        assert!(long.windows(4).any(|bytes| bytes == b"PK\x06\x06"));
        assert_eq!(long[4..6], [45, 0]);
    }
}
