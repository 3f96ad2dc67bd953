//! DeepL's interface: version 2, and the lists of version 3 that clients request.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyper::header::ALLOW;
use hyper::{Method, StatusCode};
use miriam_textio::parse_truth_word;
use miriam_textproc::{DocumentFormat, LanguageTag, MarkupRules, Split};
use serde_json::{Value, json};

use super::parameters::Parameters;
use super::{status, with_retry, wrong_method};
use crate::app::App;
use crate::engine::RequestOptions;
use crate::http::{Call, Response, json as respond};
use crate::models::languages;
use crate::refusal::{Refusal, RouteError};
use crate::text_translation::{Detection, RequestedLanguages, TextFromLanguage};

/// The character limit in responses to clients; no limit is enforced.
const CHARACTER_LIMIT: u64 = 1_000_000_000_000;

/// The parameters that may occur several times in a form.
const LISTS: [&str; 4] = ["text", "splitting_tags", "non_splitting_tags", "ignore_tags"];

/// Lists that are always empty in this server: the path, and the name of the list in the response.
const EMPTY_LISTS: [(&str, &str); 5] = [
    ("/v2/glossary-language-pairs", "supported_languages"),
    ("/v2/glossaries", "glossaries"),
    ("/v3/glossaries", "glossaries"),
    ("/v3/style_rules", "style_rules"),
    ("/v3/translation_memories", "translation_memories"),
];

/// Parameters of translations that are checked but have no effect, with their values.
const CHOICES: [(&str, &[&str]); 2] = [
    ("tag_handling_version", &["v1", "v2"]),
    ("model_type", &["quality_optimized", "prefer_quality_optimized", "latency_optimized"]),
];

/// The values of `formality`.
const FORMALITIES: [&str; 5] = ["default", "more", "less", "prefer_more", "prefer_less"];

/// Parameters that are not supported.
const UNSUPPORTED: [&str; 5] =
    ["glossary_id", "glossary_ids", "style_id", "translation_memory_id", "custom_instructions"];

pub(super) async fn answer(app: &Arc<App>, call: &Call) -> Response {
    let empty_list = EMPTY_LISTS.iter().find(|(path, _)| *path == call.path).map(|(_, name)| *name);
    let outcome = match (&*call.path, &call.method) {
        ("/v2/translate", &Method::POST) => translate(app, call).await,
        ("/v2/languages", &Method::GET | &Method::POST) => list_languages(app, call),
        ("/v2/usage", &Method::GET | &Method::POST) => usage(app, call),
        ("/v2/translate", _) => return wrong_method_json("POST", "use POST"),
        ("/v2/languages" | "/v2/usage", _) => {
            return wrong_method_json("GET, POST", "use GET or POST");
        }
        (path, method) => match empty_list {
            Some(name) if method == Method::GET => admit(app, call).map(|()| json!({name: []})),
            Some(_) => {
                return wrong_method_json("GET", "use GET: this list is always empty");
            }
            None => match admit(app, call) {
                Ok(()) => return unknown(path),
                Err(refusal) => Err(refusal),
            },
        },
    };
    match outcome {
        Ok(value) => respond(StatusCode::OK, &value),
        Err(refusal) => refuse(&refusal),
    }
}

/// Returns the response to a method that a path does not have, in the form that DeepL's clients
/// expect. `allowed` lists the methods that it has.
fn wrong_method_json(allowed: &'static str, message: &str) -> Response {
    let plain = wrong_method(allowed);
    let mut response = respond(plain.status(), &json!({"message": message}));
    if let Some(methods) = plain.headers().get(ALLOW) {
        response.headers_mut().insert(ALLOW, methods.clone());
    }
    response
}

/// Returns the response to an unknown path, in the form that DeepL's clients expect.
fn unknown(path: &str) -> Response {
    let parent = EMPTY_LISTS.iter().find(|(list, _)| path.starts_with(&format!("{list}/")));
    let message = match parent {
        Some((list, _)) => format!("Not found: the list {list} is always empty"),
        None => format!("Not found: {path}; texts are translated by /v2/translate"),
    };
    respond(StatusCode::NOT_FOUND, &json!({"message": message}))
}

/// Checks the key of a request that translates nothing.
fn admit(app: &App, call: &Call) -> Result<(), Refusal> {
    let (_, key) = open(call)?;
    app.admit(key.as_deref(), 0)
}

pub(super) fn refuse(refusal: &Refusal) -> Response {
    let status = match refusal {
        // In this protocol the status is 403 for keys and 400 for languages.
        Refusal::Unauthorized => StatusCode::FORBIDDEN,
        Refusal::Route(RouteError::Loading | RouteError::Broken(_)) => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Refusal::Route(_) => StatusCode::BAD_REQUEST,
        _ => status(refusal),
    };
    with_retry(refusal, respond(status, &json!({"message": refusal.detail()})))
}

