//! Temporary file for data that exceeds a memory limit.
//!
//! The file has no name, so it disappears when the process ends in any way.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Error, Result};

/// The remedy of commands whose users choose both the folder and the memory limit.
pub const TEMP_OR_MEMORY: &str = "name another folder with --temp, or more memory with --memory";
/// The remedy for a folder that is checked first: the check fails for any amount of memory.
pub const OTHER_TEMP: &str = "or name another folder with --temp";

/// Checks that temporary files can be created in `folder`, before long work begins. `remedy` is the
/// advice in error messages, as for [`SpillFile::new`].
///
/// # Errors
/// [`Error::Spill`] if a file cannot be created.
pub fn check_folder(folder: &Path, remedy: &'static str) -> Result<()> {
    tempfile::tempfile_in(folder).map(drop).map_err(|source| Error::Spill {
        folder: folder.to_owned(),
        remedy,
        source,
    })
}

/// A temporary file to which many threads append and from which they read. It is created when the
/// first bytes are written.
#[derive(Debug)]
pub struct SpillFile {
    folder: PathBuf,
    remedy: &'static str,
    contents: Mutex<Option<Contents>>,
}

#[derive(Debug)]
struct Contents {
    file: File,
    num_bytes: u64,
}

impl SpillFile {
    /// Returns a file that will be created in `folder`. `remedy` is the advice in error messages
    /// besides freeing space, as a verb phrase.
    pub fn new(folder: &Path, remedy: &'static str) -> Self {
        SpillFile { folder: folder.to_owned(), remedy, contents: Mutex::new(None) }
    }

    /// Returns the number of bytes written.
    pub fn num_bytes(&self) -> u64 {
        self.lock().as_ref().map_or(0, |contents| contents.num_bytes)
    }

    /// Appends `bytes` and returns their offset.
    ///
    /// # Errors
    /// [`Error::Spill`] if the file cannot be created or written.
    pub fn append(&self, bytes: &[u8]) -> Result<u64> {
        let mut slot = self.lock();
        self.append_to(&mut slot, bytes).map_err(|source| Error::Spill {
            folder: self.folder.clone(),
            remedy: self.remedy,
            source,
        })
    }

    fn append_to(&self, slot: &mut Option<Contents>, bytes: &[u8]) -> io::Result<u64> {
        let contents = match slot {
            Some(contents) => contents,
            empty => {
                let file = tempfile::tempfile_in(&self.folder)?;
                empty.insert(Contents { file, num_bytes: 0 })
            }
        };
        let at = contents.num_bytes;
        // Reads and failed writes have moved the position.
        contents.file.seek(SeekFrom::Start(at))?;
        contents.file.write_all(bytes)?;
        contents.num_bytes += bytes.len() as u64;
        Ok(at)
    }

    /// Reads `bytes.len()` bytes from the offset `at`, which must have been written.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read or is shorter.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        let outcome = match &mut *self.lock() {
            Some(contents) => contents
                .file
                .seek(SeekFrom::Start(at))
                .and_then(|_| contents.file.read_exact(bytes)),
            None if bytes.is_empty() => Ok(()),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        };
        let action = "read back a temporary file in this folder";
        outcome.map_err(|source| Error::io(&self.folder, action, source))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Contents>> {
        // A panic of another thread leaves the file usable: only complete writes are counted.
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_bytes_come_back_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let spill = SpillFile::new(folder.path(), TEMP_OR_MEMORY);
        assert_eq!(spill.num_bytes(), 0);
        let mut offsets = Vec::new();
        for byte in 0..9u8 {
            offsets.push(spill.append(&vec![byte; usize::from(byte) * 1000]).unwrap());
            // Reading in between does not change the end.
            let first = byte.min(1);
            let mut read = vec![7; usize::from(first) * 1000];
            spill.read(offsets[usize::from(first)], &mut read).unwrap();
            assert!(read.iter().all(|&found| found == first), "{byte}");
        }
        assert_eq!(spill.num_bytes(), 36_000);
        for byte in (0..9u8).rev() {
            let mut read = vec![99; usize::from(byte) * 1000];
            spill.read(offsets[usize::from(byte)], &mut read).unwrap();
            assert!(read.iter().all(|&found| found == byte), "{byte}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file has no name");
    }

    #[test]
    fn many_threads_share_a_file() {
        let spill = SpillFile::new(&std::env::temp_dir(), TEMP_OR_MEMORY);
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                let spill = &spill;
                scope.spawn(move || {
                    for length in 1..200 {
                        let at = spill.append(&vec![thread; length]).unwrap();
                        let mut read = vec![99; length];
                        spill.read(at, &mut read).unwrap();
                        assert!(read.iter().all(|&found| found == thread));
                    }
                });
            }
        });
        assert_eq!(spill.num_bytes(), 4 * (1..200).sum::<u64>());
    }

    #[test]
    fn errors_name_the_folder_and_the_remedy() {
        let spill = SpillFile::new(Path::new("/no/such/folder"), TEMP_OR_MEMORY);
        let error = spill.append(b"x").unwrap_err().to_string();
        assert!(error.contains("/no/such/folder") && error.contains("--temp"), "{error}");
        let early = check_folder(Path::new("/no/such/folder"), OTHER_TEMP).unwrap_err();
        assert_eq!(early.to_string(), error.replace(TEMP_OR_MEMORY, OTHER_TEMP));
        check_folder(&std::env::temp_dir(), OTHER_TEMP).unwrap();
        assert!(spill.read(0, &mut [0]).is_err());
        let spill = SpillFile::new(&std::env::temp_dir(), TEMP_OR_MEMORY);
        spill.append(b"two").unwrap();
        let error = spill.read(1, &mut [0; 3]).unwrap_err().to_string();
        assert!(error.contains("read back"), "{error}");
    }
}
