//! Tokeniser of mteval-v13a: ASCII punctuation is split off, and four entities are decoded.
//! Apostrophes, hyphens that do not follow a digit, and full stops and commas inside numbers are
//! not split off.

use super::spacing::{PairSpacing, space_around, space_pairs};

/// Tokenises a line like mteval-v13a.
pub(super) fn tokenize(line: &str) -> String {
    let mut line = format!(" {} ", line.replace("<skipped>", ""));
    if line.contains('&') {
        line = unescape_entities(&line);
    }
    split_western_punctuation(&line)
}

/// Decodes entities, one kind after another: `&amp;lt;` becomes `<`.
pub(crate) fn unescape_entities(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
}

/// Whether a character is always a separate token: ASCII punctuation except apostrophe, comma, full
/// stop and hyphen. Also true for the space, around which more spaces change nothing.
pub(crate) fn is_splitting_punctuation(c: char) -> bool {
    matches!(c, '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/')
}

/// Applies the rules for western languages, which other tokenisers use too.
pub(super) fn split_western_punctuation(text: &str) -> String {
    split_number_punctuation(&space_around(text, is_splitting_punctuation))
}

/// Splits off full stops and commas, unless they are between digits, and hyphens after digits.
pub(super) fn split_number_punctuation(text: &str) -> String {
    fn digit(c: char) -> bool {
        c.is_ascii_digit()
    }
    fn stop(c: char) -> bool {
        c == '.' || c == ','
    }
    let text = space_pairs(text, PairSpacing::BetweenAndAfter, |c| !digit(c), stop);
    let text = space_pairs(&text, PairSpacing::BeforeAndBetween, stop, |c| !digit(c));
    space_pairs(&text, PairSpacing::BetweenAndAfter, digit, |c| c == '-')
}
