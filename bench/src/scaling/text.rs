//! Text of a measurement, read once and repeated from memory.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use miriam_textio::{Input, display_name, fields};

use crate::error::{Error, Result};
use crate::input::read_text;

/// The text of a measurement, which ends with a line feed.
pub struct MeasuredText {
    name: String,
    pub bytes: Arc<[u8]>,
    /// The number of words of one pass, at least one.
    pub words: u64,
    /// The number of lines of one pass.
    pub lines: u64,
}

impl MeasuredText {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or has no words.
    pub fn read(path: &Path) -> Result<Self> {
        let name = display_name(path);
        let mut bytes = read_text(path)?;
        if !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        let (mut words, mut lines) = (0, 0);
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            words += fields::split_words(line.trim_ascii_end()).count() as u64;
            lines += 1;
        }
        if words == 0 {
            return Err(Error::unmeasurable(format!("{name}: the text has no words")));
        }
        Ok(MeasuredText { name, bytes: bytes.into(), words, lines })
    }

    /// Returns an input that reads the text `passes` times.
    ///
    /// # Errors
    /// If the bytes are in a known format that is not text.
    pub fn repeated(&self, passes: u64) -> Result<Input> {
        let text = RepeatedText { text: Arc::clone(&self.bytes), position: 0, passes };
        Ok(Input::from_reader(text, &self.name, None)?)
    }
}

/// A reader that returns a text a given number of times.
struct RepeatedText {
    text: Arc<[u8]>,
    position: usize,
    passes: u64,
}

impl Read for RepeatedText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position == self.text.len() {
            self.passes -= 1;
            self.position = 0;
        }
        if self.passes == 0 {
            self.position = self.text.len();
            self.passes = 1;
            return Ok(0);
        }
        let taken = buffer.len().min(self.text.len() - self.position);
        buffer[..taken].copy_from_slice(&self.text[self.position..self.position + taken]);
        self.position += taken;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_as_often_as_asked() {
        let mut all = Vec::new();
        let text: Arc<[u8]> = b"abc\n"[..].into();
        let mut reader = RepeatedText { text, position: 0, passes: 3 };
        reader.by_ref().take(6).read_to_end(&mut all).unwrap();
        reader.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"abc\nabc\nabc\n");
        assert_eq!(reader.read(&mut [0; 8]).unwrap(), 0, "and then ends for good");
    }

    #[test]
    fn words_and_lines_are_counted() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "a b\r\n\n c\td").unwrap();
        let text = MeasuredText::read(file.path()).unwrap();
        assert_eq!((text.words, text.lines, &text.bytes[..]), (4, 3, &b"a b\r\n\n c\td\n"[..]));
        std::fs::write(file.path(), " \n\r\n").unwrap();
        let error = MeasuredText::read(file.path()).err().unwrap().to_string();
        assert!(error.contains("no words"), "{error}");
    }
}
