//! Entries of an ARPA section, read as KenLM reads them: byte by byte, not line
//! by line (`ngram-lm.md` 1.1). Spaces are allowed where KenLM wants tabs, and at the ends of
//! lines: SRILM, Kaldi and Sphinx read such files, and CMU's tools write them.
//!
//! Numbers are delimited by a small grammar and then rounded directly to f32. A word
//! equal to the one at the same position in the previous entry keeps its id without a
//! lookup: sections are sorted, so this is true of most words.

use miriam_textio::{Vocabulary, number};

use super::word_table::WordTable;
use crate::MAX_ORDER;
use crate::word_key::WordKey;

/// Whether `byte` is white space for C's `isspace`.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Whether `byte` is white space inside a line.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Whether `byte` separates words: vertical tab and form feed are parts of words.
fn is_word_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The two indices from words to ids: of all words, and of short words, which is faster.
#[derive(Clone, Copy)]
pub(super) struct WordLookup<'v> {
    pub vocabulary: &'v Vocabulary,
    pub table: &'v WordTable,
}

/// The format of the entries of a section.
#[derive(Clone, Copy)]
pub(super) struct EntryFormat {
    /// The length of the n-grams.
    pub order: usize,
    /// Whether these are the longest n-grams of the model, which have no backoff.
    pub longest: bool,
    /// Whether a positive log probability is read as 0.
    pub allows_positive: bool,
}

/// Entries parsed from a part of the text.
#[derive(Default)]
pub(super) struct ParsedEntries {
    /// The log10 probabilities.
    pub log10: Vec<f32>,
    /// The log10 backoffs; -0.0 if there is none. Empty for the longest n-grams.
    pub backoffs: Vec<f32>,
    /// Orders from 2: the ids, `order` per entry, in the order of the text.
    pub words: Vec<u32>,
    /// The number of positive log probabilities that were read as 0.
    pub positives: u64,
    /// Order 1: the span of each word in the text.
    pub spans: Vec<(usize, usize)>,
    /// `(entry, line)` for each entry that does not begin on the line after the previous entry.
    pub jumps: Vec<(usize, u64)>,
    /// The number of bytes parsed, without an unfinished entry.
    pub bytes: usize,
    /// The number of line ends in these bytes.
    pub lines: u64,
    pub end: ParseEnd,
}

/// The reason why parsing ended.
#[derive(Debug, Default, PartialEq)]
pub(super) enum ParseEnd {
    /// The limit was reached.
    Limit,
    /// The text ends between entries.
    #[default]
    EndOfText,
    /// The text ends inside an entry.
    Truncated,
    /// The entry that begins this many lines below the start of the text is invalid.
    Invalid { line: u64, reason: String },
}

/// Reads up to `limit` entries of `format` from `text`.
pub(super) fn read_entries(
    text: &[u8],
    format: EntryFormat,
    limit: u64,
    words: WordLookup<'_>,
) -> ParsedEntries {
    let expected = (text.len() / (8 + 6 * format.order)).min(limit as usize);
    let mut entries = ParsedEntries::default();
    entries.log10.reserve(expected);
    if format.order > 1 {
        entries.words.reserve(expected * format.order);
    }
    if !format.longest {
        entries.backoffs.reserve(expected);
    }
    let mut cursor = Cursor { text, position: 0, line: 0 };
    let mut recent = [(WordKey::NONE, 0); MAX_ORDER];
    let mut next_line = 0;
    entries.end = loop {
        if entries.log10.len() as u64 == limit {
            break ParseEnd::Limit;
        }
        cursor.skip_while(is_space);
        (entries.bytes, entries.lines) = (cursor.position, cursor.line);
        let line = cursor.line;
        match cursor.read_entry(format, words, &mut recent, &mut entries) {
            Ok(()) => {
                if line != next_line {
                    entries.jumps.push((entries.log10.len() - 1, line));
                }
                next_line = line + 1;
                (entries.bytes, entries.lines) = (cursor.position, cursor.line);
            }
            Err(EntryError::UnexpectedEnd) => {
                entries.words.truncate(entries.log10.len() * format.order);
                break if entries.bytes == text.len() {
                    ParseEnd::EndOfText
                } else {
                    ParseEnd::Truncated
                };
            }
            Err(EntryError::Invalid(reason)) => {
                entries.words.truncate(entries.log10.len() * format.order);
                break ParseEnd::Invalid { line, reason };
            }
        }
    };
    entries
}

/// The words of the previous entry as keys, with their ids. A word that does not fit into a key has
/// `WordKey::NONE`.
type RecentWords = [(WordKey, u32); MAX_ORDER];

