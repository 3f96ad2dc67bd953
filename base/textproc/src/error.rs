//! What can go wrong with the files that steer the tools.

use std::io;

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a list, a model or a set of patterns cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system said no.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What was being done, as a verb.
        action: &'static str,
        /// The answer.
        source: io::Error,
    },
    /// A line does not have the form it should.
    #[error("{file}, line {line}: {reason}")]
    Format {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong and what was expected.
        reason: String,
    },
    /// A file does not hold what it should as a whole.
    #[error("{file}: {reason}")]
    Content {
        /// The file.
        file: String,
        /// What is wrong and what was expected.
        reason: String,
    },
}

impl Error {
    pub(crate) fn format(file: &str, line: usize, reason: impl Into<String>) -> Self {
        Error::Format { file: file.to_owned(), line: line as u64, reason: reason.into() }
    }
}
