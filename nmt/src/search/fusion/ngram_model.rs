//! N-gram language model joined to a target vocabulary: over its tokens, or over the words that the
//! tokens form.

use std::sync::Arc;

use miriam_lmcpu::{LanguageModel, LmWord, State};

use super::{LmContext, TokenTexts};

/// The floor of the log-probability of a word (natural logarithm), as in Moses: models without
/// `<unk>` give unknown words probability 0.
pub(super) const MIN_LOG_PROBABILITY: f32 = -100.0;

/// An n-gram model with the words of a vocabulary.
pub(super) struct NgramModel {
    pub lm: Arc<dyn LanguageModel>,
    begin: State,
    pub end_of_sentence: LmWord,
    pub units: Units,
}

/// The units that the language model scores.
pub(super) enum Units {
    /// Tokens: the word of each in the language model, none for tokens that are not text.
    Pieces(Vec<Option<LmWord>>),
    /// Words, which are scored where they end.
    Words(TokenTexts),
}

impl NgramModel {
    pub fn new(lm: Arc<dyn LanguageModel>, units: Units) -> Self {
        let (begin, end_of_sentence) = (lm.begin_state(), lm.end_of_sentence());
        NgramModel { lm, begin, end_of_sentence, units }
    }

    /// Joins a model over tokens; `pieces` has the string of each token, `None` for tokens that are
    /// not text.
    pub fn over_pieces<'a>(
        lm: Arc<dyn LanguageModel>,
        pieces: impl Iterator<Item = Option<&'a [u8]>>,
    ) -> Self {
        let words = pieces.map(|piece| piece.map(|piece| lm.word_id(piece))).collect();
        NgramModel::new(lm, Units::Pieces(words))
    }

    /// Returns the context of an empty hypothesis.
    pub fn begin(&self) -> LmContext {
        LmContext { state: self.begin, ..LmContext::default() }
    }
}
