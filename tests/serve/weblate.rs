//! The requests that Weblate's machinery sends to DeepL and to LibreTranslate, call by call.

use serde_json::{Value, json};

use super::client::{Client, Server};
use super::{lines, nmt_translate, toy_neural};

/// The headers of Weblate's requests to DeepL.
const HEADERS: [(&str, &str); 4] = [
    ("Referer", "https://weblate.example/"),
    ("Accept", "application/json; charset=utf-8"),
    ("Authorization", "DeepL-Auth-Key secret"),
    ("Content-Type", "application/json"),
];

fn ask(server: &Server, method: &str, path: &str, body: &str) -> (u16, Value) {
    let mut client = Client::connect(&server.address);
    // The last header describes the body.
    let headers = if body.is_empty() { &HEADERS[..3] } else { &HEADERS[..] };
    let response = client.request(method, path, headers, body.as_bytes());
    (response.status, response.json())
}

/// Weblate lists languages and pairs of glossaries first, then translates a batch in which
/// placeholders are empty elements, and puts the placeholders back.
#[test]
fn deepl_machinery() {
    let server = Server::start(&["--model", &toy_neural()]);
    let codes = |path: &str| -> Vec<String> {
        let (status, found) = ask(&server, "GET", path, "");
        assert_eq!(status, 200);
        let all = found.as_array().unwrap().iter();
        all.map(|one| one["language"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(codes("/v2/languages?type=source"), ["EN"]);
    assert_eq!(codes("/v2/languages?type=target"), ["ES"]);
    let pairs = ask(&server, "GET", "/v2/glossary-language-pairs", "");
    assert_eq!(pairs, (200, json!({"supported_languages": []})));
    assert_eq!(ask(&server, "GET", "/v2/glossaries", ""), (200, json!({"glossaries": []})));
    // Weblate reads 400 and 404 as a glossary that is gone.
    let (status, gone) = ask(&server, "DELETE", "/v2/glossaries/0123", "");
    assert!(status == 404 && gone["message"].is_string(), "{status} {gone}");
    let texts = [
        "the house is <x id=\"13\"></x> .",
        "<x id=\"0\"></x> the dog &amp; the house",
        "the red house<x id=\"13\"></x>",
        "the dog .",
    ];
    let body = json!({
        "text": texts, "source_lang": "EN", "target_lang": "ES", "formality": "default",
        "tag_handling": "xml", "ignore_tags": ["x"], "context": "A shop of toys",
        "model_type": "prefer_quality_optimized",
    });
    let (status, found) = ask(&server, "POST", "/v2/translate", &body.to_string());
    assert_eq!(status, 200, "{found}");
    let found: Vec<&str> = found["translations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["text"].as_str().unwrap())
        .collect();
    assert_eq!(found.len(), texts.len());
    for (found, placeholder) in found.iter().zip(["<x id=\"13\"></x>", "<x id=\"0\"></x>"]) {
        assert_eq!(found.matches(placeholder).count(), 1, "{found}");
    }
    let plain = nmt_translate(&["the red house".to_owned(), "the dog .".to_owned()], &[]);
    assert_eq!(found[2], format!("{}<x id=\"13\"></x>", plain[0]));
    assert_eq!(found[3], plain[1]);
    // There is no formal Spanish here.
    let mut formal = body.clone();
    formal["formality"] = json!("more");
    let (status, refused) = ask(&server, "POST", "/v2/translate", &formal.to_string());
    assert!(status == 400 && refused["message"].is_string(), "{refused}");
}

/// Weblate reads the codes of all languages and requests translations for pairs of them, a list of
/// texts at a time.
#[test]
fn libretranslate_machinery() {
    let server = Server::start(&["--model", &toy_neural()]);
    let (status, found) = ask(&server, "GET", "/languages", "");
    assert_eq!(status, 200);
    let codes: Vec<&str> =
        found.as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
    // A pair is known if both of its languages are listed.
    assert_eq!(codes, ["en", "es"]);
    let texts = lines(10);
    let body = json!({"api_key": "", "q": texts, "source": "en", "target": "es"}).to_string();
    let (status, found) = ask(&server, "POST", "/translate", &body);
    assert_eq!(status, 200, "{found}");
    assert_eq!(found["translatedText"], json!(nmt_translate(&texts, &[])));
}
