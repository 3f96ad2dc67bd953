//! `POST /v1/perplexity` and `/v1/next`: language models.

use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};

use super::translate::OneOrMany;
use super::{admit_texts, check_lines, number, parse, text};
use crate::app::App;
use crate::http::Call;
use crate::models::LanguageModel;
use crate::refusal::Refusal;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    model: Option<String>,
    text: OneOrMany,
    /// The number of words for each text, only for `next`.
    top: Option<usize>,
}

/// A parsed request with its language model.
struct Opened {
    model: Arc<LanguageModel>,
    texts: Vec<String>,
    top: Option<usize>,
}

fn open(app: &App, call: &Call) -> Result<Opened, Refusal> {
    let Request { model, text, top } = parse(&call.body)?;
    let texts = text.as_slice().to_vec();
    check_lines(&texts)?;
    admit_texts(app, call, &texts)?;
    let registry = app.registry();
    let found = registry.language_model(model.as_deref())?;
    let found = found.ok_or_else(|| Refusal::invalid("there is no language model"))?;
    let model = found
        .language_model()
        .ok_or_else(|| Refusal::Invalid(format!("{} is not a language model", found.name())))?;
    Ok(Opened { model: Arc::clone(model), texts, top })
}

/// Applies `score` to each text on a thread that serves no sockets. The work stops at `deadline`,
/// because it does not notice that a client has disconnected.
async fn compute(
    texts: Vec<String>,
    deadline: Instant,
    score: impl Fn(&str) -> Value + Send + 'static,
) -> Result<Value, Refusal> {
    let done = tokio::task::spawn_blocking(move || -> Option<Vec<Value>> {
        texts.iter().map(|text| (Instant::now() < deadline).then(|| score(text))).collect()
    })
    .await;
    let results = done.map_err(|_| Refusal::Internal("the language model failed".into()))?;
    Ok(json!({"results": results.ok_or(Refusal::Deadline)?}))
}

pub(super) async fn perplexity(app: &App, call: &Call) -> Result<Value, Refusal> {
    let Opened { model, texts, top } = open(app, call)?;
    if top.is_some() {
        return Err(Refusal::Invalid("top is only for /v1/next".into()));
    }
    compute(texts, app.deadline(None), move |line| {
        let score = model.score(line.as_bytes());
        json!({
            "log10": number(score.log10),
            "tokens": score.tokens,
            "oov": score.oovs,
            "perplexity": score.perplexity(),
        })
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
    compute(texts, app.deadline(None), move |context| {
        let words = model.next_words(context.as_bytes(), top).into_iter();
        words.map(|(word, log10)| json!({"word": text(&word), "log10": number(log10)})).collect()
    })
    .await
}
