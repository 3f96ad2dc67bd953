//! Perplexity of text: of a corpus, of each line, or as a filter of lines.
//!
//! A line's perplexity is 10^(-log10 p / tokens), unknown words and `</s>` included. A line without
//! tokens, as an empty one without `</s>`, has none: it is not a number.

use miriam_textio::number::push_integer;
use miriam_textio::{Error as TextError, Output, Progress, number};

mod buckets;
mod csv;
mod distribution;
mod filter;
mod json_scorer;
mod preparation;

pub use buckets::{BucketOptions, Cutoffs};
pub use distribution::PerplexityDistribution;
pub use filter::{Percent, PerplexityFilter, RankLimit};
pub use preparation::{Preparation, PrepareText};

pub use crate::text_scoring::{Inputs, LineCounts, Perplexity};

use filter::{TieCounter, Verdict};
use json_scorer::JsonScorer;

use crate::text_scoring::{
    BlockOutcome, BlockPlace, SentenceMarkers, StreamOptions, TextScorer, perplexity_of,
    score_stream,
};
use crate::{Error, LanguageModel, Result};

/// Options for scoring text and for the output.
#[derive(Clone, Debug)]
pub struct PerplexityOptions {
    /// Whether `<s>` comes before and `</s>` after each line of text.
    pub sentence_markers: bool,
    /// The number of worker threads, at least 1.
    pub threads: usize,
    /// The preparation of text before it is scored, if any. Text is always written as it was read.
    pub preparation: Option<Preparation>,
    /// Whether the scores of each line are written: for JSON, the line with four more keys; for
    /// plain text, `log10 TAB tokens TAB unknown words TAB perplexity`, but not if there is a
    /// filter.
    pub per_line: bool,
    /// Options for JSON lines; `None` if lines are plain text.
    pub json: Option<JsonOptions>,
    /// The filter, if only the lines that pass are written.
    pub filter: Option<PerplexityFilter>,
}

/// Options for reading JSON lines.
#[derive(Clone, Debug)]
pub struct JsonOptions {
    /// The name of the field with the text, as
    /// [`TextField::new`](crate::json_lines::TextField::new) takes it. A text of several lines is
    /// scored line by line and has the sums of its lines; an empty text is one empty line.
    pub field: String,
    /// Whether lines that are not objects with this field are left out. Otherwise they are an
    /// error, and it is always an error if all lines are invalid.
    pub skip_invalid: bool,
    /// Options for adding the perplexity, rounded to a tenth, and its bucket to each object. A
    /// document whose text is empty has no perplexity.
    pub buckets: Option<BucketOptions>,
    /// Whether it is an error if languages are used and no document names its language.
    pub needs_language: bool,
}

/// The purpose of scoring a text.
#[derive(Clone, Copy)]
enum Purpose<'o> {
    /// Writes the output that [`PerplexityOptions`] select.
    Write,
    /// Collects the perplexities of lines, by the language that this field of a document names.
    Collect(Option<&'o str>),
}

/// Scores each line of `inputs` and writes what `options` select: scores, lines, or, without
/// either, the sums as in the summary of KenLM's `query`. Lines of plain text that pass a filter
/// keep every byte; only a missing last line end is added.
///
/// The inputs are read as one text; each is opened when the one before has ended. `size` is their
/// length in bytes before decompression, if it is known.
///
/// # Errors
///
/// If an input cannot be read, a line has 4 GiB or more or is not the JSON object expected, all
/// lines are left out as invalid, a required language is missing from all documents, or the output
/// cannot be written.
pub fn perplexity(
    model: &dyn LanguageModel,
    inputs: Inputs<'_>,
    size: Option<u64>,
    output: &mut Output,
    options: &PerplexityOptions,
    progress: &dyn Progress,
) -> Result<(Perplexity, LineCounts)> {
    let mut ties = options.filter.as_ref().map(TieCounter::new);
    let scoring = Scoring { model, size, options, progress };
    let sums = scoring.score(inputs, output, Purpose::Write, &mut |block| {
        ties.iter_mut().for_each(|ties| ties.settle(block))
    })?;
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

/// Scores each line of `inputs` as [`perplexity`] does and returns the perplexities; nothing is
/// written. Documents are grouped by the language in their field `language_field`, if it is given.
///
/// # Errors
///
/// Those of [`perplexity`].
pub fn perplexity_distribution(
    model: &dyn LanguageModel,
    inputs: Inputs<'_>,
    size: Option<u64>,
    options: &PerplexityOptions,
    language_field: Option<&str>,
    progress: &dyn Progress,
) -> Result<(PerplexityDistribution, LineCounts)> {
    let mut nowhere = Output::from_writer(std::io::sink(), "")?;
    let mut found = PerplexityDistribution::default();
    let scoring = Scoring { model, size, options, progress };
    let purpose = Purpose::Collect(language_field);
    let (_, lines) = scoring.score(inputs, &mut nowhere, purpose, &mut |block| {
        for (language, perplexity) in block.perplexities.drain(..) {
            found.push(language.as_deref(), perplexity);
        }
    })?;
    Ok((found, lines))
}

/// The model and the options with which a text is scored.
struct Scoring<'o> {
    model: &'o dyn LanguageModel,
    /// The length of the text in bytes, before decompression, if it is known.
    size: Option<u64>,
    options: &'o PerplexityOptions,
    progress: &'o dyn Progress,
}

