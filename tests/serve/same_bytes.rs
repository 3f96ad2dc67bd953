//! A thousand lines, or some of them, over most protocols, from one, eight or sixty-four clients at
//! once: each client gets what the command line prints. [`super::languages`] tests the same for
//! every pair of every kind of multilingual model.

use serde_json::json;

use super::client::{Client, Server};
use super::websockets::Socket;
use super::{lines, nmt_translate, output, toy_neural};
use crate::common::{lossy_text, miriam, project_root, read_decompressed, shared_data};

/// A protocol that is spoken on a persistent connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Protocol {
    V1,
    V1Stream,
    XmlRpc,
    Libre,
    OpenNmt,
    DeepL,
    OpusMt,
    OpusMtSocket,
    OpusCat,
    Marian,
}

impl Protocol {
    pub const ALL: [Protocol; 10] = [
        Protocol::V1,
        Protocol::V1Stream,
        Protocol::XmlRpc,
        Protocol::Libre,
        Protocol::OpenNmt,
        Protocol::DeepL,
        Protocol::OpusMt,
        Protocol::OpusMtSocket,
        Protocol::OpusCat,
        Protocol::Marian,
    ];
}

/// Source and target language.
pub type Pair<'a> = [&'a str; 2];

/// The pair of the toys.
const TOY_PAIR: Pair = ["en", "es"];

pub enum Connection {
    Http(Client),
    Socket(Socket),
}

impl Connection {
    pub fn open(server: &Server, protocol: Protocol, [from, to]: Pair) -> Self {
        match protocol {
            Protocol::Marian => {
                let path = format!("/translate?from={from}&to={to}");
                Connection::Socket(Socket::open(server, &path))
            }
            Protocol::OpusMtSocket => Connection::Socket(Socket::open(server, "/opus")),
            _ => Connection::Http(Client::connect(&server.address)),
        }
    }

    /// Returns the translation of a line, without white space at its end.
    pub fn translate(&mut self, protocol: Protocol, [from, to]: Pair, line: &str) -> String {
        let client = match self {
            Connection::Socket(socket) if protocol == Protocol::Marian => {
                return socket.ask(line).trim_end().to_owned();
            }
            Connection::Socket(socket) => {
                let message = json!({"text": line, "source": from, "target": to}).to_string();
                let answer: serde_json::Value =
                    serde_json::from_str(&socket.ask(&message)).unwrap();
                let text = answer["result"].as_str().unwrap_or_else(|| panic!("{answer}"));
                return text.trim_end().to_owned();
            }
            Connection::Http(client) => client,
        };
        let mut post = |path: &str, body: String| {
            let response = client.request("POST", path, &json_type(), body.as_bytes());
            assert_eq!(response.status, 200, "{}", response.text());
            response
        };
        let body = match protocol {
            Protocol::XmlRpc => {
                let escaped = line.replace('&', "&amp;").replace('<', "&lt;");
                let body = format!(
                    "<methodCall><methodName>translate</methodName><params><param><value><struct>\
                     <member><name>text</name><value>{escaped}</value></member></struct></value>\
                     </param></params></methodCall>"
                );
                let text = post(&format!("/RPC2?from={from}&to={to}"), body).text();
                let document = roxmltree::Document::parse(&text).unwrap();
                let string = document.descendants().find(|node| node.has_tag_name("string"));
                return string.unwrap().text().unwrap_or_default().trim_end().to_owned();
            }
            Protocol::V1 => {
                let body = json!({"text": line, "from": from, "to": to, "raw": false});
                let found = post("/v1/translate", body.to_string());
                found.json()["results"][0]["translations"][0]["text"].clone()
            }
            Protocol::V1Stream => {
                let body = json!({"text": line, "from": from, "to": to, "raw": false});
                let found = post("/v1/translate?stream=1", format!("{body}\n"));
                found.json()["results"][0]["translations"][0]["text"].clone()
            }
            Protocol::Libre => {
                let body = json!({"q": line, "source": from, "target": to}).to_string();
                post("/translate", body).json()["translatedText"].clone()
            }
            Protocol::OpenNmt => {
                let path = format!("/translator/translate?from={from}&to={to}");
                post(&path, json!([{"src": line}]).to_string()).json()[0][0]["tgt"].clone()
            }
            Protocol::DeepL => {
                let (from, to) = (from.to_uppercase(), to.to_uppercase());
                let body = json!({
                    "text": [line], "source_lang": from, "target_lang": to, "split_sentences": "0",
                });
                post("/v2/translate", body.to_string()).json()["translations"][0]["text"].clone()
            }
            Protocol::OpusMt => {
                let body = json!({"source": line, "from": from, "to": to}).to_string();
                post("/api/translate", body).json()["translation"].clone()
            }
            Protocol::OpusCat => {
                let body = json!({
                    "input": line, "srcLangCode": from, "trgLangCode": to,
                    "inputIsSingleSentence": true,
                });
                let found = post("/MtRestService/TranslateJson", body.to_string()).json();
                found["translation"].clone()
            }
            Protocol::Marian | Protocol::OpusMtSocket => unreachable!("they have a websocket"),
        };
        body.as_str().unwrap_or_else(|| panic!("{protocol:?}: {body}")).trim_end().to_owned()
    }
}

