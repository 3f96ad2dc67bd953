//! Protected text, which the tokeniser does not split: addresses, markup, anything that a
//! user's patterns match.

use std::ops::Range;
use std::path::Path;

use hashbrown::HashSet;
use regex::bytes::Regex;

use crate::{Error, Result, text_file};

/// Regular expressions of text that the tokeniser does not split.
#[derive(Clone, Debug, Default)]
pub struct ProtectedPatterns {
    patterns: Vec<Regex>,
}

impl ProtectedPatterns {
    /// Reads patterns, one regular expression per line, from a file as for Moses' option
    /// `-protected`.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::Format`] for a line that
    /// is not a regular expression.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = text_file::read_utf8(path)?;
        Self::from_lines(&text, &file)
    }

    /// Parses the text of a file of patterns; `file` is its name in error messages.
    ///
    /// # Errors
    /// [`Error::Format`] for a line that is not a regular expression.
    pub fn from_lines(text: &str, file: &str) -> Result<Self> {
        let mut patterns = Vec::new();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let pattern = Regex::new(&unescape_angle_brackets(line)).map_err(|error| {
                let error = error.to_string();
                let last = error.lines().last().unwrap_or_default();
                Error::format(file, i + 1, format!("{line:?} is not a regular expression: {last}"))
            })?;
            patterns.push(pattern);
        }
        Ok(ProtectedPatterns { patterns })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns the protected spans of `text`, from left to right. A pattern is matched repeatedly,
    /// each time after its previous match. Then the strings that were found are protected in this
    /// order, each wherever it occurs outside the spans of earlier strings.
    pub(super) fn find_spans(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut strings: Vec<&[u8]> = Vec::new();
        let mut known = HashSet::new();
        for pattern in &self.patterns {
            let mut rest = text;
            while let Some(found) = pattern.find(rest).filter(|found| !found.is_empty()) {
                if known.insert(found.as_bytes()) {
                    strings.push(found.as_bytes());
                }
                rest = &rest[found.end()..];
            }
        }
        let mut spans: Vec<Range<usize>> = Vec::new();
        for string in strings {
            let finder = memchr::memmem::Finder::new(string);
            let ends = spans.iter().map(|span| span.start).chain([text.len()]);
            let starts = std::iter::once(0).chain(spans.iter().map(|span| span.end));
            let mut new = Vec::new();
            for (start, end) in starts.zip(ends) {
                let offsets = finder.find_iter(&text[start..end]).map(|at| start + at);
                new.extend(offsets.map(|at| at..at + string.len()));
            }
            spans.extend(new);
            spans.sort_unstable_by_key(|span| span.start);
        }
        spans
    }
}

/// Returns the pattern with `\<` and `\>` written without the backslash: in Perl they are the
/// characters themselves, in the `regex` crate they are word boundaries.
fn unescape_angle_brackets(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match (character, characters.clone().next()) {
            ('\\', Some('<' | '>')) => {}
            ('\\', Some(escaped)) => {
                out.extend(['\\', escaped]);
                characters.next();
            }
            _ => out.push(character),
        }
    }
    out
}
