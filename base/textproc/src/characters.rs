//! Characters of a text that may not be UTF-8, and what kind each is.
//!
//! The rules of this crate ask of a character whether it is a letter, a digit, a
//! number, in lower case, white space or a currency sign, in the sense of Unicode as
//! Perl's classes of these names have it. Characters of one and two bytes, nearly
//! all of European text, are answered from tables. A byte that is part of no
//! character is a character of no kind.

use std::sync::LazyLock;

use unicode_general_category::{GeneralCategory, get_general_category};

/// The kinds a character is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    /// Unicode's property Alphabetic.
    pub const ALPHABETIC: Kinds = Kinds(1);
    /// A decimal digit of any script.
    pub const DIGIT: Kinds = Kinds(2);
    /// A number of any sort: digits, fractions, Roman numerals.
    pub const NUMBER: Kinds = Kinds(4);
    /// Unicode's property Lowercase.
    pub const LOWERCASE: Kinds = Kinds(8);
    /// Unicode's property White_Space.
    pub const SPACE: Kinds = Kinds(16);
    /// A sign of a currency.
    pub const CURRENCY: Kinds = Kinds(32);
    /// A letter that has a case: upper, lower or title.
    pub const CASED: Kinds = Kinds(64);
    /// A letter of the general category Ll, which fewer are than [`Kinds::LOWERCASE`].
    pub const SMALL_LETTER: Kinds = Kinds(128);
    /// Letters and digits.
    pub const ALPHANUMERIC: Kinds = Kinds(1 | 2);
    const NONE: Kinds = Kinds(0);

    /// Whether the character is of one of the kinds in `any` at least.
    #[inline]
    pub fn is(self, any: Kinds) -> bool {
        self.0 & any.0 != 0
    }

    /// The kinds of a character.
    #[inline]
    pub fn of(character: char) -> Kinds {
        match u32::from(character) {
            code @ 0..0x80 => ONE_BYTE[code as usize],
            code @ 0x80..0x800 => TWO_BYTES[code as usize],
            _ => Self::look_up(character),
        }
    }

    fn look_up(character: char) -> Kinds {
        let category = get_general_category(character);
        let mut kinds = match category {
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
                kinds |= kind.0;
            }
        }
        Kinds(kinds)
    }
}

/// Whether Unicode, or ASCII for its own range, calls the character punctuation.
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

/// By byte, so that no byte needs a check; those of longer characters have no kind.
static ONE_BYTE: [Kinds; 256] = {
    let mut table = [Kinds::NONE; 256];
    let mut byte = 0u8;
    while byte < 128 {
        let mut kinds = 0;
        if byte.is_ascii_alphabetic() {
            kinds |= Kinds::ALPHABETIC.0 | Kinds::CASED.0;
        }
        if byte.is_ascii_lowercase() {
            kinds |= Kinds::LOWERCASE.0 | Kinds::SMALL_LETTER.0;
        }
        if byte.is_ascii_digit() {
            kinds |= Kinds::DIGIT.0 | Kinds::NUMBER.0;
        }
        if byte == b' ' || (byte >= b'\t' && byte <= b'\r') {
            kinds |= Kinds::SPACE.0;
        }
        if byte == b'$' {
            kinds |= Kinds::CURRENCY.0;
        }
        table[byte as usize] = Kinds(kinds);
        byte += 1;
    }
    table
};

static TWO_BYTES: LazyLock<[Kinds; 0x800]> = LazyLock::new(|| {
    std::array::from_fn(|code| char::from_u32(code as u32).map_or(Kinds::NONE, Kinds::look_up))
});

/// One character, or one byte that is part of none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// The character, unless it is a stray byte.
    pub character: Option<char>,
    /// Its length in bytes.
    pub length: usize,
}

impl Symbol {
    const STRAY: Symbol = Symbol { character: None, length: 1 };

    /// Its kinds.
    #[inline]
    pub fn kinds(self) -> Kinds {
        self.character.map_or(Kinds::NONE, Kinds::of)
    }
}

/// The first character of a text.
#[inline]
pub(crate) fn first(text: &[u8]) -> Option<Symbol> {
    let &lead = text.first()?;
    if lead < 0x80 {
        return Some(Symbol { character: Some(char::from(lead)), length: 1 });
    }
    Some(longer(text, lead))
}

fn longer(text: &[u8], lead: u8) -> Symbol {
    let (length, least) = match lead {
        0xC2..=0xDF => (2, 0x80),
        0xE0..=0xEF => (3, 0x800),
        0xF0..=0xF4 => (4, 0x1_0000),
        _ => return Symbol::STRAY,
    };
    let Some(rest) = text.get(1..length) else { return Symbol::STRAY };
    let mut code = u32::from(lead) & (0x7F >> length);
    for &byte in rest {
        if byte & 0xC0 != 0x80 {
            return Symbol::STRAY;
        }
        code = code << 6 | u32::from(byte & 0x3F);
    }
    match char::from_u32(code) {
        Some(character) if code >= least => Symbol { character: Some(character), length },
        _ => Symbol::STRAY,
    }
}

