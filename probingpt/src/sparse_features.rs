//! Sparse features of phrase pairs in field 6 of a table.

use miriam_textio::fields::{self, find_separator};

/// Whether `extra`, field 6 and later ones, begins with sparse features.
pub(crate) fn has_sparse_features(extra: &[u8]) -> bool {
    let sparse = &extra[..find_separator(extra).unwrap_or(extra.len())];
    // Some tables have properties, {{Name value}}, a field too early.
    fields::split_words(sparse).next().is_some_and(|word| !word.starts_with(b"{{"))
}
