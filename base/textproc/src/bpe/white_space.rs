//! Merges in words that contain white space, such as no-break spaces.
//!
//! subword-nmt writes a word as symbols separated by spaces and replaces a pair by a regular
//! expression, which accepts any white space before and after the pair. If symbols contain white
//! space, it therefore also matches the end of one symbol and the beginning of the next, and joins
//! these two symbols. To get equal codes for French text, this code does the same.

use crate::characters::is_python_space;

/// Whether a symbol contains white space.
pub fn contains_white_space(symbol: &[u8]) -> bool {
    symbol.utf8_chunks().any(|chunk| chunk.valid().contains(is_python_space))
}

/// Returns for each symbol whether subword-nmt joins it to the previous symbol when it replaces the
/// pair (`first`, `second`).
pub fn find_joins(symbols: &[&[u8]], first: &[u8], second: &[u8]) -> Vec<bool> {
    let mut joins = vec![false; symbols.len()];
    for at in 1..symbols.len() {
        let (Some(before), Some(after)) =
            (symbols[at - 1].strip_suffix(first), symbols[at].strip_prefix(second))
        else {
            continue;
        };
        // Matches must not overlap: the start of the previous symbol may belong to the previous
        // match.
        let has_no_overlap = !joins[at - 1] || before.len() >= second.len();
        joins[at] = has_no_overlap && has_boundary_at_end(before) && has_boundary_at_start(after);
    }
    joins
}

/// Whether `text` is empty or its last character is white space.
fn has_boundary_at_end(text: &[u8]) -> bool {
    text.utf8_chunks()
        .last()
        .is_none_or(|chunk| chunk.invalid().is_empty() && chunk.valid().ends_with(is_python_space))
}

/// Whether `text` is empty or its first character is white space.
fn has_boundary_at_start(text: &[u8]) -> bool {
    text.utf8_chunks().next().is_none_or(|chunk| chunk.valid().starts_with(is_python_space))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_match_at_white_space_inside_symbols() {
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
