//! Locks against two training runs that write the same files.
//!
//! Two trainings of one model would overwrite each other's files, and each would remove the partial
//! files of the other.

use std::path::{Path, PathBuf};

use miriam_storage::file_lock::FileLock;

use super::model_files::ModelFiles;
use crate::error::{Error, Result};

/// Locks the files of a model; their folder must exist.
///
/// # Errors
/// If another process has locked them, or nothing can be written there.
pub fn lock_model(files: &ModelFiles) -> Result<FileLock> {
    acquire(files.lock(), &files.model)
}

/// Locks a folder against other runs that lock it, whatever the names of their models. It does not
/// conflict with [`lock_model`].
///
/// # Errors
/// If another process has locked it, or nothing can be written there.
pub fn lock_folder(folder: &Path) -> Result<FileLock> {
    acquire(folder.join(".training.lock"), folder)
}

fn acquire(path: PathBuf, locked: &Path) -> Result<FileLock> {
    FileLock::try_acquire(&path)?.ok_or_else(|| {
        Error::config(format!(
            "{}: another training run is writing to it; wait until it ends, or train into another \
            folder",
            locked.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_trained_once_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let files = |name: &str| ModelFiles { model: folder.path().join(name) };
        let first = lock_model(&files("a.npz")).unwrap();
        let error = lock_model(&files("a.npz")).unwrap_err().to_string();
        assert!(
            error.contains("a.npz: another training run") && error.contains("folder"),
            "{error}"
        );
        assert!(lock_model(&files("b.npz")).is_ok(), "another model");
        let whole = lock_folder(folder.path()).unwrap();
        assert!(lock_folder(folder.path()).is_err());
        drop((first, whole));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
