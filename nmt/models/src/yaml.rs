//! The YAML of machine translation: options of models, decoder configurations and vocabularies.
//! Flow style is supported, and therefore JSON in files that end in `.yml`.
//!
//! Scalars keep the bytes of the file. General parsers turn `null`, `~`, `no` and `1.0` into other
//! values, but these are words of some vocabulary; here the reader of a value decides its type.
//! Vocabularies have no anchors, aliases, tags or merge keys: `&`, `*` and `!` begin words, as they
//! do in hand-made ones. Configurations have them ([`Value::parse_configuration`]).
//!
//! The crate `saphyr-parser` 0.3.4 was tried. Its events keep `null`, `~`, `no`, `1.0` and repeated
//! keys. But the entries `*: 9`, `%: 19`, `@: 1`, `|: 1` and keys over two lines are errors. So are
//! escaped surrogate pairs (`"\ud83d\ude00"`, as JSON writers print them). The entries `&: 8` and
//! `!: 18` lose the word to an anchor or a tag. Text must be UTF-8, which the words of a vocabulary
//! need not be.

mod block;
mod flow;
mod properties;
mod scalar;

use miriam_textio::parse_truth_word;

use crate::{Error, Result};
use properties::Anchors;

/// The maximum depth of nested nodes.
const MAX_DEPTH: usize = 40;

/// A node of a document.
#[derive(Clone, PartialEq)]
pub enum Value {
    /// A scalar: the bytes of a text, a number, a truth value or null; empty if there is no value.
    Scalar(Vec<u8>),
    /// A sequence.
    Sequence(Vec<Value>),
    /// A mapping in the order of the file, repeated keys included.
    Mapping(Vec<(Vec<u8>, Value)>),
}

/// The format of values in messages: nearly JSON.
impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Scalar(bytes) => write!(f, "{:?}", String::from_utf8_lossy(bytes)),
            Value::Sequence(items) => f.debug_list().entries(items).finish(),
            Value::Mapping(entries) => {
                let entries =
                    entries.iter().map(|(key, value)| (String::from_utf8_lossy(key), value));
                f.debug_map().entries(entries).finish()
            }
        }
    }
}

impl Value {
    /// Parses the first document of `text`; `name` is the name of the file for messages.
    ///
    /// # Errors
    /// If there is a syntax error; the message names the line of the first one.
    pub fn parse(text: &[u8], name: &str) -> Result<Value> {
        Self::parse_with(text, name, None)
    }

    /// Parses a configuration as [`Value::parse`] does, with anchors, aliases, tags that name no
    /// other type than the text shows, and merge keys.
    ///
    /// # Errors
    /// If there is a syntax error, an unknown alias or another tag; the message names the line.
    pub fn parse_configuration(text: &[u8], name: &str) -> Result<Value> {
        Self::parse_with(text, name, Some(Anchors::default()))
    }

    fn parse_with(text: &[u8], name: &str, anchors: Option<Anchors>) -> Result<Value> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut parser = Parser { text, name, position: 0, depth: 0, anchors };
        parser.skip_prologue();
        let value = parser.block_node(0)?;
        parser.skip_blank();
        match parser.rest() {
            [] => Ok(value),
            [b'.', b'.', b'.', ..] | [b'-', b'-', b'-', ..] => Ok(value),
            _ => Err(parser.error("this does not belong to the node before it")),
        }
    }

    /// Returns the value of `key` in a mapping; if the key is repeated, the last value.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Mapping(entries) => {
                entries.iter().rev().find(|(k, _)| k == key.as_bytes()).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// Returns the bytes of a scalar.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Scalar(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns a scalar as text, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        self.as_bytes().and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Returns a scalar as a truth value: `true`, `yes`, `on`, `false`, `no` or `off`; 1 and 0 are
    /// numbers.
    pub fn as_bool(&self) -> Option<bool> {
        self.as_str().filter(|word| word.len() > 1).and_then(parse_truth_word)
    }

    /// Whether the value is null: empty, `null` or `~`.
    pub fn is_null(&self) -> bool {
        matches!(self.as_bytes(), Some(b"" | b"~" | b"null" | b"Null" | b"NULL"))
    }

    /// Returns the items of a sequence. Null has no items; any other value is its own only item.
    pub fn items(&self) -> &[Value] {
        match self {
            Value::Sequence(items) => items,
            Value::Scalar(_) if self.is_null() => &[],
            Value::Scalar(_) | Value::Mapping(_) => std::slice::from_ref(self),
        }
    }

    /// Returns the entries of a mapping.
    pub fn entries(&self) -> Option<&[(Vec<u8>, Value)]> {
        match self {
            Value::Mapping(entries) => Some(entries),
            _ => None,
        }
    }
}

struct Parser<'a> {
    text: &'a [u8],
    name: &'a str,
    position: usize,
    depth: usize,
    /// The anchors of a configuration; `None` if `&`, `*` and `!` begin words.
    anchors: Option<Anchors>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.text[self.position..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.position).copied()
    }

    /// Whether the next byte is `indicator` alone: white space, a line end or nothing follows.
    fn is_indicator(&self, indicator: u8) -> bool {
        self.peek() == Some(indicator)
            && matches!(self.text.get(self.position + 1), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
    }

    /// Returns the column: bytes from the beginning of the line to here.
    fn column(&self) -> usize {
        self.text[..self.position].iter().rev().take_while(|&&b| b != b'\n').count()
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.position += 1;
        }
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|b| b != b'\n') {
            self.position += 1;
        }
    }

    /// Skips white space, line ends and comments.
    fn skip_blank(&mut self) {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
                self.position += 1;
            }
            let begins = self.position == 0 || self.text[self.position - 1].is_ascii_whitespace();
            if self.peek() != Some(b'#') || !begins {
                return;
            }
            self.skip_line();
        }
    }

    /// Skips directives and the mark of the beginning of a document.
    fn skip_prologue(&mut self) {
        self.skip_blank();
        while self.rest().starts_with(b"%YAML") || self.rest().starts_with(b"%TAG") {
            self.skip_line();
            self.skip_blank();
        }
        if self.rest().starts_with(b"---")
            && matches!(self.text.get(self.position + 3), None | Some(b' ' | b'\n' | b'\r'))
        {
            self.position += 3;
        }
    }

    fn enter_nested(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        Ok(())
    }

    fn error(&self, reason: &str) -> Error {
        let line = 1 + self.text[..self.position].iter().filter(|&&b| b == b'\n').count();
        miriam_textio::Error::format(self.name, line as u64, None, reason).into()
    }
}

#[cfg(test)]
mod tests;
