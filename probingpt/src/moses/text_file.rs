//! The text files of a directory: mapped, and split into lines and fields in place.

use std::path::Path;

use miriam_storage::{Bytes, LoadMethod};

use crate::{Error, Result};

/// A mapped text file, with its name for error messages.
pub(super) struct TextFile {
    bytes: Bytes,
    name: String,
}

impl TextFile {
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = Bytes::open(path, LoadMethod::Lazy)?;
        Ok(TextFile { bytes, name: path.display().to_string() })
    }

    /// Returns the size in bytes, which is an upper bound of the number of lines.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the lines, numbered from 1.
    pub fn lines(&self) -> impl Iterator<Item = TextLine<'_>> {
        let text = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let lines = text.split(|&b| b == b'\n').take(if text.is_empty() { 0 } else { usize::MAX });
        lines.zip(1..).map(|(bytes, number)| TextLine { file: self, bytes, number })
    }

    /// Returns an error about the file as a whole.
    pub fn error(&self, reason: impl Into<String>) -> Error {
        let path = Path::new(&self.name);
        miriam_storage::Error::damaged(path, "its lines", reason).into()
    }
}

/// A line of a [`TextFile`].
#[derive(Clone, Copy)]
pub(super) struct TextLine<'a> {
    file: &'a TextFile,
    pub bytes: &'a [u8],
    number: u64,
}

impl<'a> TextLine<'a> {
    /// Splits the line at its first tab.
    pub fn split_at_tab(self) -> Result<(&'a [u8], &'a [u8])> {
        self.split_part_at_tab(self.bytes)
    }

    /// Splits `part` of the line at its first tab.
    pub fn split_part_at_tab(self, part: &'a [u8]) -> Result<(&'a [u8], &'a [u8])> {
        match part.iter().position(|&b| b == b'\t') {
            Some(tab) => Ok((&part[..tab], &part[tab + 1..])),
            None => Err(self.error(None, "a tab is missing")),
        }
    }

    /// Parses `text`, field `field` of the line, as a number.
    pub fn parse_number<T: TryFrom<u64>>(self, field: usize, text: &[u8]) -> Result<T> {
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u64>().ok());
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            let text = String::from_utf8_lossy(text);
            self.error(Some(field), format!("{text:?} is not a number in range"))
        })
    }

    /// Returns an error in this line.
    pub fn error(self, field: Option<usize>, reason: impl Into<String>) -> Error {
        Error::format(&self.file.name, self.number, field, reason)
    }
}
