//! `POST /v1/score`: the probabilities of given translations.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::translate::OneOrMany;
use super::{check_lines, number, parse};
use crate::app::App;
use crate::config::ModelKind;
use crate::engine::{RequestOptions, Sentence, SentenceResult};
use crate::http::Call;
use crate::refusal::Refusal;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    model: Option<String>,
    from: Option<String>,
    to: Option<String>,
    source: OneOrMany,
    target: OneOrMany,
    #[serde(default)]
    word_scores: bool,
    timeout_ms: Option<u64>,
}

pub(super) async fn answer(app: &Arc<App>, call: &Call) -> Result<Value, Refusal> {
    let request: Request = parse(&call.body)?;
    let (sources, targets) = (request.source.as_slice(), request.target.as_slice());
    check_lines(sources)?;
    check_lines(targets)?;
    let all = sources.iter().chain(targets);
    app.admit(call.bearer(), all.map(|text| text.chars().count()).sum())?;
    if sources.len() != targets.len() {
        let reason = format!("{} sources and {} targets", sources.len(), targets.len());
        return Err(Refusal::Invalid(reason));
    }
    let (from, to) = (request.from.as_deref(), request.to.as_deref());
    let route = app.registry().route(request.model.as_deref(), from, to)?;
    let [model] = &route.models[..] else {
        return Err(Refusal::Invalid("two models in a row have no score".into()));
    };
    if model.kind != ModelKind::Neural {
        let reason = "only neural models score given translations; this one is phrase-based";
        return Err(Refusal::Invalid(reason.into()));
    }
    let pairs = sources
        .iter()
        .zip(targets)
        .map(|(source, target)| Sentence {
            text: source.clone().into_bytes(),
            prefix: target.clone().into_bytes(),
            ..Sentence::default()
        })
        .collect();
    let options = RequestOptions { given: true, ..RequestOptions::default() };
    let deadline = app.deadline(request.timeout_ms);
    let found = app.translate(&route, pairs, options, deadline).await?;
    let results = found.sentences.iter().map(|result| describe(result, request.word_scores));
    Ok(json!({
        "model": format!("{}@{}", model.name(), model.generation),
        "results": results.collect::<Vec<_>>(),
    }))
}

fn describe(result: &SentenceResult, word_scores: bool) -> Value {
    let Some(given) = result.translations.first() else {
        let reasons = result.errors.iter();
        let errors = reasons.map(|one| json!({"kind": one.kind, "reason": one.reason}));
        return json!({"log_probability": null, "errors": errors.collect::<Vec<_>>()});
    };
    let mut value = json!({
        "log_probability": number(given.score),
        "tokens": given.word_scores.len(),
    });
    if word_scores {
        value["word_scores"] = given.word_scores.iter().map(|score| number(*score)).collect();
    }
    value
}
