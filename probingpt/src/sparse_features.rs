//! Sparse features of phrase pairs in field 6 of a table.

use miriam_textio::fields::{self, find_separator};

/// Whether `extra`, field 6 and later ones, begins with sparse features: names with values.
pub(crate) fn has_sparse_features(extra: &[u8]) -> bool {
    let sparse = &extra[..find_separator(extra).unwrap_or(extra.len())];
    let mut words = fields::split_words(sparse);
    // Some tables have properties, {{Name value}}, one field too early. Tables of recasers have a
    // count there.
    let is_name = words.next().is_some_and(|word| !word.starts_with(b"{{"));
    is_name && words.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_features_are_names_with_values() {
        assert!(has_sparse_features(b" dom_a 1 ||| 1 2"));
        assert!(has_sparse_features(b"dom_a 1"));
        for other in [&b""[..], b" ", b" 60 ||| ", b" {{Tree a b}}", b" ||| dom_a 1"] {
            assert!(!has_sparse_features(other), "{}", other.escape_ascii());
        }
    }
}
