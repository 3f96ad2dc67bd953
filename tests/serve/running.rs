//! Starting, reloading and stopping.

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{PATIENCE, Server};
use super::{lines, toy, toy_neural};
use crate::common::{lossy_text, miriam, project_root};

/// Waits until the server has ended by itself, and returns its exit status.
pub(super) fn status(server: &mut Server) -> std::process::ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = server.child.try_wait().unwrap() {
            return status;
        }
        assert!(began.elapsed() < PATIENCE, "the server does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_stopped_server_finishes_what_is_under_way() {
    let mut server = Server::start(&["--model", &toy_neural()]);
    let body = json!({"text": lines(600)});
    let address = server.address.clone();
    let request = std::thread::spawn(move || {
        let mut client = super::client::Client::connect(&address);
        client.request("POST", "/v1/translate", &[], body.to_string().as_bytes())
    });
    server.wait_for("the search to begin", |server| {
        server.metric("miriam_sentences_total", "outcome=\"ok\"") > 1.0
    });
    server.signal("TERM");
    let response = request.join().unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(response.json()["results"].as_array().unwrap().len(), 600);
    assert_eq!(status(&mut server).code(), Some(0));
}

#[test]
fn supervisors_are_told_and_balancers_warned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let told = || {
        let mut text = [0; 64];
        let length = socket.recv(&mut text).unwrap();
        lossy_text(&text[..length])
    };
    let config = folder.path().join("serve.toml");
    std::fs::write(&config, "[limits]\ndrain-seconds = 2\n").unwrap();
    let mut command = miriam();
    command.args(["serve", "--listen", "127.0.0.1:0", "--model", &toy(), "--config"]).arg(&config);
    let mut server = Server::start_by(command.env("NOTIFY_SOCKET", &path));
    assert_eq!(told(), "READY=1");
    assert_eq!(server.get("/readyz").status, 200);
    server.signal("TERM");
    assert_eq!(told(), "STOPPING=1");
    server.wait_for("the warning", |server| server.get("/readyz").status == 503);
    assert_eq!(server.post_json("/v1/translate", &json!({"text": "the house"})).status, 200);
    assert_eq!(status(&mut server).code(), Some(0));
}

/// A supervisor opens the socket before the server runs: clients that come meanwhile wait.
#[test]
fn sockets_of_a_supervisor_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("socket");
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let unix = std::os::unix::net::UnixListener::bind(&file).unwrap();
    let address = tcp.local_addr().unwrap().to_string();
    let mut early = super::client::Client::connect(&address);
    // The shell moves the sockets to descriptors 3 and 4, and becomes the server.
    let mut command = std::process::Command::new("sh");
    command
        .args([
            "-c",
            "exec 3<&0 4<&2 0</dev/null 2>/dev/null; LISTEN_PID=$$ LISTEN_FDS=2 exec \"$@\"",
            "sh",
        ])
        .arg(miriam().get_program())
        .args(["serve", "--model", &toy()])
        .stdin(std::os::fd::OwnedFd::from(tcp))
        .stderr(std::os::fd::OwnedFd::from(unix));
    let mut server = Server::start_by(&mut command);
    server.wait_until_ready();
    assert_eq!(server.address, address);
    assert_eq!(early.request("GET", "/readyz", &[], b"").status, 200);
    assert_eq!(server.post_json("/v1/translate", &json!({"text": "the house"})).status, 200);
    let mut by_file = std::os::unix::net::UnixStream::connect(&file).unwrap();
    by_file.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    by_file.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    server.signal("TERM");
    assert_eq!(status(&mut server).code(), Some(0));
    assert!(file.exists(), "the supervisor's file stays");
}

