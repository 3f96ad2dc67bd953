//! The errors of scoring.

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a score cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Texts that belong together have different numbers of lines.
    #[error(
        "{hypotheses} translations, but reference {reference} has {lines} lines; a line of one \
         belongs to the same line of the other"
    )]
    LineCountMismatch {
        /// How many translations there are.
        hypotheses: usize,
        /// Which reference, from 1.
        reference: usize,
        /// How many lines it has.
        lines: usize,
    },
    /// There is no reference or no translation.
    #[error("{0}")]
    NoInput(&'static str),
    /// An option is out of range.
    #[error("{0}")]
    InvalidOption(String),
}
