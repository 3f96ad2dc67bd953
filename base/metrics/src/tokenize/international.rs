//! International tokeniser of mteval-v14: by Unicode categories, it splits off all symbols, and
//! punctuation if one of the neighbouring characters is not a number.

use unicode_general_category::{GeneralCategory as Category, get_general_category};

use super::spacing::{PairSpacing, space_around, space_pairs};

pub(super) fn tokenize(line: &str) -> String {
    let line = space_pairs(line, PairSpacing::BetweenAndAfter, |c| !is_number(c), is_punctuation);
    let line = space_pairs(&line, PairSpacing::BeforeAndBetween, is_punctuation, |c| !is_number(c));
    space_around(&line, is_symbol)
}

fn is_number(c: char) -> bool {
    let category = get_general_category(c);
    matches!(category, Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber)
}

fn is_punctuation(c: char) -> bool {
    matches!(
        get_general_category(c),
        Category::ConnectorPunctuation
            | Category::DashPunctuation
            | Category::OpenPunctuation
            | Category::ClosePunctuation
            | Category::InitialPunctuation
            | Category::FinalPunctuation
            | Category::OtherPunctuation
    )
}

fn is_symbol(c: char) -> bool {
    matches!(
        get_general_category(c),
        Category::MathSymbol
            | Category::CurrencySymbol
            | Category::ModifierSymbol
            | Category::OtherSymbol
    )
}
