//! `POST /v1/translate`.

use std::sync::Arc;
use std::time::Duration;

use miriam_nmt::translate::DecodingSettings;
use miriam_textproc::{DocumentFormat, Split};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{number, parse, text};
use crate::app::App;
use crate::config::ModelKind;
use crate::engine::{Hypothesis, RequestOptions, SearchWidth, Sentence, SentenceResult};
use crate::http::Call;
use crate::models::Route;
use crate::refusal::Refusal;
use crate::text_translation::TranslatedText;

/// The object of a request.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Request {
    pub model: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub text: Option<OneOrMany>,
    /// Whether texts are cut into sentences.
    split: bool,
    /// Whether texts are plain text or HTML. HTML is always cut into sentences.
    format: Format,
    /// Whether texts are raw text, to be prepared for the model; otherwise they are tokens.
    raw: Option<bool>,
    n_best: Option<usize>,
    alignment: bool,
    word_scores: bool,
    segmentation: bool,
    graph: bool,
    timeout_ms: Option<u64>,
    /// The beginnings of translations, one for each text.
    prefix: Option<OneOrMany>,
    /// The phrases that translations must contain, one list for each text.
    constraints: Option<Vec<Vec<String>>>,
    options: Options,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Options {
    distinct: bool,
    stack_size: Option<usize>,
    pop_limit: Option<usize>,
    beam_threshold: Option<f32>,
    /// Decoding options of neural models, and unknown names.
    #[serde(flatten)]
    decoding: Map<String, Value>,
}

/// Decoding options that only a model may have, because they decide how long its sentences are.
const MODEL_KEYS: [&str; 2] = ["max-length", "max-length-crop"];

impl Options {
    /// Returns the decoding options.
    fn settings(&self) -> Result<DecodingSettings, Refusal> {
        let mut settings = DecodingSettings::default();
        for (name, value) in &self.decoding {
            let key = name.replace('_', "-");
            let is_known = DecodingSettings::KEYS.contains(&&*key) && !MODEL_KEYS.contains(&&*key);
            if !is_known || name.contains('-') {
                let keys = DecodingSettings::KEYS.iter().filter(|key| !MODEL_KEYS.contains(key));
                let names: Vec<String> = keys.map(|key| key.replace('-', "_")).collect();
                return Err(Refusal::Invalid(format!(
                    "options: unknown field `{name}`, expected one of distinct, stack_size, \
                     pop_limit, beam_threshold, {}",
                    names.join(", ")
                )));
            }
            if value.is_null() {
                continue;
            }
            let set = match value {
                Value::Array(values) => {
                    settings.set_list(&key, &values.iter().map(text_of).collect::<Vec<_>>())
                }
                value => settings.set(&key, &text_of(value)),
            };
            set.map_err(|reason| Refusal::Invalid(format!("options: {reason}")))?;
        }
        Ok(settings)
    }
}

/// Converts a number, a flag or a text to text.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The format of texts.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Text,
    Html,
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Request {
    /// Creates a request with only a text.
    pub fn of(text: String) -> Self {
        Request { text: Some(OneOrMany::One(text)), ..Request::default() }
    }
}

impl OneOrMany {
    pub fn as_slice(&self) -> &[String] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}

pub(super) async fn answer(app: &Arc<App>, call: &Call) -> Result<Value, Refusal> {
    let request: Request = parse(&call.body)?;
    let texts = request.text.as_ref().ok_or_else(|| Refusal::Invalid("text is missing".into()))?;
    app.admit_texts(call.bearer(), texts.as_slice())?;
    translate(app, &request).await
}

