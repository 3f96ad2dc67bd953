//! The tokeniser of mteval-v13a: ASCII punctuation is parted, but for stops and
//! commas inside numbers; four entities are read.

use super::spacing::{PairSpacing, space_around, space_pairs};

/// The tokens of a line of text for which mteval-v13a stands.
pub(super) fn tokenize(line: &str) -> String {
    let mut line = format!(" {} ", line.replace("<skipped>", ""));
    if line.contains('&') {
        line = unescape_entities(&line);
    }
    split_western_punctuation(&line)
}

/// Entities as characters, one kind after another: `&amp;lt;` ends as `<`.
pub(super) fn unescape_entities(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
}

/// What is a token of its own wherever it stands: ASCII punctuation but for
/// apostrophe, comma, stop and hyphen.
pub(super) fn is_splitting_punctuation(c: char) -> bool {
    matches!(c, '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/')
}

/// The rules for western languages, which other tokenisers use too.
pub(super) fn split_western_punctuation(text: &str) -> String {
    split_number_punctuation(&space_around(text, is_splitting_punctuation))
}

/// Stops and commas are parted unless they stand between digits, a hyphen behind a
/// digit is.
pub(super) fn split_number_punctuation(text: &str) -> String {
    let digit = |c: char| c.is_ascii_digit();
    let stop = |c: char| c == '.' || c == ',';
    let text = space_pairs(text, PairSpacing::BetweenAndAfter, |c| !digit(c), stop);
    let text = space_pairs(&text, PairSpacing::BeforeAndBetween, stop, |c| !digit(c));
    space_pairs(&text, PairSpacing::BetweenAndAfter, digit, |c| c == '-')
}
