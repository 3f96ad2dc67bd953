//! Word alignment of parallel text: IBM model 2 with a diagonal prior and an HMM
//! model, symmetrisation of both directions, and lexical translation tables.

#![forbid(unsafe_code)]

use std::path::Path;

use miriam_text::Progress;

/// Aligns the files line by line and writes the links, `i-j`.
pub fn align_files(
    source: &Path,
    target: &Path,
    output: &Path,
    options: &AlignOptions,
    progress: &dyn Progress,
) -> Result<AlignSummary> {
    let _ = (source, target, output, options, progress);
    unimplemented!()
}

/// Which model, and how its two directions are joined.
#[derive(Clone, Debug, Default)]
pub struct AlignOptions {
    /// The alignment model.
    pub model: Model,
    /// How the links of both directions become one set.
    pub symmetrization: Symmetrization,
    /// Worker threads.
    pub threads: usize,
}

/// The alignment model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// IBM model 2 with a diagonal prior.
    #[default]
    Ibm2,
    /// A hidden Markov model of jumps.
    Hmm,
}

/// How the links of both directions become one set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symmetrization {
    /// Forward links only.
    Forward,
    /// Reverse links only.
    Reverse,
    /// Links of both.
    Intersection,
    /// Links of either.
    Union,
    /// See Koehn et al. 2003.
    Grow,
    /// See Koehn et al. 2003.
    GrowDiag,
    /// See Koehn et al. 2003.
    GrowDiagFinal,
    /// See Koehn et al. 2003.
    #[default]
    GrowDiagFinalAnd,
}

/// What an alignment run did.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AlignSummary {
    /// Sentence pairs read.
    pub pairs: u64,
    /// Links written.
    pub links: u64,
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
