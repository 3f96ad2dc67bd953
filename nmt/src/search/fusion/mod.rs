//! Shallow fusion: an n-gram language model adds its weighted log-probabilities to the scores of
//! candidates (Gülçehre et al. 2015).
//!
//! The beam keeps the best candidates by the sum of both models. Each hypothesis, a row of the search,
//! has an [`LmContext`]: the state of the language model and the beginning of a word that is not
//! complete.

mod scorer;
mod token_texts;

use std::fmt;
use std::sync::Arc;

use miriam_lmcpu::{LanguageModel, LmWord, State};

pub(super) use scorer::FusionScorer;
pub use token_texts::TokenTexts;

/// The floor of the log-probability of a word (natural logarithm), as in Moses: models without
/// `<unk>` give unknown words probability 0.
const MIN_LOG_PROBABILITY: f32 = -100.0;

/// The reason why sampling with a language model is refused.
pub(crate) const LM_WITH_SAMPLING: &str =
    "a language model takes part in beam search, not in sampling; leave one of them out";

/// A language model joined to a target vocabulary. Clones share it.
#[derive(Clone)]
pub struct FusionModel {
    joined: Arc<Joined>,
}

struct Joined {
    lm: Arc<dyn LanguageModel>,
    begin: State,
    end_of_sentence: LmWord,
    units: Units,
}

/// The units that the language model scores.
enum Units {
    /// Tokens: the word of each in the language model, none for tokens that are not text.
    Pieces(Vec<Option<LmWord>>),
    /// Words, which are scored where they end.
    Words(TokenTexts),
}

impl FusionModel {
    /// Joins a model over the tokens of a vocabulary; `pieces` has the string of each token, none for
    /// those that are not text.
    pub fn over_pieces<'a>(
        lm: Arc<dyn LanguageModel>,
        pieces: impl Iterator<Item = Option<&'a [u8]>>,
    ) -> Self {
        let words = pieces.map(|piece| piece.map(|piece| lm.word_id(piece))).collect();
        FusionModel::new(lm, Units::Pieces(words))
    }

    /// Joins a model over words; `texts` has the text of each token of the vocabulary.
    pub fn over_words(lm: Arc<dyn LanguageModel>, texts: TokenTexts) -> Self {
        FusionModel::new(lm, Units::Words(texts))
    }

    fn new(lm: Arc<dyn LanguageModel>, units: Units) -> Self {
        let (begin, end_of_sentence) = (lm.begin_state(), lm.end_of_sentence());
        FusionModel { joined: Arc::new(Joined { lm, begin, end_of_sentence, units }) }
    }

    /// Returns the context of an empty hypothesis.
    fn begin(&self) -> LmContext {
        LmContext { state: self.joined.begin, ..LmContext::default() }
    }
}

impl fmt::Debug for FusionModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scores_words = matches!(self.joined.units, Units::Words(_));
        formatter.debug_struct("FusionModel").field("scores_words", &scores_words).finish()
    }
}

/// Two are equal if they are clones of one.
impl PartialEq for FusionModel {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.joined, &other.joined)
    }
}

/// A language model with its weight in the search.
#[derive(Clone, Debug, PartialEq)]
pub struct Fusion {
    /// The model.
    pub model: FusionModel,
    /// The factor of the model's log-probabilities.
    pub weight: f32,
}

impl Fusion {
    /// Returns the number of candidates of a row that the language model scores. It exceeds `top_k`,
    /// the number that the beam needs, because the sum of both models may prefer candidates that are
    /// not among the `top_k` best of the translation model.
    pub(super) fn candidates(&self, top_k: usize) -> usize {
        const FACTOR: usize = 2;
        const LEAST: usize = 8;
        top_k.saturating_mul(FACTOR).max(LEAST)
    }

    /// Returns the context of an empty hypothesis.
    pub(super) fn begin(&self) -> LmContext {
        self.model.begin()
    }
}

/// The context of a hypothesis in the language model.
#[derive(Clone, Debug)]
pub(super) struct LmContext {
    state: State,
    /// The beginning of a word that has not ended.
    unfinished: Vec<u8>,
}

impl Default for LmContext {
    fn default() -> Self {
        LmContext { state: State::EMPTY, unfinished: Vec::new() }
    }
}
