//! What goes wrong with single lines of a text: never a reason to stop, always
//! one to say so.
//!
//! A line that fails gives an empty line, or a lesser translation, and a record
//! of why; nothing else shifts. Records go to the file of `-errors`, a JSON object
//! a line; without it a few are told as warnings and the rest are counted.

use std::fmt;

use serde::Serialize;

/// Warnings given before the rest is only counted.
const TOLD: u64 = 5;

/// What went wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mishap {
    /// What kind of thing.
    pub kind: MishapKind,
    /// What happened, and what was done about it.
    pub reason: String,
}

/// Kinds of mishaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MishapKind {
    /// Something in the line that cannot be understood; its translation is empty, or
    /// entries of its n-best list are left out.
    Malformed,
    /// The time limit; the translation is that of a narrower search.
    TimeLimit,
    /// No hypothesis covers the sentence; its translation is empty.
    NoTranslation,
    /// A line beyond the longest sentence; it is translated in pieces.
    LongLine,
}

impl MishapKind {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            MishapKind::Malformed => "malformed",
            MishapKind::TimeLimit => "time-limit",
            MishapKind::NoTranslation => "no-translation",
            MishapKind::LongLine => "long-line",
        }
    }
}

impl Mishap {
    pub(crate) fn new(kind: MishapKind, reason: impl Into<String>) -> Self {
        Mishap { kind, reason: reason.into() }
    }

    /// Appends the record of this mishap of line `line`, counted from 1.
    pub(crate) fn record(&self, line: u64, out: &mut Vec<u8>) {
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

impl fmt::Display for Mishap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// Tells of mishaps on the log, in the order of the text.
pub(crate) struct Warnings {
    input: String,
    mishaps: u64,
}

impl Warnings {
    /// Warnings about the text called `input`.
    pub(crate) fn of(input: String) -> Self {
        Warnings { input, mishaps: 0 }
    }

    /// Tells of what happened to line `line`, if not too much has been told.
    pub(crate) fn tell(&mut self, line: u64, mishaps: &[Mishap]) {
        for mishap in mishaps {
            self.mishaps += 1;
            if self.mishaps <= TOLD {
                tracing::warn!("{}, line {line}: {mishap}", self.input);
            }
        }
    }

    /// Tells how many were not told.
    pub(crate) fn finish(self) {
        if let more @ 1.. = self.mishaps.saturating_sub(TOLD) {
            tracing::warn!("{}: {more} more such lines; -errors FILE records them all", self.input);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_of_json() {
        let mut out = Vec::new();
        Mishap::new(MishapKind::Malformed, "a \"quote\"\nand \u{1}").record(7, &mut out);
        let expected = r#"{"line":7,"kind":"malformed","reason":"a \"quote\"\nand \u0001"}"#;
        assert_eq!(String::from_utf8(out).unwrap(), format!("{expected}\n"));
    }
}
