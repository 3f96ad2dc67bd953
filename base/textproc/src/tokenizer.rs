//! Tokeniser that separates words, numbers and punctuation exactly as Moses' `tokenizer.perl`.
//!
//! Moses' script runs some forty substitutions over a line. Here three passes do the same:
//! [`punctuation`] puts spaces around punctuation, commas and runs of full stops; [`apostrophes`]
//! examines each apostrophe's neighbours; and [`full_stops`] examines words that end in a full stop
//! and the words after them. If a substitution of the script skips text that its previous match has
//! consumed, so does this code: `rock'n'roll` becomes `rock 'n'roll`.
//!
//! Two control characters serve as placeholders for the dots of a run and for protected
//! text; no text contains them, because control characters are dropped first.

mod apostrophes;
mod full_stops;
mod protected_patterns;
mod punctuation;

use crate::NonbreakingPrefixes;
use crate::characters::{CharClass, char_indices, is_blank};
use crate::escape::escape_special_chars;
use crate::tokenizer_rules::TokenizerRules;

pub use protected_patterns::ProtectedPatterns;

/// The placeholder of each dot in a run of dots; the run is one token.
const MULTI_DOT: u8 = 2;
/// The placeholder of a protected span.
const PROTECTED_PLACEHOLDER: u8 = 3;

/// A tokeniser for one language.
///
/// # Examples
/// ```
/// use miriam_textproc::Tokenizer;
///
/// let mut tokens = Vec::new();
/// Tokenizer::new("fr").escape(false).tokenize("L'eau, c'est 1,5 euro.".as_bytes(), &mut tokens);
/// assert_eq!(tokens, b"L' eau , c' est 1,5 euro .");
/// ```
#[derive(Clone, Debug)]
pub struct Tokenizer {
    rules: TokenizerRules,
    nonbreaking_prefixes: NonbreakingPrefixes,
    protected: ProtectedPatterns,
    aggressive: bool,
    escape: bool,
    skip_markup: bool,
}

impl Tokenizer {
    /// Returns a tokeniser with the rules of `language`, named by two or three letters as in Moses.
    /// As in Moses, a language without special rules gets those that most languages share, and one
    /// without a list of nonbreaking prefixes gets the English list.
    /// [`NonbreakingPrefixes::built_in_languages`] names languages with a list.
    pub fn new(language: &str) -> Self {
        Tokenizer {
            rules: TokenizerRules::for_language(language),
            nonbreaking_prefixes: NonbreakingPrefixes::for_language(language).unwrap_or_else(
                || NonbreakingPrefixes::for_language("en").expect("it is built in"),
            ),
            protected: ProtectedPatterns::default(),
            aggressive: false,
            escape: true,
            skip_markup: false,
        }
    }

    /// Replaces the list of words that keep the full stop after them.
    pub fn with_nonbreaking_prefixes(self, prefixes: NonbreakingPrefixes) -> Self {
        Tokenizer { nonbreaking_prefixes: prefixes, ..self }
    }

    /// Does not split text that matches these patterns. Its special characters are still escaped.
    pub fn with_protected_patterns(self, protected: ProtectedPatterns) -> Self {
        Tokenizer { protected, ..self }
    }

    /// Sets whether words are split at hyphens, `a-b` into `a @-@ b` (`-a`); off by default.
    pub fn aggressive(self, aggressive: bool) -> Self {
        Tokenizer { aggressive, ..self }
    }

    /// Sets whether Moses' special characters are written as entities (off: `-no-escape`); on by
    /// default.
    pub fn escape(self, escape: bool) -> Self {
        Tokenizer { escape, ..self }
    }

    /// Sets whether lines from `<` to `>` (markup) stay unchanged (`-x`); off by default.
    pub fn skip_markup(self, skip_markup: bool) -> Self {
        Tokenizer { skip_markup, ..self }
    }

    /// Tokenises `line`, which has no line end, and appends the tokens, separated by single
    /// spaces, to `out`. Blank lines stay unchanged.
    pub fn tokenize(&self, line: &[u8], out: &mut Vec<u8>) {
        if is_blank(line) || self.skip_markup && is_markup_line(line) {
            out.extend_from_slice(line);
            return;
        }
        let mut text = Vec::with_capacity(line.len() + line.len() / 4);
        let mut pieces: Vec<&[u8]> = Vec::new();
        let clean;
        let mut line = line;
        if !self.protected.is_empty() || line.iter().any(|&byte| byte < b' ') {
            clean = strip_controls(line);
            line = &clean;
        }
        let mut rest = 0;
        for piece in self.protected.find_spans(line) {
            self.split_punctuation(&line[rest..piece.start], &mut text);
            punctuation::push_token(&[PROTECTED_PLACEHOLDER], &mut text);
            pieces.push(&line[piece.clone()]);
            rest = piece.end;
        }
        self.split_punctuation(&line[rest..], &mut text);
        apostrophes::split_apostrophes(self.rules.apostrophe, &mut text);
        let words = full_stops::split_full_stops(&text, &self.nonbreaking_prefixes);
        self.expand_placeholders(&words, pieces.into_iter(), out);
    }

    /// Appends the text with its placeholders replaced.
    fn expand_placeholders<'a>(
        &self,
        words: &[u8],
        mut pieces: impl Iterator<Item = &'a [u8]>,
        out: &mut Vec<u8>,
    ) {
        let put = if self.escape {
            escape_special_chars
        } else {
            |text: &[u8], out: &mut Vec<u8>| out.extend(text)
        };
        let mut rest = words;
        while let Some(at) = memchr::memchr2(MULTI_DOT, PROTECTED_PLACEHOLDER, rest) {
            put(&rest[..at], out);
            match rest[at] {
                MULTI_DOT => out.push(b'.'),
                _ => put(pieces.next().unwrap_or_default(), out),
            }
            rest = &rest[at + 1..];
        }
        put(rest, out);
    }
}

/// Whether a line begins with `<` and ends with `>`.
fn is_markup_line(line: &[u8]) -> bool {
    line.len() > 2 && line.starts_with(b"<") && line.ends_with(b">")
}

/// Returns a line padded with a space on each side, with single spaces for all white space and
/// without control characters: patterns of protected text are matched against it.
fn strip_controls(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len() + 2);
    let mut space = true;
    for (at, symbol) in char_indices(line) {
        if symbol.class().intersects(CharClass::SPACE) {
            space = true;
        } else if symbol.character.is_none_or(|character| character >= ' ') {
            if space {
                out.push(b' ');
            }
            space = false;
            out.extend_from_slice(&line[at..at + symbol.byte_len]);
        }
    }
    out.push(b' ');
    out
}
