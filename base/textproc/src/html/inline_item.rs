//! A tag or mark inside a sentence.

use std::ops::Range;

/// A tag, or a part that is copied unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InlineItem {
    pub(super) kind: InlineItemKind,
    /// Its position, as a byte offset in the sentence.
    pub(super) offset: usize,
    /// Its byte range in the page.
    pub(super) range: Range<usize>,
    pub(super) bytes: Vec<u8>,
    /// Whether white space precedes it.
    pub(super) is_after_space: bool,
    /// Whether white space follows it.
    pub(super) is_before_space: bool,
    /// Whether it alone separates two words: the page has no white space there.
    pub(super) is_separator: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlineItemKind {
    /// The start tag of an element with an end tag; elements are numbered.
    Start { element: usize, is_link: bool },
    /// The end tag of an element with a start tag.
    End { element: usize },
    /// An image, a comment, an element that is not translated, a tag without a partner.
    Mark(MarkKind),
}

/// The appearance of a mark to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkKind {
    /// Nothing.
    Hidden,
    /// Something on the line, like a word.
    Shown,
    /// Something that belongs to the word before it, such as the mark of a footnote.
    Attached,
}
