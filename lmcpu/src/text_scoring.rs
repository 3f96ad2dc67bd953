//! Scoring of text: worker threads score blocks of lines, and the sentences of a block are scored
//! as one batch, so that their memory accesses overlap. Results are in the order of the text and do
//! not depend on the number of threads.
//!
//! The total of a sentence is an f32 sum over its words in order. The totals of the corpus are f64
//! sums over sentences and unknown words in order, as in KenLM (`ngram-lm.md` 2.5). One thread
//! reads, the one that writes adds up the corpus, and the workers do everything else.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use miriam_textio::{
    BlockReader, Input, Log10, Output, Progress, TOO_LONG_LINE, number, ordered_map,
};

use crate::word_ids::{EncodedText, TextEncoder};
use crate::{Error, LanguageModel, LmWord, Result, State};

/// Bytes of text in a block: enough sentences that the end of a batch, when few are
/// left, does not matter; few enough for the words and scores of a block to stay in the
/// second-level cache.
pub(crate) const BLOCK_BYTES: usize = 128 << 10;

/// The sums over a corpus. Logarithms are to base 10.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Perplexity {
    /// log10 p of the corpus.
    pub log10: f64,
    /// log10 p of the unknown words alone.
    pub oov_log10: f64,
    /// The number of words, unknown ones and `</s>` included.
    pub tokens: u64,
    /// The number of unknown words.
    pub oovs: u64,
}

impl Perplexity {
    /// Returns the perplexity of all tokens; not a number if there are none.
    pub fn including_oovs(&self) -> f64 {
        perplexity_of(self.log10, self.tokens)
    }

    /// Returns the perplexity of the known tokens.
    fn excluding_oovs(&self) -> f64 {
        perplexity_of(self.log10 - self.oov_log10, self.tokens - self.oovs)
    }

    /// Appends the summary of four lines that KenLM's `query` prints.
    pub(crate) fn push_summary(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"Perplexity including OOVs:\t");
        number::push_shortest_f64(out, self.including_oovs());
        out.extend_from_slice(b"\nPerplexity excluding OOVs:\t");
        number::push_shortest_f64(out, self.excluding_oovs());
        let (unknown, tokens) = (self.oovs, self.tokens);
        out.extend_from_slice(format!("\nOOVs:\t{unknown}\nTokens:\t{tokens}\n").as_bytes());
    }
}

/// Returns the perplexity of `tokens` tokens of probability 10^`log10`.
pub(crate) fn perplexity_of(log10: f64, tokens: u64) -> f64 {
    10f64.powf(-(log10 / tokens as f64))
}

/// The markers with which a line is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentenceMarkers {
    /// Whether the line follows `<s>`; otherwise it has no context.
    pub begin: bool,
    /// Whether `</s>` is scored after the line.
    pub end: bool,
}

impl SentenceMarkers {
    /// Both: the line is a sentence.
    pub const BOTH: SentenceMarkers = SentenceMarkers { begin: true, end: true };

    /// Returns both markers or none.
    pub(crate) fn both_if(markers: bool) -> Self {
        SentenceMarkers { begin: markers, end: markers }
    }
}

/// A scored word of a sentence, or `</s>`.
pub(crate) struct ScoredToken<'b> {
    /// Its bytes in the text, or `</s>`.
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
    /// Whether the last token is the marker `</s>`, not a word of the text.
    has_end_marker: bool,
    /// Empty unless the scorer keeps spans.
    spans: &'b [(u32, u32)],
}

impl<'b> ScoredSentence<'b> {
    /// Returns the words of the sentence and `</s>`; empty unless the scorer keeps spans.
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

    /// Returns log10 p of each token.
    pub fn token_log10s(&self) -> impl Iterator<Item = f32> {
        self.scores.iter().map(|score| score.0.0)
    }

    /// Returns the number of tokens, `</s>` included.
    pub fn len(&self) -> u64 {
        self.ids.len() as u64
    }

    /// Returns log10 p of the sentence: an f32 sum in the order of words.
    pub fn log10(&self) -> f32 {
        self.scores.iter().fold(0.0, |sum, score| sum + score.0.0)
    }

