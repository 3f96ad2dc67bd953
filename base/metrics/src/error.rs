//! Errors of scoring.

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a score cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Parallel texts have different numbers of lines.
    #[error(
        "{hypotheses} translations, but reference {reference} has {lines} lines; a line of one \
         belongs to the same line of the other"
    )]
    LineCountMismatch {
        /// The number of translations.
        hypotheses: usize,
        /// The number of the reference, from 1.
        reference: usize,
        /// Its number of lines.
        lines: usize,
    },
    /// There is no reference or no translation.
    #[error("{0}")]
    NoInput(&'static str),
    /// An option is out of range.
    #[error("{0}")]
    InvalidOption(String),
}
