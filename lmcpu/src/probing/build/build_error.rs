//! Errors of n-grams, without their place in the source.
//!
//! The next part is read while one is added, and a table knows of its n-grams only hashes. So the
//! error is made when the source is free again, and after equal n-grams were looked for.

use super::*;
use crate::Error;
use crate::ngram_errors::{duplicate_error, missing_context_error};

/// Opens the source again.
pub(super) type OpenAgain<'a> = &'a dyn Fn() -> Result<Box<dyn NgramSource + 'a>>;

/// Why a model cannot be built.
pub(super) enum BuildError {
    /// Reading or writing failed, and the error is complete.
    Complete(Error),
    /// Two of its n-grams have the same key.
    Duplicate { order: usize, key: u64 },
    /// The context of this n-gram, the only one of the section, is missing.
    MissingContext(Section),
}

impl<E: Into<Error>> From<E> for BuildError {
    fn from(error: E) -> Self {
        BuildError::Complete(error.into())
    }
}

impl BuildError {
    /// The error with its place in `source`, which the parts `kept` come from; if it can be opened
    /// `again`, that is read instead.
    pub(super) fn into_error(
        self,
        source: &dyn NgramSource,
        kept: &[Section],
        again: Option<OpenAgain<'_>>,
    ) -> Error {
        match self {
            BuildError::Complete(error) => error,
            BuildError::Duplicate { order, key } => match find_equal(order, key, kept, again) {
                Ok(equal) if equal.len() < 2 => {
                    let reason = "it changed while it was read; build again".to_owned();
                    Error::Unsupported { file: source.name().to_owned(), reason }
                }
                Ok(equal) => duplicate_error(&equal, 0, 1, source),
                Err(error) => error,
            },
            BuildError::MissingContext(ngram) => missing_context_error(&ngram, 0, source),
        }
    }
}

/// The first two n-grams of `order` that have this key.
fn find_equal(
    order: usize,
    key: u64,
    kept: &[Section],
    again: Option<OpenAgain<'_>>,
) -> Result<Section> {
    let mut equal = Section::default();
    let mut search = |ngrams: &Section| {
        for index in (0..ngrams.len()).filter(|_| ngrams.order == order) {
            if equal.len() < 2 && nonzero_key(hash_oldest_first(ngrams.ngram(index))) == key {
                equal.push_from(ngrams, index);
            }
        }
    };
    kept.iter().for_each(&mut search);
    if let Some(open) = again {
        let mut source = open()?;
        while let Some(part) = source.next_part()? {
            search(&part.ngrams);
        }
    }
    Ok(equal)
}
