//! Miriam's own protocol: all features of the models, in JSON.

mod language_models;
mod models;
mod score;
pub mod stream;
mod text_tools;
mod translate;

use std::sync::Arc;

use hyper::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{not_found, status, with_retry, wrong_method};
use crate::app::App;
use crate::http::forms::parse_query;
use crate::http::{Call, Response, json as respond_json, respond, strict_json};
use crate::refusal::Refusal;

/// Answers a request below `/v1/`.
pub(super) async fn answer(app: &Arc<App>, call: &Call) -> Response {
    let path = call.path.strip_prefix("/v1/").unwrap_or_default();
    if let Err(reason) = check_query(&call.query, &["", "0"]) {
        return refuse(&Refusal::Invalid(reason));
    }
    let outcome = match (&call.method, path) {
        (&Method::GET, "models") => models::list(app, call),
        (&Method::POST, "translate") => translate::answer(app, call).await,
        (&Method::POST, "score") => score::answer(app, call).await,
        (&Method::POST, "perplexity") => language_models::perplexity(app, call).await,
        (&Method::POST, "next") => language_models::next(app, call).await,
        (&Method::POST, "split") => text_tools::split(app, call).await,
        (&Method::POST, "tokenize") => text_tools::tokenize(app, call).await,
        (&Method::POST, "detokenize") => text_tools::detokenize(app, call).await,
        (method, path) => match reloaded_model(path) {
            Some(name) if method == Method::POST => models::reload(app, call, name).await,
            _ => return unknown(path),
        },
    };
    match outcome {
        Ok(value) => respond_json(StatusCode::OK, &value),
        Err(refusal) => refuse(&refusal),
    }
}

/// The parameters that a request may have in its address; all others are in its body.
const QUERY_NAMES: [&str; 1] = ["stream"];

/// Checks that the query of an address has no parameter but `stream`, with one of `values`.
fn check_query(query: &str, values: &[&str]) -> Result<(), String> {
    let fields = parse_query(query, &QUERY_NAMES)?;
    if fields.iter().all(|(_, value)| values.contains(&&**value)) {
        Ok(())
    } else {
        Err("stream is 1 or 0, and only for POST /v1/translate".into())
    }
}

/// Returns the name of the model in a path that reloads it, `models/NAME/reload`.
fn reloaded_model(path: &str) -> Option<&str> {
    path.strip_prefix("models/")?.strip_suffix("/reload")
}

/// Returns the response to an unknown path, or to a known one with a wrong method.
fn unknown(path: &str) -> Response {
    let (mut plain, detail) = match path {
        "models" => (wrong_method("GET"), "use GET"),
        "translate" | "score" | "perplexity" | "next" | "split" | "tokenize" | "detokenize" => {
            (wrong_method("POST"), "use POST")
        }
        _ if reloaded_model(path).is_some() => (wrong_method("POST"), "use POST"),
        _ => (not_found(), "there is nothing at this path"),
    };
    let body = describe_problem(plain.status(), detail).to_string();
    let problem = respond(plain.status(), "application/problem+json", body);
    for (name, value) in problem.headers() {
        plain.headers_mut().insert(name, value.clone());
    }
    *plain.body_mut() = problem.into_body();
    plain
}

/// Returns a refusal as a response: a problem of RFC 9457.
pub(super) fn refuse(refusal: &Refusal) -> Response {
    let body = problem(refusal).to_string();
    with_retry(refusal, respond(status(refusal), "application/problem+json", body))
}

/// Returns a refusal as the JSON object of a problem.
fn problem(refusal: &Refusal) -> Value {
    describe_problem(status(refusal), &refusal.detail())
}

fn describe_problem(status: StatusCode, detail: &str) -> Value {
    json!({
        "type": "about:blank",
        "title": status.canonical_reason().unwrap_or_default(),
        "status": status.as_u16(),
        "detail": detail,
    })
}

/// Parses the body of a request, a JSON object.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    strict_json::parse_object(body).map_err(|error| Refusal::Invalid(format!("the body: {error}")))
}

/// Checks that each text is one line.
fn check_lines(texts: &[String]) -> Result<(), Refusal> {
    if texts.iter().any(|text| text.contains(['\n', '\r'])) {
        let reason = "a text has a line break; give each line as a text of a list";
        return Err(Refusal::Invalid(reason.into()));
    }
    Ok(())
}

/// Converts a number to JSON with the fewest digits that identify the f32; null for NaN and
/// infinity.
fn number(value: f32) -> Value {
    serde_json::from_str(&value.to_string()).unwrap_or(Value::Null)
}

/// Converts bytes to text; those that are not UTF-8 become U+FFFD.
fn text(bytes: &[u8]) -> Value {
    Value::String(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(0.1).to_string(), "0.1");
        assert_eq!(number(-12.375).to_string(), "-12.375");
        assert_eq!(number(f32::NAN), Value::Null);
        assert_eq!(number(f32::NEG_INFINITY), Value::Null);
    }
}
