//! Words that keep the full stop after them: abbreviations, acronyms, initials, list numbers.

use unicode_script::{Script, UnicodeScript};

use super::{trim_end_matching, trim_start};
use crate::NonbreakingPrefixes;
use crate::characters::{CharClass, char_indices, first_char, is_unspaced, last_char};
use crate::nonbreaking_prefixes::PrefixScope;
use crate::sentence_breaks::{BreakClass, classes_after_brackets};

/// Whether the full stop after `sentence` belongs to its last word; `after` follows the full stop.
pub(super) fn keeps_full_stop(
    prefixes: &NonbreakingPrefixes,
    sentence: &[u8],
    after: &[u8],
) -> bool {
    let word = &sentence[trim_end_matching(sentence, |c| !c.is_whitespace()).len()..];
    if is_acronym(word) || (word.len() == sentence.len() && is_list_item(word)) {
        return true;
    }
    let before = trim_end_matching(word, |c| !is_word_character(c));
    if before.len() < word.len() {
        return false;
    }
    let prefix = &word[trim_end_matching(word, is_word_character).len()..];
    let scope = spaced_scope(prefixes, sentence, prefix, after).or_else(|| prefixes.get(prefix));
    match scope {
        Some(PrefixScope::Anywhere) => true,
        Some(PrefixScope::BeforeNumber) => {
            trim_start(after).first().is_some_and(u8::is_ascii_digit)
        }
        None => is_initial(prefix) || is_lowercase_after_number(after) && keeps_number(prefix),
    }
}

/// Abbreviations that precede numbers in many languages, and those for months, in lower case.
/// Moses' lists lack them, and after these words a sentence rarely begins with a number.
const BEFORE_NUMBERS: [&str; 34] = [
    "abs", "approx", "aprox", "bd", "ca", "cap", "ch", "chap", "env", "eq", "eqs", "fig", "figs",
    "kap", "nr", "pag", "pp", "sec", "sect", "tel", "ver", "vol", "vols", "jan", "feb", "apr",
    "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
];

/// Whether `word` is an abbreviation or a part of a date, if a full stop, a number and lower case
/// follow it: `c. 18, s. 4 and`, `3. 10. 2020 wurde`.
fn keeps_number(word: &[u8]) -> bool {
    let is_letter = first_char(word).is_some_and(|first| {
        first.byte_len == word.len() && first.class().intersects(CharClass::ALPHABETIC)
    });
    let is_day = matches!(word.len(), 1 | 2) && word.iter().all(u8::is_ascii_digit);
    let lower = word.to_ascii_lowercase();
    is_letter || is_day || BEFORE_NUMBERS.iter().any(|known| known.as_bytes() == lower)
}

/// Whether `text` begins with a number (perhaps after spaces and brackets), and the next letter or
/// mark that ends sentences is a lowercase letter.
fn is_lowercase_after_number(text: &[u8]) -> bool {
    let mut classes = classes_after_brackets(text);
    classes.next() == Some(BreakClass::Digit)
        && classes.find(|class| {
            matches!(
                class,
                BreakClass::Lowercase
                    | BreakClass::Uppercase
                    | BreakClass::Letter
                    | BreakClass::Separator
                    | BreakClass::Mark
                    | BreakClass::FullStop
            )
        }) == Some(BreakClass::Lowercase)
}

/// The maximum number of words in an abbreviation.
const MAX_WORDS: usize = 4;

/// Returns the scope of an abbreviation of several words, such as `EE. UU.`, if `word` is one of
/// its words. The list has the abbreviation without spaces: `EE.UU`. `sentence` ends with `word`,
/// and `after` follows its full stop.
fn spaced_scope(
    prefixes: &NonbreakingPrefixes,
    sentence: &[u8],
    word: &[u8],
    after: &[u8],
) -> Option<PrefixScope> {
    let max_len = prefixes.longest_dotted();
    let next = next_word(after, max_len);
    let mut before = &sentence[..sentence.len() - word.len()];
    let mut joined = word.to_vec();
    for count in 1..=MAX_WORDS {
        if joined.len() > max_len {
            break;
        }
        let whole = prefixes.get(&joined).filter(|_| count > 1);
        let scope = whole.or_else(|| prefixes.get(&[&joined, next?].join(&b'.')));
        if scope.is_some() {
            return scope;
        }
        let (rest, previous) = split_previous_word(before)?;
        joined.splice(..0, [previous, b"."].concat());
        before = rest;
    }
    None
}

/// Returns the word after one space and before a full stop at the start of `text`, up to `max_len`
/// bytes.
fn next_word(text: &[u8], max_len: usize) -> Option<&[u8]> {
    let space = first_char(text).filter(|c| c.class().intersects(CharClass::SPACE))?;
    let text = &text[space.byte_len..];
    let end = memchr::memchr(b'.', &text[..text.len().min(max_len + 1)])?;
    let word = &text[..end];
    (end > 0 && trim_end_matching(word, is_word_character).is_empty()).then_some(word)
}

/// If `text` ends with a word, a full stop and one space, returns the text before the word, and the
/// word.
fn split_previous_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = last_char(text).filter(|c| c.class().intersects(CharClass::SPACE))?;
    let text = text[..text.len() - space.byte_len].strip_suffix(b".")?;
    let rest = trim_end_matching(text, is_word_character);
    let word = &text[rest.len()..];
    (!word.is_empty()).then_some((rest, word))
}

/// Whether a character is part of a word in Moses' rule of abbreviations.
fn is_word_character(character: char) -> bool {
    matches!(character, '.' | '-')
        || CharClass::from_char(character).intersects(CharClass::ALPHANUMERIC)
}

/// Whether a word without its last full stop ends like an acronym: a full stop, then capitals.
fn is_acronym(word: &[u8]) -> bool {
    let before = trim_end_matching(word, |c: char| c == '-' || c.is_uppercase());
    before.len() < word.len() && before.ends_with(b".")
}

/// Whether a word without its full stop is an initial: a single capital letter of any script, or a
/// letter (not a Korean syllable) of a script without capitals that has spaces between words. Two
/// letters count if they write one initial sound of names: `Дж. Р. Р. Толкин`.
fn is_initial(word: &[u8]) -> bool {
    let Some(first) = first_char(word) else { return false };
    let Some(letter) = first.character else { return false };
    let rest = &word[first.byte_len..];
    let is_alone = char_indices(rest).all(|(_, symbol)| {
        symbol.character.is_some_and(|c| BreakClass::from_char(c) == BreakClass::Extension)
    });
    match BreakClass::from_char(letter) {
        BreakClass::Uppercase => is_alone || matches!(std::str::from_utf8(word), Ok("Дж" | "Дз")),
        BreakClass::Letter => {
            rest.is_empty() && !is_unspaced(letter) && letter.script() != Script::Hangul
        }
        _ => false,
    }
}

/// Whether a word without its full stop is a list number: `1`, `(iv)`, `b`.
fn is_list_item(word: &[u8]) -> bool {
    let number = word.strip_prefix(b"(").unwrap_or(word);
    let number = number.strip_suffix(b")").unwrap_or(number);
    let is_letter = matches!(number, [letter] if letter.is_ascii_alphabetic());
    let is_roman = number.iter().all(|byte| b"ivx".contains(byte));
    is_letter || !number.is_empty() && (is_roman || number.iter().all(u8::is_ascii_digit))
}
