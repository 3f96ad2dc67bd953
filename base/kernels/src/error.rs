//! Errors of packed weights and tuner caches from files, and of an environment variable.

use std::io;
use std::path::PathBuf;

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of packed weights, tuner caches and an environment variable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A part of packed weights has another length than their shape requires.
    #[error(
        "packed weights of {depth} x {columns}: expected {expected} {part}, found {found}; convert \
         the model again"
    )]
    Length {
        /// Lines, scales or corrections.
        part: &'static str,
        /// Rows of the weights, the depth of products.
        depth: usize,
        /// Columns of the weights.
        columns: usize,
        /// The number that the shape requires.
        expected: usize,
        /// The number in the file.
        found: usize,
    },
    /// A shape that 32-bit sums or the address space cannot hold.
    #[error(
        "weights of {depth} x {columns} are too large: the depth of a product can be at most \
         {most}, and all weights must fit the address space"
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
        "column {column} was requested, the weights have {columns}; the shortlist belongs to \
         another vocabulary"
    )]
    ColumnOutOfRange {
        /// The requested column.
        column: u32,
        /// Columns of the weights.
        columns: usize,
    },
    /// Packed weights name a layout that this program does not know.
    #[error(
        "packed weights of layout {name:?} version {version} are not supported; convert the model again"
    )]
    Layout {
        /// The name in the file.
        name: String,
        /// The version in the file.
        version: u32,
    },
    /// The tuner cache could not be read or written.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done, as a verb phrase.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The tuner cache could not be replaced.
    #[error(transparent)]
    Storage(#[from] miriam_storage::Error),
    /// The file is not a tuner cache of this program.
    #[error("{}: not an autotuner cache ({reason}); remove it to measure again", path.display())]
    TunerCache {
        /// The file.
        path: PathBuf,
        /// The reason, with the line in the file.
        reason: String,
    },
    /// The environment variable that limits the instruction set has an unknown value.
    #[error(
        "{variable} is {found:?}, which is not an instruction set; use one of {names}, or remove the variable"
    )]
    InstructionSet {
        /// The variable.
        variable: &'static str,
        /// Its value.
        found: String,
        /// The names of all instruction sets.
        names: String,
    },
}
