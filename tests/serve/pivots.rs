//! Two models in a row: what they say of a sentence is about the sentence of the client, not about
//! the one in the pivot language.

use serde_json::{Value, json};

use super::client::Server;
use super::moses_clients::call;
use super::websockets::Socket;
use super::{toy, toy_neural};
use crate::common::project_root;

/// The sentence whose translation by the toy, "la casa roja", has its words in another order.
const SENTENCE: &str = "the red house";

/// Starts a server from English to French, through Spanish. The second model is the toy again,
/// which does not know the words of the first one's translation and copies them.
fn start() -> Server {
    let ini = project_root().join("examples/toy/moses.ini");
    let second = format!("second={},from=es,to=fr", ini.display());
    Server::start(&["--model", &toy(), "--model", &second, "--pivot", "es"])
}

#[test]
fn links_lead_to_the_words_of_the_client() {
    let server = start();
    let body = json!({"text": SENTENCE, "from": "en", "to": "fr", "alignment": true});
    let found = server.post_json("/v1/translate", &body).json()["results"][0].clone();
    assert_eq!(found["source"], json!(["the", "red", "house"]));
    let best = &found["translations"][0];
    assert_eq!(best["tokens"], json!(["la", "casa", "roja"]));
    assert_eq!(best["alignment"], json!([[0, 0], [1, 2], [2, 1]]));

    let address = "/MtRestService/TranslateJson?input=the+red+house&srcLangCode=en&trgLangCode=fr";
    let found = server.get(address).json();
    assert_eq!(found["SegmentedSourceSentence"], json!(["the", "red", "house"]));
    assert_eq!(found["AlignmentString"], "0-0 1-2 2-1");

    let body = json!({"text": SENTENCE, "source": "en", "target": "fr"}).to_string();
    let found = Socket::open(&server, "/opus").ask(&body);
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["source-segments"], json!([SENTENCE]));
    assert_eq!(found["alignment"], json!(["0-0 1-2 2-1"]));

    let body = json!({"text": "the <b>red</b> house", "format": "html", "from": "en", "to": "fr"});
    let found = server.post_json("/v1/translate", &body).json();
    assert_eq!(found["results"][0]["text"], "la casa <b>roja</b>");
}

#[test]
fn xml_rpc_has_links_and_no_phrases() {
    let server = start();
    let ask = |wanted: &[&str]| {
        let members = wanted.iter().map(|name| (*name, "<i4>1</i4>"));
        let members: Vec<(&str, &str)> = members.chain([("text", SENTENCE)]).collect();
        let body = call(&members);
        server.post("/RPC2?from=en&to=fr", "text/xml", body.as_bytes()).text()
    };
    let found = ask(&["align", "word-align"]);
    assert!(found.contains("<string>la casa roja </string>"), "no marks of phrases: {found}");
    let positions = |name: &str| -> Vec<String> {
        let before = format!("<name>{name}</name><value><i4>");
        let parts = found.split(&before).skip(1);
        parts.map(|part| part.split('<').next().unwrap().to_owned()).collect()
    };
    for name in ["source-word", "src-start", "src-end"] {
        assert_eq!(positions(name), ["0", "1", "2"], "{name}");
    }
    for name in ["target-word", "tgt-start", "tgt-end"] {
        assert_eq!(positions(name), ["0", "2", "1"], "{name}");
    }
    for (name, what) in [("sg", "search graph"), ("topt", "translation options")] {
        let found = ask(&[name]);
        assert!(found.contains("<fault>"), "{found}");
        assert!(found.contains(&format!("two models in a row have no {what}")), "{found}");
    }
}

/// Starts a server from English to French, through Spanish, with `first` as the first model. The
/// second one is the toy's neural model.
fn start_neural(first: &str) -> Server {
    let model = project_root().join("examples/toy-neural/decoder.yml");
    let second = format!("second={},from=es,to=fr", model.display());
    Server::start(&["--model", first, "--model", &second, "--pivot", "es"])
}

/// Clients give prefixes and constraints in the target language.
#[test]
fn prefixes_and_constraints_are_for_the_second_model() {
    for first in [toy(), toy_neural()] {
        let server = start_neural(&first);
        let ask = |text: &str, from: &str, forced: &Value| {
            let mut body = json!({"text": text, "from": from, "to": "fr"});
            body.as_object_mut().unwrap().extend(forced.as_object().unwrap().clone());
            let found = server.post_json("/v1/translate", &body);
            assert_eq!(found.status, 200, "{}", found.text());
            found.json()["results"][0]["translations"][0]["text"].as_str().unwrap().to_owned()
        };
        let body = json!({"text": SENTENCE, "from": "en", "to": "es"});
        let between = server.post_json("/v1/translate", &body).json();
        let between = between["results"][0]["translations"][0]["text"].as_str().unwrap();
        let prefix = json!({"prefix": "el"});
        assert!(ask(SENTENCE, "en", &prefix).starts_with("el "), "{first}");
        for forced in [prefix, json!({"constraints": [["puertas"]]})] {
            assert_eq!(ask(SENTENCE, "en", &forced), ask(between, "es", &forced), "{forced}");
        }
    }
}

/// If the first model cannot translate a sentence, the empty result is not the second one's.
#[test]
fn errors_of_the_first_model_are_reported() {
    let server = start_neural(&format!("{},max-length=3", toy_neural()));
    let long = "the red house is big and old .";
    let body = json!({"text": [long, "red"], "from": "en", "to": "fr"});
    let found = server.post_json("/v1/translate", &body).json();
    let [refused, translated] = [0, 1].map(|at| found["results"][at].clone());
    assert_eq!(refused["errors"][0]["kind"], "malformed", "{refused}");
    let reason = refused["errors"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("at most 3 are allowed"), "{reason}");
    assert_eq!(refused["translations"][0]["text"], "");
    assert!(translated["errors"].is_null(), "{translated}");
    assert_ne!(translated["translations"][0]["text"], "");
    // A protocol without errors of sentences refuses the request.
    let mut socket = Socket::open(&server, "/translate?from=en&to=fr");
    socket.send(1, long.as_bytes());
    assert_eq!(socket.close_code(), 1008);
}

#[test]
fn what_cannot_be_composed_is_refused() {
    let server = start();
    for (key, what) in [("segmentation", "have no segmentation"), ("graph", "have no search graph")]
    {
        let body = json!({"text": SENTENCE, "from": "en", "to": "fr", key: true});
        let found = server.post_json("/v1/translate", &body);
        assert_eq!(found.status, 400, "{key}");
        assert_eq!(found.json()["detail"], format!("two models in a row {what}"));
    }
}

/// Marian's lines have the alignment that the configuration of the second model prints.
#[test]
fn lines_with_an_alignment_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = project_root().join("examples/toy-neural").canonicalize().unwrap();
    let config = folder.path().join("decoder.yml");
    let text = std::fs::read_to_string(model.join("decoder.yml")).unwrap();
    let text = text.replace("- ", &format!("- {}/", model.display()));
    std::fs::write(&config, text + "alignment: hard\n").unwrap();
    let second = format!("second={},from=es,to=fr", config.display());
    let server = Server::start(&["--model", &toy(), "--model", &second, "--pivot", "es"]);
    let mut socket = Socket::open(&server, "/translate?from=en&to=fr");
    socket.send(1, SENTENCE.as_bytes());
    assert_eq!(socket.close_code(), 1008);
    assert!(Socket::open(&server, "/translate?from=es&to=fr").ask("casa").contains(" ||| "));
}
