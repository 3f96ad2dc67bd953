//! `POST /v1/perplexity` and `/v1/next`: language models.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::translate::OneOrMany;
use super::{admit, number, parse, text};
use crate::app::{App, Refusal};
use crate::http::Call;
use crate::models::LanguageModel;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    model: Option<String>,
    text: OneOrMany,
    /// Words for each text, of `next`.
    top: Option<usize>,
}

/// A request with its language model.
struct Opened {
    model: Arc<LanguageModel>,
    texts: Vec<String>,
    top: Option<usize>,
}

fn open(app: &App, call: &Call) -> Result<Opened, Refusal> {
    let Request { model, text, top } = parse(&call.body)?;
    let texts = text.as_slice().to_vec();
    admit(app, call, texts.iter().map(|text| text.chars().count()).sum())?;
    if texts.len() > app.configuration.limits.lines {
        let most = app.configuration.limits.lines;
        return Err(Refusal::TooLarge(format!("{} lines; {most} are allowed", texts.len())));
    }
    let registry = app.registry();
    let found = registry.language_model(model.as_deref());
    let found = found.and_then(|model| model.language_model()).ok_or_else(|| {
        let name = model.map(|name| format!(" {name:?}")).unwrap_or_default();
        Refusal::Invalid(format!("there is no language model{name}"))
    })?;
    Ok(Opened { model: Arc::clone(found), texts, top })
}

/// Runs `work` where it keeps no socket waiting.
async fn compute(work: impl FnOnce() -> Value + Send + 'static) -> Result<Value, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Refusal::Internal("the language model failed".into()))
}

pub(super) async fn perplexity(app: &App, call: &Call) -> Result<Value, Refusal> {
    let Opened { model, texts, top } = open(app, call)?;
    if top.is_some() {
        return Err(Refusal::Invalid("top is of /v1/next".into()));
    }
    compute(move || {
        let results = texts.iter().map(|line| {
            let score = model.score(line.as_bytes());
            json!({
                "log10": number(score.log10),
                "tokens": score.tokens,
                "oov": score.oovs,
                "perplexity": score.perplexity(),
            })
        });
        json!({"results": results.collect::<Vec<_>>()})
    })
    .await
}

pub(super) async fn next(app: &App, call: &Call) -> Result<Value, Refusal> {
    let Opened { model, texts, top } = open(app, call)?;
    let most = app.configuration.limits.n_best;
    let top = top.unwrap_or(10);
    if !(1..=most).contains(&top) {
        return Err(Refusal::Invalid(format!("top is {top}; give a number from 1 to {most}")));
    }
    compute(move || {
        let results = texts.iter().map(|context| {
            let words = model.next_words(context.as_bytes(), top).into_iter();
            let words =
                words.map(|(word, log10)| json!({"word": text(&word), "log10": number(log10)}));
            words.collect::<Value>()
        });
        json!({"results": results.collect::<Vec<_>>()})
    })
    .await
}
