//! Text processing of a translation system: preprocessing of raw text, and postprocessing of
//! translations.
//!
//! A system configures it in a small text file beside its `moses.ini`, one key and value per
//! line, with the names of `miriam translate`'s options:
//!
//! ```text
//! normalize de
//! tokenize de
//! nonbreaking-prefixes prefixes.de
//! truecase truecase.de
//! detokenize en
//! recase yes
//! target-truecase truecase.en
//! ```
//!
//! The keys that begin with `target-` prepare references for tuning. References are in the language
//! of `detokenize`.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::{
    Detokenizer, Error, NonbreakingPrefixes, PunctuationNormalizer, Result, Tokenizer,
    TruecaseModel, detruecase, text_file,
};

/// The steps of a [`TextProcessor`]; a step without a value is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextProcessorConfig {
    /// The language for punctuation normalisation.
    pub normalize: Option<String>,
    /// The language for tokenisation.
    pub tokenize: Option<String>,
    /// A list, in Moses' format, of words that keep the full stop after them. If it is `None`, the
    /// built-in list of the language is used.
    pub nonbreaking_prefixes: Option<PathBuf>,
    /// The truecase model of the source language.
    pub truecase: Option<PathBuf>,
    /// The language for detokenisation of translations.
    pub detokenize: Option<String>,
    /// Whether sentences of translations begin with a capital letter.
    pub recase: bool,
    /// The list of nonbreaking prefixes of the target language.
    pub target_nonbreaking_prefixes: Option<PathBuf>,
    /// The truecase model of the target language.
    pub target_truecase: Option<PathBuf>,
}

impl TextProcessorConfig {
    /// The name of the configuration file beside a system's `moses.ini`.
    pub const FILE_NAME: &'static str = "preparation";

    /// Returns the path of the configuration file for the system whose ini is `ini`; the file need
    /// not exist.
    pub fn path_beside(ini: &Path) -> PathBuf {
        ini.with_file_name(Self::FILE_NAME)
    }

