//! International tokeniser of mteval-v14: by Unicode categories, it splits off all symbols, and
//! punctuation if one of the neighbouring characters is not a number.
//!
//! Categories are those of Unicode 18, as in Python's module `regex` of 2026, which sacreBLEU uses.

use unicode_general_category::{GeneralCategory as Category, get_general_category};

use super::spacing::{PairSpacing, space_around, space_pairs};

/// First and last characters of ranges.
type Ranges = [(char, char)];

/// Numbers of Unicode 17 and 18, which the library of categories does not know.
const NEW_NUMBERS: &Ranges = &[
    ('\u{11de0}', '\u{11de9}'),
    ('\u{1246f}', '\u{1246f}'),
    ('\u{12475}', '\u{1247f}'),
    ('\u{12550}', '\u{12686}'),
    ('\u{16ff4}', '\u{16ff6}'),
];

/// Punctuation of Unicode 17 and 18.
const NEW_PUNCTUATION: &Ranges = &[('\u{2e60}', '\u{2e63}'), ('\u{10ed0}', '\u{10ed0}')];

/// Symbols of Unicode 17 and 18.
const NEW_SYMBOLS: &Ranges = &[
    ('\u{20c1}', '\u{20c4}'),
    ('\u{2b96}', '\u{2b96}'),
    ('\u{fbc3}', '\u{fbd2}'),
    ('\u{fd90}', '\u{fd91}'),
    ('\u{fdc8}', '\u{fdce}'),
    ('\u{10ec9}', '\u{10eca}'),
    ('\u{10ed1}', '\u{10ed8}'),
    ('\u{1ccfa}', '\u{1ccfc}'),
    ('\u{1ceba}', '\u{1ced0}'),
    ('\u{1ced2}', '\u{1ced4}'),
    ('\u{1cedd}', '\u{1cefd}'),
    ('\u{1d1eb}', '\u{1d1ff}'),
    ('\u{1d253}', '\u{1d25a}'),
    ('\u{1d25d}', '\u{1d25e}'),
    ('\u{1d260}', '\u{1d27f}'),
    ('\u{1db00}', '\u{1db1c}'),
    ('\u{1f1ae}', '\u{1f1ae}'),
    ('\u{1f6d8}', '\u{1f6d9}'),
    ('\u{1f777}', '\u{1f77a}'),
    ('\u{1f7da}', '\u{1f7db}'),
    ('\u{1f7f1}', '\u{1f7ff}'),
    ('\u{1f8d0}', '\u{1f8d8}'),
    ('\u{1fa54}', '\u{1fa57}'),
    ('\u{1fa8a}', '\u{1fa8e}'),
    ('\u{1fac8}', '\u{1fac8}'),
    ('\u{1facc}', '\u{1facd}'),
    ('\u{1fadd}', '\u{1fadd}'),
    ('\u{1faea}', '\u{1faeb}'),
    ('\u{1faef}', '\u{1faef}'),
    ('\u{1faf9}', '\u{1fafa}'),
    ('\u{1fbfa}', '\u{1fbfa}'),
];

pub(super) fn tokenize(line: &str) -> String {
    let line = space_pairs(line, PairSpacing::BetweenAndAfter, |c| !is_number(c), is_punctuation);
    let line = space_pairs(&line, PairSpacing::BeforeAndBetween, is_punctuation, |c| !is_number(c));
    space_around(&line, is_symbol)
}

fn is_number(c: char) -> bool {
    match get_general_category(c) {
        Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber => true,
        Category::Unassigned => is_in(c, NEW_NUMBERS),
        _ => false,
    }
}

fn is_punctuation(c: char) -> bool {
    match get_general_category(c) {
        Category::ConnectorPunctuation
        | Category::DashPunctuation
        | Category::OpenPunctuation
        | Category::ClosePunctuation
        | Category::InitialPunctuation
        | Category::FinalPunctuation
        | Category::OtherPunctuation => true,
        Category::Unassigned => is_in(c, NEW_PUNCTUATION),
        _ => false,
    }
}

fn is_symbol(c: char) -> bool {
    match get_general_category(c) {
        Category::MathSymbol
        | Category::CurrencySymbol
        | Category::ModifierSymbol
        | Category::OtherSymbol => true,
        Category::Unassigned => is_in(c, NEW_SYMBOLS),
        _ => false,
    }
}

fn is_in(c: char, ranges: &Ranges) -> bool {
    ranges.iter().any(|&(first, last)| (first..=last).contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sacreBLEU 2.6.0 with `regex` 2026.11.19 gave the tokens.
    #[test]
    fn characters_of_unicode_18_have_their_categories() {
        for (line, tokens) in [
            (
                "a\u{20c1}b \u{1faea}c 5\u{2e60}5 x\u{2e60}y 1\u{20c4}5",
                "a \u{20c1} b \u{1faea} c 5\u{2e60}5 x \u{2e60} y 1 \u{20c4} 5",
            ),
            (
                "x.\u{12475}.y \u{12475},\u{11de0} z,\u{11de0}",
                "x . \u{12475} . y \u{12475},\u{11de0} z , \u{11de0}",
            ),
            ("\u{2e63}5 \u{10ed0}a", "\u{2e63}5 \u{10ed0} a"),
        ] {
            let found = tokenize(line);
            assert_eq!(found.split_whitespace().collect::<Vec<_>>().join(" "), tokens);
        }
    }
}
