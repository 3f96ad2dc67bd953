//! The method `translate`: a struct of options in, a struct of results out.

use std::sync::Arc;

use miriam_textio::number::push_general_f32;

use super::Failure;
use super::parse::MethodCall;
use super::value::{Fault, Value};
use super::{fixed_members, limits};
use crate::api::parse_route_query;
use crate::app::App;
use crate::config::ModelKind;
use crate::engine::{Hypothesis, RequestOptions, Sentence, SentenceResult, TranslationOption};
use crate::http::Call;
use crate::http::forms::field;
use crate::models::{PRINT_ALIGNMENT, REPORT_SEGMENTATION};
use crate::text_translation::refuse_untranslated;

/// The options of a call.
struct Asked {
    align: bool,
    marks: bool,
    word_align: bool,
    nbest: usize,
    distinct: bool,
    breakdown: bool,
    graph: bool,
    options: bool,
}

pub(super) async fn run(
    app: &Arc<App>,
    call: &Call,
    wanted: &MethodCall,
) -> Result<Value, Failure> {
    fn parse(reason: &str) -> Fault {
        Fault::new(Fault::PARSE, reason)
    }
    let [given @ Value::Struct(_)] = &wanted.parameters[..] else {
        return Err(Fault::new(Fault::TYPE, "one struct with a text is needed").into());
    };
    let text = match given.member("text") {
        Some(Value::String(text)) => text,
        Some(_) => return Err(Fault::new(Fault::TYPE, "the text is not a string").into()),
        None => return Err(parse("Missing source text").into()),
    };
    let query = parse_route_query(&call.query).map_err(|reason| parse(&reason))?;
    app.admit(call.bearer().or(field(&query, "api_key")), text.chars().count())?;
    // The address chooses among several models: `/RPC2?model=NAME`.
    let [model, from, to] = ["model", "from", "to"].map(|name| field(&query, name));
    let route = app.registry().route(model, from, to);
    let route = route.map_err(crate::refusal::Refusal::from)?;
    let model = route.models.last().expect("a route has a model");
    let most = app.configuration.limits.n_best;
    let too_long = || parse(&format!("nbest: give a number up to {most} (n-best of [limits])"));
    let nbest = match given.member("nbest") {
        None => 0,
        Some(Value::Int(count)) if (0..=most as i32).contains(count) => *count as usize,
        Some(Value::String(text)) => match text.trim().parse() {
            Ok(count) if count <= most => count,
            _ => return Err(too_long().into()),
        },
        Some(_) => return Err(too_long().into()),
    };
    let asked = Asked {
        align: flag(given, "align")? || model.has_moses_setting(REPORT_SEGMENTATION),
        // The phrases of a system after a pivot language are not those of the text.
        marks: model.kind == ModelKind::Phrase
            && route.models.len() == 1
            && !flag(given, "no-ReportSegmentation")?
            && model.configuration.segmentation_marks.unwrap_or(true),
        word_align: flag(given, "word-align")? || model.has_moses_setting(PRINT_ALIGNMENT),
        nbest,
        distinct: flag(given, "nbest-distinct")?,
        breakdown: flag(given, "add-score-breakdown")?,
        graph: flag(given, "sg")?,
        options: flag(given, "topt")?,
    };
    if model.kind != ModelKind::Phrase {
        let lists = [("sg", asked.graph), ("topt", asked.options)];
        let search = limits::MEMBERS.map(|name| (name, given.member(name).is_some()));
        if let Some((name, _)) = lists.into_iter().chain(search).find(|(_, is_set)| *is_set) {
            return Err(parse(&format!("{name} is not available for a neural model")).into());
        }
    }
    limits::check_algorithm(given, model)?;
    fixed_members::check(given, model)?;
    let request_options = RequestOptions {
        n_best: model.limit_n_best(nbest),
        distinct: asked.distinct,
        scores: nbest > 0,
        features: nbest > 0 && asked.breakdown,
        alignment: asked.align || asked.word_align,
        graph: asked.graph,
        translation_options: asked.options,
        width: limits::parse_search_width(given, app.configuration.limits.pops)?,
        ..RequestOptions::default()
    };
    let time = limits::parse_time_limit(given)?;
    // A sentence is one line, so ends of lines become spaces.
    let line = text.replace(['\n', '\r'], " ").into_bytes();
    let sentence = Sentence { text: line, ..Sentence::default() };
    let found = app.translate(&route, vec![sentence], request_options, app.deadline(time)).await?;
    refuse_untranslated(&found.sentences)?;
    let result = found.sentences.first().ok_or_else(|| Fault::new(Fault::INTERNAL, "no result"))?;
    let mut response = respond(result, &asked);
    if let Some(id @ Value::Int(_)) = given.member("session-id") {
        response.push(("session-id".into(), id.clone()));
    }
    Ok(Value::Struct(response))
}

/// Parses a truth value in any of the forms that clients write.
fn flag(given: &Value, name: &str) -> Result<bool, Fault> {
    match given.member(name) {
        None => Ok(false),
        Some(Value::Boolean(is_true)) => Ok(*is_true),
        Some(Value::Int(number)) => Ok(*number != 0),
        Some(Value::String(text)) => Ok(matches!(&**text, "true" | "True" | "TRUE" | "1")),
        Some(_) => Err(Fault::new(Fault::TYPE, format!("{name} is neither true nor false"))),
    }
}

