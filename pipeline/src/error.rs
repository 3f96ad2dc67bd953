//! The errors of training.

use std::io;
use std::path::Path;

use miriam_textio::Progress;

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of training. Messages about files name the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Text could not be read or written, or is malformed.
    #[error(transparent)]
    Text(#[from] miriam_textio::Error),
    /// A model file could not be written or read.
    #[error(transparent)]
    Storage(#[from] miriam_storage::Error),
    /// A truecase model could not be read.
    #[error(transparent)]
    TextProcessing(#[from] miriam_textproc::Error),
    /// Words could not be aligned.
    #[error(transparent)]
    Align(#[from] miriam_align::Error),
    /// Phrases could not be extracted.
    #[error(transparent)]
    Extract(#[from] miriam_extract::Error),
    /// The phrase table could not be built.
    #[error(transparent)]
    PhraseTable(#[from] miriam_probingpt::Error),
    /// The language model could not be estimated or built.
    #[error(transparent)]
    LanguageModel(#[from] miriam_lmcpu::Error),
    /// The weights could not be tuned.
    #[error(transparent)]
    Decoder(#[from] miriam_decoder::Error),
    /// Lists could not be scored, or the weights of the combination could not be tuned.
    #[error(transparent)]
    Combination(#[from] miriam_combine::Error),
    /// Translations could not be compared with their references.
    #[error(transparent)]
    Metrics(#[from] miriam_metrics::Error),
    /// A neural model could not translate.
    #[error(transparent)]
    Neural(#[from] miriam_nmt::Error),
    /// A neural model could not be trained, or the training of a student could not be prepared.
    #[error(transparent)]
    Trainer(#[from] miriam_trainer::Error),
    /// No text is left to train from.
    #[error("{file}: {reason}")]
    EmptyCorpus {
        /// The file.
        file: String,
        /// Why, and what to do.
        reason: String,
    },
    /// Options that are invalid or do not go together.
    #[error("{reason}")]
    Options {
        /// Which options, and what to give instead.
        reason: String,
    },
    /// The caller cancelled the training; a new run continues with the missing stages.
    #[error("cancelled; finished stages are kept")]
    Cancelled,
    /// Another run is using the same folder.
    #[error("{folder}: another training run uses this folder; wait for it, or give another -o")]
    FolderLocked {
        /// The folder.
        folder: String,
    },
}

/// Fails with [`Error::Cancelled`] if `progress` is cancelled.
pub(crate) fn check_cancelled(progress: &dyn Progress) -> Result<()> {
    if progress.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}

impl Error {
    /// Whether the error is in an option, not in a file.
    pub fn is_invalid_option(&self) -> bool {
        matches!(
            self,
            Error::Options { .. }
                | Error::Align(miriam_align::Error::InvalidOptions { .. })
                | Error::Extract(miriam_extract::Error::InvalidOptions { .. })
                | Error::LanguageModel(miriam_lmcpu::Error::InvalidOptions { .. })
        )
    }

    /// Returns [`Error::Cancelled`] for the cancellation errors of the libraries listed here, and
    /// other errors unchanged.
    pub(crate) fn unify_cancellation(self) -> Self {
        match self {
            Error::Align(miriam_align::Error::Cancelled)
            | Error::Extract(miriam_extract::Error::Cancelled)
            | Error::PhraseTable(miriam_probingpt::Error::Cancelled)
            | Error::LanguageModel(miriam_lmcpu::Error::Cancelled)
            | Error::Decoder(miriam_decoder::Error::Cancelled)
            | Error::Combination(miriam_combine::Error::Cancelled)
            | Error::Neural(miriam_nmt::Error::Cancelled)
            | Error::Trainer(miriam_trainer::Error::Cancelled) => Error::Cancelled,
            error => error,
        }
    }

    pub(crate) fn invalid_options(reason: impl Into<String>) -> Self {
        Error::Options { reason: reason.into() }
    }

    /// Returns the error of an operation on a file or folder; `action` is a verb phrase.
    pub(crate) fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        miriam_textio::Error::io(&path.display().to_string(), action, source).into()
    }
}
