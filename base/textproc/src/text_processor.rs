//! The whole text processing of a translation system: preprocessing of raw text before
//! translation, postprocessing of translations.
//!
//! A system configures it in a small text file beside its `moses.ini`, a key and a value a
//! line, with the names of `miriam translate`'s options:
//!
//! ```text
//! normalize de
//! tokenize de
//! truecase truecase.de
//! detokenize en
//! recase yes
//! ```

use std::borrow::Cow;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::{
    Detokenizer, Error, PunctuationNormalizer, Result, Tokenizer, TruecaseModel, detruecase,
    text_file,
};

/// The steps of a [`TextProcessor`]; a step without a value is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextProcessorConfig {
    /// The language for punctuation normalisation.
    pub normalize: Option<String>,
    /// The language for tokenisation.
    pub tokenize: Option<String>,
    /// The truecase model of the source language.
    pub truecase: Option<PathBuf>,
    /// The language for detokenisation of translations.
    pub detokenize: Option<String>,
    /// Whether sentences of translations begin with a capital letter.
    pub recase: bool,
}

impl TextProcessorConfig {
    /// The name of the configuration file beside a system's `moses.ini`.
    pub const FILE_NAME: &'static str = "preparation";

    /// Reads a configuration file; relative paths in it are relative to the file's folder.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::Format`] for a line that
    /// is malformed.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = text_file::read_utf8(path)?;
        let mut settings = Self::from_text(&text, &file)?;
        if let (Some(model), Some(folder)) = (&mut settings.truecase, path.parent()) {
            *model = folder.join(&model);
        }
        Ok(settings)
    }

    /// Parses the text of a configuration file and leaves paths as they are; `file` is its
    /// name in error messages.
    ///
    /// # Errors
    /// [`Error::Format`] for a line that is malformed.
    pub fn from_text(text: &str, file: &str) -> Result<Self> {
        let mut settings = TextProcessorConfig::default();
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let failed = |reason: &str| Error::format(file, i + 1, format!("{line:?}: {reason}"));
            let (key, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let value = value.trim();
            if value.is_empty() {
                return Err(failed("a value is missing; write it after the key and a space"));
            }
            let language = match key {
                "normalize" => &mut settings.normalize,
                "tokenize" => &mut settings.tokenize,
                "detokenize" => &mut settings.detokenize,
                "truecase" => {
                    settings.truecase = Some(value.into());
                    continue;
                }
                "recase" => {
                    settings.recase = match value {
                        "yes" => true,
                        "no" => false,
                        _ => return Err(failed("it takes yes or no")),
                    };
                    continue;
                }
                _ => {
                    let keys = "normalize, tokenize, truecase, detokenize and recase";
                    return Err(failed(&format!("there are the keys {keys}")));
                }
            };
            *language = Some(value.to_owned());
        }
        Ok(settings)
    }

    /// The configuration as text, which [`TextProcessorConfig::read`] reads.
    pub fn to_text(&self) -> String {
        let mut text =
            String::from("# How raw text is prepared for the system beside this file.\n");
        let truecase = self.truecase.as_ref().map(|model| model.display().to_string());
        for (key, value) in [
            ("normalize", &self.normalize),
            ("tokenize", &self.tokenize),
            ("truecase", &truecase),
            ("detokenize", &self.detokenize),
        ] {
            if let Some(value) = value {
                let _ = writeln!(text, "{key} {value}");
            }
        }
        if self.recase {
            text.push_str("recase yes\n");
        }
        text
    }

    /// Builds the processor, which reads the truecase model.
    ///
    /// # Errors
    /// Those of [`TruecaseModel::read`].
    pub fn build(&self) -> Result<TextProcessor> {
        Ok(TextProcessor {
            normalizer: self.normalize.as_deref().map(PunctuationNormalizer::new),
            tokenizer: self.tokenize.as_deref().map(Tokenizer::new),
            truecaser: self.truecase.as_deref().map(TruecaseModel::read).transpose()?,
            detokenizer: self.detokenize.as_deref().map(Detokenizer::new),
            recase: self.recase,
        })
    }
}

