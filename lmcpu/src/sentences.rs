//! Scoring text: blocks of lines go through worker threads, and inside a block
//! many sentences are scored side by side, so that their memory accesses
//! overlap. Results come out in the order of the text and do not depend on the
//! number of threads.
//!
//! A sentence's total is an f32 sum over its words in order, the corpus' totals
//! are f64 sums over sentences and unknown words in order, as KenLM adds them
//! (`ngram-lm.md` 2.5).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use miriam_text::{Input, Lines, Output, Progress, number, ordered_map};

use crate::{LanguageModel, LmWord, Request, Result, Scored, State};

/// Sentences of a block that are scored side by side.
const LANES: usize = 64;
/// A block is closed at this many bytes or lines.
const BLOCK_BYTES: usize = 64 << 10;
const BLOCK_LINES: usize = 512;

/// How text is scored.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// Put `<s>` before and `</s>` behind each line.
    pub markers: bool,
    /// Worker threads, from 1.
    pub threads: usize,
    /// Answer each line before the next is read.
    pub line_by_line: bool,
}

/// What a corpus sums up to. Logarithms are to base 10.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Perplexity {
    /// log10 of the probability of everything.
    pub log10: f64,
    /// The part of it that unknown words take.
    pub unknown_log10: f64,
    /// Words, unknown ones and `</s>` included.
    pub tokens: u64,
    /// Unknown words.
    pub unknown: u64,
}

impl Perplexity {
    /// The perplexity over all tokens; not a number where there are none.
    pub fn including_unknown(&self) -> f64 {
        10f64.powf(-(self.log10 / self.tokens as f64))
    }

    /// The perplexity over tokens that are not unknown.
    pub fn excluding_unknown(&self) -> f64 {
        let tokens = self.tokens - self.unknown;
        10f64.powf(-((self.log10 - self.unknown_log10) / tokens as f64))
    }

    /// Appends the four lines that KenLM's `query` ends with.
    pub fn push_summary(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"Perplexity including OOVs:\t");
        number::push_shortest_f64(out, self.including_unknown());
        out.extend_from_slice(b"\nPerplexity excluding OOVs:\t");
        number::push_shortest_f64(out, self.excluding_unknown());
        let (unknown, tokens) = (self.unknown, self.tokens);
        out.extend_from_slice(format!("\nOOVs:\t{unknown}\nTokens:\t{tokens}\n").as_bytes());
    }
}

/// A scored word of a sentence.
pub(crate) struct Token<'b> {
    /// As it stands in the text.
    pub text: &'b [u8],
    pub id: LmWord,
    pub log10: f32,
    pub matched: u8,
}

/// A scored line.
pub(crate) struct Sentence<'b> {
    block: &'b Block,
    tokens: std::ops::Range<usize>,
}

impl<'b> Sentence<'b> {
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = Token<'b>> {
        let block = self.block;
        self.tokens.clone().map(move |i| Token {
            text: match block.spans[i] {
                END => b"</s>",
                (start, end) => &block.text[start as usize..end as usize],
            },
            id: block.ids[i],
            log10: block.scores[i].0,
            matched: block.scores[i].1,
        })
    }

    /// log10 p of the sentence: an f32 sum in the order of words.
    pub fn log10(&self) -> f32 {
        self.block.scores[self.tokens.clone()].iter().fold(0.0, |sum, score| sum + score.0)
    }

    /// How many of its tokens are unknown words.
    pub fn unknown(&self) -> u64 {
        self.block.ids[self.tokens.clone()].iter().filter(|id| **id == LmWord::UNKNOWN).count()
            as u64
    }
}

/// Where `</s>` stands in the text: nowhere.
const END: (u32, u32) = (u32::MAX, u32::MAX);

/// A block of lines with the scores of their words.
#[derive(Default)]
pub(crate) struct Block {
    /// Lines, each with its line end.
    text: Vec<u8>,
    spans: Vec<(u32, u32)>,
    ids: Vec<LmWord>,
    /// log10 and matched length.
    scores: Vec<(f32, u8)>,
    /// Where the tokens of each sentence end.
    ends: Vec<usize>,
    /// What is printed for the block.
    printed: Vec<u8>,
}

impl Block {
    pub fn sentences(&self) -> impl Iterator<Item = Sentence<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        ranges.map(|(start, &end)| Sentence { block: self, tokens: start..end })
    }
}

/// Scores the sentences of blocks; one a thread.
struct Scorer<'m> {
    model: &'m dyn LanguageModel,
    markers: bool,
    begin: State,
    states: Vec<State>,
    results: Vec<Scored>,
    requests: Vec<Request>,
    /// By request: the next token of its sentence, and where the sentence ends.
    places: Vec<(usize, usize)>,
}

