//! Documents: texts and pages that are cut into sentences, and put together again from translated
//! sentences.
//!
//! All front ends use this code, so that a text has the same sentences everywhere. White space
//! between and around sentences, line ends and markup do not belong to sentences and are copied. A
//! text whose sentences are their own translations is therefore restored byte for byte.

use std::ops::Range;
use std::sync::Arc;

use crate::html::{self, MarkupRules};
use crate::segment::{AlignedTranslation, Segment, SegmentWriter};
use crate::sentence_splitter::{trim_end, trim_start};
use crate::{Interrupted, SentenceSplitter, needs_translation};

/// The translation units of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Split {
    /// Sentences.
    #[default]
    Sentences,
    /// Lines; in markup, blocks between elements that break lines.
    Lines,
}

/// The format of a document.
#[derive(Clone, Debug)]
pub enum DocumentFormat {
    /// Running text. A line is a paragraph, as in Moses' `split-sentences.perl -k` and in requests
    /// of clients of translation servers.
    Text(Split),
    /// A page of HTML.
    Html(Split),
    /// HTML or XML with the given rules.
    Markup(Split, Arc<MarkupRules>),
}

/// A cutter of documents in one language.
#[derive(Clone)]
pub struct DocumentCutter<'a> {
    format: DocumentFormat,
    splitter: &'a SentenceSplitter,
    limit: usize,
    copies_numbers: bool,
    should_stop: &'a dyn Fn() -> bool,
}

impl<'a> DocumentCutter<'a> {
    /// Returns a cutter of documents of `format`, in the language of `splitter`.
    pub fn new(format: DocumentFormat, splitter: &'a SentenceSplitter) -> Self {
        let should_stop = &|| false;
        DocumentCutter { format, splitter, limit: usize::MAX, copies_numbers: false, should_stop }
    }

    /// Cuts sentences and lines that are longer than `limit`, see
    /// [`SentenceSplitter::split_within`]. Blocks of markup that are not cut into sentences stay
    /// whole.
    pub fn within(self, limit: usize) -> Self {
        DocumentCutter { limit, ..self }
    }

    /// Copies sentences that consist of numbers and addresses, see [`needs_translation`]. In markup
    /// they are always copied.
    pub fn copying_numbers(self) -> Self {
        DocumentCutter { copies_numbers: true, ..self }
    }

    /// Calls `should_stop` regularly, for documents that may be long. It is not called for markup
    /// whose blocks stay whole ([`Split::Lines`]).
    pub fn until(self, should_stop: &'a dyn Fn() -> bool) -> Self {
        DocumentCutter { should_stop, ..self }
    }

    /// Cuts a document; `length` measures a sentence in the unit of the limit.
    ///
    /// # Errors
    /// If `should_stop` returns true.
    pub fn cut(
        &self,
        text: &[u8],
        mut length: impl FnMut(&[u8]) -> usize,
    ) -> Result<Document, Interrupted> {
        let mut longest = 0;
        let mut length = |sentence: &[u8]| {
            let length = length(sentence);
            longest = longest.max(length);
            length
        };
        let splits = |split: Split, text: &[u8], length: &mut dyn FnMut(&[u8]) -> usize| {
            let is_whole =
                split == Split::Lines && (self.limit == usize::MAX || length(text) <= self.limit);
            if is_whole {
                Ok(whole(text))
            } else {
                self.splitter.split_within_until(text, self.limit, length, self.should_stop)
            }
        };
        let html_rules = MarkupRules::html();
        let (split, rules) = match &self.format {
            DocumentFormat::Text(split) => {
                let segments = self.cut_text(text, |line| splits(*split, line, &mut length))?;
                return Ok(Document { segments, longest });
            }
            DocumentFormat::Html(split) => (*split, &html_rules),
            DocumentFormat::Markup(split, rules) => (*split, &**rules),
        };
        let segments = match split {
            Split::Lines => html::find_segments(text, rules, &mut |block| Ok(whole(block))),
            Split::Sentences => {
                html::find_segments(text, rules, &mut |block| splits(split, block, &mut length))
            }
        }?;
        Ok(Document { segments, longest })
    }

