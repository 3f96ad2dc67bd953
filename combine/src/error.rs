//! Errors of lists and options.

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure, with its place and a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Options that do not fit each other or the lists.
    #[error("{reason}")]
    Usage {
        /// What is wrong and what to do.
        reason: String,
    },
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Text could not be read or written, or a line is invalid.
    #[error(transparent)]
    Text(#[from] miriam_textio::Error),
}

impl Error {
    pub(crate) fn usage(reason: impl Into<String>) -> Self {
        Error::Usage { reason: reason.into() }
    }
}
