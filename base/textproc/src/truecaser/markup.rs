//! Words and markup of a line.

use crate::characters::{CharClass, char_indices, first_char};
use crate::steps;

/// A token of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkupToken<'a> {
    /// A word, with its factors.
    Word(&'a [u8]),
    /// From `<` to `>`.
    Markup(&'a [u8]),
}

/// Returns the words and markup of a line. A word ends where markup might begin; a bracket without
/// markup belongs to the word after it. With `factors`, markup directly after a bar is a factor of
/// the word before the bar.
pub(super) fn markup_tokens(line: &[u8], factors: bool) -> impl Iterator<Item = MarkupToken<'_>> {
    let mut at = 0;
    // Brackets after the last closing one cannot begin markup.
    let last_closing = memchr::memrchr(b'>', line).unwrap_or(0);
    let markup_len =
        move |at: usize| if at < last_closing { markup_len(&line[at..]) } else { None };
    std::iter::from_fn(move || {
        at += whitespace_len(&line[at..]);
        if at == line.len() {
            return None;
        }
        let start = at;
        if let Some(length) = markup_len(at) {
            at += length;
            return Some(MarkupToken::Markup(&line[start..at]));
        }
        at += match word_len(&line[at..], false) {
            0 => word_len(&line[at..], true),
            length => length,
        };
        while factors && line[start..at].ends_with(b"|") {
            let Some(length) = markup_len(at) else { break };
            at += length;
            at += line[at..].iter().take_while(|&&byte| byte == b'|').count();
        }
        Some(MarkupToken::Word(&line[start..at]))
    })
}

fn whitespace_len(text: &[u8]) -> usize {
    char_indices(text)
        .find(|(_, symbol)| !symbol.class().intersects(CharClass::SPACE))
        .map_or(text.len(), |(at, _)| at)
}

/// Returns the length in bytes of the markup that a text begins with: a bracket, a character other
/// than white space, and everything up to the next closing bracket.
fn markup_len(text: &[u8]) -> Option<usize> {
    let inside = text.strip_prefix(b"<")?;
    let symbol =
        first_char(inside).filter(|symbol| !symbol.class().intersects(CharClass::SPACE))?;
    let end = memchr::memchr(b'>', &inside[symbol.byte_len..]);
    steps::count(end.unwrap_or(inside.len()));
    let end = end?;
    Some(1 + symbol.byte_len + end + 1)
}

/// Returns the length in bytes of the word that a text begins with. Brackets end a word unless they
/// are `allowed`.
fn word_len(text: &[u8], allowed: bool) -> usize {
    char_indices(text)
        .find(|(_, symbol)| {
            symbol.class().intersects(CharClass::SPACE)
                || !allowed && matches!(symbol.character, Some('<' | '>'))
        })
        .map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str, factors: bool) -> Vec<MarkupToken<'_>> {
        markup_tokens(line.as_bytes(), factors).collect()
    }

    #[test]
    fn markup_is_told_from_brackets() {
        use MarkupToken::{Markup, Word};
        let found = split(" a<b c=\"d e\"> f < 3 x>y", false);
        let expected = [
            Word(b"a"),
            Markup(b"<b c=\"d e\">"),
            Word(b"f"),
            Word(b"<"),
            Word(b"3"),
            Word(b"x"),
            Word(b">y"),
        ];
        assert_eq!(found, expected);
        assert_eq!(split("a|<b>|c", false), [Word(b"a|"), Markup(b"<b>"), Word(b"|c")]);
        assert_eq!(split("a|<b>|c", true), [Word(b"a|<b>|"), Word(b"c")]);
        assert_eq!(split(" \u{a0}", true), []);
    }
}
