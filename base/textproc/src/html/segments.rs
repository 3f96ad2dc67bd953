//! Segments of a page: its sentences, and the parts between them that are copied.
//!
//! The text between two breaks is decoded and split into sentences with places for tags. Tags at
//! both ends of a sentence may belong to it. A copied part reaches from the end of a sentence with
//! its tags to the start of the next.

use std::borrow::Cow;
use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use super::elements;
use super::entities::decode_reference;
use super::inline_item::{InlineItem, InlineItemKind, MarkKind};
use super::inline_markup::InlineMarkup;
use super::raised_text;
use super::rules::MarkupRules;
use super::tag_pairs::{ElementEnd, match_tags};
use super::text_block::{Block, Separation, are_apart};
use super::tokens::{StartTag, Syntax, Token, TokenKind, tokenize};
use crate::characters::char_indices;
use crate::steps;
use crate::{Interrupted, Segment, needs_translation};

/// A function that splits plain text into sentences, or stops in a long text.
pub(super) type Split<'s> = dyn FnMut(&[u8]) -> Result<Vec<Range<usize>>, Interrupted> + 's;

/// Returns the segments of a document, which `split` splits into sentences. The last segment has
/// the text after the last sentence.
///
/// # Errors
/// [`Interrupted`] if `split` stops.
pub(crate) fn find(
    html: &[u8],
    rules: &MarkupRules,
    split: &mut Split<'_>,
) -> Result<Vec<Segment>, Interrupted> {
    let tokens = tokenize(html, rules.syntax);
    let ends = match_tags(&tokens, rules.syntax);
    let blocks = rules.find_blocks(&tokens, &ends);
    let mut finder = Finder {
        html,
        rules,
        tokens: &tokens,
        ends: &ends,
        blocks: &blocks,
        split,
        segments: Vec::new(),
        copied: 0,
        block: Block::default(),
        preformatted_until: 0,
        requests: translation_requests(&tokens),
        regions: Vec::new(),
        is_translated: true,
        apart: HashSet::new(),
    };
    let mut number = 0;
    while number < tokens.len() {
        finder.leave_regions(number)?;
        number = finder.read_token(number)?;
    }
    finder.leave_regions(number)?;
    finder.end_block()?;
    let rest = html[finder.copied..].to_vec();
    finder.segments.push(Segment { before: rest, ..Segment::default() });
    Ok(finder.segments)
}

/// Returns, for each token, the index of the first token at or after it that requests translation;
/// empty if no token does.
fn translation_requests(tokens: &[Token]) -> Vec<usize> {
    fn is_request(token: &Token) -> bool {
        match &token.kind {
            TokenKind::Start(tag) => tag.translate == Some(true),
            _ => false,
        }
    }
    if !tokens.iter().any(is_request) {
        return Vec::new();
    }
    let mut requests = vec![tokens.len(); tokens.len() + 1];
    for (number, token) in tokens.iter().enumerate().rev() {
        requests[number] = if is_request(token) { number } else { requests[number + 1] };
    }
    requests
}

struct Finder<'h, 's, 'f> {
    html: &'h [u8],
    rules: &'h MarkupRules,
    tokens: &'h [Token],
    ends: &'h [ElementEnd],
    /// Whether each token ends a sentence.
    blocks: &'h [bool],
    split: &'f mut Split<'s>,
    segments: Vec<Segment>,
    /// The end of the part of the page that segments contain.
    copied: usize,
    block: Block,
    /// The token at which the outermost `pre` ends.
    preformatted_until: usize,
    requests: Vec<usize>,
    /// Elements that turn translation off or on: the token at which each ends, and whether
    /// translation is on after it.
    regions: Vec<(usize, bool)>,
    is_translated: bool,
    /// Elements whose words are separate from adjacent words.
    apart: HashSet<usize>,
}

