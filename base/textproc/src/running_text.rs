//! Running text: paragraphs and sentences, and the way back.
//!
//! A line is a paragraph, as in Moses' `split-sentences.perl -k` and in what clients of
//! translation servers send. Line ends, blank lines, indentation and the spaces between sentences
//! belong to no sentence: they are copied, so that a text whose sentences are their own
//! translations comes back byte for byte.

use std::ops::Range;

use crate::segment::{Segment, SegmentWriter};
use crate::{AlignedTranslation, SentenceSplitter, needs_translation};

/// A text with the places of its sentences.
///
/// # Examples
/// ```
/// use miriam_textproc::{RunningText, SentenceSplitter};
///
/// let text = RunningText::new("Good morning.  How are you?\r\n\r\n  Bye!\n", &SentenceSplitter::new("en"));
/// let sentences: Vec<&[u8]> = text.sentences().collect();
/// assert_eq!(sentences, [&b"Good morning."[..], b"How are you?", b"Bye!"]);
/// let spanish = ["Buenos días.", "¿Cómo estás?", "¡Adiós!"];
/// let translated = text.join(spanish.iter().map(|text| text.as_bytes()));
/// assert_eq!(translated, "Buenos días.  ¿Cómo estás?\r\n\r\n  ¡Adiós!\n".as_bytes());
/// ```
#[derive(Clone, Debug)]
pub struct RunningText {
    text: Vec<u8>,
    sentences: Vec<Range<usize>>,
}

impl RunningText {
    /// Finds the sentences of `text`.
    pub fn new(text: impl Into<Vec<u8>>, splitter: &SentenceSplitter) -> Self {
        Self::from_paragraphs(text.into(), |line| splitter.split(line))
    }

    /// As [`RunningText::new`]; sentences of which `length` is more than `limit` are cut, see
    /// [`SentenceSplitter::split_within`].
    pub fn within(
        text: impl Into<Vec<u8>>,
        splitter: &SentenceSplitter,
        limit: usize,
        mut length: impl FnMut(&[u8]) -> usize,
    ) -> Self {
        Self::from_paragraphs(text.into(), |line| splitter.split_within(line, limit, &mut length))
    }

    /// The text without the sentences that have nothing to translate, numbers and addresses: they are
    /// copied with what surrounds them, see [`needs_translation`].
    pub fn copying_numbers(mut self) -> Self {
        self.sentences.retain(|sentence| needs_translation(&self.text[sentence.clone()]));
        self
    }

