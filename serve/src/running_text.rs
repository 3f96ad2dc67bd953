//! Running text and HTML into sentences, and translated sentences into the text again.
//!
//! The one place that knows how a text is cut: white space between sentences and around them,
//! line ends and markup come back as they were.

use std::ops::Range;
use std::sync::Arc;

use miriam_textproc::{
    AlignedTranslation, HtmlText, Interrupted, MarkupRules, NonbreakingPrefixes, Segment,
    SegmentWriter, SentenceSplitter, needs_translation,
};
use serde::Deserialize;

/// How a text is cut into what is translated by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Split {
    /// Into sentences.
    #[default]
    Sentences,
    /// At line ends only; in HTML where elements break lines.
    Lines,
}

/// What a text is besides its sentences.
#[derive(Clone, Debug)]
pub(crate) enum TextFormat {
    /// Paragraphs, a line each.
    Plain(Split),
    /// HTML.
    Html(Split),
    /// HTML or XML with rules of its own.
    Markup(Split, Arc<MarkupRules>),
}

/// Bytes of a sentence, and the bytes of its translation that come from them.
pub(crate) type Link = (Range<usize>, Range<usize>);

/// As [`Link`], with how much the bytes of the translation come from those of the sentence.
pub(crate) type WeightedLink = (Range<usize>, Range<usize>, f32);

/// The links of a translation, and its attention besides them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Links {
    pub links: Vec<Link>,
    pub attention: Vec<WeightedLink>,
}

/// The text of a translation with its links; only tags inside sentences read these.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkedText {
    pub text: Vec<u8>,
    pub links: Links,
}

/// Counts the tokens of a text.
type TokenCounter<'a> = &'a dyn Fn(&[u8]) -> usize;

/// Cuts texts of one language.
pub(crate) struct TextCutter<'a> {
    format: TextFormat,
    splitter: SentenceSplitter,
    /// The most tokens of a sentence, and what counts them.
    limit: Option<(usize, TokenCounter<'a>)>,
    copies_numbers: bool,
    should_stop: &'a dyn Fn() -> bool,
}

impl<'a> TextCutter<'a> {
    /// Cuts texts of `language`, until `should_stop` says so.
    pub fn new(format: &TextFormat, language: &str, should_stop: &'a dyn Fn() -> bool) -> Self {
        let code = miriam_nmt::language_code(language);
        let splitter = SentenceSplitter::new(&code.unwrap_or_else(|| language.to_lowercase()));
        TextCutter {
            format: format.clone(),
            splitter,
            limit: None,
            copies_numbers: false,
            should_stop,
        }
    }

    /// Takes these nonbreaking prefixes in place of those of the language.
    pub fn with_prefixes(self, prefixes: NonbreakingPrefixes) -> Self {
        TextCutter { splitter: SentenceSplitter::with_prefixes(prefixes), ..self }
    }

    /// Cuts sentences and lines of which the length is more than `limit`, as on the command line.
    /// Blocks of HTML that are not sentences stay.
    pub fn within(self, limit: usize, length: &'a dyn Fn(&[u8]) -> usize) -> Self {
        TextCutter { limit: Some((limit, length)), ..self }
    }

    /// Copies numbers and addresses that are sentences by themselves, for texts that are to be
    /// translated. In HTML they are always copied.
    pub fn copying_numbers(self) -> Self {
        TextCutter { copies_numbers: true, ..self }
    }

    /// Cuts a text.
    ///
    /// # Errors
    /// If it should stop.
    pub fn cut(&self, text: &str) -> Result<SegmentedText, Interrupted> {
        let (limit, length) = self.limit.unwrap_or((usize::MAX, &uncounted));
        let split = |line: &str| {
            self.splitter.split_within_until(line.as_bytes(), limit, length, self.should_stop)
        };
        let page = text.as_bytes();
        let segments = match &self.format {
            TextFormat::Plain(Split::Sentences) => self.plain_segments(text, split)?,
            TextFormat::Plain(Split::Lines) => self.plain_segments(text, |line| {
                if length(line.as_bytes()) > limit { split(line) } else { Ok(whole_line(line)) }
            })?,
            TextFormat::Html(Split::Sentences) => {
                HtmlText::within_until(page, &self.splitter, limit, length, self.should_stop)?
                    .into_segments()
            }
            TextFormat::Html(Split::Lines) => HtmlText::of_blocks(page).into_segments(),
            TextFormat::Markup(Split::Sentences, rules) => {
                let mut split = |text: &[u8]| {
                    self.splitter.split_within_until(text, limit, length, self.should_stop)
                };
                HtmlText::by_rules(page, rules, &mut split)?.into_segments()
            }
            TextFormat::Markup(Split::Lines, rules) => {
                let mut whole = |text: &[u8]| Ok(whole_line(&String::from_utf8_lossy(text)));
                HtmlText::by_rules(page, rules, &mut whole)?.into_segments()
            }
        };
        Ok(SegmentedText { segments })
    }

