//! Spaces at apostrophes, by the letters on both sides.
//!
//! Moses' script runs a substitution for each pair of neighbour classes. A match consumes the
//! character after the apostrophe, so an apostrophe two characters after another may be unchanged.
//! This code does the same in passes over only the apostrophes, in the same order.

use memchr::memchr;

use crate::characters::{CharClass, DecodedChar, first_char, last_char};
use crate::tokenizer_rules::ApostropheRule;

/// The class of a character next to an apostrophe.
#[derive(Clone, Copy)]
enum NeighbourClass {
    Letter,
    NonLetter,
    NonAlphanumeric,
    Number,
    /// The letter s.
    LetterS,
}

/// The position of an inserted space.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpacePosition {
    Before,
    After,
    Around,
}

struct SplitRule(NeighbourClass, NeighbourClass, SpacePosition);

const BEGINS_WORD_RULES: &[SplitRule] = &[
    SplitRule(NeighbourClass::NonLetter, NeighbourClass::NonLetter, SpacePosition::Around),
    SplitRule(NeighbourClass::NonAlphanumeric, NeighbourClass::Letter, SpacePosition::Around),
    SplitRule(NeighbourClass::Letter, NeighbourClass::NonLetter, SpacePosition::Around),
    SplitRule(NeighbourClass::Letter, NeighbourClass::Letter, SpacePosition::Before),
    // Writes `1990's` as `1990 's`.
    SplitRule(NeighbourClass::Number, NeighbourClass::LetterS, SpacePosition::Before),
];

const ENDS_WORD_RULES: &[SplitRule] = &[
    SplitRule(NeighbourClass::NonLetter, NeighbourClass::NonLetter, SpacePosition::Around),
    SplitRule(NeighbourClass::NonLetter, NeighbourClass::Letter, SpacePosition::Around),
    SplitRule(NeighbourClass::Letter, NeighbourClass::NonLetter, SpacePosition::Around),
    SplitRule(NeighbourClass::Letter, NeighbourClass::Letter, SpacePosition::After),
];

/// Puts spaces at the apostrophes of `text`.
pub(super) fn split_apostrophes(language: ApostropheRule, text: &mut Vec<u8>) {
    if memchr(b'\'', text).is_none() {
        return;
    }
    let rules = match language {
        ApostropheRule::BeginsWord => BEGINS_WORD_RULES,
        ApostropheRule::EndsWord => ENDS_WORD_RULES,
        ApostropheRule::IsLetter => &ENDS_WORD_RULES[..3],
        ApostropheRule::SeparateToken => {
            *text = isolate_apostrophes(text);
            return;
        }
    };
    for rule in rules {
        if let Some(split) = rule.apply(text) {
            *text = split;
        }
    }
}

fn isolate_apostrophes(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    for &byte in text {
        match byte {
            b'\'' => out.extend_from_slice(b" ' "),
            _ => out.push(byte),
        }
    }
    out
}

impl SplitRule {
    /// Returns the text with spaces where the rule puts them, if it puts any.
    fn apply(&self, text: &[u8]) -> Option<Vec<u8>> {
        let SplitRule(before, after, space) = self;
        let mut out: Option<Vec<u8>> = None;
        let mut copied = 0;
        // The text before this offset has been consumed by a match.
        let mut free = 0;
        let mut next = 0;
        while let Some(at) = memchr(b'\'', &text[next..]).map(|found| next + found) {
            next = at + 1;
            let (Some(left), Some(right)) =
                (last_char(&text[free..at]), first_char(&text[at + 1..]))
            else {
                continue;
            };
            if !before.matches(left) || !after.matches(right) {
                continue;
            }
            let out = out.get_or_insert_with(|| Vec::with_capacity(text.len() + 16));
            out.extend_from_slice(&text[copied..at]);
            out.extend_from_slice(match space {
                SpacePosition::Before => b" '",
                SpacePosition::After => b"' ",
                SpacePosition::Around => b" ' ",
            });
            copied = at + 1;
            free = copied + right.byte_len;
            next = free;
        }
        out.map(|mut out| {
            out.extend_from_slice(&text[copied..]);
            out
        })
    }
}

impl NeighbourClass {
    fn matches(self, symbol: DecodedChar) -> bool {
        let kinds = symbol.class();
        let letter = kinds.intersects(CharClass::ALPHABETIC);
        match self {
            NeighbourClass::Letter => letter,
            NeighbourClass::NonLetter => !letter,
            NeighbourClass::NonAlphanumeric => !letter && !kinds.intersects(CharClass::NUMBER),
            NeighbourClass::Number => kinds.intersects(CharClass::NUMBER),
            NeighbourClass::LetterS => symbol.character == Some('s'),
        }
    }
}
