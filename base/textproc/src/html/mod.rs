//! HTML and XML: the sentences of a document, and the document with their translations.
//!
//! A page is not parsed into a tree and written again, which would change its source. Everything
//! except the text of sentences is copied byte for byte. Elements that break lines end sentences.
//! Tags inside a sentence surround the aligned words of its translation, each tag exactly once
//! (`inline_markup`). [`Document`](crate::Document) joins the translated sentences to a page.
//!
//! White space inside a sentence, also no-break spaces, becomes one space, as browsers show it,
//! except in `pre`. Scripts, styles, `code` and similar elements are copied, and so are elements
//! with `translate="no"` or the class `notranslate`; elements with `translate="yes"` inside them
//! are translated separately. Attributes are not translated. Numbers and addresses are copied too,
//! see [`needs_translation`](crate::needs_translation).
//!
//! Words that look separate to a reader are separate in sentences: an image, a footnote mark or a
//! script between two letters counts as a space. A link directly after another link begins a
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
mod text_block;
mod tokens;
mod word_links;
mod word_owners;

pub(crate) use inline_markup::InlineMarkup;
pub use rules::MarkupRules;
pub(crate) use segments::find as find_segments;

#[cfg(test)]
mod tests;
