//! Splitting of running text into sentences.
//!
//! Boundaries are those of Unicode (UAX #29), which work in all scripts. Some of them are removed
//! by the rules of Moses' `split-sentences.perl`: a full stop after an abbreviation, an initial, an
//! acronym or a list number does not end a sentence, nor does any mark before lower case. As in
//! that script, a number may begin a sentence. Moses' script alone finds no ends in scripts without
//! capitals; Unicode's rules alone end sentences after `Mr.` and after opening quotes.
//!
//! The time is linear in the text: each boundary examines the word before it, the brackets and
//! spaces around it, and before a number the text up to the next letter or mark. No two boundaries
//! examine the same characters.

use std::ops::Range;

use self::abbreviations::keeps_full_stop;
use self::boundary::{Boundary, QuoteTracker, is_bracket};
use crate::NonbreakingPrefixes;
use crate::characters::{CharClass, char_indices, first_char, first_class, is_unspaced, last_char};
use crate::interruption::{Checkpoint, Interrupted};
use crate::sentence_breaks::{BreakClass, SentenceBreaks, is_ellipsis, is_greek_question_mark};

mod abbreviations;
mod boundary;

/// A splitter of paragraphs in one language into sentences.
///
/// # Examples
/// ```
/// use miriam_textproc::SentenceSplitter;
///
/// let text = "Mr. Smith came at 5 p.m. on Monday.  He left (early!) again.";
/// let sentences = SentenceSplitter::new("en").split(text.as_bytes());
/// let sentences: Vec<&str> = sentences.into_iter().map(|range| &text[range]).collect();
/// assert_eq!(
///     sentences,
///     ["Mr. Smith came at 5 p.m. on Monday.", "He left (early!) again."]
/// );
/// ```
#[derive(Clone, Debug)]
pub struct SentenceSplitter {
    prefixes: NonbreakingPrefixes,
    /// Whether semicolons are question marks.
    is_greek: bool,
}

impl SentenceSplitter {
    /// Returns a splitter with the abbreviations of `language`, named by two or three letters. If
    /// none are built in, it has those of English, as in Moses.
    pub fn new(language: &str) -> Self {
        let prefixes = NonbreakingPrefixes::for_language(language)
            .or_else(|| NonbreakingPrefixes::for_language("en"));
        Self::with_prefixes(language, prefixes.unwrap_or_default())
    }

    /// Returns a splitter of text in `language` with the given abbreviations.
    pub fn with_prefixes(language: &str, prefixes: NonbreakingPrefixes) -> Self {
        SentenceSplitter { prefixes, is_greek: language == "el" }
    }

    /// Returns the byte ranges of the sentences of a paragraph, in order. The text between them,
    /// before the first and after the last is white space, so that a text can be reassembled from
    /// its translated sentences. The characters that end paragraphs (line feeds among them) end
    /// sentences too.
    pub fn split(&self, text: &[u8]) -> Vec<Range<usize>> {
        self.split_until(text, &|| false).unwrap_or_default()
    }

