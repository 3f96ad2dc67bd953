//! `POST /v1/perplexity` and `/v1/next`: language models.

use std::sync::Arc;
use std::time::Instant;

use miriam_textproc::Interrupted;
use serde::Deserialize;
use serde_json::{Value, json};

use super::translate::OneOrMany;
use super::{check_lines, number, parse, text};
use crate::app::App;
use crate::background;
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
    name: String,
    model: Arc<LanguageModel>,
    texts: Vec<String>,
    top: Option<usize>,
}

fn open(app: &App, call: &Call) -> Result<Opened, Refusal> {
    let Request { model, text, top } = parse(&call.body)?;
    let texts = text.as_slice().to_vec();
    check_lines(&texts)?;
    app.admit_texts(call.bearer(), &texts)?;
    let registry = app.registry();
    let found = registry.language_model(model.as_deref())?;
    let found = found.ok_or_else(|| Refusal::invalid("there is no language model"))?;
    let model = found
        .language_model()
        .ok_or_else(|| Refusal::Invalid(format!("{} is not a language model", found.name())))?;
    Ok(Opened { name: found.name().to_owned(), model: Arc::clone(model), texts, top })
}

/// Applies `score` to each text on a thread that serves no sockets. The work stops at `deadline`, or
/// when the client has disconnected.
async fn compute(
    texts: Vec<String>,
    deadline: Instant,
    score: impl Fn(&str) -> Value + Send + 'static,
) -> Result<Value, Refusal> {
    let results = background::run(deadline, move |should_stop| {
        let scores =
            texts.iter().map(|text| if should_stop() { Err(Interrupted) } else { Ok(score(text)) });
        scores.collect::<Result<Vec<Value>, Interrupted>>()
    });
    Ok(json!({"results": results.await?}))
}

pub(super) async fn perplexity(app: &App, call: &Call) -> Result<Value, Refusal> {
    let Opened { model, texts, top, .. } = open(app, call)?;
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
    let Opened { name, model, texts, top } = open(app, call)?;
    model.check_words(&name).map_err(|error| Refusal::Invalid(error.to_string()))?;
    let most = app.configuration.limits.n_best;
    let top = top.unwrap_or(10);
    if !(1..=most).contains(&top) {
        return Err(Refusal::Invalid(format!("top is {top}; give a number from 1 to {most}")));
    }
    let (count, most) = (texts.len(), app.configuration.limits.translations);
    if count > 1 && count.saturating_mul(top) > most {
        let reason = format!("{count} texts with {top} words each; {most} in all are allowed");
        return Err(Refusal::TooLarge(reason));
    }
    compute(texts, app.deadline(None), move |context| {
        let words = model.next_words(context.as_bytes(), top).into_iter();
        words.map(|(word, log10)| json!({"word": text(&word), "log10": number(log10)})).collect()
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn work_ends_when_nobody_waits_for_it() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let scored = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&scored);
        let deadline = Instant::now() + Duration::from_secs(60);
        let score = move |_: &str| {
            counter.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(10));
            Value::Null
        };
        let outcome = runtime.block_on(async {
            let work = compute(vec![String::new(); 1000], deadline, score);
            tokio::time::timeout(Duration::from_millis(50), work).await
        });
        assert!(outcome.is_err());
        // The end of the runtime waits for the work.
        drop(runtime);
        assert!(scored.load(Ordering::Relaxed) < 1000);
    }
}
