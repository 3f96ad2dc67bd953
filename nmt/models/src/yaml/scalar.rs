//! Plain and quoted scalars.

use super::Parser;
use crate::Result;

impl Parser<'_> {
    /// Reads plain text up to the end of its line, a colon with a space after it, or a comment.
    pub(super) fn plain_line(&mut self) -> Vec<u8> {
        let begin = self.position;
        while let Some(byte) = self.peek() {
            let ends = match byte {
                b'\n' => true,
                b':' => self.is_indicator(b':'),
                b'#' => {
                    self.position > begin && matches!(self.text[self.position - 1], b' ' | b'\t')
                }
                _ => false,
            };
            if ends {
                break;
            }
            self.position += 1;
        }
        self.text[begin..self.position].trim_ascii_end().to_vec()
    }

    /// Reads plain text, which may continue on lines that are indented by at least `least` columns.
    /// The lines are joined with spaces.
    pub(super) fn plain_lines(&mut self, least: usize) -> Vec<u8> {
        let mut text = self.plain_value_line();
        loop {
            let end = self.position;
            self.skip_blank();
            let continues =
                self.peek().is_some() && self.column() >= least.max(1) && self.position > end;
            if !continues
                || self.is_indicator(b'-')
                || self.text[end..self.position].contains(&b'#')
            {
                self.position = end;
                return text;
            }
            // A line with a key is an error, which is reported at that line.
            let begin = self.position;
            let line = self.plain_line();
            if self.is_indicator(b':') {
                self.position = begin;
                return text;
            }
            text.push(b' ');
            text.extend_from_slice(&line);
        }
    }

    /// Reads plain text of a value: a colon is part of it.
    fn plain_value_line(&mut self) -> Vec<u8> {
        let begin = self.position;
        while self.peek().is_some_and(|b| b != b'\n') {
            let space =
                self.position > begin && matches!(self.text[self.position - 1], b' ' | b'\t');
            if self.peek() == Some(b'#') && space {
                break;
            }
            self.position += 1;
        }
        self.text[begin..self.position].trim_ascii_end().to_vec()
    }

    /// Reads quoted text, which may have several lines.
    pub(super) fn quoted(&mut self) -> Result<Vec<u8>> {
        let quote = self.text[self.position];
        self.position += 1;
        let mut text = Vec::new();
        loop {
            let Some(byte) = self.peek() else {
                return Err(self.error("the text ends inside of quotes"));
            };
            self.position += 1;
            match byte {
                b'\'' if quote == b'\'' && self.peek() == Some(b'\'') => {
                    self.position += 1;
                    text.push(b'\'');
                }
                _ if byte == quote => return Ok(text),
                b'\\' if quote == b'"' => self.escape(&mut text)?,
                b'\n' => {
                    while matches!(text.last(), Some(b' ' | b'\t' | b'\r')) {
                        text.pop();
                    }
                    self.fold_line_breaks(&mut text);
                }
                _ => text.push(byte),
            }
        }
    }

    /// Folds line ends inside quotes: a single line end becomes a space; of several, all but the
    /// first stay.
    fn fold_line_breaks(&mut self, text: &mut Vec<u8>) {
        let mut breaks = 0;
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            breaks += usize::from(self.peek() == Some(b'\n'));
            self.position += 1;
        }
        if breaks == 0 {
            text.push(b' ');
        }
        text.extend(std::iter::repeat_n(b'\n', breaks));
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let Some(kind) = self.peek() else {
            return Err(self.error("the text ends inside of quotes"));
        };
        self.position += 1;
        let character = match kind {
            b'0' => '\0',
            b'a' => '\x07',
            b'b' => '\x08',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\x0b',
            b'f' => '\x0c',
            b'r' => '\r',
            b'e' => '\x1b',
            b' ' | b'"' | b'/' | b'\\' => char::from(kind),
            b'N' => '\u{85}',
            b'_' => '\u{a0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' => self.unicode_escape(2)?,
            b'u' => self.unicode_escape(4)?,
            b'U' => self.unicode_escape(8)?,
            b'\n' => {
                while matches!(self.peek(), Some(b' ' | b'\t')) {
                    self.position += 1;
                }
                return Ok(());
            }
            _ => {
                self.position -= 2;
                return Err(self.error("invalid escape after a backslash"));
            }
        };
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    /// Returns the character of `digits` hexadecimal digits. An escaped surrogate pair, as in JSON,
    /// is one character; an unpaired surrogate is U+FFFD.
    fn unicode_escape(&mut self, digits: usize) -> Result<char> {
        let first = self.hex_digits(digits)?;
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with(b"\\u") {
            let back = self.position;
            self.position += 2;
            let second = self.hex_digits(4)?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.position = back;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex_digits(&mut self, digits: usize) -> Result<u32> {
        let number = self.text.get(self.position..self.position + digits).and_then(|digits| {
            digits.iter().try_fold(0u32, |number, &digit| {
                Some(number << 4 | char::from(digit).to_digit(16)?)
            })
        });
        let number = number.ok_or_else(|| self.error("an escape without its digits"))?;
        self.position += digits;
        Ok(number)
    }
}
