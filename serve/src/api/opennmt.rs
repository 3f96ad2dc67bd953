//! The REST protocol of OpenNMT-py. As there, errors have status 200; only temporary errors,
//! unknown paths and wrong methods have HTTP error codes.

use std::sync::Arc;

use hyper::{Method, StatusCode};
use miriam_textproc::{DocumentFormat, Split};
use serde_json::{Value, json};

use super::{not_found, wrong_method};
use crate::app::App;
use crate::engine::RequestOptions;
use crate::http::forms::{Fields, field, parse_query};
use crate::http::{Call, Response, json as respond, strict_json};
use crate::models::{Registry, Route};
use crate::refusal::{Refusal, RouteError};

pub(super) async fn answer(app: &Arc<App>, call: &Call) -> Response {
    match (&*call.path, &call.method) {
        ("/translator/translate", &Method::POST) => match translate(app, call).await {
            Ok(value) => respond(StatusCode::OK, &value),
            Err(refusal) => refuse(&refusal),
        },
        ("/translator/models", &Method::GET) => respond(StatusCode::OK, &models(&app.registry())),
        ("/translator/health", &Method::GET) => health(app),
        ("/translator/translate", _) => wrong_method("POST"),
        ("/translator/models" | "/translator/health", _) => wrong_method("GET"),
        _ => not_found(),
    }
}

fn health(app: &App) -> Response {
    match app.readiness().refusal() {
        None => respond(StatusCode::OK, &json!({"status": "ok"})),
        Some(refusal) => refuse(&refusal),
    }
}

/// Formats a refusal for this protocol. Temporary errors have their HTTP status, so that clients
/// retry.
pub(super) fn refuse(refusal: &Refusal) -> Response {
    let body = json!({"error": refusal.detail(), "status": "error"});
    match refusal.retry_after() {
        Some(_) => super::with_retry(refusal, respond(super::status(refusal), &body)),
        None => respond(StatusCode::OK, &body),
    }
}

async fn translate(app: &Arc<App>, call: &Call) -> Result<Value, Refusal> {
    let inputs = match strict_json::parse(&call.body) {
        Ok(Value::Array(inputs)) => inputs,
        Ok(_) => return Err(Refusal::invalid("the body is not a list of objects")),
        Err(error) => {
            return Err(Refusal::invalid(format!("the body is not valid JSON: {error}")));
        }
    };
    fn text(input: &Value) -> Option<String> {
        input["src"].as_str().map(str::to_owned)
    }
    let texts: Option<Vec<String>> = inputs.iter().map(text).collect();
    let texts =
        texts.ok_or_else(|| Refusal::invalid("expected a string `src` in every element"))?;
    // The protocol has no languages, so clients give them in the URL query.
    let query = parse_query(&call.query, &["model", "from", "to"]).map_err(Refusal::Invalid)?;
    app.admit_texts(call.bearer(), &texts)?;
    let route = route(&app.registry(), &inputs, &query)?;
    let options = RequestOptions { scores: true, ..RequestOptions::default() };
    let deadline = app.deadline(None);
    let format = DocumentFormat::Text(Split::Lines);
    let found = app.translate_texts(&route, &texts, &format, options, deadline).await?;
    let results = texts.iter().zip(found).map(|(source, text)| {
        let best = text.results.iter().filter_map(|result| result.translations.first());
        let score: f32 = best.map(|best| best.score).sum();
        let score = Some(score).filter(|score| score.is_finite());
        json!({"src": source, "tgt": text.text, "n_best": 1, "pred_score": score})
    });
    Ok(json!([results.collect::<Vec<_>>()]))
}

/// Finds the model of a request: the `model` of the URL query, because clients always send some
/// `id`. Without it, by the `id` of the first element: a name, or an index among the models of the
/// configuration that translate. Without an id, the query chooses by `from` and `to`; without
/// these it is model 0.
fn route(registry: &Registry, inputs: &[Value], query: &Fields) -> Result<Route, Refusal> {
    let (from, to) = (field(query, "from"), field(query, "to"));
    if let Some(name) = field(query, "model") {
        return named_route(registry, name, from, to);
    }
    // As in OpenNMT-py, the first element decides; clients number their sentences.
    let id = inputs.first().map(|input| &input["id"]).filter(|id| !id.is_null());
    let number = match id {
        None if from.is_some() || to.is_some() => return Ok(registry.route(None, from, to)?),
        None => 0,
        Some(Value::Number(number)) => number.as_u64().unwrap_or(u64::MAX),
        Some(Value::String(name)) => match name.parse() {
            Ok(number) => number,
            Err(_) => return named_route(registry, name, from, to),
        },
        Some(other) => return Err(no_model(&other.to_string())),
    };
    let mut models = registry.translating_configurations();
    let model = usize::try_from(number).ok().and_then(|number| models.nth(number));
    let model = model.ok_or_else(|| no_model(&number.to_string()))?;
    Ok(registry.route(Some(&model.name), from, to)?)
}

/// Finds the route of a model by its name, with the protocol's error if there is none.
fn named_route(
    registry: &Registry,
    name: &str,
    from: Option<&str>,
    to: Option<&str>,
) -> Result<Route, Refusal> {
    registry.route(Some(name), from, to).map_err(|error| match error {
        RouteError::NoModel(name) => no_model(&name),
        error => error.into(),
    })
}

fn no_model(id: &str) -> Refusal {
    Refusal::Invalid(format!("No such model '{id}'"))
}

fn models(registry: &Registry) -> Value {
    let models = registry.translating_configurations().enumerate();
    let described = models.map(|(number, model)| {
        let (names, is_open) = ([&model.name], registry.find(&model.name).is_some());
        json!({"model_id": number, "opt": {}, "models": names, "loaded": is_open, "timeout": -1})
    });
    described.collect()
}
