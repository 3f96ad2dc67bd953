//! Separation of full stops from the ends of words, unless they belong to the word.

use crate::NonbreakingPrefixes;
use crate::characters::{CharClass, char_indices, first_class};
use crate::nonbreaking_prefixes::PrefixScope;

/// Returns the words of `text`, separated by single spaces, with the full stops at their ends as
/// tokens: at the last word always, at others unless the word is an abbreviation, contains
/// another full stop and a letter, or is followed by a word in lower case.
pub(super) fn split_full_stops(text: &[u8], prefixes: &NonbreakingPrefixes) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut words = text.split(|&byte| byte == b' ').filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        if !out.is_empty() {
            out.push(b' ');
        }
        match word.strip_suffix(b".") {
            Some(stem)
                if !stem.is_empty() && !keeps_full_stop(stem, words.peek().copied(), prefixes) =>
            {
                out.extend_from_slice(stem);
                out.extend_from_slice(b" .");
            }
            _ => out.extend_from_slice(word),
        }
    }
    // If a quotation with its full stop inside ends the text, Moses' script leaves a space after
    // it.
    if out.ends_with(b".'") {
        out.truncate(out.len() - 2);
        out.extend_from_slice(b" . ' ");
    }
    out
}

/// Whether the word `stem` keeps the full stop after it, before the word `next`.
fn keeps_full_stop(stem: &[u8], next: Option<&[u8]>, prefixes: &NonbreakingPrefixes) -> bool {
    let Some(next) = next else { return false };
    if first_class(next).intersects(CharClass::LOWERCASE) || is_dotted_abbreviation(stem) {
        return true;
    }
    match prefixes.get(stem) {
        Some(PrefixScope::Anywhere) => true,
        Some(PrefixScope::BeforeNumber) => next[0].is_ascii_digit(),
        None => false,
    }
}

/// Whether a word has a full stop and a letter: `p.m`, `U.S`.
fn is_dotted_abbreviation(word: &[u8]) -> bool {
    word.contains(&b'.')
        && char_indices(word).any(|(_, symbol)| symbol.class().intersects(CharClass::ALPHABETIC))
}
