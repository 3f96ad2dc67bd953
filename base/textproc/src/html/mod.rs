//! HTML and XML: the sentences of a document, and the document with translations instead.
//!
//! A page is not parsed into a tree and written again, which would change its source. Everything
//! except the text of sentences is copied byte for byte. Elements that break lines end sentences.
//! Tags inside a sentence surround the aligned words of its translation, each tag exactly once
//! (`inline_markup`). [`Document`](crate::Document) joins the translated sentences to a page.
//!
//! White space inside a sentence is one space, as browsers show it, except in `pre`; so is a
//! space that does not break. Scripts, styles, `code` and similar elements, and those with
//! `translate="no"` or the class `notranslate`, are copied, but elements with `translate="yes"` in
//! them are translated by themselves. Attributes are not translated. Numbers and addresses
//! are copied too, see [`needs_translation`](crate::needs_translation).
//!
//! Words that a reader sees separately are separate in sentences: an image, a footnote mark or a
//! script between two letters counts as a space, and a link directly after another link begins a
//! sentence.

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
