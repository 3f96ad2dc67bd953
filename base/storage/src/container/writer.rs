//! Writer of containers. It writes the sections one after another, and then the header and the
//! section table at the start of the file. Finally it renames the file to its target.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use zerocopy::{Immutable, IntoBytes};

use super::METADATA;
use super::header::{
    FIRST_SECTION_OFFSET, FORMAT_VERSION, FileKind, Header, MAGIC, MAX_SECTIONS, SectionEntry,
};
use crate::atomic_file::AtomicFile;
use crate::bytes::AlignedBuffer;
use crate::hash::{Hasher, hash64};
use crate::huge_page_writer::HUGE_PAGE;
use crate::{Bytes, Error, Result, metadata};

/// The minimum expected size, in bytes, of sections that start at a multiple of 2 MiB, so that huge
/// pages can back them. The padding is at most a sixteenth of their size.
const HUGE_SECTION: u64 = 32 << 20;
const ALIGNMENT: u64 = 64;

/// The minimum length in bytes of writes for which another thread computes the checksum.
const PARALLEL_CHECKSUM_LEN: usize = 1 << 20;

enum Sink {
    File(AtomicFile),
    Memory(AlignedBuffer),
}

/// A container being written, to a file or to memory.
///
/// ```
/// use miriam_storage::{Container, ContainerWriter, FileKind, LoadMethod};
///
/// const KIND: FileKind = FileKind::new("words");
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.miriam");
///
/// let mut writer = ContainerWriter::create(&path, KIND, 1)?;
/// let mut section = writer.begin_section("letters", 1, 0)?;
/// for word in ["das", "haus"] {
///     section.write(word.as_bytes())?;
/// }
/// section.finish()?;
/// writer.finish()?;
///
/// let container = Container::open(&path, KIND, 1, LoadMethod::Lazy)?;
/// assert_eq!(&container.section::<u8>("letters")?[..], b"dashaus");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ContainerWriter {
    sink: Sink,
    path: PathBuf,
    kind: FileKind,
    kind_version: u32,
    position: u64,
    entries: Vec<SectionEntry>,
}

impl ContainerWriter {
    /// Starts a file of `kind`, which appears at `path` when it is finished.
    ///
    /// # Errors
    /// If `path` is not a writable file.
    pub fn create(path: &Path, kind: FileKind, kind_version: u32) -> Result<Self> {
        let file = AtomicFile::create(path)?;
        Self::with_sink(Sink::File(file), path.to_owned(), kind, kind_version)
    }

    /// Starts a container in memory, with `name` as its name in messages.
    ///
    /// # Errors
    /// Currently none.
    pub fn in_memory(name: &Path, kind: FileKind, kind_version: u32) -> Result<Self> {
        Self::with_sink(Sink::Memory(AlignedBuffer::default()), name.to_owned(), kind, kind_version)
    }

    fn with_sink(sink: Sink, path: PathBuf, kind: FileKind, kind_version: u32) -> Result<Self> {
        let mut writer =
            ContainerWriter { sink, path, kind, kind_version, position: 0, entries: Vec::new() };
        writer.pad_to(FIRST_SECTION_OFFSET)?;
        Ok(writer)
    }

    /// Returns the path of the container.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the metadata block.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above 1 MiB, [`Error::Io`] if writing fails.
    pub fn write_metadata<T: Serialize>(&mut self, value: &T) -> Result<()> {
        let bytes = metadata::encode(value).map_err(|reason| Error::TooLarge {
            path: self.path.clone(),
            reason: format!("metadata: {reason}"),
        })?;
        self.write_section(METADATA, &bytes)
    }

    /// Writes `items` as the section `name`. Panics like [`ContainerWriter::begin_section`].
    ///
    /// # Errors
    /// [`Error::Io`] if writing fails.
    pub fn write_section<T: IntoBytes + Immutable>(
        &mut self,
        name: &str,
        items: &[T],
    ) -> Result<()> {
        let bytes = items.as_bytes();
        let mut section = self.begin_section(name, size_of::<T>(), bytes.len() as u64)?;
        section.write(bytes)?;
        section.finish()
    }

