//! Scoring text: blocks of lines go through worker threads, and the sentences of
//! a block are scored side by side, so that their memory accesses overlap.
//! Results come out in the order of the text and do not depend on the number of
//! threads.
//!
//! A sentence's total is an f32 sum over its words in order, the corpus' totals
//! are f64 sums over sentences and unknown words in order, as KenLM adds them
//! (`ngram-lm.md` 2.5). The last of these sums is left to the thread that
//! writes; everything else is done by the workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use miriam_textio::{BlockReader, Input, Log10, Output, Progress, number, ordered_map};

use crate::word_ids::{EncodedText, TextEncoder};
use crate::{Error, LanguageModel, LmWord, ProgressStage, Result, State};

/// Bytes of text in a block: enough sentences for the last few, which are scored
/// with fewer beside them, not to matter; few enough for the words and scores of
/// a block to stay in the second-level cache.
const BLOCK_BYTES: usize = 128 << 10;

/// What a corpus sums up to. Logarithms are to base 10.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Perplexity {
    /// log10 of the probability of everything.
    pub log10: f64,
    /// The part of it that unknown words take.
    pub oov_log10: f64,
    /// Words, unknown ones and `</s>` included.
    pub tokens: u64,
    /// Unknown words.
    pub oovs: u64,
}

impl Perplexity {
    /// The perplexity over all tokens; not a number where there are none.
    pub fn including_oovs(&self) -> f64 {
        perplexity_of(self.log10, self.tokens)
    }

    /// The perplexity over tokens that are not unknown.
    fn excluding_oovs(&self) -> f64 {
        perplexity_of(self.log10 - self.oov_log10, self.tokens - self.oovs)
    }

    /// Appends the four lines that KenLM's `query` ends with.
    pub(crate) fn push_summary(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"Perplexity including OOVs:\t");
        number::push_shortest_f64(out, self.including_oovs());
        out.extend_from_slice(b"\nPerplexity excluding OOVs:\t");
        number::push_shortest_f64(out, self.excluding_oovs());
        let (unknown, tokens) = (self.oovs, self.tokens);
        out.extend_from_slice(format!("\nOOVs:\t{unknown}\nTokens:\t{tokens}\n").as_bytes());
    }
}

/// The perplexity of `tokens` tokens of probability 10^`log10`.
pub(crate) fn perplexity_of(log10: f64, tokens: u64) -> f64 {
    10f64.powf(-(log10 / tokens as f64))
}

/// A scored word of a sentence.
pub(crate) struct ScoredToken<'b> {
    /// As it stands in the text.
    pub text: &'b [u8],
    pub id: LmWord,
    pub log10: f32,
    pub ngram_length: u8,
}

/// A scored line.
pub(crate) struct ScoredSentence<'b> {
    text: &'b [u8],
    ids: &'b [LmWord],
    scores: &'b [(Log10, u8)],
    /// Empty where the scorer was not told to keep them.
    spans: &'b [(u32, u32)],
}

impl<'b> ScoredSentence<'b> {
    /// Its words and `</s>`; only of scorers that keep spans.
    pub fn tokens(&self) -> impl Iterator<Item = ScoredToken<'b>> {
        let text = self.text;
        let tokens = self.spans.iter().zip(self.ids).zip(self.scores);
        tokens.map(move |((&span, &id), &(log10, matched))| ScoredToken {
            text: match span {
                EncodedText::NO_SPAN => b"</s>",
                (start, end) => &text[start as usize..end as usize],
            },
            id,
            log10: log10.0,
            ngram_length: matched,
        })
    }

    /// How many tokens it has, `</s>` included.
    pub fn len(&self) -> u64 {
        self.ids.len() as u64
    }

    /// log10 p of the sentence: an f32 sum in the order of words.
    pub fn log10(&self) -> f32 {
        self.scores.iter().fold(0.0, |sum, score| sum + score.0.0)
    }

    /// log10 p of its unknown words.
    pub fn oov_log10s(&self) -> impl Iterator<Item = f32> {
        let tokens = self.ids.iter().zip(self.scores);
        tokens.filter(|(id, _)| **id == LmWord::UNKNOWN).map(|(_, score)| score.0.0)
    }
}

/// The scored lines of a text.
pub(crate) struct ScoredText<'b> {
    text: &'b [u8],
    words: &'b EncodedText,
    scores: &'b [(Log10, u8)],
}

impl<'b> ScoredText<'b> {
    /// Its lines in order, and what stands behind the last line end, if anything.
    pub fn sentences(&self) -> impl Iterator<Item = ScoredSentence<'b>> {
        let &ScoredText { text, words, scores } = self;
        let mut start = 0;
        words.ends.iter().map(move |&end| {
            let range = start..end;
            start = end;
            ScoredSentence {
                text,
                ids: &words.ids[range.clone()],
                scores: &scores[range.clone()],
                spans: words.spans.get(range).unwrap_or_default(),
            }
        })
    }

    /// Whether the last of [`Scores::sentences`] has no line end.
    pub fn last_is_unterminated(&self) -> bool {
        self.words.last_is_unterminated
    }
}

/// Scores texts; one a thread.
pub(crate) struct TextScorer<'m> {
    model: &'m dyn LanguageModel,
    begin_state: State,
    encoder: TextEncoder<'m>,
    words: EncodedText,
    scores: Vec<(Log10, u8)>,
}

