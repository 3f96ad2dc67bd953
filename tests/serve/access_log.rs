//! Requests in the log and in the measurements: those that are given up, streams and websockets.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

use super::client::{Client, Server};
use super::websockets::Socket;
use super::{lines, toy, toy_neural};

/// Starts a server with a log; returns the folder of the log and the server.
fn with_log(model: &str) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = Server::start(&["--model", model, "--access-log", log.to_str().unwrap()]);
    (folder, server)
}

/// Returns the first line of the log in which `key` has this value, if it is written.
fn find_line(folder: &tempfile::TempDir, key: &str, value: &str) -> Option<Value> {
    let text = std::fs::read_to_string(folder.path().join("log")).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.find(|line| line[key] == value)
}

/// Waits for the line of [`find_line`], and returns it.
fn wait_for_line(folder: &tempfile::TempDir, server: &Server, key: &str, value: &str) -> Value {
    server.wait_for("a line of the log", |_| find_line(folder, key, value).is_some());
    find_line(folder, key, value).unwrap()
}

/// Returns lines of the toy's language as a stream of JSON.
fn json_lines(count: usize) -> String {
    lines(count).iter().map(|line| json!(line).to_string() + "\n").collect()
}

/// The status is 499, as nginx logs requests whose clients do not wait any longer.
#[test]
fn requests_that_are_given_up_are_logged_and_counted() {
    let (folder, server) = with_log(&toy_neural());
    let body = json!({"text": lines(4000), "n_best": 4}).to_string();
    let mut client = Client::connect(&server.address);
    let head = format!(
        "POST /v1/translate HTTP/1.1\r\nHost: x\r\nX-Request-Id: gone\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    client.0.get_mut().write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
    server.wait_for("the search to begin", |server| {
        server.metric("miriam_sentences_total", "outcome=\"ok\"") > 1.0
    });
    drop(client);
    let line = wait_for_line(&folder, &server, "id", "gone");
    assert_eq!((&line["status"], &line["bytes"]), (&json!(499), &json!(0)));
    assert_eq!(server.metric("miriam_requests_total", "api=\"v1\",status=\"499\""), 1.0);
    // Sentences that were not searched are counted, too.
    server.wait_for("the queue to be empty", |server| {
        server.metric("miriam_queued_words", "") == 0.0
    });
    let cancelled = server.metric("miriam_sentences_total", "outcome=\"cancelled\"");
    assert!(cancelled > 300.0, "{cancelled} sentences");
}

/// A stream is logged with its whole time and all its bytes. Its time is not in the histogram of
/// times.
#[test]
fn streams_are_logged_when_they_end() {
    let (folder, server) = with_log(&toy_neural());
    let mut client = Client::connect(&server.address);
    let path = "/v1/translate?stream=1";
    let whole = [("X-Request-Id", "whole")];
    let found = client.request("POST", path, &whole, json_lines(20).as_bytes());
    let line = wait_for_line(&folder, &server, "id", "whole");
    assert_eq!((&line["status"], &line["bytes"]), (&json!(200), &json!(found.body.len())));
    assert_eq!(server.metric("miriam_request_seconds_count", "api=\"v1\""), 0.0);
    // A stream whose client reads the first line and goes away.
    let body = json_lines(2000);
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: half\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    client.0.get_mut().write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        assert!(client.0.read_line(&mut line).unwrap() > 0, "the server closed");
    }
    let first = client.chunk().unwrap();
    drop(client);
    let line = wait_for_line(&folder, &server, "id", "half");
    assert_eq!(line["status"], 499);
    assert!(line["bytes"].as_u64().unwrap() >= first.len() as u64, "{line}");
}

#[test]
fn websockets_are_logged_when_they_are_closed() {
    let (folder, server) = with_log(&toy());
    let mut socket = Socket::open(&server, "/translate");
    let bytes = socket.ask("the house").len() + socket.ask("the dog").len();
    assert!(find_line(&folder, "path", "/translate").is_none());
    drop(socket);
    let line = wait_for_line(&folder, &server, "path", "/translate");
    assert_eq!((&line["status"], &line["bytes"]), (&json!(101), &json!(bytes)));
    assert_eq!(server.metric("miriam_requests_total", "status=\"101\""), 1.0);
    assert_eq!(server.metric("miriam_request_seconds_count", "api=\"marian\""), 0.0);
}