    /// Starts the section `name`, a stream of items of `item_size` bytes. Its `expected` length in
    /// bytes affects only its alignment.
    ///
    /// Panics if the name is empty, longer than 24 bytes or already used, or if there are more than
    /// [`MAX_SECTIONS`] sections, because callers use constants.
    ///
    /// # Errors
    /// [`Error::Io`] if writing fails.
    pub fn begin_section(
        &mut self,
        name: &str,
        item_size: usize,
        expected: u64,
    ) -> Result<SectionWriter<'_>> {
        let mut padded = [0; 24];
        assert!(!name.is_empty() && name.len() <= 24, "section name {name:?}");
        padded[..name.len()].copy_from_slice(name.as_bytes());
        assert!(self.entries.iter().all(|e| e.name != padded), "section {name} written twice");
        assert!(self.entries.len() < MAX_SECTIONS, "too many sections");
        let alignment = if expected >= HUGE_SECTION { HUGE_PAGE as u64 } else { ALIGNMENT };
        self.pad_to(self.position.next_multiple_of(alignment))?;
        Ok(SectionWriter {
            start: self.position,
            container: self,
            name: padded,
            item_size: u32::try_from(item_size).expect("items are small"),
            hasher: Hasher::new(),
        })
    }

    fn pad_to(&mut self, position: u64) -> Result<()> {
        const ZEROS: [u8; 4096] = [0; 4096];
        while self.position < position {
            let n = (position - self.position).min(ZEROS.len() as u64) as usize;
            self.write(&ZEROS[..n])?;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.sink {
            Sink::File(file) => {
                file.write_all(bytes).map_err(|e| Error::io(&self.path, "write", e))?;
            }
            Sink::Memory(buffer) => buffer.extend_from_slice(bytes),
        }
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn write_header(&mut self) -> Result<()> {
        let table = self.entries.as_bytes();
        let mut header = Header {
            magic: MAGIC,
            format_version: FORMAT_VERSION.into(),
            section_count: (self.entries.len() as u32).into(),
            kind: self.kind.bytes(),
            kind_version: self.kind_version.into(),
            reserved: 0.into(),
            file_length: self.position.into(),
            table_checksum: hash64(table).into(),
            header_checksum: 0.into(),
        };
        header.header_checksum = header.checksum().into();
        let start = [header.as_bytes(), table].concat();
        match &mut self.sink {
            Sink::File(file) => file.write_at(0, &start),
            Sink::Memory(buffer) => {
                debug_assert_eq!(buffer.len() as u64, self.position);
                buffer.as_mut_slice()[..start.len()].copy_from_slice(&start);
                Ok(())
            }
        }
    }

    /// Completes the container. A file is synced and renamed to its target; for a container in
    /// memory, its bytes are returned.
    ///
    /// # Errors
    /// [`Error::Io`] if writing, syncing or renaming fails; an old file then stays unchanged.
    pub fn finish(mut self) -> Result<Option<Bytes>> {
        self.write_header()?;
        match self.sink {
            Sink::File(file) => file.commit().map(|()| None),
            Sink::Memory(buffer) => Ok(Some(Bytes::from_buffer(buffer))),
        }
    }
}

/// A section that is written in parts.
pub struct SectionWriter<'a> {
    container: &'a mut ContainerWriter,
    name: [u8; 24],
    start: u64,
    item_size: u32,
    hasher: Hasher,
}

impl SectionWriter<'_> {
    /// Appends `bytes`.
    ///
    /// # Errors
    /// [`Error::Io`] if writing fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let SectionWriter { container, hasher, .. } = self;
        if bytes.len() < PARALLEL_CHECKSUM_LEN {
            hasher.update(bytes);
            return container.write(bytes);
        }
        crate::parallel::join(|| container.write(bytes), || hasher.update(bytes)).0
    }

    /// Returns the number of bytes written so far.
    pub fn len(&self) -> u64 {
        self.container.position - self.start
    }

    /// Whether nothing has been written yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends the section. Panics if its bytes are not whole items.
    ///
    /// # Errors
    /// Currently none.
    pub fn finish(self) -> Result<()> {
        let length = self.len();
        assert!(
            self.item_size > 0 && length.is_multiple_of(u64::from(self.item_size)),
            "partial item"
        );
        self.container.entries.push(SectionEntry {
            name: self.name,
            offset: self.start.into(),
            length: length.into(),
            item_size: self.item_size.into(),
            reserved: Default::default(),
            checksum: self.hasher.finish().into(),
        });
        Ok(())
    }
}
