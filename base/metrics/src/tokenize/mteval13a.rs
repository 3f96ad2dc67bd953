//! Tokeniser of mteval-v13a: `<skipped>` is removed, four entities are decoded, and ASCII
//! punctuation is split off. Apostrophes, hyphens that do not follow a digit, and full stops and
//! commas inside numbers are not split off.

use super::spacing::{PairSpacing, space_around, space_pairs};

/// Tokenises a line like mteval-v13a.
pub(super) fn tokenize(line: &str) -> String {
    let mut line = format!(" {} ", line.replace("<skipped>", ""));
    if line.contains('&') {
        line = unescape_entities(&line);
    }
    split_western_punctuation(&line)
}

/// Decodes four entities, one kind after another, so `&amp;lt;` becomes `<`.
pub(crate) fn unescape_entities(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
}

/// Whether a character is always a separate token: ASCII punctuation except apostrophe, comma, full
/// stop and hyphen. Also true for the space, because more spaces do not change the tokens.
pub(crate) fn is_splitting_punctuation(c: char) -> bool {
    matches!(c, '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/')
}

/// Applies the rules for western languages, which the Chinese tokeniser uses too.
pub(super) fn split_western_punctuation(text: &str) -> String {
    split_number_punctuation(&space_around(text, is_splitting_punctuation))
}

/// Splits off full stops and commas before or after a character that is not a digit, and hyphens
/// after digits. Matches do not overlap, as in mteval: the tokens of `a..5` are `a`, `.` and `.5`.
pub(crate) fn split_number_punctuation(text: &str) -> String {
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
