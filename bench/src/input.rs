//! Reading of whole texts, and their lines and words.

use std::io::Read;
use std::path::Path;

use miriam_textio::{Input, display_name};

use crate::error::{Error, Result};

/// Returns the decompressed contents of a file or of standard input.
pub fn read_text(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = Input::open(path)?.read_to_end(&mut text);
    read.map_err(|source| Error::Io { place: display_name(path), action: "read", source })?;
    Ok(text)
}

/// Returns the decompressed contents of a text to measure with.
///
/// # Errors
/// If the text cannot be read or has no words.
pub fn read_words(path: &Path) -> Result<Vec<u8>> {
    let text = read_text(path)?;
    if words(&text).next().is_none() { Err(Error::no_words(path)) } else { Ok(text) }
}

/// Returns the lines of a text. The last one may lack a line feed.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n')
}

/// Returns the words of a line, which are separated by ASCII white space.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    line.split(|byte| matches!(byte, b' ' | 0x09..=0x0d)).filter(|word| !word.is_empty())
}
