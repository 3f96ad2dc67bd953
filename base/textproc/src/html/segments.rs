//! From the tokens of a page to segments: the text between two breaks is decoded, its white
//! space collapsed, and split into sentences; tags get their places in it.
//!
//! What is between two sentences is copied from the page, from the last byte of one, its last
//! tags included, to the first byte of the next.

use std::borrow::Cow;
use std::ops::Range;

use hashbrown::HashMap;

use super::elements::{self, ElementEnd};
use super::entities::decode_reference;
use super::inline_markup::{InlineItem, InlineItemKind, InlineMarkup};
use super::tokens::{Token, TokenKind, tokenize};
use crate::characters::char_indices;
use crate::{Segment, needs_translation};

/// Splits plain text into sentences.
type Split<'s> = dyn FnMut(&[u8]) -> Vec<Range<usize>> + 's;

/// The segments of a page, which `split` splits into sentences; the last one has what
/// follows the last sentence.
pub(super) fn find(html: &[u8], split: &mut Split<'_>) -> Vec<Segment> {
    let tokens = tokenize(html);
    let ends = elements::match_tags(&tokens);
    let mut finder =
        Finder { html, split, segments: Vec::new(), copied: 0, block: Block::default() };
    // Where the outermost `pre` ends.
    let mut preformatted_until = 0;
    let mut number = 0;
    while let Some(token) = tokens.get(number) {
        let mut next = number + 1;
        match &token.kind {
            TokenKind::Text => {
                finder.add_text(token.range.clone(), number < preformatted_until);
            }
            TokenKind::Other => finder.block.add(token, InlineItemKind::Mark { is_visible: false }),
            TokenKind::Start(tag) => {
                let end = match ends[number] {
                    ElementEnd::Tag(end) => end + 1,
                    ElementEnd::Implied(end) => end,
                    ElementEnd::None => next,
                };
                if tag.is_notranslate || elements::is_untranslated(&tag.name) {
                    let range = token.range.start..tokens[end - 1].range.end;
                    if elements::is_block(&tag.name) {
                        finder.end_block();
                    } else {
                        let is_visible = elements::is_visible(&tag.name);
                        let whole = Token { kind: TokenKind::Other, range };
                        finder.block.add(&whole, InlineItemKind::Mark { is_visible });
                    }
                    next = end;
                } else if elements::is_block(&tag.name) {
                    finder.end_block();
                    if elements::is_preformatted(&tag.name) {
                        preformatted_until = preformatted_until.max(end);
                    }
                } else {
                    let kind = match ends[number] {
                        ElementEnd::Tag(_) => InlineItemKind::Start { element: number },
                        _ => {
                            let name = &tag.name[..];
                            let is_visible = elements::is_void(name) && elements::is_visible(name);
                            InlineItemKind::Mark { is_visible }
                        }
                    };
                    finder.block.add(token, kind);
                }
            }
            TokenKind::End(name) if elements::is_block(name) => finder.end_block(),
            TokenKind::End(_) => {
                let kind = match ends[number] {
                    ElementEnd::Tag(start) => InlineItemKind::End { element: start },
                    _ => InlineItemKind::Mark { is_visible: false },
                };
                finder.block.add(token, kind);
            }
        }
        number = next;
    }
    finder.end_block();
    let rest = html[finder.copied..].to_vec();
    finder.segments.push(Segment { before: rest, ..Segment::default() });
    finder.segments
}

struct Finder<'h, 's, 'f> {
    html: &'h [u8],
    split: &'f mut Split<'s>,
    segments: Vec<Segment>,
    /// How much of the page the segments have.
    copied: usize,
    block: Block,
}

/// The text between two breaks.
#[derive(Default)]
struct Block {
    text: Vec<u8>,
    /// For each byte of `text` the bytes of the page that its character comes from.
    origins: Vec<Range<usize>>,
    items: Vec<InlineItem>,
    /// White space of the page that the next character will come after.
    space: Option<Range<usize>>,
}

impl Block {
    /// Adds a tag, or what is copied as it is, at the end of the text.
    fn add(&mut self, token: &Token, kind: InlineItemKind) {
        self.items.push(InlineItem {
            kind,
            offset: self.text.len(),
            range: token.range.clone(),
            bytes: Vec::new(),
            is_after_space: self.space.is_some(),
            is_before_space: false,
        });
    }

    fn push_space(&mut self, range: Range<usize>) {
        match &mut self.space {
            Some(space) => space.end = range.end,
            none => *none = Some(range),
        }
        if let Some(item) = self.items.last_mut().filter(|item| item.offset == self.text.len()) {
            item.is_before_space = true;
        }
    }

    fn push(&mut self, characters: &[u8], range: Range<usize>) {
        if let Some(space) = self.space.take().filter(|_| !self.text.is_empty()) {
            self.text.push(b' ');
            self.origins.push(space);
        }
        self.text.extend_from_slice(characters);
        self.origins.resize(self.text.len(), range);
    }
}

