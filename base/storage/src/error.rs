//! Errors in model files, with the file's name, the place in it, and advice.

use std::io;
use std::path::{Path, PathBuf};

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of writing, opening or checking a model file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation of the operating system failed.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The failed action, as a verb phrase.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// A temporary file for data above a memory limit could not be written.
    #[error(
        "{}: cannot write a temporary file in this folder: {source}; free some space there, \
         {remedy}",
        folder.display()
    )]
    Spill {
        /// The folder of the temporary file.
        folder: PathBuf,
        /// Advice besides freeing space, as a verb phrase.
        remedy: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The path of a model file is a folder, device or pipe.
    #[error("{}: not a regular file, {remedy}", path.display())]
    NotAFile {
        /// The path given.
        path: PathBuf,
        /// The advice for the user.
        remedy: &'static str,
    },
    /// The first bytes are not those of a Miriam model, or the file is shorter.
    #[error("{}: not a Miriam model file (it does not begin as one)", path.display())]
    NotAModel {
        /// The path given.
        path: PathBuf,
    },
    /// The file was written by another version of the container format.
    #[error("{}: container format version {found}, this program reads version {expected}; build the file again", path.display())]
    FormatVersion {
        /// The path given.
        path: PathBuf,
        /// The version in the file.
        found: u32,
        /// The version this crate reads.
        expected: u32,
    },
    /// The file is a Miriam model, but of another kind than expected.
    #[error("{}: this is a {found} file, a {expected} file is needed here", path.display())]
    WrongKind {
        /// The path given.
        path: PathBuf,
        /// The kind in the file.
        found: String,
        /// The expected kind.
        expected: String,
    },
    /// The file is of the expected kind, but in another version of its layout.
    #[error("{}: {kind} version {found}, this program reads version {expected}; build the file again", path.display())]
    WrongKindVersion {
        /// The path given.
        path: PathBuf,
        /// The kind of the file.
        kind: String,
        /// The version in the file.
        found: u32,
        /// The version the caller reads.
        expected: u32,
    },
    /// The file is inconsistent: truncated, overwritten or damaged.
    #[error("{}: damaged: {place}: {reason}; build the file again or fetch a whole copy", path.display())]
    Damaged {
        /// The path given.
        path: PathBuf,
        /// The header, the section table, or a section's name.
        place: String,
        /// The inconsistency.
        reason: String,
    },
    /// More data than the format can address.
    #[error("{}: {reason}", path.display())]
    TooLarge {
        /// The file being written.
        path: PathBuf,
        /// The limit that was exceeded.
        reason: String,
    },
}

impl Error {
    /// Returns an [`Error::Io`] for `path`; `action` is a verb phrase such as `"open"`.
    pub fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        Error::Io { path: path.to_owned(), action, source }
    }

    /// Returns an [`Error::Damaged`] for `place` in `path`.
    pub fn damaged(path: &Path, place: &str, reason: impl Into<String>) -> Self {
        Error::Damaged { path: path.to_owned(), place: place.to_owned(), reason: reason.into() }
    }
}
