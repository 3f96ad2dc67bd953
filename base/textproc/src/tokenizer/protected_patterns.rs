//! Text that the tokeniser leaves as it is: addresses, markup, whatever a user's
//! patterns match.

use std::fs;
use std::ops::Range;
use std::path::Path;

use regex::bytes::Regex;

use crate::{Error, Result};

/// Patterns of text that stays as it is.
#[derive(Clone, Debug, Default)]
pub struct ProtectedPatterns {
    patterns: Vec<Regex>,
}

impl ProtectedPatterns {
    /// Reads patterns, a regular expression a line, from a file as Moses' option
    /// `-protected` has it.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|source| Error::Io {
            file: file.clone(),
            action: "read",
            source,
        })?;
        Self::from_lines(&text, &file)
    }

    /// As [`Protected::read`], from text; `file` is its name in messages.
    pub fn from_lines(text: &str, file: &str) -> Result<Self> {
        let mut patterns = Vec::new();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let pattern = Regex::new(&unescape_angle_brackets(line)).map_err(|error| {
                let error = error.to_string();
                let last = error.lines().last().unwrap_or_default();
                Error::format(file, i + 1, format!("{line:?} is no regular expression: {last}"))
            })?;
            patterns.push(pattern);
        }
        Ok(ProtectedPatterns { patterns })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The pieces of `text` to leave alone, from left to right. A pattern is matched
    /// again and again behind its last match; then each piece of text that was found,
    /// in this order, is left alone wherever it occurs outside of those before it.
    pub(super) fn find_spans(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut found: Vec<&[u8]> = Vec::new();
        for pattern in &self.patterns {
            let mut rest = text;
            while let Some(piece) = pattern.find(rest).filter(|piece| !piece.is_empty()) {
                if !found.contains(&piece.as_bytes()) {
                    found.push(piece.as_bytes());
                }
                rest = &rest[piece.end()..];
            }
        }
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for piece in found {
            let finder = memchr::memmem::Finder::new(piece);
            let ends = pieces.iter().map(|taken| taken.start).chain([text.len()]);
            let starts = std::iter::once(0).chain(pieces.iter().map(|taken| taken.end));
            let mut new = Vec::new();
            for (start, end) in starts.zip(ends) {
                let places = finder.find_iter(&text[start..end]).map(|at| start + at);
                new.extend(places.map(|at| at..at + piece.len()));
            }
            pieces.extend(new);
            pieces.sort_unstable_by_key(|taken| taken.start);
        }
        pieces
    }
}

/// A pattern in which `\<` and `\>`, to Perl the characters themselves and to us ends
/// of words, are written without the backslash.
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
