//! The tokens that tell a model the languages of a sentence: set for all sentences when a model is
//! opened, or for one request by a server.

use super::{LanguageStyle, Languages};

/// The tokens that tell a model the languages of a sentence. Without tokens the model keeps its own
/// languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LanguagePairTokens {
    /// The id of the token before the source: the language of the source or, in some models, the
    /// language of the translation.
    pub source_first: Option<u32>,
    /// The id of the token that the translation is forced to begin with.
    pub target_first: Option<u32>,
}

impl LanguagePairTokens {
    /// Whether the model's own languages are kept.
    pub fn is_empty(self) -> bool {
        self == LanguagePairTokens::default()
    }
}

impl Languages {
    /// Returns the tokens of a pair of languages, each in any usual spelling. Models that need only
    /// the language of the translation detect the source language, so `from` is ignored for them.
    ///
    /// ```
    /// use std::path::Path;
    /// use miriam_nmt_models::{LanguagePairTokens, ModelBundle};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let bundle = ModelBundle::open(Path::new("../testdata/hf-nllb"), None)?;
    /// let languages = bundle.languages().ok_or("not multilingual")?;
    /// let id = |name| languages.resolve(name).map(|language| language.source_id);
    /// let tokens = LanguagePairTokens { source_first: id("eng_Latn")?, target_first: id("spa_Latn")? };
    /// assert_eq!(languages.pair_tokens(Some("en"), Some("es"))?, tokens);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the model lacks a language, a name fits several languages, or the vocabulary of a side
    /// has no token for its language.
    pub fn pair_tokens(
        &self,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Result<LanguagePairTokens, String> {
        let (source, target) = match self.style {
            LanguageStyle::BothSides => (from, to),
            LanguageStyle::TargetBeforeSource => (to, None),
        };
        Ok(LanguagePairTokens {
            source_first: source.map(|name| self.source_id(name)).transpose()?,
            target_first: target.map(|name| self.target_id(name)).transpose()?,
        })
    }

    fn source_id(&self, name: &str) -> Result<u32, String> {
        let id = self.resolve(name)?.source_id;
        id.ok_or_else(|| format!("the source vocabulary lacks {name}"))
    }

    fn target_id(&self, name: &str) -> Result<u32, String> {
        let id = self.resolve(name)?.target_id;
        id.ok_or_else(|| format!("the target vocabulary lacks {name}"))
    }
}