impl Finder<'_, '_, '_> {
    /// Leaves the regions that end at or before token `number`.
    fn leave_regions(&mut self, number: usize) -> Result<(), Interrupted> {
        while let Some(&(_, before)) = self.regions.last().filter(|(end, _)| *end <= number) {
            self.end_block()?;
            self.is_translated = before;
            self.regions.pop();
        }
        Ok(())
    }

    /// Reads a token, or an element that is copied; returns the index of the next token.
    fn read_token(&mut self, number: usize) -> Result<usize, Interrupted> {
        let token = &self.tokens[number];
        if let TokenKind::Start(tag) = &token.kind {
            return self.read_start(number, tag);
        }
        if !self.is_translated {
            return Ok(number + 1);
        }
        match &token.kind {
            TokenKind::Text => {
                self.add_text(token.range.clone(), number < self.preformatted_until)?;
            }
            TokenKind::End(_) if self.blocks[number] => self.end_block()?,
            TokenKind::End(name) => {
                let ElementEnd::Tag(start) = self.ends[number] else {
                    let kind = InlineItemKind::Mark(MarkKind::Hidden);
                    self.block.add(token.range.clone(), kind);
                    return Ok(number + 1);
                };
                self.block.add(token.range.clone(), InlineItemKind::End { element: start });
                if self.apart.contains(&start) {
                    self.block.separate();
                }
                if self.is_link(name) {
                    self.block.after_link = Some(self.block.items.len());
                }
            }
            _ => {
                let kind = InlineItemKind::Mark(MarkKind::Hidden);
                self.block.add(token.range.clone(), kind);
            }
        }
        Ok(number + 1)
    }

    /// Reads a start tag, or all of its element if that is copied.
    fn read_start(&mut self, number: usize, tag: &StartTag) -> Result<usize, Interrupted> {
        let token = &self.tokens[number];
        let (inner_end, end) = match self.ends[number] {
            ElementEnd::Tag(end) => (end, end + 1),
            ElementEnd::Implied(end) => (end, end),
            ElementEnd::None => (number + 1, number + 1),
        };
        let is_html = self.rules.syntax == Syntax::Html;
        if is_html && elements::is_preformatted(&tag.name) {
            self.preformatted_until = self.preformatted_until.max(end);
        }
        if !self.is_translated {
            if tag.translate == Some(true) && !self.rules.is_copied(tag) {
                self.regions.push((inner_end, false));
                self.is_translated = true;
            }
            return Ok(number + 1);
        }
        if self.rules.is_copied(tag) {
            let has_request = self.requests.get(number + 1).is_some_and(|&at| at < inner_end);
            if has_request && self.rules.may_be_translated_inside(tag) {
                self.end_block()?;
                self.regions.push((end, true));
                self.is_translated = false;
                return Ok(number + 1);
            }
            if self.blocks[number] {
                self.end_block()?;
            } else {
                let kind = if is_html && !elements::is_visible(&tag.name) {
                    self.block.separate();
                    MarkKind::Hidden
                } else {
                    MarkKind::Shown
                };
                self.add_whole(number..end, kind);
            }
            return Ok(end);
        }
        if self.blocks[number] {
            self.end_block()?;
            return Ok(number + 1);
        }
        if is_html && elements::is_annotation(&tag.name) {
            self.add_whole(number..end, MarkKind::Attached);
            return Ok(end);
        }
        if self.is_reference(number, tag) {
            self.add_whole(number..end, MarkKind::Attached);
            self.block.separate();
            return Ok(end);
        }
        if !is_html && self.ends[number] == ElementEnd::Tag(number + 1) {
            // An empty element has a meaning, such as an icon.
            self.add_whole(number..end, MarkKind::Shown);
            return Ok(end);
        }
        let kind = match self.ends[number] {
            ElementEnd::Tag(_) => {
                let after_link = self.block.after_link.filter(|_| self.is_link(&tag.name));
                if let Some(first_item) = after_link
                    && self.rules.splits_between(&tag.name)
                {
                    self.block.separation = Some(Separation::Blocks { first_item });
                } else if after_link.is_some() {
                    self.block.separate();
                }
                if self.is_apart(number, tag) {
                    self.apart.insert(number);
                    self.block.separate();
                }
                InlineItemKind::Start { element: number, is_link: *tag.name == *b"a" }
            }
            _ => {
                let name = &tag.name[..];
                let is_void = is_html && elements::is_void(name) && elements::is_visible(name);
                let is_empty = tag.is_self_closing && elements::is_custom(name);
                // An element of XML without an end tag is empty, too.
                let is_shown = !is_html || (is_void || is_empty) && !tag.is_hidden;
                InlineItemKind::Mark(if is_shown { MarkKind::Shown } else { MarkKind::Hidden })
            }
        };
        self.block.add(token.range.clone(), kind);
        Ok(number + 1)
    }

    /// Adds tokens as one mark.
    fn add_whole(&mut self, tokens: Range<usize>, kind: MarkKind) {
        let range = self.tokens[tokens.start].range.start..self.tokens[tokens.end - 1].range.end;
        self.block.add(range, InlineItemKind::Mark(kind));
    }

    /// Whether an element contains whole words, so that two such elements in a row are two words.
    fn is_link(&self, name: &[u8]) -> bool {
        self.rules.syntax == Syntax::Xml || name == b"a" || elements::is_custom(name)
    }

    /// Whether the words of an element are separate from adjacent words. This holds for custom
    /// elements, and for raised or lowered text that is neither a mark nor an ending.
    fn is_apart(&self, number: usize, tag: &StartTag) -> bool {
        if self.rules.syntax == Syntax::Xml {
            return false;
        }
        let is_raised_or_lowered = matches!(&tag.name[..], b"sup" | b"sub");
        elements::is_custom(&tag.name)
            || is_raised_or_lowered
                && self.short_text(number).is_none_or(|raised| {
                    let before = self.block.ending(raised_text::MAX_BYTES);
                    raised_text::is_apart(&before, &raised)
                })
    }

    /// Whether an element is the mark of a footnote.
    fn is_reference(&self, number: usize, tag: &StartTag) -> bool {
        let ElementEnd::Tag(end) = self.ends[number] else { return false };
        if self.rules.syntax == Syntax::Xml || *tag.name != *b"sup" {
            return false;
        }
        let Some(raised) = self.short_text(number) else { return false };
        let before = self.block.ending(raised_text::MAX_BYTES);
        let after = match self.tokens.get(end + 1) {
            Some(Token { kind: TokenKind::Text, range, .. }) => {
                let start = &self.html[range.clone()];
                String::from_utf8_lossy(&start[..start.len().min(8)]).into_owned()
            }
            _ => String::new(),
        };
        raised_text::is_reference_mark(&before, &raised, &after)
    }

    /// Returns the text in an element, if it is short.
    fn short_text(&self, start: usize) -> Option<String> {
        const MAX_TOKENS: usize = 32;
        let ElementEnd::Tag(end) = self.ends[start] else { return None };
        if end - start > MAX_TOKENS {
            return None;
        }
        let inside = self.tokens[start..end].iter().filter(|token| token.kind == TokenKind::Text);
        let mut text = Vec::new();
        for token in inside {
            if text.len() + token.range.len() > 4 * raised_text::MAX_BYTES {
                return None;
            }
            text.extend_from_slice(&self.html[token.range.clone()]);
        }
        Some(
            String::from_utf8_lossy(&htmlize::unescape_bytes_in(&*text, htmlize::Context::General))
                .into_owned(),
        )
    }

    /// Adds characters that are not white space, or a space of preformatted text.
    fn push(&mut self, characters: &[u8], range: Range<usize>) -> Result<(), Interrupted> {
        if let Some(separation) = self.block.separation
            && self.block.space.is_none()
            && are_apart(&self.block.text, characters, separation)
        {
            match separation {
                Separation::Space => self.block.push_missing_space(range.start),
                Separation::Blocks { first_item } => {
                    let mut items = self.block.items.split_off(first_item);
                    items.iter_mut().for_each(|item| item.offset = 0);
                    self.end_block()?;
                    self.block.items = items;
                }
            }
        }
        self.block.push(characters, range);
        Ok(())
    }

    /// Adds text of the page.
    fn add_text(&mut self, range: Range<usize>, is_preformatted: bool) -> Result<(), Interrupted> {
        let text = &self.html[range.clone()];
        steps::count(text.len());
        let mut at = 0;
        while at < text.len() {
            let start = range.start + at;
            match text[at] {
                b'\n' if is_preformatted => {
                    self.end_block()?;
                    at += 1;
                }
                b' ' | b'\t' if is_preformatted && !self.block.text.is_empty() => {
                    self.push(&text[at..at + 1], start..start + 1)?;
                    at += 1;
                }
                b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => {
                    self.block.push_space(start..start + 1);
                    at += 1;
                }
                byte => {
                    let (characters, length) = if byte == b'&' {
                        decode_reference(&text[at..]).unwrap_or((Cow::Borrowed(b"&"), 1))
                    } else {
                        let (_, symbol) =
                            char_indices(&text[at..]).next().expect("a byte is there");
                        let length = if byte.is_ascii() { 1 } else { symbol.byte_len };
                        (Cow::Borrowed(&text[at..at + length]), length)
                    };
                    let range = start..start + length;
                    if !is_no_break_space(&characters) {
                        self.push(&characters, range)?;
                    } else if is_preformatted && !self.block.text.is_empty() {
                        self.push(b" ", range)?;
                    } else {
                        self.block.push_space(range);
                    }
                    at += length;
                }
            }
        }
        Ok(())
    }

    /// Creates segments from the text since the last break.
    fn end_block(&mut self) -> Result<(), Interrupted> {
        let Block { text, origins, items, .. } = std::mem::take(&mut self.block);
        if !needs_translation(&text) {
            return Ok(());
        }
        let sentences: Vec<_> = (self.split)(&text)?;
        let sentences: Vec<_> =
            sentences.into_iter().filter(|range| needs_translation(&text[range.clone()])).collect();
        let owned = assign_items(&items, &sentences);
        let mut last_end = None;
        for (sentence, own) in sentences.into_iter().zip(owned) {
            let first = origins[sentence.start].start;
            let last = origins[sentence.end - 1].end;
            let own = &items[own];
            let begin = own.first().map_or(first, |item| item.range.start.min(first));
            // A character reference may decode to two characters, one in each of two sentences.
            let begin = begin.max(self.copied);
            let end = own.last().map_or(last, |item| item.range.end.max(last));
            let mut before = self.html[self.copied..begin].to_vec();
            // At the beginning of a sentence, white space between tags moves before the tags; at
            // the end, it moves after them.
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
            steps::count(own.len() + end.saturating_sub(begin));
            self.segments.push(Segment {
                before: closed(before),
                after,
                is_adjacent,
                inline: Some(InlineMarkup::new(own.collect(), self.rules.syntax)),
                sentence: text[sentence].to_vec(),
            });
            self.copied = end;
        }
        Ok(())
    }
}

