//! HTTP: bodies, forms, websockets. The protocols are in [`crate::api`].

pub mod accept;
pub mod body;
pub mod client_address;
pub mod connection_guard;
pub mod forms;
pub mod socket_access;
pub mod strict_json;
pub mod websocket;

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Method, StatusCode};
use serde_json::Value;

pub use body::Body;

/// A response.
pub type Response = hyper::Response<Body>;

/// A request with its body.
pub struct Call {
    /// The method.
    pub method: Method,
    /// The path, without the query.
    pub path: String,
    /// The query, without `?`.
    pub query: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, decompressed.
    pub body: Bytes,
}

impl Call {
    /// Returns the value of a header; empty if it is missing or not text.
    pub fn header(&self, name: HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the media type of the body in lower case, without parameters.
    pub fn media_type(&self) -> String {
        let value = self.header(CONTENT_TYPE);
        value.split(';').next().unwrap_or_default().trim().to_lowercase()
    }

    /// Returns the token of `Authorization: Bearer TOKEN` or `DeepL-Auth-Key TOKEN`.
    pub fn bearer(&self) -> Option<&str> {
        bearer(&self.headers)
    }
}

/// Works like [`Call::bearer`], for headers.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(hyper::header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let known = ["bearer", "deepl-auth-key"];
    known.contains(&scheme.to_lowercase().as_str()).then(|| token.trim())
}

/// Creates a response of one piece.
pub fn respond(status: StatusCode, media_type: &'static str, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::full(body.into()));
    *response.status_mut() = status;
    if !media_type.is_empty() {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    }
    response
}

/// Creates a response in JSON.
pub fn json(status: StatusCode, value: &Value) -> Response {
    respond(status, "application/json", value.to_string())
}

/// Adds the time after which to retry.
pub fn set_retry_after(response: &mut Response, seconds: u64) {
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
}
