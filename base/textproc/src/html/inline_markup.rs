//! Tags inside a sentence, and their places in its translation.

use std::ops::Range;

use super::entities::push_escaped;
use super::inline_item::{InlineItem, InlineItemKind, MarkKind};
use super::inline_tree::InlineTree;
use super::tokens::Syntax;
use super::word_links::{WordLinks, words};
use crate::AlignedTranslation;
use crate::characters::{CharClass, first_class};
use crate::steps;

/// The maximum number of tags that are placed by alignment. With more, which ordinary pages do not
/// have, each tag is placed at the same relative position as in the sentence.
const MAX_ITEMS: usize = 1000;

/// The maximum product of the numbers of tags and words of a sentence, because each tag checks
/// every word. Above it, tags are placed as in sentences with more than [`MAX_ITEMS`] tags.
const MAX_COMPARISONS: usize = 1 << 18;

/// The tags and other copied items of a sentence, in the order of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InlineMarkup {
    items: Vec<InlineItem>,
    syntax: Syntax,
}

impl InlineMarkup {
    pub(super) fn new(items: Vec<InlineItem>, syntax: Syntax) -> Self {
        InlineMarkup { items, syntax }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Appends the translation of `sentence` with its tags.
    pub(crate) fn write(
        &self,
        sentence: &[u8],
        translation: AlignedTranslation<'_>,
        out: &mut Vec<u8>,
    ) {
        let text = translation.text;
        steps::count(sentence.len() + text.len() + self.items.len());
        if self.items.is_empty() || text.trim_ascii().is_empty() {
            self.items.iter().for_each(|item| out.extend_from_slice(&item.bytes));
            return push_escaped(text, self.syntax, out);
        }
        let [source, target] = [sentence, text].map(words);
        let num_words = source.len().max(target.len());
        if self.items.len() > MAX_ITEMS || self.items.len() * num_words > MAX_COMPARISONS {
            return self.write_by_shares((&source, &target), text, out);
        }
        let mut links = WordLinks::new((sentence, source), (translation, target), &self.items);
        let tree = InlineTree::place(&self.items, &mut links, (text, sentence.len()));
        let mut writer = MarkupWriter {
            items: &self.items,
            syntax: self.syntax,
            text,
            words: &links.target,
            gap: None,
            wants_space: false,
            out,
        };
        writer.write_node(&tree, InlineTree::ROOT);
        writer.flush_gap(links.target.len());
    }

    /// Appends a translation with each tag at the same relative position as in the sentence.
    fn write_by_shares(
        &self,
        (source, target): (&[Range<usize>], &[Range<usize>]),
        text: &[u8],
        out: &mut Vec<u8>,
    ) {
        let (mut before, mut done) = (0, 0);
        for item in &self.items {
            while source.get(before).is_some_and(|word| word.start < item.offset) {
                before += 1;
            }
            let share = before * target.len() / source.len().max(1);
            let end = share.checked_sub(1).map_or(0, |last| target[last].end);
            push_escaped(&text[done..end], self.syntax, out);
            done = end;
            out.extend_from_slice(&item.bytes);
        }
        push_escaped(&text[done..], self.syntax, out);
    }
}

/// A writer of words and tags. It writes the white space between two words once.
struct MarkupWriter<'a> {
    items: &'a [InlineItem],
    syntax: Syntax,
    text: &'a [u8],
    words: &'a [Range<usize>],
    /// The last word whose preceding white space is written.
    gap: Option<usize>,
    /// Whether a space must precede the next word.
    wants_space: bool,
    out: &'a mut Vec<u8>,
}

impl MarkupWriter<'_> {
    /// Writes a node of the tree, with its tags and all its words.
    fn write_node(&mut self, tree: &InlineTree, node: usize) {
        let span = tree.span(node);
        let [start, end] = tree.tags(node);
        if let Some(start) = start {
            let start = &self.items[start];
            if !span.is_empty() || start.is_after_space && span.start < self.words.len() {
                self.flush_gap(span.start);
            }
            self.out.extend_from_slice(&start.bytes);
        }
        let mut next = span.start;
        for content in tree.contents(node) {
            self.write_words(next..content.span.start);
            next = content.span.end;
            match content.child {
                Some(child) => self.write_node(tree, child),
                None => self.write_mark(content.item, next),
            }
        }
        self.write_words(next..span.end);
        if let Some(end) = end {
            self.out.extend_from_slice(&self.items[end].bytes);
        }
    }

    fn write_words(&mut self, words: Range<usize>) {
        for word in words {
            self.flush_gap(word);
            push_escaped(&self.text[self.words[word].clone()], self.syntax, self.out);
        }
    }

    /// Writes a mark before `word`.
    fn write_mark(&mut self, item: usize, word: usize) {
        let item = &self.items[item];
        let is_shown = item.kind == InlineItemKind::Mark(MarkKind::Shown);
        let is_inside = word > 0 && word < self.words.len();
        if item.is_after_space && is_inside {
            self.flush_gap(word);
        }
        if item.is_after_space && is_shown && word > 0 && !self.out.ends_with(b" ") {
            self.out.push(b' ');
        }
        self.out.extend_from_slice(&item.bytes);
        self.wants_space |= item.is_before_space && is_shown;
        if item.is_separator && is_shown && is_inside && self.gap < Some(word) {
            // The mark separates words of the translation as in the sentence.
            self.gap = Some(word);
        }
    }

    /// Writes the text between `word` and the previous word, unless it is already written.
    fn flush_gap(&mut self, word: usize) {
        if self.gap < Some(word) {
            let start = word.checked_sub(1).map_or(0, |before| self.words[before].end);
            let end = self.words.get(word).map_or(self.text.len(), |word| word.start);
            self.wants_space &= start == end;
            push_escaped(&self.text[start..end], self.syntax, self.out);
            self.gap = Some(word);
        }
        if std::mem::take(&mut self.wants_space)
            && self.words.get(word).is_some_and(|word| {
                first_class(&self.text[word.clone()]).intersects(CharClass::ALPHANUMERIC)
            })
        {
            self.out.push(b' ');
        }
    }
}
