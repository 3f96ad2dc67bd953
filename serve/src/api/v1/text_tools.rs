//! `POST /v1/split`, `/v1/tokenize` and `/v1/detokenize`.

use miriam_textproc::{
    Detokenizer, DocumentCutter, DocumentFormat, Interrupted, NonbreakingPrefixes,
    SentenceSplitter, Split, Tokenizer,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::translate::OneOrMany;
use super::{check_lines, parse, text};
use crate::app::App;
use crate::background;
use crate::http::Call;
use crate::refusal::Refusal;
use crate::text_translation::plain_code;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    language: String,
    text: OneOrMany,
}

/// A tool for texts of a language. The closure returns whether the work should stop.
type TextTool = fn(&str, &[String], &dyn Fn() -> bool) -> Result<Vec<Value>, Interrupted>;

/// Returns a warning about a language, if there is one.
type Warning = fn(&str) -> Option<String>;

/// Answers with the result of `tool` for each text, and with the warning about the language.
async fn answer(
    app: &App,
    call: &Call,
    request: Request,
    warning: Warning,
    tool: TextTool,
) -> Result<Value, Refusal> {
    let Request { language, text: texts } = request;
    app.admit_texts(call.bearer(), texts.as_slice())?;
    let language = plain_code(&language);
    let warning = warning(&language);
    let bytes = background::text_work(texts.as_slice());
    let results = background::run_on_text(bytes, app.deadline(None), move |should_stop| {
        tool(&language, texts.as_slice(), should_stop)
    })
    .await?;
    let mut answer = json!({"results": results});
    if let Some(warning) = warning {
        answer["warning"] = warning.into();
    }
    Ok(answer)
}

/// Works like [`answer`], but each text must be one line.
async fn answer_lines(
    app: &App,
    call: &Call,
    warning: Warning,
    tool: TextTool,
) -> Result<Value, Refusal> {
    let request: Request = parse(&call.body)?;
    check_lines(request.text.as_slice())?;
    answer(app, call, request, warning, tool).await
}

/// Returns the sentences of each text.
pub(super) async fn split(app: &App, call: &Call) -> Result<Value, Refusal> {
    let warning = NonbreakingPrefixes::unknown_language_warning;
    answer(app, call, parse(&call.body)?, warning, |language, texts, should_stop| {
        let splitter = SentenceSplitter::new(language);
        let format = DocumentFormat::Text(Split::Sentences);
        let cutter = DocumentCutter::new(format, &splitter).until(should_stop);
        texts
            .iter()
            .map(|one| Ok(cutter.cut(one.as_bytes(), |_| 0)?.sentences().map(text).collect()))
            .collect()
    })
    .await
}

/// Returns the tokens of each text, separated by spaces.
pub(super) async fn tokenize(app: &App, call: &Call) -> Result<Value, Refusal> {
    let warning = NonbreakingPrefixes::unknown_language_warning;
    answer_lines(app, call, warning, |language, texts, should_stop| {
        let tokenizer = Tokenizer::new(language);
        each_until(texts, should_stop, |line, out| tokenizer.tokenize(line, out))
    })
    .await
}

/// Returns the text of each list of tokens.
pub(super) async fn detokenize(app: &App, call: &Call) -> Result<Value, Refusal> {
    // No abbreviations are needed.
    answer_lines(
        app,
        call,
        |_| None,
        |language, texts, should_stop| {
            let detokenizer = Detokenizer::new(language);
            each_until(texts, should_stop, |line, out| detokenizer.detokenize(line, out))
        },
    )
    .await
}

/// Returns the output of `tool` for each text.
fn each_until(
    texts: &[String],
    should_stop: &dyn Fn() -> bool,
    tool: impl Fn(&[u8], &mut Vec<u8>),
) -> Result<Vec<Value>, Interrupted> {
    texts
        .iter()
        .map(|line| {
            if should_stop() {
                return Err(Interrupted);
            }
            let mut out = Vec::new();
            tool(line.as_bytes(), &mut out);
            Ok(text(&out))
        })
        .collect()
}
