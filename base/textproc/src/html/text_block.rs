//! Text between two breaks of a page, with its tags, before it is split into sentences.
//!
//! White space is collapsed while text is added. Images, footnote marks and custom elements also
//! separate words. A space is added there if two words, or the end of a sentence and a word, would
//! touch.

use std::ops::Range;

use super::inline_item::{InlineItem, InlineItemKind, MarkKind};
use crate::characters::{first_char, is_spaced_letter, last_char};

/// A separation of two characters that have no white space between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separation {
    /// A space between two words.
    Space,
    /// The boundary of two texts, before the item with this number.
    Unit { first_item: usize },
}

/// The text between two breaks.
#[derive(Default)]
pub(super) struct Block {
    pub text: Vec<u8>,
    /// For each byte of `text`, the byte range of its character in the page.
    pub origins: Vec<Range<usize>>,
    pub items: Vec<InlineItem>,
    /// White space of the page before the next character.
    pub space: Option<Range<usize>>,
    /// Separation between the last character and the next one where there is no white space.
    pub separation: Option<Separation>,
    /// The number of items up to the end of a link, with the end tags that directly follow it;
    /// `None` if text or white space has followed.
    pub after_link: Option<usize>,
}

impl Block {
    /// Adds a tag, or a part that is copied unchanged, at the end of the text.
    pub fn add(&mut self, range: Range<usize>, kind: InlineItemKind) {
        self.items.push(InlineItem {
            kind,
            offset: self.text.len(),
            range,
            bytes: Vec::new(),
            is_after_space: self.space.is_some(),
            is_before_space: false,
            is_separator: false,
        });
        match kind {
            InlineItemKind::Mark(MarkKind::Shown) => self.separate(),
            InlineItemKind::End { .. } if self.after_link.is_some() => {
                self.after_link = Some(self.items.len());
            }
            _ => {}
        }
    }

    /// Puts a space between the words on both sides, unless there is a stronger separation.
    pub fn separate(&mut self) {
        self.separation = self.separation.or(Some(Separation::Space));
    }

    pub fn push_space(&mut self, range: Range<usize>) {
        match &mut self.space {
            Some(space) => space.end = range.end,
            none => *none = Some(range),
        }
        if let Some(item) = self.items.last_mut().filter(|item| item.offset == self.text.len()) {
            item.is_before_space = true;
        }
        (self.separation, self.after_link) = (None, None);
    }

    pub fn push(&mut self, characters: &[u8], range: Range<usize>) {
        if let Some(space) = self.space.take().filter(|_| !self.text.is_empty()) {
            self.text.push(b' ');
            self.origins.push(space);
        }
        self.text.extend_from_slice(characters);
        self.origins.resize(self.text.len(), range);
        (self.separation, self.after_link) = (None, None);
    }

    /// Adds a space, which the page does not have, before the character at the offset `at` of the
    /// page.
    pub fn push_missing_space(&mut self, at: usize) {
        let end = self.text.len();
        for item in self.items.iter_mut().rev().take_while(|item| item.offset == end) {
            item.is_separator = true;
        }
        self.text.push(b' ');
        self.origins.push(at..at);
    }

    /// Returns up to `length` bytes from the end of the text, or nothing if white space follows.
    pub fn ending(&self, length: usize) -> String {
        let is_joined = self.space.is_none();
        let end =
            if is_joined { &self.text[self.text.len().saturating_sub(length)..] } else { b"" };
        String::from_utf8_lossy(end).trim_start_matches('\u{fffd}').to_owned()
    }
}

/// Whether the last character of `text` and the first one of `next`, with a separation between
/// them, belong to two words or sentences.
pub(super) fn are_apart(text: &[u8], next: &[u8], separation: Separation) -> bool {
    let last = last_char(text).and_then(|symbol| symbol.character);
    let next = first_char(next).and_then(|symbol| symbol.character);
    let (Some(last), Some(next)) = (last, next) else { return false };
    let ends = is_spaced_letter(last) || ".,;:!?…)”’»%".contains(last);
    match separation {
        Separation::Space => ends && is_spaced_letter(next),
        Separation::Unit { .. } => ends && (is_spaced_letter(next) || "¿¡(“«".contains(next)),
    }
}