enum EntryError {
    UnexpectedEnd,
    Invalid(String),
}

fn invalid<T>(reason: impl Into<String>) -> Result<T, EntryError> {
    Err(EntryError::Invalid(reason.into()))
}

struct Cursor<'t> {
    text: &'t [u8],
    position: usize,
    line: u64,
}

impl<'t> Cursor<'t> {
    #[inline]
    fn skip_while(&mut self, skipped: fn(u8) -> bool) {
        while let Some(&byte) = self.text.get(self.position) {
            if !skipped(byte) {
                return;
            }
            self.line += u64::from(byte == b'\n');
            self.position += 1;
        }
    }

    #[inline]
    fn next_byte(&mut self) -> Result<u8, EntryError> {
        let byte = *self.text.get(self.position).ok_or(EntryError::UnexpectedEnd)?;
        self.position += 1;
        self.line += u64::from(byte == b'\n');
        Ok(byte)
    }

    /// Reads one entry from its number to the end of its line.
    #[inline]
    fn read_entry(
        &mut self,
        format: EntryFormat,
        words: WordLookup<'_>,
        recent: &mut RecentWords,
        entries: &mut ParsedEntries,
    ) -> Result<(), EntryError> {
        let mut probability = self.read_number("log probability")?;
        let is_positive = probability > 0.0;
        if is_positive {
            if !format.allows_positive {
                return invalid(format!(
                    "log probability {probability} is positive, which is a defect of IRSTLM; \
                     --positive zero (build_binary: -i; moses.ini: positive=zero) reads it as 0"
                ));
            }
            probability = 0.0;
        }
        let mut span = (0, 0);
        if format.order == 1 {
            if !is_blank(self.next_byte()?) {
                return invalid("expected a tab after the log probability");
            }
            let word = self.read_word()?;
            span = (self.position - word.len(), self.position);
        } else {
            for (key_before, id) in &mut recent[..format.order] {
                let word = self.read_word()?;
                let text = &self.text[self.position - word.len()..];
                let key = WordKey::new(text, word.len()).unwrap_or(WordKey::NONE);
                if key == WordKey::NONE || key != *key_before {
                    *id = match words.table.find(key) {
                        Some(id) => id,
                        None => find_word_id(word, words.vocabulary)?,
                    };
                    *key_before = key;
                }
                entries.words.push(*id);
            }
        }
        let backoff = if format.longest { self.expect_no_backoff()? } else { self.read_backoff()? };
        entries.positives += u64::from(is_positive);
        entries.log10.push(probability);
        if !format.longest {
            entries.backoffs.push(backoff);
        }
        if format.order == 1 {
            entries.spans.push(span);
        }
        Ok(())
    }

    #[inline]
    fn read_word(&mut self) -> Result<&'t [u8], EntryError> {
        self.skip_while(is_word_separator);
        let rest = &self.text[self.position..];
        let length = word_length(rest).ok_or(EntryError::UnexpectedEnd)?;
        self.position += length;
        Ok(&rest[..length])
    }

    /// Reads the rest of the line of an n-gram that may have a backoff, after its words.
    #[inline]
    fn read_backoff(&mut self) -> Result<f32, EntryError> {
        if self.ends_line("after the words")? {
            return Ok(-0.0);
        }
        let backoff = self.read_number("backoff")?;
        if !backoff.is_finite() {
            return invalid(format!("backoff {backoff} is not a finite number"));
        }
        self.expect_line_end("after the backoff")?;
        // Zero becomes -0.0, the mark of an n-gram that is not a context; builders find out which
        // n-grams are contexts.
        Ok(if backoff == 0.0 { -0.0 } else { backoff })
    }

    /// Reads the rest of the line of one of the longest n-grams, after its words.
    #[inline]
    fn expect_no_backoff(&mut self) -> Result<f32, EntryError> {
        if self.ends_line("after the words")? {
            return Ok(-0.0);
        }
        let backoff = self.read_number("backoff")?;
        if backoff != 0.0 {
            return invalid(format!(
                "the longest n-grams have no backoff, but this one has {backoff}"
            ));
        }
        Ok(-0.0)
    }

    /// Whether the line ends after blanks; fails if something follows without a blank.
    #[inline]
    fn ends_line(&mut self, place: &str) -> Result<bool, EntryError> {
        let mut byte = self.next_byte()?;
        let is_spaced = is_blank(byte);
        while is_blank(byte) {
            byte = self.next_byte()?;
        }
        match byte {
            b'\n' => Ok(true),
            b'\r' => self.expect_line_feed().map(|()| true),
            _ if is_spaced => {
                self.position -= 1;
                Ok(false)
            }
            other => invalid(format!(
                "expected a tab and a backoff, or the end of the line, {place}; found {}",
                quote(&[other])
            )),
        }
    }

    fn expect_line_end(&mut self, place: &str) -> Result<(), EntryError> {
        if self.ends_line(place)? {
            return Ok(());
        }
        let found = quote(&self.text[self.position..][..1]);
        invalid(format!("expected the line to end {place}, found {found}"))
    }

    fn expect_line_feed(&mut self) -> Result<(), EntryError> {
        match self.next_byte()? {
            b'\n' => Ok(()),
            _ => invalid("a carriage return is inside a line"),
        }
    }

    /// Reads a decimal number or `inf`; what follows is not checked.
    #[inline]
    fn read_number(&mut self, what: &str) -> Result<f32, EntryError> {
        let rest = &self.text[self.position..];
        if let Some((value, length)) = number::parse_f32_prefix(rest) {
            self.position += length;
            return Ok(value);
        }
        let length = number_length(rest);
        // A number at the end of the text may continue in the next block.
        if length == rest.len() || (length == 0 && rest.iter().all(|&b| !is_space(b))) {
            return Err(EntryError::UnexpectedEnd);
        }
        let text = &rest[..length];
        let text = text.strip_prefix(b"+").unwrap_or(text);
        match if length == 0 { None } else { number::parse_f32(text) } {
            Some(value) => {
                self.position += length;
                Ok(value)
            }
            None => {
                let token = rest.split(|&b| is_space(b)).next().unwrap_or_default();
                invalid(format!("expected a {what}, found {}{}", quote(token), count_hint(token)))
            }
        }
    }
}