#[test]
fn reloads_under_load_lose_no_request() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    let path = |file: &str| project_root().join("examples").join(file).canonicalize().unwrap();
    let write = |beam: usize, toy: bool| {
        let mut text = format!(
            "[[model]]\nname = \"neural\"\npath = {:?}\nbeam = {beam}\n",
            path("toy-neural/decoder.yml")
        );
        if toy {
            text += &format!("[[model]]\nname = \"toy\"\npath = {:?}\n", path("toy/moses.ini"));
        }
        let new = folder.path().join("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &config).unwrap();
    };
    write(4, true);
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    let generation = |server: &Server, name: &str| {
        let models = server.get("/v1/models").json()["models"].clone();
        let found = models.as_array().unwrap().iter().find(|one| one["name"] == name).cloned();
        found.map(|one| one["generation"].as_u64().unwrap())
    };
    let (neural, toy) = (generation(&server, "neural"), generation(&server, "toy"));
    let stop = std::sync::atomic::AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let mut done = 0;
            let mut client = super::client::Client::connect(&server.address);
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let body = json!({"text": "the red house is big .", "model": "neural"});
                let body = body.to_string();
                let response = client.request("POST", "/v1/translate", &[], body.as_bytes());
                assert_eq!(response.status, 200, "{}", response.text());
                done += 1;
            }
            done
        });
        for reload in 0..6 {
            write(3 + reload % 2, true);
            let before = server.metric("miriam_reloads_total", "");
            // Signals that come together are one reload.
            (0..5).for_each(|_| server.signal("HUP"));
            server
                .wait_for("a reload", |server| server.metric("miriam_reloads_total", "") > before);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        worker.join().unwrap()
    });
    assert!(done > 6, "{done} requests");
    assert!(generation(&server, "neural") > neural);
    assert_eq!(generation(&server, "toy"), toy, "a model that did not change stays");
    // A wrong configuration changes nothing; a configuration without a model removes the model.
    std::fs::write(&config, "[[model]]\nname = 3\n").unwrap();
    server.signal("HUP");
    server.wait_for("a failure", |server| server.metric("miriam_reload_failures_total", "") >= 1.0);
    let is_served = |server: &Server| {
        server.post_json("/v1/translate", &json!({"text": "a", "model": "toy"})).status == 200
    };
    assert!(is_served(&server));
    // A wrong path changes nothing either: the model is still served from the previous path.
    let path = "[[model]]\nname = \"toy\"\npath = \"not/here/moses.ini\"\n";
    std::fs::write(&config, path).unwrap();
    server.signal("HUP");
    server.wait_for("the path to be named", |server| {
        server.get("/readyz").json()["broken"].to_string().contains("not/here/moses.ini")
    });
    assert!(is_served(&server));
    write(4, false);
    server.signal("HUP");
    server.wait_for("the model to go", |server| generation(server, "toy").is_none());
    assert_eq!(
        server.post_json("/v1/translate", &json!({"text": "a", "model": "toy"})).status,
        404
    );
    assert_eq!(server.get("/readyz").status, 200);
}

/// If no model opens, the server ends, so a program that waits for it to be ready does not wait
/// forever.
#[test]
fn a_server_whose_models_do_not_open_ends_with_an_error() {
    let mut command = miriam();
    command.args(["serve", "--port", "0", "--model", "m=does/not/exist"]);
    let output = command.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("does/not/exist"), "{errors}");
    assert!(errors.contains("no model opened, so there is nothing to serve"), "{errors}");
    // Remedies are keys of a server's configuration, not options of other commands.
    let model = format!("m={}", project_root().join("nmt/testdata/tiny.npz").display());
    let output = miriam().args(["serve", "--port", "0", "--model", &model]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("with vocabs (vocab=FILE in --model)"), "{errors}");
}

