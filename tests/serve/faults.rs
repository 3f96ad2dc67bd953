//! Clients that are slow, go away or send nonsense.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Client, PATIENCE, Server};
use super::{lines, toy, toy_neural};

/// Writes a configuration file with limits, and starts its server.
pub(super) fn with_limits(limits: &str, model: &str) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    std::fs::write(&config, format!("[limits]\n{limits}\n")).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap(), "--model", model]);
    (folder, server)
}

/// Reads until the server closes the connection. Returns how long that took.
fn time_until_closed(stream: &mut TcpStream) -> Duration {
    let began = Instant::now();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut rest = Vec::new();
    // A reset is a close too.
    let outcome = stream.read_to_end(&mut rest);
    let timed_out = outcome.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
    assert!(!timed_out, "the server left the connection open");
    began.elapsed()
}

#[test]
fn slow_heads_and_bodies_end_their_connections_alone() {
    let (_folder, server) =
        with_limits("header-seconds = 1\nbody-seconds = 1\nidle-seconds = 60", &toy());
    let mut idle = Client::connect(&server.address);
    assert_eq!(idle.request("GET", "/healthz", &[], b"").status, 200);
    let mut head = TcpStream::connect(&server.address).unwrap();
    head.write_all(b"POST /RPC2 HTTP/1.1\r\nHost: x\r\nX-Slow: ").unwrap();
    assert!(time_until_closed(&mut head) < Duration::from_secs(20));
    let mut body = Client::connect(&server.address);
    let request = b"POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n<methodCall>";
    body.0.get_mut().write_all(request).unwrap();
    assert_eq!(body.response().status, 408);
    // A connection that was idle for longer than a head may take is still served.
    assert_eq!(idle.request("GET", "/healthz", &[], b"").status, 200);
}

/// The body of a stream of JSON lines may arrive for longer than a head.
#[test]
fn a_stream_may_take_longer_than_a_head() {
    let (_folder, server) = with_limits("header-seconds = 1\nbody-seconds = 20", &toy());
    let mut client = Client::connect(&server.address);
    let head =
        "POST /v1/translate?stream=1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    let stream = client.0.get_mut();
    stream.write_all(head.as_bytes()).unwrap();
    for _ in 0..12 {
        stream.write_all(b"f\r\n{\"text\":\"red\"}\n\r\n").unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    let response = client.response();
    assert_eq!(response.status, 200);
    assert_eq!(response.text().lines().count(), 12, "{}", response.text());
    assert!(!response.text().contains("error"), "{}", response.text());
}

#[test]
fn what_is_too_large_is_refused() {
    let (_folder, server) = with_limits("body-bytes = 1000\nlines = 3\ncharacters = 50", &toy());
    let large = "a".repeat(2000);
    let response = server.post("/v1/translate", "application/json", large.as_bytes());
    assert_eq!(response.status, 413);
    let bomb = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        encoder.write_all(&vec![b' '; 900_000]).unwrap();
        encoder.finish().unwrap()
    };
    let mut client = Client::connect(&server.address);
    let gzip = [("Content-Encoding", "gzip")];
    assert_eq!(client.request("POST", "/v1/translate", &gzip, &bomb).status, 413);
    let four = server.post_json("/v1/translate", &json!({"text": ["a", "b", "c", "d"]}));
    assert_eq!(four.status, 413);
    let long = server.post_json("/v1/translate", &json!({"text": "a ".repeat(26)}));
    assert_eq!(long.status, 413);
    let gzip_call = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        encoder.write_all(br#"{"text": "the house"}"#).unwrap();
        encoder.finish().unwrap()
    };
    let mut client = Client::connect(&server.address);
    assert_eq!(client.request("POST", "/v1/translate", &gzip, &gzip_call).status, 200);
}

