//! Whether the server lives, whether it is ready, and how it does.

use hyper::{Method, StatusCode};
use serde_json::json;

use super::wrong_method;
use crate::app::App;
use crate::http::{Call, Response, json, respond, set_retry_after};
use crate::metrics::Gauges;

pub(super) fn answer(app: &App, call: &Call) -> Response {
    if call.method != Method::GET && call.method != Method::HEAD {
        return wrong_method("GET, HEAD");
    }
    match &*call.path {
        "/healthz" => respond(StatusCode::OK, "text/plain", "ok\n"),
        "/readyz" => ready(app),
        _ => metrics(app, call),
    }
}

fn ready(app: &App) -> Response {
    let registry = app.registry();
    let broken: Vec<_> = registry
        .broken
        .iter()
        .map(|(name, reason)| json!({"model": name, "reason": reason}))
        .collect();
    let state = json!({
        "ready": app.is_ready(),
        "stopping": app.is_stopping(),
        "loading": registry.loading,
        "broken": broken,
    });
    if app.is_ready() {
        return json(StatusCode::OK, &state);
    }
    let mut response = json(StatusCode::SERVICE_UNAVAILABLE, &state);
    set_retry_after(&mut response, 1);
    response
}

/// Where there are keys, one is needed here too.
fn metrics(app: &App, call: &Call) -> Response {
    // At an address of their own measurements are for who can reach it.
    if app.needs_key()
        && app.configuration.metrics.is_none()
        && let Err(refusal) = app.admit(call.bearer(), 0)
    {
        return super::v1::refuse(&refusal);
    }
    let registry = app.registry();
    let models = registry.models.iter();
    let models = models.map(|model| (model.name().to_owned(), model.generation, model.kind.name()));
    let gauges =
        Gauges { queued_words: app.opener.engine.queued_words(), models: models.collect() };
    let page = app.metrics.render(&gauges);
    respond(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", page)
}
