//! What every language model answers, whatever its file.

use miriam_textio::Log10;

use crate::State;

/// The id of a word in one model; 0 is `<unk>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct LmWord(pub u32);

impl LmWord {
    /// The unknown word.
    pub const UNKNOWN: LmWord = LmWord(0);
}

/// One question of a batch: `word` after the state at `state`.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Index into the batch's states.
    pub state: u32,
    /// The word to score.
    pub word: LmWord,
}

/// The answer to one question.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScoreResult {
    /// log10 p(word | state), backoffs included.
    pub log10: Log10,
    /// The length of the longest n-gram that matched, 1 or more; blanks that
    /// stand for missing suffixes count, as in KenLM.
    pub ngram_length: u8,
    /// The state behind the word.
    pub next_state: State,
}

/// A model of word sequences. Scores and states equal KenLM's to the bit
/// (`ngram-lm.md` 2.2).
///
/// A model is immutable: any thread may ask anything at any time.
pub trait LanguageModel: Send + Sync {
    /// The length of its longest n-grams, 1 to [`crate::MAX_ORDER`].
    fn order(&self) -> usize;

    /// How many words it knows, `<unk>` included; ids are below this.
    fn num_words(&self) -> usize;

    /// The id of `word`; [`LmWord::UNKNOWN`] when it is not in the model.
    fn word_id(&self, word: &[u8]) -> LmWord;

    /// The word of `id`.
    fn word(&self, id: LmWord) -> Option<&[u8]>;

    /// The state behind `<s>`: always of length 1.
    fn begin_state(&self) -> State;

    /// The id of `</s>`.
    fn end_of_sentence(&self) -> LmWord;

    /// Scores `word` after `context` and leaves the state behind it in `next`.
    fn score(&self, context: &State, word: LmWord, next: &mut State) -> (Log10, u8);

    /// Starts loading what [`LanguageModel::score`] of the same arguments will
    /// touch.
    fn prefetch(&self, context: &State, word: LmWord);

    /// Answers many questions with their memory accesses overlapped: `results`
    /// takes the answers in the order of `requests`. Each answer is what
    /// [`LanguageModel::score`] gives, to the bit.
    ///
    /// Panics when `results` is shorter than `requests` or a request names no
    /// state.
    fn score_batch(&self, states: &[State], requests: &[Request], results: &mut [ScoreResult]);

    /// log10 p(word | context) and the matched length for an explicit context,
    /// newest word first, of which at most order - 1 words count.
    fn score_after(&self, context: &[LmWord], word: LmWord) -> (Log10, u8) {
        let used = context.len().min(self.order() - 1);
        let (mut state, mut next) = (State::EMPTY, State::EMPTY);
        for &word in context[..used].iter().rev() {
            self.score(&state, word, &mut next);
            state.copy_from(&next);
        }
        self.score(&state, word, &mut next)
    }

    /// The ids of the words that `spans` (start and end, bytes of `text`) mark,
    /// in their order: `ids` is filled. Their memory accesses overlap.
    ///
    /// Panics when a span does not lie in `text` or `ids` is shorter than `spans`.
    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]) {
        for (&(start, end), id) in spans.iter().zip(&mut ids[..spans.len()]) {
            *id = self.word_id(&text[start as usize..end as usize]);
        }
    }

    /// Scores many sequences of words side by side: `words` holds them one after
    /// another, `ends` where each ends; each begins in the state `begin`.
    /// `scores` takes log10 p and the matched length of each word. Each is what
    /// [`LanguageModel::score`] gives, to the bit.
    ///
    /// Panics when `ends` falls somewhere, or `scores` or `words` is shorter than
    /// its last.
    fn score_sentences(
        &self,
        begin: &State,
        words: &[LmWord],
        ends: &[usize],
        scores: &mut [(Log10, u8)],
    ) {
        let (mut state, mut next) = (State::EMPTY, State::EMPTY);
        let mut start = 0;
        for &end in ends {
            state.copy_from(begin);
            for (&word, score) in words[start..end].iter().zip(&mut scores[start..end]) {
                *score = self.score(&state, word, &mut next);
                std::mem::swap(&mut state, &mut next);
            }
            start = end;
        }
    }

    /// log10 p of each of `words` after the one state `context`. Each is what
    /// [`LanguageModel::score`] gives, to the bit.
    ///
    /// Panics when `scores` is shorter than `words`.
    fn score_next_words(&self, context: &State, words: &[LmWord], scores: &mut [Log10]) {
        // As many as keep their answers in the second-level cache.
        const BATCH: usize = 1 << 10;
        let mut results = vec![ScoreResult::default(); words.len().min(BATCH)];
        let scores = scores[..words.len()].chunks_mut(BATCH);
        for (words, scores) in words.chunks(BATCH).zip(scores) {
            let requests: Vec<_> = words.iter().map(|&word| Request { state: 0, word }).collect();
            self.score_batch(std::slice::from_ref(context), &requests, &mut results);
            for (score, result) in scores.iter_mut().zip(&results) {
                *score = result.log10;
            }
        }
    }

    /// Whether every n-gram whose state keeps all its words has a suffix of
    /// which the same is true. Then a word whose in-phrase context was cut by
    /// minimisation cannot depend on what stands left of the phrase. True of
    /// every model estimated by a known toolkit; checked when a model is built.
    fn minimisation_is_closed(&self) -> bool;
}
