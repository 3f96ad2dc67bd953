//! Locks on file names. A lock ends with the process that holds it.
//!
//! Locks belong to the operating system, so a killed process does not block the next one. The file
//! is removed with the lock. Another process may have opened it before that, and would then lock a
//! file that no path leads to. Therefore the locked file is compared with the file at the path.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The maximum number of attempts to lock a file that another process keeps removing. It is limited
/// because on file systems without stable file numbers every attempt fails.
const MAX_ATTEMPTS: usize = 1000;

/// A lock on the file at a path, until it is dropped.
#[derive(Debug)]
pub struct FileLock {
    path: PathBuf,
    file: File,
}

impl FileLock {
    /// Locks the file at `path`. The file is created if it is missing, and removed when the lock is
    /// dropped. Returns `None` if another process, or another [`FileLock`] of this process, holds
    /// the lock. On file systems without locks, it always succeeds.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be created, or other processes replace it at every attempt.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>> {
        for _ in 0..MAX_ATTEMPTS {
            let file = File::options().write(true).create(true).truncate(false).open(path);
            let file = file.map_err(|e| Error::io(path, "create", e))?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(_)) => {}
                Ok(()) if is_at(&file, path) => {}
                // The previous holder has removed this file.
                Ok(()) => continue,
            }
            return Ok(Some(FileLock { path: path.to_owned(), file }));
        }
        let reason = "other processes replaced the file at every attempt";
        Err(Error::io(path, "lock", std::io::Error::other(reason)))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // The file is still locked here. If it cannot be removed, it does no harm.
        if is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether the file at `path` is `file`.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// Whether there is a file at `path`; an open file cannot be replaced here.
#[cfg(not(unix))]
pub(crate) fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    #[cfg(unix)]
    fn a_link_to_a_lock_is_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let lock = FileLock::try_acquire(&link).unwrap().unwrap();
        assert!(FileLock::try_acquire(&file).unwrap().is_none());
        drop(lock);
        assert!(FileLock::try_acquire(&file).unwrap().is_some());
    }

    #[test]
    fn a_lock_keeps_others_out_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = FileLock::try_acquire(&path).unwrap().unwrap();
        assert!(FileLock::try_acquire(&path).unwrap().is_none());
        drop(lock);
        assert!(!path.exists());
        // A killed process leaves a file without a lock.
        fs::write(&path, "").unwrap();
        assert!(FileLock::try_acquire(&path).unwrap().is_some());
        assert!(FileLock::try_acquire(&folder.path().join("missing/lock")).is_err());
    }

    /// If a process locks a file that the previous holder has removed, that lock has no effect: the
    /// next process creates a new file.
    #[cfg(unix)]
    #[test]
    fn a_lock_on_a_removed_file_has_no_effect() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = FileLock::try_acquire(&path).unwrap().unwrap();
        // Opened while `first` holds the lock, as by a process that starts at that time.
        let opened = File::options().write(true).open(&path).unwrap();
        drop(first);
        opened.try_lock().unwrap();
        assert!(!is_at(&opened, &path));
        let third = FileLock::try_acquire(&path).unwrap().unwrap();
        assert!(!is_at(&opened, &path) && is_at(&third.file, &path));
        // If another file is at the path by then, dropping the lock does not remove it.
        fs::remove_file(&path).unwrap();
        fs::write(&path, "another").unwrap();
        drop(third);
        assert_eq!(fs::read(&path).unwrap(), b"another");
    }

    #[test]
    fn two_threads_never_hold_the_same_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (holders, acquired) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let Some(lock) = FileLock::try_acquire(&path).unwrap() else { continue };
                        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                        std::thread::yield_now();
                        holders.fetch_sub(1, Ordering::SeqCst);
                        acquired.fetch_add(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(acquired.into_inner() >= 4);
    }
}
