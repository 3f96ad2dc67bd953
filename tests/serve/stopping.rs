//! Streams of JSON lines when the server is stopped.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

use super::client::{Client, Server};
use super::running::status;
use super::{lines, toy, toy_neural};

/// A stream that began before the signal gets all of its answers.
#[test]
fn a_stopped_server_finishes_streams() {
    let mut server = Server::start(&["--model", &toy_neural()]);
    let body: String = lines(600).iter().map(|line| json!(line).to_string() + "\n").collect();
    let address = server.address.clone();
    let request = std::thread::spawn(move || {
        let mut client = Client::connect(&address);
        client.request("POST", "/v1/translate?stream=1", &[], body.as_bytes())
    });
    server.wait_for("the search to begin", |server| {
        server.metric("miriam_sentences_total", "outcome=\"ok\"") > 1.0
    });
    server.signal("TERM");
    let response = request.join().unwrap();
    assert_eq!(response.status, 200);
    let text = response.text();
    let answers: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 600);
    let failed = answers.iter().find(|answer| answer["results"].is_null());
    assert!(failed.is_none(), "{failed:?}");
    assert_eq!(status(&mut server).code(), Some(0));
}

/// A stream whose client goes on sending ends before the server does, and its last answer names the
/// first line that is not translated.
#[test]
fn an_endless_stream_ends_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    std::fs::write(&config, "[limits]\ngrace-seconds = 2\n").unwrap();
    let config = config.to_str().unwrap();
    let mut server = Server::start(&["--config", config, "--model", &toy()]);
    let mut client = Client::connect(&server.address);
    let head = "POST /v1/translate?stream=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n";
    client.0.get_mut().write_all(format!("{head}\"the house\"\n").as_bytes()).unwrap();
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        assert!(client.0.read_line(&mut line).unwrap() > 0, "the server closed");
    }
    let mut next = || client.chunk().map(|bytes| serde_json::from_slice::<Value>(&bytes).unwrap());
    assert_eq!(next().unwrap()["line"], 1);
    server.signal("TERM");
    let last = next().unwrap();
    assert_eq!((&last["line"], &last["error"]["status"]), (&json!(2), &json!(503)));
    assert_eq!(next(), None);
    assert_eq!(status(&mut server).code(), Some(0));
}
