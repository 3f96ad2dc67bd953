//! Blocks: texts between two breaks of a page, with their tags, before they are split into
//! sentences.
//!
//! White space is collapsed while text is added. Images, footnote marks and custom elements also
//! separate words. At these, a space is added if two words, or a punctuation mark and a word, would
//! touch.

use std::ops::Range;

use super::inline_item::{InlineItem, InlineItemKind, MarkKind};
use crate::characters::{first_char, is_spaced_letter, last_char};

/// A separation of two characters that have no white space between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separation {
    /// A space between two words.
    Space,
    /// The boundary of two blocks. The second one begins with the item with this index.
    Blocks { first_item: usize },
}

/// The text between two breaks.
#[derive(Default)]
pub(super) struct Block {
    pub text: Vec<u8>,
    /// For each byte of `text`, the byte range of its character in the page.
    pub origins: Vec<Range<usize>>,
    pub items: Vec<InlineItem>,
    /// The range of the page's white space before the next character, if any.
    pub space: Option<Range<usize>>,
    /// The separation of the last character from the next one, if no white space is between them.
    pub separation: Option<Separation>,
    /// The number of items up to the end of a link and of the end tags that directly follow it;
    /// `None` if text or white space came after it.
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

    /// Requests a space between the last character and the next one, unless two blocks are to be
    /// separated there.
    pub fn separate(&mut self) {
        self.separation = self.separation.or(Some(Separation::Space));
    }

    /// Adds white space of the page, which becomes one space when a character follows.
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

    /// Adds characters that are at `range` of the page.
    pub fn push(&mut self, characters: &[u8], range: Range<usize>) {
        if let Some(space) = self.space.take().filter(|_| !self.text.is_empty()) {
            self.text.push(b' ');
            self.origins.push(space);
        }
        self.text.extend_from_slice(characters);
        self.origins.resize(self.text.len(), range);
        (self.separation, self.after_link) = (None, None);
    }

    /// Adds a space that the page does not have, before its character at the byte offset `at`.
    pub fn push_missing_space(&mut self, at: usize) {
        let end = self.text.len();
        for item in self.items.iter_mut().rev().take_while(|item| item.offset == end) {
            item.is_separator = true;
        }
        self.text.push(b' ');
        self.origins.push(at..at);
    }

    /// Returns the whole characters in the last `length` bytes of the text, or nothing if white
    /// space follows.
    pub fn ending(&self, length: usize) -> String {
        if self.space.is_some() {
            return String::new();
        }
        let end = &self.text[self.text.len().saturating_sub(length)..];
        String::from_utf8_lossy(end).trim_start_matches('\u{fffd}').to_owned()
    }
}

/// Whether `separation` applies between `text` and `next`: whether their characters on both sides
/// of it look like the end of one word or sentence and the beginning of another.
pub(super) fn are_apart(text: &[u8], next: &[u8], separation: Separation) -> bool {
    let last = last_char(text).and_then(|symbol| symbol.character);
    let next = first_char(next).and_then(|symbol| symbol.character);
    let (Some(last), Some(next)) = (last, next) else { return false };
    let ends = is_spaced_letter(last) || ".,;:!?…)”’»%".contains(last);
    match separation {
        Separation::Space => ends && is_spaced_letter(next),
        Separation::Blocks { .. } => ends && (is_spaced_letter(next) || "¿¡(“«".contains(next)),
    }
}