/// Returns the object of the response.
pub(super) async fn translate(app: &App, request: &Request) -> Result<Value, Refusal> {
    let texts = request.text.as_ref().map(OneOrMany::as_slice).unwrap_or_default();
    let (from, to) = (request.from.as_deref(), request.to.as_deref());
    let route = app.registry().route(request.model.as_deref(), from, to)?;
    let request_options = request_options(app, request, &route)?;
    let deadline = app.deadline(request.timeout_ms);
    let (results, queued, searched) = if request.split || request.format == Format::Html {
        if request.prefix.is_some() || request.constraints.is_some() {
            return Err(Refusal::invalid(
                "prefix and constraints are for one sentence; omit split and html",
            ));
        }
        if request.raw == Some(false) {
            return Err(Refusal::invalid("tokens are not running text; omit split, html or raw"));
        }
        let format = match request.format {
            Format::Text => DocumentFormat::Text(Split::Sentences),
            Format::Html => DocumentFormat::Html(Split::Sentences),
        };
        let (texts, queued, searched) = app
            .translate_texts_with_errors(&route, texts, &format, request_options, deadline)
            .await?;
        (texts.iter().map(|text| text_value(text, request)).collect(), queued, searched)
    } else {
        let sentences = sentences(texts, request, &route)?;
        let found = app.translate(&route, sentences, request_options, deadline).await?;
        let results = found.sentences.iter().map(|result| result_value(result, request));
        (results.collect::<Vec<Value>>(), found.queued, found.searched)
    };
    let names = route.models.iter().map(|model| format!("{}@{}", model.name(), model.generation));
    let mut value = json!({
        "model": names.collect::<Vec<_>>().join("+"),
        "results": results,
        "timing": {"queue_ms": milliseconds(queued), "search_ms": milliseconds(searched)},
    });
    let told = told_languages(&route);
    if !told.is_empty() {
        value["languages"] = told.into();
    }
    Ok(value)
}

/// Returns the language codes that multilingual models receive.
fn told_languages(route: &Route) -> Vec<Value> {
    let steps = route.models.iter().enumerate().filter_map(|(step, model)| {
        let [from, to] = route.languages(step);
        let codes = model.language_codes(from, to);
        let [from, to] = codes;
        (codes != [None; 2]).then(|| json!({"model": model.name(), "from": from, "to": to}))
    });
    steps.collect()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}

/// Returns the options of each sentence, if the models support them.
fn request_options(app: &App, request: &Request, route: &Route) -> Result<RequestOptions, Refusal> {
    let model = route.models.last().expect("a route has a model");
    let most = app.configuration.limits.n_best;
    let n_best = request.n_best.unwrap_or(1);
    if !(1..=most).contains(&n_best) {
        return Err(Refusal::invalid(format!(
            "n_best is {n_best}; give a number from 1 to {most} (n-best of the server's [limits])"
        )));
    }
    if request.segmentation && route.models.len() > 1 {
        return Err(Refusal::invalid("two models in a row have no segmentation"));
    }
    let settings = request.options.settings()?;
    let beam_size = settings.beam_size;
    let width = width(app, &request.options)?;
    match model.kind {
        ModelKind::Phrase => {
            if request.word_scores || !settings.is_empty() {
                return Err(Refusal::invalid(
                    "word_scores, beam_size and other decoding options are for neural models; \
                     this one is phrase-based",
                ));
            }
        }
        _ => {
            let has_option = request.options.distinct || width != SearchWidth::default();
            if request.graph || request.segmentation || has_option {
                return Err(Refusal::invalid(
                    "graph, segmentation, distinct, stack_size, pop_limit and beam_threshold are \
                     for phrase-based models; this one is neural",
                ));
            }
            if beam_size.is_some_and(|beam| !(1..=most).contains(&beam)) {
                return Err(Refusal::invalid(format!("give a beam_size from 1 to {most}")));
            }
            if n_best > 1
                && let Some(search) = model.search_with(&settings)
                && search.n_best_limit().is_some_and(|limit| n_best > limit)
            {
                let limit = search.describe_n_best_limit();
                return Err(Refusal::invalid(format!(
                    "n_best is {n_best}, which is more than {limit}; raise options.beam_size"
                )));
            }
        }
    }
    Ok(RequestOptions {
        raw: request.raw.unwrap_or(true),
        n_best,
        distinct: request.options.distinct,
        settings,
        scores: true,
        features: request.n_best.is_some(),
        alignment: request.alignment,
        graph: request.graph,
        width,
        ..RequestOptions::default()
    })
}

/// Returns the width of the search, within the limits.
fn width(app: &App, options: &Options) -> Result<SearchWidth, Refusal> {
    let most = app.configuration.limits.pops;
    let Options { stack_size, pop_limit, beam_threshold, .. } = *options;
    for (name, value) in [("stack_size", stack_size), ("pop_limit", pop_limit)] {
        if value.is_some_and(|value| !(1..=most).contains(&value)) {
            return Err(Refusal::Invalid(format!("give a {name} from 1 to {most}")));
        }
    }
    if beam_threshold.is_some_and(|beam| !(0.0..=1.0).contains(&beam)) {
        return Err(Refusal::Invalid("give a beam_threshold from 0 to 1".into()));
    }
    Ok(SearchWidth { stack_size, pop_limit, beam_threshold })
}