impl Finder<'_, '_, '_> {
    /// Adds text of the page.
    fn add_text(&mut self, range: Range<usize>, is_preformatted: bool) {
        let text = &self.html[range.clone()];
        let mut at = 0;
        while at < text.len() {
            let start = range.start + at;
            match text[at] {
                b'\n' if is_preformatted => {
                    self.end_block();
                    at += 1;
                }
                b' ' | b'\t' if is_preformatted && !self.block.text.is_empty() => {
                    self.block.push(&text[at..at + 1], start..start + 1);
                    at += 1;
                }
                b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => {
                    self.block.push_space(start..start + 1);
                    at += 1;
                }
                b'&' => {
                    let reference = decode_reference(&text[at..]);
                    let (characters, length) = reference.unwrap_or((Cow::Borrowed(b"&"), 1));
                    self.block.push(&characters, start..start + length);
                    at += length;
                }
                byte => {
                    let (_, symbol) = char_indices(&text[at..]).next().expect("there is a byte");
                    let length = if byte.is_ascii() { 1 } else { symbol.byte_len };
                    self.block.push(&text[at..at + length], start..start + length);
                    at += length;
                }
            }
        }
    }

    /// Makes segments of the text since the last break.
    fn end_block(&mut self) {
        let Block { text, origins, items, .. } = std::mem::take(&mut self.block);
        if !needs_translation(&text) {
            return;
        }
        let sentences: Vec<_> = (self.split)(&text);
        let sentences: Vec<_> =
            sentences.into_iter().filter(|range| needs_translation(&text[range.clone()])).collect();
        let owned = assign_items(&items, &sentences);
        let mut last_end = None;
        for (sentence, own) in sentences.into_iter().zip(owned) {
            let first = origins[sentence.start].start;
            let last = origins[sentence.end - 1].end;
            let own = &items[own];
            let begin = own.first().map_or(first, |item| item.range.start.min(first));
            // Two sentences may share a reference for two characters.
            let begin = begin.max(self.copied);
            let end = own.last().map_or(last, |item| item.range.end.max(last));
            let mut before = self.html[self.copied..begin].to_vec();
            // White space between the tags at the beginning goes before, at the end after them.
            let leading = own.iter().filter(|item| item.range.start < first);
            push_gaps(self.html, begin..first, leading, &mut before);
            let mut after = Vec::new();
            let trailing = own.iter().filter(|item| item.range.start >= last);
            push_gaps(self.html, last..end, trailing, &mut after);
            let is_adjacent = last_end.is_some_and(|end| end == sentence.start);
            last_end = Some(sentence.end);
            let own = own.iter().map(|item| InlineItem {
                offset: item.offset.clamp(sentence.start, sentence.end) - sentence.start,
                bytes: closed(self.html[item.range.clone()].to_vec()),
                ..item.clone()
            });
            self.segments.push(Segment {
                before: closed(before),
                after,
                is_adjacent,
                inline: Some(InlineMarkup::new(own.collect())),
                sentence: text[sentence].to_vec(),
            });
            self.copied = end;
        }
    }
}

/// What is copied, so that a `<` at its end, which was text, does not make a tag of the translation
/// after it.
fn closed(mut copied: Vec<u8>) -> Vec<u8> {
    if copied.ends_with(b"<") {
        copied.pop();
        copied.extend_from_slice(b"&lt;");
    }
    copied
}

/// Appends what is in `range` of the page and in none of `items`.
fn push_gaps<'i>(
    html: &[u8],
    range: Range<usize>,
    items: impl Iterator<Item = &'i InlineItem>,
    out: &mut Vec<u8>,
) {
    let mut at = range.start;
    for item in items {
        out.extend_from_slice(&html[at..item.range.start.max(at)]);
        at = item.range.end.max(at);
    }
    out.extend_from_slice(&html[at..range.end.max(at)]);
}

/// For each sentence the items that belong to it: those inside it, with all start tags before
/// it whose elements end inside it and all end tags after it whose elements begin inside it.
/// The others are between sentences, and are copied.
fn assign_items(items: &[InlineItem], sentences: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut starts = HashMap::new();
    let mut ends = HashMap::new();
    for (number, item) in items.iter().enumerate() {
        match item.kind {
            InlineItemKind::Start { element } => drop(starts.insert(element, number)),
            InlineItemKind::End { element } => drop(ends.insert(element, number)),
            InlineItemKind::Mark { .. } => {}
        }
    }
    let mut owned: Vec<Range<usize>> = Vec::with_capacity(sentences.len());
    let mut free = 0;
    for sentence in sentences {
        // The items before, inside and after the sentence.
        let count = |from: usize, most: usize| {
            from + items[from..].partition_point(|item| item.offset <= most)
        };
        let inside = count(free, sentence.start);
        let after = count(inside, sentence.end - 1);
        let next = count(after, sentence.end);
        let leads = |item: &InlineItem| match item.kind {
            InlineItemKind::Start { element } => {
                ends.get(&element).is_some_and(|end| (inside..after).contains(end))
            }
            _ => false,
        };
        let first = items[free..inside].iter().position(leads).map_or(inside, |at| free + at);
        let trails = |item: &InlineItem| match item.kind {
            InlineItemKind::End { element } => {
                starts.get(&element).is_some_and(|start| (first..after).contains(start))
            }
            _ => false,
        };
        let last = items[after..next].iter().rposition(trails).map_or(after, |at| after + at + 1);
        owned.push(first..last);
        free = last;
    }
    owned
}
