//! A sentence of a longer text with the text around it, and its translation.

use miriam_textproc::{AlignedTranslation, LinkedText, Segment, SegmentWriter, TokenLinks};

use super::tokenizer::Tokenizer;
use crate::search::{Translation, alignment};

/// The kind of text that is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    /// A sentence that is too long.
    LongSentence,
    /// Paragraphs.
    RunningText,
    /// A page of HTML.
    Html,
}

/// A sentence with the text around it.
pub(super) struct TextSegment {
    pub(super) segment: Segment,
    /// The number of language tags before the tokens of the sentence.
    pub(super) num_tags: usize,
}

/// A sentence with its translation, as the writer gets it.
pub(super) struct TranslatedSegment {
    segment: Segment,
    translation: LinkedText,
}

impl TextSegment {
    /// Returns the translation, with its links to the sentence if the sentence has inline tags.
    /// `source` has the tokens of the sentence.
    pub(super) fn translate(
        &self,
        source: &[&[u8]],
        translation: &Translation,
        text: Vec<u8>,
        target: &Tokenizer,
    ) -> TranslatedSegment {
        let mut translated = LinkedText { text, ..LinkedText::default() };
        if self.segment.has_inline_tags() {
            let points = alignment::to_hard_alignment(&translation.alignment, 1.0);
            let attention = alignment::attended_points(&translation.alignment);
            let source = (&self.segment.sentence[..], source.iter().copied());
            let tokens = translation.tokens.iter();
            let tokens = tokens.map(|&id| target.vocabulary.word(id).unwrap_or_default());
            let target = (&translated.text[..], tokens);
            let links = TokenLinks::from_tokens(points, attention);
            translated.links = links.locate(source, self.num_tags, target);
        }
        TranslatedSegment { segment: self.segment.clone(), translation: translated }
    }
}

impl TranslatedSegment {
    /// Appends the translation with the text around it to `out`.
    pub(super) fn write(&self, writer: &mut SegmentWriter, out: &mut Vec<u8>) {
        writer.write(&self.segment, AlignedTranslation::from(&self.translation), out);
    }
}