/// Escapes a `<` at the end of copied text, so that it does not form a tag with the translation.
fn closed(mut copied: Vec<u8>) -> Vec<u8> {
    if copied.ends_with(b"<") {
        copied.pop();
        copied.extend_from_slice(b"&lt;");
    }
    copied
}

/// Appends the bytes in `range` of the page outside `items`.
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

/// Whether characters are a no-break space, which models expect as white space.
fn is_no_break_space(characters: &[u8]) -> bool {
    ["\u{a0}", "\u{2007}", "\u{202f}"].iter().any(|space| space.as_bytes() == characters)
}

/// Returns the items that belong to each sentence: those inside it, start tags before it whose
/// elements end inside it, and end tags after it whose elements begin inside it. Others are between
/// sentences and are copied.
fn assign_items(items: &[InlineItem], sentences: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut starts = HashMap::new();
    let mut ends = HashMap::new();
    for (number, item) in items.iter().enumerate() {
        match item.kind {
            InlineItemKind::Start { element, .. } => drop(starts.insert(element, number)),
            InlineItemKind::End { element } => drop(ends.insert(element, number)),
            InlineItemKind::Mark(_) => {}
        }
    }
    let mut owned: Vec<Range<usize>> = Vec::with_capacity(sentences.len());
    let mut free = 0;
    for sentence in sentences {
        // The items before, inside and after the sentence.
        fn count(from: usize, most: usize, items: &[InlineItem]) -> usize {
            from + items[from..].partition_point(|item| item.offset <= most)
        }
        let inside = count(free, sentence.start, items);
        let after = count(inside, sentence.end - 1, items);
        let next = count(after, sentence.end, items);
        let first = items[free..inside]
            .iter()
            .position(|item| match item.kind {
                InlineItemKind::Start { element, .. } => {
                    ends.get(&element).is_some_and(|end| (inside..after).contains(end))
                }
                _ => false,
            })
            .map_or(inside, |at| free + at);
        let last = items[after..next]
            .iter()
            .rposition(|item| match item.kind {
                InlineItemKind::End { element } => {
                    starts.get(&element).is_some_and(|start| (first..after).contains(start))
                }
                _ => false,
            })
            .map_or(after, |at| after + at + 1);
        steps::count(inside - free + next - after);
        owned.push(first..last);
        free = last;
    }
    owned
}
