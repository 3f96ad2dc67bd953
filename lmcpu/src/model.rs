//! The interface of all language models.

use miriam_textio::Log10;

use crate::{LmWord, State};

/// One query of a batch: the score of `word` after a state.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The index of the state among the states of the batch.
    pub state: u32,
    /// The word to score.
    pub word: LmWord,
}

/// The result of one query.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScoreResult {
    /// log10 p(word | state), backoffs included.
    pub log10: Log10,
    /// The length of the longest n-gram that matched, 1 or more. As in KenLM, a blank (an entry for
    /// an n-gram that the model lacks but whose extensions it has) counts as a match.
    pub ngram_length: u8,
    /// The state after the word.
    pub next_state: State,
}

/// An n-gram language model. Scores and states equal KenLM's to the bit (`ngram-lm.md` 2.2).
///
/// A model is immutable: any number of threads may query it at once.
///
/// ```
/// use miriam_lmcpu::{LanguageModel, Request, ScoreResult, State, open};
/// # use miriam_storage::LoadMethod;
/// # use miriam_textio::NoProgress;
/// # let file = tempfile::NamedTempFile::new()?;
/// # let arpa = "\\data\\\nngram 1=4\nngram 2=2\n\n\
/// #     \\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.5\n-1.25\t</s>\n-1.5\ta\t-0.25\n\n\
/// #     \\2-grams:\n-0.5\t<s> a\n-0.75\ta </s>\n\n\\end\\\n";
/// # std::fs::write(file.path(), arpa)?;
/// let model = open(file.path(), LoadMethod::Lazy, &NoProgress)?;
/// let a = model.word_id(b"a");
/// // `<s> a` is a bigram of the model; without context `a` is a unigram.
/// let states = [model.begin_state(), State::EMPTY];
/// let requests = [Request { state: 0, word: a }, Request { state: 1, word: a }];
/// let mut results = [ScoreResult::default(); 2];
/// model.score_batch(&states, &requests, &mut results);
/// assert_eq!((results[0].log10.0, results[0].ngram_length), (-0.5, 2));
/// assert_eq!((results[1].log10.0, results[1].ngram_length), (-1.5, 1));
/// // The state after `a` is the same either way.
/// assert_eq!(results[0].next_state, results[1].next_state);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait LanguageModel: Send + Sync {
    /// Returns the length of the longest n-grams, 1 to [`crate::MAX_ORDER`].
    fn order(&self) -> usize;

    /// Returns the number of words, `<unk>` included; ids are below this.
    fn num_words(&self) -> usize;

    /// Returns the id of `word`; [`LmWord::UNKNOWN`] when it is not in the model.
    fn word_id(&self, word: &[u8]) -> LmWord;

    /// Returns the word with this id; `None` if the model does not have the id, or if its file does
    /// not have the texts of words.
    fn word(&self, id: LmWord) -> Option<&[u8]>;

    /// Returns the state after `<s>`. Its length is always 1; without `<s>` in the model, its word
    /// is [`LmWord::UNKNOWN`].
    fn begin_state(&self) -> State;

    /// Returns the id of `</s>`; [`LmWord::UNKNOWN`] if the model does not have it.
    fn end_of_sentence(&self) -> LmWord;

    /// Returns log10 p(word | context), backoffs included, and the length of the longest n-gram
    /// that matched; writes the state after `word` to `next`.
    fn score(&self, context: &State, word: LmWord, next: &mut State) -> (Log10, u8);

    /// Prefetches what [`LanguageModel::score`] with the same arguments will read.
    fn prefetch(&self, context: &State, word: LmWord);

    /// Answers many queries with their memory accesses overlapped, and writes to `results` the
    /// results in the order of `requests`. They equal those of [`LanguageModel::score`] to the bit.
    ///
    /// # Panics
    /// If `results` is shorter than `requests`, or the state of a request is out of range.
    fn score_batch(&self, states: &[State], requests: &[Request], results: &mut [ScoreResult]);

    /// Works as [`LanguageModel::score`] with the words of a context, newest first, in the place of
    /// a state, and returns no state. At most the newest order - 1 words count.
    fn score_after(&self, context: &[LmWord], word: LmWord) -> (Log10, u8) {
        let used = context.len().min(self.order() - 1);
        let (mut state, mut next) = (State::EMPTY, State::EMPTY);
        for &word in context[..used].iter().rev() {
            self.score(&state, word, &mut next);
            state.copy_from(&next);
        }
        self.score(&state, word, &mut next)
    }

    /// Looks up many words with their memory accesses overlapped: writes to `ids` the ids of the
    /// words at `spans`, each the start and the end of a word in the bytes of `text`.
    ///
    /// # Panics
    /// If a span is not within `text`, or `ids` is shorter than `spans`.
    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]);

    /// Scores many sentences with their memory accesses overlapped. `words` has the sentences one
    /// after another, and `ends` the end of each in `words`. Each sentence begins in the state
    /// `begin`. Writes to `scores` log10 p and the length of the longest match of each word; they
    /// equal those of [`LanguageModel::score`] to the bit.
    ///
    /// # Panics
    /// If an end is less than the one before it, or `scores` or `words` is shorter than the last
    /// end.
    fn score_sentences(
        &self,
        begin: &State,
        words: &[LmWord],
        ends: &[usize],
        scores: &mut [(Log10, u8)],
    );

    /// Writes to `scores` log10 p of each of `words` after the same state `context`. It equals that
    /// of [`LanguageModel::score`] to the bit.
    ///
    /// # Panics
    /// If `scores` is shorter than `words`.
    fn score_next_words(&self, context: &State, words: &[LmWord], scores: &mut [Log10]) {
        // Few enough that their results stay in the second-level cache.
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

    /// Whether this holds of all n-grams: if the state after an n-gram keeps all its words, so does
    /// the state after its suffix. Then, if minimisation cuts words of a phrase from the context of
    /// a later word of the phrase, that word cannot depend on what precedes the phrase. This is
    /// true of every model estimated by a known toolkit. It is checked when a file of Miriam is
    /// built; KenLM's files are not checked, and for them this is false.
    fn minimization_is_closed(&self) -> bool;

    /// Whether no backoff is greater than 1 (positive as log10), so that a backoff never raises a
    /// score. Reads all backoffs of the model; false if that is not supported.
    fn has_only_lowering_backoffs(&self) -> bool {
        false
    }
}
