//! Sentences of running text and pages, and of lines that are too long: reading them, and the
//! text of their translations with what is between them.
//!
//! Each sentence is a request of its own, which goes through the queue as a line does; what
//! surrounds it goes with it, and the writer, which sees translations in order, puts the text
//! together.

use std::ops::Range;
use std::sync::Arc;

use miriam_textproc::{
    AlignedTranslation, HtmlText, RunningText, Segment, SegmentWriter, locate_tokens,
};

use super::reader::{LineSource, SentenceReader};
use super::sentence_parser::{InputSentence, SentenceParser};
use super::tokenizer::Tokenizer;
use crate::Result;
use crate::search::{Translation, alignment};

/// Tokens that a byte of text is never more than: characters that normalisation makes a word of.
const MAX_TOKENS_PER_BYTE: usize = 8;

/// A sentence with what surrounds it.
pub(super) struct TextSegment {
    pub(super) segment: Segment,
    /// The number of tokens before those of the sentence, language tags.
    pub(super) num_tags: usize,
}

/// A sentence with its translation, as the writer gets it.
pub(super) struct TranslatedSegment {
    segment: Segment,
    text: Vec<u8>,
    links: Vec<(Range<usize>, Range<usize>)>,
    attention: Vec<(Range<usize>, Range<usize>, f32)>,
}

impl TextSegment {
    /// The translation with its links to the sentence; `source` has the tokens of the sentence.
    pub(super) fn translate(
        &self,
        source: &[&[u8]],
        translation: &Translation,
        text: Vec<u8>,
        target: &Tokenizer,
    ) -> TranslatedSegment {
        let (mut links, mut attention) = (Vec::new(), Vec::new());
        if self.segment.has_inline_tags() {
            let words = source.get(self.num_tags..).unwrap_or_default();
            let source = locate_tokens(&self.segment.sentence, words.iter().copied());
            let word = |id: &u32| target.vocabulary.word(*id).unwrap_or_default();
            let target = locate_tokens(&text, translation.tokens.iter().map(word));
            let place = |s: u32, t: u32| {
                let s = source.get((s as usize).checked_sub(self.num_tags)?)?;
                Some((s.clone(), target.get(t as usize)?.clone()))
            };
            let points = alignment::to_hard_alignment(&translation.alignment, 1.0);
            links.extend(points.into_iter().filter_map(|(s, t)| place(s, t)));
            let points = alignment::attended_points(&translation.alignment).into_iter();
            attention.extend(points.filter_map(|(s, t, weight)| {
                let (s, t) = place(s, t)?;
                Some((s, t, weight))
            }));
        }
        TranslatedSegment { segment: self.segment.clone(), text, links, attention }
    }
}

impl TranslatedSegment {
    /// Appends the translation with what surrounds it to `out`.
    pub(super) fn write(&self, writer: &mut SegmentWriter, out: &mut Vec<u8>) {
        let translation =
            AlignedTranslation { text: &self.text, links: &self.links, attention: &self.attention };
        writer.write(&self.segment, translation, out);
    }
}

impl SentenceParser<'_> {
    /// The number of tokens of a text, or a smaller number if there are not too many.
    pub(super) fn length(&mut self, text: &[u8]) -> usize {
        match text.len().saturating_mul(MAX_TOKENS_PER_BYTE) <= self.max_length {
            true => 0,
            false => self.tokenizers[0].encode(text, &mut self.scratch).len(),
        }
    }
}

