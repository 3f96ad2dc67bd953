//! OPUS-MT: its REST interface and its websocket of JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Method, Request, StatusCode};
use miriam_textproc::{DocumentFormat, Split};
use serde_json::{Value, json};

use super::{not_found, wrong_method};
use crate::app::App;
use crate::engine::{Hypothesis, RequestOptions};
use crate::http::forms::{field, parse_query};
use crate::http::websocket::{self, Answerer};
use crate::http::{Call, Response, bearer, json as respond, respond as respond_plain, strict_json};
use crate::refusal::{Refusal, RouteError};
use crate::request_record::RequestRecord;
use crate::text_translation::{Detection, TranslatedText};

/// The format of all texts of this protocol.
const RUNNING_TEXT: DocumentFormat = DocumentFormat::Text(Split::Sentences);

pub(super) async fn answer(app: &Arc<App>, call: &Call) -> Response {
    match (&*call.path, &call.method) {
        ("/api/translate", &Method::POST) => match translate(app, call).await {
            Ok(text) => respond(StatusCode::OK, &json!({"translation": text})),
            Err(refusal) => refuse(&refusal),
        },
        ("/api/languages", &Method::GET) => respond(StatusCode::OK, &languages(app)),
        ("/api/ready", &Method::GET) => match app.readiness().refusal() {
            None => respond_plain(StatusCode::NO_CONTENT, "", ""),
            Some(refusal) => refuse(&refusal),
        },
        ("/api/translate", _) => wrong_method("POST"),
        ("/api/languages" | "/api/ready", _) => wrong_method("GET"),
        _ => not_found(),
    }
}

/// Returns the response to a refusal, in the words of this protocol: with status 200, except for
/// temporary errors.
pub(super) fn refuse(refusal: &Refusal) -> Response {
    let body = json!({"error": refusal.detail()});
    match refusal.retry_after() {
        Some(_) => super::with_retry(refusal, respond(super::status(refusal), &body)),
        None => respond(StatusCode::OK, &body),
    }
}

async fn translate(app: &Arc<App>, call: &Call) -> Result<String, Refusal> {
    parse_query(&call.query, &[]).map_err(Refusal::Invalid)?;
    let parameters = strict_json::parse(&call.body)
        .map_err(|error| Refusal::Invalid(format!("the body: {error}")))?;
    let (from, to, source) = (
        required_text(&parameters, "from")?,
        required_text(&parameters, "to")?,
        required_text(&parameters, "source")?,
    );
    app.admit(call.bearer(), source.chars().count())?;
    let route = app.registry().route(None, Some(from), Some(to)).map_err(|error| match error {
        RouteError::NoLanguage(_) | RouteError::NoPair { .. } => {
            // The spelling of the programs of this protocol.
            Refusal::Invalid(format!("Language pair {from}-{to} not suppported"))
        }
        error => error.into(),
    })?;
    let texts = [source.to_owned()];
    let deadline = app.deadline(None);
    let options = RequestOptions::default();
    let found = app.translate_texts(&route, &texts, &RUNNING_TEXT, options, deadline).await?;
    Ok(found.into_iter().next().map(|text| text.text).unwrap_or_default())
}

fn required_text<'a>(parameters: &'a Value, name: &str) -> Result<&'a str, Refusal> {
    parameters[name].as_str().ok_or_else(|| Refusal::Invalid(format!("{name} is missing")))
}

fn languages(app: &App) -> Value {
    let registry = app.registry();
    let pairs = registry.sources().into_iter();
    let pairs: BTreeMap<&str, Vec<&str>> =
        pairs.map(|source| (source, registry.targets_of(source))).collect();
    json!({"languages": pairs})
}

/// The answerer of the websocket's messages.
struct Messages {
    app: Arc<App>,
    key: Option<String>,
}

pub(super) fn open(
    app: &Arc<App>,
    request: Request<Incoming>,
    record: &Arc<RequestRecord>,
) -> Response {
    let query = match parse_query(request.uri().query().unwrap_or_default(), &["api_key"]) {
        Ok(query) => query,
        Err(reason) => return websocket::refuse_address(&reason),
    };
    let key = bearer(request.headers()).or(field(&query, "api_key")).map(str::to_owned);
    let limit = app.configuration.limits.body_bytes;
    websocket::open(request, limit, Messages { app: Arc::clone(app), key }, record)
}

/// A request in a message.
#[derive(Default)]
struct Message {
    text: String,
    source: Option<String>,
    /// Whether the source language must be detected.
    detects: bool,
    target: Option<String>,
    model: Option<String>,
}

impl Message {
    /// Parses a JSON object, or `fi-en text`.
    ///
    /// # Errors
    /// If the object has no text, a value that is not a string, or a name twice.
    fn parse(message: &str) -> Result<Self, String> {
        let json = strict_json::replace_lone_surrogates(message);
        if matches!(serde_json::from_str(&json), Ok(Value::Object(_))) {
            let parameters = strict_json::parse(message.as_bytes())?;
            let text = |name: &str| match parameters.get(name) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::String(text)) => Ok(Some(text.clone())),
                Some(_) => Err(format!("{name} is not a string")),
            };
            fn is_unknown(code: &str) -> bool {
                code == "detect" || code == "DL"
            }
            let source = text("source")?;
            return Ok(Message {
                text: text("text")?.ok_or("text is missing")?,
                detects: source.as_deref().is_some_and(is_unknown),
                source: source.filter(|code| !is_unknown(code)),
                target: text("target")?,
                model: text("model")?.filter(|name| name != "default"),
            });
        }
        let pair = message.split_once(' ').and_then(|(pair, text)| {
            let (source, target) = pair.split_once('-')?;
            fn is_code(code: &str) -> bool {
                (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase())
            }
            (is_code(source) && is_code(target)).then_some((source, target, text))
        });
        Ok(match pair {
            Some((source, target, text)) => Message {
                text: text.to_owned(),
                source: Some(source.to_owned()),
                target: Some(target.to_owned()),
                ..Message::default()
            },
            None => Message { text: message.to_owned(), ..Message::default() },
        })
    }
}

