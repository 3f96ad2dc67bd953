//! Reader of containers. Before a section can be read, the checksums of the header and the section
//! table and every offset and length in them are checked.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::METADATA;
use super::header::{
    FIRST_SECTION_OFFSET, FORMAT_VERSION, FileKind, Header, MAGIC, MAX_SECTIONS, SectionEntry,
    escape_name,
};
use crate::hash::hash64;
use crate::{Bytes, Error, LoadMethod, Result, View, metadata};

/// An entry of the section table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionInfo {
    /// The name of the section.
    pub name: String,
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// The number of its bytes.
    pub length: u64,
    /// The size of one item in bytes.
    pub item_size: u32,
    checksum: u64,
}

/// An open container with a checked header and section table.
///
/// ```
/// use std::path::Path;
///
/// use miriam_storage::{Bytes, Container, Error};
///
/// let bytes = Bytes::copy_from(b"ngram 1=3");
/// let error = Container::from_bytes(bytes, Path::new("model.arpa")).err();
/// assert!(matches!(error, Some(Error::NotAModel { .. })));
/// ```
#[derive(Clone)]
pub struct Container {
    path: PathBuf,
    bytes: Bytes,
    kind: FileKind,
    kind_version: u32,
    sections: Vec<SectionInfo>,
}

impl Container {
    /// Opens the file at `path`, which must be of `kind` in version
    /// `kind_version`.
    ///
    /// # Errors
    /// If the file cannot be read, is not a container, is damaged in its first page, or is of
    /// another kind or version.
    pub fn open(path: &Path, kind: FileKind, kind_version: u32, load: LoadMethod) -> Result<Self> {
        Self::open_any(path, load)?.expect_kind(kind, kind_version)
    }

    /// Opens the file at `path`, of any kind.
    ///
    /// # Errors
    /// If the file cannot be read, is not a container or is damaged in its first page.
    pub fn open_any(path: &Path, load: LoadMethod) -> Result<Self> {
        Self::from_bytes(Bytes::open(path, load)?, path)
    }

    /// Whether the file at `path` starts with the magic bytes of a Miriam model.
    pub fn is_container(path: &Path) -> bool {
        use std::io::Read;
        let mut magic = [0; 8];
        path.is_file()
            && std::fs::File::open(path).is_ok_and(|mut f| f.read_exact(&mut magic).is_ok())
            && magic == MAGIC
    }

    /// Returns the container if it is of `kind` and `kind_version`.
    ///
    /// # Errors
    /// [`Error::WrongKind`] and [`Error::WrongKindVersion`].
    pub fn expect_kind(self, kind: FileKind, kind_version: u32) -> Result<Self> {
        if self.kind != kind {
            return Err(Error::WrongKind {
                path: self.path,
                found: self.kind.to_string(),
                expected: kind.to_string(),
            });
        }
        if self.kind_version != kind_version {
            return Err(Error::WrongKindVersion {
                path: self.path,
                kind: kind.to_string(),
                found: self.kind_version,
                expected: kind_version,
            });
        }
        Ok(self)
    }

    /// Returns a container of `bytes`, whose first page is checked; `path` names them in messages.
    ///
    /// # Errors
    /// If the bytes are not a container or are damaged in the first page.
    pub fn from_bytes(bytes: Bytes, path: &Path) -> Result<Self> {
        let damaged = |place: &str, reason: String| Error::damaged(path, place, reason);
        if bytes.get(..8) != Some(&MAGIC[..]) {
            return Err(Error::NotAModel { path: path.to_owned() });
        }
        let (header, rest) = Header::read_from_prefix(&bytes)
            .map_err(|_| damaged("header", "the file ends inside it".into()))?;
        if header.format_version.get() != FORMAT_VERSION {
            return Err(Error::FormatVersion {
                path: path.to_owned(),
                found: header.format_version.get(),
                expected: FORMAT_VERSION,
            });
        }
        if header.checksum() != header.header_checksum.get() {
            return Err(damaged("header", "its checksum does not match".into()));
        }
        let length = bytes.len() as u64;
        if header.file_length.get() != length {
            let reason = format!("it promises {} bytes, the file has {length}", header.file_length);
            return Err(damaged("header", reason));
        }
        let count = header.section_count.get() as usize;
        if count > MAX_SECTIONS || length < FIRST_SECTION_OFFSET {
            return Err(damaged("header", format!("{count} sections do not fit in one page")));
        }
        let entries = <[SectionEntry]>::ref_from_bytes(&rest[..count * size_of::<SectionEntry>()])
            .map_err(|_| damaged("section table", "it is cut".into()))?;
        if hash64(entries.as_bytes()) != header.table_checksum.get() {
            return Err(damaged("section table", "its checksum does not match".into()));
        }
        let sections = check_sections(entries, length)
            .map_err(|(section, reason)| damaged(&section, reason.into()))?;
        Ok(Container {
            path: path.to_owned(),
            bytes,
            kind: FileKind::from_bytes(header.kind),
            kind_version: header.kind_version.get(),
            sections,
        })
    }