impl SentenceReader<'_> {
    /// Reads a line of running text, if there is one.
    pub(super) fn read_paragraph(&mut self) -> Result<()> {
        let LineSource::Text(source) = &mut self.source else { return Ok(()) };
        let Some(line) = source.lines.next()? else { return Ok(()) };
        let number = line.number;
        let mut text = line.bytes.to_vec();
        if line.terminated {
            text.push(b'\n');
        }
        let (num_tags, tags) = self.parser.tokenizers[0].leading_tags(&text);
        let tags = tags.to_vec();
        let text = text.split_off(tags.len());
        let mut longest = 0;
        let (splitter, limit) = (Arc::clone(&self.splitter), self.limit());
        let segments = RunningText::within(text, &splitter, limit, |sentence| {
            let length = self.length(sentence);
            longest = longest.max(length);
            length
        });
        let segments: Vec<Segment> = segments.copying_numbers().segments().collect();
        self.push_segments(segments, (num_tags, &tags), number, longest);
        self.end_lines(1);
        Ok(())
    }

    /// Reads all lines as one page.
    pub(super) fn read_page(&mut self) -> Result<()> {
        let (mut page, mut num_lines) = (Vec::new(), 0);
        let LineSource::Text(source) = &mut self.source else { return Ok(()) };
        while let Some(line) = source.lines.next()? {
            page.extend_from_slice(line.bytes);
            page.extend_from_slice(if line.terminated { b"\n" } else { b"" });
            num_lines = line.number;
        }
        if num_lines == 0 {
            return Ok(());
        }
        let (num_tags, tags) = self.parser.tokenizers[0].leading_tags(&page);
        let tags = tags.to_vec();
        let page = &page[tags.len()..];
        let mut longest = 0;
        let (splitter, limit) = (Arc::clone(&self.splitter), self.limit());
        let text = HtmlText::within(page, &splitter, limit, |sentence| {
            let length = self.length(sentence);
            longest = longest.max(length);
            length
        });
        self.push_segments(text.into_segments(), (num_tags, &tags), 1, longest);
        self.end_lines(num_lines);
        Ok(())
    }

    /// Whether the sentences of `text`, line number `line`, are read one by one because it has
    /// too many tokens.
    pub(super) fn split_long_line(&mut self, text: &[u8], line: u64) -> bool {
        let length = self.length(text);
        if length <= self.parser.max_length {
            return false;
        }
        let (num_tags, tags) = self.parser.tokenizers[0].leading_tags(text);
        let rest = &text[tags.len()..];
        let (splitter, limit) = (Arc::clone(&self.splitter), self.limit());
        let segments =
            RunningText::within(rest, &splitter, limit, |sentence| self.length(sentence));
        let mut segments: Vec<Segment> = segments.segments().collect();
        if let Some(last) = segments.last_mut() {
            last.after.push(b'\n');
        }
        self.push_segments(segments, (num_tags, tags), line, length);
        self.end_lines(1);
        true
    }

    /// The most tokens of a part of a text that is cut; where it is cropped nothing is cut.
    fn limit(&self) -> usize {
        if self.parser.options.splits_long { self.parser.max_length } else { usize::MAX }
    }

    /// As [`SentenceParser::length`].
    fn length(&mut self, text: &[u8]) -> usize {
        self.parser.length(text)
    }

    /// Adds the sentences of a text, each after the language tags of the text, to those that
    /// wait; `longest` is the number of tokens of the longest sentence before it was cut.
    fn push_segments(
        &mut self,
        segments: Vec<Segment>,
        (num_tags, tags): (usize, &[u8]),
        line: u64,
        longest: usize,
    ) {
        let mut warning = (longest > self.limit()).then(|| {
            format!(
                "{longest} pieces, {} are allowed ({}); translated in parts, cut where sentences \
                 end, or else clauses or words",
                self.parser.max_length,
                self.parser.limit_name()
            )
        });
        for segment in segments {
            let sentence = match segment.sentence.is_empty() {
                true => self.empty_sentence(line),
                false => {
                    let text = [tags, &segment.sentence].concat();
                    self.parse_sentence(line, &text, b"", &[])
                }
            };
            let warning = warning.take().or(sentence.warning);
            let segment = Some(TextSegment { segment, num_tags });
            self.waiting.push_back(InputSentence { segment, warning, ..sentence });
        }
    }

    /// Says that `num_lines` end with the last sentence that waits.
    fn end_lines(&mut self, num_lines: u64) {
        if let Some(last) = self.waiting.back_mut() {
            last.num_lines = num_lines;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::{InputOptions, LineFormat};
    use super::super::reader::SourceText;
    use super::*;
    use crate::segmentation::Segmentation;
    use crate::vocabulary::Vocabulary;
    use miriam_textio::{Input, Lines};
    use std::io::Cursor;
    use std::path::Path;

    /// The sentences of `text` as they go to the model, with their segments.
    fn read(format: LineFormat, max_length: usize, text: &str) -> Vec<InputSentence> {
        let words = "</s>\n<unk>\na\nb.\nC\nD,\ne\n>>x<<\n";
        let vocabulary = Arc::new(Vocabulary::parse(words.as_bytes(), Path::new("v.txt")).unwrap());
        let side = Tokenizer {
            vocabulary,
            segmentation: Segmentation::Presegmented,
            marks: Default::default(),
            input_is_tokenized: false,
            output_as_pieces: false,
            special_ids: Default::default(),
            needs_language_tag: false,
        };
        let sides = [side.clone(), side];
        let input = Input::from_reader(Cursor::new(text.to_owned()), "input", None).unwrap();
        let source = SourceText { lines: Lines::new(input), prefixes: None };
        let options = InputOptions {
            format,
            is_tokenized: false,
            max_length,
            crop: false,
            splits_long: true,
        };
        let mut reader = SentenceReader::with_tokenizers(
            LineSource::Text(Box::new(source)),
            &sides,
            false,
            options,
        );
        std::iter::from_fn(|| reader.next().unwrap()).collect()
    }

    fn sources(sentences: &[InputSentence]) -> Vec<Vec<u32>> {
        let request = |sentence: &InputSentence| sentence.request.clone().unwrap();
        sentences.iter().filter_map(request).map(|request| request.source).collect()
    }

    #[test]
    fn language_tags_count_for_every_sentence_and_are_not_written() {
        for (format, before) in [(LineFormat::RunningText, ""), (LineFormat::Html, "<p>")] {
            let sentences = read(format, 50, &format!(">>x<< {before}a b. C e\n"));
            assert_eq!(sources(&sentences), [vec![7, 2, 3, 0], vec![7, 4, 6, 0]]);
            let first = sentences[0].segment.as_ref().unwrap();
            assert_eq!(first.segment.before, before.as_bytes());
            assert_eq!(first.num_tags, 1);
        }
    }

    #[test]
    fn lines_are_counted_where_they_end() {
        let sentences = read(LineFormat::RunningText, 50, "a b. C\n\n  e");
        let counts: Vec<_> =
            sentences.iter().map(|one| (one.id, one.line, one.num_lines)).collect();
        assert_eq!(counts, [(0, 1, 0), (1, 1, 1), (2, 2, 1), (3, 3, 1)]);
        let page = read(LineFormat::Html, 50, "a b.\nC\n<br>\n");
        assert_eq!(page.iter().map(|one| one.num_lines).sum::<u64>(), 3);
        assert!(read(LineFormat::Html, 50, "").is_empty());
    }

    #[test]
    fn only_what_is_too_long_is_cut_and_named() {
        // Bytes count where tokens might be more than the limit.
        let text = format!("{}\na e\n", "a a a b. C D, e e e e ".repeat(2).trim_end());
        for (format, lengths) in [
            (LineFormat::Sentence, vec![4, 2, 4, 4, 2, 4, 2]),
            (LineFormat::RunningText, vec![4, 2, 4, 4, 2, 4, 2]),
        ] {
            let sentences = read(format, 4, &text);
            let found: Vec<usize> = sources(&sentences).iter().map(|ids| ids.len() - 1).collect();
            assert_eq!(found, lengths, "{format:?}");
            let warned: Vec<u64> = sentences
                .iter()
                .filter(|one| one.warning.as_ref().is_some_and(|text| text.contains("in parts")))
                .map(|one| one.line)
                .collect();
            assert_eq!(warned, [1]);
        }
        assert!(read(LineFormat::Sentence, 20, &text).iter().all(|one| one.segment.is_none()));
    }
}
