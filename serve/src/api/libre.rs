//! The interface of LibreTranslate, for which most applications have clients.
//!
//! Error messages are those that clients expect.

use std::sync::Arc;

use hyper::{Method, StatusCode};
use miriam_textproc::{DetectedLanguage, DocumentFormat, Split};
use serde_json::{Value, json};

use super::parameters::{ParameterError, Parameters, whole_number};
use super::{not_found, wrong_method};
use crate::app::App;
use crate::config::ModelKind;
use crate::engine::RequestOptions;
use crate::http::{Call, Response, json as respond, set_retry_after};
use crate::models::{Registry, Route, languages};
use crate::refusal::{Refusal, RouteError};
use crate::text_translation::{Detection, RequestedLanguages, TextFromLanguage};

/// The OpenAPI description of the interface.
const SPEC: &str = include_str!("libre_spec.json");

/// The paths of the group.
pub(super) const PATHS: [&str; 8] = [
    "/translate",
    "/languages",
    "/detect",
    "/health",
    "/frontend/settings",
    "/spec",
    "/suggest",
    "/translate_file",
];

/// An error: its status, its message, and the time after which to retry.
struct Wrong {
    status: StatusCode,
    text: String,
    retry_after: Option<u64>,
}

impl Wrong {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Wrong { status, text: text.into(), retry_after: None }
    }

    fn request(text: impl Into<String>) -> Self {
        Wrong::new(StatusCode::BAD_REQUEST, text)
    }

    fn response(self) -> Response {
        let mut response = respond(self.status, &json!({"error": self.text}));
        if let Some(seconds) = self.retry_after {
            set_retry_after(&mut response, seconds);
        }
        response
    }
}

pub(super) async fn answer(app: &Arc<App>, call: &Call) -> Response {
    match (&*call.path, &call.method) {
        ("/translate", &Method::POST) => match translate(app, call).await {
            Ok(value) => respond(StatusCode::OK, &value),
            Err(wrong) => wrong.response(),
        },
        ("/detect", &Method::POST) => detect(app, call).await,
        ("/languages", &Method::GET) => respond(StatusCode::OK, &list_languages(&app.registry())),
        ("/health", &Method::GET) => health(app),
        ("/frontend/settings", &Method::GET) => respond(StatusCode::OK, &settings(app)),
        ("/spec", &Method::GET) => crate::http::respond(StatusCode::OK, "application/json", SPEC),
        ("/suggest", &Method::POST) => {
            let text = "Suggestions are disabled on this server.";
            Wrong::new(StatusCode::FORBIDDEN, text).response()
        }
        ("/translate_file", &Method::POST) => {
            let text = "Files translation are disabled on this server.";
            Wrong::new(StatusCode::FORBIDDEN, text).response()
        }
        ("/translate" | "/detect" | "/suggest" | "/translate_file", _) => wrong_method("POST"),
        (path, _) if PATHS.contains(&path) => wrong_method("GET"),
        _ => not_found(),
    }
}

fn health(app: &App) -> Response {
    let Some(refusal) = app.readiness().refusal() else {
        return respond(StatusCode::OK, &json!({"status": "ok"}));
    };
    let body = json!({"status": "not ready", "error": refusal.detail()});
    super::with_retry(&refusal, respond(super::status(&refusal), &body))
}

/// Returns the response to a refusal, in the words of this protocol.
pub(super) fn refuse(refusal: &Refusal, key_given: bool) -> Response {
    wrong(refusal, key_given).response()
}

fn wrong(refusal: &Refusal, key_given: bool) -> Wrong {
    let wrong = match refusal {
        Refusal::Route(RouteError::NoPair { from, to }) => Wrong::request(format!(
            "{} ({to}) is not available as a target language from {} ({from})",
            languages::name(to),
            languages::name(from)
        )),
        Refusal::Route(error) if refusal.retry_after().is_none() => {
            Wrong::request(error.to_string())
        }
        Refusal::TooLarge(reason) | Refusal::Invalid(reason) => {
            Wrong::request(format!("Invalid request: {reason}"))
        }
        Refusal::Unauthorized if !key_given => {
            Wrong::request("Please contact the server operator to get an API key")
        }
        Refusal::Unauthorized => Wrong::new(StatusCode::FORBIDDEN, "Invalid API key"),
        Refusal::TooMany(_) => {
            Wrong::new(super::status(refusal), format!("Slowdown: {}", refusal.detail()))
        }
        Refusal::Internal(reason) => {
            Wrong::new(super::status(refusal), format!("Cannot translate text: {reason}"))
        }
        _ => Wrong::new(super::status(refusal), refusal.detail()),
    };
    Wrong { retry_after: refusal.retry_after(), ..wrong }
}

impl From<ParameterError> for Wrong {
    fn from(error: ParameterError) -> Self {
        match error {
            ParameterError::Json(_) => Wrong::request("Invalid JSON format"),
            error => Wrong::request(format!("Invalid request: {error}")),
        }
    }
}

/// Returns the parameters of a request, and its key.
fn open(call: &Call) -> Result<(Parameters, Option<String>), Wrong> {
    let parameters = Parameters::of(call)?;
    let key = parameters.text("api_key")?.or(call.bearer()).map(str::to_owned);
    Ok((parameters, key))
}

/// Returns the texts `q`, and whether they are a list; `None` if there are none.
fn texts(parameters: &Parameters) -> Result<Option<(Vec<String>, bool)>, Wrong> {
    fn wrong() -> Wrong {
        Wrong::request("Invalid request: q is neither a text nor a list of texts")
    }
    match parameters.get("q") {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some((vec![text.clone()], false))),
        // Programs of this protocol treat an empty list as missing.
        Some(Value::Array(list)) if list.is_empty() => Ok(None),
        Some(Value::Array(list)) => {
            let texts = list.iter().map(|one| one.as_str().map(str::to_owned));
            let texts: Option<Vec<String>> = texts.collect();
            Ok(Some((texts.ok_or_else(wrong)?, true)))
        }
        Some(_) => Err(wrong()),
    }
}

