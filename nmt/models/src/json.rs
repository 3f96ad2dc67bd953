//! Reader of JSON files: configurations of model folders, and vocabularies.

use std::path::Path;

use miriam_textio::Error as TextError;
use serde::Deserialize;

use crate::{Result, compressed};

/// Reads the JSON file at `path`.
///
/// # Errors
/// Those of [`compressed::open`] and [`parse`].
pub(crate) fn open<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T> {
    parse(&compressed::open(path)?, path)
}

/// Parses the JSON text of the file `path`, with or without a byte order mark.
///
/// # Errors
/// If `text` is not JSON or does not have the structure of `T`.
pub(crate) fn parse<T: for<'a> Deserialize<'a>>(text: &[u8], path: &Path) -> Result<T> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    serde_json::from_slice(text).map_err(|error| {
        let name = path.display().to_string();
        TextError::format(&name, error.line() as u64, None, error.to_string()).into()
    })
}