/// Returns the parameters of a request, and its API key.
fn open(call: &Call) -> Result<(Parameters, Option<String>), Refusal> {
    let parameters = Parameters::with_lists(call, &LISTS)?;
    let key = call.bearer().or(parameters.text("auth_key")?).map(str::to_owned);
    Ok((parameters, key))
}

async fn translate(app: &Arc<App>, call: &Call) -> Result<Value, Refusal> {
    let (parameters, key) = open(call)?;
    // The texts are a list in JSON, and repeated fields in forms.
    let texts = list_texts(&parameters, "text");
    let texts = texts.ok_or_else(|| Refusal::invalid("text is not a list of texts"))?;
    let mut texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
    if texts.is_empty() {
        return Err(Refusal::invalid("Parameter 'text' not specified."));
    }
    if let Some(name) = UNSUPPORTED.iter().find(|name| parameters.all(name).any(is_set)) {
        return Err(Refusal::invalid(format!("{name} is not supported: leave it out")));
    }
    let split = match parameters.get("split_sentences").filter(|value| is_set(value)) {
        Some(value) if value.as_str() == Some("nonewlines") => {
            // Sentences continue on the next line. In markup, line ends never end sentences.
            if parameters.text("tag_handling")?.is_none() {
                let join = |text: &String| text.replace("\r\n", " ").replace(['\n', '\r'], " ");
                texts.iter_mut().for_each(|text| *text = join(text));
            }
            Split::Sentences
        }
        Some(value) => match truth(value) {
            Some(true) => Split::Sentences,
            Some(false) => Split::Lines,
            None => return Err(unsupported_value("split_sentences")),
        },
        None => Split::Sentences,
    };
    for (name, values) in CHOICES {
        check_choice(&parameters, name, values)?;
    }
    let rules = markup_rules(&parameters)?;
    let format = match rules {
        None => DocumentFormat::Text(split),
        Some(rules) => DocumentFormat::Markup(split, Arc::new(rules)),
    };
    check_choice(&parameters, "formality", &FORMALITIES)?;
    if let Some("more" | "less") = parameters.text("formality")? {
        return Err(Refusal::invalid("formality is not supported"));
    }
    let to = parameters.text("target_lang")?;
    let to = to.ok_or_else(|| unsupported_value("target_lang"))?;
    app.admit_texts(key.as_deref(), &texts)?;
    let from = match parameters.text("source_lang")? {
        // A language pair of the request is looked up before anything is translated.
        Some(from) => app.registry().route(None, Some(from), Some(to))?.from,
        None => None,
    };
    let deadline = app.deadline(None);
    let languages = RequestedLanguages { from: from.as_deref(), to, detection: Detection::Each };
    let found = app
        .translate_between(&texts, &format, languages, |_| RequestOptions::default(), deadline)
        .await?;
    let characters: usize = texts.iter().map(|text| text.chars().count()).sum();
    app.metrics.characters.fetch_add(characters as u64, Ordering::Relaxed);
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

/// Returns the refusal of a value, in DeepL's words.
fn unsupported_value(name: &str) -> Refusal {
    Refusal::invalid(format!("Value for '{name}' not supported."))
}

/// Checks that a parameter, if it is set, has one of `values`.
fn check_choice(parameters: &Parameters, name: &str, values: &[&str]) -> Result<(), Refusal> {
    match parameters.get(name) {
        Some(value) if is_set(value) && !value.as_str().is_some_and(|v| values.contains(&v)) => {
            Err(unsupported_value(name))
        }
        _ => Ok(()),
    }
}

/// Returns the rules for the elements of texts; `None` if the texts are plain.
fn markup_rules(parameters: &Parameters) -> Result<Option<MarkupRules>, Refusal> {
    let outline = parameters.get("outline_detection").filter(|value| is_set(value)).map(|value| {
        truth(value).ok_or_else(|| Refusal::invalid("outline_detection is neither true nor false"))
    });
    let detects_outline = outline.transpose()?;
    let rules = match parameters.text("tag_handling")? {
        Some("html") => MarkupRules::html(),
        Some("xml") if detects_outline == Some(false) => MarkupRules::xml().without_outline(),
        Some("xml") => MarkupRules::xml(),
        Some(other) => {
            return Err(Refusal::invalid(format!("tag_handling {other} is not supported")));
        }
        None => {
            let names =
                ["splitting_tags", "non_splitting_tags", "ignore_tags", "outline_detection"];
            return match names.iter().find(|name| parameters.all(name).any(is_set)) {
                Some(name) => {
                    Err(Refusal::invalid(format!("{name} needs tag_handling, xml or html")))
                }
                None => Ok(None),
            };
        }
    };
    if detects_outline == Some(false) && parameters.text("tag_handling")? == Some("html") {
        return Err(Refusal::invalid("outline_detection needs tag_handling xml"));
    }
    let rules = rules
        .splitting(tag_names(parameters, "splitting_tags")?)
        .non_splitting(tag_names(parameters, "non_splitting_tags")?)
        .ignoring(tag_names(parameters, "ignore_tags")?);
    Ok(Some(rules))
}

/// Returns the tag names of the parameter `list`. They may be separated by commas, be items of a
/// list in JSON, or come from repeated fields.
fn tag_names<'p>(parameters: &'p Parameters, list: &str) -> Result<Vec<&'p str>, Refusal> {
    let texts = list_texts(parameters, list)
        .ok_or_else(|| Refusal::Invalid(format!("{list} is not a list of names of tags")))?;
    let names = texts.into_iter().flat_map(|text| text.split(',')).map(str::trim);
    Ok(names.filter(|name| !name.is_empty()).collect())
}

