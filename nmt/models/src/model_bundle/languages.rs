//! Languages of a multilingual model: setting them by name, and what is still to be set.

use super::{BoundaryTokens, ModelBundle, TokenizerPair};
use crate::languages::{LanguagePairTokens, LanguageStyle, Languages};
use crate::segmentation::Segmentation;
use crate::vocabulary::PLACEHOLDER_PREFIX;
use crate::{Error, Result};

/// A converted model with fewer language tokens does not count as multilingual: CTranslate2's
/// folders do not name the original model, and few such tokens may come from text. mBART-50 has 52.
const MIN_CONVERTED_LANGUAGES: usize = 40;
/// The beginnings of tokens that are not text: T5's sentinels, and names of ids without a token, in
/// current and in older `.miriam` files.
const SPECIAL_PREFIXES: [&str; 3] = ["<extra_id_", PLACEHOLDER_PREFIX, "<no token has the id "];

impl BoundaryTokens {
    /// Sets the token before a sentence to that of `tokens` for the source, and adds EOS after the
    /// sentence; without such a token nothing changes.
    pub fn set_language(&mut self, tokens: LanguagePairTokens) {
        if tokens.source_first.is_some() {
            (self.bos_id, self.has_eos) = (tokens.source_first, true);
        }
    }
}

impl ModelBundle {
    /// Returns the languages that the vocabularies name; `None` if the model is not multilingual.
    pub fn languages(&self) -> Option<Languages> {
        let TokenizerPair { vocabularies: [source, target], .. } = self.tokenizers.as_ref()?;
        Languages::find(source, target)
    }

    /// Sets the languages of sources and translations, in any usual spelling (`deu_Latn`, `de`,
    /// `de_DE`, `__de__`, `<2de>`, `>>deu<<`). Their tokens are put before sentences or
    /// forced at the beginning of translations, as the model needs, and EOS is put after sentences.
    ///
    /// # Errors
    /// If the model is not multilingual, lacks a language or a token for it, or detects the
    /// language of the source although `from` names one.
    pub fn set_languages(&mut self, from: Option<&str>, to: Option<&str>) -> Result<()> {
        if from.is_none() && to.is_none() {
            return Ok(());
        }

        let Some(languages) = self.languages() else {
            let reason = match self.tokenizers {
                None => "the languages are unknown without vocabularies; name them with --vocabs",
                Some(_) => {
                    "its vocabulary names no languages; leave out --from and --to, which are for \
                     multilingual models"
                }
            };
            return Err(Error::unsupported(&self.path, reason));
        };
        if let (LanguageStyle::TargetBeforeSource, Some(name)) = (languages.style, from) {
            let reason = format!(
                "--from {name}: the model detects the language of a text by itself; leave it out"
            );
            return Err(Error::unsupported(&self.path, reason));
        }
        let tokens = languages
            .pair_tokens(from, to)
            .map_err(|reason| Error::unsupported(&self.path, reason))?;
        if let Some(tokenizers) = &mut self.tokenizers {
            tokenizers.source_boundary_tokens.set_language(tokens);
            if let Some(id) = tokens.target_first {
                tokenizers.target_prefix = vec![id];
            }
        }
        Ok(())
    }

    /// Returns the languages of a model that certainly needs a language token before the source and
    /// before the translation.
    fn both_side_languages(&self) -> Option<Languages> {
        // In other formats such tokens may be part of the text: users put them into the lines.
        let from_hugging_face = self.format.contains("Hugging Face");
        let converted = self.format.contains("CTranslate2") && !self.format.contains("Argos");
        let languages = (from_hugging_face || converted).then(|| self.languages());
        languages.flatten().filter(|all| {
            let is_certain = from_hugging_face || all.tokens.len() >= MIN_CONVERTED_LANGUAGES;
            all.style == LanguageStyle::BothSides && is_certain
        })
    }

    /// Whether the tokens of [`ModelBundle::languages`] are certainly languages.
    pub fn is_multilingual(&self) -> bool {
        let style = self.languages().map(|languages| languages.style);
        style == Some(LanguageStyle::TargetBeforeSource) || self.both_side_languages().is_some()
    }

    /// Returns the ids of target tokens that are not text, in ascending order: languages of
    /// M2M-100, NLLB and mBART, sentinels of T5, and ids without a token.
    pub fn special_target_ids(&self) -> Vec<u32> {
        let languages = self.both_side_languages();
        let languages = languages.iter().flat_map(|languages| &languages.tokens);
        let mut ids: Vec<u32> = languages.filter_map(|token| token.target_id).collect();
        if let Some(TokenizerPair { vocabularies: [_, target], segmentation: [_, pieces], .. }) =
            &self.tokenizers
            && matches!(pieces, Segmentation::SentencePiece(_))
        {
            let special = (0..).zip(target.iter()).filter(|(_, word)| {
                SPECIAL_PREFIXES.iter().any(|prefix| word.starts_with(prefix.as_bytes()))
            });
            ids.extend(special.map(|(id, _)| id));
        }
        ids.sort_unstable();
        ids
    }

    /// Whether a text must begin with the tag of the language of its translation: the model reads
    /// such a tag, and no language was set.
    pub fn needs_language_tags(&self) -> bool {
        let Some(tokenizers) = &self.tokenizers else { return false };
        let style = self.languages().map(|languages| languages.style);
        style == Some(LanguageStyle::TargetBeforeSource)
            && tokenizers.source_boundary_tokens.bos_id.is_none()
            && !matches!(tokenizers.segmentation[0], Segmentation::Presegmented)
    }

    /// Whether the language of the text, and that of the translation, must still be set. Neither
    /// must be set if lines are tokenised already, because such lines contain their languages.
    pub fn lacks_languages(&self) -> [bool; 2] {
        let Some(tokenizers) = &self.tokenizers else { return [false; 2] };
        let is_text = !matches!(tokenizers.segmentation[0], Segmentation::Presegmented);
        if !is_text || self.both_side_languages().is_none() {
            return [false; 2];
        }
        [tokenizers.source_boundary_tokens.bos_id.is_none(), tokenizers.target_prefix.is_empty()]
    }

    /// Returns an error message about the languages that must still be set, with the options of the
    /// command line that set them; `None` if none is missing.
    pub fn missing_languages(&self) -> Option<String> {
        let options = ["--from, the language of the text", "--to, the language to translate to"];
        let missing = self.lacks_languages().into_iter().zip(options);
        let missing: Vec<&str> =
            missing.filter(|(is_missing, _)| *is_missing).map(|(_, option)| option).collect();
        if missing.is_empty() {
            return None;
        }
        let languages = self.languages()?;
        Some(format!(
            "{}: the model is multilingual; add {} (one of: {})",
            self.path.display(),
            missing.join(", and "),
            languages.list()
        ))
    }
}