    /// Returns log10 p of its unknown words. `</s>` is never one, even if the model does not have
    /// it.
    pub fn oov_log10s(&self) -> impl Iterator<Item = f32> {
        let words = self.ids.len() - usize::from(self.has_end_marker);
        let tokens = self.ids[..words].iter().zip(self.scores);
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
    /// Returns its lines in order; the last may lack its line end.
    pub fn sentences(&self) -> impl Iterator<Item = ScoredSentence<'b>> {
        let &ScoredText { text, words, scores } = self;
        let num_ended = words.ends.len() - usize::from(words.last_is_unterminated);
        let mut start = 0;
        words.ends.iter().enumerate().map(move |(at, &end)| {
            let range = start..end;
            start = end;
            ScoredSentence {
                text,
                ids: &words.ids[range.clone()],
                scores: &scores[range.clone()],
                has_end_marker: words.has_end_markers && at < num_ended,
                spans: words.spans.get(range).unwrap_or_default(),
            }
        })
    }

    /// Whether the last of [`ScoredText::sentences`] has no line end.
    pub fn last_is_unterminated(&self) -> bool {
        self.words.last_is_unterminated
    }
}

/// A scorer of texts; each thread has its own.
pub(crate) struct TextScorer<'m> {
    model: &'m dyn LanguageModel,
    begin_state: State,
    encoder: TextEncoder<'m>,
    words: EncodedText,
    scores: Vec<(Log10, u8)>,
}

impl<'m> TextScorer<'m> {
    /// Creates a scorer; with `keep_spans` words can be printed.
    pub fn new(model: &'m dyn LanguageModel, markers: SentenceMarkers, keep_spans: bool) -> Self {
        TextScorer {
            model,
            begin_state: if markers.begin { model.begin_state() } else { State::EMPTY },
            encoder: TextEncoder::new(model, markers.end, keep_spans),
            words: EncodedText::default(),
            scores: Vec::new(),
        }
    }

    /// Scores the lines of `text`, which is shorter than 4 GiB.
    pub fn score<'b>(&'b mut self, text: &'b [u8]) -> ScoredText<'b> {
        self.encoder.encode(text, &mut self.words);
        // Old scores are overwritten.
        self.scores.resize(self.words.ids.len(), Default::default());
        let EncodedText { ids, ends, .. } = &self.words;
        self.model.score_sentences(&self.begin_state, ids, ends, &mut self.scores);
        ScoredText { text, words: &self.words, scores: &self.scores }
    }
}

/// The result of scoring a block.
#[derive(Default)]
pub(crate) struct BlockOutcome {
    /// The bytes to write.
    pub output: Vec<u8>,
    /// The parts of `output` that are written or not, depending on earlier lines
    /// ([`RankLimit`](crate::perplexity::RankLimit)).
    pub tied_parts: Vec<Range<usize>>,
    /// The perplexities of lines if they are collected, with the language of each document.
    pub perplexities: Vec<(Option<Box<str>>, f64)>,
    /// The number of documents scored.
    pub num_documents: u64,
    /// The number of documents that name their language, if languages are read.
    pub with_language: u64,
    /// The first line that was left out, counted from 1 in the block, and why.
    pub first_invalid: Option<(u64, String)>,
    /// log10 of each sentence.
    pub sentence_log10s: Vec<f32>,
    /// log10 of each unknown word.
    pub oov_log10s: Vec<f32>,
    pub oovs: u64,
    pub tokens: u64,
    pub lines: LineCounts,
    /// The first invalid line, counted from 1 in the block, and why. Lines after it
    /// were not read.
    pub error: Option<(u64, String)>,
}

/// Counts of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// The number of lines read.
    pub read: u64,
    /// The number of lines that passed the filter.
    pub kept: u64,
    /// The number of lines left out because they are invalid.
    pub invalid: u64,
}

