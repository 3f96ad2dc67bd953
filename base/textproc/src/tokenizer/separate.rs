//! Spaces around what is no letter: signs, commas outside of numbers, runs of dots.
//!
//! Which side of a sign is a word's is told by the sign and the characters beside
//! it, so one walk does what takes the script a substitution a sign.

use super::{RUN_DOT, Tokenizer};
use crate::characters::{Kinds, first, first_kinds, is_blank, last_kinds};

impl Tokenizer {
    /// Appends the words and signs of `line`, one space between two, to `text`, which
    /// holds what stands before them. The line has no control characters.
    pub(super) fn separate(&self, line: &[u8], text: &mut Vec<u8>) {
        let begins = text.is_empty();
        let mut in_word = false;
        let mut at = 0;
        while at < line.len() {
            let start = at;
            while at < line.len() {
                match self.word_part(line, at, begins) {
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
                    put_sign(b"@-@", text);
                    1
                }
                b'.' => {
                    let dots = line[at..].iter().take_while(|&&byte| byte == b'.').count();
                    put_sign(&[RUN_DOT], text);
                    text.resize(text.len() + dots - 1, RUN_DOT);
                    dots
                }
                _ => match first(&line[at..]) {
                    Some(symbol) if symbol.kinds().is(Kinds::SPACE) => symbol.length,
                    symbol => {
                        let length = symbol.map_or(1, |symbol| symbol.length);
                        put_sign(&line[at..at + length], text);
                        length
                    }
                },
            };
        }
    }

    /// The length in bytes of the character at a place, if it is part of a word there;
    /// otherwise 0.
    #[inline]
    fn word_part(&self, line: &[u8], at: usize, begins: bool) -> usize {
        let stays = match line[at] {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'`' => true,
            b' ' => false,
            b'.' => line.get(at + 1) != Some(&b'.'),
            b',' => comma_stays(line, at, begins),
            b'-' => !(self.aggressive && is_between_words(line, at)),
            b'\'' => self.sign_stays('\'', &line[at + 1..]).unwrap_or(true),
            byte @ ..0x80 => self.sign_stays(char::from(byte), &line[at + 1..]).unwrap_or(false),
            _ => return self.long_word_part(&line[at..]),
        };
        usize::from(stays)
    }

    fn long_word_part(&self, rest: &[u8]) -> usize {
        let Some(symbol) = first(rest) else { return 0 };
        let stays = symbol.kinds().is(Kinds::ALPHANUMERIC)
            || symbol.character.is_some_and(|character| {
                self.sign_stays(character, &rest[symbol.length..]).unwrap_or(false)
            });
        if stays { symbol.length } else { 0 }
    }

    /// Whether a sign that the language may have inside of words is part of one,
    /// before `rest`; nothing for other signs.
    #[inline]
    fn sign_stays(&self, sign: char, rest: &[u8]) -> Option<bool> {
        let inside = self.language.inside_words.filter(|inside| inside.sign == sign)?;
        Some(!inside.before_small_letters || first_kinds(rest).is(Kinds::SMALL_LETTER))
    }
}

/// Appends a word of its own.
#[inline]
pub(super) fn put_sign(sign: &[u8], text: &mut Vec<u8>) {
    if !text.is_empty() {
        text.push(b' ');
    }
    text.extend_from_slice(sign);
}

/// Whether a letter or digit is on both sides of a byte.
fn is_between_words(line: &[u8], at: usize) -> bool {
    last_kinds(&line[..at]).is(Kinds::ALPHANUMERIC)
        && first_kinds(&line[at + 1..]).is(Kinds::ALPHANUMERIC)
}

/// Whether a comma is part of a number: between two digits, that is. In a run of
/// commas, of which the script takes two at a time, the last one stays with digits
/// behind it if it is left over: the second behind a word, the third behind a number;
/// the beginning of a text is like a number.
fn comma_stays(line: &[u8], at: usize, begins: bool) -> bool {
    // Signs that are numbers, such as ½, have spaces around them.
    let is_number = |kinds: Kinds| kinds.is(Kinds::NUMBER) && kinds.is(Kinds::ALPHANUMERIC);
    if !is_number(first_kinds(&line[at + 1..])) {
        return false;
    }
    let commas = line[..=at].iter().rev().take_while(|&&byte| byte == b',').count();
    let before = &line[..at + 1 - commas];
    let behind_number = is_number(last_kinds(before)) || begins && is_blank(before);
    behind_number == (commas % 2 == 1)
}
