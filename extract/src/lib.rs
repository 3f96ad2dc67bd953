//! Phrase pairs from word-aligned text: extraction, scores, lexical weights and
//! reordering counts, as Moses' training gives them.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use miriam_text::Progress;

/// Extracts phrases from the files, line by line parallel, into the folder
/// `output`.
pub fn extract_files(
    source: &Path,
    target: &Path,
    alignment: &Path,
    output: &Path,
    options: &ExtractOptions,
    progress: &dyn Progress,
) -> Result<ExtractSummary> {
    let _ = (source, target, alignment, output, options, progress);
    unimplemented!()
}

/// What to extract, and within which means.
#[derive(Clone, Debug)]
pub struct ExtractOptions {
    /// Words in the longest phrases.
    pub max_length: usize,
    /// The reordering model by its Moses name, `wbe-msd-bidirectional-fe`; none.
    pub reordering: Option<String>,
    /// Bytes of memory to use.
    pub memory: u64,
    /// The folder for temporary files.
    pub temp: PathBuf,
    /// Worker threads.
    pub threads: usize,
}

/// What an extraction did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtractSummary {
    /// Phrase pairs of the table.
    pub entries: u64,
    /// Distinct source phrases.
    pub sources: u64,
}

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Text could not be read or written.
    #[error(transparent)]
    Text(#[from] miriam_text::Error),
}
