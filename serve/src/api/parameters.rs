//! Parameters as protocols of forms take them: from a JSON object, a form, or a query.

use serde_json::Value;

use crate::http::Call;
use crate::http::forms::{parse_multipart, parse_urlencoded};

/// Named values, in the order in which they came.
pub(super) struct Parameters(Vec<(String, Value)>);

/// The body says that it is JSON, and is none, or no object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoObject;

impl Parameters {
    /// The parameters of the query and of the body, whatever form it has. A body without a
    /// media type is taken for a form.
    pub fn of(call: &Call) -> Result<Self, NoObject> {
        let mut all = Vec::new();
        let media_type = call.media_type();
        if media_type == "application/json" {
            match serde_json::from_slice(&call.body) {
                Ok(Value::Object(object)) => all.extend(object),
                _ => return Err(NoObject),
            }
        } else {
            let content_type = call.header(hyper::header::CONTENT_TYPE);
            let fields = parse_multipart(content_type, &call.body)
                .unwrap_or_else(|| parse_urlencoded(&call.body));
            all.extend(fields.into_iter().map(|(name, value)| (name, Value::String(value))));
        }
        let query = parse_urlencoded(call.query.as_bytes()).into_iter();
        all.extend(query.map(|(name, value)| (name, Value::String(value))));
        Ok(Parameters(all))
    }

    /// The first value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.all(name).next()
    }

    /// The values of a name.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value)
    }

    /// The first value of a name, if it is a text that is not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str().filter(|text| !text.is_empty())
    }
}

/// A whole number, also one that is written as a text.
pub(super) fn whole_number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}
