//! What can go wrong with a language model.

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a language model could not be read, built or trusted. Each message
/// names the file and the place and ends the story: no cause hides behind it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model file could not be written, opened or trusted.
    #[error(transparent)]
    Storage(#[from] miriam_storage::Error),
    /// Text could not be read or is not what it should be; for an ARPA file
    /// with the line.
    #[error(transparent)]
    Text(#[from] miriam_textio::Error),
    /// A file in a format that this program does not read.
    #[error("{file}: {reason}")]
    Unsupported {
        /// The file.
        file: String,
        /// Which format it is in and what to do.
        reason: String,
    },
    /// Options that do not go together.
    #[error("{reason}")]
    InvalidOptions {
        /// Which, and what to give instead.
        reason: String,
    },
    /// A text gives no discounts for Kneser-Ney smoothing.
    #[error(
        "no discounts for {order}-grams: {reason}. The text may be small or artificial: remove \
         repeated lines, or name discounts for this case with --discount-fallback"
    )]
    Discounts {
        /// The length of the n-grams.
        order: usize,
        /// Which discount, and why.
        reason: String,
    },
}
