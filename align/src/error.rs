//! What can go wrong with an alignment.

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why text could not be aligned, or links not be read. Each message names the file
/// and the place and ends the story: no cause hides behind it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Text could not be read or written, or is not what it should be.
    #[error(transparent)]
    TextIo(#[from] miriam_textio::Error),
    /// A model file could not be written, opened or trusted.
    #[error(transparent)]
    Storage(#[from] miriam_storage::Error),
    /// Files that should be parallel are not.
    #[error(
        "{first} has {first_lines} lines, {second} has {second_lines}: line N of one belongs to \
         line N of the other; find the line that one of them lacks"
    )]
    LineCountMismatch {
        /// One file.
        first: String,
        /// How many lines it has.
        first_lines: u64,
        /// The other file.
        second: String,
        /// How many lines that has.
        second_lines: u64,
    },
    /// Options that do not go together.
    #[error("{reason}")]
    InvalidOptions {
        /// Which, and what to give instead.
        reason: String,
    },
}