/// What a request asks for is limited too, because it is in memory until the response is sent.
#[test]
fn lists_and_graphs_of_many_sentences_are_refused() {
    let (_folder, server) = with_limits("translations = 12\ngraph-words = 6", &toy());
    let status = |texts: usize, more: &str, value: serde_json::Value| {
        // Two spaces have no word between them.
        let mut request = json!({"text": vec!["the red  house"; texts]});
        request[more] = value;
        let response = server.post_json("/v1/translate", &request);
        (response.status, response.text())
    };
    assert_eq!(status(3, "n_best", json!(4)).0, 200);
    // A single list, and the best translations alone, have limits of their own.
    assert_eq!(status(1, "n_best", json!(13)).0, 200);
    assert_eq!(status(13, "n_best", json!(1)).0, 200);
    let (refused, reason) = status(3, "n_best", json!(5));
    assert_eq!(refused, 413);
    assert!(reason.contains("3 sentences with 5 translations each; 12 in all"), "{reason}");
    assert_eq!(status(2, "graph", json!(true)).0, 200);
    let lm = crate::common::project_root().join("examples/toy/lm.arpa");
    let (_folder, scorer) = with_limits("translations = 12", &format!("lm={}", lm.display()));
    let next = |texts: usize, top: usize| {
        let request = json!({"text": vec!["la casa"; texts], "top": top});
        scorer.post_json("/v1/next", &request).status
    };
    assert_eq!([next(3, 4), next(1, 13), next(3, 5)], [200, 200, 413]);
    let (refused, reason) = status(3, "graph", json!(true));
    assert_eq!(refused, 413);
    assert!(reason.contains("search graphs of 9 words; 6 are allowed"), "{reason}");
}

#[test]
fn next_words_of_a_model_without_words_are_refused() {
    let model = crate::common::project_root().join("lmcpu/testdata/toy-wordless.kenlm");
    let server = Server::start(&["--model", &format!("lm={},kind=lm", model.display())]);
    let refused = server.post_json("/v1/next", &json!({"text": "a"}));
    let reason = refused.text();
    assert_eq!(refused.status, 400, "{reason}");
    assert!(reason.contains("model lm: the file does not hold its words"), "{reason}");
    assert_eq!(server.post_json("/v1/perplexity", &json!({"text": "a"})).status, 200);
}

#[test]
fn work_for_a_client_that_goes_away_ends() {
    let server = Server::start(&["--model", &toy_neural()]);
    let text: Vec<String> = lines(4000);
    let body = json!({"text": text, "n_best": 4}).to_string();
    let mut client = TcpStream::connect(&server.address).unwrap();
    let head =
        format!("POST /v1/translate HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
    client.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
    server.wait_for("the search to begin", |server| {
        server.metric("miriam_sentences_total", "outcome=\"ok\"") > 1.0
    });
    client.shutdown(Shutdown::Both).unwrap();
    drop(client);
    server.wait_for("the queue to be empty", |server| {
        server.metric("miriam_queued_words", "") == 0.0
    });
    let done = server.metric("miriam_sentences_total", "outcome=\"ok\"");
    assert!(done < 3500.0, "{done} sentences were translated for nobody");
    let next = server.post_json("/v1/translate", &json!({"text": "the house"}));
    assert_eq!(next.status, 200);
}

#[test]
fn a_full_queue_rejects_requests_with_a_time_to_retry() {
    let (_folder, server) = with_limits("queued-words = 300", &toy_neural());
    let text = lines(2000);
    let body = json!({"text": text});
    std::thread::scope(|scope| {
        let first = scope.spawn(|| server.post_json("/v1/translate", &body));
        server.wait_for("a full queue", |server| server.metric("miriam_queued_words", "") > 1000.0);
        let refused = server.post_json("/v1/translate", &json!({"text": "the house"}));
        assert_eq!(refused.status, 503);
        let seconds: u64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=60).contains(&seconds));
        let call = b"<methodCall><methodName>translate</methodName><params><param><value><struct>\
                     <member><name>text</name><value>a</value></member></struct></value></param>\
                     </params></methodCall>";
        assert_eq!(server.post("/RPC2", "text/xml", call).status, 503);
        assert_eq!(first.join().unwrap().status, 200);
    });
    assert_eq!(server.post_json("/v1/translate", &json!({"text": "the house"})).status, 200);
    assert!(server.metric("miriam_shed_total", "queue") >= 2.0);
}

