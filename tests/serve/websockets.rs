//! Websockets, spoken by hand: Marian's lines and OPUS-MT's JSON.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::time::Duration;

use serde_json::json;

use super::client::{Client, Response, Server, in_parallel};
use super::{lines, nmt_translate, toy_neural};

/// A websocket of the server.
pub struct Socket(Client);

impl Socket {
    pub fn open(server: &Server, path: &str) -> Self {
        Socket::open_at(&server.address, path)
    }

    /// Works as [`Socket::open`], for a server that is not under test.
    pub fn open_at(address: &str, path: &str) -> Self {
        let (client, response) = Socket::shake_hands(address, path, &[]);
        assert_eq!(response.status, 101, "{response:?}");
        assert_eq!(response.header("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        Socket(client)
    }

    /// Sends a handshake with further headers; returns its connection and its response.
    pub fn shake_hands(address: &str, path: &str, further: &[(&str, &str)]) -> (Client, Response) {
        let mut client = Client::connect(address);
        // The key and its answer are those of RFC 6455.
        let headers = [
            ("Upgrade", "websocket"),
            ("Connection", "keep-alive, Upgrade"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let response = client.request("GET", path, &[&headers[..], further].concat(), b"");
        (client, response)
    }

    /// Sends a frame, with a mask as clients do.
    pub fn send(&mut self, opcode: u8, payload: &[u8]) {
        let mut frame = vec![0x80 | opcode];
        match payload.len() {
            length @ 0..126 => frame.push(0x80 | length as u8),
            length @ 126..65536 => {
                frame.push(0x80 | 126);
                frame.extend((length as u16).to_be_bytes());
            }
            length => {
                frame.push(0x80 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        let mask = [1, 2, 3, 4];
        frame.extend(mask);
        frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        self.0.0.get_mut().write_all(&frame).unwrap();
    }

    /// Receives the next frame; returns its kind and content.
    pub fn receive(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 2];
        self.0.0.read_exact(&mut head).unwrap();
        assert_eq!(head[0] & 0x80, 0x80, "one frame a message");
        let length = match head[1] {
            126 => {
                let mut length = [0; 2];
                self.0.0.read_exact(&mut length).unwrap();
                u16::from_be_bytes(length) as usize
            }
            127 => {
                let mut length = [0; 8];
                self.0.0.read_exact(&mut length).unwrap();
                u64::from_be_bytes(length) as usize
            }
            length => length as usize,
        };
        let mut payload = vec![0; length];
        self.0.0.read_exact(&mut payload).unwrap();
        (head[0] & 0xf, payload)
    }

    pub fn ask(&mut self, text: &str) -> String {
        self.send(1, text.as_bytes());
        let (opcode, payload) = self.receive();
        assert_eq!(opcode, 1, "{payload:?}");
        String::from_utf8(payload).unwrap()
    }

    /// Receives the frame that closes the websocket; returns its code.
    pub fn close_code(&mut self) -> u16 {
        let (opcode, payload) = self.receive();
        assert_eq!(opcode, 8);
        u16::from_be_bytes([payload[0], payload[1]])
    }
}

#[test]
fn marian_gives_the_lines_of_the_command_line() {
    let lines = lines(40);
    let expected = nmt_translate(&lines, &[]);
    let server = Server::start(&["--model", &toy_neural()]);
    for path in ["/translate", "/translate/?model=neural&from=en"] {
        let all = Socket::open(&server, path).ask(&(lines.join("\n") + "\n"));
        assert_eq!(all, expected.join("\n") + "\n");
    }
    let found = in_parallel(8, lines.len(), |number| {
        let mut socket = Socket::open(&server, "/translate");
        let twice = [socket.ask(&lines[number]), socket.ask(&format!("{}\n\n", lines[number]))];
        (twice[0].clone(), twice[1].clone())
    });
    for (number, (one, two)) in found.into_iter().enumerate() {
        assert_eq!(one, format!("{}\n", expected[number]));
        assert_eq!(two, format!("{}\n\n", expected[number]), "an empty line is a line");
    }
    let mut socket = Socket::open(&server, "/translate");
    socket.send(9, b"ping");
    assert_eq!(socket.receive(), (10, b"ping".to_vec()));
    // Messages that come together are answered one after the other.
    lines.iter().take(5).for_each(|line| socket.send(1, line.as_bytes()));
    for expected in expected.iter().take(5) {
        assert_eq!(socket.receive(), (1, format!("{expected}\n").into_bytes()));
    }
}

/// `marian-server` takes the options of `marian-decoder`, as in scripts of Marian's examples.
#[test]
fn marian_server_takes_the_options_of_the_decoder() {
    let toy = crate::common::project_root().join("examples/toy-neural");
    let lines = lines(6);
    let search = ["-b", "2", "-n", "0.6", "--max-length", "4", "--max-length-crop"];
    let mut command = crate::common::miriam();
    command.args(["nmt", "translate", "--quiet", "-m"]).arg(&toy).args(search);
    let expected = super::output(&mut command, &lines);
    // A configuration that does not say that its paths are relative.
    let folder = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(&toy).unwrap().map(|file| file.unwrap().path()) {
        std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let near = folder.path().join("decoder.yml");
    let text = std::fs::read_to_string(&near).unwrap();
    assert!(text.contains("relative-paths: true\n"), "{text}");
    std::fs::write(&near, text.replace("relative-paths: true\n", "")).unwrap();
    for (options, model) in [
        (&["-m"][..], toy.clone()),
        (&["-c"], toy.join("decoder.yml")),
        (&["--relative-paths", "-c"], near),
    ] {
        let mut command = crate::common::miriam();
        command.arg0("marian-server").args(options).arg(model);
        command.args(["-p", "0", "--cpu-threads", "1", "--mini-batch", "4", "--maxi-batch", "10"]);
        command.args(["--maxi-batch-sort", "src", "-w", "100", "--log-level", "warn"]).args(search);
        let server = Server::start_by(&mut command);
        server.wait_until_ready();
        let found = Socket::open(&server, "/translate").ask(&lines.join("\n"));
        assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{options:?}");
    }
}

/// `marian-server` takes an ensemble with lists, alignments and scores from its command line, and
/// two configurations, of which the second one asks for these outputs.
#[test]
fn marian_server_takes_ensembles_outputs_and_several_configurations() {
    let toy = crate::common::project_root().join("examples/toy-neural").canonicalize().unwrap();
    let outputs = ["--n-best", "--alignment", "--word-scores", "-b", "2"];
    let weights = ["--weights", "0.5", "1"];
    let folder = tempfile::tempdir().unwrap();
    let later = folder.path().join("later.yml");
    std::fs::write(&later, "beam-size: 2\nn-best: true\nalignment: hard\nword-scores: true\n")
        .unwrap();
    let configurations = [toy.join("decoder.yml"), later];
    let lines = lines(3);
    for is_ensemble in [true, false] {
        let [mut ours, mut server] = [(); 2].map(|()| crate::common::miriam());
        ours.args(["nmt", "translate", "--quiet"]);
        server.arg0("marian-server").args(["-p", "0", "--cpu-threads", "1", "--log-level", "warn"]);
        for command in [&mut ours, &mut server] {
            if is_ensemble {
                command.arg("-m").args([&toy; 2]).args(weights).args(outputs);
            } else {
                command.arg("-c").arg(&configurations[0]).arg("-c").arg(&configurations[1]);
            }
        }
        let expected = super::output(&mut ours, &lines);
        assert!(expected.len() > lines.len(), "lists");
        let server = Server::start_by(&mut server);
        server.wait_until_ready();
        let found = Socket::open(&server, "/translate").ask(&lines.join("\n"));
        assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{is_ensemble}");
    }
}

/// With a configuration that prints lists, the server sends lists too, numbered from 0 in every
/// message.
#[test]
fn marian_prints_what_its_configuration_says() {
    let folder = tempfile::tempdir().unwrap();
    let toy = crate::common::project_root().join("examples/toy-neural").canonicalize().unwrap();
    let config = folder.path().join("decoder.yml");
    let text = std::fs::read_to_string(toy.join("decoder.yml")).unwrap();
    let text = text.replace("- ", &format!("- {}/", toy.display()));
    std::fs::write(&config, text + "n-best: true\nalignment: hard\nword-scores: true\n").unwrap();
    let lines = lines(3);
    let mut command = crate::common::miriam();
    command.args(["nmt", "translate", "--quiet", "-m"]).arg(&config);
    let expected = super::output(&mut command, &lines);
    let server = Server::start(&["--model", &format!("m={}", config.display())]);
    let mut socket = Socket::open(&server, "/translate");
    for _ in 0..2 {
        let found = socket.ask(&lines.join("\n"));
        assert_eq!(found.lines().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn opus_mt_messages() {
    let lines = lines(2);
    let expected = nmt_translate(&lines, &[]);
    let server = Server::start(&["--model", &toy_neural()]);
    let mut socket = Socket::open(&server, "/opus");
    let mut ask =
        |text: &str| -> serde_json::Value { serde_json::from_str(&socket.ask(text)).unwrap() };
    let found = ask(&json!({"text": lines[0], "source": "en", "target": "es"}).to_string());
    assert_eq!((&found["result"], &found["source"]), (&json!(expected[0]), &json!("en")));
    assert_eq!(found["source-sentences"], json!([lines[0]]));
    assert_eq!(found["target-sentences"], json!([expected[0]]));
    assert_eq!(found["segmentation"], "spm");
    let pieces = found["target-segments"][0].as_str().unwrap().split(' ').count();
    let links = found["alignment"][0].as_str().unwrap();
    assert!(
        links
            .split(' ')
            .all(|link| { link.split_once('-').unwrap().1.parse::<usize>().unwrap() < pieces })
    );
    assert_eq!(ask(&format!("en-es {}", lines[1]))["result"], expected[1]);
    let error = ask(r#"{"text": "a", "source": "xx", "target": "es"}"#);
    assert_eq!(error["error"], "unsupported source language xx");
}

/// Browsers let every page open websockets, so the server itself must reject origins that are not
/// allowed.
#[test]
fn pages_of_origins_that_are_not_allowed_cannot_open_websockets() {
    let open = Server::start(&["--model", &toy_neural()]);
    let closed = Server::start(&["--model", &toy_neural(), "--cors", "https://a.example"]);
    let status = |server: &Server, path: &str, origin: &[(&str, &str)]| {
        Socket::shake_hands(&server.address, path, origin).1.status
    };
    for path in ["/translate", "/opus"] {
        for (origin, expected) in [
            ("https://a.example", 101),
            ("https://b.example", 403),
            ("null", 403),
            // The tests send this host.
            ("http://localhost", 101),
        ] {
            assert_eq!(status(&closed, path, &[("Origin", origin)]), expected, "{path} {origin}");
            assert_eq!(status(&open, path, &[("Origin", origin)]), 101, "{path} {origin}");
        }
        assert_eq!(status(&closed, path, &[]), 101, "{path}");
    }
}

/// TCP probes silent clients, so that a websocket whose client has vanished does not stay open for
/// ever.
#[cfg(target_os = "linux")]
#[test]
fn silent_clients_are_asked_by_the_system() {
    let server = Server::start(&["--model", &toy_neural()]);
    let _socket = Socket::open(&server, "/translate");
    let port: u16 = server.address.rsplit(':').next().unwrap().parse().unwrap();
    let end = format!(":{port:04X}");
    // Of the fields, the second is the address of this side, the fourth the state (01: connected),
    // and the sixth begins with the timer (02: keep-alive).
    server.wait_for("the timer of the connection", |_| {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        table.lines().any(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            matches!(fields[..], [_, own, _, "01", _, timer, ..]
                if own.ends_with(&end) && timer.starts_with("02:"))
        })
    });
}

#[test]
fn websockets_are_closed_with_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    std::fs::write(&config, "[limits]\nbody-bytes = 1000\nlines = 3\n").unwrap();
    let config = config.to_str().unwrap();
    let server = Server::start(&["--config", config, "--model", &toy_neural()]);
    let mut socket = Socket::open(&server, "/translate");
    socket.send(1, &[b'a'; 2000]);
    assert_eq!(socket.close_code(), 1009);
    let mut socket = Socket::open(&server, "/translate");
    socket.send(1, b"a\nb\nc\nd");
    assert_eq!(socket.close_code(), 1008);
    let mut socket = Socket::open(&server, "/translate?model=other");
    socket.send(1, b"a");
    assert_eq!(socket.close_code(), 1008);
    let mut socket = Socket::open(&server, "/translate");
    socket.send(2, b"\xff\xfe");
    assert_eq!(socket.close_code(), 1007);
    // Frames that the protocol does not have: one without a mask, reserved bits, a kind that is not
    // defined, a continuation without a start, a ping in parts, and a ping that is too long.
    for frame in [
        &[0x81, 0x01, b'a'][..],
        &[0xf1, 0x80, 0, 0, 0, 0],
        &[0x83, 0x80, 0, 0, 0, 0],
        &[0x80, 0x80, 0, 0, 0, 0],
        &[0x09, 0x80, 0, 0, 0, 0],
        &[&[0x89, 0xfe, 0, 126][..], &[0; 130]].concat(),
    ] {
        let mut socket = Socket::open(&server, "/translate");
        socket.0.0.get_mut().write_all(frame).unwrap();
        assert_eq!(socket.close_code(), 1002, "{frame:02x?}");
    }
    // A text that is not UTF-8; a close with a code that no one may send.
    let mut socket = Socket::open(&server, "/translate");
    socket.send(1, b"\xff\xfe");
    assert_eq!(socket.close_code(), 1007);
    let mut socket = Socket::open(&server, "/translate");
    socket.send(8, &1005u16.to_be_bytes());
    assert_eq!(socket.close_code(), 1002);
    // Half a frame, and no more.
    let mut half = Socket::open(&server, "/translate");
    half.0.0.get_mut().write_all(&[0x81, 0xfe]).unwrap();
    drop(half);
    server.wait_for("the websockets to be gone", |server| {
        server.metric("miriam_connections", "") <= 1.0
    });
    assert_eq!(Client::connect(&server.address).request("GET", "/translate", &[], b"").status, 405);
    let mut last = Socket::open(&server, "/translate");
    assert!(!last.ask("the house").is_empty());
    server.signal("TERM");
    assert_eq!(last.close_code(), 1001);
    std::thread::sleep(Duration::from_millis(10));
}