/// Returns a hint that the count is wrong, where an entry was expected and the section ended.
fn count_hint(token: &[u8]) -> &'static str {
    if token.starts_with(b"\\") {
        "; the header promises more n-grams than the section holds"
    } else {
        ""
    }
}

/// Returns the length in bytes of the number that `text` starts with: sign, digits with at most one
/// point, exponent; or sign and `inf`. 0 if there is no number.
#[inline]
fn number_length(text: &[u8]) -> usize {
    fn digits(from: usize, text: &[u8]) -> usize {
        text[from..].iter().take_while(|b| b.is_ascii_digit()).count()
    }
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    if text[sign..].starts_with(b"inf") {
        return sign + 3;
    }
    let whole = digits(sign, text);
    let mut end = sign + whole;
    let mut fraction = 0;
    if text.get(end) == Some(&b'.') {
        fraction = digits(end + 1, text);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return 0;
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = if text.len() > end + sign { digits(end + 1 + sign, text) } else { 0 };
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}

/// Returns the number of bytes before the first word separator; `None` if there is none.
#[inline(always)]
fn word_length(text: &[u8]) -> Option<usize> {
    /// Returns bytes whose top bit is set where the byte of `bytes` is a space or less. Only the
    /// lowest byte that is set is reliable.
    fn low_bytes(bytes: u64) -> u64 {
        const ONES: u64 = u64::MAX / 255;
        bytes.wrapping_sub(ONES * (b' ' as u64 + 1)) & !bytes & (ONES * 0x80)
    }
    let mut from = 0;
    while let Some(chunk) = text[from..].first_chunk() {
        let low = low_bytes(u64::from_le_bytes(*chunk));
        if low != 0 {
            from += low.trailing_zeros() as usize / 8;
            // Other control characters are parts of words.
            if is_word_separator(text[from]) {
                return Some(from);
            }
            from += 1;
        } else {
            from += 8;
        }
    }
    text[from..].iter().position(|&b| is_word_separator(b)).map(|length| from + length)
}

fn find_word_id(word: &[u8], vocabulary: &Vocabulary) -> Result<u32, EntryError> {
    match vocabulary.find(word) {
        Some(id) => Ok(id.0),
        None if word == b"<UNK>" => Ok(0),
        None => invalid(format!(
            "the word {} is not among the unigrams, which must list every word",
            quote(word)
        )),
    }
}

/// Returns the bytes of a file for a message: quoted, escaped, truncated.
pub(crate) fn quote(bytes: &[u8]) -> String {
    const MAX_SHOWN: usize = 60;
    let cut = if bytes.len() > MAX_SHOWN { "..." } else { "" };
    let shown = &bytes[..bytes.len().min(MAX_SHOWN)];
    let text: String = match std::str::from_utf8(shown) {
        Ok(text) => text
            .chars()
            .flat_map(
                |c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] },
            )
            .collect(),
        Err(_) => shown.escape_ascii().to_string(),
    };
    format!("\"{text}{cut}\"")
}
