//! Perplexity of text: of a corpus, of each line, or as a filter of lines.
//!
//! A line's perplexity is 10^(-log10 p / tokens), unknown words and `</s>`
//! included.

use miriam_textio::number::push_integer;
use miriam_textio::{Input, Output, Progress, number};

mod buckets;
mod preparation;

pub use buckets::{BucketOptions, Cutoffs};
pub use preparation::{Preparation, PrepareText};

pub use crate::text_scoring::{LineCounts, Perplexity};

use buckets::{BUCKET_KEYS, Buckets};
use preparation::PreparedText;

use crate::json_lines::{SCORE_KEYS, TextField, push_scores, push_with_keys};
use crate::text_scoring::{
    BlockOutcome, SentenceMarkers, StreamOptions, TextScorer, perplexity_of, score_stream,
};
use crate::{LanguageModel, Result};

/// How text is scored and what is written.
#[derive(Clone, Debug)]
pub struct PerplexityOptions {
    /// Put `<s>` before and `</s>` after each line of text.
    pub sentence_markers: bool,
    /// Worker threads, from 1.
    pub threads: usize,
    /// What is done to text before it is scored; without it, nothing. What is written is the text
    /// as it was.
    pub preparation: Option<Preparation>,
    /// Write the scores of each line: for plain text, unless there is a filter, `log10
    /// TAB tokens TAB unknown words`; for JSON the line with four more keys.
    pub per_line: bool,
    /// Lines are JSON objects of which this field is text.
    pub json: Option<JsonOptions>,
    /// Write only the lines that pass.
    pub filter: Option<PerplexityFilter>,
}

/// How JSON lines are read.
#[derive(Clone, Debug)]
pub struct JsonOptions {
    /// The name of the field, as [`TextField::new`] takes it. A text of several lines
    /// is scored line by line and has the sums of its lines; an empty text is one empty
    /// line.
    pub field: String,
    /// Leave out lines that are not such objects instead of returning an error.
    pub skip_invalid: bool,
    /// Add the perplexity, to a tenth, and its bucket to each object. A document whose text is
    /// empty has no perplexity.
    pub buckets: Option<BucketOptions>,
}

/// Which lines are written.
#[derive(Clone, Copy, Debug)]
pub struct PerplexityFilter {
    /// The highest perplexity that passes.
    pub max_perplexity: f64,
    /// Write the lines that would not pass instead.
    pub invert: bool,
}

impl PerplexityFilter {
    /// Whether a line passes. The perplexity of a line without tokens is not a number,
    /// so it does not pass.
    fn keeps(&self, log10: f64, tokens: u64) -> bool {
        (perplexity_of(log10, tokens) <= self.max_perplexity) != self.invert
    }
}

/// Scores each line of `inputs` and writes what `options` select: scores, lines, or,
/// without either, the sums as in the summary of KenLM's `query`. Lines that pass a
/// filter keep every byte; only a missing last line end is added.
///
/// The inputs are read as one text; each is opened when the one before has ended.
/// `size` is their length in bytes where known, before decompression.
///
/// # Errors
///
/// If an input cannot be read, a line is not the JSON object expected,
/// or the output cannot be written.
pub fn perplexity(
    model: &dyn LanguageModel,
    inputs: impl IntoIterator<Item = miriam_textio::Result<Input>, IntoIter: Send>,
    size: Option<u64>,
    output: &mut Output,
    options: &PerplexityOptions,
    progress: &dyn Progress,
) -> Result<(Perplexity, LineCounts)> {
    let stream = StreamOptions { threads: options.threads, low_latency: false, total_bytes: size };
    let sums = match &options.json {
        None => score_stream(inputs, output, stream, progress, || {
            let mut scorer =
                TextScorer::new(model, SentenceMarkers::both_if(options.sentence_markers), false);
            let mut preparation = options.preparation.as_ref().map(Preparation::start);
            let mut prepared = Vec::new();
            move |mut text: Vec<u8>| {
                if text.last() != Some(&b'\n') {
                    text.push(b'\n');
                }
                let Some(preparation) = &mut preparation else {
                    return score_plain_text(&mut scorer, &text, &text, options);
                };
                prepared.clear();
                for line in text.split_inclusive(|&byte| byte == b'\n') {
                    preparation.push(line, &mut prepared);
                }
                score_plain_text(&mut scorer, &prepared, &text, options)
            }
        })?,
        Some(json) => score_stream(inputs, output, stream, progress, || {
            let mut reserved = Vec::new();
            if options.per_line {
                reserved.extend(SCORE_KEYS);
            }
            if json.buckets.is_some() {
                reserved.extend(BUCKET_KEYS);
            }
            let mut documents = JsonScorer {
                field: TextField::new(&json.field, reserved),
                preparation: options.preparation.as_ref().map(Preparation::start),
                buckets: json.buckets.as_ref().map(Buckets::new),
                scorer: TextScorer::new(
                    model,
                    SentenceMarkers::both_if(options.sentence_markers),
                    false,
                ),
                text: Vec::new(),
                prepared: Vec::new(),
                documents: Vec::new(),
            };
            move |block: Vec<u8>| documents.score_block(&block, options, json.skip_invalid)
        })?,
    };
    let writes_lines = options.per_line
        || options.filter.is_some()
        || options.json.as_ref().is_some_and(|json| json.buckets.is_some());
    if !writes_lines {
        let mut summary = Vec::new();
        sums.0.push_summary(&mut summary);
        output.write(&summary)?;
    }
    Ok(sums)
}

