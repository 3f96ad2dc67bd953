//! OPUS-CAT: the interface of plug-ins for computer-aided translation to a local engine.

use std::sync::Arc;

use hyper::{Method, StatusCode};
use miriam_textproc::{DocumentFormat, Split};
use serde_json::{Value, json};

use super::parameters::Parameters;
use super::{not_found, status, with_retry, wrong_method};
use crate::app::App;
use crate::engine::RequestOptions;
use crate::http::{Call, Response, json as respond, respond as respond_plain};
use crate::refusal::Refusal;
use crate::text_translation::TranslatedText;

/// The prefix of the names of methods. Clients write it, and the names, in upper, lower or mixed
/// case.
const PREFIX: &str = "/MtRestService/";

/// Returns the name of the method that a path calls, if it is one of this interface.
pub(super) fn method_name(path: &str) -> Option<&str> {
    let (prefix, name) = path.split_at_checked(PREFIX.len())?;
    (prefix.eq_ignore_ascii_case(PREFIX) && !name.is_empty()).then_some(name)
}

/// The names of methods.
const NAMES: [&str; 9] = [
    "TranslateJson",
    "TranslatePost",
    "Translate",
    "TranslateStream",
    "Login",
    "ListSupportedLanguagePairs",
    "GetLanguagePairModelTags",
    "CheckModelStatus",
    "PreOrderBatch",
];

pub(super) async fn answer(app: &Arc<App>, call: &Call) -> Response {
    if call.method != Method::GET && call.method != Method::POST {
        return wrong_method("GET, POST");
    }
    let given_name = method_name(&call.path).unwrap_or_default();
    let mut names = NAMES.into_iter();
    let Some(name) = names.find(|name| name.eq_ignore_ascii_case(given_name)) else {
        return not_found();
    };
    // The body of this method is a list of texts.
    if name == "PreOrderBatch" && call.method == Method::POST {
        let text = "nothing is translated in advance, only on request";
        return respond(StatusCode::OK, &json!(text));
    }
    let parameters = match Parameters::of(call) {
        Ok(parameters) => parameters,
        Err(error) => return refuse(&error.into()),
    };
    match name {
        "TranslateJson" | "TranslatePost" | "Translate" | "TranslateStream" => {
            match translate(app, call, &parameters).await {
                Ok(text) if name == "Translate" => respond(StatusCode::OK, &json!(text.text)),
                Ok(text) if name == "TranslateStream" => {
                    respond_plain(StatusCode::OK, "text/plain; charset=utf-8", text.text)
                }
                Ok(text) => respond(StatusCode::OK, &describe(&text)),
                Err(refusal) => refuse(&refusal),
            }
        }
        // The key is the token that a client needs. A name and a password are not a key.
        "Login" => match parameters.text("tokenCode") {
            Ok(token) => respond(StatusCode::OK, &json!(token.unwrap_or_default())),
            Err(error) => refuse(&error.into()),
        },
        "ListSupportedLanguagePairs" => respond(StatusCode::OK, &pairs(app)),
        "GetLanguagePairModelTags" | "CheckModelStatus" => match find(app, &parameters) {
            Ok(names) if name == "CheckModelStatus" => {
                respond(StatusCode::OK, &json!(format!("Model ready: {}", names.join("+"))))
            }
            Ok(names) => respond(StatusCode::OK, &json!(names.join(","))),
            Err(refusal) => refuse(&refusal),
        },
        // The rest is PreOrderBatch.
        _ => wrong_method("POST"),
    }
}

pub(super) fn refuse(refusal: &Refusal) -> Response {
    let body = json!({"Message": refusal.detail()});
    with_retry(refusal, respond(status(refusal), &body))
}

/// Returns the names of the models for a pair.
fn find(app: &App, parameters: &Parameters) -> Result<Vec<String>, Refusal> {
    let (from, to) = (parameters.text("srcLangCode")?, parameters.text("trgLangCode")?);
    let route = app.registry().route(parameters.text("modelTag")?, from, to)?;
    Ok(route.models.iter().map(|model| model.name().to_owned()).collect())
}

async fn translate(
    app: &Arc<App>,
    call: &Call,
    parameters: &Parameters,
) -> Result<TranslatedText, Refusal> {
    let input = parameters.get("input").and_then(Value::as_str);
    let input = input.ok_or_else(|| Refusal::Invalid("input is missing".into()))?;
    app.admit(parameters.text("tokenCode")?.or(call.bearer()), input.chars().count())?;
    let (from, to) = (parameters.text("srcLangCode")?, parameters.text("trgLangCode")?);
    let route = app.registry().route(parameters.text("modelTag")?, from, to)?;
    let is_single = parameters.get("inputIsSingleSentence").is_some_and(|value| {
        value.as_bool() == Some(true)
            || value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("true"))
    });
    let split = if is_single { Split::Lines } else { Split::Sentences };
    let format = DocumentFormat::Text(split);
    let options = RequestOptions { alignment: true, ..RequestOptions::default() };
    let texts = [input.to_owned()];
    let found = app.translate_texts(&route, &texts, &format, options, app.deadline(None)).await?;
    found.into_iter().next().ok_or_else(|| Refusal::Internal("no text".into()))
}

/// Returns the object of a translation. Links connect positions of tokens, counted over all
/// sentences.
fn describe(text: &TranslatedText) -> Value {
    let (mut source, mut target, mut links) = (Vec::new(), Vec::new(), Vec::new());
    for result in &text.results {
        let Some(best) = result.translations.first() else { continue };
        let (source_offset, target_offset) = (source.len() as u32, target.len() as u32);
        source.extend(result.source.iter().map(|token| shown(token)));
        target.extend(best.tokens.iter().map(|token| shown(token)));
        let points = best.alignment.iter().map(|(s, t)| (s + source_offset, t + target_offset));
        let points =
            points.filter(|(s, t)| (*s as usize) < source.len() && (*t as usize) < target.len());
        links.extend(points.map(|(s, t)| format!("{s}-{t}")));
    }
    json!({
        "translation": text.text,
        "Translation": text.text,
        "SegmentedSourceSentence": source,
        "SegmentedTranslation": target,
        "AlignmentString": links.join(" "),
        "RawTranslation": target.join(" "),
    })
}

fn shown(token: &[u8]) -> String {
    String::from_utf8_lossy(token).into_owned()
}

fn pairs(app: &App) -> Value {
    let registry = app.registry();
    let sources = registry.sources();
    let pairs = sources.iter().flat_map(|source| {
        let targets = registry.targets_of(source);
        targets.into_iter().map(|target| format!("{source}-{target}")).collect::<Vec<_>>()
    });
    pairs.collect()
}