    /// Works like [`SentenceSplitter::split`], but calls `should_stop` from time to time.
    ///
    /// # Errors
    /// If `should_stop` returns true.
    pub fn split_until(
        &self,
        text: &[u8],
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Range<usize>>, Interrupted> {
        let mut checkpoint = Checkpoint::new(should_stop);
        let mut sentences = Vec::new();
        let mut start = text.len() - trim_start(text).len();
        let mut quotes = QuoteTracker::new(text, 0);
        let mut breaks = SentenceBreaks::new(text, self.is_greek);
        while let Some(end) = breaks.next() {
            checkpoint.pass(end)?;
            if end <= start {
                continue;
            }
            let boundary = Boundary::find(text, start..end, breaks.references(), &mut quotes);
            let is_paragraph_end = end == text.len() || ends_paragraph(&text[..end]);
            let sentence_end = if is_paragraph_end {
                // At the end of the text, an opening bracket belongs to the sentence: nothing
                // follows it.
                boundary.visible_end
            } else if !self.ends_sentence(text, start, &boundary) {
                continue;
            } else if boundary.end == boundary.visible_end
                && let closing @ 1.. = quotes.spaced_closing_len(end)
            {
                end + closing
            } else {
                boundary.end
            };
            sentences.push(start..sentence_end);
            start = text.len() - trim_start(&text[sentence_end..]).len();
            if is_paragraph_end {
                quotes = QuoteTracker::new(text, end);
            }
        }
        Ok(sentences)
    }

    /// Whether the sentence that begins at `start` ends at a boundary.
    fn ends_sentence(&self, text: &[u8], start: usize, boundary: &Boundary) -> bool {
        let body = &text[start..boundary.mark_end];
        let mark = last_char(body).and_then(|symbol| symbol.character);
        let is_semicolon = mark.is_some_and(|c| self.is_greek && is_greek_question_mark(c));
        if !is_semicolon && !mark.is_some_and(is_western_mark) {
            return true;
        }
        if is_semicolon && ends_with_entity(body) {
            return false;
        }
        let after = &text[boundary.end..];
        let next = next_letter(after);
        let next_class = next.map(BreakClass::from_char);
        let is_closed = boundary.closing_end > boundary.mark_end;
        if !boundary.is_spaced {
            // "Yahoo!Inc" is a word, but scripts without spaces use these marks too (an ellipsis
            // also within a sentence), and between two quotations no space is needed.
            let is_between_brackets = is_closed && boundary.has_opening;
            let begins = matches!(next_class, Some(BreakClass::Uppercase | BreakClass::Letter));
            let is_pause = mark.is_some_and(is_ellipsis);
            return next.is_some_and(is_unspaced) && !is_pause || is_between_brackets && begins;
        }
        if next_class == Some(BreakClass::Lowercase) {
            return false;
        }
        // Only a full stop is ambiguous, and only if it is not part of an ellipsis and no closing
        // quotes or reference marks follow it.
        if is_closed || boundary.has_reference || !body.ends_with(b".") || body.ends_with(b"..") {
            return true;
        }
        !keeps_full_stop(&self.prefixes, &body[..body.len() - 1], after)
    }
}

/// Whether a text ends with a character reference of HTML: `&amp;`.
fn ends_with_entity(text: &[u8]) -> bool {
    let name = text.strip_suffix(b";").unwrap_or_default();
    let start = name.iter().rposition(|byte| !byte.is_ascii_alphanumeric() && *byte != b'#');
    start.is_some_and(|start| name[start] == b'&' && start + 1 < name.len())
}

/// Whether a text ends with a character that ends paragraphs.
fn ends_paragraph(text: &[u8]) -> bool {
    let last = last_char(text).and_then(|symbol| symbol.character);
    last.is_some_and(|character| BreakClass::from_char(character) == BreakClass::Separator)
}

/// Whether a character is a mark that ends sentences in scripts with spaces. Marks of other scripts
/// end sentences wherever they are.
fn is_western_mark(character: char) -> bool {
    matches!(character, '.' | '!' | '?' | '…' | '‥' | '‼' | '⁇' | '⁈' | '⁉')
}

/// Whether a character may precede the first word of a sentence: a quote, a bracket or an inverted
/// mark.
fn is_opening(character: char) -> bool {
    matches!(character, '¿' | '¡') || is_bracket(character)
}

/// Returns the first character of `text` that is neither white space nor an opening quote, a
/// bracket or an inverted mark.
fn next_letter(text: &[u8]) -> Option<char> {
    char_indices(text)
        .map(|(_, symbol)| symbol.character.unwrap_or('\u{1}'))
        .find(|&c| !is_opening(c) && !c.is_whitespace())
}

/// Returns `text` without the characters at its end that `matches` accepts.
fn trim_end_matching(text: &[u8], matches: impl Fn(char) -> bool) -> &[u8] {
    let mut rest = text;
    while let Some(symbol) = last_char(rest) {
        if !symbol.character.is_some_and(&matches) {
            break;
        }
        rest = &rest[..rest.len() - symbol.byte_len];
    }
    rest
}

pub(crate) fn trim_end(text: &[u8]) -> &[u8] {
    trim_end_matching(text, char::is_whitespace)
}

pub(crate) fn trim_start(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while first_class(rest).intersects(CharClass::SPACE) {
        rest = &rest[first_char(rest).map_or(1, |symbol| symbol.byte_len)..];
    }
    rest
}

#[cfg(test)]
mod tests;