    /// Returns the segments of running text; `split` finds the sentences of a line.
    fn cut_text(
        &self,
        text: &[u8],
        mut split: impl FnMut(&[u8]) -> Result<Vec<Range<usize>>, Interrupted>,
    ) -> Result<Vec<Segment>, Interrupted> {
        let mut sentences = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            if (self.should_stop)() {
                return Err(Interrupted);
            }
            let content = line.strip_suffix(b"\n").or(line.strip_suffix(b"\r")).unwrap_or(line);
            let found = split(content)?.into_iter();
            sentences.extend(found.map(|range| start + range.start..start + range.end));
            start += line.len();
        }
        if self.copies_numbers {
            sentences.retain(|sentence| needs_translation(&text[sentence.clone()]));
        }
        let mut segments: Vec<Segment> = Vec::with_capacity(sentences.len().max(1));
        let mut end = 0;
        for sentence in sentences {
            let before = text[end..sentence.start].to_vec();
            end = sentence.end;
            segments.push(Segment {
                is_adjacent: !segments.is_empty() && before.is_empty(),
                before,
                sentence: text[sentence].to_vec(),
                ..Segment::default()
            });
        }
        let rest = text[end..].to_vec();
        match segments.last_mut() {
            Some(last) => last.after = rest,
            None => segments.push(Segment { before: rest, ..Segment::default() }),
        }
        Ok(segments)
    }
}

/// Returns the range of a line without the white space around it; no range if the line is blank.
fn whole(line: &[u8]) -> Vec<Range<usize>> {
    let start = line.len() - trim_start(line).len();
    let inside = start..trim_end(line).len();
    if inside.is_empty() { Vec::new() } else { vec![inside] }
}

/// A document that is cut into segments.
///
/// # Examples
/// ```
/// use miriam_textproc::{AlignedTranslation, Document, SentenceSplitter};
///
/// let splitter = SentenceSplitter::new("en");
/// let text = Document::text(b"Good morning.  How are you?\r\n\r\n  Bye!\n", &splitter);
/// let sentences: Vec<&[u8]> = text.sentences().collect();
/// assert_eq!(sentences, [&b"Good morning."[..], b"How are you?", b"Bye!"]);
/// let spanish = ["Buenos días.", "¿Cómo estás?", "¡Adiós!"];
/// let translated = text.join(spanish.iter().map(|text| text.as_bytes().into()));
/// assert_eq!(translated, "Buenos días.  ¿Cómo estás?\r\n\r\n  ¡Adiós!\n".as_bytes());
///
/// let page = Document::html(b"<p>I like <b>red</b> houses.<br>And you?</p>\n", &splitter);
/// let sentences: Vec<&[u8]> = page.sentences().collect();
/// assert_eq!(sentences, [&b"I like red houses."[..], b"And you?"]);
/// // Byte ranges of the sentence and of its translation.
/// let links = [(2..6, 0..9), (11..17, 10..15), (7..10, 16..21)];
/// let translations = [
///     AlignedTranslation { text: b"Me gustan casas rojas.", links: &links, attention: &[] },
///     AlignedTranslation::from("¿Y tú?".as_bytes()),
/// ];
/// let expected = "<p>Me gustan casas <b>rojas</b>.<br>¿Y tú?</p>\n";
/// assert_eq!(page.join(translations), expected.as_bytes());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Document {
    segments: Vec<Segment>,
    longest: usize,
}

impl From<Vec<Segment>> for Document {
    fn from(segments: Vec<Segment>) -> Self {
        Document { segments, longest: 0 }
    }
}

impl Document {
    /// Cuts running text into sentences of any length.
    pub fn text(text: &[u8], splitter: &SentenceSplitter) -> Self {
        Self::unlimited(DocumentFormat::Text(Split::Sentences), text, splitter)
    }

    /// Cuts a page of HTML into sentences of any length.
    pub fn html(page: &[u8], splitter: &SentenceSplitter) -> Self {
        Self::unlimited(DocumentFormat::Html(Split::Sentences), page, splitter)
    }

    fn unlimited(format: DocumentFormat, text: &[u8], splitter: &SentenceSplitter) -> Self {
        let found = DocumentCutter::new(format, splitter).cut(text, |_| 0);
        found.unwrap_or_else(|Interrupted| Document::default())
    }

