//! Raw text through `miriam translate`: the steps before and after translation, from the
//! command line and from the file beside the ini.

use std::fmt::Write;
use std::io::Read;
use std::path::PathBuf;

use anyhow::anyhow;
use miriam_decoder::{Configuration, Error, LineProcessor, SegmentedFormat};
use miriam_textio::Input;
use miriam_textproc::{
    NonbreakingPrefixes, SentenceSplitter, TextProcessor, TextProcessorConfig, TokenizationSample,
};

/// The options of raw text, as given.
#[derive(Default)]
pub struct RawTextOptions {
    /// Whether to read the file beside the ini; `None` reads it if it exists.
    reads_file: Option<bool>,
    given: TextProcessorConfig,
    pub running_text: RunningTextOptions,
}

/// Options of text that is not one sentence per line, as given.
#[derive(Default, PartialEq)]
pub struct RunningTextOptions {
    splits: bool,
    is_html: bool,
    source_language: Option<String>,
}

/// An option of raw text, as help texts, completions and manual pages describe it.
pub struct RawTextOption {
    pub name: &'static str,
    /// The kind of its value; empty if it has none.
    pub value: &'static str,
    pub help: &'static str,
}

const fn option(name: &'static str, value: &'static str, help: &'static str) -> RawTextOption {
    RawTextOption { name, value, help }
}

/// All options of raw text, in the order of the help text.
pub const OPTIONS: &[RawTextOption] = &[
    option(
        "raw",
        "",
        "use the steps in the file `preparation` beside the ini, except those given here; the \
         default if there is such a file",
    ),
    option("no-raw", "", "the input is already prepared: use only the steps given here"),
    option("normalize", "LANG", "make punctuation uniform, as miriam normalize"),
    option("tokenize", "LANG", "make tokens, as miriam tokenize"),
    option(
        "nonbreaking-prefixes",
        "FILE",
        "words that keep their full stop, in Moses' form, for -tokenize, -split and -html",
    ),
    option("truecase", "MODEL", "restore true case, as miriam truecase"),
    option("detokenize", "LANG", "join translations, as miriam detokenize"),
    option("recase", "", "begin sentences of translations with a capital letter"),
    option(
        "split",
        "",
        "split each line into sentences, translate them, and join them with the original white \
         space",
    ),
    option("html", "", "translate the text of an HTML page; tags surround the aligned words"),
    option(
        "source-language",
        "LANG",
        "the language of abbreviations [that of -tokenize or -normalize]",
    ),
];

