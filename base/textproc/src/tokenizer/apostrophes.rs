//! Spaces at apostrophes, by the letters on both sides.
//!
//! The script runs a substitution for each pair of sides, and each goes on behind the
//! character that followed the apostrophe; so an apostrophe two characters behind
//! another may stay as it is. Walks over the apostrophes alone, in the same order,
//! do the same.

use memchr::memchr;

use crate::characters::{Kinds, Symbol, first, last};
use crate::language::Apostrophe;

/// What a character beside an apostrophe is.
#[derive(Clone, Copy)]
enum Side {
    Letter,
    NoLetter,
    NoLetterOrNumber,
    Number,
    /// The letter s.
    S,
}

/// Where a space goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    Before,
    Behind,
    Around,
}

struct Rule(Side, Side, Space);

const BEGINS_WORD: &[Rule] = &[
    Rule(Side::NoLetter, Side::NoLetter, Space::Around),
    Rule(Side::NoLetterOrNumber, Side::Letter, Space::Around),
    Rule(Side::Letter, Side::NoLetter, Space::Around),
    Rule(Side::Letter, Side::Letter, Space::Before),
    // The 1990 's.
    Rule(Side::Number, Side::S, Space::Before),
];

const ENDS_WORD: &[Rule] = &[
    Rule(Side::NoLetter, Side::NoLetter, Space::Around),
    Rule(Side::NoLetter, Side::Letter, Space::Around),
    Rule(Side::Letter, Side::NoLetter, Space::Around),
    Rule(Side::Letter, Side::Letter, Space::Behind),
];

/// Puts spaces at the apostrophes of `text`.
pub(super) fn split(language: Apostrophe, text: &mut Vec<u8>) {
    if memchr(b'\'', text).is_none() {
        return;
    }
    let rules = match language {
        Apostrophe::BeginsWord => BEGINS_WORD,
        Apostrophe::EndsWord => ENDS_WORD,
        Apostrophe::IsLetter => &ENDS_WORD[..3],
        Apostrophe::StandsAlone => {
            *text = stand_alone(text);
            return;
        }
    };
    for rule in rules {
        if let Some(split) = rule.apply(text) {
            *text = split;
        }
    }
}

fn stand_alone(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    for &byte in text {
        match byte {
            b'\'' => out.extend_from_slice(b" ' "),
            _ => out.push(byte),
        }
    }
    out
}

impl Rule {
    /// The text with spaces where the rule puts them, if it puts any.
    fn apply(&self, text: &[u8]) -> Option<Vec<u8>> {
        let Rule(before, behind, space) = self;
        let mut out: Option<Vec<u8>> = None;
        let mut copied = 0;
        // What is before this place has been consumed by a match.
        let mut free = 0;
        let mut next = 0;
        while let Some(at) = memchr(b'\'', &text[next..]).map(|found| next + found) {
            next = at + 1;
            let (Some(left), Some(right)) = (last(&text[free..at]), first(&text[at + 1..])) else {
                continue;
            };
            if !before.holds(left) || !behind.holds(right) {
                continue;
            }
            let out = out.get_or_insert_with(|| Vec::with_capacity(text.len() + 16));
            out.extend_from_slice(&text[copied..at]);
            out.extend_from_slice(match space {
                Space::Before => b" '",
                Space::Behind => b"' ",
                Space::Around => b" ' ",
            });
            copied = at + 1;
            free = copied + right.length;
            next = free;
        }
        out.map(|mut out| {
            out.extend_from_slice(&text[copied..]);
            out
        })
    }
}

impl Side {
    fn holds(self, symbol: Symbol) -> bool {
        let kinds = symbol.kinds();
        let letter = kinds.is(Kinds::ALPHABETIC);
        match self {
            Side::Letter => letter,
            Side::NoLetter => !letter,
            Side::NoLetterOrNumber => !letter && !kinds.is(Kinds::NUMBER),
            Side::Number => kinds.is(Kinds::NUMBER),
            Side::S => symbol.character == Some('s'),
        }
    }
}
