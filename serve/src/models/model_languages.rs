//! Languages of a neural model. The languages of the configuration are checked against the model's
//! own, and give the language tokens of requests.

use std::sync::Arc;

use miriam_nmt::translate::Translator;
use miriam_nmt::{LanguagePairTokens, LanguageStyle, Languages};

use crate::config::ModelConfiguration;
use crate::engine::Sentence;

/// The languages of a neural model.
pub(super) struct ModelLanguages {
    translator: Arc<Translator>,
    /// The source languages that requests choose from; empty if the model needs no source token.
    from: Vec<NamedLanguage>,
    /// The same for the target.
    to: Vec<NamedLanguage>,
    /// Whether every source begins with a token of the configuration.
    has_prefix_token: bool,
}

/// A language of the configuration.
struct NamedLanguage {
    name: String,
    /// Its code as the model spells it.
    code: String,
}

impl ModelLanguages {
    /// Checks the languages of `configuration` against a loaded model.
    ///
    /// # Errors
    /// If the model does not know one of the languages, has no tokens to choose among several, or
    /// needs a language that the configuration does not name.
    pub fn new(
        configuration: &ModelConfiguration,
        translator: &Arc<Translator>,
    ) -> Result<Self, String> {
        let ModelConfiguration { from, to, prefix_token, .. } = configuration;
        let mut all = ModelLanguages {
            translator: Arc::clone(translator),
            from: Vec::new(),
            to: Vec::new(),
            has_prefix_token: prefix_token.is_some(),
        };
        let [lacks_source, lacks_target] = translator.missing_languages(b"");
        let known = translator.languages();
        if let Some(token) = prefix_token.as_deref() {
            check_prefix_token(token, to, translator)?;
        }
        let Some(known) = known.filter(|_| prefix_token.is_none() || lacks_source || lacks_target)
        else {
            if to.len() > 1 {
                return Err(format!(
                    "to has {} languages, but the model cannot be told which of them to use: its \
                     vocabularies have no tokens of languages; give the one that it translates to",
                    to.len()
                ));
            }
            return Ok(all);
        };
        match known.style {
            LanguageStyle::TargetBeforeSource => all.to = resolve(known, "to", to)?,
            LanguageStyle::BothSides => {
                let found = resolve(known, "from", from)
                    .and_then(|from| Ok((from, resolve(known, "to", to)?)));
                match found {
                    Ok(found) => (all.from, all.to) = found,
                    // Words in the vocabulary of a bilingual model may look like language tokens.
                    Err(_) if !translator.is_multilingual() && from.len() <= 1 && to.len() <= 1 => {
                    }
                    Err(reason) => return Err(reason),
                }
                let missing = [
                    (lacks_source && from.is_empty(), "from"),
                    (lacks_target && to.is_empty(), "to"),
                ];
                let missing = missing.into_iter().filter(|(is_missing, _)| *is_missing);
                let missing: Vec<&str> = missing.map(|(_, side)| side).collect();
                if !missing.is_empty() {
                    let missing = missing.join(" and ");
                    let list = known.list();
                    return Err(format!(
                        "the model is multilingual; give {missing} (one of: {list})"
                    ));
                }
            }
        }
        Ok(all)
    }

    /// Returns the language tokens of a request.
    ///
    /// # Errors
    /// If a language must be named and is not.
    pub fn pair_tokens(
        &self,
        from: Option<&str>,
        to: Option<&str>,
        sentences: &[Sentence],
    ) -> Result<LanguagePairTokens, String> {
        let [from, to] = self.codes(from, to);
        fn unnamed(side: &str, known: &[NamedLanguage]) -> String {
            let names: Vec<&str> = known.iter().map(|language| &*language.name).collect();
            format!("name the {side} language, one of: {}", names.join(" "))
        }
        if from.is_none() && !self.from.is_empty() {
            return Err(unnamed("source", &self.from));
        }
        if to.is_none() && !self.has_prefix_token {
            let is_named = self.to.is_empty() || self.translator.detects_source_language();
            if !is_named
                || sentences
                    .iter()
                    .any(|sentence| self.translator.missing_languages(&sentence.text)[1])
            {
                return Err(match (&self.to[..], self.translator.languages()) {
                    ([], Some(known)) => format!(
                        "begin each text with the tag of its target language, such as >>fra<< or \
                         <2fr>, or name to in the configuration (one of: {})",
                        known.list()
                    ),
                    _ => unnamed("target", &self.to),
                });
            }
        }
        let known = self.translator.languages();
        known.map_or(Ok(LanguagePairTokens::default()), |known| known.pair_tokens(from, to))
    }

