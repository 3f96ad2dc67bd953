//! Segments, the parts of a text that is translated sentence by sentence.
//!
//! A segment contains a sentence and the text around it, which is copied. Written one after
//! another, with translations in place of sentences, segments form the translated text. They own
//! their bytes, so that they can wait in queues while later segments are translated.

use std::ops::Range;

use crate::characters::{first_char, is_spaced_letter, is_unspaced, last_char};
use crate::html::InlineMarkup;

/// A sentence of a text with its surroundings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Text copied before the sentence: white space, line ends, markup.
    pub before: Vec<u8>,
    /// The sentence as plain text; empty if there is nothing to translate.
    pub sentence: Vec<u8>,
    /// Text copied after the sentence.
    pub after: Vec<u8>,
    /// Whether the sentence follows the previous one without white space.
    pub is_adjacent: bool,
    /// Tags inside the sentence, if the text is markup.
    pub(crate) inline: Option<InlineMarkup>,
}

impl Segment {
    /// Whether tags are inside the sentence, so that word alignments have an effect.
    pub fn has_inline_tags(&self) -> bool {
        self.inline.as_ref().is_some_and(|inline| !inline.is_empty())
    }
}

/// The translation of a sentence.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlignedTranslation<'a> {
    /// The translation as plain text.
    pub text: &'a [u8],
    /// Byte ranges of the sentence with those of their translations, in any order; only segments
    /// with tags inside use them.
    pub links: &'a [(Range<usize>, Range<usize>)],
    /// Byte ranges of the sentence and of the translation with attention from 0 to 1, in any order;
    /// used in addition to links, above all for elements whose words have none.
    pub attention: &'a [(Range<usize>, Range<usize>, f32)],
}

impl<'a> From<&'a [u8]> for AlignedTranslation<'a> {
    fn from(text: &'a [u8]) -> Self {
        AlignedTranslation { text, ..AlignedTranslation::default() }
    }
}

/// A writer of segments, one after another.
///
/// White space comes from the text, with one exception: between sentences without white space, such
/// as Chinese ones, a space is added if the translations are in a script with spaces.
#[derive(Clone, Debug, Default)]
pub struct SegmentWriter {
    /// The last characters of the previous sentence and of its translation.
    last: Option<(char, char)>,
}

impl SegmentWriter {
    /// Returns a writer at the beginning of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `segment` to `out` with `translation` in place of its sentence.
    pub fn write(
        &mut self,
        segment: &Segment,
        translation: AlignedTranslation<'_>,
        out: &mut Vec<u8>,
    ) {
        let sentence = &segment.sentence;
        let first = first_character(sentence).zip(first_character(translation.text));
        if let (true, Some(before), Some(after)) = (segment.is_adjacent, self.last, first)
            && needs_space(before, after)
        {
            out.push(b' ');
        }
        out.extend_from_slice(&segment.before);
        match &segment.inline {
            None => out.extend_from_slice(translation.text),
            Some(markup) => markup.write(sentence, translation, out),
        }
        out.extend_from_slice(&segment.after);
        self.last = last_character(sentence).zip(last_character(translation.text));
    }
}

fn first_character(text: &[u8]) -> Option<char> {
    first_char(text).map(|symbol| symbol.character.unwrap_or('\u{1}'))
}

fn last_character(text: &[u8]) -> Option<char> {
    last_char(text).map(|symbol| symbol.character.unwrap_or('\u{1}'))
}

/// Whether a space belongs between two translations whose sentences had no space between them.
/// `before` has the last characters of the first sentence and of its translation. `after` has the
/// first characters of the second sentence and of its translation.
fn needs_space(before: (char, char), after: (char, char)) -> bool {
    let is_unchanged = before.0 == before.1 && after.0 == after.1;
    let is_inside_word = is_spaced_letter(before.0) && is_spaced_letter(after.0);
    !is_unchanged && !is_inside_word && !is_wide(before.1) && !is_wide(after.1)
}

/// Whether a character belongs to a script without spaces, or is punctuation or a full-width form
/// of such scripts.
fn is_wide(character: char) -> bool {
    is_unspaced(character) || matches!(character, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}')
}
