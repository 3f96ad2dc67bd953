//! Errors of benchmarks.

use std::io;
use std::path::{Path, PathBuf};

use miriam_textio::display_name;

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of measurements and reports. Each message includes its cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text could not be read.
    #[error(transparent)]
    Text(#[from] miriam_textio::Error),
    /// A model file could not be opened.
    #[error(transparent)]
    Storage(#[from] miriam_storage::Error),
    /// A language model could not be built or opened.
    #[error(transparent)]
    LanguageModel(#[from] miriam_lmcpu::Error),
    /// A language model for GPUs could not be built, opened or queried.
    #[error(transparent)]
    Glm(#[from] miriam_glm::Error),
    /// A phrase table could not be opened or read.
    #[error(transparent)]
    PhraseTable(#[from] miriam_probingpt::Error),
    /// A phrase-based system could not be loaded, or could not translate.
    #[error(transparent)]
    Decoder(#[from] miriam_decoder::Error),
    /// A neural model could not be generated, or could not translate.
    #[error(transparent)]
    Nmt(#[from] miriam_nmt::Error),
    /// A neural model could not be trained.
    #[error(transparent)]
    Trainer(#[from] miriam_trainer::Error),
    /// An operation on a file, a folder or this process failed.
    #[error("{place}: cannot {action}: {source}")]
    Io {
        /// The file, the folder or `this process`.
        place: String,
        /// The operation, as a verb phrase.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// The table could not be printed.
    #[error("{0}")]
    Print(#[from] io::Error),
    /// The options, the input or the machine do not allow a measurement.
    #[error("{reason}")]
    Unmeasurable {
        /// What is wrong, and what to do instead.
        reason: String,
    },
    /// Two searches that must give the same results differ.
    #[error("{what}: they differ at {detail}; please report this with the command")]
    Mismatch {
        /// What was compared.
        what: String,
        /// The first difference.
        detail: String,
    },
}

impl Error {
    pub(crate) fn unmeasurable(reason: impl Into<String>) -> Self {
        Error::Unmeasurable { reason: reason.into() }
    }

    pub(crate) fn no_words(path: &Path) -> Self {
        Error::unmeasurable(format!("{}: the text has no line with words", display_name(path)))
    }
}

/// Returns a function for `map_err` that returns an [`Error::Io`] for a file or folder.
pub(crate) fn cannot(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path: PathBuf = path.into();
    move |source| Error::Io { place: path.display().to_string(), action, source }
}

/// Returns a function for `map_err` that returns an [`Error::Io`] of this process.
pub(crate) fn refused<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Error {
    move |source| Error::Io { place: "this process".into(), action, source: source.into() }
}
