//! Running text before and after its translation: detected languages, copied texts, and texts that
//! are made to keep a server busy.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Client, Server};
use super::{lines, nmt_translate, toy, toy_neural};
use crate::common::{miriam, project_root, run_to_error};

#[test]
fn languages_are_detected_among_all_that_are_served() {
    let server = Server::start(&["--model", &toy()]);
    let ask = |q: serde_json::Value| {
        let body = json!({"q": q, "source": "auto", "target": "es"});
        server.post_json("/translate", &body).json()
    };
    let detect = |text: &str| server.post_json("/detect", &json!({"q": text})).json()[0].clone();
    // What is in the target language is not translated.
    let found = ask(json!("la casa"));
    assert_eq!(found["detectedLanguage"]["language"], "es");
    assert_eq!(found["translatedText"], "la casa");
    assert_eq!(detect("la casa")["language"], "es");
    assert!(detect("la casa")["confidence"].as_f64().unwrap() < 60.0);
    assert_eq!(detect("the house")["language"], "en");
    assert_eq!(ask(json!("the house"))["translatedText"], "la casa");
    // Nothing in these texts tells their language.
    for text in ["12:30", "!", "https://example.com/"] {
        assert_eq!(detect(text), json!({"confidence": 0.0, "language": "en"}), "{text}");
        assert_eq!(ask(json!(text))["translatedText"], text);
    }
    assert_eq!(ask(json!(""))["translatedText"], "");
    // A short text of a batch gets the language of the others; a long text keeps its own.
    let long = "Todos los hombres nacen libres e iguales en dignidad y derechos.";
    let english = "The red house of my friend is very big, and the dog is not there.";
    let codes = |texts: &[&str]| {
        let found = ask(json!(texts))["detectedLanguage"].clone();
        let codes = found.as_array().unwrap().iter();
        codes.map(|one| one["language"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(codes(&["la casa", long]), ["es", "es"]);
    assert_eq!(codes(&["la casa", english, english, english]), ["en", "en", "en", "en"]);
    assert_eq!(codes(&["the dog", long]), ["es", "es"]);
    assert_eq!(codes(&[english, long, "12"]), ["en", "es", "en"]);
    // Each translation is in the place of its text.
    let translated = ask(json!([english, long, "12"]))["translatedText"].clone();
    assert_eq!(translated[0], ask(json!(english))["translatedText"]);
    assert_eq!([&translated[1], &translated[2]], [long, "12"]);
    // DeepL's protocol detects the language of each text.
    let body = json!({"text": ["la casa", "the house", english], "target_lang": "ES"});
    let found = server.post_json("/v2/translate", &body).json();
    let sources = found["translations"].as_array().unwrap().iter();
    let sources: Vec<_> = sources.map(|one| one["detected_source_language"].clone()).collect();
    assert_eq!(sources, ["ES", "EN", "EN"]);
}

#[test]
fn numbers_times_and_addresses_are_copied() {
    let server = Server::start(&["--model", &toy_neural()]);
    let line = &lines(1)[0];
    let translated = &nmt_translate(&lines(1), &[])[0];
    let copied =
        ["12:30", "3,14 %", "https://example.com/the/house", "me@example.com", "2026-11-26"];
    for text in copied {
        let body = json!({"q": text, "source": "en", "target": "es"});
        assert_eq!(server.post_json("/translate", &body).json()["translatedText"], text);
        let page = format!("<p>{text}</p><a href=\"u\"><b>{text}</b></a>");
        let body = json!({"q": page, "source": "en", "target": "es", "format": "html"});
        assert_eq!(server.post_json("/translate", &body).json()["translatedText"], *page);
        for split in ["0", "1"] {
            let body = json!({"text": [text], "source_lang": "EN", "target_lang": "ES", "split_sentences": split});
            let found = server.post_json("/v2/translate", &body).json();
            assert_eq!(found["translations"][0]["text"], text, "{found}");
        }
        let body = json!({"text": format!("{text}\n{line}\n{text}"), "split": true});
        let found = server.post_json("/v1/translate", &body).json();
        assert_eq!(found["results"][0]["text"], format!("{text}\n{translated}\n{text}"));
        assert_eq!(found["results"][0]["sentences"].as_array().unwrap().len(), 1);
        let found = server.post_json("/v1/split", &json!({"language": "en", "text": text})).json();
        assert_eq!(found["results"][0], json!([text]));
    }
    // A single line is translated, whatever it is.
    let found = server.post_json("/v1/translate", &json!({"text": "12:30"})).json();
    let expected = &nmt_translate(&["12:30".to_owned()], &[])[0];
    assert_eq!(found["results"][0]["translations"][0]["text"], **expected);
}

#[test]
fn a_model_may_have_abbreviations_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("list"), "Zork\n").unwrap();
    let list = folder.path().join("list");
    let text = "My sister reads the Zork. The house is big.";
    let count = |model: &str| {
        let server = Server::start(&["--model", model]);
        let body = json!({"text": text, "split": true});
        let found = server.post_json("/v1/translate", &body).json();
        found["results"][0]["sentences"].as_array().unwrap().len()
    };
    for model in [toy(), toy_neural()] {
        assert_eq!(count(&model), 2, "{model}");
        let with_list = format!("{model},nonbreaking-prefixes={}", list.display());
        assert_eq!(count(&with_list), 1, "{model}");
    }
    let arpa = project_root().join("examples/toy/lm.arpa");
    for (model, expected) in [
        (format!("lm={},nonbreaking-prefixes=list", arpa.display()), "has no effect on a model"),
        (format!("{},nonbreaking-prefixes=absent", toy_neural()), "absent"),
    ] {
        let message = run_to_error(miriam().args(["serve", "--check", "--model", &model]));
        assert!(message.contains(expected), "{message}");
    }
}

/// A text of 2 MB that is made to be slow does not delay a small one, though one thread serves the
/// sockets.
#[test]
fn a_hostile_text_lets_others_be_answered() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    std::fs::write(&config, "[limits]\nbody-bytes = 5000000\ndeadline-ms = 10000\nlines = 100\n")
        .unwrap();
    let config = config.to_str().unwrap();
    let options = ["--config", config, "--io-threads", "1", "--model", &toy_neural()];
    let server = Server::start(&options);
    let hostile = ["J. R. R. ".repeat(220_000), "Smith, J. R., ".repeat(140_000)];
    let compressed = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        let body = json!({"q": hostile[0], "source": "en", "target": "es"});
        encoder.write_all(body.to_string().as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let answered = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let attack = scope.spawn(|| {
            let statuses = hostile.each_ref().map(|text| {
                let body = json!({"q": text, "source": "en", "target": "es"});
                server.post_json("/translate", &body).status
            });
            let html = json!({"q": hostile[0], "source": "en", "target": "es", "format": "html"});
            let html = server.post_json("/translate", &html).status;
            let headers = [("Content-Encoding", "gzip"), ("Content-Type", "application/json")];
            let mut client = Client::connect(&server.address);
            let packed = client.request("POST", "/translate", &headers, &compressed).status;
            let split = json!({"language": "en", "text": hostile[0]});
            let split = server.post_json("/v1/split", &split).status;
            answered.store(true, std::sync::atomic::Ordering::Release);
            (statuses, html, packed, split)
        });
        let small = json!({"q": "the house", "source": "auto", "target": "es"});
        while !answered.load(std::sync::atomic::Ordering::Acquire) {
            let began = Instant::now();
            assert_eq!(server.post_json("/translate", &small).status, 200);
            assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
            std::thread::sleep(Duration::from_millis(20));
        }
        // The slow texts have more sentences than are allowed, which LibreTranslate answers with
        // 400.
        let (statuses, html, packed, split) = attack.join().unwrap();
        assert_eq!((statuses, html, packed, split), ([400, 400], 400, 400, 200));
    });
}

