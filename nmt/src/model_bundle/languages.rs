//! The languages of a multilingual model, set by name.

use std::sync::Arc;

use super::{ModelBundle, SentenceMarks, TokenizerPair};
use crate::languages::{LanguageStyle, Languages};
use crate::segmentation::Segmentation;
use crate::{Error, Result};

/// CTranslate2's folders do not say which model they were made of; mBART-50 has 52 languages.
const MIN_CONVERTED_LANGUAGES: usize = 40;

impl ModelBundle {
    /// The languages that the vocabularies name; none if the model is not multilingual.
    pub fn languages(&self) -> Option<Languages> {
        let TokenizerPair { vocabularies: [source, target], .. } = self.tokenizers.as_ref()?;
        if Arc::ptr_eq(source, target) {
            return Languages::find(source, source);
        }
        Languages::find(source, target)
    }

    /// Sets the language of sources and that of translations, in any usual spelling (`deu_Latn`,
    /// `de`, `de_DE`, `__de__`, `<2de>`, `>>deu<<`). Their tokens are put before sentences and
    /// forced at the beginning of translations, as the model wants them, and EOS after sentences.
    ///
    /// # Errors
    /// If the model is not multilingual, does not have the language, or has no token for that of
    /// the source.
    pub fn set_languages(&mut self, from: Option<&str>, to: Option<&str>) -> Result<()> {
        if from.is_none() && to.is_none() {
            return Ok(());
        }
        let refuse = |reason: String| Error::unsupported(&self.path, reason);
        let Some(languages) = self.languages() else {
            let reason = match self.tokenizers {
                None => "without vocabularies no language is known; name them with --vocabs",
                Some(_) => {
                    "its vocabulary names no languages; a model of one pair of languages takes \
                     neither --from nor --to"
                }
            };
            return Err(refuse(reason.into()));
        };
        let resolve = |name: &str| languages.resolve(name).map_err(&refuse);
        let no_token = |side: &str| refuse(format!("the {side} vocabulary lacks that language"));
        let (mut bos_id, mut target_prefix) = (None, Vec::new());
        match languages.style {
            LanguageStyle::BothSides => {
                if let Some(name) = from {
                    bos_id = Some(resolve(name)?.source_id.ok_or_else(|| no_token("source"))?);
                }
                if let Some(name) = to {
                    target_prefix.push(resolve(name)?.target_id.ok_or_else(|| no_token("target"))?);
                }
            }
            LanguageStyle::TargetBeforeSource => {
                if let Some(name) = from {
                    let reason = format!(
                        "--from {name}: the model finds out the language of a text by itself; \
                         leave it out"
                    );
                    return Err(refuse(reason));
                }
                if let Some(name) = to {
                    bos_id = Some(resolve(name)?.source_id.ok_or_else(|| no_token("source"))?);
                }
            }
        }
        if let Some(tokenizers) = &mut self.tokenizers {
            if bos_id.is_some() {
                tokenizers.source_marks = SentenceMarks { bos_id, has_eos: true };
            }
            if to.is_some() && languages.style == LanguageStyle::BothSides {
                tokenizers.target_prefix = target_prefix;
            }
        }
        Ok(())
    }

    /// What must still be said of languages before text can be translated: the model forces that
    /// of the translation, or marks that of the source, and nobody has named it. Not for lines
    /// that are tokens already, which name languages by themselves.
    pub fn missing_languages(&self) -> Option<String> {
        let tokenizers = self.tokenizers.as_ref()?;
        if matches!(tokenizers.segmentation[0], Segmentation::Presegmented) {
            return None;
        }
        // Elsewhere tokens that look like languages may be typed as the beginning of lines.
        let from_hugging_face = self.format.contains("Hugging Face");
        let converted = self.format.contains("CTranslate2") && !self.format.contains("Argos");
        let is_known = |all: &Languages| {
            let few = all.tokens.len() < MIN_CONVERTED_LANGUAGES;
            all.style == LanguageStyle::BothSides && (from_hugging_face || !few)
        };
        if !from_hugging_face && !converted {
            return None;
        }
        let languages = self.languages().filter(is_known)?;
        let missing = [
            (tokenizers.source_marks.bos_id.is_none(), "--from, the language of the text"),
            (tokenizers.target_prefix.is_empty(), "--to, that of the translation"),
        ];
        let missing: Vec<&str> = missing
            .into_iter()
            .filter(|(is_missing, _)| *is_missing)
            .map(|(_, what)| what)
            .collect();
        (!missing.is_empty()).then(|| {
            format!(
                "{}: a multilingual model; add {} (one of: {})",
                self.path.display(),
                missing.join(", and "),
                languages.list()
            )
        })
    }
}
