//! Perplexity of text: of a corpus, of each line, or as a filter of lines.
//!
//! A line's perplexity is 10^(-log10 p / tokens), unknown words and `</s>`
//! included.

use miriam_textio::number::push_integer;
use miriam_textio::{Input, Output, Progress, number};

pub use crate::text_scoring::{LineCounts, Perplexity};

use crate::json_lines::{TextField, push_with_scores};
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
            move |block| score_plain_text(&mut scorer, block, options)
        })?,
        Some(json) => score_stream(inputs, output, stream, progress, || {
            let mut documents = JsonScorer {
                field: TextField::new(&json.field, options.per_line),
                scorer: TextScorer::new(
                    model,
                    SentenceMarkers::both_if(options.sentence_markers),
                    false,
                ),
                text: Vec::new(),
                documents: Vec::new(),
            };
            move |block: Vec<u8>| documents.score_block(&block, options, json.skip_invalid)
        })?,
    };
    if !options.per_line && options.filter.is_none() {
        let mut summary = Vec::new();
        sums.0.push_summary(&mut summary);
        output.write(&summary)?;
    }
    Ok(sums)
}

/// Scores a block of plain text.
fn score_plain_text(
    scorer: &mut TextScorer<'_>,
    mut text: Vec<u8>,
    options: &PerplexityOptions,
) -> BlockOutcome {
    if text.last() != Some(&b'\n') {
        text.push(b'\n');
    }
    let mut outcome = BlockOutcome::default();
    let scores = scorer.score(&text);
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
struct JsonScorer<'m> {
    field: TextField,
    scorer: TextScorer<'m>,
    /// The texts of a block, each line with its line end.
    text: Vec<u8>,
    /// The lines of a block that are objects, as byte ranges, and the number of lines
    /// in the text of each.
    documents: Vec<(std::ops::Range<usize>, usize)>,
}

impl JsonScorer<'_> {
    fn score_block(
        &mut self,
        block: &[u8],
        options: &PerplexityOptions,
        skip_invalid: bool,
    ) -> BlockOutcome {
        let mut outcome = BlockOutcome::default();
        self.text.clear();
        self.documents.clear();
        let mut start = 0;
        while start < block.len() {
            let length = memchr::memchr(b'\n', &block[start..]);
            let line = start..length.map_or(block.len(), |n| start + n);
            start = line.end + 1;
            outcome.lines.read += 1;
            let before = self.text.len();
            match self.field.read(&block[line.clone()], &mut self.text) {
                Ok(()) => {
                    if self.text.len() == before || self.text.last() != Some(&b'\n') {
                        self.text.push(b'\n');
                    }
                    let lines = memchr::memchr_iter(b'\n', &self.text[before..]).count();
                    self.documents.push((line, lines));
                }
                Err(_) if skip_invalid => outcome.lines.invalid += 1,
                Err(reason) => {
                    outcome.error = Some((outcome.lines.read, reason));
                    break;
                }
            }
        }
        let scores = self.scorer.score(&self.text);
        let mut sentences = scores.sentences();
        for (line, count) in &self.documents {
            let (mut log10, mut tokens, mut unknown) = (0.0, 0, 0);
            for sentence in sentences.by_ref().take(*count) {
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
            if options.per_line {
                push_with_scores(line, log10, tokens, unknown, &mut outcome.output);
            } else if options.filter.is_some() {
                outcome.output.extend_from_slice(line);
            } else {
                continue;
            }
            outcome.output.push(b'\n');
        }
        outcome
    }
}

#[cfg(test)]
mod tests;
