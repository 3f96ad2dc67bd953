//! Languages of single requests: variants of a translator that share its weights, and the languages
//! that must be named before a text can be translated.

use std::sync::Arc;

use super::{Translator, max_sentence_length};
use crate::Result;
use miriam_nmt_models::{LanguagePairTokens, LanguageStyle, Languages};

impl Translator {
    /// Returns the languages that tokens of the vocabularies seem to name; `None` if there are no
    /// such tokens. [`is_multilingual`](Self::is_multilingual) says whether the tokens certainly
    /// name languages.
    pub fn languages(&self) -> Option<&Languages> {
        self.languages.as_deref()
    }

    /// Returns a translator of the same models for sentences whose languages have the tokens
    /// `tokens` ([`Languages::pair_tokens`]).
    ///
    /// # Errors
    /// If the model writes from right to left and `tokens` has a token with which translations must
    /// begin.
    pub fn for_languages(&self, tokens: LanguagePairTokens) -> Result<Translator> {
        if tokens.is_empty() {
            return Ok(self.clone());
        }
        let models = Arc::new(self.models.with_languages(tokens)?);
        let [source, target] = self.lacks_languages;
        Ok(Translator {
            max_length: max_sentence_length(&models, self.max_positions, &self.options),
            lacks_languages: [
                source && tokens.source_first.is_none(),
                target && tokens.target_first.is_none(),
            ],
            models,
            ..self.clone()
        })
    }

    /// Returns whether a request must name the language of `text`, and whether it must name the
    /// language of the translation. The second need not be named if the model reads it before the
    /// source and `text` begins with its tag, such as `>>fra<<`.
    pub fn missing_languages(&self, text: &[u8]) -> [bool; 2] {
        let [lacks_source, lacks_target] = self.lacks_languages;
        [lacks_source, lacks_target || self.models.tokenizers()[0].lacks_tag(text)]
    }

    /// Whether the model certainly has several languages. If not, the words that
    /// [`languages`](Self::languages) returns may only look like names of languages.
    pub fn is_multilingual(&self) -> bool {
        self.is_multilingual
    }

    /// Whether the model needs only the language of the translation, and detects the language of
    /// the source.
    pub fn detects_source_language(&self) -> bool {
        self.languages().is_some_and(|all| all.style == LanguageStyle::TargetBeforeSource)
    }
}
