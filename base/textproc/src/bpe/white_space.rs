//! Merges in words that contain white space, such as no-break spaces.
//!
//! subword-nmt writes a word as symbols separated by spaces and replaces a pair with a pattern that
//! accepts any white space as a separator. If symbols themselves contain white space, the pattern
//! also matches the end of one symbol and the beginning of the next, and joins these two. To get
//! equal codes for French text, this code does the same.

/// Whether a symbol contains white space.
pub fn contains_white_space(symbol: &[u8]) -> bool {
    symbol.utf8_chunks().any(|chunk| chunk.valid().contains(is_white_space))
}

/// Python's white space.
fn is_white_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

/// Returns for each symbol whether replacing the pair `first`, `second` joins it to the previous
/// one.
pub fn find_joins(symbols: &[&[u8]], first: &[u8], second: &[u8]) -> Vec<bool> {
    let mut joins = vec![false; symbols.len()];
    for at in 1..symbols.len() {
        let (Some(before), Some(after)) =
            (symbols[at - 1].strip_suffix(first), symbols[at].strip_prefix(second))
        else {
            continue;
        };
        // The second half of the previous match cannot be part of another match.
        let is_free = !joins[at - 1] || before.len() >= second.len();
        joins[at] = is_free && ends_in_white_space(before) && begins_with_white_space(after);
    }
    joins
}

/// Whether `text` is empty or its last character is white space.
fn ends_in_white_space(text: &[u8]) -> bool {
    let mut ends = (1..=text.len().min(4)).map(|length| &text[text.len() - length..]);
    text.is_empty() || ends.any(is_one_white_space)
}

/// Whether `text` is empty or its first character is white space.
fn begins_with_white_space(text: &[u8]) -> bool {
    let mut beginnings = (1..=text.len().min(4)).map(|length| &text[..length]);
    text.is_empty() || beginnings.any(is_one_white_space)
}

fn is_one_white_space(text: &[u8]) -> bool {
    let mut characters = std::str::from_utf8(text).unwrap_or_default().chars();
    characters.next().is_some_and(is_white_space) && characters.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_end_at_white_space_inside_of_symbols() {
        for (symbols, first, second, joins) in [
            (&["a", "b", "a", "b"][..], "a", "b", &[false, true, false, true][..]),
            (&["a", "a", "a"], "a", "a", &[false, true, false]),
            (&["x\u{a0}a", "b"], "a", "b", &[false, true]),
            (&["xa", "b"], "a", "b", &[false, false]),
            (&["a", "b\u{a0}a", "b"], "a", "b", &[false, true, true]),
            (&["a", "bc", "a"], "a", "b", &[false, false, false]),
        ] {
            let symbols: Vec<&[u8]> = symbols.iter().map(|symbol| symbol.as_bytes()).collect();
            assert_eq!(find_joins(&symbols, first.as_bytes(), second.as_bytes()), joins);
        }
    }
}
