//! The configuration of a server: what a reload applies, what a check finds, and the effect of
//! keys, names of models and logs.

use std::io::Read;
use std::process::Stdio;

use serde_json::{Value, json};

use super::client::{Client, Server};
use super::running::status;
use super::websockets::Socket;
use super::{toy, toy_neural};
use crate::common::{lossy_text, miriam, project_root};

/// The file that lists `secret` as the key of `one`: `printf secret | sha256sum`.
const KEYS: &str = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b one\n";

/// A reload begins no new minute of a quota. Reloads themselves are not counted.
#[test]
fn a_reload_keeps_what_a_key_has_used() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    let ini = project_root().join("examples/toy/moses.ini").canonicalize().unwrap();
    let text = format!("api-keys = \"keys\"\n[[model]]\nname = \"toy\"\npath = {ini:?}\n");
    std::fs::write(&config, text).unwrap();
    let keys = KEYS.replace("one", "one rpm=1 admin");
    std::fs::write(folder.path().join("keys"), &keys).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    let ask = |path: &str| {
        let mut client = Client::connect(&server.address);
        let body = json!({"text": "the house"}).to_string();
        let headers = [("Authorization", "Bearer secret")];
        client.request("POST", path, &headers, body.as_bytes()).status
    };
    let (translate, reload) = ("/v1/translate", "/v1/models/toy/reload");
    assert_eq!([translate, translate, reload, translate].map(ask), [200, 429, 200, 429]);
    // A new quota applies to what was used before.
    std::fs::write(folder.path().join("keys"), keys.replace("rpm=1", "rpm=2")).unwrap();
    assert_eq!([reload, translate, translate].map(ask), [200, 200, 429]);
}

/// A reload applies models, keys and the pivot language. Keys apply even if other changes need a
/// restart, and these changes are named.
#[test]
fn a_reload_names_changes_that_need_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let ini = project_root().join("examples/toy/moses.ini").canonicalize().unwrap();
    let write = |settings: &str| {
        let text = format!("{settings}\n[[model]]\nname = \"toy\"\npath = {ini:?}\n");
        std::fs::write(path("serve.toml"), text).unwrap();
    };
    write("");
    let mut command = miriam();
    command.args(["serve", "--threads", "1", "--listen", "127.0.0.1:0", "--config"]);
    let mut server = Server::start_by(command.arg(path("serve.toml")).stderr(Stdio::piped()));
    server.wait_until_ready();
    let ask = |key: &str| {
        let mut client = Client::connect(&server.address);
        let value = format!("Bearer {key}");
        let body = json!({"text": "the house"}).to_string();
        client.request("POST", "/v1/translate", &[("Authorization", &value)], body.as_bytes())
    };
    assert_eq!(ask("secret").status, 200);
    std::fs::write(path("keys"), KEYS.replace("one", "one admin")).unwrap();
    write("api-keys = \"keys\"\nno-page = true\n[limits]\nlines = 2\n");
    server.signal("HUP");
    server.wait_for("a reload", |server| {
        server.get("/readyz").json()["restart-needed-for"] == json!(["no-page", "limits"])
    });
    assert_eq!((ask("secret").status, ask("other").status), (200, 401));
    assert_eq!(ask("other").header("www-authenticate"), "Bearer");
    assert_eq!(server.get("/readyz").json()["degraded"], json!(true));
    write("api-keys = \"keys\"\n");
    server.signal("HUP");
    server.wait_for("a reload", |server| server.get("/readyz").json()["degraded"] == json!(false));
    // An administrator who asks for a reload learns why the file was not read.
    let reload = || {
        let mut client = Client::connect(&server.address);
        client.request("POST", "/v1/models/toy/reload", &[("Authorization", "Bearer secret")], b"")
    };
    assert_eq!(reload().status, 200);
    write("lissten = []\napi-keys = \"keys\"\n");
    let refused = reload();
    assert_eq!(refused.status, 500);
    assert!(refused.text().contains("lissten"), "{}", refused.text());
    server.signal("TERM");
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(status(&mut server).code(), Some(0), "{log}");
    assert!(log.contains("no-page, limits: changed in the configuration"), "{log}");
}