impl Answerer for Messages {
    async fn answer(&self, message: String) -> Result<String, (u16, String)> {
        let asked = match Message::parse(&message) {
            Ok(asked) => asked,
            Err(reason) => return Ok(json!({"error": reason}).to_string()),
        };
        let error = match self.translate(&asked).await {
            Ok(value) => return Ok(value.to_string()),
            Err(Refusal::Route(RouteError::NoLanguage(code))) => {
                let side = if asked.source.as_ref() == Some(&code) { "source" } else { "target" };
                format!("unsupported {side} language {code}")
            }
            Err(refusal @ (Refusal::Invalid(_) | Refusal::Route(_) | Refusal::TooLarge(_)))
                if refusal.retry_after().is_none() =>
            {
                refusal.detail()
            }
            Err(refusal) => return Err(super::marian::close_code(&refusal)),
        };
        // The request of the message cannot be served; the conversation continues.
        let (source, target) = (asked.source, asked.target);
        Ok(json!({"error": error, "source": source, "target": target}).to_string())
    }
}

impl Messages {
    async fn translate(&self, asked: &Message) -> Result<Value, Refusal> {
        let app = &self.app;
        app.admit(self.key.as_deref(), asked.text.chars().count())?;
        let registry = app.registry();
        let texts = [asked.text.clone()];
        let deadline = app.deadline(None);
        let detected = if asked.detects && asked.model.is_none() {
            let target = asked.target.as_deref();
            let found =
                app.detect(&texts, &RUNNING_TEXT, target, Detection::Sources, deadline).await?;
            found.into_iter().next().map(|language| language.code)
        } else {
            None
        };
        let source = asked.source.as_deref().or(detected.as_deref());
        let route = registry.route(asked.model.as_deref(), source, asked.target.as_deref())?;
        let options = RequestOptions { alignment: true, ..RequestOptions::default() };
        let found = app.translate_texts(&route, &texts, &RUNNING_TEXT, options, deadline).await?;
        let text = found.into_iter().next();
        let text = text.ok_or_else(|| Refusal::Internal("no text".into()))?;
        Ok(describe(&text, route.from.as_deref(), route.to.as_deref()))
    }
}

/// Returns the response with sentences, their tokens and links.
fn describe(text: &TranslatedText, from: Option<&str>, to: Option<&str>) -> Value {
    fn join(tokens: &[Vec<u8>]) -> String {
        String::from_utf8_lossy(&tokens.join(&b' ')).into_owned()
    }
    let sources: Vec<String> = text.results.iter().map(|one| join(&one.source)).collect();
    let none = Hypothesis::default();
    let found = text.results.iter();
    let best = found.map(|result| (result, result.translations.first().unwrap_or(&none)));
    let targets: Vec<String> = best.clone().map(|(_, best)| join(&best.tokens)).collect();
    let links = best.map(|(result, best)| {
        let (source, target) = (result.source.len() as u32, best.tokens.len() as u32);
        let points = best.alignment.iter().filter(|(s, t)| *s < source && *t < target);
        points.map(|(s, t)| format!("{s}-{t}")).collect::<Vec<_>>().join(" ")
    });
    let segmentation =
        if sources.iter().any(|text| text.contains('\u{2581}')) { "spm" } else { "bpe" };
    json!({
        "result": text.text,
        "source": from,
        "target": to,
        "source-sentences": text.source,
        "target-sentences": text.targets(),
        "source-segments": sources,
        "target-segments": targets,
        "alignment": links.collect::<Vec<_>>(),
        "segmentation": segmentation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_in_both_forms() {
        let parse = |message: &str| Message::parse(message).unwrap();
        let request = parse(r#"{"text":"a b","source":"detect","target":"en","model":null}"#);
        assert_eq!(
            (&*request.text, request.source, request.detects, request.target.as_deref()),
            ("a b", None, true, Some("en"))
        );
        let request = parse("fi-en hyvää päivää");
        assert_eq!((&*request.text, request.source.as_deref()), ("hyvää päivää", Some("fi")));
        let request = parse("well-known text");
        assert_eq!((&*request.text, request.source), ("well-known text", None));
        assert_eq!(parse("{not JSON").text, "{not JSON");
        assert_eq!(parse(r#"{"text":"a \ud83d"}"#).text, "a \u{fffd}");
        for (message, reason) in [
            (r#"{"text":5}"#, "text is not a string"),
            (r#"{"source":"en"}"#, "text is missing"),
            (r#"{"text":"a","source":["en"]}"#, "source is not a string"),
            (r#"{"text":"a","text":"b"}"#, "\"text\" is given twice"),
        ] {
            let error = Message::parse(message).err().unwrap();
            assert!(error.contains(reason), "{message}: {error}");
        }
    }
}
