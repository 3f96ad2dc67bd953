//! Requests that HTTP allows or forbids in every protocol: hosts, methods, bodies, encodings.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::client::{Client, PATIENCE, Server};
use super::websockets::Socket;
use super::{toy, toy_neural};
use crate::common::lossy_text;

const FORM: &str = "application/x-www-form-urlencoded";

/// Starts a server that takes bodies of up to 1000 bytes.
fn small_server() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    std::fs::write(&config, "[limits]\nbody-bytes = 1000\nlines = 20\n").unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap(), "--model", &toy()]);
    (folder, server)
}

/// Sends a request byte for byte; returns the status of the response.
fn status(server: &Server, request: &str) -> u16 {
    let mut client = Client::connect(&server.address);
    // The server may close the connection before it has read the whole request.
    let _ = client.0.get_mut().write_all(request.as_bytes());
    client.response().status
}

#[test]
fn a_request_is_for_one_host() {
    let server = Server::start(&["--model", &toy()]);
    for path in
        ["/healthz", "/v1/models", "/languages", "/translator/health", "/nothing", "/api/ready"]
    {
        let with = |hosts: &str| status(&server, &format!("GET {path} HTTP/1.1\r\n{hosts}\r\n"));
        assert_eq!(with(""), 400, "{path}");
        assert_eq!(with("Host: a\r\nHost: b\r\n"), 400, "{path}");
        assert_eq!(with("Host: a\r\nhost: a\r\n"), 400, "{path}");
        assert_eq!(with("Host: a b\r\n"), 400, "{path}");
        for host in ["localhost:8080", "[::1]:80", "", "a.example"] {
            assert_ne!(with(&format!("Host: {host}\r\n")), 400, "{path} {host}");
        }
    }
    assert_eq!(status(&server, "GET /healthz HTTP/1.0\r\n\r\n"), 200);
    assert_eq!(status(&server, "GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
    let websocket = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                     Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    assert_eq!(status(&server, &format!("GET /translate HTTP/1.1\r\n{websocket}\r\n")), 400);
}

#[test]
fn a_body_that_is_announced_too_large_is_refused_at_once() {
    let (_folder, server) = small_server();
    let head = |path: &str, more: &str| {
        format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n{more}\r\n")
    };
    // Nothing of the body is sent.
    for path in ["/v1/translate", "/v2/translate", "/translator/translate", "/RPC2", "/translate"] {
        for expect in ["", "Expect: 100-continue\r\n"] {
            let mut client = Client::connect(&server.address);
            client.0.get_mut().write_all(head(path, expect).as_bytes()).unwrap();
            let response = client.response();
            assert!(!response.head.starts_with("HTTP/1.1 100"), "{path}: {response:?}");
            assert!([200, 400, 413].contains(&response.status), "{path}: {response:?}");
            assert_eq!(response.header("connection"), "close", "{path}");
            // Every protocol names the limit in the body, also those whose errors have status 200.
            assert!(response.text().contains("1000 bytes"), "{path}: {response:?}");
        }
    }
    // By the status 100, the server asks for a body that fits.
    let body = br#"{"text": "the house"}"#;
    let mut client = Client::connect(&server.address);
    let head = format!(
        "POST /v1/translate HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    client.0.get_mut().write_all(head.as_bytes()).unwrap();
    assert_eq!(client.response().status, 100);
    client.0.get_mut().write_all(body).unwrap();
    assert_eq!(client.response().status, 200);
}

/// A client that sends all of a large body before it reads gets the answer, not a reset.
#[test]
fn a_client_that_sends_first_reads_why_it_is_refused() {
    let (_folder, server) = small_server();
    let body = vec![b'a'; 20 << 20];
    let chunks = "Transfer-Encoding: chunked".to_owned();
    let expecting = format!("{chunks}\r\nExpect: 100-continue");
    for length in [format!("Content-Length: {}", body.len()), chunks, expecting] {
        let chunked = length.starts_with("Transfer-Encoding");
        let mut client = Client::connect(&server.address);
        let stream = client.0.get_mut();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        let head = format!("POST /v1/translate HTTP/1.1\r\nHost: a\r\n{length}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        if chunked {
            stream.write_all(format!("{:x}\r\n", body.len()).as_bytes()).unwrap();
        }
        stream.write_all(&body).unwrap();
        if chunked {
            stream.write_all(b"\r\n0\r\n\r\n").unwrap();
        }
        if length.contains("Expect") {
            assert_eq!(client.response().status, 100);
        }
        assert_eq!(client.response().status, 413, "{length}");
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn compressions_that_are_not_known_are_refused_by_name() {
    let server = Server::start(&["--model", &toy()]);
    let body = br#"{"text": "the house"}"#;
    for encoding in ["br", "deflate", "gzip, gzip", "zstd"] {
        let mut client = Client::connect(&server.address);
        let response =
            client.request("POST", "/v1/translate", &[("Content-Encoding", encoding)], body);
        assert_eq!((response.status, response.header("accept-encoding")), (415, "gzip"));
    }
    let mut client = Client::connect(&server.address);
    let headers = [("Content-Encoding", "gzip")];
    assert_eq!(client.request("POST", "/v1/translate", &headers, b"not gzip").status, 400);
    let mut client = Client::connect(&server.address);
    let stream = client.request("POST", "/v1/translate?stream=1", &headers, b"not gzip");
    assert_eq!(stream.status, 415, "a stream of lines may not be compressed");
}

/// Lines of a body that ends early are not answered as if the body were complete.
#[test]
fn a_damaged_stream_ends_with_an_error() {
    let server = Server::start(&["--model", &toy()]);
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let line = "{\"text\": \"the house\"}\n";
    let incomplete = "{\"text\": \"the";
    let head = "POST /v1/translate?stream=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    let length = line.len() + incomplete.len();
    let request = format!("{head}{length:x}\r\n{line}{incomplete}\r\nno length\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = lossy_text(&answer);
    let [first, second] = ["\"line\":1", "\"line\":2"].map(|line| answer.find(line).unwrap());
    assert!(answer[..second].contains("la casa"), "{answer}");
    assert!(first < second && answer[second - 100..].contains("the body ended early"), "{answer}");
}

/// The model of JSON lines is in the lines, not in the address; a byte order mark may come before
/// the first line.
#[test]
fn addresses_of_json_lines_have_only_stream() {
    let server = Server::start(&["--model", &toy(), "--model", &toy_neural()]);
    let ask = |query: &str| {
        let mut client = Client::connect(&server.address);
        let body = "\u{feff}\"the house\"\n{\"text\":\"the house\"}\n";
        let accept = [("Accept", "application/x-ndjson")];
        client.request("POST", &format!("/v1/translate{query}"), &accept, body.as_bytes())
    };
    for query in ["?stream=1&model=neural", "?model=neural", "?stream=2", "?stream=1&stream=1"] {
        let response = ask(query);
        assert_eq!(response.status, 400, "{query}: {}", response.text());
    }
    let response = ask("?stream=1").text();
    assert_eq!(response.matches("la casa").count(), 2, "{response}");
    // The address decides before the header does, and the header by its weights.
    for (query, accept, media_type) in [
        ("?stream=0", "application/x-ndjson", "application/json"),
        ("?stream=1", "application/json", "application/x-ndjson"),
        ("", "application/json, application/x-ndjson;q=0.5", "application/json"),
        ("", "application/json;q=0.5, application/x-ndjson", "application/x-ndjson"),
        ("", "application/x-ndjson;q=0, */*", "application/json"),
        ("", "*/*", "application/json"),
    ] {
        let mut client = Client::connect(&server.address);
        let (path, headers) = (format!("/v1/translate{query}"), [("Accept", accept)]);
        let response = client.request("POST", &path, &headers, b"{\"text\":\"the house\"}");
        assert_eq!(response.header("content-type"), media_type, "{query} {accept}");
        assert!(response.text().contains("la casa"), "{query} {accept}: {}", response.text());
    }
}

/// Every path with GET has HEAD too; every path names its methods and rejects others.
#[test]
fn methods_are_those_of_the_path() {
    let server = Server::start(&["--model", &toy_neural()]);
    let gets = [
        "/",
        "/app.js",
        "/healthz",
        "/readyz",
        "/metrics",
        "/v1/models",
        "/languages",
        "/health",
        "/frontend/settings",
        "/spec",
        "/translator/models",
        "/translator/health",
        "/api/languages",
        "/api/ready",
        "/v2/languages",
        "/v2/usage",
        "/MtRestService/ListSupportedLanguagePairs",
    ];
    let posts = [
        "/v1/translate",
        "/translate",
        "/detect",
        "/translator/translate",
        "/api/translate",
        "/v2/translate",
        "/RPC2",
    ];
    let ask = |method: &str, path: &str| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = format!("{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_ascii_lowercase(), body.to_owned())
    };
    for path in gets {
        let (status, head, body) = ask("GET", path);
        let head_answer = ask("HEAD", path);
        assert_eq!((head_answer.0, &*head_answer.2), (status, ""), "{path}");
        assert!(status < 300, "{path}: {status}");
        let length = |head: &str| {
            head.lines().find(|line| line.starts_with("content-length")).map(str::to_owned)
        };
        if path != "/metrics" && path != "/readyz" {
            assert_eq!(length(&head_answer.1), length(&head), "{path}: {body}");
        }
    }
    for path in posts {
        assert_eq!(ask("GET", path).0, 405, "{path}");
        assert_eq!(ask("HEAD", path).0, 405, "{path}");
    }
    for path in gets.iter().chain(&posts) {
        let (status, head, _) = ask("OPTIONS", path);
        assert!(status == 204 && head.contains("allow: "), "{path}: {head}");
        for method in ["DELETE", "PUT", "PATCH"] {
            let (status, head, _) = ask(method, path);
            assert!(status == 405 && head.contains("allow: "), "{method} {path}: {head}");
        }
    }
    assert!(ask("DELETE", "/").1.contains("allow: get, head, post\r\n"), "the page is at /");
    assert_eq!(ask("HEAD", "/nothing").0, 404);
}

#[test]
fn a_parameter_that_comes_twice_is_refused_in_every_protocol() {
    let server = Server::start(&["--model", &toy()]);
    for (path, media_type, body) in [
        ("/translate", FORM, "q=a&q=b&source=en&target=es"),
        ("/translate", FORM, "q=a&source=en&target=es&target=fr"),
        ("/translate?q=a", FORM, "q=b&source=en&target=es"),
        ("/translate", "application/json", r#"{"q":"a","q":"b","source":"en","target":"es"}"#),
        ("/detect", FORM, "q=a&q=b"),
        ("/v1/translate", "", r#"{"text":"a","text":"b"}"#),
        ("/v1/translate?model=toy", "", r#"{"text":"a"}"#),
        ("/v1/translate?stream=1&stream=0", "", r#"{"text":"a"}"#),
        ("/v1/translate", "", r#"{"text":"a","options":{"distinct":true,"distinct":false}}"#),
        ("/v2/translate", FORM, "text=a&target_lang=ES&target_lang=FR"),
        (
            "/v2/translate",
            "application/json",
            r#"{"text":["a"],"target_lang":"ES","target_lang":"FR"}"#,
        ),
        ("/MtRestService/Translate", FORM, "input=a&input=b&srcLangCode=en&trgLangCode=es"),
    ] {
        let response = server.post(path, media_type, body.as_bytes());
        assert_eq!(response.status, 400, "{path} {body}: {}", response.text());
    }
    // These protocols report errors with status 200.
    let twice = r#"[{"src":"a","src":"b"}]"#;
    let found = server.post("/translator/translate", "", twice.as_bytes()).json();
    assert!(found["error"].as_str().unwrap().contains("given twice"), "{found}");
    let twice = r#"{"from":"en","to":"es","source":"a","source":"b"}"#;
    let found = server.post("/api/translate", "", twice.as_bytes()).json();
    assert!(found["error"].as_str().unwrap().contains("given twice"), "{found}");
    // In DeepL's forms, a repeated parameter is a list.
    let form = "text=the+house&text=the+dog&target_lang=ES";
    let found = server.post("/v2/translate", FORM, form.as_bytes()).json();
    assert_eq!(found["translations"].as_array().map(Vec::len), Some(2));
}

/// A parameter that a protocol does not read from the address may be a misspelt one.
#[test]
fn unknown_parameters_of_an_address_are_refused() {
    let server = Server::start(&["--model", &toy()]);
    let call = super::moses_clients::call(&[("text", "the house")]);
    for (path, body, expected) in [
        ("/RPC2?modle=toy", &*call, "expected model, from, to, api_key"),
        (
            "/translator/translate?pair=en-es",
            r#"[{"src":"the house"}]"#,
            "expected model, from, to",
        ),
        (
            "/api/translate?model=toy",
            r#"{"from":"en","to":"es","source":"the house"}"#,
            "expected no parameters",
        ),
        ("/v1/translate?model=toy", r#"{"text":"the house"}"#, "expected stream"),
    ] {
        let found = server.post(path, "", body.as_bytes()).text();
        assert!(found.contains(expected), "{path}: {found}");
        let (known, _) = path.split_once('?').unwrap();
        let found = server.post(known, "", body.as_bytes()).text();
        assert!(found.contains("la casa"), "{known}: {found}");
    }
    for (path, expected) in [
        ("/translate?modle=toy", "expected model, from, to, api_key"),
        ("/opus?model=toy", "expected api_key"),
    ] {
        let (_, response) = Socket::shake_hands(&server.address, path, &[]);
        assert_eq!(response.status, 400, "{path}");
        assert!(response.text().contains(expected), "{path}: {}", response.text());
    }
}

/// A parameter whose value is not a text does not count as missing.
#[test]
fn values_that_are_not_texts_are_refused() {
    let server = Server::start(&["--model", &toy()]);
    let deepl = json!({"text": ["the house"], "target_lang": "ES", "formality": "prefer_less"});
    let libre = json!({"q": "the house", "source": "en", "target": "es"});
    let cat = json!({"input": "the house", "srcLangCode": "en", "trgLangCode": "es"});
    let requests = [
        ("/v2/translate", deepl, "tag_handling source_lang target_lang formality auth_key"),
        ("/translate", libre, "source target format api_key"),
        ("/MtRestService/TranslateJson", cat, "srcLangCode trgLangCode modelTag tokenCode"),
    ];
    for (path, body, names) in requests {
        assert_eq!(server.post_json(path, &body).status, 200, "{path}");
        for name in names.split(' ') {
            for value in [json!(1), json!(true), json!(["xml"])] {
                let mut wrong = body.clone();
                wrong[name] = value;
                let response = server.post_json(path, &wrong);
                assert_eq!(response.status, 400, "{path} {wrong}: {}", response.text());
                assert!(response.text().contains(name), "{path} {wrong}: {}", response.text());
            }
        }
    }
    let unknown = json!({"text": ["a"], "target_lang": "ES", "formality": "preferx"});
    assert_eq!(server.post_json("/v2/translate", &unknown).status, 400);
}

#[test]
fn bodies_in_odd_forms_are_answered_or_refused() {
    let (_folder, server) = small_server();
    let libre = |media_type: &str, body: &[u8]| server.post("/translate", media_type, body);
    let house = libre("application/json", br#"{"q":"the house","source":"en","target":"es"}"#);
    for (media_type, body) in [
        ("application/json; charset=utf-8", &br#"{"q":"the house","source":"en","target":"es"}"#[..]),
        ("application/problem+json", br#"{"q":"the house","source":"en","target":"es"}"#),
        ("application/json", b"\xef\xbb\xbf{\"q\":\"the house\",\"source\":\"en\",\"target\":\"es\"}"),
        ("application/json", br#"{"q":"the house","source":"en","target":"es","format":null,"alternatives":null,"api_key":null}"#),
        ("application/x-www-form-urlencoded; charset=ISO-8859-1", b"q=the+house&source=en&target=es"),
    ] {
        assert_eq!(libre(media_type, body).text(), house.text(), "{media_type}");
    }
    for (media_type, body, error) in [
        (
            "application/json",
            &b"{\"q\":\"\xe4\",\"source\":\"en\",\"target\":\"es\"}"[..],
            "Invalid JSON format",
        ),
        (
            "application/json",
            br#"{"q":[],"source":"en","target":"es"}"#,
            "Invalid request: missing q parameter",
        ),
        (
            "application/json",
            br#"{"q":null,"source":"en","target":"es"}"#,
            "Invalid request: missing q parameter",
        ),
        (
            "application/json",
            br#"{"q":["a",1],"source":"en","target":"es"}"#,
            "Invalid request: q is neither",
        ),
        (
            "application/json",
            br#"{"q":5,"source":"en","target":"es"}"#,
            "Invalid request: q is neither",
        ),
        (FORM, b"q=%e4&source=en&target=es", "Invalid request: the form is not UTF-8"),
        (
            "application/x-www-form-urlencoded; charset=utf-16",
            b"q=a",
            "Invalid request: the charset utf-16",
        ),
        (FORM, b"", "Invalid request: missing q parameter"),
    ] {
        let response = libre(media_type, body);
        assert_eq!(response.status, 400, "{media_type}");
        let found = response.json()["error"].as_str().unwrap().to_owned();
        assert!(found.starts_with(error), "{found}");
    }
    // JavaScript writes half a character where a text was cut inside an emoji.
    let half = libre("application/json", br#"{"q":"\ud83d","source":"en","target":"es"}"#);
    let whole = json!({"q": "\u{fffd}", "source": "en", "target": "es"});
    assert_eq!((half.status, half.text()), (200, server.post_json("/translate", &whole).text()));
    let deep = format!("{{\"q\":{}", "[".repeat(900));
    assert_eq!(libre("application/json", deep.as_bytes()).status, 400);
    // Empty texts count towards the limit of sentences.
    let many = json!({"q": vec![""; 21], "source": "en", "target": "es"});
    assert_eq!(server.post_json("/translate", &many).status, 400);
    let many = json!({"text": vec![""; 21], "split": true});
    assert_eq!(server.post_json("/v1/translate", &many).status, 413);
    let few = json!({"q": vec![""; 20], "source": "en", "target": "es"});
    assert_eq!(server.post_json("/translate", &few).json()["translatedText"], json!(vec![""; 20]));
    // A NUL character, which ends strings in C, is a part of the text here.
    let nul = json!({"q": "the\u{0}house", "source": "en", "target": "es"});
    assert_eq!(server.post_json("/translate", &nul).status, 200);
    let null =
        json!({"text": "the house", "split": null, "n_best": null, "options": {"distinct": null}});
    assert_eq!(server.post_json("/v1/translate", &null).status, 200);
    assert_eq!(
        server.post("/detect", "application/json", br#"{"q":["Hello","World"]}"#).json()[0]["language"],
        "en"
    );
}

/// Requests that come together are answered one after the other. A head that is too large, or has
/// too many headers, is rejected.
#[test]
fn pipelines_and_large_heads() {
    let server = Server::start(&["--model", &toy()]);
    let mut client = Client::connect(&server.address);
    let body = r#"{"text":"the house"}"#;
    let one = format!(
        "POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let other = "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n";
    client.0.get_mut().write_all([&one, other, &one].concat().as_bytes()).unwrap();
    let found: Vec<u16> = (0..3).map(|_| client.response().status).collect();
    assert_eq!(found, [200, 404, 200]);
    let large =
        format!("GET /healthz HTTP/1.1\r\nHost: a\r\nX-Large: {}\r\n\r\n", "a".repeat(1_000_000));
    assert_eq!(status(&server, &large), 431);
    let many = format!("GET /healthz HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: a\r\n".repeat(200));
    assert_eq!(status(&server, &many), 431);
}