/// Returns the texts of a parameter, each given alone or in a list; `None` if one is not a text.
fn list_texts<'p>(parameters: &'p Parameters, name: &str) -> Option<Vec<&'p str>> {
    let values = parameters.all(name).flat_map(|value| match value {
        Value::Array(values) => &values[..],
        value => std::slice::from_ref(value),
    });
    values.map(Value::as_str).collect()
}

/// Whether a parameter has a value that is not empty.
fn is_set(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    }
}

/// Parses a truth value, which may be written as a text or a number.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::String(text) => parse_truth_word(text),
        Value::Number(number) => match number.as_u64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the codes that DeepL's clients accept as targets for `code`. They reject English and
/// Portuguese without a country.
fn target_codes(code: &str) -> Vec<String> {
    match code.to_uppercase().as_str() {
        "EN" => vec!["EN-GB".into(), "EN-US".into()],
        "PT" => vec!["PT-BR".into(), "PT-PT".into()],
        other => vec![other.to_owned()],
    }
}

fn list_languages(app: &App, call: &Call) -> Result<Value, Refusal> {
    let (parameters, key) = open(call)?;
    app.admit(key.as_deref(), 0)?;
    check_choice(&parameters, "type", &["source", "target"])?;
    let registry = app.registry();
    if parameters.text("type")? == Some("target") {
        let entries = list_targets(&registry.targets()).into_iter().map(|code| {
            json!({"language": code, "name": language_name(&code), "supports_formality": false})
        });
        return Ok(entries.collect());
    }
    let codes = registry.sources().into_iter().map(str::to_uppercase);
    // DeepL names the variants of a language in the list of targets only.
    Ok(codes.map(|code| json!({"language": code, "name": base_name(&code)})).collect())
}

/// Returns the codes of the list of targets, each once: both `en` and `en-GB` give `EN-GB`.
fn list_targets(targets: &[&str]) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    for code in targets.iter().flat_map(|target| target_codes(target)) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
}

/// Returns the name of a language without its script and region.
fn base_name(code: &str) -> String {
    languages::name(code.split_once('-').map_or(code, |(language, _)| language))
}

/// Returns DeepL's name of a language, which differs between its variants.
fn language_name(code: &str) -> String {
    let tag = LanguageTag::parse(code);
    let parts =
        tag.as_ref().map(|tag| (&*tag.language, tag.script.as_deref(), tag.region.as_deref()));
    let name = match parts {
        Some(("en", None, Some("gb"))) => "English (British)",
        Some(("en", None, Some("us"))) => "English (American)",
        Some(("pt", None, Some("br"))) => "Portuguese (Brazilian)",
        Some(("pt", None, Some("pt"))) => "Portuguese (European)",
        Some(("zh", Some("hans"), _)) => "Chinese (simplified)",
        _ => return languages::name(code),
    };
    name.to_owned()
}

fn usage(app: &App, call: &Call) -> Result<Value, Refusal> {
    admit(app, call)?;
    let count = app.metrics.characters.load(Ordering::Relaxed);
    Ok(json!({"character_count": count, "character_limit": CHARACTER_LIMIT}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_is_listed_once_with_a_name_of_its_own() {
        let codes = list_targets(&["en", "en-GB", "pt", "pt-BR", "zh-Hans", "zh-Hant", "es"]);
        assert_eq!(codes, ["EN-GB", "EN-US", "PT-BR", "PT-PT", "ZH-HANS", "ZH-HANT", "ES"]);
        let names: Vec<String> = codes.iter().map(|code| language_name(code)).collect();
        assert_eq!(
            names,
            [
                "English (British)",
                "English (American)",
                "Portuguese (Brazilian)",
                "Portuguese (European)",
                "Chinese (simplified)",
                "Chinese (traditional)",
                "Spanish",
            ]
        );
    }
}