#[test]
fn a_model_that_cannot_be_opened_again_is_served_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.npz");
    let toy = project_root().join("examples/toy-neural");
    std::fs::copy(toy.join("model.npz"), &model).unwrap();
    let vocab = toy.join("vocab.spm");
    let option = format!("m={},vocab={}", model.display(), vocab.display());
    let server = Server::start(&["--model", &option]);
    let truncated = folder.path().join("truncated");
    let bytes = std::fs::read(&model).unwrap();
    std::fs::write(&truncated, &bytes[..bytes.len() / 2]).unwrap();
    std::fs::rename(&truncated, &model).unwrap();
    for gone in [false, true] {
        if gone {
            std::fs::remove_file(&model).unwrap();
        }
        let before = server.metric("miriam_reload_failures_total", "");
        server.signal("HUP");
        server.wait_for("a failure", |server| {
            server.metric("miriam_reload_failures_total", "") > before
        });
        let response = server.post_json("/v1/translate", &json!({"text": "the house"}));
        assert_eq!(response.status, 200);
        // The previous generation is served, and every protocol reports it as ready.
        let state = server.get("/readyz");
        assert_eq!(state.status, 200);
        let state = state.json();
        assert_eq!((&state["ready"], &state["degraded"]), (&json!(true), &json!(true)));
        let broken = &state["broken"][0];
        assert_eq!((&broken["model"], &broken["serves"]), (&json!("m"), &json!(1)));
        assert!(broken["reason"].as_str().unwrap().contains("model.npz"), "{broken}");
        assert_eq!(server.get("/health").json(), json!({"status": "ok"}));
        assert_eq!(server.get("/translator/health").json(), json!({"status": "ok"}));
        assert_eq!(server.get("/api/ready").status, 204);
        assert_eq!(server.metric("miriam_degraded", ""), 1.0);
        assert_eq!(server.metric("miriam_ready", ""), 1.0);
        assert_eq!(server.metric("miriam_model_broken", "model=\"m\",serves=\"1\""), 1.0);
    }
    // Once the model opens again, the server is not degraded.
    std::fs::write(&truncated, &bytes).unwrap();
    std::fs::rename(&truncated, &model).unwrap();
    server.signal("HUP");
    server.wait_for("the model to open", |server| server.metric("miriam_degraded", "") == 0.0);
    assert_eq!(server.get("/readyz").json()["broken"], json!([]));
}

/// In all protocols, a server is not ready if one of its models has never opened.
#[test]
fn a_server_without_one_of_its_models_is_not_ready_in_any_protocol() {
    let mut command = miriam();
    command.args(["serve", "--threads", "1", "--listen", "127.0.0.1:0", "--model", &toy()]);
    let server = Server::start_by(command.args(["--model", "absent=/does/not/exist"]));
    server
        .wait_for("the first model", |server| server.get("/readyz").json()["loading"] == json!([]));
    let state = server.get("/readyz");
    assert_eq!(state.status, 503);
    let state = state.json();
    assert_eq!(state["broken"][0]["model"], "absent");
    assert_eq!(state["broken"][0]["serves"], json!(null));
    for path in ["/health", "/translator/health", "/api/ready"] {
        let response = server.get(path);
        assert_eq!(response.status, 503, "{path}");
        assert!(response.header("retry-after").parse::<u64>().is_ok(), "{path}");
        let error = response.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains("absent") && error.contains("/does/not/exist"), "{path}: {error}");
    }
    assert_eq!(server.metric("miriam_ready", ""), 0.0);
    assert_eq!(server.get("/healthz").status, 200);
    // The other models are served; a request for the missing model may be retried later.
    assert_eq!(server.post_json("/v1/translate", &json!({"text": "the house"})).status, 200);
    for (model, expected) in [("absent", 503), ("no-such", 404)] {
        let body = json!({"text": "the house", "model": model});
        assert_eq!(server.post_json("/v1/translate", &body).status, expected, "{model}");
    }
    let health = miriam().args(["health", &server.address]).output().unwrap();
    assert_eq!(health.status.code(), Some(1));
    assert!(lossy_text(&health.stderr).contains("absent"), "{health:?}");
}

/// Operators read in the log what each model costs, and whether a reload worked or why not.
#[test]
fn openings_and_reloads_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    let ini = project_root().join("examples/toy/moses.ini").canonicalize().unwrap();
    std::fs::write(&config, format!("[[model]]\nname = \"toy\"\npath = {ini:?}\n")).unwrap();
    let mut command = miriam();
    command.args(["serve", "--threads", "1", "--listen", "127.0.0.1:0", "--config"]);
    command.arg(&config).stderr(std::process::Stdio::piped());
    // An empty variable counts as not set.
    let mut server = Server::start_by(command.env("NOTIFY_SOCKET", ""));
    server.wait_until_ready();
    server.signal("HUP");
    server.wait_for("a reload", |server| server.metric("miriam_reloads_total", "") == 1.0);
    std::fs::write(&config, "[[model]]\nname = 3\n").unwrap();
    server.signal("HUP");
    server.wait_for("a failure", |server| server.metric("miriam_reload_failures_total", "") == 1.0);
    let state = server.get("/readyz").json();
    assert_eq!((&state["ready"], &state["degraded"]), (&json!(true), &json!(true)));
    assert!(state["reload"].as_str().unwrap().contains("serve.toml"), "{state}");
    server.signal("TERM");
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(status(&mut server).code(), Some(0), "{log}");
    assert!(!log.contains("NOTIFY_SOCKET"), "{log}");
    let line = log.lines().find(|line| line.contains("model toy: ")).unwrap();
    for part in ["moses.ini is open in ", " s: generation 1, phrase, ", " MB"] {
        assert!(line.contains(part), "{line}");
    }
    assert!(log.contains("s: 1 model is served"), "{log}");
    assert!(log.contains("the configuration was not read again: "), "{log}");
}