/// `--check` finds these faults before a start or a reload does.
#[test]
fn a_check_covers_keys_addresses_groups_and_folders() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let ini = project_root().join("examples/toy/moses.ini").canonicalize().unwrap();
    std::fs::write(path("bad-keys"), "short name\n").unwrap();
    std::fs::write(path("file"), "").unwrap();
    let check = |settings: &str| {
        let text = format!("{settings}\n[[model]]\nname = \"toy\"\npath = {ini:?}\n");
        std::fs::write(path("serve.toml"), text).unwrap();
        let mut command = miriam();
        command.args(["serve", "--check", "--config"]).arg(path("serve.toml"));
        command.output().unwrap()
    };
    assert_eq!(check("listen = [\"127.0.0.1:0\"]").status.code(), Some(0));
    assert_eq!(check("listen = [\"0.0.0.0:8386\", \"[::]:8386\"]").status.code(), Some(0));
    let without_keys = check("api-keys = \"file\"");
    assert!(without_keys.status.success());
    assert!(lossy_text(&without_keys.stderr).contains("file: the file has no key"));
    let file = path("file");
    for (settings, part) in [
        ("api-keys = \"none\"".to_owned(), "none"),
        ("api-keys = \"bad-keys\"".to_owned(), "bad-keys, line 1"),
        ("listen = [\"127.0.0.1\"]".to_owned(), "--listen 127.0.0.1: give ADDRESS:PORT"),
        ("metrics = \"9090\"".to_owned(), "--metrics 9090: give ADDRESS:PORT"),
        (
            "listen = [\"[::]:8386\", \"[::1]:8386\"]".to_owned(),
            "[::1]:8386 is listened to already",
        ),
        (
            "metrics = \"127.0.0.1:8405\"\nlisten = [\"127.0.0.1:8405\"]".to_owned(),
            "127.0.0.1:8405 is listened to already",
        ),
        ("metrics = \"0.0.0.0:8080\"".to_owned(), "0.0.0.0:8080 is listened to already"),
        ("access-log = \"nowhere/x\"".to_owned(), "nowhere/x"),
        (format!("unix = [{file:?}]"), "not a socket"),
        ("unix = [\"/nowhere/x\"]".to_owned(), "/nowhere/x"),
        (format!("unix = [{:?}]\nunix-group = \"nogrp\"", path("s")), "nogrp"),
        (format!("unix = [{:?}]", path(&"s".repeat(120))), "a socket's at most 107"),
        ("threads = 0".to_owned(), "threads is 0; give a number from 1 to 4096"),
        ("api-keys = \"\"".to_owned(), "api-keys: the path is empty"),
        (
            "listen = \"127.0.0.1:0\"".to_owned(),
            "line 1: listen: expected a list; write [\"127.0.0.1:0\"]",
        ),
    ] {
        let output = check(&settings);
        let message = lossy_text(&output.stderr);
        assert!(!output.status.success() && message.contains(part), "{settings}: {message}");
    }
}

/// Clients of OpenNMT name a model in the address or by an id.
#[test]
fn opennmts_address_names_a_model() {
    let server = Server::start(&["--model", &toy(), "--model", &toy_neural()]);
    let ask = |query: &str, body: Value| {
        server.post_json(&format!("/translator/translate{query}"), &body).json()
    };
    let text = "the old doctor buys two red apples .";
    let by_model = |model: &str| ask(&format!("?model={model}"), json!([{"src": text}]));
    let by_id = |id: &str| ask("", json!([{"src": text, "id": id}]));
    for model in ["toy", "neural"] {
        assert_eq!(by_model(model), by_id(model), "{model}");
    }
    assert_ne!(by_model("toy"), by_model("neural"));
    // The address decides, because clients always send an id.
    let by_both = |id: Value| ask("?model=neural", json!([{"src": text, "id": id}]));
    for id in [json!(0), json!(100), json!("toy")] {
        assert_eq!(by_both(id), by_model("neural"));
    }
    let mixed = ask("", json!([{"src": text, "id": 0}, {"src": text, "id": 1}]));
    assert_eq!(mixed[0][0], by_id("toy")[0][0], "{mixed}");
    let refused = by_model("none");
    assert!(refused["error"].as_str().unwrap().contains("No such model 'none'"), "{refused}");
}

/// The first default model counts, and the log says so.
#[test]
fn a_second_default_model_gives_a_warning() {
    let ini = project_root().join("examples/toy/moses.ini").display().to_string();
    let mut command = miriam();
    command.args(["serve", "--check", "--model", &format!("a={ini},default=true")]);
    let one = command.output().unwrap();
    let two = command.args(["--model", &format!("b={ini},default=true")]).output().unwrap();
    let messages = [one, two].map(|output| {
        assert!(output.status.success(), "{output:?}");
        lossy_text(&output.stderr)
    });
    let warning = "models a and b both have default = true";
    assert_eq!(messages.map(|message| message.contains(warning)), [false, true]);
}

/// OpenNMT's numbers of models count those that did not open.
#[test]
fn opennmts_numbers_are_those_of_the_configuration() {
    let mut command = miriam();
    command.args(["serve", "--threads", "1", "--listen", "127.0.0.1:0"]);
    command.args(["--model", "absent=/does/not/exist/moses.ini", "--model", &toy()]);
    let server = Server::start_by(&mut command);
    server.wait_for("the models", |server| server.get("/readyz").json()["loading"] == json!([]));
    let ask = |id: u64| {
        server.post_json("/translator/translate", &json!([{"src": "the house", "id": id}]))
    };
    let refused = ask(0);
    assert_eq!(refused.status, 503);
    assert_eq!(refused.json()["error"], "the model \"absent\" did not open");
    assert_eq!(ask(1).json()[0][0]["tgt"], "la casa");
    let models = server.get("/translator/models").json();
    assert_eq!([&models[0]["loaded"], &models[1]["loaded"]], [&json!(false), &json!(true)]);
    // Nor does a request get another model than the first one in other protocols.
    assert_eq!(server.post_json("/v1/translate", &json!({"text": "the house"})).status, 503);
}

