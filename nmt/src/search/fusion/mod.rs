//! Shallow fusion: a language model adds its weighted log-probabilities to the scores of candidates
//! (Gülçehre et al. 2015).
//!
//! The beam keeps the best candidates by the sum of both models. Each hypothesis, a row of the
//! search, has a context in the language model: an [`LmContext`] in an n-gram model, a row of its
//! session in a neural one.

mod neural_scorer;
mod ngram_model;
mod ngram_scorer;
mod scorer;
mod token_texts;

use std::fmt;
use std::sync::Arc;

use miriam_lmcpu::{LanguageModel, State};
use miriam_nmt_network::network::Session;

use crate::Result;
use neural_scorer::NeuralModel;
use ngram_model::{NgramModel, Units};

pub(super) use scorer::FusionScorer;
pub use token_texts::TokenTexts;

/// The reason why sampling with a language model is rejected.
pub(crate) const LM_WITH_SAMPLING: &str =
    "a language model takes part in beam search, not in sampling; leave one of them out";

/// A language model joined to a target vocabulary. Clones share it.
#[derive(Clone)]
pub struct FusionModel(Kind);

/// The kinds of language models.
#[derive(Clone)]
enum Kind {
    Ngrams(Arc<NgramModel>),
    Neural(NeuralModel),
}

impl FusionModel {
    /// Joins an n-gram model over the tokens of a vocabulary; `pieces` has the string of each
    /// token, `None` for tokens that are not text.
    pub fn over_pieces<'a>(
        lm: Arc<dyn LanguageModel>,
        pieces: impl Iterator<Item = Option<&'a [u8]>>,
    ) -> Self {
        FusionModel(Kind::Ngrams(Arc::new(NgramModel::over_pieces(lm, pieces))))
    }

    /// Joins an n-gram model over words; `texts` has the text of each token of the vocabulary.
    pub fn over_words(lm: Arc<dyn LanguageModel>, texts: TokenTexts) -> Self {
        FusionModel(Kind::Ngrams(Arc::new(NgramModel::new(lm, Units::Words(texts)))))
    }

    /// Joins a neural model of the same vocabulary. `open_session` opens a session of the model for
    /// a thread; `eos_id` ends its sentences.
    pub fn neural(
        open_session: impl Fn() -> Result<Box<dyn Session>> + Send + Sync + 'static,
        eos_id: u32,
    ) -> Self {
        FusionModel(Kind::Neural(NeuralModel { open_session: Arc::new(open_session), eos_id }))
    }

    /// Returns the context of an empty hypothesis.
    fn begin(&self) -> LmContext {
        match &self.0 {
            Kind::Ngrams(model) => model.begin(),
            Kind::Neural(_) => LmContext::default(),
        }
    }
}

impl fmt::Debug for FusionModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = match &self.0 {
            Kind::Ngrams(model) if matches!(model.units, Units::Words(_)) => "n-grams of words",
            Kind::Ngrams(_) => "n-grams of tokens",
            Kind::Neural(_) => "tokens, neural",
        };
        formatter.debug_tuple("FusionModel").field(&units).finish()
    }
}

/// Two models are equal if one is a clone of the other.
impl PartialEq for FusionModel {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Ngrams(one), Kind::Ngrams(other)) => Arc::ptr_eq(one, other),
            (Kind::Neural(one), Kind::Neural(other)) => {
                Arc::ptr_eq(&one.open_session, &other.open_session)
            }
            _ => false,
        }
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
    /// Returns the number of candidates of a row that the language model scores. It exceeds
    /// `top_k`, the number that the beam needs, because the sum of both models may prefer
    /// candidates that are not among the `top_k` best of the translation model.
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

/// The context of a hypothesis in an n-gram model. A neural model has its contexts in its session,
/// and this value is the default.
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
