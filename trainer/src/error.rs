//! Errors of training.

use std::path::{Path, PathBuf};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of training.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the model.
    #[error(transparent)]
    Model(#[from] miriam_nmt::Error),
    /// Text could not be read or written.
    #[error(transparent)]
    Text(#[from] miriam_textio::Error),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] miriam_storage::Error),
    /// An error of a metric.
    #[error(transparent)]
    Metric(#[from] miriam_metrics::Error),
    /// Options that are invalid, missing or contradictory.
    #[error("{0}")]
    Usage(String),
    /// Files or data that do not match the options or each other.
    #[error("{0}")]
    Config(String),
    /// A saved training that cannot be resumed.
    #[error("{}: {reason}", path.display())]
    Resume {
        /// The file of the state.
        path: PathBuf,
        /// The mismatch, and what to do.
        reason: String,
    },
    /// The caller cancelled the training while it read text.
    #[error("cancelled")]
    Cancelled,
    /// The loss has diverged.
    #[error("training has diverged: {0}")]
    Diverged(String),
}

impl Error {
    pub(crate) fn config(reason: impl Into<String>) -> Self {
        Error::Config(reason.into())
    }

    pub(crate) fn usage(reason: impl Into<String>) -> Self {
        Error::Usage(reason.into())
    }

    pub(crate) fn resume(path: &Path, reason: impl Into<String>) -> Self {
        Error::Resume { path: path.to_owned(), reason: reason.into() }
    }
}