    fn from_paragraphs(text: Vec<u8>, mut split: impl FnMut(&[u8]) -> Vec<Range<usize>>) -> Self {
        let mut sentences = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let found = split(line).into_iter();
            sentences.extend(found.map(|range| start + range.start..start + range.end));
            start += line.len();
        }
        RunningText { text, sentences }
    }

    /// The text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The byte ranges of the sentences, in order.
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.sentences
    }

    /// The sentences, in order.
    pub fn sentences(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.sentences.iter().map(|range| &self.text[range.clone()])
    }

    /// The text with a translation in place of each sentence; if there are too few, the last
    /// sentences are left out, what surrounds them stays.
    pub fn join<'s>(&self, translations: impl IntoIterator<Item = &'s [u8]>) -> Vec<u8> {
        let mut translations = translations.into_iter();
        let (mut writer, mut out) = (SegmentWriter::new(), Vec::with_capacity(self.text.len()));
        for segment in self.segments() {
            let is_sentence = !segment.sentence.is_empty();
            let translation = is_sentence.then(|| translations.next()).flatten();
            let translation = AlignedTranslation::from(translation.unwrap_or_default());
            writer.write(&segment, translation, &mut out);
        }
        out
    }

    /// The text as segments: one a sentence, or a single one without a sentence. What follows
    /// the last sentence is after it, all else before the sentence that follows.
    pub fn segments(&self) -> impl Iterator<Item = Segment> {
        let last = self.sentences.len().saturating_sub(1);
        let nothing = self.text.len()..self.text.len();
        let blank = self.sentences.is_empty().then_some(nothing);
        let mut end = 0;
        self.sentences.iter().cloned().chain(blank).enumerate().map(move |(number, sentence)| {
            let before = self.text[end..sentence.start].to_vec();
            let after = if number == last { &self.text[sentence.end..] } else { &[] };
            end = sentence.end;
            Segment {
                is_adjacent: number > 0 && before.is_empty(),
                before,
                sentence: self.text[sentence].to_vec(),
                after: after.to_vec(),
                ..Segment::default()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(text: &str) -> RunningText {
        RunningText::new(text, &SentenceSplitter::new("en"))
    }

    fn join(source: &str, translations: &[&str]) -> String {
        let joined = text(source).join(translations.iter().map(|text| text.as_bytes()));
        String::from_utf8(joined).unwrap()
    }

    #[test]
    fn white_space_and_paragraphs_come_back() {
        assert_eq!(join("", &[]), "");
        assert_eq!(join(" \n\n\t\n", &[]), " \n\n\t\n");
        assert_eq!(join("\n  One. Two?\r\n\r\nThree", &["x", "y", "z"]), "\n  x y\r\n\r\nz");
        // A sentence never goes on in the next line.
        assert_eq!(join("one\ntwo", &["1", "2"]), "1\n2");
    }

    #[test]
    fn spaces_are_added_between_translations_into_scripts_that_have_them() {
        assert_eq!(join("你好。你是谁？", &["Hello.", "Who are you?"]), "Hello. Who are you?");
        assert_eq!(
            join("你好。你是谁？", &["こんにちは。", "誰ですか。"]),
            "こんにちは。誰ですか。"
        );
        assert_eq!(join("你好。\n你是谁？", &["Hello.", "Who?"]), "Hello.\nWho?");
        assert_eq!(join("雨だ!傘は?", &["Rain!", "The umbrella?"]), "Rain! The umbrella?");
        assert_eq!(join("यह घर है।वह?", &["It is.", "He?"]), "It is. He?");
    }

    #[test]
    fn long_sentences_are_cut_and_joined() {
        let splitter = SentenceSplitter::new("en");
        let source = "One, two, three. Four.";
        let text = RunningText::within(source, &splitter, 10, <[u8]>::len);
        let parts: Vec<&[u8]> = text.sentences().collect();
        assert_eq!(parts, [&b"One, two,"[..], b"three.", b"Four."]);
        let again: Vec<&[u8]> = text.sentences().collect();
        assert_eq!(text.join(again), source.as_bytes());
    }

    #[test]
    fn numbers_and_addresses_are_copied() {
        let splitter = SentenceSplitter::new("en");
        let source = "12:30\nSee it. 42! https://example.com/a\n\n你好。42。你好。";
        let text = RunningText::new(source, &splitter).copying_numbers();
        let sentences: Vec<&[u8]> = text.sentences().collect();
        assert_eq!(sentences, ["See it.", "你好。", "你好。"].map(str::as_bytes));
        let joined = text.join(["x", "Hello.", "Hello."].map(str::as_bytes));
        let expected = "12:30\nx 42! https://example.com/a\n\nHello.42。Hello.";
        assert_eq!(String::from_utf8(joined).unwrap(), expected);
    }

    #[test]
    fn too_few_translations_leave_what_surrounds_sentences() {
        assert_eq!(join("One. Two.\n", &["x."]), "x. \n");
    }

    proptest! {
        /// Any bytes come back if sentences are their own translations, and all that is not
        /// in a sentence comes back whatever the translations are.
        #[test]
        fn nothing_of_the_text_is_lost(
            pieces in proptest::collection::vec(
                prop_oneof![
                    Just("Hello there. ".to_owned()), Just("\n".into()), Just("\r\n\r\n".into()),
                    Just("。".into()), Just("你好".into()), Just("है।".into()), Just("! ".into()),
                    Just("\u{2029}".into()), Just("  ".into()), any::<String>(),
                ],
                0..30,
            ),
            stray in any::<Vec<u8>>(), limit in 1usize..40,
        ) {
            let source = [pieces.concat().as_bytes(), &stray].concat();
            let splitter = SentenceSplitter::new("en");
            for text in [
                RunningText::new(source.clone(), &splitter),
                RunningText::within(source.clone(), &splitter, limit, <[u8]>::len),
            ] {
                let sentences: Vec<&[u8]> = text.sentences().collect();
                prop_assert_eq!(text.join(sentences), source.clone());
                let segments: Vec<Segment> = text.segments().collect();
                let all: Vec<u8> = segments
                    .iter()
                    .flat_map(|part| [&part.before[..], &part.sentence, &part.after].concat())
                    .collect();
                prop_assert_eq!(&all, &source);
                let count = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
                let translated = text.join(text.sentences().map(|_| &b"x"[..]));
                prop_assert_eq!(count(&translated), count(&source));
            }
        }
    }
}