impl<'m> TextScorer<'m> {
    /// With `markers` lines stand between `<s>` and `</s>`; with `keep_spans`
    /// words can be printed.
    pub fn new(model: &'m dyn LanguageModel, markers: bool, keep_spans: bool) -> Self {
        TextScorer {
            model,
            begin_state: if markers { model.begin_state() } else { State::EMPTY },
            encoder: TextEncoder::new(model, markers, keep_spans),
            words: EncodedText::default(),
            scores: Vec::new(),
        }
    }

    /// Scores the lines of `text`, which is shorter than 4 GiB.
    pub fn score<'b>(&'b mut self, text: &'b [u8]) -> ScoredText<'b> {
        self.encoder.encode(text, &mut self.words);
        // What was there is overwritten.
        self.scores.resize(self.words.ids.len(), Default::default());
        let EncodedText { ids, ends, .. } = &self.words;
        self.model.score_sentences(&self.begin_state, ids, ends, &mut self.scores);
        ScoredText { text, words: &self.words, scores: &self.scores }
    }
}

/// What a worker makes of a block.
#[derive(Default)]
pub(crate) struct BlockOutcome {
    /// What is to be written.
    pub output: Vec<u8>,
    /// log10 of each sentence.
    pub sentence_log10s: Vec<f32>,
    /// log10 of each unknown word.
    pub oov_log10s: Vec<f32>,
    pub oovs: u64,
    pub tokens: u64,
    pub lines: LineCounts,
    /// The line that cannot be understood, counted from 1 in the block, and why.
    /// Lines behind it were not looked at.
    pub error: Option<(u64, String)>,
}

/// Counts of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// All that were read.
    pub read: u64,
    /// Those that a filter let through.
    pub kept: u64,
    /// Those that were left out because they could not be understood.
    pub invalid: u64,
}

impl BlockOutcome {
    /// Adds a line to the sums. Returns log10 p of it and its unknown words.
    pub fn add_sentence(&mut self, sentence: &ScoredSentence<'_>) -> (f32, u64) {
        let before = self.oov_log10s.len();
        self.oov_log10s.extend(sentence.oov_log10s());
        let unknown = (self.oov_log10s.len() - before) as u64;
        let log10 = sentence.log10();
        self.sentence_log10s.push(log10);
        self.oovs += unknown;
        self.tokens += sentence.len();
        (log10, unknown)
    }
}

/// How text goes through the workers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamOptions {
    /// Worker threads, from 1.
    pub threads: usize,
    /// Write what is known before waiting for more text.
    pub low_latency: bool,
    /// Bytes of all inputs, where known, before decompression.
    pub total_bytes: Option<u64>,
}

/// Cuts `inputs` into blocks of whole lines, gives each to a worker (one a
/// thread), writes what comes back in order, and returns the sums. The last
/// line of an input may lack its line end. An input is asked for when the one
/// before has ended.
pub(crate) fn score_stream<W>(
    inputs: impl IntoIterator<Item = miriam_textio::Result<Input>, IntoIter: Send>,
    output: &mut Output,
    flow: StreamOptions,
    progress: &dyn Progress,
    worker: impl Fn() -> W + Sync,
) -> Result<(Perplexity, LineCounts)>
where
    W: FnMut(Vec<u8>) -> BlockOutcome,
{
    let stage = ProgressStage::begin(progress, "scoring", flow.total_bytes);
    let mut inputs = inputs.into_iter();
    let mut current: Option<(Arc<str>, Arc<AtomicU64>, BlockReader)> = None;
    // Bytes of the inputs that have ended.
    let mut ended = 0;
    let read = || -> Result<Option<(Arc<str>, Vec<u8>)>> {
        loop {
            let Some((name, consumed, blocks)) = &mut current else {
                let Some(input) = inputs.next().transpose()? else { return Ok(None) };
                let (name, consumed) = (input.name().into(), input.consumed());
                current =
                    Some((name, consumed, BlockReader::new(input, BLOCK_BYTES, flow.low_latency)));
                continue;
            };
            let mut block = Vec::new();
            let more = blocks.read_block(&mut block)?;
            let bytes = ended + consumed.load(Ordering::Relaxed);
            stage.set_position(bytes);
            // Room for a line end must be left.
            if block.len() >= u32::MAX as usize - 1 {
                let (file, reason) = (blocks.name().into(), "a line of 4 GiB or more".into());
                return Err(Error::Unsupported { file, reason });
            }
            if more {
                return Ok(Some((Arc::clone(name), block)));
            }
            (ended, current) = (bytes, None);
        }
    };
    let worker = || {
        let mut work = worker();
        move |(name, block)| (name, work(block))
    };
    let (mut sums, mut lines) = (Perplexity::default(), LineCounts::default());
    // The input that is being written about and how many lines went before it.
    let (mut current_name, mut lines_before): (Arc<str>, u64) = ("".into(), 0);
    let write = |(name, block): (Arc<str>, BlockOutcome), _| -> Result<()> {
        if !Arc::ptr_eq(&name, &current_name) {
            (current_name, lines_before) = (name, lines.read);
        }
        for &log10 in &block.sentence_log10s {
            sums.log10 += f64::from(log10);
        }
        for &log10 in &block.oov_log10s {
            sums.oov_log10 += f64::from(log10);
        }
        sums.tokens += block.tokens;
        sums.oovs += block.oovs;
        output.write(&block.output)?;
        if flow.low_latency {
            output.flush()?;
        }
        if let Some((line, reason)) = block.error {
            let line = lines.read - lines_before + line;
            return Err(miriam_textio::Error::format(&current_name, line, None, reason).into());
        }
        lines.read += block.lines.read;
        lines.kept += block.lines.kept;
        lines.invalid += block.lines.invalid;
        Ok(())
    };
    ordered_map(flow.threads, read, worker, write)?;
    Ok((sums, lines))
}