#[test]
fn a_deadline_passes_while_a_text_is_cut() {
    let server = Server::start(&["--model", &toy_neural()]);
    let body = json!({"text": "J. R. R. ".repeat(220_000), "split": true, "timeout_ms": 1});
    let began = Instant::now();
    let found = server.post_json("/v1/translate", &body);
    assert_eq!(found.status, 504, "{}", found.text());
    assert!(began.elapsed() < Duration::from_secs(10));
}

/// Words that are cut at a bar are reported with the sentence, as the command line reports them for
/// a text.
#[test]
fn words_that_are_cut_at_a_bar_are_reported() {
    let server = Server::start(&["--model", &toy()]);
    let errors = |text: &str| {
        let found = server.post_json("/v1/translate", &json!({"text": text})).json();
        found["results"][0]["errors"].clone()
    };
    let found = errors("the ho|use is red|d .");
    assert_eq!(found[0]["kind"], "cut-words", "{found}");
    assert!(
        found[0]["reason"].as_str().unwrap().starts_with("2 words are cut at a bar"),
        "{found}"
    );
    assert!(errors("the house is red .").as_array().is_none_or(Vec::is_empty));
}

/// As on the command line, a language without a list of abbreviations is named in a warning.
#[test]
fn a_language_without_abbreviations_has_a_warning() {
    let server = Server::start(&["--model", &toy_neural()]);
    for path in ["/v1/split", "/v1/tokenize"] {
        let ask = |language: &str| {
            server.post_json(path, &json!({"language": language, "text": "Mr. X isn't."})).json()
        };
        let english = ask("en");
        assert!(english["results"].is_array() && english["warning"].is_null(), "{english}");
        for known in ["eng", "EN-GB"] {
            assert_eq!(ask(known), english, "{path} {known}");
        }
        for unknown in ["xx", "english"] {
            let found = ask(unknown);
            let warning = found["warning"].as_str().unwrap_or_default();
            let expected = format!("no list of abbreviations for {unknown:?}");
            assert!(warning.starts_with(&expected), "{found}");
        }
    }
}