fn respond(result: &SentenceResult, asked: &Asked) -> Vec<(String, Value)> {
    let nothing = Hypothesis::default();
    let best = result.translations.first().unwrap_or(&nothing);
    let mut response = vec![("text".to_owned(), Value::from_utf8_lossy(&text(best, asked)))];
    if asked.align {
        response.push(("align".into(), alignment(best, result)));
    }
    if asked.word_align {
        response.push(("word-align".into(), word_alignment(best, result)));
    }
    if asked.graph {
        let graph = result.graph.as_deref().unwrap_or_default();
        response.push(("sg".into(), super::graph::search_graph(graph)));
    }
    if asked.options {
        let options = result.options.iter().map(translation_option);
        response.push(("topt".into(), Value::Array(options.collect())));
    }
    if asked.nbest > 0 {
        let list = result.translations.iter().map(|entry| n_best_entry(entry, result, asked));
        response.push(("nbest".into(), Value::Array(list.collect())));
    }
    response
}

/// Returns the words, each followed by a space. With `align` and marks, the source positions of
/// each phrase follow it, such as `|0-1|`. The text of neural models is already joined.
fn text(found: &Hypothesis, asked: &Asked) -> Vec<u8> {
    if !(asked.align && asked.marks) {
        return found.text.clone();
    }
    let mut text = Vec::new();
    for phrase in &found.phrases {
        // Dropped words have no mark, as in Moses.
        if phrase.target.0 > phrase.target.1 {
            continue;
        }
        let words = (phrase.target.0..=phrase.target.1).map(|at| &found.tokens[at as usize]);
        for word in words {
            text.extend_from_slice(word);
            text.push(b' ');
        }
        text.extend_from_slice(format!("|{}-{}| ", phrase.source.0, phrase.source.1).as_bytes());
    }
    text
}

/// Returns the phrases, or the word links of a neural model.
fn alignment(found: &Hypothesis, result: &SentenceResult) -> Value {
    fn entry(target: (i64, i64), source: (u32, u32)) -> Value {
        Value::Struct(vec![
            ("tgt-start".into(), Value::from_count(target.0)),
            ("tgt-end".into(), Value::from_count(target.1)),
            ("src-start".into(), Value::from_count(source.0)),
            ("src-end".into(), Value::from_count(source.1)),
        ])
    }
    if found.phrases.is_empty() {
        let points = links(found, result);
        let points = points.map(|(s, t)| entry((i64::from(t), i64::from(t)), (s, s)));
        return Value::Array(points.collect());
    }
    Value::Array(found.phrases.iter().map(|phrase| entry(phrase.target, phrase.source)).collect())
}

fn word_alignment(found: &Hypothesis, result: &SentenceResult) -> Value {
    Value::Array(
        links(found, result)
            .map(|(source, target)| {
                Value::Struct(vec![
                    ("source-word".into(), Value::from_count(source)),
                    ("target-word".into(), Value::from_count(target)),
                ])
            })
            .collect(),
    )
}

/// Returns the links of words, without the end of the sentence, which neural models align too.
fn links(found: &Hypothesis, result: &SentenceResult) -> impl Iterator<Item = (u32, u32)> {
    let (source, target) = (result.source.len() as u32, found.tokens.len() as u32);
    found.alignment.iter().copied().filter(move |&(s, t)| s < source && t < target)
}

fn n_best_entry(found: &Hypothesis, result: &SentenceResult, asked: &Asked) -> Value {
    let mut entry = vec![("hyp".to_owned(), Value::from_utf8_lossy(&text(found, asked)))];
    if asked.align {
        entry.push(("align".into(), alignment(found, result)));
    }
    if asked.word_align {
        entry.push(("word-align".into(), word_alignment(found, result)));
    }
    if asked.breakdown {
        entry.push(("fvals".into(), Value::from_utf8_lossy(&labelled(found))));
        entry.push(("scores".into(), pack_features(&found.features)));
    }
    entry.push(("totalScore".into(), Value::Double(f64::from(found.score))));
    Value::Struct(entry)
}

/// Returns the values of each feature by its name, as Moses does: its dense values, and a struct of
/// sparse values, which is empty.
fn pack_features(features: &[(String, Vec<f32>)]) -> Value {
    let scores = features.iter().map(|(name, values)| {
        let values = vec![Value::Array(doubles(values)), Value::Struct(Vec::new())];
        (name.clone(), Value::Array(values))
    });
    Value::Struct(scores.collect())
}

/// Returns a phrase for a span; `scores` are the values of all features in the order of the model.
fn translation_option(option: &TranslationOption) -> Value {
    Value::Struct(vec![
        ("phrase".to_owned(), Value::from_utf8_lossy(&option.words.join(&b' '))),
        ("fscore".into(), Value::Double(f64::from(option.future_score))),
        ("start".into(), Value::from_count(option.source.0)),
        ("end".into(), Value::from_count(option.source.1)),
        ("scores".into(), Value::Array(doubles(&option.values))),
        ("labelledScores".into(), pack_features(&option.features)),
    ])
}

fn doubles(values: &[f32]) -> Vec<Value> {
    values.iter().map(|&value| Value::Double(f64::from(value))).collect()
}

/// Writes the feature values as in a line of an n-best list.
fn labelled(found: &Hypothesis) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, values) in &found.features {
        text.extend_from_slice(format!("{name}= ").as_bytes());
        for &value in values {
            push_general_f32(&mut text, value);
            text.push(b' ');
        }
    }
    text
}
