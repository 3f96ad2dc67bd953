//! Errors of this crate.

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Fails if `progress` is cancelled.
pub(crate) fn check_cancelled(progress: &dyn miriam_textio::Progress) -> Result<()> {
    if progress.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}

/// Errors of reading, building and checking language models. Each message names the
/// file and the place in it and is complete: there is no `source` to print after it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model file could not be written, opened or trusted.
    #[error(transparent)]
    Storage(#[from] miriam_storage::Error),
    /// Text could not be read or has the wrong format; the message names the line of an
    /// ARPA file.
    #[error(transparent)]
    Text(#[from] miriam_textio::Error),
    /// An ARPA file lists an n-gram twice; the message names both lines.
    #[error(transparent)]
    Duplicate(miriam_textio::Error),
    /// A file whose format or content this program does not support.
    #[error("{file}: {reason}")]
    Unsupported {
        /// The file.
        file: String,
        /// What is not supported and, in most cases, what to do.
        reason: String,
    },
    /// Options that contradict each other or are out of range.
    #[error("{reason}")]
    InvalidOptions {
        /// Which options, and what to give instead.
        reason: String,
    },
    /// A text gives no discounts for Kneser-Ney smoothing.
    #[error(
        "no discounts for {order}-grams: {reason}. The text may be small or artificial: remove \
         repeated lines, or name discounts for this case with --discount-fallback"
    )]
    Discounts {
        /// The n-gram order.
        order: usize,
        /// Which discount is missing or out of range, and why.
        reason: String,
    },
    /// The caller cancelled the work.
    #[error("cancelled")]
    Cancelled,
}
