//! Protocols: the choice of the protocol of a request, and code that all protocols share.

mod deepl;
mod health;
mod libre;
mod marian;
mod opennmt;
mod opus_cat;
mod opus_mt;
mod page;
mod parameters;
pub mod v1;
pub mod xmlrpc;

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{
    ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW,
    CONNECTION, HOST, HeaderName, HeaderValue, LOCATION, ORIGIN, VARY, WWW_AUTHENTICATE,
};
use hyper::{Method, Request, StatusCode, Version};

use crate::access_log::RequestHead;
use crate::app::App;
use crate::config::Api;
use crate::http::body::{self, BodyError};
use crate::http::client_address::{Peer, client_address};
use crate::http::forms::{Fields, parse_query};
use crate::http::{Call, Response, respond, set_retry_after, websocket};
use crate::refusal::Refusal;
use crate::request_record::RequestRecord;

/// The header that identifies a request across programs.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The header with the position of a request in a trace of several programs.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The part of the server that answers a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// Health, readiness and measurements.
    Health,
    /// The page for people.
    Page,
    /// A protocol.
    Api(Api),
}

impl Group {
    /// Returns the group of a request. The group of a path may depend on the method, and on whether
    /// the request opens a websocket.
    fn of(method: &Method, path: &str, is_websocket: bool) -> Option<Self> {
        fn below(prefix: &str, path: &str) -> bool {
            path.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty())
        }
        if is_websocket {
            return match path {
                "/translate" | "/translate/" => Some(Group::Api(Api::Marian)),
                "/opus" => Some(Group::Api(Api::OpusMt)),
                _ => None,
            };
        }
        Some(match path {
            "/healthz" | "/readyz" | "/metrics" => Group::Health,
            "/RPC2" => Group::Api(Api::XmlRpc),
            "/" if method != Method::GET && method != Method::HEAD => Group::Api(Api::XmlRpc),
            _ if page::has(path) => Group::Page,
            _ if below("/v1/", path) => Group::Api(Api::V1),
            _ if libre::PATHS.contains(&path) => Group::Api(Api::Libre),
            _ if below("/translator/", path) => Group::Api(Api::OpenNmt),
            _ if below("/api/", path) => Group::Api(Api::OpusMt),
            _ if opus_cat::method_name(path).is_some() => Group::Api(Api::OpusCat),
            _ if below("/v2/", path) || below("/v3/", path) => Group::Api(Api::DeepL),
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Group::Health => "health",
            Group::Page => "page",
            Group::Api(api) => api.name(),
        }
    }

    /// Whether pages of all origins may read its responses if the configuration names no origins.
    fn is_open(self) -> bool {
        matches!(self, Group::Api(Api::XmlRpc | Api::Libre | Api::OpusCat))
    }
}

