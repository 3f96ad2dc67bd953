//! Boundaries of sentences with the marks, quotes, brackets and spaces before them.

use std::ops::Range;

use super::{trim_end, trim_end_matching};
use crate::characters::{CharClass, char_indices, first_char, first_class};
use crate::open_quotes::{OpenQuotes, Side};
use crate::sentence_breaks::BreakClass;

/// A boundary that Unicode's rules find, with the parts of the text before it: `word.`, closing
/// brackets, reference marks such as `[1]`, opening brackets, spaces. The boundary comes after all
/// of them. Brackets include quotation marks.
pub(super) struct Boundary {
    /// The end of the mark that ends the sentence, before brackets and reference marks.
    pub mark_end: usize,
    /// The end of the closing brackets after the mark; `mark_end` if there are none.
    pub closing_end: usize,
    /// Whether an opening bracket follows; it belongs to the next sentence.
    pub has_opening: bool,
    /// Whether reference marks are the last visible characters before the boundary.
    pub has_reference: bool,
    /// The end of the sentence if the boundary ends one.
    pub end: usize,
    /// The start of the white space before the boundary.
    pub visible_end: usize,
    /// Whether white space follows the sentence.
    pub is_spaced: bool,
}

impl Boundary {
    /// Finds the parts before the boundary at the end of `pending`, a range of `text` that begins
    /// with the sentence. `references` is the range of the last reference marks.
    pub fn find(
        text: &[u8],
        pending: Range<usize>,
        references: Range<usize>,
        quotes: &mut QuoteTracker<'_>,
    ) -> Self {
        let Range { start, end } = pending;
        let visible_end = start + trim_end(&text[start..end]).len();
        let has_reference = references.end == visible_end && references.start > start;
        let inner_end = if has_reference { references.start } else { visible_end };
        let mark_end = start + trim_end_matching(&text[start..inner_end], is_bracket).len();
        let mut closing_end = mark_end;
        while let Some(symbol) = first_char(&text[closing_end..inner_end]) {
            quotes.pass_until(closing_end);
            if symbol.character.and_then(|c| quotes.open.side(c)) == Some(Side::Opening) {
                break;
            }
            closing_end += symbol.byte_len;
        }
        let has_opening = closing_end < inner_end;
        let sentence_end = if has_opening { closing_end } else { visible_end };
        Boundary {
            mark_end,
            closing_end,
            has_opening,
            has_reference,
            end: sentence_end,
            visible_end,
            is_spaced: first_class(&text[sentence_end..]).intersects(CharClass::SPACE),
        }
    }
}

/// Tracker of the quotation marks that are open at a position of a text.
pub(super) struct QuoteTracker<'t> {
    text: &'t [u8],
    passed: usize,
    open: OpenQuotes,
}

impl<'t> QuoteTracker<'t> {
    /// Returns a tracker at the position `place` of `text`, with nothing open.
    pub fn new(text: &'t [u8], place: usize) -> Self {
        QuoteTracker { text, passed: place, open: OpenQuotes::default() }
    }

    /// Passes the characters before `place`.
    fn pass_until(&mut self, place: usize) {
        if place > self.passed {
            let text = &self.text[self.passed..place];
            for character in char_indices(text).filter_map(|(_, symbol)| symbol.character) {
                self.open.pass(character);
            }
            self.passed = place;
        }
    }

    /// Returns the length in bytes of the closing quotes and brackets that begin at `place`, after
    /// a space: `« Où ? » Il part.` Returns 0 if text directly follows them.
    pub fn spaced_closing_len(&mut self, place: usize) -> usize {
        self.pass_until(place);
        let text = &self.text[place..];
        let mut open = self.open;
        let mut end = 0;
        while let Some(symbol) = first_char(&text[end..]) {
            // An apostrophe after a space is not a closing quote.
            let closing =
                symbol.character.filter(|&c| c != '\'' && open.side(c) == Some(Side::Closing));
            let Some(character) = closing else { break };
            open.pass(character);
            end += symbol.byte_len;
        }
        let is_followed_by_text =
            !text[end..].is_empty() && !first_class(&text[end..]).intersects(CharClass::SPACE);
        if is_followed_by_text { 0 } else { end }
    }
}

/// Whether a character is a bracket or a quotation mark.
pub(super) fn is_bracket(character: char) -> bool {
    BreakClass::from_char(character) == BreakClass::Bracket
}
