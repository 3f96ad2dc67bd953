//! Text in, text out: a model with what lies beside it, and as many threads as wanted.
//!
//! One thread reads lines and cuts them into pieces. Those who translate take batches of
//! sentences of similar length, one session each, and write lines of text; the calling
//! thread puts these out in the order of the input. What a line becomes depends on that line
//! and on the options alone.

mod models;
mod options;
pub(crate) mod pipeline;
mod print;
pub(crate) mod queue;
mod source;
mod text;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use miriam_textio::{Output, Progress, Stop};

pub use models::Models;
pub use options::{AlignmentForm, InputOptions, LineForm, Options, OutputOptions};
pub use source::Source;
pub use text::{Cutting, Pieces, Side};

pub(crate) use print::{push_alignment, push_word_scores};

use crate::batch::{self, Batching, Job};
use crate::engine::Tuner;
use crate::network::Session;
use crate::package::{Candidates, Package};
use crate::score::{Given, score};
use crate::search::{Request, SearchOptions, Translation};
use crate::{Error, Result};
use pipeline::Sender;
use print::{Scored, nothing, print};
use queue::{Queue, Sorting};
use source::{Reader, Sentence};

/// Models ready to translate.
pub struct Translator {
    models: Models,
    candidates: Option<Candidates>,
    options: Options,
    search: SearchOptions,
}

/// Something that went wrong with a line, or was done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mishap {
    /// The line, from 1.
    pub line: u64,
    /// What happened.
    pub reason: String,
}

/// How far a text was translated: to its end, unless somebody asked to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Lines that were read.
    pub read: u64,
    /// Lines, from the first on, whose translations were written.
    pub written: u64,
}

/// What a sentence gave.
struct Lines {
    text: Vec<u8>,
    mishaps: Vec<Mishap>,
}

impl Translator {
    /// Makes the models of `package` ready; see [`Models::new`] for `tuner`.
    pub fn new(package: Package, options: Options, tuner: &Arc<Tuner>) -> Result<Self> {
        let mut models = Models::new(&package, options.precision, &options.weights, tuner)?;
        let sides = models.sides_mut();
        sides.iter_mut().for_each(|side| side.reads_pieces = options.input.pieces);
        sides[1].writes_pieces = options.output.pieces;
        let mut search = options.search.clone();
        let target = &sides[1].vocabulary;
        search.end = target.end();
        let tables = package.models.iter().map(|model| model.architecture().tables());
        search.never = tables.flat_map(|tables| tables.never.iter().copied()).collect();
        if !options.allow_unknown {
            search.never.push(target.unknown());
        }
        // A line end that is put out would be the end of a line.
        search.never.extend(target.find(b"<0x0A>"));
        search.never.retain(|&word| word != search.end);
        search.never.sort_unstable();
        search.never.dedup();
        let OutputOptions { n_best, alignment, word_scores, replace_unknowns, .. } = options.output;
        search.alignments |= alignment.is_some() || replace_unknowns;
        // Greedy search chooses the same words without the sum of the softmax, and scores show
        // only where they are printed.
        search.skip_cost = search.beam == 1 && !word_scores && !n_best;
        Ok(Translator { models, candidates: package.candidates, options, search })
    }

    /// Translates every line of `source` to `output`, in order, until `stop` is asked for:
    /// then batches that have begun are finished, and written as far as no line is missing.
    /// `mishaps` hears what went wrong with single lines, whose translations are empty, and
    /// `progress` how many are written. `promptly` is for input that trickles in: lines are
    /// translated as they come.
    pub fn translate(
        &self,
        source: Source,
        promptly: bool,
        mut output: Output,
        stop: &Stop,
        progress: &dyn Progress,
        mishaps: &mut dyn FnMut(&Mishap) -> Result<()>,
    ) -> Result<Reached> {
        let queue = Queue::new(self.options.sorting(promptly), Sentence::length);
        let mut reader = Reader::new(source, &self.models, self.options.input);
        let mut lines_read = 0;
        let read = || {
            while !stop.is_asked()
                && let Some(sentence) = reader.next()?
            {
                lines_read += 1;
                if !queue.push(sentence) {
                    break;
                }
            }
            Ok(())
        };
        let mut written = 0;
        let write = |lines: Lines, more: bool| -> Result<()> {
            output.write(&lines.text)?;
            for mishap in &lines.mishaps {
                mishaps(mishap)?;
            }
            written += 1;
            progress.reached(written);
            if more { Ok(()) } else { Ok(output.flush()?) }
        };
        progress.begin("translating", None);
        let work = |send: &Sender<Lines>| self.work(&queue, stop, send);
        let outcome = pipeline::run(&queue, self.options.threads, stop, read, work, write);
        progress.end();
        // What has been written is whole also where more could not be.
        outcome.and(output.finish().map_err(Error::from))?;
        Ok(Reached { read: lines_read, written })
    }

