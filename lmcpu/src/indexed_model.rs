//! Scoring over n-grams that are found word by word: every [`NgramIndex`] is a model.

use miriam_textio::Log10;

use crate::model_head::ModelVocabulary;
use crate::{LanguageModel, LmWord, NgramIndex, Request, ScoreResult, State, batch, walk};

impl<M: NgramIndex> LanguageModel for M {
    fn order(&self) -> usize {
        self.head().order
    }

    fn num_words(&self) -> usize {
        self.head().words.num_words()
    }

    fn word_id(&self, word: &[u8]) -> LmWord {
        self.head().words.word_id(word)
    }

    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]) {
        self.head().words.word_ids(text, spans, ids);
    }

    fn word(&self, id: LmWord) -> Option<&[u8]> {
        self.head().words.word(id)
    }

    fn begin_state(&self) -> State {
        self.head().begin_state
    }

    fn end_of_sentence(&self) -> LmWord {
        self.head().eos_id
    }

    #[inline]
    fn score(&self, context: &State, word: LmWord, next: &mut State) -> (Log10, u8) {
        walk::score(self, context, word, next)
    }

    #[inline]
    fn prefetch(&self, context: &State, word: LmWord) {
        walk::prefetch(self, context, word);
    }

    fn score_batch(&self, states: &[State], requests: &[Request], results: &mut [ScoreResult]) {
        batch::score_requests(self, states, requests, results);
    }

    fn score_sentences(
        &self,
        begin: &State,
        words: &[LmWord],
        ends: &[usize],
        scores: &mut [(Log10, u8)],
    ) {
        batch::score_sentences(self, begin, words, ends, scores);
    }

    fn minimization_is_closed(&self) -> bool {
        self.head().minimization_is_closed
    }

    fn has_only_lowering_backoffs(&self) -> bool {
        NgramIndex::has_only_lowering_backoffs(self)
    }
}
