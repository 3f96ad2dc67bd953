//! `POST /v1/translate` with JSON lines: one request per line and one response per line, in order.
//!
//! The number of lines is not limited, and at most 64 are in progress at a time. While the client
//! does not read responses, no more lines are accepted, so memory is bounded.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Method, Request};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::translate::{self, OneOrMany};
use super::{QUERY_NAMES, check_query, problem, refuse};
use crate::api::{Group, refuse_encoding};
use crate::app::App;
use crate::config::Api;
use crate::http::forms::{field, parse_query};
use crate::http::{Body, Response, accept, body, strict_json};
use crate::refusal::Refusal;

/// The media type of JSON lines.
const JSON_LINES: &str = "application/x-ndjson";

/// The most lines in progress at a time.
const AHEAD: usize = 64;

/// Whether a request asks for JSON lines: by its address, or else by its header `Accept`.
pub(in crate::api) fn is_wanted(request: &Request<Incoming>) -> bool {
    if request.method() != Method::POST || request.uri().path() != "/v1/translate" {
        return false;
    }
    let query = request.uri().query().unwrap_or_default();
    match parse_query(query, &QUERY_NAMES).as_ref().map(|query| field(query, "stream")) {
        Ok(Some("1")) => true,
        Ok(Some("0")) => false,
        _ => accept::prefers(request.headers(), JSON_LINES, "application/json"),
    }
}

/// Answers line by line.
pub(in crate::api) fn answer(app: &Arc<App>, request: Request<Incoming>) -> Response {
    if let Err(reason) = check_query(request.uri().query().unwrap_or_default(), &["", "0", "1"]) {
        return refuse(&Refusal::Invalid(reason));
    }
    let key = crate::http::bearer(request.headers()).map(str::to_owned);
    if let Err(refusal) = app.admit(key.as_deref(), 0) {
        return refuse(&refusal);
    }
    if !body::is_uncompressed(request.headers()) {
        return refuse_encoding(Group::Api(Api::V1), "identity");
    }
    let (sender, receiver) = mpsc::channel(4);
    let stop = request.extensions().get::<watch::Receiver<bool>>().cloned();
    tokio::spawn(run(Arc::clone(app), key, request.into_body(), sender, stop));
    let mut response = Response::new(Body::stream(receiver));
    let media_type = hyper::header::HeaderValue::from_static(JSON_LINES);
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, media_type);
    response
}

async fn run(
    app: Arc<App>,
    key: Option<String>,
    mut body: Incoming,
    sender: mpsc::Sender<Bytes>,
    stop: Option<watch::Receiver<bool>>,
) {
    let limits = app.configuration.limits.clone();
    let end = wait_for_end(stop, Duration::from_secs(limits.grace_seconds));
    tokio::pin!(end);
    let mut unread = UnreadLines::default();
    let mut under_way: VecDeque<tokio::task::JoinHandle<Value>> = VecDeque::new();
    let mut ended = false;
    // The reason why lines after the last complete one are not answered.
    let mut failure = None;
    let mut number = 0;
    loop {
        // Start the lines that have arrived.
        while under_way.len() < AHEAD
            && let Some(line) = unread.take_line()
        {
            number += 1;
            let answer = answer_line(Arc::clone(&app), key.clone(), line, number);
            under_way.push_back(tokio::spawn(answer));
        }
        if ended && !unread.is_empty() && !unread.has_line() {
            unread.push(b"\n");
            continue;
        }
        let may_read = !ended && under_way.len() < AHEAD;
        if under_way.is_empty() && ended && unread.is_empty() {
            if let Some(refusal) = failure {
                let _ = sender.send(error_line(number + 1, &refusal)).await;
            }
            return;
        }
        tokio::select! {
            value = next(&mut under_way), if !under_way.is_empty() => {
                let mut line = value.to_string();
                line.push('\n');
                if sender.send(line.into()).await.is_err() {
                    break;
                }
            }
            frame = tokio::time::timeout(Duration::from_secs(limits.body_seconds), body.frame()), if may_read => {
                match frame {
                    Ok(Some(Ok(frame))) => {
                        if let Ok(data) = frame.into_data() {
                            unread.push(&data);
                        }
                        let longest = limits.body_bytes;
                        if unread.len() > longest && !unread.has_line() {
                            let reason = format!("line {}: more than {longest} bytes", number + 1);
                            failure = Some(Refusal::TooLarge(reason));
                        }
                    }
                    Ok(None) => ended = true,
                    Ok(Some(Err(_))) => {
                        let reason = "the body ended early or is damaged";
                        failure = Some(Refusal::Invalid(reason.into()));
                    }
                    // An idle client's stream ends.
                    Err(_) if under_way.is_empty() => {
                        let seconds = limits.body_seconds;
                        let reason = format!("nothing came for {seconds} seconds");
                        failure = Some(Refusal::Invalid(reason));
                    }
                    Err(_) => {}
                }
            }
            () = sender.closed() => break,
            () = end.as_mut() => {
                let first = number + 1 - under_way.len() as u64;
                let _ = sender.send(error_line(first, &Refusal::Unavailable)).await;
                break;
            }
        }
        if failure.is_some() && !ended {
            ended = true;
            // An incomplete line would be answered as if it were whole.
            unread.drop_incomplete_line();
        }
    }
    // Nobody waits for the rest.
    under_way.iter().for_each(tokio::task::JoinHandle::abort);
}

