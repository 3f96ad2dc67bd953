//! Characters of text that may not be UTF-8, and their Unicode classes.
//!
//! The rules of this crate depend on whether a character is a letter, a digit, a number, in lower
//! case, white space or a currency sign, as Unicode and Perl define it. Characters of one and two
//! bytes, nearly all of European text, are looked up in tables. A byte that is not part of a
//! character counts as a character without a class.

use std::borrow::Cow;
use std::sync::LazyLock;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_script::{Script, UnicodeScript};

use crate::steps;

/// The classes of a character, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CharClass(u8);

impl CharClass {
    /// Unicode's property Alphabetic.
    pub const ALPHABETIC: CharClass = CharClass(1);
    /// A decimal digit of any script.
    pub const DIGIT: CharClass = CharClass(2);
    /// A number of any kind: digits, fractions, Roman numerals.
    pub const NUMBER: CharClass = CharClass(4);
    /// Unicode's property Lowercase.
    pub const LOWERCASE: CharClass = CharClass(8);
    /// Unicode's property White_Space.
    pub const SPACE: CharClass = CharClass(16);
    /// A currency symbol.
    pub const CURRENCY: CharClass = CharClass(32);
    /// A letter that has a case: upper, lower or title.
    pub const CASED: CharClass = CharClass(64);
    /// A letter of the general category Ll, a subset of [`CharClass::LOWERCASE`].
    pub const LOWERCASE_LETTER: CharClass = CharClass(128);
    /// Letters and digits.
    pub const ALPHANUMERIC: CharClass = CharClass(1 | 2);
    const NONE: CharClass = CharClass(0);

    /// Whether the character is in at least one of the classes in `any`.
    #[inline]
    pub fn intersects(self, any: CharClass) -> bool {
        self.0 & any.0 != 0
    }

    /// Returns the classes of a character.
    #[inline]
    pub fn from_char(character: char) -> CharClass {
        match u32::from(character) {
            code @ 0..0x80 => ASCII_CLASSES[code as usize],
            code @ 0x80..0x800 => TWO_BYTE_CLASSES[code as usize],
            _ => Self::compute(character),
        }
    }

    fn compute(character: char) -> CharClass {
        let category = get_general_category(character);
        let mut classes = match category {
            GeneralCategory::DecimalNumber => 2 | 4,
            GeneralCategory::LetterNumber | GeneralCategory::OtherNumber => 4,
            GeneralCategory::LowercaseLetter => 64 | 128,
            GeneralCategory::UppercaseLetter | GeneralCategory::TitlecaseLetter => 64,
            GeneralCategory::CurrencySymbol => 32,
            _ => 0,
        };
        for (holds, kind) in [
            (character.is_alphabetic(), Self::ALPHABETIC),
            (character.is_lowercase(), Self::LOWERCASE),
            (character.is_whitespace(), Self::SPACE),
        ] {
            if holds {
                classes |= kind.0;
            }
        }
        CharClass(classes)
    }
}

/// Whether the character is punctuation by Unicode's category or in ASCII. ASCII punctuation
/// includes symbols such as `$`.
pub(crate) fn is_punctuation(character: char) -> bool {
    use GeneralCategory as Category;
    character.is_ascii_punctuation()
        || matches!(
            get_general_category(character),
            Category::ConnectorPunctuation
                | Category::DashPunctuation
                | Category::OpenPunctuation
                | Category::ClosePunctuation
                | Category::InitialPunctuation
                | Category::FinalPunctuation
                | Category::OtherPunctuation
        )
}

/// Whether a category is that of combining marks or of invisible characters.
pub(crate) fn is_extension(category: GeneralCategory) -> bool {
    matches!(
        category,
        GeneralCategory::NonspacingMark
            | GeneralCategory::SpacingMark
            | GeneralCategory::EnclosingMark
            | GeneralCategory::Format
    )
}

/// Classes for all 256 bytes, so that lookups need no check; bytes of longer characters have none.
static ASCII_CLASSES: [CharClass; 256] = {
    let mut table = [CharClass::NONE; 256];
    let mut byte = 0u8;
    while byte < 128 {
        let mut classes = 0;
        if byte.is_ascii_alphabetic() {
            classes |= CharClass::ALPHABETIC.0 | CharClass::CASED.0;
        }
        if byte.is_ascii_lowercase() {
            classes |= CharClass::LOWERCASE.0 | CharClass::LOWERCASE_LETTER.0;
        }
        if byte.is_ascii_digit() {
            classes |= CharClass::DIGIT.0 | CharClass::NUMBER.0;
        }
        if byte == b' ' || (byte >= b'\t' && byte <= b'\r') {
            classes |= CharClass::SPACE.0;
        }
        if byte == b'$' {
            classes |= CharClass::CURRENCY.0;
        }
        table[byte as usize] = CharClass(classes);
        byte += 1;
    }
    table
};

