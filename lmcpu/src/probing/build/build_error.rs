//! Errors of a section, without their place in the source.
//!
//! The next section is read while one is built, so that the builder cannot ask the
//! source for the line of an n-gram. It returns the index of the n-gram, from which the
//! error is made when the source is free again.

use miriam_storage::probing::DuplicateKey;

use super::*;
use crate::ngram_errors::{duplicate_error, missing_context_error};

/// Why a section cannot be added.
pub(super) enum BuildError {
    /// Two of its n-grams have the same key.
    DuplicateKey(u64),
    /// The context of this n-gram is missing.
    MissingContext(usize),
}

impl From<DuplicateKey> for BuildError {
    fn from(DuplicateKey { key }: DuplicateKey) -> Self {
        BuildError::DuplicateKey(key)
    }
}

impl BuildError {
    /// The error with its place in `source`, which `section` comes from.
    pub(super) fn into_error(self, section: &Section, source: &dyn NgramSource) -> crate::Error {
        match self {
            BuildError::DuplicateKey(key) => {
                let equal = |&i: &usize| nonzero_key(hash_oldest_first(section.ngram(i))) == key;
                let mut indices = (0..section.len()).filter(equal);
                let first = indices.next().unwrap_or_default();
                let second = indices.next().unwrap_or(first);
                duplicate_error(section, first, second, source)
            }
            BuildError::MissingContext(index) => missing_context_error(section, index, source),
        }
    }
}
