//! The tokeniser of mteval-v13a: ASCII punctuation is parted, but for stops and
//! commas inside numbers; four entities are read.

use super::pairs::{Gap, space_around, space_pairs};

/// The tokens of a line of text for which mteval-v13a stands.
pub(super) fn mteval(line: &str) -> String {
    let mut line = format!(" {} ", line.replace("<skipped>", ""));
    if line.contains('&') {
        line = entities(&line);
    }
    western(&line)
}

/// Entities as characters, one kind after another: `&amp;lt;` ends as `<`.
pub(super) fn entities(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
}

/// What is a token of its own wherever it stands: ASCII punctuation but for
/// apostrophe, comma, stop and hyphen.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/')
}

/// The rules for western languages, which other tokenisers use too.
pub(super) fn western(text: &str) -> String {
    numbers(&space_around(text, is_mark))
}

/// Stops and commas are parted unless they stand between digits, a hyphen behind a
/// digit is.
pub(super) fn numbers(text: &str) -> String {
    let digit = |c: char| c.is_ascii_digit();
    let stop = |c: char| c == '.' || c == ',';
    let text = space_pairs(text, Gap::BetweenAndAfter, |c| !digit(c), stop);
    let text = space_pairs(&text, Gap::BeforeAndBetween, stop, |c| !digit(c));
    space_pairs(&text, Gap::BetweenAndAfter, digit, |c| c == '-')
}
