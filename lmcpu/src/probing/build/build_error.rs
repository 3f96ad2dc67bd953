//! What a section may be refused for.
//!
//! The next section is read while one is built, so that building cannot ask the
//! source where an n-gram stands. It says which n-gram is at fault, and the error is
//! made of that when the source is free again.

use miriam_storage::probing::DuplicateKey;
use miriam_textio::WordId;

use super::*;
use crate::duplicates::duplicate_error;

/// What makes a section unfit for a model.
pub(super) enum BuildError {
    /// Two of its n-grams have the same key.
    DuplicateKey(u64),
    /// The context of this n-gram is not there.
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
        let index = match self {
            BuildError::DuplicateKey(key) => {
                let equal = |&i: &usize| nonzero_key(hash_oldest_first(section.ngram(i))) == key;
                let mut places = (0..section.len()).filter(equal);
                let first = places.next().unwrap_or_default();
                let second = places.next().unwrap_or(first);
                return duplicate_error(section, first, second, source);
            }
            BuildError::MissingContext(index) => index,
        };
        let word = |&id: &u32| String::from_utf8_lossy(source.vocabulary().word(WordId(id)));
        let (order, shorter) = (section.order, section.order - 1);
        let context: Vec<_> = section.ngram(index)[..shorter].iter().map(word).collect();
        let context = context.join(" ");
        let reason = format!(
            "the context of this {order}-gram, \"{context}\", is not among the {shorter}-grams; \
             a model needs the context of every n-gram, so write the model again without pruning \
             contexts"
        );
        source.ngram_error(section, index, reason)
    }
}
