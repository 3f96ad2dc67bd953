//! Classification of raised text: footnote marks, which do not belong to words, and parts of words.
//!
//! In a page `house<sup>1</sup>` and `H<sub>2</sub>O` look alike, but a reader sees a word with a
//! mark in the first and one word in the second. The raised text and the text around it decide:
//! marks are numbers, single letters, signs or labels in brackets, and follow a word or its
//! punctuation. Exponents, ordinals and formulas follow short symbols.

/// The maximum length of a mark, in bytes.
pub(super) const MAX_BYTES: usize = 40;

/// The minimum number of letters of a word before a mark: symbols and units are shorter.
const MIN_WORD: usize = 3;

/// The minimum number of digits of a number before a mark: a year.
const MIN_NUMBER: usize = 4;

/// Functions and units that have exponents.
const WITH_EXPONENT: &[&str] =
    &["cos", "cosh", "cot", "exp", "log", "max", "min", "mol", "rad", "sin", "sinh", "tan", "tanh"];

/// Whether raised text is a mark between `before` and `after`, which touch it without white space.
pub(super) fn is_reference_mark(before: &str, raised: &str, after: &str) -> bool {
    let raised = raised.trim();
    if raised.is_empty() || raised.len() > MAX_BYTES {
        return false;
    }
    if raised.chars().all(|c| "*†‡§¶#®©℠™".contains(c))
        || matches!(raised, "TM" | "SM" | "(R)" | "(C)")
    {
        return true;
    }
    fn is_number(text: &str) -> bool {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_digit() || " ,;–-".contains(c))
            && text.split(|c: char| !c.is_ascii_digit()).all(|digits| digits.len() <= 3)
    }
    fn is_letter(text: &str) -> bool {
        text.len() == 1 && text.as_bytes()[0].is_ascii_lowercase()
    }
    let label = raised.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let label = label.unwrap_or_default();
    if is_number(label)
        || is_letter(label)
        || label.len() > 1 && label.ends_with(|c: char| c.is_ascii_digit())
    {
        return true;
    }
    let note = raised.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let note = note.unwrap_or_default();
    let is_letter = is_letter(raised) || is_letter(note);
    if !(is_number(raised) || is_number(note) || is_letter) {
        return false;
    }
    match before.chars().next_back() {
        None => !begins_word(after, is_letter),
        Some(c) if c.is_alphabetic() => {
            let word = ending(before, char::is_alphabetic);
            let letters = word.chars().count();
            letters >= MIN_WORD && !WITH_EXPONENT.contains(&&*word.to_lowercase())
        }
        Some(c) if c.is_numeric() => {
            !is_letter && ending(before, char::is_numeric).chars().count() >= MIN_NUMBER
        }
        // Raised text is a mark after brackets with letters, an exponent after others: `(1+2)`.
        Some(')' | ']' | '}') => ending(before, |c| c != ' ').contains(char::is_alphabetic),
        Some(c) => ".,;:!?\"'”’»…%。、，！？」』".contains(c),
    }
}

/// Whether raised or lowered text that is not a mark is separate from the word before it, not its
/// ending.
pub(super) fn is_apart(before: &str, raised: &str) -> bool {
    let raised = raised.trim();
    fn letters(text: &str) -> usize {
        text.chars().filter(|c| c.is_alphabetic()).count()
    }
    let word = ending(before, char::is_alphabetic);
    raised.contains(char::is_whitespace)
        || letters(word) >= MIN_WORD
            && letters(raised) >= MIN_WORD
            && raised.chars().all(char::is_alphabetic)
}

/// Returns the longest ending of a text in which `is_alike` accepts all characters.
fn ending(text: &str, is_alike: impl Fn(char) -> bool) -> &str {
    let start = text.char_indices().rev().take_while(|(_, c)| is_alike(*c)).last();
    start.map_or("", |(at, _)| &text[at..])
}

/// Whether raised text at the beginning of a text is part of the word after it, as in
/// `<sup>14</sup>C`.
fn begins_word(after: &str, is_letter: bool) -> bool {
    let mut letters = after.chars().take_while(|c| c.is_alphabetic());
    match (letters.next(), letters.next(), letters.next()) {
        (Some(first), second, None) => {
            is_letter || first.is_uppercase() && second.is_none_or(char::is_lowercase)
        }
        (Some(_), ..) => is_letter,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_from_parts_of_words() {
        for (before, raised, after) in [
            ("the house", "1", " is"),
            ("the house", "[12]", ""),
            ("the house", "[note 3]", ""),
            ("the house", "*", " is"),
            ("Miriam", "TM", " is"),
            ("it is big.", "2, 3", " The"),
            ("it is big,", "a", " and"),
            ("la casa", "(1)", ""),
            ("in 1990", "4", " he"),
            ("(the house)", "1", ""),
            ("", "1", "See the house"),
            ("", "1", " See the house"),
        ] {
            assert!(is_reference_mark(before, raised, after), "{before}^{raised}{after}");
        }
        for (before, raised, after) in [
            ("x", "2", " is"),
            ("5 km", "2", ""),
            ("sin", "2", " x"),
            ("10", "6", ""),
            ("١٠", "6", ""),
            ("1", "st", " of"),
            ("M", "me", " X"),
            ("Ca", "2+", ""),
            ("s", "-1", ""),
            ("", "14", "C is"),
            ("(1+2)", "2", ""),
            ("the house", "citation needed", ""),
            ("the house", "", ""),
        ] {
            assert!(!is_reference_mark(before, raised, after), "{before}^{raised}{after}");
        }
        assert!(is_apart("the house", "citation needed") && is_apart("the house", "new"));
        assert!(!is_apart("M", "lle") && !is_apart("x", "max") && !is_apart("CO", "2"));
    }
}
