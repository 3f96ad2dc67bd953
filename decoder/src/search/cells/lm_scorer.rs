//! Scores of the words of phrases in one language model, through its cache.

use miriam_lmcpu::{LanguageModel, LmWord};

use crate::lm_scoring::LmScoreCache;
use crate::translation_options::HotPhrase;

/// The state and the score of a cell in a language model, after the words that are scored so far.
#[derive(Clone, Copy, Default)]
pub(super) struct LmProgress {
    /// The number of the state in the cache.
    pub(super) state: u32,
    /// The log10 probability of the words.
    pub(super) log10: f32,
}

/// Words of cells that are requested from a language model. Words that are prefetched in one round
/// are answered in the next.
pub(super) struct AwaitedWords<W> {
    waiting: Vec<W>,
    prefetched: Vec<W>,
}

impl<W> Default for AwaitedWords<W> {
    fn default() -> Self {
        AwaitedWords { waiting: Vec::new(), prefetched: Vec::new() }
    }
}

impl<W: Copy> AwaitedWords<W> {
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    #[inline(always)]
    pub(super) fn push(&mut self, word: W) {
        self.waiting.push(word);
    }

    /// Calls `answer` with each waiting word. If `answer` returns another word of the cell, that
    /// word waits for the next round.
    #[inline(always)]
    pub(super) fn answer(&mut self, mut answer: impl FnMut(W) -> Option<W>) {
        std::mem::swap(&mut self.waiting, &mut self.prefetched);
        self.waiting.clear();
        for &word in &self.prefetched {
            if let Some(next) = answer(word) {
                self.waiting.push(next);
            }
        }
    }
}

/// A language model with its cache, and the pool of the words of phrases.
pub(super) struct LmScorer<'s> {
    pub(super) lm: &'s dyn LanguageModel,
    pub(super) cache: &'s mut LmScoreCache,
    pub(super) pool: &'s [u32],
}

impl LmScorer<'_> {
    /// Scores words of `phrase` that depend on the context, from index `at` on, until one is not in
    /// the cache; prefetches that word and returns its index. If all are in the cache, adds the
    /// scores of the words that do not depend on the context, and returns `None`.
    #[inline(always)]
    pub(super) fn score_cached_words(
        &self,
        phrase: &HotPhrase,
        at: usize,
        progress: &mut LmProgress,
    ) -> Option<usize> {
        let parts = phrase.parts(self.pool);
        let LmProgress { mut state, mut log10 } = *progress;
        for (i, &word) in parts.dependent[at..].iter().enumerate() {
            match self.cache.find(state, LmWord(word)) {
                Some((score, next)) => (log10, state) = (log10 + score, next),
                None => {
                    self.lm.prefetch(self.cache.state(state), LmWord(word));
                    *progress = LmProgress { state, log10 };
                    return Some(at + i);
                }
            }
        }
        log10 = parts.add_constants(log10);
        *progress = LmProgress { state: parts.right_state.unwrap_or(state), log10 };
        None
    }

    /// Returns the log10 probability of `phrase` if all words that depend on the context have
    /// probability 1.
    #[inline(always)]
    pub(super) fn best_log10(&self, phrase: &HotPhrase) -> f32 {
        phrase.parts(self.pool).add_constants(0.0)
    }

    /// Starts loading the cache's line for the first word of `phrase` that depends on the context.
    /// `state` is this context.
    #[inline(always)]
    pub(super) fn prefetch_first_word(&self, phrase: &HotPhrase, state: u32) {
        if let Some(word) = phrase.first_dependent(self.pool) {
            self.cache.prefetch(state, word);
        }
    }

    /// Scores by the model the word with index `at` among the words of `phrase` that depend on the
    /// context. Scores the words after it like [`LmScorer::score_cached_words`].
    #[inline(always)]
    pub(super) fn score_awaited_word(
        &mut self,
        phrase: &HotPhrase,
        at: usize,
        progress: &mut LmProgress,
    ) -> Option<usize> {
        let word = phrase.parts(self.pool).dependent[at];
        self.score(LmWord(word), progress);
        self.score_cached_words(phrase, at + 1, progress)
    }

    /// Scores the end of the sentence.
    #[inline(always)]
    pub(super) fn score_end(&mut self, progress: &mut LmProgress) {
        self.score(self.lm.end_of_sentence(), progress);
    }

    /// Scores `word` by the model and caches the result.
    #[inline(always)]
    fn score(&mut self, word: LmWord, progress: &mut LmProgress) {
        let (score, next) = self.cache.score(self.lm, progress.state, word);
        *progress = LmProgress { state: next, log10: progress.log10 + score };
    }
}
