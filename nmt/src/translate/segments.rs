//! Reader of the sentences of running text and pages, and of lines that are too long.
//!
//! Each sentence is a separate request, which passes through the queue like a line, with the text
//! around it. The writer gets translations in order and joins the text.

use std::sync::Arc;

use miriam_textproc::{
    Document, DocumentCutter, DocumentFormat, Interrupted, SentenceSplitter, Split,
};

use super::reader::{LineSource, SentenceReader};
use super::sentence_parser::{InputSentence, SentenceParser};
use super::text_segment::{TextKind, TextSegment};

/// The maximum number of tokens of a byte of text: normalisation turns some characters into words.
const MAX_TOKENS_PER_BYTE: usize = 8;

/// A text that was split into sentences for the model.
pub(super) struct CutText {
    document: Document,
    /// The tags of languages before the text, which apply to each sentence.
    tags: Vec<u8>,
    num_tags: usize,
}

impl SentenceParser<'_> {
    /// Cuts a text into sentences that are not too long.
    ///
    /// # Errors
    /// If it is cancelled.
    pub(super) fn cut(
        &mut self,
        text: &[u8],
        kind: TextKind,
        splitter: &SentenceSplitter,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<CutText, Interrupted> {
        let (num_tags, tags) = self.tokenizers[0].leading_tags(text);
        let rest = &text[tags.len()..];
        let format = match kind {
            TextKind::LongSentence | TextKind::RunningText => {
                DocumentFormat::Text(Split::Sentences)
            }
            TextKind::Html => DocumentFormat::Html(Split::Sentences),
        };
        let cutter =
            DocumentCutter::new(format, splitter).within(self.limit(kind)).until(should_stop);
        // In a sentence that is too long, even parts with only numbers are translated, not copied.
        let is_running = kind != TextKind::LongSentence;
        let cutter = if is_running { cutter.copying_numbers() } else { cutter };
        let document = cutter.cut(rest, |sentence| self.length(sentence))?;
        Ok(CutText { document, tags: tags.to_vec(), num_tags })
    }

    /// Returns the maximum number of tokens of a part of a text. Longer parts are split, except
    /// where they are to be cropped or, if the text is one sentence, rejected.
    fn limit(&self, kind: TextKind) -> usize {
        if self.options.splits(kind) { self.max_length } else { usize::MAX }
    }
}

impl CutText {
    /// Returns the sentences for the model, with the text around them. Each sentence begins with
    /// the language tags of the text; a segment without a sentence gives an empty one.
    pub(super) fn into_sentences(self) -> impl Iterator<Item = (Vec<u8>, TextSegment)> {
        let CutText { document, tags, num_tags } = self;
        document.into_segments().into_iter().map(move |segment| {
            let text = if segment.sentence.is_empty() {
                Vec::new()
            } else {
                [&tags, &segment.sentence[..]].concat()
            };
            (text, TextSegment { segment, num_tags })
        })
    }
}

impl SentenceParser<'_> {
    /// Returns the number of tokens of a text, or 0 if its bytes cannot make more than the limit.
    pub(super) fn length(&mut self, text: &[u8]) -> usize {
        if text.len().saturating_mul(MAX_TOKENS_PER_BYTE) <= self.max_length {
            0
        } else {
            self.tokenizers[0].encode(text, &mut self.scratch).len()
        }
    }
}

impl SentenceReader<'_> {
    /// Reads the next line of running text, or all lines as a page; at the end, does nothing.
    pub(super) fn read_text(&mut self, kind: TextKind) -> crate::Result<()> {
        let LineSource::Text(source) = &mut self.source else { return Ok(()) };
        let (mut text, mut first, mut num_lines) = (Vec::new(), 0, 0);
        while let Some(line) = source.lines.next()? {
            text.extend_from_slice(line.bytes);
            text.extend_from_slice(if line.terminated { b"\n" } else { b"" });
            if num_lines == 0 {
                first = line.number;
            }
            num_lines += 1;
            if kind != TextKind::Html {
                break;
            }
        }
        if num_lines > 0 {
            self.cut_text(&text, kind, (first, num_lines), 0);
        }
        Ok(())
    }

    /// Splits `text`, line number `line`, into sentences if it has too many tokens. Returns whether
    /// it was split.
    pub(super) fn split_long_line(&mut self, text: &[u8], line: u64) -> bool {
        let length = self.parser.length(text);
        if length <= self.parser.max_length {
            return false;
        }
        self.cut_text(&[text, b"\n"].concat(), TextKind::LongSentence, (line, 1), length);
        true
    }

    /// Adds the sentences of a text, which begins at line `line`, to the waiting ones; `length` is
    /// the length of the text as a single sentence.
    fn cut_text(
        &mut self,
        text: &[u8],
        kind: TextKind,
        (line, num_lines): (u64, u64),
        length: usize,
    ) {
        let (splitter, stop) = (Arc::clone(&self.splitter), self.stop.clone());
        let Ok(cut) = self.parser.cut(text, kind, &splitter, &|| stop.is_cancelled()) else {
            // After cancellation the text is not needed.
            return;
        };
        let longest = length.max(cut.document.longest());
        let mut warning = (longest > self.parser.limit(kind)).then(|| {
            let excess = self.parser.describe_excess(longest);
            format!(
                "{excess}; translated in parts, cut where sentences end, or else clauses or words"
            )
        });
        for (text, segment) in cut.into_sentences() {
            let sentence = if text.is_empty() {
                self.empty_sentence(line)
            } else {
                self.parse_sentence(line, &text, b"", &[])
            };
            let warning = warning.take().or(sentence.warning);
            let segment = Some(segment);
            self.waiting.push_back(InputSentence { segment, warning, ..sentence });
        }
        if let Some(last) = self.waiting.back_mut() {
            last.num_lines = num_lines;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::{InputOptions, LineFormat};
    use super::super::reader::SourceText;
    use super::super::tokenizer::Tokenizer;
    use super::*;
    use miriam_nmt_models::Segmentation;
    use miriam_nmt_models::Vocabulary;
    use miriam_textio::{Input, Lines};
    use std::io::Cursor;
    use std::path::Path;

    /// Reads the sentences of `text` as they go to the model, with their segments.
    fn read(format: LineFormat, max_length: usize, text: &str) -> Vec<InputSentence> {
        let words = "</s>\n<unk>\na\nb.\nC\nD,\ne\n>>x<<\n";
        let vocabulary = Arc::new(Vocabulary::parse(words.as_bytes(), Path::new("v.txt")).unwrap());
        let side = Tokenizer {
            vocabulary,
            segmentation: Segmentation::Presegmented,
            boundary_tokens: Default::default(),
            input_is_tokenized: false,
            output_as_pieces: false,
            special_ids: Default::default(),
            needs_language_tag: false,
            reads_backwards: false,
        };
        let sides = [side.clone(), side];
        let input = Input::from_reader(Cursor::new(text.to_owned()), "input", None).unwrap();
        let source = SourceText { lines: Lines::new(input), prefixes: None };
        let options = InputOptions {
            format,
            is_tokenized: false,
            max_length,
            crop: false,
            // Running text is split all the same.
            splits_long: format == LineFormat::Sentence,
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
    fn only_long_texts_are_cut_with_a_warning() {
        // Both lines have enough bytes to be tokenised, so that tokens are compared with the limit.
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
