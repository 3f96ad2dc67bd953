//! Tags inside a sentence, and writing them into its translation.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::inline_tree::{InlineTree, WordLinks};
use super::push_escaped;
use crate::AlignedTranslation;
use crate::characters::{CharClass, first_class};
use crate::sentence_splitter::decode;

/// The most tags of a sentence that are put around words; with more of them, which no page has
/// that people read, all are before the translation.
const MAX_ITEMS: usize = 1000;

/// The tags of a sentence, and what else is copied inside it, in the order of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InlineMarkup {
    items: Vec<InlineItem>,
}

/// A tag, or what is copied as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InlineItem {
    pub(super) kind: InlineItemKind,
    /// The byte of the sentence before which it is.
    pub(super) offset: usize,
    /// Its bytes in the page.
    pub(super) range: Range<usize>,
    pub(super) bytes: Vec<u8>,
    /// Whether white space is before it.
    pub(super) is_after_space: bool,
    /// Whether white space is after it.
    pub(super) is_before_space: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlineItemKind {
    /// The start tag of an element that has an end tag; elements have numbers.
    Start { element: usize },
    /// The end tag of an element that has a start tag.
    End { element: usize },
    /// An image, a comment, an element that is not translated, a tag without a partner.
    Mark {
        /// Whether it takes place on a line.
        is_visible: bool,
    },
}

impl InlineMarkup {
    pub(super) fn new(items: Vec<InlineItem>) -> Self {
        InlineMarkup { items }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Appends the translation of `sentence` with the tags in it.
    pub(crate) fn write(
        &self,
        sentence: &[u8],
        translation: AlignedTranslation<'_>,
        out: &mut Vec<u8>,
    ) {
        let [source, target] = [sentence, translation.text].map(words);
        if self.items.is_empty() || self.items.len() > MAX_ITEMS || target.is_empty() {
            self.items.iter().for_each(|item| out.extend_from_slice(&item.bytes));
            push_escaped(translation.text, out);
            return;
        }
        let links = WordLinks::new(&source, &target, translation.links);
        let tree = InlineTree::place(&self.items, &source, &links, sentence.len());
        let mut writer = MarkupWriter {
            items: &self.items,
            text: translation.text,
            words: &target,
            gap: None,
            wants_space: false,
            out,
        };
        writer.write_node(&tree, InlineTree::ROOT);
        writer.flush_gap(target.len());
    }
}

/// The byte ranges of the words and marks of a text, by UAX #29: in scripts without spaces they
/// are short, which suits tags.
fn words(text: &[u8]) -> Vec<Range<usize>> {
    let decoded = decode(text);
    let bounds = decoded.split_word_bound_indices();
    let words = bounds.filter(|(_, word)| !word.chars().all(char::is_whitespace));
    words.map(|(start, word)| start..start + word.len()).collect()
}

/// Writes words and tags; the white space between two words is written once.
struct MarkupWriter<'a> {
    items: &'a [InlineItem],
    text: &'a [u8],
    words: &'a [Range<usize>],
    /// The last word before which the white space is written.
    gap: Option<usize>,
    /// Whether a space has to come before the next word.
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
            push_escaped(&self.text[self.words[word].clone()], self.out);
        }
    }

    /// Writes a mark before `word`.
    fn write_mark(&mut self, item: usize, word: usize) {
        let item = &self.items[item];
        let InlineItemKind::Mark { is_visible } = item.kind else {
            return self.out.extend_from_slice(&item.bytes);
        };
        if item.is_after_space && word > 0 && word < self.words.len() {
            self.flush_gap(word);
        }
        if item.is_after_space && is_visible && word > 0 && !self.out.ends_with(b" ") {
            self.out.push(b' ');
        }
        self.out.extend_from_slice(&item.bytes);
        self.wants_space |= item.is_before_space && is_visible;
    }

    /// Writes what is between `word` and the word before, unless that is done.
    fn flush_gap(&mut self, word: usize) {
        if self.gap < Some(word) {
            let start = word.checked_sub(1).map_or(0, |before| self.words[before].end);
            let end = self.words.get(word).map_or(self.text.len(), |word| word.start);
            self.wants_space &= start == end;
            push_escaped(&self.text[start..end], self.out);
            self.gap = Some(word);
        }
        let is_word = |word: &Range<usize>| {
            first_class(&self.text[word.clone()]).intersects(CharClass::ALPHANUMERIC)
        };
        if std::mem::take(&mut self.wants_space) && self.words.get(word).is_some_and(is_word) {
            self.out.push(b' ');
        }
    }
}
