//! Bytes of a model with their owner: a mapped file or aligned memory.
//!
//! Both start at an address that is a multiple of 64, so that a section aligned in the file is
//! aligned in memory. Owned memory exists for tests, for Miri, and for models built from text at
//! start-up.

use std::fs::File;
use std::io::Read;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use memmap2::{Mmap, MmapMut, MmapOptions};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::{Error, Result};

/// The number of bytes per read request.
const READ_SIZE: usize = 256 << 10;

/// The method of loading a model file into memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadMethod {
    /// Map the file; pages are read when first touched.
    #[default]
    Lazy,
    /// Map the file and read every page at once.
    Populate,
    /// Read the file into anonymous memory, in huge pages if the system provides them. Processes do
    /// not share this memory, but there are fewer TLB misses.
    HugePages,
}

/// 64 bytes at a multiple of 64, the unit of owned memory.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
struct AlignedBlock([u8; 64]);

/// A growing byte buffer whose first byte is at a multiple of 64.
#[derive(Default)]
pub(crate) struct AlignedBuffer {
    blocks: Vec<AlignedBlock>,
    len: usize,
}

impl AlignedBuffer {
    pub(crate) fn extend_from_slice(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        self.blocks.resize(end.div_ceil(64), AlignedBlock([0; 64]));
        self.blocks.as_mut_bytes()[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.blocks.as_mut_bytes()[..self.len]
    }

    fn as_slice(&self) -> &[u8] {
        &self.blocks.as_bytes()[..self.len]
    }
}

/// Reads all pages of `map`, in huge pages if the file system supports them. Too little memory is
/// not an error: the remaining pages are read when they are touched.
fn populate(map: &Mmap) {
    /// The assumed size of a page in bytes. If pages are larger, each of them is touched more
    /// often than necessary.
    const PAGE: usize = 4 << 10;
    #[cfg(target_os = "linux")]
    {
        let _ = map.advise(memmap2::Advice::HugePage);
        let populated = map.advise(memmap2::Advice::PopulateRead);
        // Linux before 5.14 does not know this advice; then pages are read below.
        if !populated.is_err_and(|error| error.kind() == std::io::ErrorKind::InvalidInput) {
            return;
        }
    }
    std::hint::black_box(map.iter().step_by(PAGE).fold(0, |sum, byte| sum ^ byte));
}

enum Owner {
    /// Pages of a file, which the system can read again.
    File(Mmap),
    /// Pages of anonymous memory.
    Pages(Mmap),
    Memory(AlignedBuffer),
}

/// Shared, immutable bytes that start at a multiple of 64. Clones share them.
#[derive(Clone)]
pub struct Bytes(Arc<Owner>);

impl Bytes {
    /// Opens the regular file at `path`.
    ///
    /// The file must not be changed in place while it is open. Miriam's writers replace files by
    /// renaming, so they never do that. If a process truncates or overwrites a mapped model, its
    /// readers fail with SIGBUS or read other bytes (see `docs/decisions/model-files.md`).
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::NotAFile`] if there is no readable file, [`Error::TooLarge`] if
    /// it exceeds the address space.
    pub fn open(path: &Path, load: LoadMethod) -> Result<Self> {
        let mut file = File::open(path).map_err(|e| Error::io(path, "open", e))?;
        let information = file.metadata().map_err(|e| Error::io(path, "read its size", e))?;
        if !information.is_file() {
            return Err(Error::NotAFile { path: path.to_owned(), remedy: "give a model file" });
        }
        let len = usize::try_from(information.len()).map_err(|_| Error::TooLarge {
            path: path.to_owned(),
            reason: "larger than this machine can address".into(),
        })?;
        if len == 0 {
            return Ok(Bytes::from_owner(Owner::Memory(AlignedBuffer::default())));
        }
        let owner = match load {
            LoadMethod::Lazy | LoadMethod::Populate => {
                // SAFETY: the mapping is read-only. This function's documentation requires that the
                // file is not changed in place; our writers fulfil this by writing a new file and
                // renaming it.
                let map = unsafe { MmapOptions::new().map(&file) };
                let map = map.map_err(|e| Error::io(path, "map", e))?;
                if load == LoadMethod::Populate {
                    populate(&map);
                }
                Owner::File(map)
            }
            LoadMethod::HugePages => {
                let mut memory = MmapMut::map_anon(len)
                    .map_err(|e| Error::io(path, "reserve memory for it", e))?;
                // Fails if the kernel has no transparent huge pages; then normal pages are used.
                #[cfg(target_os = "linux")]
                let _ = memory.advise(memmap2::Advice::HugePage);
                file.read_exact(&mut memory).map_err(|e| Error::io(path, "read", e))?;
                let memory = memory.make_read_only();
                Owner::Pages(memory.map_err(|e| Error::io(path, "protect", e))?)
            }
        };
        Ok(Bytes::from_owner(owner))
    }

    /// Releases the memory of a mapped file's pages in `range`; the next access reads them again.
    /// Programs call it after they copied a part of a file, to avoid keeping it twice. Bytes in
    /// owned memory stay.
    pub fn release_pages(&self, range: Range<usize>) {
        #[cfg(target_os = "linux")]
        if let Owner::File(map) = &*self.0 {
            /// The assumed size of a page in bytes. If pages are larger, the call fails for most
            /// ranges, which is harmless.
            const PAGE: usize = 4 << 10;
            let first = range.start.next_multiple_of(PAGE);
            let end = range.end.min(map.len()) / PAGE * PAGE;
            if first < end {
                // SAFETY: the mapping is read-only, so no page has a private copy. `open` requires
                // that the file does not change, so a page has the same bytes when it is read
                // again. A failed call changes nothing.
                let _ = unsafe {
                    let advice = memmap2::UncheckedAdvice::DontNeed;
                    map.unchecked_advise_range(advice, first, end - first)
                };
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = range;
    }

    /// Returns a private copy of `bytes`.
    pub fn copy_from(bytes: &[u8]) -> Self {
        let mut buffer = AlignedBuffer::default();
        buffer.extend_from_slice(bytes);
        Bytes::from_buffer(buffer)
    }

    /// Reads all bytes of `reader`.
    ///
    /// # Errors
    /// The errors of the reader.
    pub fn read_from(mut reader: impl Read) -> std::io::Result<Self> {
        let (mut buffer, mut part) = (AlignedBuffer::default(), vec![0; READ_SIZE]);
        loop {
            match reader.read(&mut part) {
                Ok(0) => return Ok(Bytes::from_buffer(buffer)),
                Ok(count) => buffer.extend_from_slice(&part[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn from_buffer(buffer: AlignedBuffer) -> Self {
        Bytes::from_owner(Owner::Memory(buffer))
    }

    fn from_owner(owner: Owner) -> Self {
        Bytes(Arc::new(owner))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.0 {
            Owner::File(map) | Owner::Pages(map) => map,
            Owner::Memory(buffer) => buffer.as_slice(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owned_bytes_are_aligned_and_equal() {
        let data: Vec<u8> = (0..1000).map(|i| i as u8).collect();
        let bytes = Bytes::copy_from(&data);
        assert_eq!(&bytes[..], &data[..]);
        assert_eq!(bytes.as_ptr() as usize % 64, 0);
    }

    #[test]
    fn every_load_gives_the_same_bytes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let data: Vec<u8> = (0..100_000u32).map(|i| (i % 251) as u8).collect();
        std::fs::write(file.path(), &data).unwrap();
        for load in [LoadMethod::Lazy, LoadMethod::Populate, LoadMethod::HugePages] {
            assert_eq!(&Bytes::open(file.path(), load).unwrap()[..], &data[..], "{load:?}");
        }
    }

    #[test]
    fn released_pages_are_read_again() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let data: Vec<u8> = (0..500_000u32).map(|i| (i % 251) as u8).collect();
        std::fs::write(file.path(), &data).unwrap();
        for load in [LoadMethod::Lazy, LoadMethod::Populate, LoadMethod::HugePages] {
            let bytes = Bytes::open(file.path(), load).unwrap();
            assert_eq!(&bytes[..], &data[..]);
            bytes.release_pages(0..bytes.len());
            bytes.release_pages(70_000..usize::MAX);
            assert_eq!(&bytes[..], &data[..], "{load:?}");
        }
        Bytes::copy_from(&data).release_pages(0..data.len());
    }

    #[test]
    fn a_directory_is_reported_as_not_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = Bytes::open(folder.path(), LoadMethod::Lazy).err().unwrap();
        assert!(matches!(error, Error::NotAFile { .. }), "{error}");
    }
}
