//! Raw text through `miriam translate`: the steps before and after translation, from the
//! command line and from the file beside the ini.

use std::path::Path;

use anyhow::anyhow;
use miriam_decoder::{Configuration, Error, LineProcessor, SegmentedFormat, XmlInputMode};
use miriam_textproc::{SentenceSplitter, TextProcessor, TextProcessorConfig};

/// The options of raw text, as given.
#[derive(Default)]
pub struct RawTextOptions {
    /// Whether to read the file beside the ini.
    reads_file: bool,
    given: TextProcessorConfig,
    pub running_text: RunningTextOptions,
}

/// Options of text that is not a sentence a line, as given.
#[derive(Default)]
pub struct RunningTextOptions {
    splits: bool,
    is_html: bool,
    source_language: Option<String>,
}

/// The help text of these options.
pub const HELP: &str = "\
Raw text; only translations are detokenised, other outputs contain tokens:
  -raw                                         the steps in the file `preparation` beside the
                                               ini, but for those given here
  -normalize LANG                              make punctuation uniform, as miriam normalize
  -tokenize LANG                               make tokens, as miriam tokenize
  -truecase MODEL                              restore true case, as miriam truecase
  -detokenize LANG                             join translations, as miriam detokenize
  -recase                                      begin their sentences with a capital letter
  -split                                       a line is a paragraph: its sentences are found,
                                               translated and joined with the white space between
                                               them
  -html                                        the input is a page of HTML: its text is translated,
                                               tags stay around the words aligned with theirs
  -source-language LANG                        whose abbreviations end no sentence [that of
                                               -tokenize or -normalize]
";

impl RawTextOptions {
    /// Parses the option `name`, whose value `value` returns; false for any other option.
    pub fn parse_option(
        &mut self,
        name: &str,
        value: impl FnOnce() -> Result<Option<String>, Error>,
    ) -> Result<bool, Error> {
        let value = || {
            let usage = || Error::Usage { reason: format!("-{name} takes a value") };
            value()?.filter(|value| !value.starts_with('-')).ok_or_else(usage)
        };
        let given = &mut self.given;
        match name {
            "raw" => self.reads_file = true,
            "split" => self.running_text.splits = true,
            "html" => self.running_text.is_html = true,
            "source-language" => self.running_text.source_language = Some(value()?),
            "recase" => given.recase = true,
            "normalize" => given.normalize = Some(value()?),
            "tokenize" => given.tokenize = Some(value()?),
            "detokenize" => given.detokenize = Some(value()?),
            "truecase" => given.truecase = Some(value()?.into()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether a server prepares texts by the file beside the ini; it takes no other steps.
    #[cfg(feature = "serve")]
    pub fn of_a_server(&self) -> Result<bool, Error> {
        if self.given != TextProcessorConfig::default() {
            let reason = "a server takes the steps for raw text from the file `preparation` \
                          beside the ini (-raw)";
            return Err(Error::Usage { reason: reason.into() });
        }
        Ok(self.reads_file)
    }

    /// The steps, if there are any, for the system of `configuration`.
    pub fn load_steps(
        &self,
        configuration: &Configuration,
    ) -> anyhow::Result<Option<PreparationSteps>> {
        let mut settings = self.given.clone();
        if self.reads_file {
            let folder = configuration.ini.parent().unwrap_or(Path::new(""));
            let file = TextProcessorConfig::read(&folder.join(TextProcessorConfig::FILE_NAME));
            let file = file.map_err(|error| {
                anyhow!("{error}; -raw takes the steps from it, -tokenize and others name them")
            })?;
            settings.normalize = settings.normalize.or(file.normalize);
            settings.tokenize = settings.tokenize.or(file.tokenize);
            settings.truecase = settings.truecase.or(file.truecase);
            settings.detokenize = settings.detokenize.or(file.detokenize);
            settings.recase |= file.recase;
        }
        if settings == TextProcessorConfig::default() {
            return Ok(None);
        }
        check_compatible(&settings, configuration)?;
        if let Some(language) = &settings.tokenize {
            super::textproc::warn_if_unknown_language(language);
        }
        let language = settings.tokenize.clone().or(settings.normalize.clone());
        Ok(Some(PreparationSteps { processor: settings.build()?, language }))
    }
}

/// Refuses options whose output raw text cannot contain.
fn check_compatible(
    settings: &TextProcessorConfig,
    configuration: &Configuration,
) -> Result<(), Error> {
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
             words; leave one of them out"
        );
        return Err(Error::Usage { reason });
    }
    let text = &configuration.settings.input_format;
    if settings.tokenize.is_some()
        && (text.markup != XmlInputMode::PassThrough || text.has_sentence_table)
    {
        let reason = "-tokenize would split markup and tables in the input lines; leave it out, \
                      or -xml-input and -inputtype"
            .into();
        return Err(Error::Usage { reason });
    }
    Ok(())
}

/// The steps before and after translation.
pub struct PreparationSteps {
    processor: TextProcessor,
    /// The language of the text, if a step names it.
    language: Option<String>,
}

impl RunningTextOptions {
    /// The format of text that is not a sentence a line, if that is asked for.
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

    /// The splitter for the language that is named, or that of `steps`.
    pub fn splitter(&self, steps: Option<&PreparationSteps>) -> SentenceSplitter {
        let language = self.source_language.as_ref();
        let language = language.or_else(|| steps.and_then(|steps| steps.language.as_ref()));
        match language {
            Some(language) => super::textproc::warn_if_unknown_language(language),
            None => tracing::warn!(
                "the language of the text is not known, so English abbreviations end no sentence; \
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
