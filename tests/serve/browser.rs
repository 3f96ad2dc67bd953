//! The page in a browser: Chromium, driven by its DevTools protocol, which needs no other program.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, PATIENCE, Server};
use super::websockets::Socket;
use super::{toy, toy_neural};
use crate::common::{miriam, report_skip};

/// A browser without a window, and a page of it.
struct Browser {
    socket: Socket,
    next_id: u64,
    /// The events that the browser has sent.
    events: VecDeque<Value>,
    _process: Process,
    /// Its profile.
    _folder: tempfile::TempDir,
}

/// A process that ends with the test, however the test ends.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Browser {
    /// Starts a browser, if the machine has one.
    fn start() -> Option<Self> {
        let known = ["chromium", "chromium-browser", "google-chrome"];
        let named = std::env::var("MIRIAM_CHROMIUM").ok();
        let names = named.iter().map(String::as_str).chain(known);
        let has = |name: &&str| Command::new(name).arg("--version").output().is_ok();
        let Some(name) = names.into_iter().find(has) else {
            report_skip("there is no chromium (MIRIAM_CHROMIUM)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let child = Command::new(name)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-dev-shm-usage", "--disable-background-networking", "--lang=en"])
            .args(["--remote-debugging-port=0", "--window-size=1200,900", "about:blank"])
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut process = Process(child);
        let errors = BufReader::new(process.0.stderr.take().unwrap());
        let mut lines = errors.lines().map_while(Result::ok);
        let found = lines.find_map(|line| {
            let rest = line.split_once("DevTools listening on ws://")?.1.to_owned();
            Some(rest.split_once('/')?.0.to_owned())
        });
        let Some(address) = found else {
            report_skip("chromium does not start here");
            return None;
        };
        // The rest of its output is read, so that it never blocks.
        std::thread::spawn(move || lines.for_each(drop));
        let began = Instant::now();
        let path = loop {
            let pages = Client::connect(&address).request("GET", "/json/list", &[], b"").json();
            let page =
                pages.as_array().and_then(|all| all.iter().find(|one| one["type"] == "page"));
            if let Some(url) = page.and_then(|page| page["webSocketDebuggerUrl"].as_str()) {
                // The URL has the host of the request; only its path is used.
                break url[url.find("/devtools/").unwrap()..].to_owned();
            }
            assert!(began.elapsed() < PATIENCE, "the browser has no page");
            std::thread::sleep(Duration::from_millis(50));
        };
        let socket = Socket::open_at(&address, &path);
        let mut browser = Browser {
            socket,
            next_id: 0,
            events: VecDeque::new(),
            _process: process,
            _folder: folder,
        };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method of the browser; returns its answer.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        let asked = json!({"id": id, "method": method, "params": parameters}).to_string();
        self.socket.send(1, asked.as_bytes());
        loop {
            let (_, message) = self.socket.receive();
            let message: Value = serde_json::from_slice(&message).unwrap();
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push_back(message);
        }
    }

    /// Returns the value of an expression of JavaScript in the page.
    fn value(&mut self, expression: &str) -> Value {
        let parameters =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let found = self.call("Runtime.evaluate", parameters);
        assert!(found["exceptionDetails"].is_null(), "{expression}: {found}");
        found["result"]["value"].clone()
    }

    /// Returns the text of the element with this `data-testid`.
    fn text(&mut self, id: &str) -> String {
        let found =
            self.value(&format!("document.querySelector('[data-testid={id}]').textContent"));
        found.as_str().unwrap_or_default().to_owned()
    }

    fn wait_for(&mut self, what: &str, expression: &str) {
        let began = Instant::now();
        while self.value(expression) != json!(true) {
            assert!(began.elapsed() < PATIENCE, "waited for {what}: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Types a text in place of the current one.
    fn type_text(&mut self, text: &str) {
        self.value("{ const e = document.getElementById('source'); e.focus(); e.select(); }");
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Moves the mouse over an element.
    fn point_at(&mut self, selector: &str) {
        let place = self.value(&format!(
            "{{ const e = document.querySelector('{selector}'); e.scrollIntoView({{block: 'center'}});\
             const r = e.getBoundingClientRect();\
             ({{x: r.x + r.width / 2, y: r.y + r.height / 2}}) }}"
        ));
        let parameters = json!({"type": "mouseMoved", "x": place["x"], "y": place["y"]});
        self.call("Input.dispatchMouseEvent", parameters);
    }

    /// Returns the errors of the console so far, and the addresses that were requested.
    fn errors_and_requests(&mut self) -> (Vec<String>, Vec<String>) {
        let (mut errors, mut requests) = (Vec::new(), Vec::new());
        for event in &self.events {
            let parameters = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" => errors.push(parameters.to_string()),
                "Runtime.consoleAPICalled" if parameters["type"] == "error" => {
                    errors.push(parameters.to_string());
                }
                "Log.entryAdded" if parameters["entry"]["level"] == "error" => {
                    errors.push(parameters.to_string());
                }
                "Network.requestWillBeSent" => {
                    requests.push(parameters["request"]["url"].as_str().unwrap().to_owned());
                }
                _ => {}
            }
        }
        (errors, requests)
    }
}

/// Decodes base64.
fn decode_base64(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let values = text.bytes().filter_map(|byte| digits.iter().position(|&digit| digit == byte));
    let values: Vec<usize> = values.collect();
    let group = |four: &[usize]| {
        let bits = (0..4).fold(0, |bits, at| bits << 6 | four.get(at).copied().unwrap_or(0));
        [bits >> 16, bits >> 8, bits].map(|byte| byte as u8)[..four.len() - 1].to_vec()
    };
    values.chunks(4).flat_map(group).collect()
}

#[test]
fn the_page_translates_and_shows_what_the_models_know() {
    let Some(mut browser) = Browser::start() else { return };
    let server = Server::start(&["--model", &toy(), "--model", &toy_neural()]);
    let origin = format!("http://{}/", server.address);
    browser.call("Page.navigate", json!({"url": origin}));
    browser.wait_for("the models", "document.querySelectorAll('#model option').length === 2");

    // The page translates while one types, and shows byte for byte what the protocol returns.
    let sentence = "the red house is big .";
    browser.type_text(sentence);
    let body = json!({"model": "toy", "text": sentence, "split": true, "alignment": true,
        "segmentation": true, "n_best": 10, "options": {"distinct": true}});
    let answer = server.post_json("/v1/translate", &body).json()["results"][0].clone();
    let expected = answer["text"].as_str().unwrap();
    let same = format!("document.getElementById('target').innerText === {}", json!(expected));
    browser.wait_for("the translation", &same);
    let best = &answer["sentences"][0]["translations"][0];

    // While the text has the focus, only the card around it has a frame.
    let outline = |selector: &str| {
        format!("getComputedStyle(document.querySelector('{selector}')).outlineStyle")
    };
    browser.value("document.getElementById('source').focus()");
    assert_eq!(browser.value(&outline("#source")), "none");
    assert_eq!(browser.value(&outline(".pane:has(#source)")), "solid");

    // The system has no file `preparation`, so the hint about tokens is shown.
    assert_eq!(browser.value("document.getElementById('tokens-hint').hidden"), json!(false));

    // A word's partners are marked while the mouse is over it.
    for source in 0..5 {
        browser.point_at(&format!("#source-tokens .token[data-index=\"{source}\"]"));
        let partners = best["alignment"].as_array().unwrap().iter();
        let partners: Vec<Value> =
            partners.filter(|link| link[0] == source).map(|link| link[1].clone()).collect();
        let marked = browser.value(
            "[...document.querySelectorAll('#target-tokens .token.partner')]\
             .map(e => Number(e.dataset.index))",
        );
        assert_eq!(marked, json!(partners), "word {source}");
        let current = browser.value(
            "[...document.querySelectorAll('#source-tokens .token.current')]\
             .map(e => Number(e.dataset.index))",
        );
        assert_eq!(current, json!([source]));
    }
    // The arrow keys move from word to word too.
    browser.value("document.querySelector('#source-tokens .token').focus()");
    for kind in ["rawKeyDown", "keyUp"] {
        let key = json!({"type": kind, "key": "ArrowRight", "windowsVirtualKeyCode": 39});
        browser.call("Input.dispatchKeyEvent", key);
    }
    assert_eq!(browser.value("document.activeElement.dataset.index"), "1");

    let rows = browser.value("document.querySelectorAll('#nbest tr').length");
    let listed = answer["sentences"][0]["translations"].as_array().unwrap().len();
    assert_eq!(rows, json!(listed + 1), "a heading and the list");
    assert!(listed > 2 && browser.text("nbest").contains("Distortion0"));

    // Phrases cover each word once; a click shows other translations of the span.
    let spans = browser.value(
        "[...document.querySelectorAll('#phrases button')].map(e => e.dataset.span.split('-').map(Number))",
    );
    let mut covered: Vec<u64> = Vec::new();
    for span in spans.as_array().unwrap() {
        covered.extend(span[0].as_u64().unwrap()..=span[1].as_u64().unwrap());
    }
    covered.sort_unstable();
    assert_eq!(covered, (0..6).collect::<Vec<u64>>());
    browser.value("document.querySelector('#phrases button').click()");
    assert!(browser.text("options").contains("Translations of"));

    // The best path of the graph has one edge for each phrase of the translation.
    browser.value("{ document.getElementById('graph-card').open = true; }");
    browser.wait_for("the graph", "document.querySelectorAll('#graph .node.best').length > 0");
    let path = browser.value("document.querySelectorAll('#graph .node.best').length");
    assert_eq!(path, json!(spans.as_array().unwrap().len() + 1));
    assert!(browser.text("info").contains("tokens a second"));

    // Tags in the text are shown as text.
    browser.type_text("<img src=x onerror=\"window.wasRun = 1\">");
    let shown = "document.getElementById('target').innerText.includes('onerror=')";
    browser.wait_for("the tag as text", shown);
    assert_eq!(browser.value("document.images.length"), json!(0));
    assert_eq!(browser.value("typeof window.wasRun"), "undefined");

    browser.type_text(sentence);
    // A neural model shows the probabilities of words.
    browser.value(
        "{ const m = document.getElementById('model'); m.value = 'neural';\
         m.dispatchEvent(new Event('change')); }",
    );
    let heat = "document.querySelectorAll('#words .token').length > 2";
    browser.wait_for("the words", heat);
    assert_eq!(browser.value("document.getElementById('phrases-card').hidden"), json!(true));

    // On a telephone nothing is wider than the window.
    let narrow = json!({"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": true});
    browser.call("Emulation.setDeviceMetricsOverride", narrow);
    browser.type_text(sentence);
    browser.wait_for("the words again", heat);
    let width = browser.value("document.documentElement.scrollWidth");
    assert!(width.as_u64().unwrap() <= 360, "{width}");
    let picture = browser.call("Page.captureScreenshot", json!({"format": "png"}));
    let bytes = decode_base64(picture["data"].as_str().unwrap());
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-page.png");
    std::fs::write(file, bytes).unwrap();

    let (errors, requests) = browser.errors_and_requests();
    assert_eq!(errors, Vec::<String>::new());
    let elsewhere = |url: &&String| !url.starts_with(&origin) && **url != "about:blank";
    assert_eq!(requests.iter().find(elsewhere), None);
    assert!(requests.len() > 6, "{requests:?}");

    // The page reports that the server is gone, and asks again when a server is back.
    let address = server.address.clone();
    drop(server);
    browser.type_text("the small dog reads .");
    browser.wait_for("the error", "!document.getElementById('error').hidden");
    assert!(browser.text("error").contains("cannot be reached"));
    let mut command = miriam();
    command.args(["serve", "--threads", "2", "--listen", &address]);
    command.args(["--model", &toy(), "--model", &toy_neural()]);
    let again = Server::start_by(&mut command);
    again.wait_until_ready();
    browser.wait_for("the page to recover", "document.getElementById('error').hidden");
    let body = json!({"model": "neural", "text": "the small dog reads .", "split": true});
    let answer = again.post_json("/v1/translate", &body).json();
    let same =
        format!("document.getElementById('target').innerText === {}", answer["results"][0]["text"]);
    browser.wait_for("the translation of the new server", &same);
}

/// The limit of search graphs does not apply to translations.
#[test]
fn the_page_translates_long_texts_without_their_graph() {
    let Some(mut browser) = Browser::start() else { return };
    let (_folder, server) = super::faults::with_limits("graph-words = 3", &toy());
    browser.call("Page.navigate", json!({"url": format!("http://{}/", server.address)}));
    browser.wait_for("the model", "document.querySelectorAll('#model option').length === 1");
    let sentence = "the red house is big .";
    browser.type_text(sentence);
    let body = json!({"model": "toy", "text": sentence, "split": true});
    let expected = server.post_json("/v1/translate", &body).json()["results"][0]["text"].clone();
    let same = format!("document.getElementById('target').innerText === {expected}");
    browser.wait_for("the translation", &same);
    assert_eq!(browser.value("document.getElementById('graph-card').hidden"), json!(true));
}