    /// Segments of text of which `split` finds the sentences of a line.
    fn plain_segments(
        &self,
        text: &str,
        split: impl Fn(&str) -> Result<Vec<Range<usize>>, Interrupted>,
    ) -> Result<Vec<Segment>, Interrupted> {
        let mut ranges = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive(['\n', '\r']) {
            if (self.should_stop)() {
                return Err(Interrupted);
            }
            let content = line.trim_end_matches(['\n', '\r']);
            let found = split(content)?.into_iter();
            ranges.extend(found.map(|range| start + range.start..start + range.end));
            start += line.len();
        }
        if self.copies_numbers {
            ranges.retain(|range| needs_translation(&text.as_bytes()[range.clone()]));
        }
        let mut segments = Vec::new();
        let mut done = 0;
        for range in ranges {
            let mut segment = Segment::default();
            segment.is_adjacent = done > 0 && done == range.start;
            segment.before = text[done..range.start].into();
            segment.sentence = text[range.clone()].into();
            segments.push(segment);
            done = range.end;
        }
        let mut rest = Segment::default();
        rest.before = text[done..].into();
        segments.push(rest);
        Ok(segments)
    }
}

/// A text that was cut.
pub(crate) struct SegmentedText {
    segments: Vec<Segment>,
}

impl SegmentedText {
    /// Cuts a text of `language`.
    #[cfg(test)]
    pub fn new(text: &str, format: TextFormat, language: &str) -> Self {
        TextCutter::new(&format, language, &|| false).cut(text).expect("it does not stop")
    }

