//! A file that appears complete or not at all.
//!
//! Bytes go to a temporary name beside the target; `commit` syncs it and renames
//! it over the target. A build that fails, is killed, or meets a full disk
//! leaves the old file as it was.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::huge_page_writer::HugePageWriter;
use crate::{Error, Result};

/// A writer whose file replaces `target` on [`AtomicFile::commit`], and vanishes
/// when dropped before.
pub struct AtomicFile {
    target: PathBuf,
    folder: PathBuf,
    writer: HugePageWriter<NamedTempFile>,
}

impl AtomicFile {
    /// Starts a file that becomes `target` on commit. An existing target must be a
    /// regular file (a link is followed); its folder must exist.
    ///
    /// # Errors
    /// [`Error::NotAFile`] where the target is a folder or a device, [`Error::Io`] where
    /// no temporary file can be created beside it.
    pub fn create(target: &Path) -> Result<Self> {
        let target = match fs::metadata(target) {
            Ok(information) if information.is_file() => {
                fs::canonicalize(target).map_err(|e| Error::io(target, "resolve", e))?
            }
            Ok(_) => {
                return Err(Error::NotAFile {
                    path: target.to_owned(),
                    remedy: "give the name of a file to write",
                });
            }
            Err(_) => target.to_owned(),
        };
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let name = target.file_name().ok_or_else(|| Error::NotAFile {
            path: target.clone(),
            remedy: "give the name of a file to write",
        })?;
        let mut builder = tempfile::Builder::new();
        let prefix = format!(".{}.", name.to_string_lossy());
        builder.prefix(&prefix).suffix(".partial");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder
            .tempfile_in(folder)
            .map_err(|e| Error::io(&target, "create a temporary file beside it", e))?;
        let (folder, writer) = (folder.to_owned(), HugePageWriter::new(file));
        Ok(AtomicFile { target, folder, writer })
    }

    /// Overwrites the bytes at `offset` with `bytes`, then returns to the end.
    ///
    /// # Errors
    /// [`Error::Io`] where writing fails.
    pub(crate) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.writer.write_at(offset, bytes).map_err(|e| Error::io(&self.target, "write", e))
    }

    /// Syncs the file and renames it to the target.
    ///
    /// # Errors
    /// [`Error::Io`] where writing, syncing or renaming fails; the target is then as it was.
    pub fn commit(self) -> Result<()> {
        let AtomicFile { target, folder, writer } = self;
        let file = writer.into_inner().map_err(|e| Error::io(&target, "write", e))?;
        file.as_file().sync_all().map_err(|e| Error::io(&target, "write to disk", e))?;
        file.persist(&target).map_err(|e| Error::io(&target, "put in place", e.error))?;
        // The rename is durable once the folder is; a folder that cannot be
        // synced (some network file systems) does not undo it.
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
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
    fn devices_and_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for target in [folder.path(), Path::new("/dev/null")] {
            assert!(matches!(AtomicFile::create(target), Err(Error::NotAFile { .. })));
        }
        assert!(matches!(
            AtomicFile::create(&folder.path().join("missing/model")),
            Err(Error::Io { .. })
        ));
    }
}
