//! Language-model scores of many target phrases without context, computed together.
//!
//! Before only the best targets of a source phrase are kept, each target is scored without context.
//! Most source phrases have a handful of targets, some have hundreds. If phrases were scored one by
//! one, nearly every word would wait for memory. So the targets of many source phrases are gathered
//! first, and their words are scored together, so that the waiting times overlap.
//!
//! Tables list the targets of a source phrase in the order of their text, so neighbours often begin
//! with the same words. These words are scored only once. In a table of 26.9 million entries, they
//! are more than half of all words.

use miriam_lmcpu::{LanguageModel, LmWord, Request, ScoreResult, State};

/// Phrases and the scores of their words, in buffers that are reused.
#[derive(Default)]
pub(crate) struct LmBatch {
    /// The phrases for each model.
    models: Vec<ModelBatch>,
    num_phrases: u32,
}

/// The phrases as one model sees them.
#[derive(Default)]
struct ModelBatch {
    /// The requests at each depth: `depths[n]` has the words after the first n of their phrases.
    depths: Vec<DepthBatch>,
    /// For each word of each phrase, the index of its request within its depth.
    request_indices: Vec<u32>,
    /// The end of each phrase in `request_indices`.
    phrase_ends: Vec<usize>,
    /// The words of the phrase that was added last.
    previous_phrase: Vec<LmWord>,
    /// A buffer for the states after the words of a depth.
    states: Vec<State>,
}

/// The words with the same number of words before them in their phrases.
#[derive(Default)]
struct DepthBatch {
    /// The state of a request is the one after the word before: the index of that word's request at
    /// the depth before. At depth 0 it is the empty state.
    requests: Vec<Request>,
    /// The result of each request. There may be more results than requests, left from a batch
    /// before.
    results: Vec<ScoreResult>,
}

impl ModelBatch {
    fn clear(&mut self) {
        self.depths.iter_mut().for_each(|depth| depth.requests.clear());
        self.request_indices.clear();
        self.phrase_ends.clear();
        self.previous_phrase.clear();
    }

    fn push_phrase(&mut self, words: impl Iterator<Item = LmWord>) {
        let previous_start = self.request_indices.len() - self.previous_phrase.len();
        let mut shared = true;
        let mut depth = 0;
        for word in words {
            shared &= self.previous_phrase.get(depth) == Some(&word);
            if shared {
                self.request_indices.push(self.request_indices[previous_start + depth]);
            } else {
                if depth == self.depths.len() {
                    self.depths.push(DepthBatch::default());
                }
                let state = if depth == 0 {
                    0
                } else {
                    self.request_indices[self.request_indices.len() - 1]
                };
                let requests = &mut self.depths[depth].requests;
                self.request_indices.push(requests.len() as u32);
                requests.push(Request { state, word });
                self.previous_phrase.truncate(depth);
                self.previous_phrase.push(word);
            }
            depth += 1;
        }
        self.previous_phrase.truncate(depth);
        self.phrase_ends.push(self.request_indices.len());
    }

    fn score(&mut self, model: &dyn LanguageModel) {
        let mut states = &[State::EMPTY][..];
        for DepthBatch { requests, results } in &mut self.depths {
            if results.len() < requests.len() {
                results.resize_with(requests.len(), ScoreResult::default);
            }
            model.score_batch(states, requests, results);
            if self.states.len() < requests.len() {
                self.states.resize(requests.len(), State::EMPTY);
            }
            for (state, scored) in self.states.iter_mut().zip(&results[..requests.len()]) {
                state.copy_from(&scored.next_state);
            }
            states = &self.states;
        }
    }
}

impl LmBatch {
    /// Removes all phrases and begins a batch for `num_models` models.
    pub(crate) fn reset(&mut self, num_models: usize) {
        self.models.resize_with(num_models, ModelBatch::default);
        self.models.iter_mut().for_each(ModelBatch::clear);
        self.num_phrases = 0;
    }

    /// Returns the number of phrases, which is the index of the next phrase.
    pub(crate) fn len(&self) -> u32 {
        self.num_phrases
    }

    /// Adds a phrase of `len` words; `word(model, i)` is the id of word `i` in model `model`.
    pub(crate) fn push_phrase(&mut self, len: usize, word: impl Fn(usize, usize) -> LmWord) {
        for (model, batch) in self.models.iter_mut().enumerate() {
            batch.push_phrase((0..len).map(|i| word(model, i)));
        }
        self.num_phrases += 1;
    }

    /// Scores all phrases with each of `models`.
    pub(crate) fn score<'m>(&mut self, models: impl Iterator<Item = &'m dyn LanguageModel>) {
        for (batch, model) in self.models.iter_mut().zip(models) {
            batch.score(model);
        }
    }

    /// Returns the result of `model` for each word of `phrase`, given the phrase's words before it.
    pub(crate) fn word_scores(
        &self,
        model: usize,
        phrase: u32,
    ) -> impl Iterator<Item = &ScoreResult> {
        let batch = &self.models[model];
        let start = match phrase {
            0 => 0,
            _ => batch.phrase_ends[phrase as usize - 1],
        };
        let requests = &batch.request_indices[start..batch.phrase_ends[phrase as usize]];
        let depths = requests.iter().zip(&batch.depths);
        depths.map(|(&request, depth)| &depth.results[request as usize])
    }
}
