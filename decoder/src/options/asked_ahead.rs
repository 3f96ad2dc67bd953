//! What the language models make of target phrases alone, asked of many at once.
//!
//! All targets of a source phrase are scored alone before the worst are cut, and
//! most source phrases that a sentence brings for the first time have a handful of
//! targets, some hundreds. One at a time, nearly every word waits for memory; so the
//! targets of all of them are gathered first and their words scored side by side.
//!
//! Tables have the targets of a source phrase in the order of their text, so that
//! neighbours begin alike. What a phrase has in common with the one before is scored
//! once: over a table of 26.9 million entries that is more than half of all words.

use miriam_lmcpu::{LmWord, Request, Scored, State};

use crate::system::System;

/// Phrases and the scores of their words, in buffers that are reused.
#[derive(Default)]
pub(crate) struct AskedAhead {
    /// One a model.
    models: Vec<Column>,
    /// How many phrases there are.
    phrases: u32,
}

/// The phrases as one model sees them.
#[derive(Default)]
struct Column {
    /// What is asked, by the number of words before it in its phrase.
    depths: Vec<Depth>,
    /// Of each word of each phrase the question, among those of its depth.
    questions: Vec<u32>,
    /// Where each phrase ends.
    ends: Vec<usize>,
    /// The phrase before.
    last: Vec<LmWord>,
    states: Vec<State>,
}

/// Words after as many others; the state of a question is the place of the word
/// before.
#[derive(Default)]
struct Depth {
    requests: Vec<Request>,
    results: Vec<Scored>,
}

impl Column {
    fn clear(&mut self) {
        self.depths.iter_mut().for_each(|depth| depth.requests.clear());
        self.questions.clear();
        self.ends.clear();
        self.last.clear();
    }

    fn push(&mut self, words: impl Iterator<Item = LmWord>) {
        let before = self.questions.len() - self.last.len();
        let mut shared = true;
        let mut length = 0;
        for word in words {
            shared &= self.last.get(length) == Some(&word);
            if shared {
                self.questions.push(self.questions[before + length]);
            } else {
                if length == self.depths.len() {
                    self.depths.push(Depth::default());
                }
                let state = if length == 0 { 0 } else { self.questions[self.questions.len() - 1] };
                let asked = &mut self.depths[length].requests;
                self.questions.push(asked.len() as u32);
                asked.push(Request { state, word });
                self.last.truncate(length);
                self.last.push(word);
            }
            length += 1;
        }
        self.last.truncate(length);
        self.ends.push(self.questions.len());
    }

    fn answer(&mut self, model: &dyn miriam_lmcpu::LanguageModel) {
        let mut states = &[State::EMPTY][..];
        for Depth { requests, results, .. } in &mut self.depths {
            if results.len() < requests.len() {
                results.resize_with(requests.len(), Scored::default);
            }
            model.score_batch(states, requests, results);
            if self.states.len() < requests.len() {
                self.states.resize(requests.len(), State::EMPTY);
            }
            for (state, scored) in self.states.iter_mut().zip(&results[..requests.len()]) {
                state.copy_from(&scored.next);
            }
            states = &self.states;
        }
    }
}

impl AskedAhead {
    /// Forgets all phrases.
    pub(crate) fn start(&mut self, system: &System) {
        self.models.resize_with(system.language_models.len(), Column::default);
        self.models.iter_mut().for_each(Column::clear);
        self.phrases = 0;
    }

    /// How many phrases there are: the number of the next.
    pub(crate) fn len(&self) -> u32 {
        self.phrases
    }

    /// Takes a phrase; `word` gives its word at a place as a model sees it.
    pub(crate) fn push(&mut self, words: usize, word: impl Fn(usize, usize) -> LmWord) {
        for (model, column) in self.models.iter_mut().enumerate() {
            column.push((0..words).map(|at| word(model, at)));
        }
        self.phrases += 1;
    }

    /// Scores all phrases.
    pub(crate) fn answer(&mut self, system: &System) {
        for (column, feature) in self.models.iter_mut().zip(&system.language_models) {
            column.answer(&*feature.model);
        }
    }

    /// What `model` gives for each word of `phrase` behind those before it.
    pub(crate) fn scored(&self, model: usize, phrase: u32) -> impl Iterator<Item = &Scored> {
        let column = &self.models[model];
        let start = match phrase {
            0 => 0,
            _ => column.ends[phrase as usize - 1],
        };
        let questions = &column.questions[start..column.ends[phrase as usize]];
        let depths = questions.iter().zip(&column.depths);
        depths.map(|(&question, depth)| &depth.results[question as usize])
    }
}
