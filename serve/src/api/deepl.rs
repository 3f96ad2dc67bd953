//! DeepL's interface, version 2.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use super::parameters::Parameters;
use super::{not_found, status, with_retry, wrong_method};
use crate::app::{App, Refusal};
use crate::engine::RequestOptions;
use crate::http::{Call, Response, json as respond};
use crate::models::{Route, RouteError, languages};
use crate::running_text::{Split, TextFormat};
use crate::text_translation::TextFromLanguage;

/// The characters that clients are told they may translate: there is no limit.
const CHARACTER_LIMIT: u64 = 1_000_000_000_000;

/// What forms repeat.
const LISTS: [&str; 4] = ["text", "splitting_tags", "non_splitting_tags", "ignore_tags"];

pub(super) async fn answer(app: &Arc<App>, call: &Call) -> Response {
    let outcome = match (&*call.path, &call.method) {
        ("/v2/translate", &Method::POST) => translate(app, call).await,
        ("/v2/languages", &Method::GET | &Method::POST) => list_languages(app, call),
        ("/v2/usage", &Method::GET | &Method::POST) => usage(app, call),
        ("/v2/translate", _) => return wrong_method("POST"),
        ("/v2/languages" | "/v2/usage", _) => return wrong_method("GET, POST"),
        _ => return not_found(),
    };
    match outcome {
        Ok(value) => respond(StatusCode::OK, &value),
        Err(refusal) => refuse(&refusal),
    }
}

pub(super) fn refuse(refusal: &Refusal) -> Response {
    let status = match refusal {
        // This protocol has 403 for keys, and 400 for languages.
        Refusal::Unauthorized => StatusCode::FORBIDDEN,
        Refusal::Route(error) if *error != RouteError::Loading => StatusCode::BAD_REQUEST,
        _ => status(refusal),
    };
    with_retry(refusal, respond(status, &json!({"message": refusal.detail()})))
}

fn open(app: &App, call: &Call) -> Result<(Parameters, Option<String>), Refusal> {
    let given = Parameters::with_lists(call, &LISTS)?;
    let key = call.bearer().or(given.text("auth_key")).map(str::to_owned);
    if !app.needs_key() {
        return Ok((given, None));
    }
    Ok((given, key))
}

async fn translate(app: &Arc<App>, call: &Call) -> Result<Value, Refusal> {
    let (given, key) = open(app, call)?;
    let wrong = |reason: &str| Refusal::Invalid(reason.to_owned());
    // A list in JSON, repeated in forms.
    let mut texts: Vec<String> = Vec::new();
    for value in given.all("text") {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(list) => {
                for one in list {
                    let text = one.as_str().ok_or_else(|| wrong("text is no list of texts"))?;
                    texts.push(text.to_owned());
                }
            }
            _ => return Err(wrong("text is no list of texts")),
        }
    }
    if texts.is_empty() {
        return Err(wrong("Parameter 'text' not specified."));
    }
    if given.text("glossary_id").is_some() {
        return Err(wrong("there are no glossaries"));
    }
    check_tag_options(&given)?;
    let split = match given.get("split_sentences") {
        Some(Value::String(how)) if how == "0" => Split::Lines,
        Some(Value::Bool(false)) => Split::Lines,
        _ => Split::Sentences,
    };
    let format = match given.text("tag_handling") {
        None => TextFormat::Plain(split),
        // Elements that HTML does not have are inside sentences, as here.
        Some("html" | "xml") => TextFormat::Html(split),
        Some(other) => return Err(wrong(&format!("tag_handling {other} is not supported"))),
    };
    let formality = given.text("formality").unwrap_or("default");
    if !formality.starts_with("prefer") && formality != "default" {
        return Err(wrong("formality is not supported"));
    }
    let to = given.text("target_lang");
    let to = to.ok_or_else(|| wrong("Value for 'target_lang' not supported."))?;
    let characters: usize = texts.iter().map(|text| text.chars().count()).sum();
    app.admit(key.as_deref(), characters)?;
    app.metrics.characters.fetch_add(characters as u64, Ordering::Relaxed);
    let from = match given.text("source_lang") {
        // A pair that is given is looked up before anything is translated.
        Some(from) => app.registry().route(None, Some(from), Some(to))?.from,
        None => None,
    };
    let deadline = app.deadline(None);
    let languages = (from.as_deref(), to);
    let options = |_: &Route| RequestOptions::default();
    let found = app.translate_between(&texts, format, languages, options, deadline).await?;
    let results =
        texts.iter().zip(found).map(|(text, TextFromLanguage { language, text: found })| {
            json!({
                "detected_source_language": language.code.to_uppercase(),
                "text": found.text,
                "billed_characters": text.chars().count(),
            })
        });
    Ok(json!({"translations": results.collect::<Vec<_>>()}))
}

/// Refuses what says of single tags what they are: all are what they are in HTML.
fn check_tag_options(given: &Parameters) -> Result<(), Refusal> {
    let is_set = |value: &Value| match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Null => false,
        _ => true,
    };
    let lists = ["splitting_tags", "non_splitting_tags", "ignore_tags"];
    if let Some(name) = lists.iter().find(|name| given.all(name).any(is_set)) {
        return Err(Refusal::Invalid(format!("{name} is not supported")));
    }
    let outline = given.get("outline_detection");
    if outline.is_some_and(|value| *value == json!(false) || *value == json!("0")) {
        return Err(Refusal::Invalid("outline_detection=0 is not supported".into()));
    }
    Ok(())
}

/// The codes that clients of this protocol accept as targets for `code`: they do not take
/// English and Portuguese without a country.
fn target_codes(code: &str) -> Vec<String> {
    match code.to_uppercase().as_str() {
        "EN" => vec!["EN-GB".into(), "EN-US".into()],
        "PT" => vec!["PT-BR".into(), "PT-PT".into()],
        other => vec![other.to_owned()],
    }
}

fn list_languages(app: &App, call: &Call) -> Result<Value, Refusal> {
    let (given, key) = open(app, call)?;
    app.admit(key.as_deref(), 0)?;
    let registry = app.registry();
    let entry = |code: String| {
        let name = languages::name(code.split_once('-').map_or(&*code, |(language, _)| language));
        (code, name)
    };
    if given.text("type") == Some("target") {
        let codes = registry.targets().into_iter().flat_map(target_codes);
        let entries = codes.map(entry).map(
            |(code, name)| json!({"language": code, "name": name, "supports_formality": false}),
        );
        return Ok(entries.collect());
    }
    let codes = registry.sources().into_iter().map(str::to_uppercase);
    Ok(codes.map(entry).map(|(code, name)| json!({"language": code, "name": name})).collect())
}

fn usage(app: &App, call: &Call) -> Result<Value, Refusal> {
    let (_, key) = open(app, call)?;
    app.admit(key.as_deref(), 0)?;
    let count = app.metrics.characters.load(Ordering::Relaxed);
    Ok(json!({"character_count": count, "character_limit": CHARACTER_LIMIT}))
}
