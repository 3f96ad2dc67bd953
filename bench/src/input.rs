//! The texts of measurements, read at once.

use std::io::Read;
use std::path::Path;

use miriam_textio::{Input, display_name};

use crate::error::{Error, Result};

/// Returns all of a file or of standard input, decompressed.
pub fn read_text(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = Input::open(path)?.read_to_end(&mut text);
    read.map_err(|source| Error::Io { place: display_name(path), action: "read", source })?;
    Ok(text)
}

/// Returns the lines of a text; the last one may lack its end.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n')
}

/// Returns the words of a line, between white space of ASCII.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    line.split(|byte| matches!(byte, b' ' | 0x09..=0x0d)).filter(|word| !word.is_empty())
}
