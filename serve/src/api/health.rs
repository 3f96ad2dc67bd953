//! Liveness, readiness and measurements.

use hyper::{Method, StatusCode};
use serde_json::json;

use super::wrong_method;
use crate::app::App;
use crate::http::{Call, Response, json, respond, set_retry_after};
use crate::metrics::Gauges;

pub(super) fn answer(app: &App, call: &Call) -> Response {
    if call.method != Method::GET {
        return wrong_method("GET");
    }
    match &*call.path {
        "/healthz" => respond(StatusCode::OK, "text/plain", "ok\n"),
        "/readyz" => ready(app),
        _ => metrics(app, call),
    }
}

fn ready(app: &App) -> Response {
    let readiness = app.readiness();
    let broken = readiness.broken.iter();
    let broken = broken
        .map(|model| json!({"model": model.name, "reason": model.reason, "serves": model.serves}));
    let mut state = json!({
        "ready": readiness.is_ready(),
        "degraded": readiness.is_degraded(),
        "stopping": readiness.stopping,
        "loading": readiness.loading,
        "broken": broken.collect::<Vec<_>>(),
    });
    if let Some(reason) = &readiness.reload_error {
        state["reload"] = json!(reason);
    }
    if !readiness.pending_settings.is_empty() {
        state["restart-needed-for"] = json!(readiness.pending_settings);
    }
    if readiness.is_ready() {
        return json(StatusCode::OK, &state);
    }
    let mut response = json(StatusCode::SERVICE_UNAVAILABLE, &state);
    set_retry_after(&mut response, 1);
    response
}

/// Returns measurements. If keys are configured, one is needed here too.
fn metrics(app: &App, call: &Call) -> Response {
    // At their separate address measurements need no key.
    if app.needs_key()
        && app.configuration.metrics.is_none()
        && let Err(refusal) = app.admit(call.bearer(), 0)
    {
        return super::v1::refuse(&refusal);
    }
    let registry = app.registry();
    let models = registry.models.iter();
    let models = models.map(|model| (model.name().to_owned(), model.generation, model.kind.name()));
    let gauges = Gauges {
        queued_words: app.opener.engine.queued_words(),
        models: models.collect(),
        readiness: app.readiness(),
    };
    let page = app.metrics.render(&gauges);
    respond(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", page)
}
