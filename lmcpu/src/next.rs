//! What may come next: words behind a context, with their probabilities.
//!
//! A line is a context; a line comes out for it: words and log10 p, one after the
//! other, tabs between.

use std::sync::atomic::Ordering;

use miriam_textio::{Blocks, Input, Log10, Output, Progress, lines_of, number, ordered_map};

use crate::words::{WordReader, Words};
use crate::{Error, LanguageModel, LmWord, Result, State};

/// Bytes of text that a thread takes at a time: each line means as many scores as the
/// model has words.
const BLOCK: usize = 1 << 10;

/// Which words are printed.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// So many of the most probable ones, the most probable first; equal ones in the
    /// order of their ids.
    Top(usize),
    /// These, in their order, as they stand there.
    Words(Vec<(Vec<u8>, LmWord)>),
}

/// How contexts are read and what is printed.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which words.
    pub wanted: Wanted,
    /// Put `<s>` before each line.
    pub markers: bool,
    /// Worker threads, from 1.
    pub threads: usize,
}

/// The words of `input`, which stand between blanks and line ends, with their ids.
pub fn read_words(model: &dyn LanguageModel, mut input: Input) -> Result<Vec<(Vec<u8>, LmWord)>> {
    let name = input.name().to_owned();
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut input, &mut text)
        .map_err(|error| miriam_textio::Error::io(&name, "read", error))?;
    if text.len() >= u32::MAX as usize - 1 {
        return Err(Error::Unsupported { file: name, reason: "4 GiB of words or more".into() });
    }
    text.push(b'\n');
    let mut words = Words::default();
    WordReader::new(model, false, true).read(&text, &mut words);
    let spans = words.spans.iter().map(|&(start, end)| &text[start as usize..end as usize]);
    Ok(spans.map(<[u8]>::to_vec).zip(words.ids).collect())
}

/// Prints the words that may follow each line of `input`.
pub fn next_words(
    model: &dyn LanguageModel,
    input: Input,
    output: &mut Output,
    options: &Options,
    progress: &dyn Progress,
) -> Result<()> {
    let (size, consumed) = (input.size(), input.consumed());
    let name = input.name().to_owned();
    let mut blocks = Blocks::new(input, BLOCK, size.is_none());
    progress.begin("scoring", size);
    let read = || -> Result<Option<Vec<u8>>> {
        let mut block = Vec::new();
        let more = blocks.fill(&mut block)?;
        progress.reached(consumed.load(Ordering::Relaxed));
        if block.len() >= u32::MAX as usize - 1 {
            let (file, reason) = (name.clone(), "a line of 4 GiB or more".into());
            return Err(Error::Unsupported { file, reason });
        }
        Ok(more.then_some(block))
    };
    let worker = || {
        let mut scorer = Scorer::new(model, options);
        move |block: Vec<u8>| {
            let mut printed = Vec::new();
            for line in lines_of(&block) {
                scorer.print(line, &mut printed);
            }
            printed
        }
    };
    let outcome = ordered_map(options.threads, read, worker, |printed: Vec<u8>, more| {
        output.write(&printed)?;
        if !more {
            output.flush()?;
        }
        Ok(())
    });
    progress.end();
    outcome
}

/// Scores lines; one a thread.
struct Scorer<'m> {
    model: &'m dyn LanguageModel,
    options: &'m Options,
    reader: WordReader<'m>,
    line: Vec<u8>,
    words: Words,
    candidates: Vec<LmWord>,
    scores: Vec<Log10>,
    /// Places among the candidates.
    ranked: Vec<u32>,
}

impl<'m> Scorer<'m> {
    fn new(model: &'m dyn LanguageModel, options: &'m Options) -> Self {
        let candidates: Vec<LmWord> = match &options.wanted {
            Wanted::Top(_) => (0..model.num_words() as u32).map(LmWord).collect(),
            Wanted::Words(words) => words.iter().map(|word| word.1).collect(),
        };
        Scorer {
            model,
            options,
            reader: WordReader::new(model, false, false),
            line: Vec::new(),
            words: Words::default(),
            scores: vec![Log10::default(); candidates.len()],
            candidates,
            ranked: Vec::new(),
        }
    }

    fn print(&mut self, line: &[u8], out: &mut Vec<u8>) {
        self.line.clear();
        self.line.extend_from_slice(line);
        self.line.push(b'\n');
        self.reader.read(&self.line, &mut self.words);
        let mut state = if self.options.markers { self.model.begin_state() } else { State::EMPTY };
        let mut next = State::EMPTY;
        for &word in &self.words.ids {
            self.model.score(&state, word, &mut next);
            state.copy_from(&next);
        }
        self.model.score_next(&state, &self.candidates, &mut self.scores);
        let start = out.len();
        let mut push = |word: &[u8], log10: Log10| {
            if out.len() > start {
                out.push(b'\t');
            }
            out.extend_from_slice(word);
            out.push(b'\t');
            number::push_shortest_f32(out, log10.0);
        };
        match &self.options.wanted {
            Wanted::Words(words) => {
                words.iter().zip(&self.scores).for_each(|(word, &score)| push(&word.0, score));
            }
            Wanted::Top(count) => {
                self.ranked.clear();
                self.ranked.extend(0..self.scores.len() as u32);
                let scores = &self.scores;
                let by_rank = |&a: &u32, &b: &u32| {
                    let log10 = |at: u32| scores[at as usize].0;
                    log10(b).total_cmp(&log10(a)).then(a.cmp(&b))
                };
                if *count < self.ranked.len() {
                    self.ranked.select_nth_unstable_by(*count, by_rank);
                    self.ranked.truncate(*count);
                }
                self.ranked.sort_unstable_by(by_rank);
                for &at in &self.ranked {
                    push(self.model.word(LmWord(at)).unwrap_or_default(), scores[at as usize]);
                }
            }
        }
        out.push(b'\n');
    }
}