/// The log names the owner of the key of a request, rejected or not, `bench serve` can measure a
/// server that requires a key, and websockets take it in the address.
#[test]
fn keys_have_names_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("keys"), KEYS).unwrap();
    let mut command = miriam();
    command.args(["serve", "--threads", "1", "--listen", "127.0.0.1:0", "--model", &toy()]);
    command.arg("--api-keys").arg(path("keys")).arg("--access-log").arg(path("log"));
    let server = Server::start_by(&mut command);
    server.wait_until_ready();
    let bench = |key: &[&str]| {
        let mut command = miriam();
        let url = format!("http://{}", server.address);
        command.args(["bench", "serve", &url, "--clients", "1", "--requests", "2"]).args(key);
        command.arg("-i").arg(project_root().join("examples/toy/input.txt"));
        command.env_remove("MIRIAM_KEY").arg("-o").arg(path("load")).output().unwrap()
    };
    let refused = bench(&[]);
    assert!(lossy_text(&refused.stderr).contains("401"), "{refused:?}");
    let measured = bench(&["--key", "secret"]);
    assert!(measured.status.success(), "{measured:?}");
    for (path, message) in [("/opus", "en-es the house"), ("/translate", "the house")] {
        let found = Socket::open(&server, &format!("{path}?api_key=secret")).ask(message);
        assert!(found.contains("la casa"), "{path}: {found}");
    }
    let mut client = Client::connect(&server.address);
    let key = [("Authorization", "Bearer secret")];
    let reload = "/v1/models/toy/reload";
    assert_eq!(client.request("POST", reload, &key, b"").status, 403, "no administrator");
    let wrong_method = client.request("GET", reload, &key, b"");
    assert_eq!((wrong_method.status, wrong_method.header("allow")), (405, "POST"));
    let log = std::fs::read_to_string(path("log")).unwrap();
    let rejected = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let rejected = rejected.filter(|line| line["status"] == 403);
    assert_eq!(rejected.map(|line| line["key"].clone()).collect::<Vec<_>>(), ["one"]);
    let answered = |status: u64| -> Vec<Value> {
        let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["path"] == "/v1/translate" && line["status"] == status).collect()
    };
    assert!(!answered(200).is_empty() && answered(200).iter().all(|line| line["key"] == "one"));
    assert!(!answered(401).is_empty() && answered(401).iter().all(|line| line["key"].is_null()));
}

/// Typing errors in the keys of `--model` are rejected, not read as something else.
#[test]
fn languages_and_keys_of_models_are_checked() {
    let path = toy().split_once('=').unwrap().1.to_owned();
    let path = path.split_once(',').map_or(path.clone(), |(path, _)| path.to_owned());
    for (keys, message) in [
        ("from=en to=es", "from has the language \"en to=es\""),
        ("from=en;de,to=es", "from has the language \"en;de\""),
        ("from=,to=es", "from has the language \"\""),
        ("from=en,from=de", "from is given twice; write several as a+b"),
        ("default=yes", "default=yes: give true or false"),
    ] {
        let mut command = crate::common::miriam();
        command.args(["serve", "--check", "--model", &format!("a={path},{keys}")]);
        let output = command.output().unwrap();
        let messages = crate::common::lossy_text(&output.stderr);
        assert!(!output.status.success() && messages.contains(message), "{keys}: {messages}");
    }
}

/// The default model gets the requests for its languages, whatever the order of the models.
#[test]
fn the_default_model_is_preferred_where_a_request_names_languages() {
    let toy = toy();
    let default = format!("{},default=true", toy_neural());
    let server = Server::start(&["--model", &toy, "--model", &default]);
    let body = json!({"text": "the house", "from": "en", "to": "es"});
    let found = server.post_json("/v1/translate", &body).json();
    assert!(found["model"].as_str().unwrap().starts_with("neural@"), "{found}");
    let problem = server.get("/v1/nothing");
    assert_eq!(problem.status, 404);
    assert_eq!(problem.header("content-type"), "application/problem+json");
    for path in ["/v1/tokenize", "/v1/score"] {
        let body = match path {
            "/v1/score" => json!({"source": "a\nb", "target": "a"}),
            _ => json!({"language": "en", "text": "a\nb"}),
        };
        assert_eq!(server.post_json(path, &body).status, 400, "{path}");
    }
}
