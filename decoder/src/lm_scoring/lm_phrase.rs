//! A phrase as a language model sees it before its context is known.
//!
//! A phrase is scored once from the empty context. This shows which of its words can depend on the
//! words to the left of the phrase: word j depends on them only if the state after word j - 1
//! reaches back to the first word of the phrase. The first word whose state does not reach back
//! closes the phrase: the words after it have constant scores, and the state after the phrase is
//! known. So the search usually has to score only one or two words of a phrase. This requires a
//! model whose [minimisation is closed](LanguageModel::minimization_is_closed); with other models,
//! the first order - 1 words depend on the context. Scores are stored separately and added one by
//! one, as KenLM and Moses2 add them (`docs/spec/phrase-decoding.md` 3.4, 3.6).

use miriam_lmcpu::{LanguageModel, LmWord, ScoreResult, State};
use miriam_textio::Log10;

/// A phrase as one language model sees it. Its numbers are in a pool, one after another: the ids of
/// the dependent words, the bits of the constant scores, and the state after the phrase as pairs of
/// word and backoff.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LmPhrase {
    /// The index of its first number in the pool.
    pub(crate) pool_start: u32,
    /// The number of words whose scores depend on the context.
    pub(crate) num_dependent: u8,
    /// The number of constant scores, those of the other words among the first order - 1 words. The
    /// words after them are in the phrase's total score.
    pub(crate) num_constants: u8,
    /// The number of words of the state after the phrase, if this state is known.
    pub(crate) right_state_len: u8,
    /// Whether the state after the phrase is known.
    pub(crate) has_right_state: bool,
    /// The number of the state after the phrase among the states of a sentence; 0 outside of one.
    pub(crate) right_state: u32,
}

/// The parts of a phrase that an expansion reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LmPhraseParts<'a> {
    /// Words whose scores depend on the context.
    pub(crate) dependent: &'a [u32],
    /// The bits of the constant scores that follow.
    pub(crate) constants: &'a [u32],
    /// The number of the state after the phrase among those of the sentence, if it is known.
    pub(crate) right_state: Option<u32>,
}

impl LmPhraseParts<'_> {
    /// Returns `log10` plus the constant scores, added one by one.
    #[inline(always)]
    pub(crate) fn add_constants(&self, log10: f32) -> f32 {
        self.constants.iter().fold(log10, |log10, &bits| log10 + f32::from_bits(bits))
    }
}

impl LmPhrase {
    /// Returns the parts of the phrase in the `pool` that it refers to.
    #[inline(always)]
    pub(crate) fn parts<'a>(&self, pool: &'a [u32]) -> LmPhraseParts<'a> {
        let num_dependent = usize::from(self.num_dependent);
        let start = self.pool_start as usize;
        let end = start + num_dependent + usize::from(self.num_constants);
        let (dependent, constants) = pool[start..end].split_at(num_dependent);
        let right_state = self.has_right_state.then_some(self.right_state);
        LmPhraseParts { dependent, constants, right_state }
    }
}

/// A phrase scored without context, in buffers that are reused.
#[derive(Default)]
pub(crate) struct IsolatedPhrase {
    scores: Vec<f32>,
    right_state: State,
    num_dependent: usize,
    has_right_state: bool,
    begins_sentence: bool,
}

impl IsolatedPhrase {
    /// Scores `words` from the empty context; `begin` is the word `<s>`.
    pub(crate) fn score(&mut self, model: &dyn LanguageModel, begin: LmWord, words: &[LmWord]) {
        self.reset(begin, words);
        let mut states = [State::EMPTY; 2];
        let mut dependent = None;
        for (i, &word) in words.iter().enumerate() {
            let [a, b] = &mut states;
            let (before, after) = if i % 2 == 0 { (a, b) } else { (b, a) };
            let (log10, _) = model.score(before, word, after);
            self.scores.push(log10.0);
            record_closing_word(model, i, after, &mut dependent);
        }
        self.right_state.copy_from(&states[words.len() % 2]);
        self.finish(model, words.len(), dependent);
    }