/// The bytes that have arrived and are not taken as lines yet.
#[derive(Default)]
struct UnreadLines {
    bytes: Vec<u8>,
    /// The number of bytes at the start in which no line ends. They are not searched again, because
    /// a line may arrive in very many pieces.
    searched: usize,
}

impl UnreadLines {
    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the end of the first line if the line is complete.
    fn find_end(&mut self) -> Option<usize> {
        match memchr::memchr(b'\n', &self.bytes[self.searched..]) {
            Some(at) => Some(self.searched + at + 1),
            None => {
                self.searched = self.bytes.len();
                None
            }
        }
    }

    fn has_line(&mut self) -> bool {
        self.find_end().is_some()
    }

    /// Removes the first line if it is complete, and returns it with its end.
    fn take_line(&mut self) -> Option<Vec<u8>> {
        let end = self.find_end()?;
        self.searched = 0;
        Some(self.bytes.drain(..end).collect())
    }

    fn drop_incomplete_line(&mut self) {
        let end = memchr::memrchr(b'\n', &self.bytes).map_or(0, |at| at + 1);
        self.bytes.truncate(end);
        self.searched = self.searched.min(end);
    }
}

/// Waits until the server is stopping and nine tenths of `grace` have passed. So streams end before
/// the server closes their connections.
async fn wait_for_end(stop: Option<watch::Receiver<bool>>, grace: Duration) {
    let Some(mut stop) = stop else { return std::future::pending().await };
    // An error means that the server has ended.
    drop(stop.wait_for(|is_stopping| *is_stopping).await);
    tokio::time::sleep(grace - grace / 10).await;
}

/// Returns the answer to a line that is not translated.
fn error_line(number: u64, refusal: &Refusal) -> Bytes {
    format!("{}\n", json!({"line": number, "error": problem(refusal)})).into()
}

async fn next(under_way: &mut VecDeque<tokio::task::JoinHandle<Value>>) -> Value {
    let Some(first) = under_way.front_mut() else { return std::future::pending().await };
    let value = first.await;
    under_way.pop_front();
    value.unwrap_or_else(
        |_| json!({"error": problem(&Refusal::Internal("the line was dropped".into()))}),
    )
}

async fn answer_line(app: Arc<App>, key: Option<String>, line: Vec<u8>, number: u64) -> Value {
    match translate_line(&app, key.as_deref(), &line).await {
        Ok(mut value) => {
            value["line"] = json!(number);
            value
        }
        Err(refusal) => json!({"line": number, "error": problem(&refusal)}),
    }
}

async fn translate_line(app: &App, key: Option<&str>, line: &[u8]) -> Result<Value, Refusal> {
    // Without the line end, places in messages are those in the line.
    let line = line.trim_ascii_end();
    if line.is_empty() {
        let reason = "the line is empty; give an object, or a text in quotes";
        return Err(Refusal::invalid(reason));
    }
    let request: translate::Request = match strict_json::parse(line) {
        Ok(Value::String(text)) => translate::Request::of(text),
        _ => super::parse(line)?,
    };
    let texts = request.text.as_ref().map(OneOrMany::as_slice).unwrap_or_default();
    if texts.is_empty() {
        return Err(Refusal::Invalid("text is missing".into()));
    }
    app.admit_texts(key, texts)?;
    // If the server is overloaded, a stream waits. A single request would be rejected.
    let mut refused = 0;
    loop {
        match translate::translate(app, &request).await {
            Err(Refusal::Overloaded(_)) if refused < 600 => {
                refused += 1;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_complete_however_they_arrive() {
        let text = b"one\n\nthree\nfour";
        for size in 1..=text.len() {
            let mut unread = UnreadLines::default();
            let mut lines = Vec::new();
            for piece in text.chunks(size) {
                unread.push(piece);
                while let Some(line) = unread.take_line() {
                    lines.push(line);
                }
            }
            assert_eq!(lines, [&b"one\n"[..], b"\n", b"three\n"], "{size}");
            assert!(!unread.has_line() && unread.len() == 4);
            unread.push(b"\n");
            assert_eq!(unread.take_line(), Some(b"four\n".to_vec()));
            assert!(unread.is_empty());
        }
        let mut unread = UnreadLines::default();
        unread.push(b"one\ntw");
        unread.drop_incomplete_line();
        assert_eq!(unread.take_line(), Some(b"one\n".to_vec()));
        unread.push(b"tw");
        assert!(!unread.has_line());
        unread.drop_incomplete_line();
        assert!(unread.is_empty() && unread.take_line().is_none());
    }

    /// Otherwise the time for a line would grow with the square of its length.
    #[test]
    fn each_byte_of_a_line_is_searched_once() {
        let mut unread = UnreadLines::default();
        for count in 1..1000 {
            unread.push(b"a");
            assert!(unread.take_line().is_none());
            assert_eq!(unread.searched, count);
        }
    }
}
