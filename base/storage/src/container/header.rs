//! Fixed structures at the start of a container file.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::hash::hash64;

/// The version of the container format this crate reads and writes.
pub const FORMAT_VERSION: u32 = 1;

/// The maximum number of sections: those that fit in the first page.
pub const MAX_SECTIONS: usize = 63;

/// The offset of the first section, after the header and the section table.
pub(crate) const FIRST_SECTION_OFFSET: u64 = 4096;

/// The first bytes of a file. One is not ASCII and one is a line end, so that damage by text-mode
/// transfers is detected at once.
pub(crate) const MAGIC: [u8; 8] = *b"\x8fmiriam\n";

/// The kind of a file's content, such as `phrase-table`: at most 16 ASCII letters,
/// digits or hyphens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FileKind([u8; 16]);

impl FileKind {
    /// Returns the kind with this name. Panics unless the name is 1 to 16 ASCII letters, digits
    /// or hyphens, so use it in a `const`.
    pub const fn new(name: &str) -> Self {
        let name = name.as_bytes();
        assert!(!name.is_empty() && name.len() <= 16, "a kind has 1 to 16 letters");
        let mut bytes = [0; 16];
        let mut i = 0;
        while i < name.len() {
            assert!(name[i].is_ascii_alphanumeric() || name[i] == b'-');
            bytes[i] = name[i];
            i += 1;
        }
        FileKind(bytes)
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        FileKind(bytes)
    }

    pub(crate) fn bytes(self) -> [u8; 16] {
        self.0
    }
}

impl std::fmt::Display for FileKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&escape_name(&self.0))
    }
}

impl std::fmt::Debug for FileKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FileKind({self})")
    }
}

/// Converts a zero-padded name to text; damaged bytes are escaped.
pub(crate) fn escape_name(name: &[u8]) -> String {
    let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
    name[..end].escape_ascii().to_string()
}

/// Bytes 0 to 63 of a file.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Header {
    pub magic: [u8; 8],
    pub format_version: U32,
    pub section_count: U32,
    pub kind: [u8; 16],
    pub kind_version: U32,
    pub reserved: U32,
    pub file_length: U64,
    /// XXH3 of the used entries of the section table.
    pub table_checksum: U64,
    /// XXH3 of the 56 bytes before this field.
    pub header_checksum: U64,
}

impl Header {
    pub(crate) fn checksum(&self) -> u64 {
        hash64(&self.as_bytes()[..56])
    }
}

/// One entry of the section table, which starts at byte 64.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct SectionEntry {
    pub name: [u8; 24],
    /// Bytes from the start of the file, a multiple of 64.
    pub offset: U64,
    /// Bytes, padding excluded.
    pub length: U64,
    /// Bytes of one item; `length` is a multiple of it.
    pub item_size: U32,
    pub reserved: [U32; 3],
    /// XXH3 of the section's bytes.
    pub checksum: U64,
}

const _: () = assert!(size_of::<Header>() == 64 && size_of::<SectionEntry>() == 64);
const _: () = assert!(64 + MAX_SECTIONS * 64 == FIRST_SECTION_OFFSET as usize);
