//! Spaces around punctuation and symbols, commas outside numbers, and runs of dots.
//!
//! A character and its two neighbours decide where spaces go, so one pass replaces the many
//! substitutions of Moses' script.

use super::{MULTI_DOT, Tokenizer};
use crate::characters::{CharClass, first_char, first_class, last_class};
use crate::sentence_splitter::trim_start;
use crate::steps;

impl Tokenizer {
    /// Appends the words and symbols of `line`, separated by single spaces, to `text`, which
    /// contains the text before them. The line has no control characters.
    pub(super) fn split_punctuation(&self, line: &[u8], text: &mut Vec<u8>) {
        let blank_len = text.is_empty().then(|| line.len() - trim_start(line).len());
        let mut in_word = false;
        let mut at = 0;
        while at < line.len() {
            let start = at;
            while at < line.len() {
                match self.word_char_len(line, at, blank_len) {
                    0 => break,
                    length => at += length,
                }
            }
            if at > start {
                if !in_word && !text.is_empty() {
                    text.push(b' ');
                }
                in_word = true;
                text.extend_from_slice(&line[start..at]);
                continue;
            }
            in_word = false;
            at += match line[at] {
                b'-' => {
                    push_token(b"@-@", text);
                    1
                }
                b'.' => {
                    let dots = line[at..].iter().take_while(|&&byte| byte == b'.').count();
                    push_token(&[MULTI_DOT], text);
                    text.resize(text.len() + dots - 1, MULTI_DOT);
                    dots
                }
                _ => match first_char(&line[at..]) {
                    Some(symbol) if symbol.class().intersects(CharClass::SPACE) => symbol.byte_len,
                    symbol => {
                        let length = symbol.map_or(1, |symbol| symbol.byte_len);
                        push_token(&line[at..at + length], text);
                        length
                    }
                },
            };
        }
    }

    /// Returns the length in bytes of the character at `at` if it is part of a word there,
    /// otherwise 0. `blank_len` is the length of the white space before the first word of a text;
    /// `None` if protected text precedes `line`.
    #[inline]
    fn word_char_len(&self, line: &[u8], at: usize, blank_len: Option<usize>) -> usize {
        let stays = match line[at] {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'`' => true,
            b' ' => false,
            b'.' => line.get(at + 1) != Some(&b'.'),
            b',' => is_comma_in_number(line, at, blank_len),
            b'-' => !(self.aggressive && is_between_alphanumerics(line, at)),
            b'\'' => self.is_word_internal('\'', &line[at + 1..]).unwrap_or(true),
            byte @ ..0x80 => {
                self.is_word_internal(char::from(byte), &line[at + 1..]).unwrap_or(false)
            }
            _ => return self.multibyte_word_char_len(&line[at..]),
        };
        usize::from(stays)
    }

    fn multibyte_word_char_len(&self, rest: &[u8]) -> usize {
        let Some(symbol) = first_char(rest) else { return 0 };
        let stays = symbol.class().intersects(CharClass::ALPHANUMERIC)
            || symbol.character.is_some_and(|character| {
                self.is_word_internal(character, &rest[symbol.byte_len..]).unwrap_or(false)
            });
        if stays { symbol.byte_len } else { 0 }
    }

    /// Whether `sign`, before `rest`, is part of a word; `None` if the language does not allow it
    /// inside words.
    #[inline]
    fn is_word_internal(&self, sign: char, rest: &[u8]) -> Option<bool> {
        let inside = self.rules.word_internal_sign.filter(|inside| inside.sign == sign)?;
        Some(
            !inside.only_before_lowercase
                || first_class(rest).intersects(CharClass::LOWERCASE_LETTER),
        )
    }
}

/// Appends a token, after a space unless it is the first.
#[inline]
pub(super) fn push_token(sign: &[u8], text: &mut Vec<u8>) {
    if !text.is_empty() {
        text.push(b' ');
    }
    text.extend_from_slice(sign);
}

/// Whether letters or digits are on both sides of a byte.
fn is_between_alphanumerics(line: &[u8], at: usize) -> bool {
    last_class(&line[..at]).intersects(CharClass::ALPHANUMERIC)
        && first_class(&line[at + 1..]).intersects(CharClass::ALPHANUMERIC)
}

/// Whether a comma is part of a number, that is, between two digits. The script consumes the commas
/// of a run two at a time. If one is left over, it stays with the digits after it: for example, the
/// second comma after a word, or the third after a number. The beginning of a text counts as a
/// number.
fn is_comma_in_number(line: &[u8], at: usize, blank_len: Option<usize>) -> bool {
    // Numeric symbols such as ½ have spaces around them.
    fn is_number(kinds: CharClass) -> bool {
        kinds.intersects(CharClass::NUMBER) && kinds.intersects(CharClass::ALPHANUMERIC)
    }
    if !is_number(first_class(&line[at + 1..])) {
        return false;
    }
    let commas = line[..=at].iter().rev().take_while(|&&byte| byte == b',').count();
    steps::count(commas);
    let before = &line[..at + 1 - commas];
    let is_blank = blank_len.is_some_and(|blank| before.len() <= blank);
    let after_number = is_number(last_class(before)) || is_blank;
    after_number == (commas % 2 == 1)
}
