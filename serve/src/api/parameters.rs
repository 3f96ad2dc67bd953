//! Parameters of protocols with forms: from a JSON object, a form, or a query.

use std::collections::HashSet;

use serde_json::Value;

use crate::http::forms::{parse_form, parse_urlencoded};
use crate::http::{Call, strict_json};
use crate::refusal::Refusal;

/// Named values in their original order.
pub(super) struct Parameters(Vec<(String, Value)>);

/// Errors in the parameters of a request.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ParameterError {
    /// The body should be JSON, but is not an object.
    #[error("the body is not a JSON object: {0}")]
    Json(String),
    /// A form is not in its declared encoding, or a name occurs twice.
    #[error("{0}")]
    Form(String),
    /// A parameter has a value of another type than text.
    #[error("{0} is not a text")]
    NoText(String),
}

impl From<ParameterError> for Refusal {
    fn from(error: ParameterError) -> Self {
        Refusal::Invalid(error.to_string())
    }
}

impl Parameters {
    /// Reads the parameters of the query and of the body. A body without a media type is read as a
    /// form.
    ///
    /// # Errors
    /// If they cannot be read, or one occurs twice: one of its values would be lost.
    pub fn of(call: &Call) -> Result<Self, ParameterError> {
        Parameters::with_lists(call, &[])
    }

    /// Works like [`Parameters::of`], but parameters named in `lists` may occur several times.
    ///
    /// # Errors
    /// The errors of [`Parameters::of`].
    pub fn with_lists(call: &Call, lists: &[&str]) -> Result<Self, ParameterError> {
        let mut all = Vec::new();
        // Some clients declare JSON in requests without a body.
        if is_json(&call.media_type()) && !call.body.trim_ascii().is_empty() {
            match strict_json::parse(&call.body) {
                Ok(Value::Object(object)) => all.extend(object),
                Ok(_) => return Err(ParameterError::Json("it is another value".into())),
                Err(reason) => return Err(ParameterError::Json(reason)),
            }
        } else {
            let content_type = call.header(hyper::header::CONTENT_TYPE);
            let fields = parse_form(content_type, &call.body).map_err(ParameterError::Form)?;
            all.extend(fields.into_iter().map(|(name, value)| (name, Value::String(value))));
        }
        let query = parse_urlencoded(call.query.as_bytes()).map_err(ParameterError::Form)?;
        all.extend(query.into_iter().map(|(name, value)| (name, Value::String(value))));
        let mut names = HashSet::new();
        let twice = all
            .iter()
            .find(|(name, _)| !names.insert(name.as_str()) && !lists.contains(&name.as_str()));
        match twice {
            Some((name, _)) => Err(ParameterError::Form(format!("{name} is given more than once"))),
            None => Ok(Parameters(all)),
        }
    }

    /// Returns the first value of a name; null counts as missing.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.all(name).next()
    }

    /// Returns the values of a name without nulls.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &Value> {
        let values = self.0.iter().filter(move |(known, _)| known == name);
        values.map(|(_, value)| value).filter(|value| !value.is_null())
    }

    /// Returns the first value of a name; null and an empty text count as missing.
    ///
    /// # Errors
    /// If the value is not a text: without it, a text would be translated in another way than asked.
    pub fn text(&self, name: &str) -> Result<Option<&str>, ParameterError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(&**text).filter(|text| !text.is_empty())),
            Some(_) => Err(ParameterError::NoText(name.to_owned())),
        }
    }
}

/// Whether a media type is JSON.
fn is_json(media_type: &str) -> bool {
    matches!(media_type, "application/json" | "text/json")
        || media_type.starts_with("application/") && media_type.ends_with("+json")
}

/// Parses a whole number, which may be written as a text.
pub(super) fn whole_number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}