    /// Returns the model's codes for the source and target language of a request; `None` for a
    /// language that the model does not need, or that the request does not determine.
    pub fn codes(&self, from: Option<&str>, to: Option<&str>) -> [Option<&str>; 2] {
        [code(&self.from, from), code(&self.to, to)]
    }

    /// Returns the tokens of the first pair. The tokens of every other pair make a sentence equally
    /// long.
    pub fn first_pair_tokens(&self) -> LanguagePairTokens {
        fn first(side: &[NamedLanguage]) -> Option<String> {
            side.first().map(|language| language.code.clone())
        }
        let (from, to) = (first(&self.from), first(&self.to));
        let known = self.translator.languages();
        // The languages were found when the model was opened.
        known
            .and_then(|known| known.pair_tokens(from.as_deref(), to.as_deref()).ok())
            .unwrap_or_default()
    }

    /// Describes the languages for people: `en=eng_Latn de=deu_Latn to es=spa_Latn`.
    pub fn describe(&self, configuration: &ModelConfiguration) -> String {
        fn list(side: &[NamedLanguage]) -> String {
            side.iter()
                .map(|one| format!("{}={}", one.name, one.code))
                .collect::<Vec<_>>()
                .join(" ")
        }
        match (&self.from[..], &self.to[..], self.translator.languages()) {
            ([], [], Some(known)) if self.names_by_tags(known) => {
                format!("named by a tag at the beginning of each text, of: {}", known.list())
            }
            ([], [], _) if configuration.from.is_empty() && configuration.to.is_empty() => {
                "not named".to_owned()
            }
            ([], [], _) => {
                let names = [&configuration.from, &configuration.to].map(|names| names.join(" "));
                format!("{} to {}, which the model does not name", names[0], names[1])
            }
            ([], to, _) => format!("{} to {}", configuration.from.join(" "), list(to)),
            (from, to, _) => format!("{} to {}", list(from), list(to)),
        }
    }

    fn names_by_tags(&self, known: &Languages) -> bool {
        !self.has_prefix_token && known.style == LanguageStyle::TargetBeforeSource
    }
}

/// Finds the languages of one side of the configuration among those of a model, `known`.
fn resolve(known: &Languages, side: &str, names: &[String]) -> Result<Vec<NamedLanguage>, String> {
    let found = names.iter().map(|name| {
        let token = known.resolve(name)?;
        known.pair_tokens(Some(name), Some(name))?;
        Ok(NamedLanguage { name: name.clone(), code: token.code.clone() })
    });
    found.collect::<Result<_, String>>().map_err(|reason| format!("{side}: {reason}"))
}

/// Returns the code of the language `name`, or of the only language of the side.
fn code<'a>(side: &'a [NamedLanguage], name: Option<&str>) -> Option<&'a str> {
    let found = match name {
        Some(name) => {
            // The route may have another model's spelling of the name.
            let found = super::languages::find(name, side.iter().map(|one| &*one.name))?;
            side.iter().find(|one| &*one.name == found)?
        }
        None => match side {
            [only] => only,
            _ => return None,
        },
    };
    Some(&found.code)
}

/// Checks a token of the configuration that begins every source.
fn check_prefix_token(token: &str, to: &[String], translator: &Translator) -> Result<(), String> {
    let Some(known) = translator.languages().filter(|_| !token.is_empty()) else { return Ok(()) };
    if known.style == LanguageStyle::BothSides {
        let reason =
            "prefix-token: this model is told both languages, by from and to; leave it out";
        return Err(reason.into());
    }
    if to.len() > 1 {
        return Err(format!(
            "prefix-token {token} is one language, and to has {}; leave prefix-token out: the \
             model is told the language of each request",
            to.len()
        ));
    }
    if translator.missing_languages(format!("{token} a").as_bytes())[1] {
        let list = known.list();
        return Err(format!("prefix-token {token}: the vocabulary lacks it (it has: {list})"));
    }
    Ok(())
}