#[test]
fn generated_keys_are_accepted() {
    let made = miriam().args(["serve", "--new-key", "somebody"]).output().unwrap();
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let text = lossy_text(&made.stdout);
    let lines: Vec<&str> = text.lines().collect();
    let [_, key, _, _, line] = &lines[..] else { panic!("{text}") };
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    std::fs::write(&keys, format!("{line}\n")).unwrap();
    let server = Server::start(&["--model", &toy(), "--api-keys", keys.to_str().unwrap()]);
    let body = json!({"text": "the house"}).to_string();
    let ask = |key: &str| {
        let mut client = super::client::Client::connect(&server.address);
        let value = format!("Bearer {key}");
        client
            .request("POST", "/v1/translate", &[("Authorization", &value)], body.as_bytes())
            .status
    };
    assert_eq!((ask(key), ask(line.split(' ').next().unwrap())), (200, 401));
    let wrong = miriam().args(["serve", "--new-key", "two words"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}

#[test]
fn errors_at_the_start_are_one_line() {
    let server = Server::start(&["--model", &toy()]);
    let failing = |options: &[&str]| {
        let output = miriam().arg("serve").args(options).output().unwrap();
        (output.status.code(), lossy_text(&output.stderr))
    };
    let (code, message) = failing(&["--listen", &server.address, "--model", &toy()]);
    assert_eq!(code, Some(1), "{message}");
    assert!(message.starts_with(&format!("miriam: {}: ", server.address)), "{message}");
    assert_eq!(message.lines().count(), 1);
    let (code, message) = failing(&["--listen", "127.0.0.1:0"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("there is no model"), "{message}");
    let (code, message) = failing(&["--check", "--model", "x=/nowhere/moses.ini"]);
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("/nowhere/moses.ini"), "{message}");
    let checked = miriam().args(["serve", "--check", "--model", &toy()]).output().unwrap();
    assert!(lossy_text(&checked.stdout).starts_with("toy: ok, "), "{checked:?}");
}

/// As in other servers, one port may be used with IPv4 and with IPv6.
#[test]
fn one_port_can_be_used_with_ipv4_and_ipv6() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return crate::common::report_skip("this machine has no IPv6");
    }
    for is_v6_first in [false, true] {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut addresses = [format!("0.0.0.0:{port}"), format!("[::]:{port}")];
        if is_v6_first {
            addresses.reverse();
        }
        let [first, second] = &addresses;
        let server = Server::start(&["--listen", first, "--listen", second, "--model", &toy()]);
        for address in [&server.address, &format!("127.0.0.1:{port}"), &format!("[::1]:{port}")] {
            let mut client = super::client::Client::connect(address);
            assert_eq!(client.request("GET", "/healthz", &[], b"").status, 200, "{address}");
        }
    }
}

/// The command line and the server both need the configuration, which has one warning.
#[test]
fn a_system_of_the_command_line_gives_its_warnings_once() {
    let mut command = miriam();
    command.args(["translate", "-f"]).arg(project_root().join("examples/toy/moses.ini"));
    command.args(["-server", "-server-port", "0", "-mbr-scale", "2"]);
    let mut server = Server::start_by(command.stderr(Stdio::piped()));
    server.wait_until_ready();
    server.signal("TERM");
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(log.matches("mbr-scale does nothing here").count(), 1, "{log}");
}

/// `miriam translate -server` starts a server as Moses does.
#[test]
fn translate_starts_a_server_with_one_system() {
    let ini = project_root().join("examples/toy/moses.ini");
    let mut command = miriam();
    command.args(["translate", "-f"]).arg(&ini).args(["-server", "-server-port", "0", "-serial"]);
    let server = Server::start_by(command.args(["-s", "50"]));
    server.wait_until_ready();
    let models = server.get("/v1/models").json();
    assert_eq!(models["models"][0]["name"], "moses");
    assert_eq!(models["models"][0]["facts"]["stack"], "50");
    let lines = lines(1);
    let body = json!({"text": lines[0], "raw": false});
    let found = server.post_json("/v1/translate", &body).json();
    let expected = super::translate(&lines, &["-s", "50"]);
    assert_eq!(found["results"][0]["translations"][0]["text"], expected[0].as_str());
    let mut command = miriam();
    command.args(["translate", "-f"]).arg(&ini).args(["-server", "-tokenize", "en"]);
    assert_eq!(command.output().unwrap().status.code(), Some(2));
}