async fn translate(app: &Arc<App>, call: &Call) -> Result<Value, Wrong> {
    let (parameters, key) = open(call)?;
    fn missing(name: &str) -> Wrong {
        Wrong::request(format!("Invalid request: missing {name} parameter"))
    }
    let (texts, is_list) = texts(&parameters)?.ok_or_else(|| missing("q"))?;
    let source = parameters.text("source")?.ok_or_else(|| missing("source"))?;
    let target = parameters.text("target")?.ok_or_else(|| missing("target"))?;
    let format = parameters.text("format")?.unwrap_or("text");
    let format = match format {
        "text" => DocumentFormat::Text(Split::Sentences),
        "html" => DocumentFormat::Html(Split::Sentences),
        _ => return Err(Wrong::request(format!("{format} format is not supported"))),
    };
    let alternatives = alternatives(app, &parameters)?;
    let refused = |refusal: Refusal| wrong(&refusal, key.is_some());
    app.admit_texts(key.as_deref(), &texts).map_err(refused)?;
    let is_auto = source.eq_ignore_ascii_case("auto");
    let from = (!is_auto).then_some(source);
    let deadline = app.deadline(None);
    let options = |route: &Route| options(route, alternatives);
    let languages = RequestedLanguages { from, to: target, detection: Detection::Batch };
    let found = app.translate_between(&texts, &format, languages, options, deadline).await;
    let (mut detected, mut results) = (Vec::new(), Vec::new());
    for TextFromLanguage { language, mut text } in found.map_err(refused)? {
        text.alternatives.truncate(alternatives);
        results.push((text.text, text.alternatives));
        detected
            .push(json!({"confidence": language.confidence.round(), "language": language.code}));
    }
    let mut response = json!({});
    let (texts, others): (Vec<String>, Vec<Vec<String>>) = results.into_iter().unzip();
    if is_list {
        if is_auto {
            response["detectedLanguage"] = detected.into();
        }
        response["translatedText"] = json!(texts);
        if alternatives > 0 {
            response["alternatives"] = json!(others);
        }
    } else {
        if is_auto {
            response["detectedLanguage"] = json!(detected.first());
        }
        response["translatedText"] = json!(texts.first());
        if alternatives > 0 {
            response["alternatives"] = json!(others.first());
        }
    }
    Ok(response)
}

fn alternatives(app: &App, parameters: &Parameters) -> Result<usize, Wrong> {
    let most = app.configuration.limits.alternatives;
    let Some(value) = parameters.get("alternatives") else { return Ok(0) };
    let no_number = "Invalid request: alternatives parameter is not a number";
    let count = whole_number(value).ok_or_else(|| Wrong::request(no_number))?;
    match usize::try_from(count) {
        Ok(count) if count <= most => Ok(count),
        _ => {
            let wrong = format!("Invalid request: alternatives parameter must be <= {most}");
            Err(Wrong::request(wrong))
        }
    }
}

/// Returns the options for the best translation and `alternatives` others, or as many as the model
/// gives.
fn options(route: &Route, alternatives: usize) -> RequestOptions {
    let model = route.models.last().expect("a route has a model");
    RequestOptions {
        n_best: model.limit_n_best(alternatives + 1),
        distinct: model.kind == ModelKind::Phrase,
        ..RequestOptions::default()
    }
}

async fn detect(app: &App, call: &Call) -> Response {
    let (parameters, key) = match open(call) {
        Ok(opened) => opened,
        Err(wrong) => return wrong.response(),
    };
    let texts = match texts(&parameters) {
        Ok(found) => found.map(|(texts, _)| texts).unwrap_or_default(),
        Err(wrong) => return wrong.response(),
    };
    if let Err(refusal) = app.admit_texts(key.as_deref(), &texts) {
        return refuse(&refusal, key.is_some());
    }
    // Several texts are detected as one.
    let text = texts.join("\n");
    if text.is_empty() {
        return Wrong::request("Invalid request: missing q parameter").response();
    }
    let texts = [text];
    let format = DocumentFormat::Text(Split::Sentences);
    match app.detect(&texts, &format, None, Detection::Each, app.deadline(None)).await {
        Ok(found) => {
            let found = found.iter().map(|DetectedLanguage { code, confidence }| {
                json!({"confidence": confidence, "language": code})
            });
            respond(StatusCode::OK, &found.collect())
        }
        Err(refusal) => refuse(&refusal, key.is_some()),
    }
}

fn list_languages(registry: &Registry) -> Value {
    registry
        .languages()
        .into_iter()
        .map(|code| {
            let mut targets = registry.targets_of(code);
            if !targets.contains(&code) {
                targets.insert(0, code);
            }
            json!({"code": code, "name": languages::name(code), "targets": targets})
        })
        .collect()
}

fn settings(app: &App) -> Value {
    let registry = app.registry();
    let limit = app.configuration.limits.characters;
    let target = registry.targets().first().map(|code| (*code).to_owned()).unwrap_or_default();
    json!({
        "charLimit": limit.map_or(-1, |limit| limit as i64),
        "frontendTimeout": 500,
        "apiKeys": app.needs_key(),
        "keyRequired": app.needs_key(),
        "suggestions": false,
        "filesTranslation": false,
        "supportedFilesFormat": [],
        "language": {
            "source": {"code": "auto", "name": "Auto Detect"},
            "target": {"code": target, "name": languages::name(&target)},
        },
    })
}
