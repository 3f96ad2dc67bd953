//! Errors about n-grams, without the place of the n-gram in the source.
//!
//! The next part is read while one is added, and a table has only the hashes of its n-grams. So an
//! error is completed when the source is free again, by a search for equal n-grams.

use super::*;
use crate::Error;
use crate::ngram_errors::{duplicate_error, missing_context_error};

/// A function that opens the source again.
pub(super) type OpenAgain<'a> = &'a dyn Fn() -> Result<Box<dyn NgramSource + 'a>>;

/// Errors of building a model.
pub(super) enum BuildError {
    /// Reading or writing failed; the error names the place.
    Other(Error),
    /// Two n-grams of `order` have the same key.
    Duplicate { order: usize, key: u64 },
    /// The context of this n-gram, the only one of the section, is missing.
    MissingContext(Section),
}

impl<E: Into<Error>> From<E> for BuildError {
    fn from(error: E) -> Self {
        BuildError::Other(error.into())
    }
}

impl BuildError {
    /// Returns the error with its place in `source`. Duplicates are looked for in `kept`, parts of
    /// the source, or in the source itself if it can be opened `again`.
    pub(super) fn into_error(
        self,
        source: &dyn NgramSource,
        kept: &[Section],
        again: Option<OpenAgain<'_>>,
    ) -> Error {
        match self {
            BuildError::Other(error) => error,
            BuildError::MissingContext(ngram) => missing_context_error(&ngram, 0, source),
            BuildError::Duplicate { order, key } => {
                let reason = match find_equal(order, key, kept, again) {
                    Ok(equal) if equal.len() == 2 => return duplicate_error(&equal, 0, 1, source),
                    Ok(_) => "the file has changed".to_owned(),
                    Err(Error::Cancelled) => return Error::Cancelled,
                    Err(error) => error.to_string(),
                };
                let file = source.name();
                let reason =
                    format!("{file}: a {order}-gram is listed twice; it cannot be named: {reason}");
                Error::InvalidOptions { reason }
            }
        }
    }
}

/// Returns the first two n-grams of `order` that have this key, if they are still there.
fn find_equal(
    order: usize,
    key: u64,
    kept: &[Section],
    again: Option<OpenAgain<'_>>,
) -> Result<Section> {
    let mut equal = Section::default();
    let mut search = |ngrams: &Section| {
        if ngrams.order == order {
            let missing = 2 - equal.len();
            let found = (0..ngrams.len())
                .filter(|&i| nonzero_key(hash_oldest_first(ngrams.ngram(i))) == key)
                .take(missing);
            found.for_each(|index| equal.push_from(ngrams, index));
        }
        equal.len() == 2
    };
    if let Some(open) = again {
        let mut source = open()?;
        while let Some(part) = source.next_part()? {
            if search(&part.ngrams) {
                break;
            }
        }
    } else {
        let _ = kept.iter().any(search);
    }
    Ok(equal)
}
