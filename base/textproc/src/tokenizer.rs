//! The tokeniser: words, numbers and signs apart, as Moses' `tokenizer.perl` has
//! them, sentence for sentence.
//!
//! Moses' script runs some forty substitutions over a line. Here a line is walked
//! over three times: [`separate`] puts spaces around signs, commas and runs of
//! full stops; [`apostrophes`] looks at each apostrophe's neighbours; and
//! [`full_stops`] looks at the words that end in one, and at the words behind them.
//! The script's habits are kept where its substitutions pass over what the one
//! before has just consumed: `rock'n'roll` becomes `rock 'n'roll`.
//!
//! Two marks that no text holds at that stage, because control characters are
//! dropped first, stand for the dots of a run and for a protected piece of text.

mod apostrophes;
mod full_stops;
mod protected_patterns;
mod punctuation;

use crate::NonbreakingPrefixes;
use crate::characters::{CharClass, char_indices, is_blank};
use crate::escape::escape_special_chars;
use crate::tokenizer_rules::TokenizerRules;

pub use protected_patterns::ProtectedPatterns;

/// Stands for a dot of a run of dots, which is a word of its own.
const MULTI_DOT: u8 = 2;
/// Stands for a piece of text that is to stay as it is.
const PROTECTED_PLACEHOLDER: u8 = 3;

/// Makes tokens of the text of one language.
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
    /// A tokeniser with the rules of `language`, named by two letters as in Moses;
    /// of a language without rules of its own it takes those most languages share,
    /// and without a list of abbreviations English's, as Moses does: see
    /// [`Prefixes::of_language`] on which have one.
    pub fn new(language: &str) -> Self {
        let english = || NonbreakingPrefixes::for_language("en").expect("it is built in");
        Tokenizer {
            rules: TokenizerRules::for_language(language),
            nonbreaking_prefixes: NonbreakingPrefixes::for_language(language)
                .unwrap_or_else(english),
            protected: ProtectedPatterns::default(),
            aggressive: false,
            escape: true,
            skip_markup: false,
        }
    }

    /// Takes these words as those that keep the full stop behind them.
    pub fn with_nonbreaking_prefixes(self, prefixes: NonbreakingPrefixes) -> Self {
        Tokenizer { nonbreaking_prefixes: prefixes, ..self }
    }

    /// Leaves what matches these patterns as it is.
    pub fn with_protected_patterns(self, protected: ProtectedPatterns) -> Self {
        Tokenizer { protected, ..self }
    }

    /// Splits words at hyphens, `a-b` into `a @-@ b` (`-a`).
    pub fn aggressive(self, aggressive: bool) -> Self {
        Tokenizer { aggressive, ..self }
    }

    /// Writes entities for the characters that Moses reads as syntax; on unless it
    /// is switched off (`-no-escape`).
    pub fn escape(self, escape: bool) -> Self {
        Tokenizer { escape, ..self }
    }

    /// Passes lines of markup alone, from `<` to `>`, as they are (`-x`).
    pub fn skip_markup(self, skip_markup: bool) -> Self {
        Tokenizer { skip_markup, ..self }
    }

    /// Appends the tokens of `line`, a space between two, to `out`. A line has no line
    /// end. Blank lines stay as they are.
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

    /// Appends the text with the meaning of its marks.
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

/// Whether a line is from `<` to `>`.
fn is_markup_line(line: &[u8]) -> bool {
    line.len() > 2 && line.starts_with(b"<") && line.ends_with(b">")
}

/// A line with a space before and behind it, single spaces for all white space, and
/// no control characters: what patterns of protected text are matched with.
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
