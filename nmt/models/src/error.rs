//! Errors of neural models and of the files that belong to them.

use std::path::Path;

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of reading or using a model, a vocabulary or a shortlist. Each message is complete: an
/// error of a file names the file and the place in it, and [`source`](std::error::Error::source)
/// adds nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A binary file could not be written or opened, or it is damaged.
    #[error(transparent)]
    Storage(#[from] miriam_storage::Error),
    /// Text could not be read or is malformed.
    #[error(transparent)]
    TextIo(#[from] miriam_textio::Error),
    /// A SentencePiece model or BPE codes are malformed.
    #[error(transparent)]
    TextProc(#[from] miriam_textproc::Error),
    /// The file is sound, but its format, its model or its text is not supported.
    #[error("{file}: {reason}")]
    Unsupported {
        /// The file.
        file: String,
        /// What the file has and what to do.
        reason: String,
    },
    /// The options of a request for one sentence cannot be satisfied.
    #[error("a sentence cannot be translated: {reason}")]
    Untranslatable {
        /// Why.
        reason: String,
    },
    /// Models cannot form an ensemble.
    #[error("an ensemble: {reason}")]
    Ensemble {
        /// Why.
        reason: String,
    },
    /// A device is lost or a kernel failed.
    #[error("the device: {reason}")]
    Device {
        /// Why.
        reason: String,
    },
    /// A device ran out of memory; less work at a time may fit.
    #[error("the device: {reason}")]
    DeviceMemory {
        /// What did not fit, and what to do.
        reason: String,
    },
    /// The parts of a model contradict each other.
    #[error("{file}: {place}: {reason}")]
    Mismatch {
        /// The file.
        file: String,
        /// The parameter, option or vocabulary.
        place: String,
        /// What was expected and what was found.
        reason: String,
    },
    /// The caller cancelled the work.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// Creates the error that a sound file is not supported. `reason` also says what to do.
    pub fn unsupported(path: &Path, reason: impl Into<String>) -> Self {
        Error::Unsupported { file: path.display().to_string(), reason: reason.into() }
    }

    /// Creates the error that parts of a model contradict each other at `place`.
    pub fn mismatch(path: &Path, place: &str, reason: impl Into<String>) -> Self {
        Error::Mismatch {
            file: path.display().to_string(),
            place: place.to_owned(),
            reason: reason.into(),
        }
    }

    pub(crate) fn damaged(path: &Path, place: &str, reason: impl Into<String>) -> Self {
        miriam_storage::Error::damaged(path, place, reason).into()
    }
}