#[test]
fn unix_sockets_are_for_one_server() {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let name = path.to_str().unwrap();
    // A socket that nobody listens to is replaced.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let server = Server::start(&["--model", &toy(), "--unix", name, "--unix-mode", "0606"]);
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o606);
    let health = miriam().args(["health", &format!("unix:{name}")]).output().unwrap();
    assert_eq!(health.status.code(), Some(0), "{health:?}");
    let other = format!("{name}-2");
    let wrong = ["--unix", &other, "--unix-group", "no-such-group", "--model", &toy()];
    let wrong = miriam().arg("serve").args(wrong).output().unwrap();
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    assert!(lossy_text(&wrong.stderr).contains("no-such-group"), "{wrong:?}");
    let ask = || {
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    };
    assert!(ask().starts_with("HTTP/1.1 200 OK\r\n"));
    let second = miriam().args(["serve", "--unix", name, "--model", &toy()]).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(ask().ends_with("ok\n"));
    drop(server);
    // A file that is not a socket is not replaced.
    std::fs::write(&other, "precious").unwrap();
    let refused = miriam().args(["serve", "--unix", &other, "--model", &toy()]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(lossy_text(&refused.stderr).contains("not a socket"), "{refused:?}");
    assert_eq!(std::fs::read(&other).unwrap(), b"precious");
}

#[test]
fn keys_decide_which_requests_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    // `printf secret | sha256sum`, `printf other | sha256sum`.
    let [secret, other] = [
        "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b",
        "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa",
    ];
    std::fs::write(&keys, format!("{secret} one rpm=3 admin\n")).unwrap();
    let options = ["--model", &toy(), "--api-keys", keys.to_str().unwrap()];
    let mut command = miriam();
    command.args(["serve", "--threads", "1", "--listen", "127.0.0.1:0"]).args(options);
    let server = Server::start_by(&mut command);
    server.wait_until_ready();
    let ask = |key: &str, path: &str| {
        let mut client = super::client::Client::connect(&server.address);
        let value = format!("Bearer {key}");
        let body = json!({"text": "the house"}).to_string();
        client.request("POST", path, &[("Authorization", &value)], body.as_bytes())
    };
    assert_eq!(server.post_json("/v1/translate", &json!({"text": "a"})).status, 401);
    assert_eq!(ask("wrong", "/v1/translate").status, 401);
    assert_eq!(ask("secret", "/v1/models/toy/reload").json()["name"], "toy");
    assert_eq!((0..3).map(|_| ask("secret", "/v1/translate").status).max(), Some(200));
    let refused = ask("secret", "/v1/translate");
    assert_eq!(refused.status, 429);
    assert!((1..=60).contains(&refused.header("retry-after").parse::<u64>().unwrap()));
    assert_eq!(server.get("/metrics").status, 401);
    assert_eq!(server.get("/healthz").status, 200);
    // Keys are read again at a reload.
    std::fs::write(&keys, format!("{other} two\n")).unwrap();
    server.signal("HUP");
    let began = Instant::now();
    while ask("other", "/v1/translate").status != 200 {
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(ask("secret", "/v1/translate").status, 401);
    assert_eq!(ask("other", "/v1/models/toy/reload").status, 403);
}