    /// Returns the segments, in order: one per sentence, and some without a sentence (in markup,
    /// and in text that has no sentences); see [`SegmentWriter`].
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Converts the document to its [`segments`](Self::segments).
    pub fn into_segments(self) -> Vec<Segment> {
        self.segments
    }

    /// Returns the length of the longest sentence before long ones were cut, as measured by the
    /// `length` of [`DocumentCutter::cut`]. Lines without a limit, and blocks of markup that stay
    /// whole, are not measured.
    pub fn longest(&self) -> usize {
        self.longest
    }

    fn with_sentences(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| !segment.sentence.is_empty())
    }

    /// Returns the sentences as plain text, in order.
    pub fn sentences(&self) -> impl Iterator<Item = &[u8]> {
        self.with_sentences().map(|segment| &segment.sentence[..])
    }

    /// Returns, for each sentence, whether its links have an effect because tags are inside it.
    pub fn needs_links(&self) -> impl Iterator<Item = bool> {
        self.with_sentences().map(Segment::has_inline_tags)
    }

    /// Returns the document with a translation in place of each sentence. If translations are
    /// missing, the last sentences are empty, but their surroundings stay.
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(format: DocumentFormat, text: &str) -> Document {
        let splitter = SentenceSplitter::new("en");
        DocumentCutter::new(format, &splitter).cut(text.as_bytes(), |_| 0).unwrap()
    }

    fn join_document(document: &Document, translations: &[&str]) -> String {
        let translations = translations.iter().map(|text| text.as_bytes().into());
        String::from_utf8(document.join(translations)).unwrap()
    }

    fn join(source: &str, translations: &[&str]) -> String {
        join_document(&cut(DocumentFormat::Text(Split::Sentences), source), translations)
    }

    fn sentences(document: &Document) -> Vec<&str> {
        document.sentences().map(|bytes| std::str::from_utf8(bytes).unwrap()).collect()
    }

    #[test]
    fn white_space_and_paragraphs_come_back() {
        assert_eq!(join("", &[]), "");
        assert_eq!(join(" \n\n\t\n", &[]), " \n\n\t\n");
        assert_eq!(join("\n  One. Two?\r\n\r\nThree", &["x", "y", "z"]), "\n  x y\r\n\r\nz");
        // A sentence never continues on the next line.
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
        for split in [Split::Sentences, Split::Lines] {
            let cutter = DocumentCutter::new(DocumentFormat::Text(split), &splitter).within(10);
            let text = cutter.cut(source.as_bytes(), <[u8]>::len).unwrap();
            assert_eq!(sentences(&text), ["One, two,", "three.", "Four."]);
            assert_eq!(join_document(&text, &sentences(&text)), source);
            assert_eq!(text.longest(), if split == Split::Lines { 22 } else { 16 });
        }
    }

    #[test]
    fn numbers_and_addresses_are_copied_if_requested() {
        let source = "12:30\nSee it. 42! https://example.com/a\n\n你好。42。你好。";
        let splitter = SentenceSplitter::new("en");
        let cutter = |split| DocumentCutter::new(DocumentFormat::Text(split), &splitter);
        let all = cutter(Split::Sentences).cut(source.as_bytes(), |_| 0).unwrap();
        assert!(sentences(&all).len() > 3);
        let cutter = |split| cutter(split).copying_numbers();
        let text = cutter(Split::Sentences).cut(source.as_bytes(), |_| 0).unwrap();
        assert_eq!(sentences(&text), ["See it.", "你好。", "你好。"]);
        let expected = "12:30\nx 42! https://example.com/a\n\nHello.42。Hello.";
        assert_eq!(join_document(&text, &["x", "Hello.", "Hello."]), expected);
        let lines = cutter(Split::Lines).cut(b" 12:30. Go!\nhttps://example.com/\n3 m", |_| 0);
        let lines = lines.unwrap();
        assert_eq!(lines.sentences().collect::<Vec<_>>(), [&b"12:30. Go!"[..], b"3 m"]);
    }

    #[test]
    fn lines_end_at_each_kind_of_line_end() {
        let text = "  One. Two!\r\n\r\n Mr. X is here.\tYes. \rEnd\n";
        let found = cut(DocumentFormat::Text(Split::Sentences), text);
        assert_eq!(sentences(&found), ["One.", "Two!", "Mr. X is here.", "Yes.", "End"]);
        let joined = join_document(&found, &["1", "2", "3", "4", "5"]);
        assert_eq!(joined, "  1 2\r\n\r\n 3\t4 \r5\n");
        let lines = cut(DocumentFormat::Text(Split::Lines), text);
        assert_eq!(sentences(&lines), ["One. Two!", "Mr. X is here.\tYes.", "End"]);
        assert_eq!(join_document(&lines, &["1", "2", "3"]), "  1\r\n\r\n 2 \r3\n");
        let blank = cut(DocumentFormat::Text(Split::Lines), " \u{3000}\n");
        assert_eq!(join_document(&blank, &[]), " \u{3000}\n");
    }

    #[test]
    fn cutting_stops() {
        let text = "J. R. R. ".repeat(20_000);
        let splitter = SentenceSplitter::new("en");
        for format in [DocumentFormat::Text, DocumentFormat::Html] {
            let cutter = DocumentCutter::new(format(Split::Sentences), &splitter).until(&|| true);
            assert_eq!(cutter.cut(text.as_bytes(), |_| 0).err(), Some(Interrupted));
        }
    }

    #[test]
    fn tags_surround_the_translations_of_their_words() {
        let page = "<p class=a>See <b>red</b> houses. Go!<br>No&nbsp;&lt;</p>";
        let found = cut(DocumentFormat::Html(Split::Sentences), page);
        assert_eq!(sentences(&found), ["See red houses.", "Go!", "No <"]);
        assert_eq!(found.needs_links().collect::<Vec<_>>(), [true, false, false]);
        let links = [(0..3, 0..2), (4..7, 9..14), (8..14, 3..8)];
        let translations = [
            AlignedTranslation { text: b"Ve casas rojas.", links: &links, attention: &[] },
            "¡Ve!".as_bytes().into(),
            b"No <"[..].into(),
        ];
        let joined = String::from_utf8(found.join(translations)).unwrap();
        assert_eq!(joined, "<p class=a>Ve casas <b>rojas</b>. ¡Ve!<br>No &lt;</p>");
        let whole = cut(DocumentFormat::Html(Split::Lines), page);
        assert_eq!(sentences(&whole), ["See red houses. Go!", "No <"]);
    }

    #[test]
    fn markup_is_cut_by_rules() {
        let unit = "<unit><source>One. <x>Two.</x> Three.</source><target>Four</target></unit>";
        let rules = Arc::new(MarkupRules::xml().ignoring(["x"]));
        let found = cut(DocumentFormat::Markup(Split::Sentences, Arc::clone(&rules)), unit);
        assert_eq!(sentences(&found), ["One.", "Three.", "Four"]);
        assert_eq!(
            join_document(&found, &["Uno.", "Tres.", "Cuatro"]),
            "<unit><source>Uno. <x>Two.</x> Tres.</source><target>Cuatro</target></unit>"
        );
        let whole = cut(DocumentFormat::Markup(Split::Lines, rules), unit);
        assert_eq!(sentences(&whole), ["One. Three.", "Four"]);
    }

    #[test]
    fn white_space_stays_if_translations_are_missing() {
        assert_eq!(join("One. Two.\n", &["x."]), "x. \n");
    }

    proptest! {
        /// Any bytes are restored if sentences are their own translations; text outside sentences
        /// is restored with any translations.
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
            for (split, limit) in [
                (Split::Sentences, usize::MAX),
                (Split::Sentences, limit),
                (Split::Lines, usize::MAX),
                (Split::Lines, limit),
            ] {
                let cutter =
                    DocumentCutter::new(DocumentFormat::Text(split), &splitter).within(limit);
                let text = cutter.cut(&source, <[u8]>::len).unwrap();
                prop_assert!(text.sentences().all(|one| !one.iter().any(|b| b"\n\r".contains(b))));
                prop_assert_eq!(text.join(text.sentences().map(Into::into)), source.clone());
                let all: Vec<u8> = text
                    .segments()
                    .iter()
                    .flat_map(|part| [&part.before[..], &part.sentence, &part.after].concat())
                    .collect();
                prop_assert_eq!(&all, &source);
                let count = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
                let translated = text.join(text.sentences().map(|_| b"x"[..].into()));
                prop_assert_eq!(count(&translated), count(&source));
            }
        }
    }
}