    /// Translates what comes from the queue, on one thread.
    fn work(&self, queue: &Queue<Sentence>, stop: &Stop, send: &Sender<Lines>) -> Result<()> {
        let mut session = self.models.session()?;
        let feature_sessions = self.feature_sessions();
        let features = !feature_sessions.is_empty();
        let feature_sessions = RefCell::new(feature_sessions);
        // What is under way; shared by the one who asks for more and the one who is done.
        let under_way: RefCell<HashMap<u64, Sentence>> = RefCell::default();
        let mut next = || loop {
            let busy = !under_way.borrow().is_empty();
            let Some(sentences) = queue.take_unless(stop, busy) else { return Ok(None) };
            let waiting = sentences.is_empty();
            let mut jobs = Vec::with_capacity(sentences.len());
            for mut sentence in sentences {
                match &mut sentence.request {
                    Ok(Some(request)) => {
                        let mut request = std::mem::take(request);
                        request.candidates = self.candidates_of(&request);
                        if features {
                            sentence.candidates = request.candidates.clone();
                        }
                        let id = sentence.id;
                        under_way.borrow_mut().insert(id, sentence);
                        jobs.push(Job { id, request });
                    }
                    _ => send(sentence.id, self.lines(&sentence, &[]))?,
                }
            }
            if waiting || !jobs.is_empty() {
                return Ok(Some(jobs));
            }
        };
        let mut done = |id: u64, result: Result<Vec<Translation>>| {
            let Some(mut sentence) = under_way.borrow_mut().remove(&id) else { return Ok(()) };
            let found = match result {
                Ok(translations) => {
                    self.by_model(&sentence, translations, &mut feature_sessions.borrow_mut())?
                }
                Err(error) => {
                    sentence.request = Err(error.to_string());
                    Vec::new()
                }
            };
            send(id, self.lines(&sentence, &found))
        };
        let batching = Batching {
            sentences: self.options.mini_batch,
            words: self.options.mini_batch_words,
            // What threads share is read ahead and sorted already.
            read_ahead: 1,
            sort: false,
            top_up: true,
        };
        batch::run(session.as_mut(), &self.search, &batching, &mut next, &mut done)
    }

    /// The only words for a sentence.
    fn candidates_of(&self, request: &Request) -> Option<Vec<u32>> {
        let Request { source, prefix, constraints, .. } = request;
        let mut candidates = Vec::new();
        match self.candidates.as_ref()? {
            Candidates::Shortlist(list) => list.candidates(source, &mut candidates),
            Candidates::VocabularyMap(map) => map.candidates(source, &mut candidates),
        }
        let asked = constraints.iter().flatten().chain(prefix);
        batch::complete_candidates(&mut candidates, asked, self.search.end);
        Some(candidates)
    }

    /// A session for each model, where lists tell what each of several, or one that is
    /// weighed, thinks.
    fn feature_sessions(&self) -> Vec<Box<dyn Session>> {
        let wanted = self.options.output.n_best && self.models.single().is_none();
        if wanted { self.models.sessions() } else { Vec::new() }
    }

    /// Translations with the scores of each model, words from left to right.
    fn by_model(
        &self,
        sentence: &Sentence,
        translations: Vec<Translation>,
        sessions: &mut [Box<dyn Session>],
    ) -> Result<Vec<Scored>> {
        let mut features: Vec<Vec<f32>> = match sessions {
            [] => translations.iter().map(|found| vec![found.log_probability]).collect(),
            _ => vec![Vec::new(); translations.len()],
        };
        if !sessions.is_empty() {
            let source = self.models.sides()[0].with_end(&sentence.pieces);
            let targets = translations.iter().map(|found| {
                let mut words = found.words.clone();
                words.push(self.search.end);
                // One that was cut by the longest length has no </s>.
                words.truncate(found.word_scores.len());
                words
            });
            let targets: Vec<_> = targets.collect();
            let given: Vec<_> = targets.iter().map(|words| Given { source: 0, words }).collect();
            let lists = sentence.candidates.as_deref().map(|list| [list]);
            let lists = lists.as_ref().map(|list| &list[..]);
            for session in sessions {
                let scores = score(session.as_mut(), &[&source], lists, &given, false)?;
                features.iter_mut().zip(&scores).for_each(|(all, one)| all.push(one.sum()));
            }
        }
        let scored = translations.into_iter().zip(features).map(|(mut translation, by_model)| {
            if self.models.is_right_to_left() {
                turn_round(&mut translation);
            }
            Scored { translation, by_model }
        });
        Ok(scored.collect())
    }

    fn lines(&self, sentence: &Sentence, found: &[Scored]) -> Lines {
        let mut text = Vec::new();
        let nothing = [nothing(self.models.count())];
        let found = if found.is_empty() { &nothing } else { found };
        print(
            sentence.id,
            &sentence.pieces,
            found,
            &self.models.sides()[1],
            &self.options.output,
            &mut text,
        );
        let failed = sentence.request.as_ref().err().cloned();
        let reasons = sentence.remark.iter().cloned().chain(failed);
        let mishaps = reasons.map(|reason| Mishap { line: sentence.id + 1, reason }).collect();
        Lines { text, mishaps }
    }
}

impl Options {
    fn sorting(&self, promptly: bool) -> Sorting {
        let sorting = Sorting::new(self.mini_batch, self.mini_batch_words, self.maxi_batch);
        Sorting { sorted: self.sort, promptly, ..sorting }
    }
}

/// Puts the words of a model that writes from right to left in order; `</s>` stays last.
fn turn_round(translation: &mut Translation) {
    let words = translation.words.len();
    translation.words.reverse();
    let scored = words.min(translation.word_scores.len());
    translation.word_scores[..scored].reverse();
    let aligned = words.min(translation.alignment.len());
    translation.alignment[..aligned].reverse();
}
