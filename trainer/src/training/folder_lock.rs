//! Keeps a second training out of the files of the first one.
//!
//! Two trainings of one model would save over each other, and each would remove the files that
//! the other one is writing. The lock is the operating system's and ends with its process, so a
//! training that was killed does not keep the next one out; the file of the lock may remain.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use super::model_files::ModelFiles;
use crate::error::{Error, Result};

/// A lock on a model or a folder, until it is dropped.
#[derive(Debug)]
pub struct FolderLock {
    path: PathBuf,
    _file: File,
}

impl FolderLock {
    /// Locks the files of a model; their folder must exist.
    ///
    /// # Errors
    /// If another process has locked them, or nothing can be written there.
    pub fn of_model(files: &ModelFiles) -> Result<Self> {
        Self::acquire(files.lock(), &files.model)
    }

    /// Locks a folder, whatever the model in it is called.
    ///
    /// # Errors
    /// As for a model.
    pub fn of_folder(folder: &Path) -> Result<Self> {
        Self::acquire(folder.join(".training.lock"), folder)
    }

    fn acquire(path: PathBuf, what: &Path) -> Result<Self> {
        loop {
            let created = File::options().write(true).create(true).truncate(false).open(&path);
            let file = created.map_err(|e| miriam_storage::Error::io(&path, "create", e))?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::config(format!(
                        "{}: another training writes it; let it end, or train into another folder",
                        what.display()
                    )));
                }
                // Some file systems have no locks; two trainings at once are rare.
                Err(TryLockError::Error(_)) => return Ok(FolderLock { path, _file: file }),
                // A training that has just ended may have removed the file.
                Ok(()) if is_at(&file, &path) => return Ok(FolderLock { path, _file: file }),
                Ok(()) => {}
            }
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Where it cannot be removed, it does no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether `path` still is `file`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_trained_once_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let files = |name: &str| ModelFiles { model: folder.path().join(name) };
        let first = FolderLock::of_model(&files("a.npz")).unwrap();
        let error = FolderLock::of_model(&files("a.npz")).unwrap_err().to_string();
        assert!(error.contains("a.npz: another training") && error.contains("folder"), "{error}");
        assert!(FolderLock::of_model(&files("b.npz")).is_ok(), "another model");
        let whole = FolderLock::of_folder(folder.path()).unwrap();
        assert!(FolderLock::of_folder(folder.path()).is_err());
        drop((first, whole));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        // What a killed process leaves is a file without a lock.
        std::fs::write(files("a.npz").lock(), "").unwrap();
        assert!(FolderLock::of_model(&files("a.npz")).is_ok());
    }
}