    /// Loads the results of scoring `words` from the empty context.
    pub(crate) fn load_scored<'a>(
        &mut self,
        model: &dyn LanguageModel,
        begin: LmWord,
        words: &[LmWord],
        scored: impl Iterator<Item = &'a ScoreResult>,
    ) {
        self.reset(begin, words);
        let mut dependent = None;
        self.right_state.set_len(0);
        for (i, scored) in scored.enumerate() {
            self.scores.push(scored.log10.0);
            record_closing_word(model, i, &scored.next_state, &mut dependent);
            if i + 1 == words.len() {
                self.right_state.copy_from(&scored.next_state);
            }
        }
        self.finish(model, words.len(), dependent);
    }

    /// Loads the scores of `words` without the states after them. After this call, only
    /// [`IsolatedPhrase::inner_and_full_score`] is valid.
    pub(crate) fn load_scores(
        &mut self,
        begin: LmWord,
        words: &[LmWord],
        scores: impl Iterator<Item = Log10>,
    ) {
        self.reset(begin, words);
        self.scores.extend(scores.map(|log10| log10.0));
    }

    fn reset(&mut self, begin: LmWord, words: &[LmWord]) {
        self.scores.clear();
        self.begins_sentence = words.first() == Some(&begin) && begin != LmWord::UNKNOWN;
    }

    fn finish(&mut self, model: &dyn LanguageModel, words: usize, dependent: Option<usize>) {
        let context = model.order() - 1;
        self.has_right_state = dependent.is_some() || words >= context;
        self.num_dependent = dependent.unwrap_or(words.min(context));
    }

    /// Returns two scores as natural logarithms: that of the words from index order - 1 on, for the
    /// phrase's total, and that of all words, for its estimate.
    pub(crate) fn inner_and_full_score(
        &self,
        model: &dyn LanguageModel,
        words: &[LmWord],
    ) -> (f32, f32) {
        let context = model.order() - 1;
        let (mut before, mut all) = (0f32, 0f32);
        let mut add = |i: usize, score: f32| {
            all += score;
            if i < context {
                before = all;
            }
        };
        if self.begins_sentence {
            // `<s>` is context here, not a word to score.
            let (mut state, mut next) = (model.begin_state(), State::EMPTY);
            for (i, &word) in words.iter().enumerate().skip(1) {
                let (log10, _) = model.score(&state, word, &mut next);
                state.copy_from(&next);
                add(i, log10.0);
            }
        } else {
            for (i, &score) in self.scores.iter().enumerate() {
                add(i, score);
            }
        }
        (Log10(all - before).to_ln().0, Log10(all).to_ln().0)
    }

    /// Returns the phrase that was scored last, and appends its numbers to `pool`.
    pub(crate) fn to_lm_phrase(
        &self,
        order: usize,
        words: &[LmWord],
        pool: &mut Vec<u32>,
    ) -> LmPhrase {
        let start = pool.len() as u32;
        let num_first = words.len().min(order - 1);
        pool.extend(words[..self.num_dependent].iter().map(|w| w.0));
        pool.extend(self.scores[self.num_dependent..num_first].iter().map(|s| s.to_bits()));
        if self.has_right_state {
            pool.extend(self.right_state.entries().iter().flat_map(|(w, b)| [w.0, b.to_bits()]));
        }
        LmPhrase {
            pool_start: start,
            num_dependent: self.num_dependent as u8,
            num_constants: (num_first - self.num_dependent) as u8,
            right_state_len: if self.has_right_state { self.right_state.len() as u8 } else { 0 },
            has_right_state: self.has_right_state,
            right_state: 0,
        }
    }
}

/// If word `i`, after which the state is `after`, is the first that closes its phrase, sets
/// `dependent` to the number of words that depend on the context.
#[inline(always)]
fn record_closing_word(
    model: &dyn LanguageModel,
    i: usize,
    after: &State,
    dependent: &mut Option<usize>,
) {
    let closes = i + 1 < model.order() && after.len() <= i;
    if dependent.is_none() && closes && model.minimization_is_closed() {
        *dependent = Some(i + 1);
    }
}

/// Reads from `pool` the state after `phrase`; this state must be known.
pub(crate) fn read_right_state(phrase: &LmPhrase, pool: &[u32], state: &mut State) {
    let start = phrase.pool_start as usize
        + usize::from(phrase.num_dependent)
        + usize::from(phrase.num_constants);
    let len = usize::from(phrase.right_state_len);
    let pairs = pool[start..start + 2 * len].chunks_exact(2);
    for (entry, pair) in state.entries_mut().iter_mut().zip(pairs) {
        *entry = (LmWord(pair[0]), f32::from_bits(pair[1]));
    }
    state.set_len(len);
}