#[test]
fn a_deadline_is_kept() {
    let server = Server::start(&["--model", &toy_neural()]);
    let body = json!({"text": lines(3000), "timeout_ms": 50});
    let began = Instant::now();
    let response = server.post_json("/v1/translate", &body);
    assert_eq!(response.status, 504, "{}", response.text());
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(server.post_json("/v1/translate", &json!({"text": "the house"})).status, 200);
}

#[test]
fn nonsense_is_answered_and_does_no_harm() {
    let server = Server::start(&["--model", &toy()]);
    let mut state = 7u32;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let good: [(&str, &[u8]); 2] = [
        ("/v1/translate", br#"{"text": ["the house", "b"], "n_best": 2}"#),
        (
            "/RPC2",
            b"<methodCall><methodName>translate</methodName><params><param><value><struct>\
                    <member><name>text</name><value>a</value></member></struct></value></param>\
                    </params></methodCall>",
        ),
    ];
    let mut client = Client::connect(&server.address);
    for number in 0..1000 {
        let (path, body) = good[number % good.len()];
        let mut body = body.to_vec();
        for _ in 0..1 + random(4) {
            let at = random(body.len());
            body[at] = random(256) as u8;
        }
        let response = client.request("POST", path, &[], &body);
        assert!([200, 400, 404].contains(&response.status), "{response:?}");
    }
    // Bytes that are not HTTP end their connection and do no other harm.
    let mut wrong = TcpStream::connect(&server.address).unwrap();
    wrong.write_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 no HTTP\r\n\r\n").unwrap();
    time_until_closed(&mut wrong);
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.metric("miriam_sentences_total", "outcome=\"error\""), 0.0);
}

/// With few file descriptors the server takes no more connections, and continues when some close.
#[test]
fn too_few_file_descriptors_are_waited_for() {
    let binary = env!("CARGO_BIN_EXE_miriam");
    let mut command = std::process::Command::new("bash");
    let start =
        format!("ulimit -n 48; exec {binary} serve --threads 1 --listen 127.0.0.1:0 \"$@\"");
    command.args(["-c", &start, "miriam", "--no-tuner-file", "--model", &toy()]);
    let server = Server::start_by(&mut command);
    server.wait_until_ready();
    let mut idle: Vec<TcpStream> =
        (0..60).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(300));
    let time = |server: &Server| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.child.id())).unwrap();
        let fields: Vec<i64> = stat
            .rsplit_once(')')
            .unwrap()
            .1
            .split_whitespace()
            .filter_map(|field| field.parse().ok())
            .collect();
        // User and system time, in hundredths of a second: the 14th and 15th fields of all.
        fields[10] + fields[11]
    };
    let before = time(&server);
    std::thread::sleep(Duration::from_secs(1));
    assert!(time(&server) - before < 50, "the server spins");
    idle.drain(..40);
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.post_json("/v1/translate", &json!({"text": "the house"})).status, 200);
}

#[test]
fn many_idle_connections_cost_nothing_but_themselves() {
    let (_folder, server) = with_limits("connections = 200", &toy());
    let idle: Vec<Client> = (0..150).map(|_| Client::connect(&server.address)).collect();
    server.wait_for("the connections", |server| server.metric("miriam_connections", "") >= 150.0);
    assert_eq!(server.post_json("/v1/translate", &json!({"text": "the house"})).status, 200);
    drop(idle);
    server.wait_for("them to go", |server| server.metric("miriam_connections", "") <= 2.0);
}