/// Returns the texts as sentences.
fn sentences(texts: &[String], request: &Request, route: &Route) -> Result<Vec<Sentence>, Refusal> {
    let prefixes = request.prefix.as_ref().map(OneOrMany::as_slice);
    let constraints = request.constraints.as_deref();
    let is_forced = prefixes.is_some() || constraints.is_some();
    // They are in the target language, so that a model before a pivot language does not see them.
    let model = route.models.last().expect("a route has a model");
    if is_forced && model.kind != ModelKind::Neural {
        let reason =
            "prefix and constraints are for neural models; use markup for phrase-based models";
        return Err(Refusal::invalid(reason));
    }
    let lengths = [prefixes.map(<[_]>::len), constraints.map(<[_]>::len)];
    if lengths.into_iter().flatten().any(|length| length != texts.len()) {
        return Err(Refusal::invalid(format!(
            "{} texts: give as many entries of prefix, and of constraints, if they are given",
            texts.len()
        )));
    }
    texts
        .iter()
        .enumerate()
        .map(|(number, text)| {
            if text.contains(['\n', '\r']) {
                let reason = format!("text {number} has more than one line; set split");
                return Err(Refusal::invalid(reason));
            }
            Ok(Sentence {
                text: text.clone().into_bytes(),
                prefix: prefixes.map(|all| all[number].clone().into_bytes()).unwrap_or_default(),
                constraints: constraints
                    .map(|all| all[number].iter().map(|text| text.clone().into_bytes()).collect())
                    .unwrap_or_default(),
                ..Sentence::default()
            })
        })
        .collect()
}

/// Returns the object of a text of several sentences.
fn text_value(found: &TranslatedText, request: &Request) -> Value {
    let sentences = found.results.iter().map(|result| result_value(result, request));
    let mut value = json!({"text": found.text, "sentences": sentences.collect::<Vec<_>>()});
    if !found.alternatives.is_empty() {
        value["alternatives"] = json!(found.alternatives);
    }
    value
}

/// Returns the object of a sentence.
fn result_value(result: &SentenceResult, request: &Request) -> Value {
    let translations: Vec<Value> =
        result.translations.iter().map(|found| translation(found, result, request)).collect();
    let mut value = json!({"source": tokens(&result.source), "translations": translations});
    if let Some(graph) = &result.graph {
        value["graph"] = serde_json::from_slice(graph).unwrap_or(Value::Null);
    }
    if !result.errors.is_empty() {
        let error = result.errors.iter();
        let errors = error.map(|one| json!({"kind": one.kind, "reason": one.reason}));
        value["errors"] = errors.collect();
    }
    value
}

fn translation(found: &Hypothesis, result: &SentenceResult, request: &Request) -> Value {
    let mut value = Map::new();
    value.insert("text".into(), text(&found.text));
    value.insert("score".into(), number(found.score));
    value.insert("tokens".into(), tokens(&found.tokens));
    if request.word_scores {
        let scores = found.word_scores.iter().map(|score| number(*score));
        value.insert("word_scores".into(), scores.collect());
    }
    if request.alignment {
        // Only words; neural models align the end of a sentence too.
        let (source, target) = (result.source.len() as u32, found.tokens.len() as u32);
        let points = found.alignment.iter().filter(|(s, t)| *s < source && *t < target);
        value.insert("alignment".into(), points.map(|(s, t)| json!([s, t])).collect());
    }
    if request.segmentation {
        let phrases = found.phrases.iter().map(|phrase| {
            let words = found.tokens.iter().skip(phrase.target.0 as usize);
            let count = (phrase.target.1 + 1 - phrase.target.0).max(0) as usize;
            let words: Vec<_> =
                words.take(count).map(|word| String::from_utf8_lossy(word)).collect();
            json!({
                "source": [phrase.source.0, phrase.source.1],
                "target": [phrase.target.0, phrase.target.1],
                "text": words.join(" "),
            })
        });
        value.insert("phrases".into(), phrases.collect());
    }
    if !found.features.is_empty() {
        let features = found.features.iter().map(|(name, values)| {
            (name.clone(), values.iter().map(|value| number(*value)).collect::<Value>())
        });
        value.insert("features".into(), Value::Object(features.collect()));
    }
    Value::Object(value)
}

fn tokens(tokens: &[Vec<u8>]) -> Value {
    tokens.iter().map(|token| text(token)).collect()
}
