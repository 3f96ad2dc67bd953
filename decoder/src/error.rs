//! Errors of configuration, loading and translation.

use std::path::Path;

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure, with its place and a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A mistake on the command line.
    #[error("{reason}")]
    Usage {
        /// The option, what is wrong with it and what would be right.
        reason: String,
    },
    /// A mistake in the ini file.
    #[error("{place}: {reason}")]
    Configuration {
        /// The ini file with the section or the line.
        place: String,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// A development text that cannot be used for tuning.
    #[error("{reason}")]
    DevelopmentText {
        /// The file and what is wrong with it.
        reason: String,
    },
    /// The parameters of a feature do not match its model file.
    #[error("{feature}: {reason}")]
    Feature {
        /// The feature's name.
        feature: String,
        /// What does not match.
        reason: String,
    },
    /// One line of the input cannot be translated; others can.
    #[error("{reason}")]
    Line {
        /// The word or column, what is wrong with it and what would be right.
        reason: String,
    },
    /// The translation of a line, or the work that needs it, was cancelled.
    #[error("the translation was cancelled")]
    Cancelled,
    /// Text could not be read or written.
    #[error(transparent)]
    Text(#[from] miriam_textio::Error),
    /// A language model could not be opened.
    #[error(transparent)]
    LanguageModel(#[from] miriam_lmcpu::Error),
    /// A phrase table could not be opened or is damaged.
    #[error(transparent)]
    PhraseTable(#[from] miriam_probingpt::Error),
}

impl Error {
    pub(crate) fn usage(reason: impl Into<String>) -> Self {
        Error::Usage { reason: reason.into() }
    }

    pub(crate) fn configuration(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Error::Configuration { place: place.into(), reason: reason.into() }
    }

    pub(crate) fn section(ini: &Path, section: &str, reason: impl Into<String>) -> Self {
        Error::configuration(format!("{}, [{section}]", ini.display()), reason)
    }

    pub(crate) fn line(reason: impl Into<String>) -> Self {
        Error::Line { reason: reason.into() }
    }

    pub(crate) fn feature(name: &str, reason: impl Into<String>) -> Self {
        Error::Feature { feature: name.to_owned(), reason: reason.into() }
    }
}
