//! The errors of this crate.

use std::path::PathBuf;

use miriam_textio::Progress;

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of building, opening and reading phrase tables.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The binary file: it cannot be written or opened, or it is damaged.
    #[error(transparent)]
    File(#[from] miriam_storage::Error),
    /// The text: it cannot be read, or a line is malformed.
    #[error(transparent)]
    Text(#[from] miriam_textio::Error),
    /// The file is not a table, or not of a kind that can be read.
    #[error("{}: {reason}", path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// What it is, and what to do.
        reason: String,
    },
    /// Options that contradict each other or the tables.
    #[error("{0}")]
    Options(String),
    /// The machine grants no worker threads.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// The number of threads requested.
        threads: usize,
        /// The error of the system.
        reason: String,
    },
    /// The caller cancelled the work.
    #[error("cancelled")]
    Cancelled,
}

/// Fails with [`Error::Cancelled`] if `progress` is cancelled.
pub(crate) fn check_cancelled(progress: &dyn Progress) -> Result<()> {
    if progress.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}

impl Error {
    /// Creates a format error for line `line` of the text `file`.
    pub(crate) fn format(
        file: &str,
        line: u64,
        field: Option<usize>,
        reason: impl Into<String>,
    ) -> Self {
        Error::Text(miriam_textio::Error::format(file, line, field, reason))
    }
}
