//! Files that appear complete or not at all.
//!
//! Bytes go to a temporary file beside the target; `commit` syncs it and renames it to the target.
//! If a build fails, is killed, or the disk is full, the old file stays unchanged.

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::huge_page_writer::HugePageWriter;
use crate::partial_file::PartialFile;
use crate::{Error, Result};

/// A writer whose file replaces `target` on [`AtomicFile::commit`]. If the writer is dropped before
/// that, the temporary file is removed.
pub struct AtomicFile {
    target: PathBuf,
    writer: HugePageWriter<Partial>,
}

/// A writer to the temporary file.
struct Partial(PartialFile);

impl AtomicFile {
    /// Creates a file that becomes `target` on commit. An existing target must be a regular file (a
    /// link is followed); its folder must exist.
    ///
    /// # Errors
    /// [`Error::NotAFile`] if the target is a folder or a device, its path has no file name, or it
    /// is `-`, which means standard output; [`Error::Io`] if no temporary file can be created
    /// beside it.
    pub fn create(target: &Path) -> Result<Self> {
        if target.as_os_str() == "-" {
            return Err(Error::NotAFile {
                path: target.to_owned(),
                remedy: "a model cannot go to standard output; give the name of a file",
            });
        }
        let is_other = fs::metadata(target).is_ok_and(|found| !found.is_file());
        if is_other || target.file_name().is_none() {
            return Err(Error::NotAFile {
                path: target.to_owned(),
                remedy: "give the name of a file to write",
            });
        }
        let file = PartialFile::create_hidden(target)
            .map_err(|e| Error::io(target, "create a temporary file beside it", e))?;
        Ok(AtomicFile { target: target.to_owned(), writer: HugePageWriter::new(Partial(file)) })
    }

    /// Overwrites the bytes at `offset` with `bytes`, then returns to the end.
    ///
    /// # Errors
    /// [`Error::Io`] if writing fails.
    pub(crate) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.writer.write_at(offset, bytes).map_err(|e| Error::io(&self.target, "write", e))
    }

    /// Syncs the file and renames it to the target.
    ///
    /// # Errors
    /// [`Error::Io`] if writing, syncing or renaming fails; the target then stays unchanged.
    pub fn commit(self) -> Result<()> {
        let AtomicFile { target, writer } = self;
        let Partial(file) = writer.into_inner().map_err(|e| Error::io(&target, "write", e))?;
        file.commit().map_err(|e| Error::io(&target, "write to disk", e))
    }
}

impl Write for Partial {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.file().flush()
    }
}

impl Seek for Partial {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.file().seek(to)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_keeps_the_old_file_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        fs::write(&path, b"old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn commit_replaces_and_write_at_patches() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        fs::write(&path, b"old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"......tail").unwrap();
        file.write_at(0, b"header").unwrap();
        file.write_all(b"!").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"headertail!");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn devices_folders_and_standard_output_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        for target in [folder.path(), Path::new("/dev/null"), Path::new("-")] {
            assert!(matches!(AtomicFile::create(target), Err(Error::NotAFile { .. })));
        }
        assert!(matches!(
            AtomicFile::create(&folder.path().join("missing/model")),
            Err(Error::Io { .. })
        ));
    }
}
