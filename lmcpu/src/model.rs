//! The interface of all language models.

use miriam_textio::Log10;

use crate::{LmWord, State};

/// One query of a batch: `word` after the state with index `state`.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Index into the batch's states.
    pub state: u32,
    /// The word to score.
    pub word: LmWord,
}

/// The result of one query.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScoreResult {
    /// log10 p(word | state), backoffs included.
    pub log10: Log10,
    /// The length of the longest n-gram that matched, 1 or more; blanks (entries for
    /// missing suffixes) count, as in KenLM.
    pub ngram_length: u8,
    /// The state after the word.
    pub next_state: State,
}

/// An n-gram language model. Scores and states equal KenLM's to the bit (`ngram-lm.md`
/// 2.2).
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

    /// Returns the word with this id, if the file holds its words.
    fn word(&self, id: LmWord) -> Option<&[u8]>;

    /// Returns the state after `<s>`: always of length 1.
    fn begin_state(&self) -> State;

    /// Returns the id of `</s>`; [`LmWord::UNKNOWN`] if the model does not have it.
    fn end_of_sentence(&self) -> LmWord;

    /// Returns log10 p(word | context), backoffs included, and the length of the longest n-gram
    /// that matched; writes the state after `word` to `next`.
    fn score(&self, context: &State, word: LmWord, next: &mut State) -> (Log10, u8);

    /// Prefetches what [`LanguageModel::score`] of the same arguments will read.
    fn prefetch(&self, context: &State, word: LmWord);

    /// Answers many queries with their memory accesses overlapped: `results` receives
    /// the results in the order of `requests`. Each is what [`LanguageModel::score`]
    /// gives, to the bit.
    ///
    /// Panics when `results` is shorter than `requests` or a request's state is out of
    /// range.
    fn score_batch(&self, states: &[State], requests: &[Request], results: &mut [ScoreResult]);

    /// Returns log10 p(word | context) and the matched length for an explicit context, newest word
    /// first, of which at most order - 1 words count.
    fn score_after(&self, context: &[LmWord], word: LmWord) -> (Log10, u8) {
        let used = context.len().min(self.order() - 1);
        let (mut state, mut next) = (State::EMPTY, State::EMPTY);
        for &word in context[..used].iter().rev() {
            self.score(&state, word, &mut next);
            state.copy_from(&next);
        }
        self.score(&state, word, &mut next)
    }

    /// Writes to `ids` the ids of the words at `spans` (start and end, bytes of
    /// `text`), with their memory accesses overlapped.
    ///
    /// Panics when a span is not within `text` or `ids` is shorter than `spans`.
    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]);

    /// Scores many sentences with their memory accesses overlapped: `words` holds them
    /// one after another, `ends` the end of each in `words`; each begins in the state
    /// `begin`. `scores` receives log10 p and the matched length of each word, as
    /// [`LanguageModel::score`] gives them, to the bit.
    ///
    /// Panics when `ends` does not ascend, or `scores` or `words` is shorter than the
    /// last end.
    fn score_sentences(
        &self,
        begin: &State,
        words: &[LmWord],
        ends: &[usize],
        scores: &mut [(Log10, u8)],
    );

    /// Writes to `scores` log10 p of each of `words` after the same state `context`, as
    /// [`LanguageModel::score`] gives it, to the bit.
    ///
    /// Panics when `scores` is shorter than `words`.
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

    /// Whether every n-gram whose state keeps all its words has a suffix whose state keeps all its
    /// words too. Then a word whose in-phrase context was cut by minimisation cannot depend on what
    /// precedes the phrase. This is true of every model estimated by a known toolkit; it is checked
    /// when a file of Miriam is built. KenLM's files are not checked; for them this is false.
    fn minimization_is_closed(&self) -> bool;

    /// Whether no backoff is greater than 1 (positive as log10), so that no probability is greater
    /// than 1 in any context. Reads all backoffs of the model; false if that is not supported.
    fn has_only_lowering_backoffs(&self) -> bool {
        false
    }
}
