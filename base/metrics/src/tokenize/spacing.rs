//! Substitutions of two neighbouring characters, like those of a regular expression: from left to
//! right, without overlaps of matches.

/// The places of spaces around the two characters of a match.
#[derive(Clone, Copy)]
pub(crate) enum PairSpacing {
    /// Between them and after them.
    BetweenAndAfter,
    /// Before them and between them.
    BeforeAndBetween,
}

/// Inserts spaces where `first` is true for a character and `second` for the next one.
pub(crate) fn space_pairs(
    text: &str,
    gap: PairSpacing,
    first: impl Fn(char) -> bool,
    second: impl Fn(char) -> bool,
) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.next_if(|&next| first(c) && second(next)) {
            None => out.push(c),
            Some(next) => match gap {
                PairSpacing::BetweenAndAfter => out.extend([c, ' ', next, ' ']),
                PairSpacing::BeforeAndBetween => out.extend([' ', c, ' ', next]),
            },
        }
    }
    out
}

/// Inserts spaces around the characters for which `alone` is true.
pub(crate) fn space_around(text: &str, alone: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for c in text.chars() {
        if alone(c) { out.extend([' ', c, ' ']) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python's `re` gave the expected texts.
    #[test]
    fn a_character_is_part_of_one_match_only() {
        let stop = |c| c == '.' || c == ',';
        let digit = |c: char| c.is_ascii_digit();
        let spaced = |text| {
            space_pairs(text, PairSpacing::BetweenAndAfter, |c: char| !c.is_ascii_digit(), stop)
        };
        assert_eq!(spaced("a..b"), "a . .b");
        assert_eq!(spaced("é...1.5,x"), "é . . . 1.5,x");
        let spaced =
            |text| space_pairs(text, PairSpacing::BeforeAndBetween, stop, |c: char| !digit(c));
        assert_eq!(spaced("a..b.1"), "a . .b.1");
    }
}