/// Scores a block of plain text: the lines of `prepared`, which are those of `text` as they are
/// scored. Both end with a line end.
fn score_plain_text(
    scorer: &mut TextScorer<'_>,
    prepared: &[u8],
    text: &[u8],
    options: &PerplexityOptions,
) -> BlockOutcome {
    let mut outcome = BlockOutcome::default();
    let scores = scorer.score(prepared);
    let mut start = 0;
    for sentence in scores.sentences() {
        let (log10, unknown) = outcome.add_sentence(&sentence);
        outcome.lines.read += 1;
        if let Some(filter) = options.filter {
            let length =
                memchr::memchr(b'\n', &text[start..]).map_or(text.len() - start, |n| n + 1);
            if filter.keeps(f64::from(log10), sentence.len()) {
                outcome.lines.kept += 1;
                outcome.output.extend_from_slice(&text[start..start + length]);
            }
            start += length;
        } else if options.per_line {
            let out = &mut outcome.output;
            number::push_shortest_f32(out, log10);
            out.push(b'\t');
            push_integer(out, sentence.len());
            out.push(b'\t');
            push_integer(out, unknown);
            out.push(b'\n');
        }
    }
    outcome
}

/// Scores blocks of JSON lines; each thread has its own.
struct JsonScorer<'m, 'o> {
    field: TextField,
    preparation: Option<PreparedText>,
    buckets: Option<Buckets<'o>>,
    scorer: TextScorer<'m>,
    /// The texts of a block as they are scored, each line with its line end.
    prepared: Vec<u8>,
    /// The text of a document before it is prepared.
    text: Vec<u8>,
    documents: Vec<Document>,
}

/// A line of a block that is an object.
struct Document {
    /// Its bytes in the block.
    line: std::ops::Range<usize>,
    /// The lines of its text.
    num_lines: usize,
    is_empty: bool,
}

impl JsonScorer<'_, '_> {
    fn score_block(
        &mut self,
        block: &[u8],
        options: &PerplexityOptions,
        skip_invalid: bool,
    ) -> BlockOutcome {
        let mut outcome = BlockOutcome::default();
        self.prepared.clear();
        self.documents.clear();
        let mut start = 0;
        while start < block.len() {
            let length = memchr::memchr(b'\n', &block[start..]);
            let line = start..length.map_or(block.len(), |n| start + n);
            start = line.end + 1;
            outcome.lines.read += 1;
            // Writers end files with a blank line; it is not a document.
            if block[line.clone()].trim_ascii().is_empty() {
                continue;
            }
            let before = self.prepared.len();
            let read = match &mut self.preparation {
                None => self.field.read(&block[line.clone()], &mut self.prepared),
                Some(preparation) => {
                    self.text.clear();
                    let read = self.field.read(&block[line.clone()], &mut self.text);
                    read.map(|()| preparation.push(&self.text, &mut self.prepared))
                }
            };
            match read {
                Ok(()) => {
                    let is_empty = self.prepared[before..].iter().all(|&byte| byte == b'\n');
                    if self.prepared.len() == before || self.prepared.last() != Some(&b'\n') {
                        self.prepared.push(b'\n');
                    }
                    let num_lines = memchr::memchr_iter(b'\n', &self.prepared[before..]).count();
                    self.documents.push(Document { line, num_lines, is_empty });
                }
                Err(_) if skip_invalid => outcome.lines.invalid += 1,
                Err(reason) => {
                    outcome.error = Some((outcome.lines.read, reason));
                    break;
                }
            }
        }
        let scores = self.scorer.score(&self.prepared);
        let mut sentences = scores.sentences();
        for Document { line, num_lines, is_empty } in &self.documents {
            let (mut log10, mut tokens, mut unknown) = (0.0, 0, 0);
            for sentence in sentences.by_ref().take(*num_lines) {
                let (sentence_log10, sentence_unknown) = outcome.add_sentence(&sentence);
                log10 += f64::from(sentence_log10);
                tokens += sentence.len();
                unknown += sentence_unknown;
            }
            if let Some(filter) = options.filter {
                if !filter.keeps(log10, tokens) {
                    continue;
                }
                outcome.lines.kept += 1;
            }
            let line = &block[line.clone()];
            if !options.per_line && self.buckets.is_none() && options.filter.is_none() {
                continue;
            }
            push_with_keys(line, &mut outcome.output, |out| {
                if options.per_line {
                    push_scores(out, log10, tokens, unknown);
                }
                if let Some(buckets) = &mut self.buckets {
                    let perplexity = (!is_empty).then(|| perplexity_of(log10, tokens));
                    buckets.push(line, perplexity, out);
                }
            });
            outcome.output.push(b'\n');
        }
        outcome
    }
}

#[cfg(test)]
mod tests;
