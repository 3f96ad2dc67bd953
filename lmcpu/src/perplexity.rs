//! Perplexity of text, as fast as the machine allows: of a corpus, of each line,
//! or as a sieve for lines.
//!
//! A line's perplexity is 10^(-log10 p / tokens), unknown words and `</s>`
//! included.

use miriam_textio::{Input, Output, Progress, number};

pub use crate::sentences::{Lines, Perplexity};

use crate::json_lines::{TextField, push_with_scores};
use crate::query::push_integer;
use crate::sentences::{Flow, Outcome, Scorer, work_through};
use crate::{LanguageModel, Result};

/// What is done with each line.
#[derive(Clone, Debug)]
pub struct Options {
    /// Put `<s>` before and `</s>` behind each line of text.
    pub markers: bool,
    /// Worker threads, from 1.
    pub threads: usize,
    /// Write scores of each line: of plain text, unless there is a filter,
    /// `log10 TAB tokens TAB unknown words`; of JSON the line with four keys more.
    pub per_line: bool,
    /// Lines are JSON objects of which this field is text.
    pub json: Option<Json>,
    /// Write the lines that pass.
    pub filter: Option<Filter>,
}

/// How JSON lines are read.
#[derive(Clone, Debug)]
pub struct Json {
    /// The name of the field, as [`TextField::new`] takes it. A text of several
    /// lines is scored line by line, its sums are those of its lines; one of no
    /// line is one empty line.
    pub field: String,
    /// Leave out lines that are no such objects instead of ending with an error.
    pub skip_invalid: bool,
}

/// Which lines pass.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// The highest perplexity that passes.
    pub max_perplexity: f64,
    /// Let those pass that would not.
    pub invert: bool,
}

impl Filter {
    /// Whether a line passes. One without tokens has no perplexity, which is not
    /// at most the highest.
    fn keeps(&self, log10: f64, tokens: u64) -> bool {
        (line_perplexity(log10, tokens) <= self.max_perplexity) != self.invert
    }
}

/// The perplexity of a line with `tokens` tokens.
pub(crate) fn line_perplexity(log10: f64, tokens: u64) -> f64 {
    10f64.powf(-(log10 / tokens as f64))
}

/// Scores each line of `inputs` and writes what `options` ask for: scores,
/// lines, or, without either, the sums as KenLM's `query` prints its summary.
/// Lines that pass a filter keep every byte; only a missing last line end is
/// added.
///
/// Inputs are one text, in their order; each is opened when the one before has
/// ended. `size` is their length in bytes where known, before decompression.
pub fn perplexity(
    model: &dyn LanguageModel,
    inputs: impl IntoIterator<Item = miriam_textio::Result<Input>, IntoIter: Send>,
    size: Option<u64>,
    output: &mut Output,
    options: &Options,
    progress: &dyn Progress,
) -> Result<(Perplexity, Lines)> {
    let flow = Flow { threads: options.threads, promptly: false, size };
    let sums = match &options.json {
        None => work_through(inputs, output, flow, progress, || {
            let mut scorer = Scorer::new(model, options.markers, false);
            move |block| plain(&mut scorer, block, options)
        })?,
        Some(json) => work_through(inputs, output, flow, progress, || {
            let mut documents = Documents {
                field: TextField::new(&json.field, options.per_line),
                scorer: Scorer::new(model, options.markers, false),
                text: Vec::new(),
                found: Vec::new(),
            };
            move |block: Vec<u8>| documents.score(&block, options, json.skip_invalid)
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
fn plain(scorer: &mut Scorer<'_>, mut text: Vec<u8>, options: &Options) -> Outcome {
    if text.last() != Some(&b'\n') {
        text.push(b'\n');
    }
    let mut outcome = Outcome::default();
    let scores = scorer.score(&text);
    let mut start = 0;
    for sentence in scores.sentences() {
        let (log10, unknown) = outcome.add(&sentence);
        outcome.lines.read += 1;
        if let Some(filter) = options.filter {
            let length =
                memchr::memchr(b'\n', &text[start..]).map_or(text.len() - start, |n| n + 1);
            if filter.keeps(f64::from(log10), sentence.len()) {
                outcome.lines.kept += 1;
                outcome.printed.extend_from_slice(&text[start..start + length]);
            }
            start += length;
        } else if options.per_line {
            let out = &mut outcome.printed;
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

/// Scores blocks of JSON lines; one a thread.
struct Documents<'m> {
    field: TextField,
    scorer: Scorer<'m>,
    /// The texts of a block, each line with its line end.
    text: Vec<u8>,
    /// The lines of a block that are objects, and how many lines the text of
    /// each has.
    found: Vec<(std::ops::Range<usize>, usize)>,
}

impl Documents<'_> {
    fn score(&mut self, block: &[u8], options: &Options, skip_invalid: bool) -> Outcome {
        let mut outcome = Outcome::default();
        self.text.clear();
        self.found.clear();
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
                    self.found.push((line, lines));
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
        for (line, count) in &self.found {
            let (mut log10, mut tokens, mut unknown) = (0.0, 0, 0);
            for sentence in sentences.by_ref().take(*count) {
                let (sentence_log10, sentence_unknown) = outcome.add(&sentence);
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
                push_with_scores(line, log10, tokens, unknown, &mut outcome.printed);
            } else if options.filter.is_some() {
                outcome.printed.extend_from_slice(line);
            } else {
                continue;
            }
            outcome.printed.push(b'\n');
        }
        outcome
    }
}

#[cfg(test)]
mod tests;
