//! Requests of each protocol as bytes, prepared before the measurement.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::ServingOptions;
use crate::error::{Error, Result};

/// A protocol of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `POST /v1/translate`.
    V1,
    /// LibreTranslate's `POST /translate`.
    Libre,
    /// Moses' XML-RPC.
    XmlRpc,
    /// Marian's websocket.
    Marian,
    /// `POST /v1/perplexity` of a language model, whose scoring takes so little time that mainly
    /// the server's overhead is measured.
    Perplexity,
}

impl Protocol {
    /// All protocols with their names.
    pub const ALL: [(Protocol, &str); 5] = [
        (Protocol::V1, "v1"),
        (Protocol::Libre, "libre"),
        (Protocol::XmlRpc, "xmlrpc"),
        (Protocol::Marian, "marian"),
        (Protocol::Perplexity, "perplexity"),
    ];
}

/// Requests, and the handshake of their connections.
pub(super) struct RequestBytes {
    /// The request of each line: for HTTP with its head, for websockets only the message.
    pub all: Vec<Vec<u8>>,
    /// The request that upgrades a connection to a websocket.
    pub handshake: Option<Vec<u8>>,
}

impl Protocol {
    /// Returns the requests of `lines`.
    pub(super) fn requests(
        self,
        lines: &[String],
        options: &ServingOptions,
        address: &SocketAddr,
    ) -> Result<RequestBytes> {
        let [from, to] = &options.languages;
        let model = options.model.as_deref();
        if self == Protocol::Libre && (from.is_none() || to.is_none()) {
            return Err(Error::unmeasurable(
                "LibreTranslate needs languages; give --from and --to",
            ));
        }
        let path_fields = [("model", model), ("from", from.as_deref()), ("to", to.as_deref())];
        let query: Vec<String> = path_fields
            .iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", percent_encode((*value)?))))
            .collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        let key = options.key.as_deref();
        let key = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
        let post = |path: &str, media_type: &str, body: String| {
            format!(
                "POST {path} HTTP/1.1\r\nHost: {address}\r\n{key}Content-Type: {media_type}\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .into_bytes()
        };
        fn json_of(line: &str, path_fields: &[(&str, Option<&str>); 3]) -> String {
            let mut body = json!({"text": line});
            for (name, value) in *path_fields {
                if let Some(value) = value {
                    body[name] = Value::from(value);
                }
            }
            body.to_string()
        }
        // The key is the example of RFC 6455; any key is valid.
        let handshake = (self == Protocol::Marian).then(|| {
            format!(
                "GET /translate{query} HTTP/1.1\r\nHost: {address}\r\n{key}Upgrade: websocket\r\n\
                 Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            )
            .into_bytes()
        });
        Ok(RequestBytes {
            all: lines
                .iter()
                .map(|line| match self {
                    Protocol::V1 => {
                        post("/v1/translate", "application/json", json_of(line, &path_fields))
                    }
                    Protocol::Perplexity => {
                        let mut body = json!({"text": line});
                        if let Some(model) = model {
                            body["model"] = Value::from(model);
                        }
                        post("/v1/perplexity", "application/json", body.to_string())
                    }
                    Protocol::Libre => {
                        let body = json!({"q": line, "source": from, "target": to});
                        post("/translate", "application/json", body.to_string())
                    }
                    Protocol::XmlRpc => {
                        let text =
                            line.replace('&', "&amp;").replace('<', "&lt;").replace(']', "&#93;");
                        let body = format!(
                            "<?xml version=\"1.0\"?><methodCall><methodName>translate</methodName>\
                     <params><param><value><struct><member><name>text</name><value><string>{text}\
                     </string></value></member></struct></value></param></params></methodCall>"
                        );
                        post(&format!("/RPC2{query}"), "text/xml", body)
                    }
                    Protocol::Marian => line.clone().into_bytes(),
                })
                .collect(),
            handshake,
        })
    }
}

/// Percent-encodes a value of a URL's query.
fn percent_encode(text: &str) -> String {
    fn is_plain(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)
    }
    text.bytes()
        .map(
            |byte| {
                if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
            },
        )
        .collect()
}
