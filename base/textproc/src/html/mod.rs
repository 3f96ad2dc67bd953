//! HTML and XML: sentences of a document, and the document with translations in their place.
//!
//! A page is not parsed into a tree and written again, which would lose what its author wrote:
//! everything but the text of sentences is copied byte for byte. Elements that break
//! lines end sentences; tags inside a sentence are put around the words of its translation
//! that are aligned with theirs, each tag exactly once.
//!
//! White space inside a sentence is one space, as browsers show it, except in `pre`; so is a
//! space that does not break. Scripts, styles, `code` and similar elements, and those with
//! `translate="no"` or the class `notranslate`, are copied, but elements with `translate="yes"` in
//! them are translated by themselves. Attributes are not translated. Numbers and addresses
//! are copied too, see [`needs_translation`](crate::needs_translation).
//!
//! Words that a reader sees apart are apart in sentences: an image, a mark of a footnote or a
//! script between two letters counts as a space, and a link that follows another one at once
//! begins a sentence.

mod elements;
mod entities;
mod inline_item;
mod inline_markup;
mod inline_tree;
mod raised_text;
mod rules;
mod segments;
mod tag_pairs;
mod tokens;
mod word_links;
mod word_owners;

pub(crate) use inline_markup::InlineMarkup;
pub use rules::MarkupRules;
pub(crate) use segments::find as find_segments;

#[cfg(test)]
mod tests;
