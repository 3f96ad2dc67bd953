//! Errors of single input lines, which are reported and never end a run.
//!
//! A line that fails gives an empty line, or the translation of a narrower search, and a record
//! with the reason; output lines always match input lines. Records go to the file of `-errors`, one
//! JSON object per line; without it the first few are logged as warnings and the rest are counted.

use std::fmt;

use serde::Serialize;

/// The number of warnings that are logged; the rest are only counted.
const MAX_WARNINGS: u64 = 5;

/// An error of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// The kind of error.
    pub kind: LineErrorKind,
    /// The cause, and what was done about it.
    pub reason: String,
}

/// Kinds of line errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineErrorKind {
    /// Malformed input; the translation is empty, or entries of its n-best list are left
    /// out.
    Malformed,
    /// Time limit exceeded; the translation is that of a narrower search.
    TimeLimit,
    /// No hypothesis covers the sentence; the translation is empty.
    NoTranslation,
    /// Longer than the longest allowed sentence; the line is translated in parts.
    LongLine,
    /// Words with a bar in a system without factors, or with more factors than the input has; they
    /// are translated without the excess text. Only
    /// [`Translator::translate_in_detail`](crate::Translator::translate_in_detail) reports this
    /// kind; a whole text gets one warning.
    CutWords,
    /// A model of `[rescore]` cannot score the sentence or an entry; the translation is that of the
    /// search.
    NotRescored,
}

impl LineErrorKind {
    /// Returns the name in records.
    pub fn name(self) -> &'static str {
        match self {
            LineErrorKind::Malformed => "malformed",
            LineErrorKind::TimeLimit => "time-limit",
            LineErrorKind::NoTranslation => "no-translation",
            LineErrorKind::LongLine => "long-line",
            LineErrorKind::CutWords => "cut-words",
            LineErrorKind::NotRescored => "not-rescored",
        }
    }
}

impl LineError {
    pub(crate) fn new(kind: LineErrorKind, reason: impl Into<String>) -> Self {
        LineError { kind, reason: reason.into() }
    }

    /// Appends the record of this error of line `line`, counted from 1.
    pub(crate) fn write_record(&self, line: u64, out: &mut Vec<u8>) {
        #[derive(Serialize)]
        struct Record<'a> {
            line: u64,
            kind: &'a str,
            reason: &'a str,
        }
        let record = Record { line, kind: self.kind.name(), reason: &self.reason };
        serde_json::to_writer(&mut *out, &record).expect("memory does not fail");
        out.push(b'\n');
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// Logs line errors as warnings, in the order of the text.
pub(crate) struct Warnings {
    input_name: String,
    count: u64,
}

impl Warnings {
    /// Makes warnings about the text with the name `input_name`.
    pub(crate) fn new(input_name: String) -> Self {
        Warnings { input_name, count: 0 }
    }

    /// Logs the errors of line `line`, up to the limit of warnings.
    pub(crate) fn warn(&mut self, line: u64, errors: &[LineError]) {
        for error in errors {
            self.count += 1;
            if self.count <= MAX_WARNINGS {
                tracing::warn!("{}, line {line}: {error}", self.input_name);
            }
        }
    }

    /// Logs the number of errors that were not logged.
    pub(crate) fn finish(self) {
        if let more @ 1.. = self.count.saturating_sub(MAX_WARNINGS) {
            tracing::warn!(
                "{}: {more} more such lines; `miriam translate -errors FILE` records them all",
                self.input_name
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_of_json() {
        let mut out = Vec::new();
        LineError::new(LineErrorKind::Malformed, "a \"quote\"\nand \u{1}")
            .write_record(7, &mut out);
        let expected = r#"{"line":7,"kind":"malformed","reason":"a \"quote\"\nand \u0001"}"#;
        assert_eq!(String::from_utf8(out).unwrap(), format!("{expected}\n"));
    }
}