impl<'m> Scorer<'m> {
    fn new(model: &'m dyn LanguageModel, markers: bool) -> Self {
        let begin = if markers { model.begin_state() } else { State::EMPTY };
        Scorer {
            model,
            markers,
            begin,
            states: vec![State::EMPTY; LANES],
            results: vec![Scored::default(); LANES],
            requests: Vec::with_capacity(LANES),
            places: Vec::with_capacity(LANES),
        }
    }

    fn split(&self, block: &mut Block) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &block.text) {
            let mut rest = start;
            let line = &block.text[start..end];
            for word in line.split(|b| matches!(b, b' ' | 0x09..=0x0d)) {
                if !word.is_empty() {
                    block.spans.push((rest as u32, (rest + word.len()) as u32));
                    block.ids.push(self.model.word_id(word));
                }
                rest += word.len() + 1;
            }
            if self.markers {
                block.spans.push(END);
                block.ids.push(self.model.end_of_sentence());
            }
            block.ends.push(block.ids.len());
            start = end + 1;
        }
    }

    fn score(&mut self, block: &mut Block) {
        self.split(block);
        block.scores.resize(block.ids.len(), (0.0, 0));
        let mut start = 0;
        let mut waiting = block.ends.iter().filter_map(|&end| {
            let place = (start, end);
            start = end;
            (place.0 < end).then_some(place)
        });
        self.requests.clear();
        self.places.clear();
        for (lane, place) in waiting.by_ref().take(LANES).enumerate() {
            self.states[lane].copy_from(&self.begin);
            self.requests.push(Request { state: lane as u32, word: block.ids[place.0] });
            self.places.push(place);
        }
        while !self.requests.is_empty() {
            self.model.score_batch(&self.states, &self.requests, &mut self.results);
            let mut kept = 0;
            for i in 0..self.requests.len() {
                let (Request { state, .. }, (mut token, mut end)) =
                    (self.requests[i], self.places[i]);
                let result = &self.results[i];
                block.scores[token] = (result.log10.0, result.matched);
                token += 1;
                if token < end {
                    self.states[state as usize].copy_from(&result.next);
                } else if let Some(next) = waiting.next() {
                    (token, end) = next;
                    self.states[state as usize].copy_from(&self.begin);
                } else {
                    continue;
                }
                self.requests[kept] = Request { state, word: block.ids[token] };
                self.places[kept] = (token, end);
                kept += 1;
            }
            self.requests.truncate(kept);
            self.places.truncate(kept);
        }
    }
}

/// Scores every line of `inputs`, writes what `print` makes of each block, and
/// returns the sums. A last line without a line end counts as a line.
pub(crate) fn score_text(
    model: &dyn LanguageModel,
    inputs: Vec<Input>,
    output: &mut Output,
    options: TextOptions,
    progress: &dyn Progress,
    print: impl Fn(&Block, &mut Vec<u8>) + Sync,
) -> Result<Perplexity> {
    let consumed: Vec<Arc<AtomicU64>> = inputs.iter().map(Input::consumed).collect();
    progress.begin("scoring", inputs.iter().map(Input::size).sum());
    let (bytes, lines) = if options.line_by_line { (0, 1) } else { (BLOCK_BYTES, BLOCK_LINES) };
    let mut inputs = inputs.into_iter().map(Lines::new);
    let mut current = inputs.next();
    let read = || -> Result<Option<Block>> {
        let mut block = Block::default();
        let mut count = 0;
        while let Some(input) = &mut current {
            match input.next()? {
                Some(line) => {
                    block.text.extend_from_slice(line.bytes);
                    block.text.push(b'\n');
                    count += 1;
                    if block.text.len() >= bytes.max(1) || count == lines {
                        break;
                    }
                }
                None => current = inputs.next(),
            }
        }
        progress.reached(consumed.iter().map(|c| c.load(Ordering::Relaxed)).sum());
        if block.text.len() > u32::MAX as usize - 1 {
            let reason = "a line of more than 4 GiB".to_owned();
            return Err(crate::Error::Unsupported { file: "text".into(), reason });
        }
        Ok((count > 0).then_some(block))
    };
    let worker = || {
        let mut scorer = Scorer::new(model, options.markers);
        let print = &print;
        move |mut block: Block| {
            scorer.score(&mut block);
            let mut printed = Vec::new();
            print(&block, &mut printed);
            block.printed = printed;
            block
        }
    };
    let mut sums = Perplexity::default();
    let write = |block: Block, _| -> Result<()> {
        for sentence in block.sentences() {
            sums.log10 += f64::from(sentence.log10());
            sums.tokens += sentence.tokens.len() as u64;
        }
        for (id, score) in block.ids.iter().zip(&block.scores) {
            if *id == LmWord::UNKNOWN {
                sums.unknown += 1;
                sums.unknown_log10 += f64::from(score.0);
            }
        }
        output.write(&block.printed)?;
        if options.line_by_line {
            output.flush()?;
        }
        Ok(())
    };
    let outcome = ordered_map(options.threads, read, worker, write);
    progress.end();
    outcome.map(|()| sums)
}