/// Answers a request.
pub async fn answer(app: &Arc<App>, mut request: Request<Incoming>) -> Response {
    let method = request.method().clone();
    let full_path = request.uri().path().to_owned();
    let id = request_id(app, &request);
    let origin = request.headers().get(ORIGIN).cloned();
    let peer = request.extensions().get::<Peer>().copied();
    let peer = peer.unwrap_or(Peer { address: None, is_for_metrics: false });
    let client = if app.access_log.is_some() {
        client_address(peer, request.headers(), &app.trusted_proxies)
    } else {
        None
    };
    let traceparent = request.headers().get(TRACEPARENT).cloned();
    let is_below = strip_base_path(&mut request, &app.configuration.base_path);
    let path = request.uri().path().to_owned();
    let is_websocket = websocket::is_upgrade(request.headers());
    let group = Group::of(&method, &path, is_websocket);
    // Health checks do not come through the proxy that adds the base path.
    let group = group.filter(|group| is_below || *group == Group::Health);
    let group = group.filter(|group| is_served(app, *group, &path, peer));
    let is_page_without_slash = !is_below
        && full_path == app.configuration.base_path
        && matches!(method, Method::GET | Method::HEAD)
        && is_served(app, Group::Page, "/", peer);
    let head = RequestHead {
        id: id.clone(),
        traceparent,
        client,
        method: method.clone(),
        path: full_path,
        group: group.map_or("none", Group::name),
    };
    let record = RequestRecord::new(&app.metrics, app.access_log.as_ref(), head);
    let wrong_host = check_host(&request);
    // The response to HEAD is the head of the response to GET.
    if method == Method::HEAD {
        *request.method_mut() = Method::GET;
    }
    let mut response = match (wrong_host, group) {
        (Some(reason), _) => refuse_host(group, reason),
        (None, None) if is_page_without_slash => redirect_to_page(&app.configuration.base_path),
        (None, None) => not_found(),
        (None, Some(_)) if is_websocket && !may_open_websocket(app, request.headers()) => {
            let reason = "pages of this origin may not use the server; name it in cors\n";
            respond(StatusCode::FORBIDDEN, "text/plain", reason)
        }
        (None, Some(group)) if method == Method::OPTIONS => preflight(app, group),
        (None, Some(Group::Api(Api::Marian))) => marian::open(app, request, &record),
        (None, Some(Group::Api(Api::OpusMt))) if is_websocket => {
            opus_mt::open(app, request, &record)
        }
        (None, Some(group)) => record.with_key_name(dispatch(app, group, request)).await,
    };
    let is_unauthorized = response.status() == StatusCode::UNAUTHORIZED;
    let headers = response.headers_mut();
    if is_unauthorized {
        // Some clients fail at a 401 without it.
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(group) = group {
        allow_origin(app, group, origin.as_ref(), headers);
    }
    headers.insert(REQUEST_ID, id);
    if app.is_stopping() {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let status = response.status().as_u16();
    response.body_mut().complete(record, status);
    response
}

/// Returns what is wrong with the Host headers of a request. HTTP/1.1 needs one, which may be
/// empty, and no request may have two.
fn check_host(request: &Request<Incoming>) -> Option<&'static str> {
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if request.version() >= Version::HTTP_11 => Some("the header Host is missing"),
        (None, _) => None,
        (Some(_), Some(_)) => Some("the header Host comes twice"),
        (Some(host), None) => {
            let bytes = host.as_bytes();
            let is_name = bytes.is_empty() || hyper::http::uri::Authority::try_from(bytes).is_ok();
            (!is_name).then_some("the header Host is not a name with a port")
        }
    }
}

fn refuse_host(group: Option<Group>, reason: &str) -> Response {
    let mut response = refuse_http(group, &Refusal::Invalid(reason.to_owned()));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Works like [`refuse`], for errors that belong to HTTP. They never have the status 200, with
/// which some protocols report their errors.
fn refuse_http(group: Option<Group>, refusal: &Refusal) -> Response {
    match group {
        Some(Group::Api(Api::XmlRpc | Api::OpenNmt | Api::OpusMt)) | None => {
            respond(status(refusal), "text/plain", format!("{}\n", refusal.detail()))
        }
        Some(group) => refuse(group, refusal),
    }
}

/// Returns the response to a body that is compressed in another way than `known`.
fn refuse_encoding(group: Group, known: &'static str) -> Response {
    let mut response = refuse_http(Some(group), &Refusal::Encoding(known));
    response.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(known));
    response
}

/// Whether the configuration serves a group at the address of a request.
fn is_served(app: &App, group: Group, path: &str, peer: Peer) -> bool {
    match group {
        Group::Health if path == "/metrics" => {
            app.configuration.metrics.is_none() || peer.is_for_metrics
        }
        Group::Health => true,
        _ if peer.is_for_metrics => false,
        Group::Page => serves_page(app),
        Group::Api(api) => app.configuration.serves(api),
    }
}

/// Whether the page is served. It uses `/v1`.
fn serves_page(app: &App) -> bool {
    !app.configuration.no_page && app.configuration.serves(Api::V1)
}

/// Removes the prefix `base` from the path of a request. Returns false if it is missing.
fn strip_base_path(request: &mut Request<Incoming>, base: &str) -> bool {
    if base.is_empty() {
        return true;
    }
    let uri = request.uri();
    let Some(rest) = uri.path().strip_prefix(base).filter(|rest| rest.starts_with('/')) else {
        return false;
    };
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    match format!("{rest}{query}").parse() {
        Ok(stripped) => {
            *request.uri_mut() = stripped;
            true
        }
        Err(_) => false,
    }
}

