//! Options of text that is not one sentence per line: running text and HTML.

use std::path::{Path, PathBuf};

use clap::Args;
use miriam_nmt::translate::{LineFormat, TranslationOptions};
use miriam_nmt::{ModelBundle, language_code};
use miriam_textproc::{LanguageDetector, NonbreakingPrefixes, SentenceSplitter};

use crate::commands::textproc::warn_if_unknown_language;
use crate::common::exit_with_usage_error;

/// Options of running text and HTML, for translation only.
#[derive(Args)]
#[command(next_help_heading = "Text")]
pub struct RunningTextArguments {
    /// Translate running text: split each line, a paragraph, into sentences, translate them and
    /// join the translations with the original white space
    #[arg(long, conflicts_with_all = ["html", "input_form", "tsv", "force_decode"])]
    split: bool,
    /// Translate the text of an HTML page, which is the whole input. Tags surround the aligned
    /// words, everything else is unchanged. Needs a model with attention
    #[arg(long, conflicts_with_all = ["input_form", "tsv", "force_decode"])]
    html: bool,
    /// The language of the text, for its abbreviations, with --split, --html and lines that are too
    /// long [that of --from, or in the model's name]
    #[arg(long, value_name = "LANG")]
    source_language: Option<String>,
    /// A file of nonbreaking prefixes in Moses' form, instead of the built-in list of the language
    #[arg(long, value_name = "FILE", conflicts_with = "source_language")]
    nonbreaking_prefixes: Option<PathBuf>,
}

impl RunningTextArguments {
    /// Whether the text is not one sentence per line.
    pub fn is_given(&self) -> bool {
        self.split || self.html
    }

    /// Sets the format of the input. Exits if other options contradict it.
    pub fn apply(&self, options: &mut TranslationOptions) {
        options.input.format = match (self.split, self.html) {
            (true, _) => LineFormat::RunningText,
            (_, true) => LineFormat::Html,
            _ => return,
        };
        let output = &options.output;
        let name = if self.html { "--html" } else { "--split" };
        let refused = [
            (output.n_best, "--n-best", "--no-n-best"),
            (output.alignment.is_some(), "--alignment", "--no-alignment"),
            (output.word_scores, "--word-scores", "--no-word-scores"),
            (output.as_pieces, "--no-spm-decode", ""),
            (options.input.is_tokenized, "--no-spm-encode", ""),
        ];
        if let Some((_, option, no)) = refused.iter().find(|(is_set, ..)| *is_set) {
            let remedy = match *no {
                "" => "leave one of them out".to_owned(),
                no => format!("leave one of them out, or give {no} if a configuration has it"),
            };
            exit_with_usage_error(format!(
                "{option} applies to lines, but {name} joins the sentences of a text: {remedy}; \
                 miriam split writes one sentence per line"
            ));
        }
    }

    /// Returns the splitter for the language of the text, and the source of its abbreviations: a
    /// language, or a file. `from` is the source language of the model, if it was given.
    ///
    /// # Errors
    /// If a list of nonbreaking prefixes cannot be read.
    pub fn splitter(
        &self,
        bundle: &ModelBundle,
        from: Option<&str>,
    ) -> miriam_textproc::Result<(SentenceSplitter, String)> {
        let named = self.source_language.clone().or_else(|| from.and_then(language_code));
        let known = named.or_else(|| {
            let path = std::path::absolute(&bundle.path).unwrap_or_else(|_| bundle.path.clone());
            bundle.files.iter().chain([&path]).find_map(|path| source_language_in_name(path))
        });
        if let Some(file) = &self.nonbreaking_prefixes {
            let language = known.unwrap_or_default();
            let prefixes = NonbreakingPrefixes::read(file)?;
            let splitter = SentenceSplitter::with_prefixes(&language, prefixes);
            return Ok((splitter, file.display().to_string()));
        }
        if self.is_given() || self.source_language.is_some() {
            match &known {
                Some(language) => warn_if_unknown_language(language),
                None => tracing::warn!(
                    "the language of the text is not known, so English abbreviations do not end \
                     sentences; --source-language (or --from, where the model takes it) \
                     names another"
                ),
            }
        }
        let language = known.unwrap_or_else(|| "en".into());
        Ok((SentenceSplitter::new(&language), language))
    }
}

/// Finds the source language in the name of a model: two codes of two letters, as in the names of
/// OPUS-MT (`opus-mt-de-en`), Argos (`translate-fr_en`) and browsers (`model.deen.intgemm.bin`).
fn source_language_in_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    fn is_code(code: &str) -> bool {
        code.len() == 2 && LanguageDetector::new([code]).unknown_codes().next().is_none()
    }
    if let Some(rest) = name.strip_prefix("model.") {
        let pair = rest.split('.').next().filter(|pair| pair.len() == 4 && pair.is_ascii())?;
        let (source, target) = pair.split_at(2);
        return (is_code(source) && is_code(target)).then(|| source.to_owned());
    }
    let parts: Vec<&str> = name.split(['-', '_', '.']).collect();
    // In `opus-mt` the second part is not Maltese.
    let is_program = |at: usize| at > 0 && parts[at - 1..=at] == ["opus", "mt"];
    let mut places = 1..parts.len();
    let second =
        places.find(|&at| !is_program(at - 1) && is_code(parts[at - 1]) && is_code(parts[at]))?;
    Some(parts[second - 1].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_read_from_names_of_models() {
        let found = |name: &str| source_language_in_name(Path::new(name));
        assert_eq!(found("/models/opus-mt-de-en").as_deref(), Some("de"));
        assert_eq!(found("opus-mt-mt-en").as_deref(), Some("mt"));
        assert_eq!(found("opus_mt_de_en").as_deref(), Some("de"));
        assert_eq!(found("ct2-opus-mt-fr-en").as_deref(), Some("fr"));
        assert_eq!(found("translate-fr_en-1_9").as_deref(), Some("fr"));
        assert_eq!(found("x/model.csen.intgemm.alphas.bin").as_deref(), Some("cs"));
        for none in ["model.npz", "model.xxyy.bin", "toy-neural", "opus-mt-mul-en", "de"] {
            assert_eq!(found(none), None, "{none}");
        }
    }
}
