//! HTML and XML: sentences of a document, and the document with translations in their place.
//!
//! A page is not parsed into a tree and written again, which would lose what its author wrote:
//! everything but the text of sentences is copied byte for byte. Elements that break
//! lines end sentences; tags inside a sentence are put around the words of its translation
//! that are aligned with theirs, each tag exactly once.

mod elements;
mod entities;
mod inline_markup;
mod inline_tree;
mod raised_text;
mod rules;
mod segments;
mod tokens;
mod word_links;
mod word_owners;

pub(crate) use inline_markup::InlineMarkup;
pub use rules::MarkupRules;

use std::ops::Range;

use crate::{AlignedTranslation, Interrupted, Segment, SegmentWriter, SentenceSplitter};

/// A page of HTML, or a part of one, or other markup, with the places of its sentences.
///
/// White space inside a sentence is one space, as browsers show it, except in `pre`; so is a
/// space that does not break. Scripts, styles, `code` and similar elements, and those with
/// `translate="no"` or the class `notranslate`, are copied, but elements with `translate="yes"` in
/// them are translated by themselves. Attributes are not translated. Numbers and addresses
/// are copied too, see [`needs_translation`](crate::needs_translation).
///
/// Words that a reader sees apart are apart in sentences: an image, a mark of a footnote or a
/// script between two letters counts as a space, and a link that follows another one at once
/// begins a sentence.
///
/// # Examples
/// ```
/// use miriam_textproc::{AlignedTranslation, HtmlText, SentenceSplitter};
///
/// let page = b"<p>I like <b>red</b> houses.<br>And you?</p>\n";
/// let text = HtmlText::new(page, &SentenceSplitter::new("en"));
/// let sentences: Vec<&[u8]> = text.sentences().collect();
/// assert_eq!(sentences, [&b"I like red houses."[..], b"And you?"]);
/// // Which bytes of the sentence which bytes of the translation come from.
/// let links = [(2..6, 0..9), (11..17, 10..15), (7..10, 16..21)];
/// let translations = [
///     AlignedTranslation { text: b"Me gustan casas rojas.", links: &links, attention: &[] },
///     AlignedTranslation::from("¿Y tú?".as_bytes()),
/// ];
/// let expected = "<p>Me gustan casas <b>rojas</b>.<br>¿Y tú?</p>\n";
/// assert_eq!(text.join(translations), expected.as_bytes());
/// ```
#[derive(Clone, Debug)]
pub struct HtmlText {
    segments: Vec<Segment>,
}

impl HtmlText {
    /// Finds the sentences of `html`.
    pub fn new(html: &[u8], splitter: &SentenceSplitter) -> Self {
        Self::without_limit(html, &mut |text| splitter.split(text))
    }

    /// As [`HtmlText::new`], with all text between two breaks of lines as one sentence.
    pub fn of_blocks(html: &[u8]) -> Self {
        Self::without_limit(html, &mut |text| {
            let start = text.len() - text.trim_ascii_start().len();
            let range = start..text.trim_ascii_end().len().max(start);
            vec![range]
        })
    }

    /// As [`HtmlText::new`]; sentences of which `length` is more than `limit` are cut, see
    /// [`SentenceSplitter::split_within`].
    pub fn within(
        html: &[u8],
        splitter: &SentenceSplitter,
        limit: usize,
        length: impl FnMut(&[u8]) -> usize,
    ) -> Self {
        let found = Self::within_until(html, splitter, limit, length, &|| false);
        found.unwrap_or_else(|Interrupted| HtmlText { segments: Vec::new() })
    }

    /// As [`HtmlText::within`], for pages that may be long: `should_stop` is asked now and then.
    ///
    /// # Errors
    /// If it says so.
    pub fn within_until(
        html: &[u8],
        splitter: &SentenceSplitter,
        limit: usize,
        mut length: impl FnMut(&[u8]) -> usize,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Self, Interrupted> {
        Self::by_rules(html, &MarkupRules::html(), |text| {
            splitter.split_within_until(text, limit, &mut length, should_stop)
        })
    }

    /// Finds the sentences of `html`, a part between two breaks at a time, whatever its length.
    fn without_limit(html: &[u8], split: &mut dyn FnMut(&[u8]) -> Vec<Range<usize>>) -> Self {
        let text = Self::by_rules(html, &MarkupRules::html(), |text| Ok(split(text)));
        text.unwrap_or_else(|Interrupted| HtmlText { segments: Vec::new() })
    }

    /// Finds the sentences of `document` by what `rules` say of its elements. `split` splits the
    /// text between two breaks into sentences; it may give up, if nobody wants the result any more.
    ///
    /// # Errors
    /// If `split` gives up.
    pub fn by_rules(
        document: &[u8],
        rules: &MarkupRules,
        mut split: impl FnMut(&[u8]) -> Result<Vec<Range<usize>>, Interrupted>,
    ) -> Result<Self, Interrupted> {
        Ok(HtmlText { segments: segments::find(document, rules, &mut split)? })
    }

    /// The sentences as plain text, in order.
    pub fn sentences(&self) -> impl Iterator<Item = &[u8]> {
        let sentences = self.segments.iter().map(|segment| &segment.sentence[..]);
        sentences.filter(|sentence| !sentence.is_empty())
    }

    /// The page as segments, in order; see [`SegmentWriter`].
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// As [`segments`](Self::segments), for those who keep them.
    pub fn into_segments(self) -> Vec<Segment> {
        self.segments
    }

    /// The page with a translation in place of each sentence; where there are too few, the
    /// last sentences are without text, but their tags are there.
    pub fn join<'t>(
        &self,
        translations: impl IntoIterator<Item = AlignedTranslation<'t>>,
    ) -> Vec<u8> {
        let mut translations = translations.into_iter();
        let (mut writer, mut out) = (SegmentWriter::new(), Vec::new());
        for segment in &self.segments {
            let is_sentence = !segment.sentence.is_empty();
            let translation = is_sentence.then(|| translations.next()).flatten();
            writer.write(segment, translation.unwrap_or_default(), &mut out);
        }
        out
    }
}

#[cfg(test)]
mod tests;