/// Sends a browser from the base path to the page below it. Without the final slash, the relative
/// addresses in the page would lead elsewhere.
fn redirect_to_page(base: &str) -> Response {
    let mut response = respond(StatusCode::PERMANENT_REDIRECT, "", "");
    if let Ok(address) = HeaderValue::from_str(&format!("{base}/")) {
        response.headers_mut().insert(LOCATION, address);
    }
    response
}

async fn dispatch(app: &Arc<App>, group: Group, request: Request<Incoming>) -> Response {
    if group == Group::Api(Api::V1) && v1::stream::is_wanted(&request) {
        return v1::stream::answer(app, request);
    }
    let limits = &app.configuration.limits;
    let (head, body) = request.into_parts();
    let time = Duration::from_secs(limits.body_seconds);
    let reading = body::read(body, &head.headers, limits.body_bytes, time, limits.deadline());
    let body = match reading.await {
        Ok(body) => body,
        Err(error) => return refuse_body(group, error, limits.body_bytes),
    };
    let call = Call {
        method: head.method,
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        body,
    };
    match group {
        Group::Health => health::answer(app, &call),
        Group::Page => page::answer(&call),
        Group::Api(Api::XmlRpc) => xmlrpc::answer(app, &call).await,
        Group::Api(Api::Libre) => libre::answer(app, &call).await,
        Group::Api(Api::OpenNmt) => opennmt::answer(app, &call).await,
        Group::Api(Api::OpusMt) => opus_mt::answer(app, &call).await,
        Group::Api(Api::OpusCat) => opus_cat::answer(app, &call).await,
        Group::Api(Api::DeepL) => deepl::answer(app, &call).await,
        Group::Api(Api::V1 | Api::Marian) => v1::answer(app, &call).await,
    }
}

/// Returns the response to a refusal, in the words of a group of protocols.
fn refuse(group: Group, refusal: &Refusal) -> Response {
    match group {
        Group::Api(Api::XmlRpc) => xmlrpc::refuse(refusal),
        Group::Api(Api::Libre) => libre::refuse(refusal, false),
        Group::Api(Api::OpenNmt) => opennmt::refuse(refusal),
        Group::Api(Api::OpusMt) => opus_mt::refuse(refusal),
        Group::Api(Api::OpusCat) => opus_cat::refuse(refusal),
        Group::Api(Api::DeepL) => deepl::refuse(refusal),
        Group::Health | Group::Page | Group::Api(Api::V1 | Api::Marian) => v1::refuse(refusal),
    }
}