static TWO_BYTE_CLASSES: LazyLock<[CharClass; 0x800]> = LazyLock::new(|| {
    std::array::from_fn(|code| {
        char::from_u32(code as u32).map_or(CharClass::NONE, CharClass::compute)
    })
});

/// A character, or an invalid byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DecodedChar {
    /// The character; `None` for an invalid byte.
    pub character: Option<char>,
    /// Its length in bytes.
    pub byte_len: usize,
}

impl DecodedChar {
    const INVALID_BYTE: DecodedChar = DecodedChar { character: None, byte_len: 1 };

    /// Returns its classes.
    #[inline]
    pub fn class(self) -> CharClass {
        self.character.map_or(CharClass::NONE, CharClass::from_char)
    }
}

/// Returns the first character of a text.
#[inline]
pub(crate) fn first_char(text: &[u8]) -> Option<DecodedChar> {
    let &lead = text.first()?;
    steps::count(1);
    if lead < 0x80 {
        return Some(DecodedChar { character: Some(char::from(lead)), byte_len: 1 });
    }
    Some(decode_multibyte(text, lead))
}

fn decode_multibyte(text: &[u8], lead: u8) -> DecodedChar {
    let (length, least) = match lead {
        0xC2..=0xDF => (2, 0x80),
        0xE0..=0xEF => (3, 0x800),
        0xF0..=0xF4 => (4, 0x1_0000),
        _ => return DecodedChar::INVALID_BYTE,
    };
    let Some(rest) = text.get(1..length) else { return DecodedChar::INVALID_BYTE };
    let mut code = u32::from(lead) & (0x7F >> length);
    for &byte in rest {
        if byte & 0xC0 != 0x80 {
            return DecodedChar::INVALID_BYTE;
        }
        code = code << 6 | u32::from(byte & 0x3F);
    }
    match char::from_u32(code) {
        Some(character) if code >= least => {
            DecodedChar { character: Some(character), byte_len: length }
        }
        _ => DecodedChar::INVALID_BYTE,
    }
}

/// Returns the last character of a text.
#[inline]
pub(crate) fn last_char(text: &[u8]) -> Option<DecodedChar> {
    let &end = text.last()?;
    steps::count(1);
    if end < 0x80 {
        return Some(DecodedChar { character: Some(char::from(end)), byte_len: 1 });
    }
    for length in 2..=text.len().min(4) {
        let symbol = first_char(&text[text.len() - length..])?;
        if symbol.byte_len == length {
            return Some(symbol);
        }
    }
    Some(DecodedChar::INVALID_BYTE)
}

/// Returns the classes of the first character; an empty text has none.
#[inline]
pub(crate) fn first_class(text: &[u8]) -> CharClass {
    first_char(text).map_or(CharClass::NONE, DecodedChar::class)
}

/// Returns the classes of the last character; an empty text has none.
#[inline]
pub(crate) fn last_class(text: &[u8]) -> CharClass {
    last_char(text).map_or(CharClass::NONE, DecodedChar::class)
}

/// Returns all characters with their byte offsets.
pub(crate) fn char_indices(text: &[u8]) -> impl Iterator<Item = (usize, DecodedChar)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let symbol = first_char(&text[at..])?;
        at += symbol.byte_len;
        Some((at - symbol.byte_len, symbol))
    })
}

/// Whether a text is empty or only white space.
pub(crate) fn is_blank(text: &[u8]) -> bool {
    char_indices(text).all(|(_, symbol)| symbol.class().intersects(CharClass::SPACE))
}

/// Whether `str.isspace` of Python is true for a character.
pub(crate) fn is_python_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

