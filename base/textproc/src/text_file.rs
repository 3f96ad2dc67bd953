//! Small text files that users write: lists, patterns, configurations. A byte order mark at the
//! start is skipped.

use std::fs;
use std::path::Path;

use crate::{Error, Result};

/// The bytes with which editors on Windows may begin a text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads the file at `path`, without a byte order mark.
///
/// # Errors
/// [`Error::Io`] if it cannot be read.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let file = path.display().to_string();
    let mut text = fs::read(path).map_err(Error::cannot_read(&file))?;
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(text)
}

/// Reads the file at `path`, which must be UTF-8, without a byte order mark.
///
/// # Errors
/// [`Error::Io`] if it cannot be read or is not valid UTF-8.
pub(crate) fn read_utf8(path: &Path) -> Result<String> {
    let file = path.display().to_string();
    let text = String::from_utf8(read(path)?);
    text.map_err(|error| {
        let invalid = std::io::Error::new(std::io::ErrorKind::InvalidData, error.utf8_error());
        Error::cannot_read(&file)(invalid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NonbreakingPrefixes, TextProcessorConfig, TruecaseModel};

    #[test]
    fn a_byte_order_mark_is_not_text() {
        let folder = std::env::temp_dir().join(format!("miriam-text-file-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, format!("\u{feff}{text}")).unwrap();
            path
        };
        assert_eq!(read(&write("list", "a\u{feff}\n")).unwrap(), "a\u{feff}\n".as_bytes());
        let steps = TextProcessorConfig::read(&write("preparation", "tokenize de\n")).unwrap();
        assert_eq!(steps.tokenize.as_deref(), Some("de"));
        let model = TruecaseModel::read(&write("truecase", "Haus (2/2)\n")).unwrap();
        let mut line = Vec::new();
        model.truecase(b"HAUS", &mut line);
        assert_eq!(line, b"Haus");
        NonbreakingPrefixes::read(&write("prefixes", "Dr\n")).unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }
}