fn json_type() -> [(&'static str, &'static str); 1] {
    [("Content-Type", "application/json")]
}

/// Checks the translations of all lines, which are divided between `clients` clients at once.
fn assert_same(server: &Server, protocol: Protocol, clients: usize, pairs: &[(String, String)]) {
    std::thread::scope(|scope| {
        for client in 0..clients {
            scope.spawn(move || {
                let mut connection = Connection::open(server, protocol, TOY_PAIR);
                for (line, expected) in pairs.iter().skip(client).step_by(clients) {
                    let found = connection.translate(protocol, TOY_PAIR, line);
                    assert_eq!(found, *expected, "{protocol:?}, {clients} clients: {line}");
                }
            });
        }
    });
}

fn pairs(lines: Vec<String>, expected: Vec<String>) -> Vec<(String, String)> {
    assert_eq!(lines.len(), expected.len());
    let expected = expected.into_iter().map(|line| line.trim_end().to_owned());
    lines.into_iter().zip(expected).collect()
}

#[test]
fn sixty_four_clients_of_a_neural_model_get_the_lines_of_the_command_line() {
    let lines = lines(1000);
    let expected = nmt_translate(&lines, &[]);
    let pairs = pairs(lines, expected);
    let server = Server::start(&["--model", &toy_neural()]);
    for protocol in [
        Protocol::V1,
        Protocol::XmlRpc,
        Protocol::Libre,
        Protocol::OpenNmt,
        Protocol::DeepL,
        Protocol::Marian,
    ] {
        assert_same(&server, protocol, 64, &pairs);
    }
    assert_same(&server, Protocol::V1, 1, &pairs[..200]);
    assert_same(&server, Protocol::Marian, 8, &pairs);
}

/// A system over real text if the data are there, else the toy.
#[test]
fn sixty_four_clients_of_a_phrase_based_system_get_the_lines_of_the_command_line() {
    let (ini, lines) = match shared_data("m30k-de-en") {
        Some(data) => {
            let text = lossy_text(&read_decompressed(&data.join("corpus/test.de.gz")));
            (data.join("text.ini"), text.lines().take(1000).map(str::to_owned).collect())
        }
        None => (project_root().join("examples/toy/moses.ini"), lines(1000)),
    };
    // A narrow search is enough, because the quality is not compared.
    let narrow = ["-search-algorithm", "1", "-cube-pruning-pop-limit", "20", "-s", "20"];
    let mut command = miriam();
    command.args(["translate", "-quiet", "-f"]).arg(&ini).args(narrow);
    let expected = output(&mut command, &lines);
    let pairs = pairs(lines, expected);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    let text = format!(
        "[[model]]\nname = \"m\"\npath = {ini:?}\nfrom = [\"en\"]\nto = [\"es\"]\nraw = false\n\
         options = {narrow:?}\n"
    );
    std::fs::write(&config, text).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    for (protocol, clients) in [
        (Protocol::V1, 64),
        (Protocol::XmlRpc, 64),
        (Protocol::OpenNmt, 64),
        (Protocol::Marian, 64),
        (Protocol::V1, 8),
        (Protocol::XmlRpc, 1),
    ] {
        assert_same(&server, protocol, clients, &pairs);
    }
}