    fn with_sentences(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| !segment.sentence.is_empty())
    }

    /// The sentences in order.
    pub fn sentences(&self) -> impl Iterator<Item = &[u8]> {
        self.with_sentences().map(|segment| &segment.sentence[..])
    }

    /// Whether the links of each sentence have an effect: there are tags inside it.
    pub fn needs_links(&self) -> impl Iterator<Item = bool> {
        self.with_sentences().map(Segment::has_inline_tags)
    }

    /// The text with `translations` in the places of its sentences.
    pub fn join(&self, translations: &[LinkedText]) -> String {
        let mut translations = translations.iter();
        let (mut writer, mut out) = (SegmentWriter::new(), Vec::new());
        for segment in &self.segments {
            let is_sentence = !segment.sentence.is_empty();
            let found = is_sentence.then(|| translations.next()).flatten();
            let found = found.map(|found| AlignedTranslation {
                text: &found.text,
                links: &found.links.links,
                attention: &found.links.attention,
            });
            writer.write(segment, found.unwrap_or_default(), &mut out);
        }
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// The length of sentences that have no limit.
fn uncounted(_: &[u8]) -> usize {
    0
}

/// All of a line but the white space around it, unless there is nothing else.
fn whole_line(line: &str) -> Vec<Range<usize>> {
    let inside = line.trim();
    let first = line.len() - line.trim_start().len();
    let whole = first..first + inside.len();
    if whole.is_empty() { Vec::new() } else { vec![whole] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(texts: &[&str]) -> Vec<LinkedText> {
        texts
            .iter()
            .map(|text| LinkedText { text: (*text).into(), links: Links::default() })
            .collect()
    }

    fn sentences(text: &SegmentedText) -> Vec<String> {
        text.sentences().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).collect()
    }

    #[test]
    fn white_space_comes_back() {
        let text = "  One. Two!\r\n\r\n Mr. X is here.\tYes. \n";
        let cut = SegmentedText::new(text, TextFormat::Plain(Split::Sentences), "en-GB");
        assert_eq!(sentences(&cut), ["One.", "Two!", "Mr. X is here.", "Yes."]);
        assert_eq!(cut.join(&texts(&["1", "2", "3", "4"])), "  1 2\r\n\r\n 3\t4 \n");
        let cut = SegmentedText::new(text, TextFormat::Plain(Split::Lines), "en");
        assert_eq!(sentences(&cut), ["One. Two!", "Mr. X is here.\tYes."]);
        let blank = SegmentedText::new(" \n", TextFormat::Plain(Split::Lines), "");
        assert_eq!(blank.join(&[]), " \n");
        // Chinese has no spaces between sentences, English has.
        let cut = SegmentedText::new("你好。你是谁？", TextFormat::Plain(Split::Sentences), "zh");
        assert_eq!(cut.join(&texts(&["Hello.", "Who?"])), "Hello. Who?");
    }

    #[test]
    fn numbers_and_addresses_are_copied_where_texts_are_translated() {
        let text = "12:30. Go!\nhttps://example.com/\n 3.14 € Stop!";
        for (split, expected) in [
            (Split::Sentences, &["Go!", "3.14 € Stop!"][..]),
            (Split::Lines, &["12:30. Go!", "3.14 € Stop!"]),
        ] {
            let cutter = TextCutter::new(&TextFormat::Plain(split), "en", &|| false);
            assert!(sentences(&cutter.cut(text).unwrap()).len() > expected.len());
            let cut = cutter.copying_numbers().cut(text).unwrap();
            assert_eq!(sentences(&cut), expected);
            assert_eq!(cut.join(&texts(expected)), text);
        }
    }

    #[test]
    fn cutting_stops() {
        let text = "J. R. R. ".repeat(20_000);
        for format in [TextFormat::Plain(Split::Sentences), TextFormat::Html(Split::Sentences)] {
            assert!(TextCutter::new(&format, "en", &|| true).cut(&text).is_err());
        }
    }

    #[test]
    fn tags_are_around_the_words_that_are_linked_to_theirs() {
        let page = "<p class=a>See <b>red</b> houses. Go!<br>No&nbsp;&lt;</p>";
        let cut = SegmentedText::new(page, TextFormat::Html(Split::Sentences), "en");
        assert_eq!(sentences(&cut), ["See red houses.", "Go!", "No <"]);
        assert_eq!(cut.needs_links().collect::<Vec<_>>(), [true, false, false]);
        let mut found = texts(&["Ve casas rojas.", "¡Ve!", "No <"]);
        found[0].links.links = vec![(0..3, 0..2), (4..7, 9..14), (8..14, 3..8)];
        assert_eq!(cut.join(&found), "<p class=a>Ve casas <b>rojas</b>. ¡Ve!<br>No &lt;</p>");
        let whole = SegmentedText::new(page, TextFormat::Html(Split::Lines), "en");
        assert_eq!(sentences(&whole), ["See red houses. Go!", "No <"]);
    }

    #[test]
    fn documents_are_cut_by_rules() {
        let unit = "<unit><source>One. <x>Two.</x> Three.</source><target>Four</target></unit>";
        let rules = Arc::new(MarkupRules::xml().ignoring(["x"]));
        let cut = SegmentedText::new(
            unit,
            TextFormat::Markup(Split::Sentences, Arc::clone(&rules)),
            "en",
        );
        assert_eq!(sentences(&cut), ["One.", "Three.", "Four"]);
        assert_eq!(
            cut.join(&texts(&["Uno.", "Tres.", "Cuatro"])),
            "<unit><source>Uno. <x>Two.</x> Tres.</source><target>Cuatro</target></unit>"
        );
        let whole = SegmentedText::new(unit, TextFormat::Markup(Split::Lines, rules), "en");
        assert_eq!(sentences(&whole), ["One. Three.", "Four"]);
    }

    proptest! {
        #[test]
        fn a_text_that_is_not_changed_is_the_text(text in "[a-zA-Z.!? \n\r\u{e4}\u{3002}]{0,60}") {
            for split in [Split::Sentences, Split::Lines] {
                let cut = SegmentedText::new(&text, TextFormat::Plain(split), "en");
                let own = sentences(&cut);
                let own: Vec<&str> = own.iter().map(String::as_str).collect();
                prop_assert_eq!(cut.join(&texts(&own)), &*text);
                prop_assert!(own.iter().all(|one| !one.contains(['\n', '\r'])));
            }
        }
    }
}
