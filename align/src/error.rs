//! The errors of alignment.

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of alignment and of reading links. Each message is complete: an error of a file names the
/// file and the place in it, and [`source`](std::error::Error::source) adds nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Text could not be read or written, or is malformed.
    #[error(transparent)]
    TextIo(#[from] miriam_textio::Error),
    /// A model file could not be written or opened, or is damaged.
    #[error(transparent)]
    Storage(#[from] miriam_storage::Error),
    /// The caller cancelled the work.
    #[error("cancelled")]
    Cancelled,
    /// Options that are out of range, contradict each other or do not fit the input.
    #[error("{reason}")]
    InvalidOptions {
        /// Which options, and what to give instead.
        reason: String,
    },
}
