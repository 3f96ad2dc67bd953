//! Scoring of JSON lines: the text of each document, line by line or joined into one line.

use super::buckets::{BUCKET_KEYS, Cutoffs, LanguageReader, push_bucket};
use super::preparation::TextPreparer;
use super::{JsonOptions, PerplexityOptions, Preparation, Purpose};
use crate::json_lines::{SCORE_KEYS, TextField, push_scores, push_with_keys};
use crate::text_scoring::{BlockOutcome, TextScorer, perplexity_of};

/// A scorer of blocks of JSON lines; each thread has its own.
pub(super) struct JsonScorer<'m, 'o> {
    options: &'o PerplexityOptions,
    skip_invalid: bool,
    purpose: Purpose<'o>,
    field: TextField,
    cutoffs: Option<&'o Cutoffs>,
    languages: Option<LanguageReader>,
    preparer: Option<TextPreparer>,
    scorer: TextScorer<'m>,
    /// The texts of a block as they are scored, each line with its line end.
    prepared: Vec<u8>,
    /// The text of a document before it is prepared.
    text: Vec<u8>,
    documents: Vec<Document>,
}

/// A document: a line that is a JSON object with the text.
struct Document {
    /// Its bytes in the block.
    line: std::ops::Range<usize>,
    /// The number of lines of its text.
    num_lines: usize,
    is_empty: bool,
}

impl<'m, 'o> JsonScorer<'m, 'o> {
    pub fn new(
        scorer: TextScorer<'m>,
        options: &'o PerplexityOptions,
        json: &'o JsonOptions,
        purpose: Purpose<'o>,
    ) -> Self {
        let mut reserved = Vec::new();
        let (mut cutoffs, mut language_field) = (None, None);
        match purpose {
            Purpose::Write => {
                if options.per_line {
                    reserved.extend(SCORE_KEYS);
                }
                if let Some(buckets) = &json.buckets {
                    reserved.extend(BUCKET_KEYS);
                    cutoffs = Some(&buckets.cutoffs);
                    language_field = Some(&*buckets.language_field);
                }
            }
            Purpose::Collect(field) => language_field = field,
        }
        JsonScorer {
            options,
            skip_invalid: json.skip_invalid,
            purpose,
            field: TextField::new(&json.field, reserved),
            cutoffs,
            languages: language_field.map(LanguageReader::new),
            preparer: options.preparation.as_ref().map(Preparation::preparer),
            scorer,
            prepared: Vec::new(),
            text: Vec::new(),
            documents: Vec::new(),
        }
    }

    /// Scores the lines of `block`, all but the invalid ones.
    pub fn score_block(&mut self, block: &[u8]) -> BlockOutcome {
        let mut outcome = BlockOutcome::default();
        self.read_documents(block, &mut outcome);
        outcome.num_documents = self.documents.len() as u64;
        let (options, reads_languages) = (self.options, self.languages.is_some());
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
            let line = &block[line.clone()];
            let language = self.languages.as_mut().and_then(|languages| languages.read(line));
            outcome.with_language += u64::from(language.is_some());
            let perplexity = || perplexity_of(log10, tokens);
            if let Purpose::Collect(_) = self.purpose {
                // Buckets are for documents with text, so their limits are computed only from such
                // documents.
                if !*is_empty || !reads_languages {
                    outcome.perplexities.push((language.map(Into::into), perplexity()));
                }
                continue;
            }
            let push = |out: &mut Vec<u8>| {
                push_with_keys(line, out, |out| {
                    if options.per_line {
                        push_scores(out, log10, tokens, unknown);
                    }
                    if let Some(cutoffs) = self.cutoffs {
                        push_bucket(cutoffs, language, (!is_empty).then(perplexity), out);
                    }
                });
                out.push(b'\n');
            };
            if let Some(filter) = options.filter {
                outcome.push_judged(filter.judge(perplexity()), push);
            } else if options.per_line || self.cutoffs.is_some() {
                push(&mut outcome.output);
            }
        }
        outcome
    }

    /// Reads the texts of the lines of `block`, up to the first invalid one that is not left out.
    fn read_documents(&mut self, block: &[u8], outcome: &mut BlockOutcome) {
        self.prepared.clear();
        self.documents.clear();
        let mut start = 0;
        while start < block.len() {
            let length = memchr::memchr(b'\n', &block[start..]);
            let line = start..length.map_or(block.len(), |n| start + n);
            start = line.end + 1;
            outcome.lines.read += 1;
            // Some writers end files with a blank line, which is not a document.
            if block[line.clone()].trim_ascii().is_empty() {
                continue;
            }
            let before = self.prepared.len();
            let read = match &mut self.preparer {
                None => self.field.read(&block[line.clone()], &mut self.prepared),
                Some(preparer) => {
                    self.text.clear();
                    let read = self.field.read(&block[line.clone()], &mut self.text);
                    read.map(|()| preparer.prepare(&self.text, &mut self.prepared))
                }
            };
            let explain = |reason| {
                let reason = self.field.explain(&block[line.clone()], reason);
                (outcome.lines.read, reason)
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
                // A document that already has one of the keys to be added is valid: leaving it out
                // would lose it.
                Err(reason) if self.skip_invalid && !self.field.has_key_already(&reason) => {
                    if outcome.first_invalid.is_none() {
                        outcome.first_invalid = Some(explain(reason));
                    }
                    outcome.lines.invalid += 1;
                }
                Err(reason) => {
                    outcome.error = Some(explain(reason));
                    break;
                }
            }
        }
    }
}