/// Splits a text into words at white space.
pub(crate) fn split_whitespace(text: &[u8]) -> impl Iterator<Item = &[u8]> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        fn is_space(symbol: DecodedChar) -> bool {
            symbol.class().intersects(CharClass::SPACE)
        }
        let start = char_indices(rest).find(|&(_, symbol)| !is_space(symbol))?.0;
        rest = &rest[start..];
        let end =
            char_indices(rest).find(|&(_, symbol)| is_space(symbol)).map_or(rest.len(), |s| s.0);
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// Appends `text` with every character replaced by the result of `change`, which may be several
/// characters. Invalid bytes are kept.
pub(crate) fn map_chars<C: Iterator<Item = char>>(
    text: &[u8],
    change: impl Fn(char) -> C,
    out: &mut Vec<u8>,
) {
    for (at, symbol) in char_indices(text) {
        match symbol.character {
            Some(character) => change(character).for_each(|c| push_char(c, out)),
            None => out.extend_from_slice(&text[at..at + symbol.byte_len]),
        }
    }
}

/// Appends a character.
pub(crate) fn push_char(character: char, out: &mut Vec<u8>) {
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Appends `text` in lower case, each character separately, without a rule for a final sigma.
pub(crate) fn push_lowercase(text: &[u8], out: &mut Vec<u8>) {
    if text.is_ascii() {
        out.extend(text.iter().map(u8::to_ascii_lowercase));
    } else {
        map_chars(text, char::to_lowercase, out);
    }
}

/// Appends `text` with its first character in upper case. That may be several characters: ß becomes
/// SS.
pub(crate) fn push_capitalized(text: &[u8], out: &mut Vec<u8>) {
    let length = first_char(text).map_or(0, |symbol| symbol.byte_len);
    map_chars(&text[..length], char::to_uppercase, out);
    out.extend_from_slice(&text[length..]);
}

/// Returns the text with invalid bytes replaced by one-byte characters without a class, so that
/// offsets do not change.
pub(crate) fn decode(text: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut decoded = String::with_capacity(text.len());
            for (_, symbol) in char_indices(text) {
                decoded.push(symbol.character.unwrap_or('\u{1}'));
            }
            Cow::Owned(decoded)
        }
    }
}

/// Whether a character is a letter or digit of a script with spaces between words.
pub(crate) fn is_spaced_letter(character: char) -> bool {
    !is_unspaced(character) && CharClass::from_char(character).intersects(CharClass::ALPHANUMERIC)
}

/// Whether a character belongs to a script without spaces between words.
pub(crate) fn is_unspaced(character: char) -> bool {
    matches!(
        character.script(),
        Script::Han | Script::Hiragana | Script::Katakana | Script::Thai | Script::Bopomofo
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn characters_are_those_of_the_standard_library(text in any::<Vec<u8>>()) {
            let mut expected = Vec::new();
            for chunk in text.utf8_chunks() {
                expected.extend(chunk.valid().chars().map(Some));
                expected.extend(chunk.invalid().iter().map(|_| None));
            }
            let found: Vec<_> = char_indices(&text).map(|(_, symbol)| symbol.character).collect();
            prop_assert_eq!(&found, &expected);
            let mut backwards = Vec::new();
            let mut rest = &text[..];
            while let Some(symbol) = last_char(rest) {
                backwards.push(symbol.character);
                rest = &rest[..rest.len() - symbol.byte_len];
            }
            backwards.reverse();
            prop_assert_eq!(backwards, expected);
        }

        #[test]
        fn words_are_those_of_the_standard_library(text in "[a-cé \u{a0}\t]{0,20}") {
            let found: Vec<_> = split_whitespace(text.as_bytes()).collect();
            let expected: Vec<_> = text.split_whitespace().map(str::as_bytes).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn classes_in_tables_equal_computed_classes(c in any::<char>()) {
            let classes = CharClass::from_char(c);
            prop_assert_eq!(classes, CharClass::compute(c));
            prop_assert_eq!(classes.intersects(CharClass::NUMBER), c.is_numeric());
        }
    }

    #[test]
    fn classes_of_ascii_equal_computed_classes() {
        for byte in 0..128 {
            assert_eq!(
                CharClass::from_char(char::from(byte)),
                CharClass::compute(char::from(byte)),
                "{byte}"
            );
        }
    }

    #[test]
    fn fractions_are_numbers_but_not_alphanumeric() {
        assert!(CharClass::from_char('½').intersects(CharClass::NUMBER));
        assert!(!CharClass::from_char('½').intersects(CharClass::ALPHANUMERIC));
        assert!(CharClass::from_char('٣').intersects(CharClass::ALPHANUMERIC));
        assert!(CharClass::from_char('Ⅷ').intersects(CharClass::ALPHANUMERIC));
    }
}