/// The last character of a text.
#[inline]
pub(crate) fn last(text: &[u8]) -> Option<Symbol> {
    let &end = text.last()?;
    if end < 0x80 {
        return Some(Symbol { character: Some(char::from(end)), length: 1 });
    }
    for length in 2..=text.len().min(4) {
        let symbol = first(&text[text.len() - length..])?;
        if symbol.length == length {
            return Some(symbol);
        }
    }
    Some(Symbol::STRAY)
}

/// The kinds of the first character; of an empty text none.
#[inline]
pub(crate) fn first_kinds(text: &[u8]) -> Kinds {
    first(text).map_or(Kinds::NONE, Symbol::kinds)
}

/// The kinds of the last character; of an empty text none.
#[inline]
pub(crate) fn last_kinds(text: &[u8]) -> Kinds {
    last(text).map_or(Kinds::NONE, Symbol::kinds)
}

/// All characters, with where they begin.
pub(crate) fn symbols(text: &[u8]) -> impl Iterator<Item = (usize, Symbol)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let symbol = first(&text[at..])?;
        at += symbol.length;
        Some((at - symbol.length, symbol))
    })
}

/// Whether nothing but white space is in a text.
pub(crate) fn is_blank(text: &[u8]) -> bool {
    symbols(text).all(|(_, symbol)| symbol.kinds().is(Kinds::SPACE))
}

/// The pieces between white space.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_space = |symbol: Symbol| symbol.kinds().is(Kinds::SPACE);
        let start = symbols(rest).find(|&(_, symbol)| !is_space(symbol))?.0;
        rest = &rest[start..];
        let end = symbols(rest).find(|&(_, symbol)| is_space(symbol)).map_or(rest.len(), |s| s.0);
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// Appends `text` with every character changed by `change`, whose results may be
/// several characters each. Stray bytes stay.
pub(crate) fn map_characters<C: Iterator<Item = char>>(
    text: &[u8],
    change: impl Fn(char) -> C,
    out: &mut Vec<u8>,
) {
    for (at, symbol) in symbols(text) {
        match symbol.character {
            Some(character) => change(character).for_each(|c| push(c, out)),
            None => out.extend_from_slice(&text[at..at + symbol.length]),
        }
    }
}

/// Appends a character.
pub(crate) fn push(character: char, out: &mut Vec<u8>) {
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Appends `text` in lower case, each character for itself: a sigma at the end of a
/// word is like any other.
pub(crate) fn lowercase(text: &[u8], out: &mut Vec<u8>) {
    if text.is_ascii() {
        out.extend(text.iter().map(u8::to_ascii_lowercase));
    } else {
        map_characters(text, char::to_lowercase, out);
    }
}

/// Appends `text` with its first character in upper case, which may be several: ß
/// becomes SS.
pub(crate) fn capitalize(text: &[u8], out: &mut Vec<u8>) {
    let length = first(text).map_or(0, |symbol| symbol.length);
    map_characters(&text[..length], char::to_uppercase, out);
    out.extend_from_slice(&text[length..]);
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
            let found: Vec<_> = symbols(&text).map(|(_, symbol)| symbol.character).collect();
            prop_assert_eq!(&found, &expected);
            let mut backwards = Vec::new();
            let mut rest = &text[..];
            while let Some(symbol) = last(rest) {
                backwards.push(symbol.character);
                rest = &rest[..rest.len() - symbol.length];
            }
            backwards.reverse();
            prop_assert_eq!(backwards, expected);
        }

        #[test]
        fn words_are_those_of_the_standard_library(text in "[a-cé \u{a0}\t]{0,20}") {
            let found: Vec<_> = words(text.as_bytes()).collect();
            let expected: Vec<_> = text.split_whitespace().map(str::as_bytes).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn characters_in_any_encoding(c in any::<char>()) {
            let kinds = Kinds::of(c);
            prop_assert_eq!(kinds, Kinds::look_up(c));
            prop_assert_eq!(kinds.is(Kinds::NUMBER), c.is_numeric());
        }
    }

    #[test]
    fn kinds_of_ascii_are_unicodes() {
        for byte in 0..128 {
            assert_eq!(Kinds::of(char::from(byte)), Kinds::look_up(char::from(byte)), "{byte}");
        }
    }

    #[test]
    fn fractions_are_numbers_but_not_alphanumeric() {
        assert!(Kinds::of('½').is(Kinds::NUMBER));
        assert!(!Kinds::of('½').is(Kinds::ALPHANUMERIC));
        assert!(Kinds::of('٣').is(Kinds::ALPHANUMERIC));
        assert!(Kinds::of('Ⅷ').is(Kinds::ALPHANUMERIC));
    }
}
