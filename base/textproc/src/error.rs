//! Errors of reading lists, models, patterns and configurations.

use std::io;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error in a file that a tool needs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What was attempted, as a verb.
        action: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A line is malformed.
    #[error("{file}, line {line}: {reason}")]
    Format {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong and what was expected.
        reason: String,
    },
    /// The content of a file is invalid as a whole.
    #[error("{file}: {reason}")]
    Content {
        /// The file.
        file: String,
        /// What is wrong and what was expected.
        reason: String,
    },
}

impl Error {
    /// Returns the error of reading `file`, for `map_err`.
    pub(crate) fn cannot_read(file: &str) -> impl FnOnce(io::Error) -> Error {
        |source| Error::Io { file: file.to_owned(), action: "read", source }
    }

    pub(crate) fn format(file: &str, line: usize, reason: impl Into<String>) -> Self {
        Error::Format { file: file.to_owned(), line: line as u64, reason: reason.into() }
    }
}