impl<'o> Scoring<'o> {
    /// Scores `inputs` for `purpose`; calls `observe` with each block before it is written.
    fn score(
        &self,
        inputs: Inputs<'_>,
        output: &mut Output,
        purpose: Purpose<'o>,
        observe: &mut dyn FnMut(&mut BlockOutcome),
    ) -> Result<(Perplexity, LineCounts)> {
        let &Scoring { model, size, options, progress } = self;
        let markers = SentenceMarkers::both_if(options.sentence_markers);
        let stream =
            StreamOptions { threads: options.threads, low_latency: false, total_bytes: size };
        let Some(json) = &options.json else {
            return score_stream(
                inputs,
                output,
                stream,
                progress,
                || {
                    let mut scorer = TextScorer::new(model, markers, false);
                    let mut preparer = options.preparation.as_ref().map(Preparation::preparer);
                    let mut prepared = Vec::new();
                    move |mut text: Vec<u8>| {
                        if text.last() != Some(&b'\n') {
                            text.push(b'\n');
                        }
                        let Some(preparer) = &mut preparer else {
                            return score_plain_text(&mut scorer, &text, &text, options, purpose);
                        };
                        prepared.clear();
                        for line in text.split_inclusive(|&byte| byte == b'\n') {
                            preparer.prepare(line, &mut prepared);
                        }
                        score_plain_text(&mut scorer, &prepared, &text, options, purpose)
                    }
                },
                |_, block| {
                    observe(block);
                },
            );
        };
        let mut documents = DocumentCheck::default();
        let sums = score_stream(
            inputs,
            output,
            stream,
            progress,
            || {
                let scorer = TextScorer::new(model, markers, false);
                let mut documents = JsonScorer::new(scorer, options, json, purpose);
                move |block| documents.score_block(&block)
            },
            |place, block| {
                documents.add(place, block);
                observe(block);
            },
        )?;
        documents.check(json, purpose, sums.1)?;
        Ok(sums)
    }
}

/// Counts that show whether the name of a field is wrong: the documents that were scored, and those
/// that name their language.
#[derive(Default)]
struct DocumentCheck {
    /// The number of documents scored.
    scored: u64,
    /// The number of these that name their language.
    with_language: u64,
    /// The first line that was left out: input, number and reason.
    first_invalid: Option<(String, u64, String)>,
}

impl DocumentCheck {
    fn add(&mut self, place: BlockPlace<'_>, block: &mut BlockOutcome) {
        self.scored += block.num_documents;
        self.with_language += block.with_language;
        if let (None, Some((line, reason))) = (&self.first_invalid, block.first_invalid.take()) {
            self.first_invalid = Some((place.name.into(), place.lines_before + line, reason));
        }
    }

    /// Checks that documents were scored.
    ///
    /// # Errors
    /// If all lines were left out as invalid, or if no document has the required field of a
    /// language.
    fn check(self, json: &JsonOptions, purpose: Purpose<'_>, lines: LineCounts) -> Result<()> {
        if let (0, Some((name, line, reason))) = (self.scored, self.first_invalid) {
            let reason = match lines.invalid {
                1 => reason,
                count => format!("{reason} (the first of {count} lines, and all are invalid)"),
            };
            return Err(TextError::format(&name, line, None, reason).into());
        }
        if self.scored == 0 || self.with_language > 0 {
            return Ok(());
        }
        let (field, is_needed) = match (purpose, &json.buckets) {
            (Purpose::Collect(Some(field)), _) => (field, json.needs_language),
            (Purpose::Write, Some(buckets)) => (&*buckets.language_field, json.needs_language),
            _ => return Ok(()),
        };
        let reason = format!("no document has a language in the field {field:?}");
        if is_needed {
            return Err(Error::InvalidOptions { reason });
        }
        if json.buckets.as_ref().is_some_and(|buckets| !buckets.cutoffs.covers_all()) {
            tracing::warn!("{reason}, so all documents are in the bucket `all`");
        }
        Ok(())
    }
}

/// Scores a block of plain text. `text` has its lines as they were read, `prepared` the same lines
/// as they are scored. Both end with a line end and have the same number of lines.
fn score_plain_text(
    scorer: &mut TextScorer<'_>,
    prepared: &[u8],
    text: &[u8],
    options: &PerplexityOptions,
    purpose: Purpose<'_>,
) -> BlockOutcome {
    let mut outcome = BlockOutcome::default();
    let scores = scorer.score(prepared);
    let mut start = 0;
    for sentence in scores.sentences() {
        let (log10, unknown) = outcome.add_sentence(&sentence);
        outcome.lines.read += 1;
        let perplexity = || perplexity_of(f64::from(log10), sentence.len());
        if let Purpose::Collect(_) = purpose {
            outcome.perplexities.push((None, perplexity()));
        } else if let Some(filter) = options.filter {
            let length =
                memchr::memchr(b'\n', &text[start..]).map_or(text.len() - start, |n| n + 1);
            outcome.push_judged(filter.judge(perplexity()), |out| {
                out.extend_from_slice(&text[start..start + length]);
            });
            start += length;
        } else if options.per_line {
            let out = &mut outcome.output;
            number::push_shortest_f32(out, log10);
            out.push(b'\t');
            push_integer(out, sentence.len());
            out.push(b'\t');
            push_integer(out, unknown);
            out.push(b'\t');
            number::push_shortest_f64(out, perplexity());
            out.push(b'\n');
        }
    }
    outcome
}

impl BlockOutcome {
    /// Writes a line with `push` if it passes the filter, or if that depends on earlier lines.
    fn push_judged(&mut self, verdict: Verdict, push: impl FnOnce(&mut Vec<u8>)) {
        let before = self.output.len();
        match verdict {
            Verdict::LeftOut => {}
            Verdict::Written => {
                push(&mut self.output);
                self.lines.kept += 1;
            }
            Verdict::Tied => {
                push(&mut self.output);
                self.tied_parts.push(before..self.output.len());
            }
        }
    }
}

#[cfg(test)]
mod tests;