/// A proxy can give the server one path of a site, here `/mt` (`--base-path`).
#[test]
fn a_server_can_be_a_part_of_a_site_behind_a_proxy() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = miriam();
    command.args(["serve", "--threads", "1", "--listen", "127.0.0.1:0", "--model", &toy()]);
    command.args(["--base-path", "/mt", "--metrics", "127.0.0.1:0", "--access-log"]).arg(&log);
    command.args(["--trusted-proxy", "127.0.0.0/8"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let output = std::io::BufReader::new(child.stdout.take().unwrap());
    let lines: Vec<String> =
        std::io::BufRead::lines(output).take(2).map(|line| line.unwrap()).collect();
    let address = |line: &str, before: &str| line.strip_prefix(before).unwrap().to_owned();
    let server = Server { child, address: address(&lines[0], "listening on http://") };
    let metrics = address(&lines[1], "measurements at http://");
    server.wait_until_ready();
    let body = json!({"q": "a secret house", "source": "en", "target": "es"});
    assert_eq!(server.post_json("/mt/translate?seen=hidden", &body).status, 200);
    assert_eq!(server.post_json("/translate", &body).status, 404);
    assert_eq!(server.post_json("/mtx/translate", &body).status, 404);
    assert!(server.get("/mt/").text().contains("<html"), "the page");
    let moved = server.get("/mt");
    assert_eq!((moved.status, moved.header("location")), (308, "/mt/"));
    // Metrics are available at their own address only.
    assert_eq!(server.get("/metrics").status, 404);
    let ask = |path: &str| super::client::Client::connect(&metrics).request("GET", path, &[], b"");
    assert!(ask("/metrics").text().contains("miriam_requests_total{api=\"libre\""));
    assert_eq!((ask("/healthz").status, ask("/mt/v1/models").status), (200, 404));
    let mut client = super::client::Client::connect(&server.address);
    let headers = [
        ("X-Forwarded-For", "6.6.6.6, 192.0.2.7"),
        ("X-Request-Id", "of-a-test"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ];
    client.request("GET", "/mt/v1/models", &headers, b"");
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(!text.contains("secret") && !text.contains("hidden"), "{text}");
    let records: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = records.iter().find(|record| record["id"] == "of-a-test").unwrap();
    assert_eq!((&last["client"], &last["status"]), (&json!("192.0.2.7"), &json!(200)));
    assert_eq!((&last["path"], &last["api"]), (&json!("/mt/v1/models"), &json!("v1")));
    assert_eq!(last["traceparent"], headers[2].1);
    assert!(records.iter().any(|record| record["client"] == "127.0.0.1"));
    // After the log file was renamed, a reload creates a new one.
    std::fs::rename(&log, folder.path().join("old")).unwrap();
    server.signal("HUP");
    let began = Instant::now();
    while !log.exists() {
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// If the disk is full, lines of the log are lost and nothing else.
#[test]
fn a_full_disk_under_the_log_is_survived() {
    if !std::path::Path::new("/dev/full").exists() {
        return crate::common::report_skip("there is no /dev/full");
    }
    let ini = project_root().join("examples/toy/moses.ini");
    let mut command = miriam();
    command.args(["translate", "-f"]).arg(&ini);
    command.args(["-server", "-server-port", "0", "-server-log", "/dev/full"]);
    let server = Server::start_by(&mut command);
    server.wait_until_ready();
    for _ in 0..3 {
        assert_eq!(server.post_json("/v1/translate", &json!({"text": "the house"})).status, 200);
    }
    assert!(server.metric("miriam_lost_log_lines_total", "") >= 3.0);
}

/// `nmt serve` starts a server with the options of Marian's server, and `--model` accepts a package
/// of Argos Translate.
#[test]
fn neural_models_of_other_programs_are_served() {
    let lines = lines(5);
    let mut command = miriam();
    command.args(["nmt", "serve", "-p", "0", "-m"]);
    command.arg(project_root().join("examples/toy-neural/decoder.yml"));
    let server = Server::start_by(&mut command);
    server.wait_until_ready();
    let found = super::websockets::Socket::open(&server, "/translate").ask(&lines.join("\n"));
    assert_eq!(found, super::nmt_translate(&lines, &[]).join("\n") + "\n");
    let package = project_root().join("nmt/testdata/argos.argosmodel");
    let text = vec!["Good day.".to_owned(), "a b c".to_owned()];
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "--no-tuner-file", "-m"]).arg(&package);
    let expected = super::output(&mut command, &text);
    let server = Server::start(&["--model", &format!("a={},from=en,to=es", package.display())]);
    let body = json!({"q": text, "source": "en", "target": "es"});
    let found = server.post_json("/translate", &body).json();
    let trimmed: Vec<&str> = expected.iter().map(|line| line.trim_end()).collect();
    assert_eq!(found["translatedText"], json!(trimmed));
}
