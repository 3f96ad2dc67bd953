//! Tags and marks inside a sentence, one by one.

use std::ops::Range;

/// A tag, or a part that is copied unchanged.
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
    /// Whether it alone separates the words beside it.
    pub(super) is_separator: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlineItemKind {
    /// The start tag of an element that has an end tag; elements have numbers.
    Start { element: usize, is_link: bool },
    /// The end tag of an element that has a start tag.
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