/// Ten thousand connections without requests, held by another program, because each needs a
/// descriptor.
#[test]
fn ten_thousand_idle_connections_are_held() {
    let has = |program: &str| std::process::Command::new(program).arg("--version").output().is_ok();
    let limit = std::process::Command::new("bash").args(["-c", "ulimit -Hn"]).output().unwrap();
    let limit = crate::common::lossy_text(&limit.stdout).trim().parse().unwrap_or(usize::MAX);
    if !has("python3") || limit < 11_000 {
        return crate::common::report_skip("no python3, or too few file descriptors");
    }
    let binary = env!("CARGO_BIN_EXE_miriam");
    let mut command = std::process::Command::new("bash");
    let start = format!("ulimit -n 11000; exec {binary} serve --listen 127.0.0.1:0 \"$@\"");
    command.args(["-c", &start, "miriam", "--no-tuner-file", "--model", &toy()]);
    let server = Server::start_by(&mut command);
    server.wait_until_ready();
    let before = server.metric("process_resident_memory_bytes", "");
    let script = "
import socket, sys
address = ('127.0.0.1', int(sys.argv[1]))
held = [socket.create_connection(address) for _ in range(9990)]
print('held', flush=True)
sys.stdin.read()
";
    let port = server.address.rsplit(':').next().unwrap();
    let mut holder = std::process::Command::new("bash");
    holder.args(["-c", "ulimit -n 11000; exec python3 -c \"$@\"", "python3", script, port]);
    holder.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut holder = holder.spawn().unwrap();
    let mut said = String::new();
    let mut output = std::io::BufReader::new(holder.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut said).unwrap();
    assert_eq!(said, "held\n");
    server.wait_for("them", |server| server.metric("miriam_connections", "") > 9990.0);
    assert_eq!(server.post_json("/v1/translate", &json!({"text": "the house"})).status, 200);
    let each = (server.metric("process_resident_memory_bytes", "") - before) / 9990.0;
    assert!(each < 32_768.0, "{each} bytes a connection");
    drop(holder.stdin.take());
    holder.wait().unwrap();
    server.wait_for("them to go", |server| server.metric("miriam_connections", "") <= 2.0);
}

/// When the process is stopped and continued, earlier requests are answered, none of them twice.
#[test]
fn a_server_that_was_stopped_goes_on() {
    let server = Server::start(&["--model", &toy_neural()]);
    let text = lines(300);
    let expected = super::nmt_translate(&text, &[]);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| server.post_json("/v1/translate", &json!({"text": text})));
        server.signal("STOP");
        std::thread::sleep(Duration::from_millis(300));
        let late = scope.spawn(|| server.post_json("/v1/translate", &json!({"text": text[0]})));
        std::thread::sleep(Duration::from_millis(300));
        server.signal("CONT");
        let found = first.join().unwrap().json();
        let best = |result: &serde_json::Value| result["translations"][0]["text"].clone();
        let found: Vec<_> = found["results"].as_array().unwrap().iter().map(best).collect();
        assert_eq!(json!(found), json!(expected));
        assert_eq!(best(&late.join().unwrap().json()["results"][0]), expected[0]);
    });
}

/// If the file of keys is missing at a reload, the known keys stay valid.
#[test]
fn keys_stay_when_their_file_goes() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    // `printf secret | sha256sum`.
    let secret = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    std::fs::write(&keys, format!("{secret} one\n")).unwrap();
    let server = Server::start(&["--model", &toy(), "--api-keys", keys.to_str().unwrap()]);
    std::fs::remove_file(&keys).unwrap();
    let ask = |path: &str, key: &str, body: &[u8]| {
        let key = format!("Bearer {key}");
        let mut client = Client::connect(&server.address);
        let method = if body.is_empty() { "GET" } else { "POST" };
        client.request(method, path, &[("Authorization", &key)], body)
    };
    server.signal("HUP");
    let failures = |page: &str| {
        let line = page.lines().find(|line| line.starts_with("miriam_reload_failures_total "));
        line.unwrap().rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
    };
    let began = Instant::now();
    while failures(&ask("/metrics", "secret", b"").text()) < 1.0 {
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(ask("/v1/translate", "secret", b"{\"text\": \"a\"}").status, 200);
    assert_eq!(ask("/v1/translate", "other", b"{\"text\": \"a\"}").status, 401);
}

