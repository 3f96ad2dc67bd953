//! A language model joined to the vocabulary.

use std::path::Path;
use std::sync::Arc;

use miriam_lmcpu::{LanguageModel, LmWord, OpenOptions, read_keeping_first};
use miriam_textio::{Progress, Vocabulary};

use crate::Result;
use crate::factors::FactorScheme;

/// A language model joined to the vocabulary.
pub(crate) struct JoinedLanguageModel {
    pub(crate) model: Arc<dyn LanguageModel>,
    /// Its id of `<s>`.
    pub(crate) begin_sentence: LmWord,
    /// The model's id of each word of the vocabulary.
    pub(crate) word_ids: Vec<LmWord>,
    /// Whether its probabilities are known to be 1 at most.
    pub(crate) is_bounded: bool,
    /// The factor of target words that it scores.
    factor: usize,
}

impl JoinedLanguageModel {
    /// Opens the model at `path`, which scores the factor `factor`. The first of two equal n-grams
    /// in ARPA text is kept, as in Moses.
    pub(crate) fn open(
        path: &Path,
        options: OpenOptions,
        factor: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let OpenOptions { load, arpa } = options;
        let model = read_keeping_first(path, arpa, |arpa| {
            miriam_glm::open(path, OpenOptions { load, arpa }, progress)
        })?;
        let begin_sentence = model.word_id(b"<s>");
        Ok(JoinedLanguageModel {
            model,
            begin_sentence,
            word_ids: Vec::new(),
            is_bounded: false,
            factor,
        })
    }

    /// Looks up all words of `vocabulary`, in batches that overlap memory accesses.
    pub(crate) fn join(&mut self, vocabulary: &Vocabulary) {
        const BATCH: usize = 1024;
        self.word_ids = vec![LmWord::UNKNOWN; vocabulary.len()];
        let (mut text, mut spans) = (Vec::new(), Vec::new());
        let mut words = vocabulary.iter();
        for ids in self.word_ids.chunks_mut(BATCH) {
            text.clear();
            spans.clear();
            for word in words.by_ref().take(BATCH) {
                let start = text.len() as u32;
                text.extend_from_slice(word);
                spans.push((start, text.len() as u32));
            }
            self.model.word_ids(&text, &spans, ids);
        }
    }

    /// Returns the model's id of `word`; a word without the model's factor is unknown.
    pub(crate) fn word_id(&self, word: &[u8], factors: Option<&FactorScheme>) -> LmWord {
        match factors {
            None => self.model.word_id(word),
            Some(scheme) => match scheme.factor(word, self.factor) {
                Some(factor) => self.model.word_id(factor),
                None => LmWord::UNKNOWN,
            },
        }
    }
}
