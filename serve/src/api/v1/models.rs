//! `GET /v1/models`, and reloading.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::app::App;
use crate::http::Call;
use crate::refusal::{Refusal, RouteError};

/// Lists the models with their properties, and the limit with which the page decides whether to ask
/// for search graphs.
pub(super) fn list(app: &App, call: &Call) -> Result<Value, Refusal> {
    app.admit(call.bearer(), 0)?;
    let registry = app.registry();
    let models = registry.models.iter().map(|model| {
        let facts = model.facts.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
        let mut value = json!({
            "name": model.name(),
            "generation": model.generation,
            "kind": model.kind.name(),
            "from": model.configuration.from,
            "to": model.configuration.to,
            "facts": facts.collect::<Map<String, Value>>(),
        });
        if let Some(beam) = model.beam_size {
            value["beam_size"] = json!(beam);
        }
        value
    });
    let broken = registry.broken.iter();
    let broken = broken.map(|(name, reason)| json!({"name": name, "reason": reason}));
    Ok(json!({
        "models": models.collect::<Vec<_>>(),
        "loading": registry.loading,
        "broken": broken.collect::<Vec<_>>(),
        "pivot": registry.pivot,
        "limits": {"graph_words": app.configuration.limits.graph_words},
    }))
}

/// Reloads the configuration for an administrator, and returns the new state of model `name`.
///
/// # Errors
/// If the key does not belong to an administrator, the configuration cannot be read, or the model
/// is not in it or does not open.
pub(super) async fn reload(app: &Arc<App>, call: &Call, name: &str) -> Result<Value, Refusal> {
    app.admit_admin(call.bearer())?;
    let reloads = app.reloads().ok_or(Refusal::Unavailable)?;
    reloads.reload().await;
    if let Some(reason) = app.readiness().reload_error {
        return Err(Refusal::Internal(reason));
    }
    let registry = app.registry();
    if let Some((_, reason)) = registry.broken.iter().find(|(broken, _)| broken == name) {
        return Err(Refusal::Internal(reason.clone()));
    }
    let model = registry.find(name).ok_or_else(|| RouteError::NoModel(name.to_owned()))?;
    Ok(json!({"name": name, "generation": model.generation}))
}