fn refuse_body(group: Group, error: BodyError, limit: usize) -> Response {
    let mut response = match error {
        BodyError::TooLarge => {
            let reason = format!("the request has more than {limit} bytes");
            refuse(group, &Refusal::TooLarge(reason))
        }
        BodyError::Malformed => {
            refuse(group, &Refusal::Invalid("the body or its compression is damaged".into()))
        }
        BodyError::UnknownEncoding => refuse_encoding(group, "gzip"),
        BodyError::Unpacking(refusal) => refuse(group, &refusal),
        BodyError::Timeout => refuse_http(Some(group), &Refusal::Slow),
    };
    // The connection is closed after the response, because the rest of the body may be long.
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Parses the query of a protocol whose requests do not name models and languages otherwise, and
/// whose clients may be unable to send a key in a header.
///
/// # Errors
/// If it has other parameters.
fn parse_route_query(query: &str) -> Result<Fields, String> {
    parse_query(query, &["model", "from", "to", "api_key"])
}

fn not_found() -> Response {
    respond(StatusCode::NOT_FOUND, "text/plain", "there is nothing here\n")
}

/// Returns the response to a method that a path does not have. `allowed` is `GET`, `POST` or
/// `GET, POST`; with `GET`, `HEAD` is allowed too.
fn wrong_method(allowed: &'static str) -> Response {
    let allowed = match allowed {
        "GET" => "GET, HEAD",
        "GET, POST" => "GET, HEAD, POST",
        other => other,
    };
    let mut response =
        respond(StatusCode::METHOD_NOT_ALLOWED, "text/plain", format!("use {allowed}\n"));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// Adds the time after which to retry, if a refusal has one.
fn with_retry(refusal: &Refusal, mut response: Response) -> Response {
    if let Some(seconds) = refusal.retry_after() {
        set_retry_after(&mut response, seconds);
    }
    response
}

/// Returns the HTTP status of a refusal.
fn status(refusal: &Refusal) -> StatusCode {
    StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Returns the id that the client gave, if it is short and plain, or a new one.
fn request_id(app: &App, request: &Request<Incoming>) -> HeaderValue {
    let given = request.headers().get(REQUEST_ID);
    given
        .filter(|value| {
            let bytes = value.as_bytes();
            (1..=128).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
        })
        .cloned()
        .unwrap_or_else(|| HeaderValue::from(app.next_request()))
}

/// Whether the configuration lets pages of all origins read responses.
fn allows_all_origins(app: &App, is_open: bool) -> bool {
    let named = &app.configuration.cors;
    named.is_empty() && is_open || named.iter().any(|one| one == "*")
}

/// Whether the configuration names an origin.
fn names_origin(app: &App, origin: &HeaderValue) -> bool {
    app.configuration.cors.iter().any(|one| one == origin)
}

/// Whether the page that sends a handshake may open the websocket: browsers leave this decision to
/// the server. Without named origins all pages may, as in the original servers. Pages of the
/// server's own host always may, and so may programs, which send no origin.
fn may_open_websocket(app: &App, headers: &hyper::HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let host = headers.get(HOST).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_own = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    let is_own = is_own.is_some_and(|(_, own)| own.as_bytes().eq_ignore_ascii_case(host));
    is_own || allows_all_origins(app, true) || names_origin(app, origin)
}

/// Tells browsers which pages may read a response.
fn allow_origin(
    app: &App,
    group: Group,
    origin: Option<&HeaderValue>,
    headers: &mut hyper::HeaderMap,
) {
    let allows_all = allows_all_origins(app, group.is_open());
    if !app.configuration.cors.is_empty() && !allows_all {
        // Responses to other origins differ, so that caches must not share them.
        headers.insert(VARY, HeaderValue::from_static("Origin"));
    }
    let allowed = if allows_all {
        Some(HeaderValue::from_static("*"))
    } else {
        origin.filter(|origin| names_origin(app, origin)).cloned()
    };
    if let Some(allowed) = allowed {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        let names = HeaderValue::from_static("Retry-After, X-Request-Id");
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, names);
    }
}

fn preflight(app: &App, group: Group) -> Response {
    let mut response = respond(StatusCode::NO_CONTENT, "", "");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD, POST, OPTIONS"));
    if group.is_open() || !app.configuration.cors.is_empty() {
        let headers = response.headers_mut();
        let methods = HeaderValue::from_static("GET, POST, OPTIONS");
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
        // Programs that trace requests in browsers send the last two.
        let names = "Authorization, Content-Type, X-Request-Id, traceparent, tracestate";
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(names));
        // A day; browsers remember no longer.
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_in_unpacking_does_not_blame_the_client() {
        let v1 = Group::Api(Api::V1);
        let status = |error| refuse_body(v1, error, 1).status().as_u16();
        assert_eq!(status(BodyError::Unpacking(Refusal::Internal("a fault".into()))), 500);
        assert_eq!(status(BodyError::Unpacking(Refusal::Deadline)), 504);
        assert_eq!(status(BodyError::Malformed), 400);
    }

    /// Clients parse errors as JSON where the protocol has errors in JSON.
    #[test]
    fn bodies_that_are_not_read_are_refused_in_the_form_of_the_protocol() {
        for (api, media_type) in [
            (Api::V1, "application/problem+json"),
            (Api::Libre, "application/json"),
            (Api::DeepL, "application/json"),
            (Api::OpusCat, "application/json"),
            (Api::OpenNmt, "text/plain"),
            (Api::OpusMt, "text/plain"),
            (Api::XmlRpc, "text/plain"),
        ] {
            for (error, status) in [(BodyError::UnknownEncoding, 415), (BodyError::Timeout, 408)] {
                let response = refuse_body(Group::Api(api), error, 1);
                let found = response.headers()[hyper::header::CONTENT_TYPE].to_str().unwrap();
                assert_eq!((response.status().as_u16(), found), (status, media_type), "{api:?}");
                let known = response.headers().get(ACCEPT_ENCODING);
                assert_eq!(known.is_some_and(|known| known == "gzip"), status == 415, "{api:?}");
            }
        }
    }
}