/// Forms and multipart bodies that were damaged are answered like whole ones, or refused.
#[test]
fn damaged_forms_do_no_harm() {
    let server = Server::start(&["--model", &toy()]);
    let mut state = 11u32;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let multipart = "--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nthe house\r\n--x\r\n\
        Content-Disposition: form-data; name=\"source\"\r\n\r\nen\r\n--x--\r\n";
    let good: [(&str, &[u8]); 2] = [
        ("application/x-www-form-urlencoded", b"q=the+house%20%c3%a4&source=en&target=es"),
        ("multipart/form-data; boundary=x", multipart.as_bytes()),
    ];
    let mut client = Client::connect(&server.address);
    for number in 0..1000 {
        let (media_type, body) = good[number % good.len()];
        let mut body = body.to_vec();
        for _ in 0..1 + random(4) {
            let at = random(body.len());
            match random(3) {
                0 => drop(body.remove(at)),
                1 => body.insert(at, random(256) as u8),
                _ => body[at] = random(256) as u8,
            }
        }
        let headers = [("Content-Type", media_type)];
        let response = client.request("POST", "/translate", &headers, &body);
        assert!([200, 400].contains(&response.status), "{response:?}");
    }
    assert_eq!(server.metric("miriam_sentences_total", "outcome=\"error\""), 0.0);
}

/// With three times as many requests as the server can answer, it still answers more than a fifth
/// as many as at saturation, rejects the others with the status 503, and answers none late.
#[test]
fn requests_over_capacity_are_rejected_and_slow_nobody() {
    let (folder, server) = with_limits("queued-words = 400\ndeadline-ms = 20000", &toy_neural());
    let url = format!("http://{}", server.address);
    let input = folder.path().join("text");
    std::fs::write(&input, lines(200).join("\n")).unwrap();
    // Returns the good responses per second, the time of the slowest one in milliseconds, and all
    // outcomes.
    let load = |name: &str, options: &[&str]| -> (f64, f64, Vec<String>) {
        let output = folder.path().join(name);
        let mut command = crate::common::miriam();
        command.args(["bench", "serve", &url, "-i"]).arg(&input).arg("-o").arg(&output);
        crate::common::run(command.args(options));
        let rows = std::fs::read_to_string(output.join("requests.csv")).unwrap();
        let rows: Vec<Vec<&str>> =
            rows.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let time = |text: &str| text.parse::<f64>().unwrap();
        let good = rows.iter().filter(|row| row[3] == "200");
        let took: Vec<f64> = good.map(|row| time(row[2]) - time(row[1])).collect();
        let end = rows.iter().map(|row| time(row[2])).fold(0.0, f64::max);
        let slowest = took.iter().copied().fold(0.0, f64::max);
        let outcomes = rows.iter().map(|row| row[3].to_owned()).collect();
        (took.len() as f64 / end, slowest * 1e3, outcomes)
    };
    let (saturation, ..) = load("closed", &["--clients", "8", "--seconds", "1"]);
    let rate = (3.0 * saturation).to_string();
    let (goodput, slowest, outcomes) = load("open", &["--rate", &rate, "--seconds", "3"]);
    assert!(outcomes.iter().all(|one| one == "200" || one == "503"), "{outcomes:?}");
    assert!(slowest < 20_000.0, "{slowest} ms");
    // The client shares the processors with the server, and so do other programs.
    assert!(goodput > 0.2 * saturation, "{goodput} of {saturation} requests a second");
}
