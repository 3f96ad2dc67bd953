//! Websockets: the handshake, and messages one after the other.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION,
    UPGRADE,
};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{HeaderMap, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::connection_guard::ConnectionGuard;
use super::{Response, respond};
use crate::request_record::RequestRecord;

/// The time limit for sending a message.
const MAX_SEND: Duration = Duration::from_secs(60);

/// A service that answers the messages of a websocket.
pub trait Answerer: Send + Sync + 'static {
    /// Answers a message. An error is a code of RFC 6455 and a reason with which the websocket is
    /// closed.
    fn answer(&self, message: String)
    -> impl Future<Output = Result<String, (u16, String)>> + Send;
}

/// Whether a request asks for a websocket.
pub fn is_upgrade(headers: &HeaderMap) -> bool {
    fn has(name: hyper::header::HeaderName, word: &str, headers: &HeaderMap) -> bool {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|one| one.trim().eq_ignore_ascii_case(word))
    }
    has(UPGRADE, "websocket", headers) && has(CONNECTION, "upgrade", headers)
}

/// Answers the handshake of `request`. After it, `answerer` answers the messages in order, each of
/// at most `limit` bytes. The websocket holds the record of the request until it is closed.
pub(crate) fn open(
    mut request: Request<Incoming>,
    limit: usize,
    answerer: impl Answerer,
    record: &Arc<RequestRecord>,
) -> Response {
    let key = request.headers().get(SEC_WEBSOCKET_KEY).cloned();
    let version = request.headers().get(SEC_WEBSOCKET_VERSION);
    let (Some(key), Some(b"13")) = (key, version.map(HeaderValue::as_bytes)) else {
        let mut response = respond(
            StatusCode::UPGRADE_REQUIRED,
            "text/plain",
            "expected a websocket of version 13",
        );
        response.headers_mut().insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        return response;
    };
    let guard = request.extensions().get::<Arc<ConnectionGuard>>().cloned();
    let stop = request.extensions().get::<watch::Receiver<bool>>().cloned();
    let upgrade = hyper::upgrade::on(&mut request);
    if let Some(stop) = stop {
        let record = Arc::clone(record);
        record.set_open_ended();
        tokio::spawn(async move {
            // The websocket counts as a connection until it is closed.
            let _guard = guard;
            record.with_key_name(converse(upgrade, limit, answerer, stop, &record)).await;
        });
    }
    let mut response = respond(StatusCode::SWITCHING_PROTOCOLS, "", "");
    let headers = response.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    if let Ok(accept) = HeaderValue::from_str(&derive_accept_key(key.as_bytes())) {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    }
    response
}

/// Refuses a handshake because of the parameters of its address.
pub(crate) fn refuse_address(reason: &str) -> Response {
    respond(StatusCode::BAD_REQUEST, "text/plain", format!("{reason}\n"))
}

type Socket = WebSocketStream<TokioIo<Upgraded>>;

async fn converse(
    upgrade: OnUpgrade,
    limit: usize,
    answerer: impl Answerer,
    mut stop: watch::Receiver<bool>,
    record: &RequestRecord,
) {
    let Ok(upgraded) = upgrade.await else { return };
    let limits = WebSocketConfig::default()
        .max_message_size(Some(limit))
        .max_frame_size(Some(limit))
        .max_write_buffer_size(usize::MAX);
    let io = TokioIo::new(upgraded);
    let mut socket = WebSocketStream::from_raw_socket(io, Role::Server, Some(limits)).await;
    // A message that arrived while the previous one was answered.
    let mut next = None;
    loop {
        let is_stopping = *stop.borrow();
        if is_stopping {
            return close(&mut socket, 1001, "the server is stopping").await;
        }
        let message = match next.take() {
            Some(message) => Some(message),
            None => tokio::select! {
                message = receive(&mut socket) => message,
                _ = stop.changed() => return close(&mut socket, 1001, "the server is stopping").await,
            },
        };
        let text = match message {
            None => return,
            Some(Ok(text)) => text,
            Some(Err((code, reason))) => return close(&mut socket, code, &reason).await,
        };
        let answer = answerer.answer(text);
        tokio::pin!(answer);
        let answer = loop {
            tokio::select! {
                answer = answer.as_mut() => break answer,
                message = receive(&mut socket), if next.is_none() => match message {
                    // Nobody waits for the answer: dropping it cancels the search.
                    None => return,
                    message => next = message,
                },
            }
        };
        match answer {
            Ok(text) => {
                let bytes = text.len();
                let sent = tokio::time::timeout(MAX_SEND, socket.send(Message::text(text))).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return;
                }
                record.add_bytes(bytes);
            }
            Err((code, reason)) => return close(&mut socket, code, &reason).await,
        }
    }
}

/// Reads the next message with content. Returns `None` when the other side has disconnected.
async fn receive(socket: &mut Socket) -> Option<Result<String, (u16, String)>> {
    loop {
        return Some(match socket.next().await? {
            Ok(Message::Text(text)) => Ok(text.as_str().to_owned()),
            Ok(Message::Binary(bytes)) => match String::from_utf8(bytes.to_vec()) {
                Ok(text) => Ok(text),
                Err(_) => Err((1007, "the message is not UTF-8".into())),
            },
            Ok(Message::Close(_)) => {
                // Sends the reply, which reports an invalid code.
                drain(socket).await;
                return None;
            }
            Ok(_) => continue,
            Err(Error::Capacity(_)) => Err((1009, "the message is too large".into())),
            Err(Error::Utf8(_)) => Err((1007, "the message is not UTF-8".into())),
            // The connection broke, so there is nothing to answer.
            Err(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => return None,
            Err(Error::Protocol(error)) => Err((1002, error.to_string())),
            Err(_) => return None,
        });
    }
}

async fn close(socket: &mut Socket, code: u16, reason: &str) {
    // A reason has at most 123 bytes.
    let mut end = reason.len().min(120);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let frame = CloseFrame { code: CloseCode::from(code), reason: reason[..end].to_owned().into() };
    let _ = tokio::time::timeout(Duration::from_secs(5), socket.close(Some(frame))).await;
    drain(socket).await;
}

/// Sends the queued messages, and reads until the other side closes, at most for a second.
async fn drain(socket: &mut Socket) {
    let read = async { while let Some(Ok(_)) = socket.next().await {} };
    let _ = tokio::time::timeout(Duration::from_secs(1), read).await;
}
