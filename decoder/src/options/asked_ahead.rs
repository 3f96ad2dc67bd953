//! What the language models make of target phrases alone, asked of many at once.
//!
//! All targets of a source phrase are scored alone before the worst are cut, and
//! most source phrases that a sentence brings for the first time have a handful of
//! targets. One at a time, nearly every word waits for memory; so the targets of all
//! of them are gathered first and their words scored side by side.

use miriam_lmcpu::{LmWord, State};
use miriam_text::Log10;

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
    words: Vec<LmWord>,
    /// Where each phrase ends.
    ends: Vec<usize>,
    /// log10 p of each word behind those before it in its phrase.
    scores: Vec<(Log10, u8)>,
}

impl AskedAhead {
    /// Forgets all phrases.
    pub(crate) fn start(&mut self, system: &System) {
        self.models.resize_with(system.language_models.len(), Column::default);
        for column in &mut self.models {
            column.words.clear();
            column.ends.clear();
        }
        self.phrases = 0;
    }

    /// How many phrases there are: the number of the next.
    pub(crate) fn len(&self) -> u32 {
        self.phrases
    }

    /// Takes a phrase; `word` gives its word at a place as a model sees it.
    pub(crate) fn push(&mut self, words: usize, word: impl Fn(usize, usize) -> LmWord) {
        for (model, column) in self.models.iter_mut().enumerate() {
            column.words.extend((0..words).map(|at| word(model, at)));
            column.ends.push(column.words.len());
        }
        self.phrases += 1;
    }

    /// Scores all phrases.
    pub(crate) fn answer(&mut self, system: &System) {
        for (column, feature) in self.models.iter_mut().zip(&system.language_models) {
            column.scores.clear();
            column.scores.resize(column.words.len(), (Log10(0.0), 0));
            let Column { words, ends, scores } = column;
            feature.model.score_sentences(&State::EMPTY, words, ends, scores);
        }
    }

    /// What `model` gives for each word of `phrase`.
    pub(crate) fn scores(&self, model: usize, phrase: u32) -> &[(Log10, u8)] {
        let column = &self.models[model];
        let start = match phrase {
            0 => 0,
            _ => column.ends[phrase as usize - 1],
        };
        &column.scores[start..column.ends[phrase as usize]]
    }
}
