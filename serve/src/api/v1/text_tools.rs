//! `POST /v1/split`, `/v1/tokenize` and `/v1/detokenize`.

use miriam_textproc::{Detokenizer, Tokenizer};
use serde::Deserialize;
use serde_json::{Value, json};

use super::translate::OneOrMany;
use super::{admit_texts, parse, text};
use crate::app::{App, Refusal};
use crate::http::Call;
use crate::running_text::{SegmentedText, Split, TextFormat};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    language: String,
    text: OneOrMany,
}

fn open(app: &App, call: &Call) -> Result<Request, Refusal> {
    let request: Request = parse(&call.body)?;
    admit_texts(app, call, request.text.as_slice())?;
    Ok(request)
}

fn respond(results: impl Iterator<Item = Value>) -> Result<Value, Refusal> {
    Ok(json!({"results": results.collect::<Vec<_>>()}))
}

/// The sentences of each text.
pub(super) fn split(app: &App, call: &Call) -> Result<Value, Refusal> {
    let Request { language, text: texts } = open(app, call)?;
    respond(texts.as_slice().iter().map(|one| {
        let format = TextFormat::Plain(Split::Sentences);
        let sentences = SegmentedText::new(one, format, &language);
        sentences.sentences().map(text).collect()
    }))
}

/// The tokens of each text, with spaces between.
pub(super) fn tokenize(app: &App, call: &Call) -> Result<Value, Refusal> {
    let Request { language, text: texts } = open(app, call)?;
    let tokenizer = Tokenizer::new(&language);
    respond(texts.as_slice().iter().map(|line| {
        let mut tokens = Vec::new();
        tokenizer.tokenize(line.as_bytes(), &mut tokens);
        text(&tokens)
    }))
}

/// The text of each list of tokens.
pub(super) fn detokenize(app: &App, call: &Call) -> Result<Value, Refusal> {
    let Request { language, text: texts } = open(app, call)?;
    let detokenizer = Detokenizer::new(&language);
    respond(texts.as_slice().iter().map(|line| {
        let mut joined = Vec::new();
        detokenizer.detokenize(line.as_bytes(), &mut joined);
        text(&joined)
    }))
}