impl BlockOutcome {
    /// Adds a line to the sums. Returns its log10 p and the number of its unknown
    /// words.
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

/// Checks that positions in a block of lines of the input `name` fit 32 bits, also after a line end
/// is appended.
///
/// # Errors
/// If they do not, because the block is a single line that is too long.
pub(crate) fn check_block_length(name: &str, block: &[u8]) -> Result<()> {
    if block.len() < u32::MAX as usize - 1 {
        return Ok(());
    }
    Err(Error::Unsupported { file: name.to_owned(), reason: TOO_LONG_LINE.into() })
}

/// The origin of a block.
#[derive(Clone, Copy)]
pub(crate) struct BlockPlace<'n> {
    /// The name of its input.
    pub name: &'n str,
    /// The number of lines before it in its input.
    pub lines_before: u64,
}

/// Settings for reading and scoring text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamOptions {
    /// The number of worker threads, at least 1.
    pub threads: usize,
    /// Whether results are written before waiting for more text.
    pub low_latency: bool,
    /// The size of all inputs in bytes before decompression, if known.
    pub total_bytes: Option<u64>,
}

/// Texts that are scored one after the other; each is opened when the previous one has ended.
pub type Inputs<'i> = &'i mut (dyn Iterator<Item = miriam_textio::Result<Input>> + Send);

/// Splits `inputs` into blocks of whole lines, scores the blocks with one worker per thread, writes
/// the results in order, and returns the sums. `observe` may change each result before it is
/// written. The last line of an input may lack its line end.
pub(crate) fn score_stream<W>(
    inputs: Inputs<'_>,
    output: &mut Output,
    options: StreamOptions,
    progress: &dyn Progress,
    worker: impl Fn() -> W + Sync,
    mut observe: impl FnMut(BlockPlace<'_>, &mut BlockOutcome),
) -> Result<(Perplexity, LineCounts)>
where
    W: FnMut(Vec<u8>) -> BlockOutcome,
{
    let task = progress.task("scoring", options.total_bytes);
    let mut current: Option<(Arc<str>, Arc<AtomicU64>, BlockReader)> = None;
    // Bytes of the inputs that have ended.
    let mut ended_bytes = 0;
    let read = || -> Result<Option<(Arc<str>, Vec<u8>)>> {
        loop {
            let Some((name, consumed, blocks)) = &mut current else {
                let Some(input) = inputs.next().transpose()? else { return Ok(None) };
                let (name, consumed) = (input.name().into(), input.consumed());
                current = Some((
                    name,
                    consumed,
                    BlockReader::new(input, BLOCK_BYTES, options.low_latency),
                ));
                continue;
            };
            let mut block = Vec::new();
            let more = blocks.read_block(&mut block)?;
            let bytes = ended_bytes + consumed.load(Ordering::Relaxed);
            task.set_position(bytes);
            check_block_length(blocks.name(), &block)?;
            if more {
                return Ok(Some((Arc::clone(name), block)));
            }
            (ended_bytes, current) = (bytes, None);
        }
    };
    let (mut sums, mut lines) = (Perplexity::default(), LineCounts::default());
    // The input of the current block, and the number of lines in the inputs before it.
    let (mut current_name, mut lines_before): (Arc<str>, u64) = ("".into(), 0);
    let write = |(name, mut block): (Arc<str>, BlockOutcome), _| -> Result<()> {
        if !Arc::ptr_eq(&name, &current_name) {
            (current_name, lines_before) = (name, lines.read);
        }
        let place = BlockPlace { name: &current_name, lines_before: lines.read - lines_before };
        observe(place, &mut block);
        for &log10 in &block.sentence_log10s {
            sums.log10 += f64::from(log10);
        }
        for &log10 in &block.oov_log10s {
            sums.oov_log10 += f64::from(log10);
        }
        sums.tokens += block.tokens;
        sums.oovs += block.oovs;
        output.write(&block.output)?;
        if options.low_latency {
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
    ordered_map(
        options.threads,
        read,
        || {
            let mut work = worker();
            move |(name, block)| (name, work(block))
        },
        write,
    )?;
    Ok((sums, lines))
}
