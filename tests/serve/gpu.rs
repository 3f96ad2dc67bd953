//! A model on a GPU: its translations, and sentences that are dropped at a deadline or when their
//! client goes away. Instead of a GPU there is a library that replaces the driver and interprets
//! the kernels.

use std::io::Write;
use std::net::{Shutdown, TcpStream};

use serde_json::{Value, json};

use super::client::Server;
use super::{lines, nmt_translate};
use crate::common::{emulated_gpu, miriam, project_root};

#[test]
fn a_model_on_a_gpu_translates_as_on_the_cpu_and_drops_sentences() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    let model = project_root().join("examples/toy-neural/decoder.yml").canonicalize().unwrap();
    let text = format!("[[model]]\nname = \"neural\"\npath = {model:?}\ndevice = \"cuda:0\"\n");
    std::fs::write(&config, text).unwrap();
    let mut command = miriam();
    command.args(["serve", "--threads", "2", "--listen", "127.0.0.1:0", "--config"]).arg(&config);
    let server = Server::start_by(command.envs(emulated_gpu("seed=4")));
    server.wait_until_ready();
    let few = lines(3);
    let expected = nmt_translate(&few, &["--precision", "f32"]);
    let assert_is_answered = || {
        let response = server.post_json("/v1/translate", &json!({"text": few}));
        assert_eq!(response.status, 200, "{}", response.text());
        let best = |result: &Value| result["translations"][0]["text"].clone();
        let found = response.json();
        let found: Vec<Value> = found["results"].as_array().unwrap().iter().map(best).collect();
        assert_eq!(json!(found), json!(expected));
    };
    assert_is_answered();
    let many = lines(16);
    let sentences = |server: &Server, outcome: &str| {
        server.metric("miriam_sentences_total", &format!("outcome=\"{outcome}\""))
    };
    let dropped = |server: &Server| sentences(server, "timeout") + sentences(server, "cancelled");
    let late = server.post_json("/v1/translate", &json!({"text": many, "timeout_ms": 500}));
    assert_eq!(late.status, 504, "{}", late.text());
    server.wait_for("the sentences of the late request to go", |server| dropped(server) > 0.0);
    let (before, done) = (dropped(&server), sentences(&server, "ok"));
    let body = json!({"text": many}).to_string();
    let length = body.len();
    let head =
        format!("POST /v1/translate HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
    let mut client = TcpStream::connect(&server.address).unwrap();
    client.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
    server.wait_for("the search to begin", |server| sentences(server, "ok") > done);
    client.shutdown(Shutdown::Both).unwrap();
    server.wait_for("the sentences of the client to go", |server| dropped(server) > before);
    assert_is_answered();
    assert_eq!(sentences(&server, "error"), 0.0);
}
