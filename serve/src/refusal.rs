//! Refusals: why a request is not served, before a protocol says it in its own words.

use std::time::Duration;

/// Why there is no model for a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// No model has the name.
    #[error("there is no model {0:?}")]
    NoModel(String),
    /// No model has the language, on that side.
    #[error("{0} is not supported")]
    NoLanguage(String),
    /// Models have both languages, but not as a pair.
    #[error("there is no model from {from} to {to}")]
    NoPair {
        /// The source.
        from: String,
        /// The target.
        to: String,
    },
    /// No model translates.
    #[error("no model that translates is open")]
    Nothing,
    /// The model has another purpose.
    #[error("the model {0:?} does not translate")]
    NoTranslation(String),
    /// A model is being opened.
    #[error("the models are being opened")]
    Loading,
    /// A model of the configuration that may be what is asked for did not open.
    #[error("the model {0:?} did not open")]
    Broken(String),
}

/// Why a request is not served; each protocol has its own words for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request makes no sense.
    Invalid(String),
    /// There is no such model or language.
    Route(RouteError),
    /// A key is needed, or is not known.
    Unauthorized,
    /// The key is not an administrator's.
    Forbidden,
    /// More than is allowed.
    TooLarge(String),
    /// The key was used too much.
    TooMany(Duration),
    /// Too much is queued.
    Overloaded(Duration),
    /// The server stops, or its models are not open yet.
    Unavailable,
    /// Who asks whether it is ready is told why it is not.
    NotReady(String),
    /// It took too long.
    Deadline,
    /// A sentence could not be translated by a fault of the server's.
    Internal(String),
}

impl Refusal {
    /// The refusal of a request that is wrong for `reason`.
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Refusal::Invalid(reason.into())
    }

    /// The HTTP status that says so.
    pub fn status(&self) -> u16 {
        match self {
            Refusal::Invalid(_) => 400,
            Refusal::Route(RouteError::Loading | RouteError::Broken(_))
            | Refusal::Unavailable
            | Refusal::NotReady(_) => 503,
            Refusal::Route(_) => 404,
            Refusal::Unauthorized => 401,
            Refusal::Forbidden => 403,
            Refusal::TooLarge(_) => 413,
            Refusal::TooMany(_) => 429,
            Refusal::Overloaded(_) => 503,
            Refusal::Deadline => 504,
            Refusal::Internal(_) => 500,
        }
    }

    /// The seconds after which to try again.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            // Whole seconds, of which part of one is one.
            Refusal::TooMany(time) | Refusal::Overloaded(time) => {
                Some((time.as_millis().div_ceil(1000) as u64).max(1))
            }
            Refusal::Unavailable
            | Refusal::NotReady(_)
            | Refusal::Route(RouteError::Loading | RouteError::Broken(_)) => Some(1),
            _ => None,
        }
    }

    /// What is wrong, in a sentence.
    pub fn detail(&self) -> String {
        match self {
            Refusal::Invalid(reason)
            | Refusal::TooLarge(reason)
            | Refusal::NotReady(reason)
            | Refusal::Internal(reason) => reason.clone(),
            Refusal::Route(error) => error.to_string(),
            Refusal::Unauthorized => "a key is needed, or it is not known".into(),
            Refusal::Forbidden => "the key is not an administrator's".into(),
            Refusal::TooMany(_) => "the key was used too often; try again later".into(),
            Refusal::Overloaded(_) => "too much is queued; try again later".into(),
            Refusal::Unavailable => "the server starts or stops".into(),
            Refusal::Deadline => "the request took too long".into(),
        }
    }
}

impl From<RouteError> for Refusal {
    fn from(error: RouteError) -> Self {
        Refusal::Route(error)
    }
}
