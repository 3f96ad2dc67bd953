//! Language models in the server. Scores of lines and next words do not wait in the queue of
//! translations.

use std::path::Path;
use std::sync::Arc;

use miriam_lmcpu::line_scoring::{SentenceMarkers, walk_sentence};
use miriam_lmcpu::next_word::{check_words, most_probable};
use miriam_lmcpu::{ArpaOptions, LanguageModel as Model, OpenOptions};
use miriam_storage::LoadMethod;
use miriam_textio::NoProgress;

use crate::{Error, Result};

/// A language model.
pub struct LanguageModel(Arc<dyn Model>);

/// The score of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineScore {
    /// log10 of the probability of the line, summed in f32 in the order of words.
    pub log10: f32,
    /// The number of scored words, including `</s>`.
    pub tokens: usize,
    /// The number of unknown words.
    pub oovs: usize,
}

impl LineScore {
    /// Returns the perplexity of the line.
    pub fn perplexity(&self) -> f64 {
        10f64.powf(-(f64::from(self.log10) / self.tokens as f64))
    }
}

impl LanguageModel {
    /// Opens the model at `path`; `arpa` are the options for ARPA text.
    ///
    /// # Errors
    /// If it cannot be read or is not a language model.
    pub fn open(path: &Path, arpa: ArpaOptions) -> Result<Self> {
        let options = OpenOptions { load: LoadMethod::Lazy, arpa };
        let opened = miriam_glm::open(path, options, &NoProgress);
        opened.map(LanguageModel).map_err(|error| Error::Model(error.to_string()))
    }

    /// Returns the length of the longest n-grams of the model.
    pub fn order(&self) -> usize {
        self.0.order()
    }

    /// Scores a line between `<s>` and `</s>`.
    pub fn score(&self, line: &[u8]) -> LineScore {
        let mut score = LineScore { log10: 0.0, tokens: 0, oovs: 0 };
        walk_sentence(&*self.0, line, SentenceMarkers::BOTH, |is_unknown, log10, _| {
            score.log10 += log10;
            score.tokens += 1;
            score.oovs += usize::from(is_unknown);
        });
        score
    }

    /// Checks that the file of the model contains its words, not only their hashes. `name` is the
    /// name of the model in the error.
    ///
    /// # Errors
    /// If it does not contain them.
    pub fn check_words(&self, name: &str) -> Result<()> {
        let checked = check_words(&*self.0, &format!("model {name}"));
        checked.map_err(|error| Error::Model(error.to_string()))
    }

    /// Returns the `count` most probable words after `context`, the beginning of a sentence, with
    /// log10 of their probabilities. Equally probable words are in the order of their ids; `<s>` is
    /// never among them.
    pub fn next_words(&self, context: &[u8], count: usize) -> Vec<(Vec<u8>, f32)> {
        let found = most_probable(&*self.0, context, true, count).into_iter();
        found.map(|(id, log10)| (self.0.word(id).unwrap_or_default().to_vec(), log10.0)).collect()
    }
}
