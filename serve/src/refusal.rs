//! Refusals: why a request is not served, independent of its protocol.

use std::time::Duration;

/// The reason why there is no model for a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// No model has the name.
    #[error("there is no model {0:?}")]
    NoModel(String),
    /// No model that fits the request has the language.
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
    /// The model that would probably serve the request did not open.
    #[error("the model {0:?} did not open")]
    Broken(String),
}

/// The reason for the rejection of a request. Each protocol has its own wording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request is invalid.
    Invalid(String),
    /// There is no such model or language.
    Route(RouteError),
    /// The key is missing or not known.
    Unauthorized,
    /// The key does not belong to an administrator.
    Forbidden,
    /// The request is larger than allowed.
    TooLarge(String),
    /// The key is over its quota.
    TooMany(Duration),
    /// Too much is queued.
    Overloaded(Duration),
    /// The server is stopping, or its models are not open yet.
    Unavailable,
    /// The server is not ready, for this reason.
    NotReady(String),
    /// The body did not arrive in time.
    Slow,
    /// The body is compressed in another way than this one.
    Encoding(&'static str),
    /// The request took too long.
    Deadline,
    /// A sentence could not be translated because of a fault of the server.
    Internal(String),
}

impl Refusal {
    /// Returns the refusal of an invalid request.
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Refusal::Invalid(reason.into())
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        match self {
            Refusal::Invalid(_) => 400,
            Refusal::Route(RouteError::Loading | RouteError::Broken(_))
            | Refusal::Unavailable
            | Refusal::NotReady(_) => 503,
            Refusal::Route(_) => 404,
            Refusal::Unauthorized => 401,
            Refusal::Forbidden => 403,
            Refusal::Slow => 408,
            Refusal::TooLarge(_) => 413,
            Refusal::Encoding(_) => 415,
            Refusal::TooMany(_) => 429,
            Refusal::Overloaded(_) => 503,
            Refusal::Deadline => 504,
            Refusal::Internal(_) => 500,
        }
    }

    /// Returns the seconds after which to retry.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            // Whole seconds, rounded up.
            Refusal::TooMany(time) | Refusal::Overloaded(time) => {
                Some((time.as_millis().div_ceil(1000) as u64).max(1))
            }
            Refusal::Unavailable
            | Refusal::NotReady(_)
            | Refusal::Route(RouteError::Loading | RouteError::Broken(_)) => Some(1),
            _ => None,
        }
    }

    /// Returns the message.
    pub fn detail(&self) -> String {
        match self {
            Refusal::Invalid(reason)
            | Refusal::TooLarge(reason)
            | Refusal::NotReady(reason)
            | Refusal::Internal(reason) => reason.clone(),
            Refusal::Route(error) => error.to_string(),
            Refusal::Unauthorized => "the key is missing or not known".into(),
            Refusal::Forbidden => "the key does not belong to an administrator".into(),
            Refusal::TooMany(_) => {
                // JSON lines and websockets have no header for the time.
                let seconds = self.retry_after().unwrap_or_default();
                format!("the key is over its quota; retry in {seconds} s")
            }
            Refusal::Overloaded(_) => "too much is queued; retry later".into(),
            Refusal::Unavailable => "the server is starting or stopping".into(),
            Refusal::Slow => "the body took too long to arrive".into(),
            Refusal::Encoding(known) => format!("Content-Encoding: expected {known}"),
            Refusal::Deadline => "the request took too long".into(),
        }
    }
}

impl From<RouteError> for Refusal {
    fn from(error: RouteError) -> Self {
        Refusal::Route(error)
    }
}