    /// Reads a configuration file; relative paths in it are relative to the file's folder.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::Format`] for a malformed line.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = text_file::read_utf8(path)?;
        let mut settings = Self::from_text(&text, &file)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for file in settings.files_mut() {
            *file = folder.join(&*file);
        }
        Ok(settings)
    }

    /// Returns the files that the steps name.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let files = [
            &mut self.nonbreaking_prefixes,
            &mut self.truecase,
            &mut self.target_nonbreaking_prefixes,
            &mut self.target_truecase,
        ];
        files.into_iter().flatten()
    }

    /// Parses the text of a configuration file and leaves paths as they are; `file` is its
    /// name in error messages.
    ///
    /// # Errors
    /// [`Error::Format`] for a malformed line.
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
                return Err(failed("missing value; write it after the key and a space"));
            }
            match key {
                "normalize" => settings.normalize = Some(value.into()),
                "tokenize" => settings.tokenize = Some(value.into()),
                "detokenize" => settings.detokenize = Some(value.into()),
                "nonbreaking-prefixes" => settings.nonbreaking_prefixes = Some(value.into()),
                "truecase" => settings.truecase = Some(value.into()),
                "target-nonbreaking-prefixes" => {
                    settings.target_nonbreaking_prefixes = Some(value.into());
                }
                "target-truecase" => settings.target_truecase = Some(value.into()),
                "recase" => {
                    settings.recase = match value {
                        "yes" => true,
                        "no" => false,
                        _ => return Err(failed("expected yes or no")),
                    };
                }
                _ => {
                    let keys = "normalize, tokenize, nonbreaking-prefixes, truecase, detokenize, \
                                recase, target-nonbreaking-prefixes, target-truecase";
                    return Err(failed(&format!("unknown key; expected one of {keys}")));
                }
            }
        }
        Ok(settings)
    }

    /// Returns the configuration as text, which [`TextProcessorConfig::read`] reads.
    pub fn to_text(&self) -> String {
        let mut text = String::from("# Preparation of raw text for the system beside this file.\n");
        fn path(file: &Option<PathBuf>) -> Option<String> {
            file.as_ref().map(|file| file.display().to_string())
        }
        for (key, value) in [
            ("normalize", self.normalize.clone()),
            ("tokenize", self.tokenize.clone()),
            ("nonbreaking-prefixes", path(&self.nonbreaking_prefixes)),
            ("truecase", path(&self.truecase)),
            ("detokenize", self.detokenize.clone()),
            ("recase", self.recase.then(|| "yes".to_owned())),
            ("target-nonbreaking-prefixes", path(&self.target_nonbreaking_prefixes)),
            ("target-truecase", path(&self.target_truecase)),
        ] {
            if let Some(value) = value {
                let _ = writeln!(text, "{key} {value}");
            }
        }
        text
    }

    /// Returns the steps that give a reference the form of the system's output: tokens in true
    /// case. `None` if the target's language is not known, or if the source is truecased and the
    /// target's truecase model is not known.
    pub fn reference_config(&self) -> Option<Self> {
        if self.truecase.is_some() && self.target_truecase.is_none() {
            return None;
        }
        let language = self.detokenize.clone()?;
        Some(TextProcessorConfig {
            normalize: self.normalize.is_some().then(|| language.clone()),
            tokenize: Some(language),
            nonbreaking_prefixes: self.target_nonbreaking_prefixes.clone(),
            truecase: self.target_truecase.clone(),
            ..TextProcessorConfig::default()
        })
    }

    /// Builds the processor, which reads the truecase model and the list of nonbreaking prefixes.
    ///
    /// # Errors
    /// The errors of [`TruecaseModel::read`] and [`NonbreakingPrefixes::read`].
    pub fn build(&self) -> Result<TextProcessor> {
        let prefixes =
            self.nonbreaking_prefixes.as_deref().map(NonbreakingPrefixes::read).transpose()?;
        let tokenizer = |language: &str| match &prefixes {
            Some(prefixes) => Tokenizer::new(language).with_nonbreaking_prefixes(prefixes.clone()),
            None => Tokenizer::new(language),
        };
        Ok(TextProcessor {
            normalizer: self.normalize.as_deref().map(PunctuationNormalizer::new),
            tokenizer: self.tokenize.as_deref().map(tokenizer),
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
    /// Returns the steps for text of `language` before a truecaser is trained on it.
    pub fn for_language(language: &str) -> Self {
        TextProcessor {
            normalizer: Some(PunctuationNormalizer::new(language)),
            tokenizer: Some(Tokenizer::new(language)),
            ..Self::default()
        }
    }

    /// Replaces the list of words that keep the full stop after them.
    pub fn with_nonbreaking_prefixes(mut self, prefixes: NonbreakingPrefixes) -> Self {
        let tokenizer = self.tokenizer.take();
        self.tokenizer = tokenizer.map(|found| found.with_nonbreaking_prefixes(prefixes));
        self
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
            nonbreaking_prefixes: Some("prefixes.de".into()),
            truecase: Some("truecase model.de".into()),
            detokenize: Some("en".into()),
            recase: true,
            target_nonbreaking_prefixes: Some("prefixes.en".into()),
            target_truecase: Some("truecase.en".into()),
        };
        let text = settings.to_text();
        assert_eq!(TextProcessorConfig::from_text(&text, "test").unwrap(), settings);
        let none = TextProcessorConfig::default();
        assert_eq!(TextProcessorConfig::from_text(&none.to_text(), "test").unwrap(), none);
    }

    /// References are prepared with the language of `detokenize` and the files of the target.
    #[test]
    fn references_are_prepared_with_the_keys_of_the_target() {
        let text = "tokenize de\nnormalize de\ntruecase a\ndetokenize en\n";
        let known = format!("{text}target-truecase b\ntarget-nonbreaking-prefixes c\n");
        let settings = TextProcessorConfig::from_text(&known, "test").unwrap();
        let expected = "normalize en\ntokenize en\nnonbreaking-prefixes c\ntruecase b\n";
        let expected = TextProcessorConfig::from_text(expected, "test").unwrap();
        assert_eq!(settings.reference_config(), Some(expected));
        // Configurations of earlier versions do not name the target's truecase model.
        let unknown = TextProcessorConfig::from_text(text, "test").unwrap();
        assert_eq!(unknown.reference_config(), None);
    }

    #[test]
    fn listed_words_keep_their_full_stops() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("list"), "Bspw\nArt #NUMERIC_ONLY#\n").unwrap();
        let path = folder.path().join("preparation");
        std::fs::write(&path, "tokenize xx\nnonbreaking-prefixes list\n").unwrap();
        let processor = TextProcessorConfig::read(&path).unwrap().build().unwrap();
        let mut tokens = Vec::new();
        processor.preprocess("Bspw. Art. 5 und Mr. Art. Neu.".as_bytes(), &mut tokens);
        // By Moses' rules, with only this list.
        assert_eq!(tokens, b"Bspw. Art. 5 und Mr . Art . Neu .");
    }

    #[test]
    fn wrong_settings_are_named() {
        for (text, message) in [
            ("\nlowercase yes", "test, line 2: \"lowercase yes\": unknown key; expected"),
            ("tokenize", "test, line 1: \"tokenize\": missing value"),
            ("recase true", "test, line 1: \"recase true\": expected yes or no"),
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