/// The steps from raw text to a system's input, and from its output to plain text.
///
/// # Examples
/// ```
/// use miriam_textproc::TextProcessorConfig;
///
/// let config = TextProcessorConfig::from_text("tokenize de\ndetokenize en\nrecase yes", "example")?;
/// let processor = config.build()?;
/// let (mut input, mut text) = (Vec::new(), Vec::new());
/// processor.preprocess("das Haus ist klein.".as_bytes(), &mut input);
/// assert_eq!(input, b"das Haus ist klein .");
/// processor.postprocess(b"the house is small .", &mut text);
/// assert_eq!(text, b"The house is small.");
/// # Ok::<(), miriam_textproc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TextProcessor {
    /// The first preprocessing step.
    pub normalizer: Option<PunctuationNormalizer>,
    /// The second preprocessing step.
    pub tokenizer: Option<Tokenizer>,
    /// The last preprocessing step.
    pub truecaser: Option<TruecaseModel>,
    /// The last postprocessing step.
    pub detokenizer: Option<Detokenizer>,
    /// Whether sentences of translations get a capital letter before detokenisation.
    pub recase: bool,
}

impl TextProcessor {
    /// The steps that text of `language` goes through before a truecaser is trained on it.
    pub fn for_language(language: &str) -> Self {
        TextProcessor {
            normalizer: Some(PunctuationNormalizer::new(language)),
            tokenizer: Some(Tokenizer::new(language)),
            ..Self::default()
        }
    }

    /// Normalises, tokenises and truecases a raw line and appends the result, a system's
    /// input, to `out`.
    pub fn preprocess(&self, line: &[u8], out: &mut Vec<u8>) {
        let mut line = Cow::Borrowed(line);
        if let Some(normalizer) = &self.normalizer {
            line = run_step(|out| normalizer.normalize(&line, out));
        }
        if let Some(tokenizer) = &self.tokenizer {
            line = run_step(|out| tokenizer.tokenize(&line, out));
        }
        match &self.truecaser {
            Some(model) => model.truecase(&line, out),
            None => out.extend_from_slice(&line),
        }
    }

    /// Recases and detokenises a system's output and appends the plain text to `out`.
    pub fn postprocess(&self, line: &[u8], out: &mut Vec<u8>) {
        let mut line = Cow::Borrowed(line);
        if self.recase {
            line = run_step(|out| detruecase(&line, out));
        }
        match &self.detokenizer {
            Some(detokenizer) => detokenizer.detokenize(&line, out),
            None => out.extend_from_slice(&line),
        }
    }
}

fn run_step(make: impl FnOnce(&mut Vec<u8>)) -> Cow<'static, [u8]> {
    let mut out = Vec::new();
    make(&mut out);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_are_written() {
        let settings = TextProcessorConfig {
            normalize: Some("de".into()),
            tokenize: Some("de".into()),
            truecase: Some("truecase model.de".into()),
            detokenize: Some("en".into()),
            recase: true,
        };
        let text = settings.to_text();
        assert_eq!(TextProcessorConfig::from_text(&text, "test").unwrap(), settings);
        let none = TextProcessorConfig::default();
        assert_eq!(TextProcessorConfig::from_text(&none.to_text(), "test").unwrap(), none);
    }

    #[test]
    fn wrong_settings_are_named() {
        for (text, message) in [
            ("\nlowercase yes", "test, line 2: \"lowercase yes\": there are the keys"),
            ("tokenize", "test, line 1: \"tokenize\": a value is missing"),
            ("recase true", "test, line 1: \"recase true\": it takes yes or no"),
        ] {
            let error = TextProcessorConfig::from_text(text, "test").unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn raw_text_round_trips() {
        let model = TruecaseModel::from_text(b"the (1/1)\n", "test").unwrap();
        let mut processor = TextProcessor::for_language("en");
        processor.truecaser = Some(model);
        processor.detokenizer = Some(Detokenizer::new("en"));
        processor.recase = true;
        let (mut tokens, mut text) = (Vec::new(), Vec::new());
        processor.preprocess("The “dog’s” [big].".as_bytes(), &mut tokens);
        assert_eq!(tokens, b"the &quot; dog &apos;s &quot; &#91; big &#93; .");
        processor.postprocess(&tokens, &mut text);
        assert_eq!(text, b"The \"dog's\" [big].");
    }
}
