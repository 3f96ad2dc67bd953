//! Settings of the input: markup, factors, sentence tables
//! (`docs/spec/phrase-decoding.md` 1.4, 1.9, 3.1, 3.2).

use super::settings_reader::SettingsReader;
use crate::Result;
use crate::factors::{FactorSettings, parse_factor, parse_factors};
use crate::markup::{Brackets, XmlInputMode};

/// The syntax of input lines: annotations and the form of words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputSettings {
    /// The treatment of markup.
    pub markup: XmlInputMode,
    /// The strings around tags.
    pub brackets: Brackets,
    /// Whether words are not reordered across punctuation.
    pub monotone_at_punctuation: bool,
    /// Whether each line has a phrase table (`inputtype` 7).
    pub has_sentence_table: bool,
    /// The splitting of words into factors.
    pub factors: FactorSettings,
}

impl InputSettings {
    /// Whether lines hold markup or a phrase table besides words.
    pub fn has_annotations(&self) -> bool {
        self.markup != XmlInputMode::PassThrough || self.has_sentence_table
    }

    pub(super) fn new(read: &SettingsReader<'_>) -> Result<Self> {
        let has_sentence_table = match read.value("inputtype")? {
            None | Some("0") => false,
            Some("7") => true,
            Some(other) => {
                let reason = format!(
                    "{other}{}; expected 0 (plain text) or 7 (text with a phrase table in each \
                     line)",
                    describe_input_type(other)
                );
                return read.fail("inputtype", reason);
            }
        };
        let markup = match read.value("xml-input")? {
            None | Some("pass-through") => XmlInputMode::PassThrough,
            Some("ignore") => XmlInputMode::Ignore,
            Some("inclusive") => XmlInputMode::Inclusive,
            Some("exclusive") => XmlInputMode::Exclusive,
            Some("constraint") => XmlInputMode::Constraint,
            Some(other) => {
                let reason = format!(
                    "{other:?}; expected pass-through, ignore, inclusive, exclusive or constraint"
                );
                return read.fail("xml-input", reason);
            }
        };
        if has_sentence_table && markup != XmlInputMode::PassThrough {
            return read.fail("xml-input", "lines of inputtype 7 have no markup");
        }
        let brackets = match read.split_values("xml-brackets") {
            None => Brackets::default(),
            Some(strings) => match &strings[..] {
                [open, close] if open != close => {
                    Brackets { open: open.clone(), close: close.clone() }
                }
                _ => {
                    let reason = "give two different strings, as in \"{{ }}\"";
                    return read.fail("xml-brackets", reason);
                }
            },
        };
        Ok(InputSettings {
            markup,
            brackets,
            monotone_at_punctuation: read.boolean("monotone-at-punctuation", false)?,
            has_sentence_table,
            factors: read_factor_settings(read)?,
        })
    }
}

/// Describes the input of a type that is not available.
fn describe_input_type(number: &str) -> &'static str {
    match number {
        "1" => " is confusion networks, which are not available",
        "2" => " is word lattices, which are not available",
        "3" => " is parse trees, which are not available",
        "5" => " is sentences with separate columns, which are not available",
        "6" => " is parse forests, which are not available",
        _ => " is unknown",
    }
}

fn read_factor_settings(read: &SettingsReader<'_>) -> Result<FactorSettings> {
    let defaults = FactorSettings::default();
    let delimiter = match read.value("factor-delimiter")? {
        None => defaults.delimiter,
        // Moses' name for no delimiter.
        Some("none") => String::new(),
        Some(text) => text.to_owned(),
    };
    let output_delimiter = match read.value("output-factor-delimiter")? {
        Some(text) => text.to_owned(),
        None if delimiter.is_empty() => defaults.output_delimiter,
        None => delimiter.clone(),
    };
    let placeholder = match read.value("placeholder-factor")? {
        None => None,
        Some(text) => match parse_factor(text) {
            Ok(0) => {
                let reason = "factor 0 is the word itself; give one that no model looks at";
                return read.fail("placeholder-factor", reason);
            }
            Ok(factor) => Some(factor),
            Err(reason) => return read.fail("placeholder-factor", reason),
        },
    };
    Ok(FactorSettings {
        delimiter,
        input: parse_factor_parameter(read, "input-factors")?,
        output: parse_factor_parameter(read, "output-factors")?.unwrap_or(defaults.output),
        output_delimiter,
        report_all_factors: read.boolean("report-all-factors", false)?,
        placeholder_factor: placeholder,
    })
}

/// Returns the factors of a parameter: one factor per line, or several separated by commas.
fn parse_factor_parameter(read: &SettingsReader<'_>, name: &str) -> Result<Option<Vec<usize>>> {
    let Some(words) = read.split_values(name) else { return Ok(None) };
    match parse_factors(&words.join(",")) {
        Ok(list) => Ok(Some(list)),
        Err(reason) => read.fail(name, reason),
    }
}