/// Returns the part of the help text that lists the options of raw text.
pub fn help_text() -> String {
    /// The width of the column of descriptions.
    const WIDTH: usize = 49;
    let mut text = String::from(
        "Raw text; only translations are detokenised, other outputs contain tokens:\n",
    );
    for RawTextOption { name, value, help } in OPTIONS {
        let mut head = format!("-{name} {value}");
        let mut line = String::new();
        for word in help.split(' ') {
            if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
                push_help_line(&mut text, &head, &line);
                head.clear();
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        push_help_line(&mut text, &head, &line);
    }
    text
}

fn push_help_line(text: &mut String, head: &str, line: &str) {
    writeln!(text, "  {head:44} {line}").expect("memory does not fail");
}

impl RawTextOptions {
    /// Parses the option `name`, whose value `value` returns. Returns false for any other option.
    pub fn parse_option(
        &mut self,
        name: &str,
        value: impl FnOnce() -> Result<Option<String>, Error>,
    ) -> Result<bool, Error> {
        let value = || {
            value()?
                .filter(|value| !value.starts_with('-'))
                .ok_or_else(|| Error::Usage { reason: format!("-{name} takes a value") })
        };
        let given = &mut self.given;
        match name {
            "raw" => self.reads_file = Some(true),
            "no-raw" => self.reads_file = Some(false),
            "split" => self.running_text.splits = true,
            "html" => self.running_text.is_html = true,
            "source-language" => self.running_text.source_language = Some(value()?),
            "recase" => given.recase = true,
            "normalize" => given.normalize = Some(value()?),
            "tokenize" => given.tokenize = Some(value()?),
            "detokenize" => given.detokenize = Some(value()?),
            "truecase" => given.truecase = Some(value()?.into()),
            "nonbreaking-prefixes" => given.nonbreaking_prefixes = Some(value()?.into()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns whether a server prepares texts with the file beside the ini; `None` if it does so
    /// whenever the file exists. A server has no other steps.
    #[cfg(feature = "serve")]
    pub fn server_setting(&self) -> Result<Option<bool>, Error> {
        if self.given != TextProcessorConfig::default() {
            let reason = "a server takes the steps for raw text from the file `preparation` \
                          beside the ini (-raw)";
            return Err(Error::Usage { reason: reason.into() });
        }
        if self.running_text != RunningTextOptions::default() {
            let reason = "-split, -html and -source-language are for one text; each request to a \
                          server gives its own";
            return Err(Error::Usage { reason: reason.into() });
        }
        Ok(self.reads_file)
    }

    /// Returns the steps for the system of `configuration`, if there are any.
    pub fn load_steps(
        &self,
        configuration: &Configuration,
    ) -> anyhow::Result<Option<PreparationSteps>> {
        let mut settings = self.given.clone();
        let path = preparation_file(configuration);
        let reads_file = self.reads_file.unwrap_or_else(|| path.exists());
        if reads_file {
            let file = TextProcessorConfig::read(&path).map_err(|error| {
                anyhow!(
                    "{error}; -raw takes the steps from this file, -tokenize and others name \
                     steps, -no-raw takes text that is prepared"
                )
            })?;
            if settings.tokenize.is_none() {
                settings.nonbreaking_prefixes =
                    settings.nonbreaking_prefixes.or(file.nonbreaking_prefixes);
            }
            settings.normalize = settings.normalize.or(file.normalize);
            settings.tokenize = settings.tokenize.or(file.tokenize);
            settings.truecase = settings.truecase.or(file.truecase);
            settings.detokenize = settings.detokenize.or(file.detokenize);
            settings.recase |= file.recase;
        }
        let prefixes =
            settings.nonbreaking_prefixes.as_deref().map(NonbreakingPrefixes::read).transpose()?;
        if prefixes.is_some() && settings.tokenize.is_none() && !self.running_text.is_given() {
            let reason =
                "-nonbreaking-prefixes is for -tokenize, -split and -html; add one of them";
            return Err(Error::Usage { reason: reason.into() }.into());
        }
        if settings == TextProcessorConfig::default() {
            return Ok(None);
        }
        check_compatible(&settings, configuration, reads_file)?;
        if let (Some(language), None) = (&settings.tokenize, &prefixes) {
            super::textproc::warn_if_unknown_language(language);
        }
        let language = settings.tokenize.clone().or(settings.normalize.clone());
        Ok(Some(PreparationSteps { processor: settings.build()?, language, prefixes }))
    }

    /// Returns the input. It is sampled while it is read, and a warning is logged if it does not
    /// look tokenised. Nothing is sampled if a step tokenises, if `-raw` or `-no-raw` is given, or
    /// for running text and HTML.
    pub fn watch_tokenization(
        &self,
        input: Input,
        steps: Option<&PreparationSteps>,
    ) -> miriam_textio::Result<Input> {
        let is_tokenized = steps.is_some_and(|steps| steps.processor.tokenizer.is_some());
        if is_tokenized || self.reads_file.is_some() || self.running_text.is_given() {
            return Ok(input);
        }
        let (name, size) = (input.name().to_owned(), input.size());
        let sample = TokenizationSample::default();
        let watched =
            WatchedText { input, name: name.clone(), sample: Some(sample), line: Vec::new() };
        Input::from_reader(watched, &name, size)
    }
}

/// Returns the path of the file with the preparation of the system; it may not exist.
pub fn preparation_file(configuration: &Configuration) -> PathBuf {
    TextProcessorConfig::path_beside(&configuration.ini)
}

/// The maximum number of bytes per line in the sample.
const MAX_SAMPLED_LINE: usize = 1 << 16;

/// A text that is sampled while it is read.
struct WatchedText {
    input: Input,
    name: String,
    /// The sample, until it is large enough.
    sample: Option<TokenizationSample>,
    /// The line whose end is not read yet.
    line: Vec<u8>,
}

impl Read for WatchedText {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.input.read(buffer)?;
        let Some(sample) = &mut self.sample else { return Ok(read) };
        for part in buffer[..read].split_inclusive(|&byte| byte == b'\n') {
            // The start of a line is enough for the sample.
            let room = MAX_SAMPLED_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                sample.add_line(&self.line);
                self.line.clear();
            }
        }
        let is_end = read == 0 && !buffer.is_empty();
        if is_end {
            sample.add_line(&self.line);
        }
        if let Some(share) = sample.untokenized_share() {
            tracing::warn!(
                "{}: {:.0} % of the words end in attached punctuation, so this text does not look \
                 tokenised; -tokenize LANG makes tokens, -no-raw says that these are tokens",
                self.name,
                100.0 * share
            );
            self.sample = None;
        } else if is_end || sample.is_large() {
            self.sample = None;
        }
        Ok(read)
    }
}

/// Rejects options that contradict the steps: output that is more than words, if the steps join
/// tokens, and input with annotations, if they tokenise.
fn check_compatible(
    settings: &TextProcessorConfig,
    configuration: &Configuration,
    reads_file: bool,
) -> Result<(), Error> {
    let remedy = if reads_file { ", or -no-raw takes and gives tokens" } else { "" };
    let output = &configuration.settings.output;
    let printed = [
        (output.print_id, "-print-id"),
        (output.print_alignment, "-print-alignment-info"),
        (output.print_score_breakdown, "-report-segmentation-enriched"),
    ];
    let joins = settings.detokenize.is_some() || settings.recase;
    if let Some((_, option)) = printed.iter().find(|(asked, _)| joins && *asked) {
        let reason = format!(
            "{option} prints more than words, which -detokenize and -recase would treat as \
             words; leave one of them out{remedy}"
        );
        return Err(Error::Usage { reason });
    }
    if settings.tokenize.is_some() && configuration.settings.input_format.has_annotations() {
        let reason = format!(
            "-tokenize would split markup and tables in the input lines; leave it out, or \
             -xml-input and -inputtype{remedy}"
        );
        return Err(Error::Usage { reason });
    }
    Ok(())
}

/// The steps before and after translation.
pub struct PreparationSteps {
    processor: TextProcessor,
    /// The language of the text, if a step names it.
    language: Option<String>,
    /// A list of nonbreaking prefixes, if one is given.
    prefixes: Option<NonbreakingPrefixes>,
}

impl RunningTextOptions {
    /// Whether the text is not one sentence per line.
    fn is_given(&self) -> bool {
        self.splits || self.is_html
    }

    /// Returns the format of text that is not one sentence per line, if an option asks for it.
    ///
    /// # Errors
    /// If options contradict each other.
    pub fn format(&self) -> Result<Option<SegmentedFormat>, Error> {
        match (self.splits, self.is_html) {
            (true, true) => {
                let reason = "-split and -html name different kinds of text; -html splits too";
                Err(Error::Usage { reason: reason.into() })
            }
            (true, false) => Ok(Some(SegmentedFormat::RunningText)),
            (false, true) => Ok(Some(SegmentedFormat::Html)),
            (false, false) if self.source_language.is_some() => {
                let reason = "-source-language is for -split and -html; add one of them";
                Err(Error::Usage { reason: reason.into() })
            }
            (false, false) => Ok(None),
        }
    }

    /// Returns the splitter for the given language, or for the language of `steps`.
    pub fn splitter(&self, steps: Option<&PreparationSteps>) -> SentenceSplitter {
        let language = self.source_language.as_ref();
        let language = language.or_else(|| steps.and_then(|steps| steps.language.as_ref()));
        if let Some(prefixes) = steps.and_then(|steps| steps.prefixes.as_ref()) {
            let language = language.map_or("", String::as_str);
            return SentenceSplitter::with_prefixes(language, prefixes.clone());
        }
        match language {
            Some(language) => super::textproc::warn_if_unknown_language(language),
            None => tracing::warn!(
                "the language of the text is not known, so English abbreviations do not end sentences; \
                 -source-language names another"
            ),
        }
        SentenceSplitter::new(language.map_or("en", String::as_str))
    }
}

impl LineProcessor for PreparationSteps {
    fn preprocess(&self, line: &[u8], out: &mut Vec<u8>) {
        self.processor.preprocess(line, out);
    }

    fn postprocess(&self, translation: &[u8], out: &mut Vec<u8>) {
        self.processor.postprocess(translation, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_help_text_are_parsed() {
        for option in OPTIONS {
            let mut options = RawTextOptions::default();
            let value = || Ok(Some("en".to_owned()));
            assert!(options.parse_option(option.name, value).unwrap(), "{}", option.name);
        }
        let text = help_text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= 96), "{text}");
        assert!(lines[1].starts_with("  -raw      ") && lines[2].starts_with("     "), "{text}");
    }
}
