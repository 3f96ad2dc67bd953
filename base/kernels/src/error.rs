//! What can go wrong with weights and files from outside.

use std::io;
use std::path::PathBuf;

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why packed weights or a file of choices cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A part of packed weights has another length than their shape asks for.
    #[error(
        "packed weights of {depth} x {columns}: {expected} {part} are needed, {found} are there; convert the model again"
    )]
    Length {
        /// Lines, scales or corrections.
        part: &'static str,
        /// Rows of the weights, the depth of products.
        depth: usize,
        /// Columns of the weights.
        columns: usize,
        /// How many the shape asks for.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A shape that sums of 32 bits or the addresses of a machine cannot hold.
    #[error(
        "weights of {depth} x {columns} are too large: at most {most} rows of one product can be summed"
    )]
    TooLarge {
        /// Rows of the weights.
        depth: usize,
        /// Columns of the weights.
        columns: usize,
        /// The largest depth of this layout.
        most: usize,
    },
    /// A shortlist names a column that the weights do not have.
    #[error(
        "column {column} was asked for, the weights have {columns}; the shortlist belongs to another vocabulary"
    )]
    ColumnOutOfRange {
        /// The column asked for.
        column: u32,
        /// Columns there are.
        columns: usize,
    },
    /// Packed weights name a layout that this program does not know.
    #[error(
        "packed weights of layout {name:?} version {version} are not known here; convert the model again"
    )]
    Layout {
        /// The name in the file.
        name: String,
        /// The version in the file.
        version: u32,
    },
    /// The file of measured choices could not be read or written.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file concerned.
        path: PathBuf,
        /// What was being done, as a verb phrase.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// The file of measured choices could not be put in place.
    #[error(transparent)]
    Storage(#[from] miriam_storage::Error),
    /// The file of measured choices is not what this program writes.
    #[error("{}: not a file of measured choices ({reason}); remove it, and it is measured again", path.display())]
    TunerCache {
        /// The file concerned.
        path: PathBuf,
        /// What does not fit, with the line.
        reason: String,
    },
}