    /// Returns the path, or the name of a container in memory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kind of the file's content.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// Returns the version of the kind's layout.
    pub fn kind_version(&self) -> u32 {
        self.kind_version
    }

    /// Returns the sections in file order.
    pub fn sections(&self) -> &[SectionInfo] {
        &self.sections
    }

    /// Returns the length of the file in bytes.
    pub fn file_length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn section_info(&self, name: &str) -> Result<&SectionInfo> {
        self.sections
            .iter()
            .find(|s| s.name == name)
            .ok_or_else(|| self.damaged(name, "the section is missing"))
    }

    /// Returns the section `name` as items of `T`.
    ///
    /// # Errors
    /// [`Error::Damaged`] if it is missing or its items have another size.
    pub fn section<T: FromBytes + Immutable + KnownLayout>(&self, name: &str) -> Result<View<T>> {
        let info = self.section_info(name)?;
        if info.item_size as usize != size_of::<T>() {
            let reason = format!("items of {} bytes, not {}", info.item_size, size_of::<T>());
            return Err(self.damaged(name, reason));
        }
        View::new(&self.bytes, info.offset as usize, info.length as usize)
            .map_err(|reason| self.damaged(name, reason))
    }

    /// Returns the metadata block.
    ///
    /// # Errors
    /// [`Error::Damaged`] if it is missing or does not contain a `T`.
    pub fn metadata<T: DeserializeOwned>(&self) -> Result<T> {
        let bytes = self.section::<u8>(METADATA)?;
        metadata::decode(&bytes).map_err(|reason| self.damaged(METADATA, reason))
    }

    /// Reads the whole file and checks what opening does not: the checksums of sections, and that
    /// bytes between them are zero.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first damaged section.
    pub fn verify(&self) -> Result<()> {
        let mut end = FIRST_SECTION_OFFSET as usize;
        let used = 64 + 64 * self.sections.len();
        if self.bytes[used..end].iter().any(|&b| b != 0) {
            return Err(self.damaged("section table", "bytes after it are not zero"));
        }
        for section in &self.sections {
            let start = section.offset as usize;
            if self.bytes[end..start].iter().any(|&b| b != 0) {
                return Err(self.damaged(&section.name, "bytes before it are not zero"));
            }
            end = start + section.length as usize;
            if hash64(&self.bytes[start..end]) != section.checksum {
                return Err(self.damaged(&section.name, "its checksum does not match"));
            }
        }
        Ok(())
    }

    /// Returns an [`Error::Damaged`] for `place`, a section's name, in this file.
    pub fn damaged(&self, place: &str, reason: impl Into<String>) -> Error {
        Error::damaged(&self.path, place, reason)
    }
}

/// Checks the section table and returns it as a list: sections are in order, aligned, disjoint and
/// inside the file, which ends with the last one.
fn check_sections(
    entries: &[SectionEntry],
    file_length: u64,
) -> Result<Vec<SectionInfo>, (String, &'static str)> {
    let mut sections: Vec<SectionInfo> = Vec::with_capacity(entries.len());
    let mut end = FIRST_SECTION_OFFSET;
    for entry in entries {
        let name = escape_name(&entry.name);
        let (offset, length) = (entry.offset.get(), entry.length.get());
        let item_size = entry.item_size.get();
        let problem = if offset % 64 != 0 {
            Some("it does not start at a multiple of 64")
        } else if offset < end {
            Some("it overlaps the section before it")
        } else if offset.checked_add(length).is_none_or(|e| e > file_length) {
            Some("it reaches beyond the end of the file")
        } else if item_size == 0 || length % u64::from(item_size) != 0 {
            Some("it is not a whole number of items")
        } else if sections.iter().any(|s| s.name == name) {
            Some("there are two sections of this name")
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err((name, problem));
        }
        end = offset + length;
        sections.push(SectionInfo {
            name,
            offset,
            length,
            item_size,
            checksum: entry.checksum.get(),
        });
    }
    if end != file_length {
        return Err(("section table".into(), "the file does not end with the last section"));
    }
    Ok(sections)
}
