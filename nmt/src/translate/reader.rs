//! Reader of input: lines of text, fields or objects, running text, pages, and the output of
//! another model.

use std::collections::VecDeque;
use std::sync::Arc;

use miriam_textio::{CancellationToken, Error as TextError, Lines, fields};
use miriam_textproc::SentenceSplitter;
use serde::Deserialize;

use super::models::LoadedModels;
use super::options::{InputOptions, LineFormat};
use super::pivot_line::{PivotLine, PivotLines};
use super::sentence_parser::{InputSentence, SentenceParser};
use super::text_segment::TextKind;
use crate::Result;

/// The text to translate.
pub struct SourceText {
    /// The lines of the text.
    pub lines: Lines,
    /// Prefixes of the translations, one for each line.
    pub prefixes: Option<Lines>,
}

/// The source of lines.
pub(super) enum LineSource {
    Text(Box<SourceText>),
    /// Another model.
    Pivot(PivotLines),
}

/// A line of JSON input. As in servers, null counts as missing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonRequest {
    source: String,
    prefix: Option<String>,
    constraints: Option<Vec<String>>,
}

/// Reader that converts lines to requests.
pub(super) struct SentenceReader<'a> {
    pub(super) source: LineSource,
    pub(super) parser: SentenceParser<'a>,
    /// The splitter of running text, and of lines that are too long.
    pub(super) splitter: Arc<SentenceSplitter>,
    /// The token that cancels the work on a long text.
    pub(super) stop: CancellationToken,
    /// Sentences of the lines that were read.
    pub(super) waiting: VecDeque<InputSentence>,
    id: u64,
    /// The number of lines from another model so far.
    num_pivot_lines: u64,
}

impl<'a> SentenceReader<'a> {
    /// Creates a reader of sentences of at most `max_length` tokens. `max_length` must not exceed
    /// the maximum length of `options`.
    pub fn new(
        source: LineSource,
        models: &'a LoadedModels,
        options: InputOptions,
        splitter: Arc<SentenceSplitter>,
        max_length: usize,
        stop: CancellationToken,
    ) -> Self {
        let parser = SentenceParser::for_models(models, options, max_length);
        SentenceReader {
            source,
            parser,
            splitter,
            stop,
            waiting: VecDeque::new(),
            id: 0,
            num_pivot_lines: 0,
        }
    }

    #[cfg(test)]
    pub(super) fn with_tokenizers(
        source: LineSource,
        tokenizers: &'a [super::tokenizer::Tokenizer; 2],
        right_to_left: bool,
        options: InputOptions,
    ) -> Self {
        let splitter = SentenceSplitter::with_prefixes("", Default::default());
        SentenceReader {
            source,
            parser: SentenceParser::new(tokenizers, right_to_left, options),
            splitter: Arc::new(splitter),
            stop: CancellationToken::new(),
            waiting: VecDeque::new(),
            id: 0,
            num_pivot_lines: 0,
        }
    }

    /// Returns the next sentence; `None` at the end.
    pub fn next(&mut self) -> Result<Option<InputSentence>> {
        if self.waiting.is_empty() {
            match (&mut self.source, self.parser.options.format) {
                (LineSource::Pivot(lines), _) => {
                    if let Ok(line) = lines.recv() {
                        self.parse_pivot_line(line);
                    }
                }
                (_, LineFormat::RunningText) => self.read_text(TextKind::RunningText)?,
                (_, LineFormat::Html) => self.read_text(TextKind::Html)?,
                _ => self.read_line()?,
            }
        }
        Ok(self.waiting.pop_front())
    }

    /// Reads a line, which is one sentence, or several if it is too long.
    fn read_line(&mut self) -> Result<()> {
        let LineSource::Text(source) = &mut self.source else { return Ok(()) };
        let SourceText { lines, prefixes } = &mut **source;
        let name = lines.name().to_owned();
        let Some(line) = lines.next()? else {
            return self.check_prefixes_ended(&name);
        };
        let number = line.number;
        let text = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes);
        let parsed = match self.parser.options.format {
            LineFormat::Tsv => parse_fields(text),
            LineFormat::Json => parse_json(text),
            _ => Ok((text.to_vec(), Vec::new(), Vec::new())),
        };
        let prefix = match prefixes {
            None => None,
            Some(prefixes) => match prefixes.next()? {
                Some(line) => Some(line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes).to_vec()),
                None => {
                    let reason = format!("expected at least {number} lines, as in {name}");
                    return Err(TextError::format(prefixes.name(), number, None, reason).into());
                }
            },
        };
        let (text, own_prefix, constraints) = match parsed {
            Ok(parsed) => parsed,
            Err(reason) => {
                let failed = self.empty_sentence(number);
                self.waiting.push_back(InputSentence {
                    request: Err(reason),
                    num_lines: 1,
                    ..failed
                });
                return Ok(());
            }
        };
        let prefix = prefix.unwrap_or(own_prefix);
        let is_plain = prefix.is_empty() && constraints.is_empty();
        if !is_plain || !self.parser.options.splits_long || !self.split_long_line(&text, number) {
            let sentence = self.parse_sentence(number, &text, &prefix, &constraints);
            self.waiting.push_back(InputSentence { num_lines: 1, ..sentence });
        }
        Ok(())
    }

    fn parse_pivot_line(&mut self, mut line: PivotLine) {
        let (text, messages) = (std::mem::take(&mut line.text), std::mem::take(&mut line.messages));
        self.num_pivot_lines += 1;
        let number = self.num_pivot_lines;
        if !self.parser.options.splits_long || !self.split_long_line(&text, number) {
            let sentence = self.parse_sentence(number, &text, b"", &[]);
            let pivot = Some(Box::new(line));
            self.waiting.push_back(InputSentence { num_lines: 1, pivot, ..sentence });
        }
        if let Some(first) = self.waiting.front_mut() {
            let messages: Vec<String> = messages.into_iter().chain(first.warning.take()).collect();
            first.warning = (!messages.is_empty()).then(|| messages.join("; "));
        }
    }

    fn check_prefixes_ended(&mut self, name: &str) -> Result<()> {
        if let LineSource::Text(text) = &mut self.source
            && let Some(prefixes) = &mut text.prefixes
            && let Some(line) = prefixes.next()?
        {
            let number = line.number;
            let reason = format!("{name} has only {} lines", number - 1);
            return Err(TextError::format(prefixes.name(), number, None, reason).into());
        }
        Ok(())
    }

    /// Returns a sentence without words for line `line`, with the next id.
    pub(super) fn empty_sentence(&mut self, line: u64) -> InputSentence {
        let id = self.id;
        self.id += 1;
        InputSentence::empty(id, line)
    }

    /// Parses the next sentence, of line `line`.
    pub(super) fn parse_sentence(
        &mut self,
        line: u64,
        text: &[u8],
        prefix: &[u8],
        constraints: &[Vec<u8>],
    ) -> InputSentence {
        let id = self.id;
        self.id += 1;
        self.parser.parse((id, line), text, prefix, constraints)
    }
}

type ParsedLine = (Vec<u8>, Vec<u8>, Vec<Vec<u8>>);

fn parse_fields(line: &[u8]) -> Result<ParsedLine, String> {
    let mut parts = line.split(|&byte| byte == b'\t');
    let [source, prefix, constraints] = [(); 3].map(|()| parts.next().unwrap_or_default().to_vec());
    if parts.next().is_some() {
        return Err("expected at most three fields, separated by tabs".into());
    }
    let constraints = fields::split_fields(&constraints).filter(|text| !text.is_empty());
    Ok((source, prefix, constraints.map(<[u8]>::to_vec).collect()))
}

fn parse_json(line: &[u8]) -> Result<ParsedLine, String> {
    if line.trim_ascii().is_empty() {
        return Ok(ParsedLine::default());
    }
    let object: JsonRequest = serde_json::from_slice(line)
        .map_err(|e| format!("not a JSON object with a source: {e}"))?;
    let prefix = object.prefix.unwrap_or_default().into_bytes();
    let constraints = object.constraints.into_iter().flatten().map(String::into_bytes).collect();
    Ok((object.source.into_bytes(), prefix, constraints))
}

#[cfg(test)]
mod tests {
    use super::super::tokenizer::Tokenizer;
    use super::*;
    use crate::search::Request;
    use miriam_nmt_models::Segmentation;
    use miriam_nmt_models::Vocabulary;
    use miriam_textio::Input;
    use proptest::prelude::*;
    use std::io::Cursor;
    use std::path::Path;

    fn sides() -> [Tokenizer; 2] {
        let words = b"</s>\n<unk>\na\nb\nc\n";
        let vocabulary = Arc::new(Vocabulary::parse(words, Path::new("v.txt")).unwrap());
        let segmentation = Segmentation::Presegmented;
        let side = Tokenizer {
            vocabulary,
            segmentation,
            boundary_tokens: Default::default(),
            input_is_tokenized: false,
            output_as_pieces: false,
            special_ids: Default::default(),
            needs_language_tag: false,
            reads_backwards: false,
        };
        [side.clone(), side]
    }

    fn lines(text: &[u8]) -> Lines {
        Lines::new(Input::from_reader(Cursor::new(text.to_vec()), "input", None).unwrap())
    }

    fn read(
        text: &[u8],
        prefixes: Option<&[u8]>,
        options: InputOptions,
    ) -> Result<Vec<InputSentence>> {
        let sides = sides();
        let source = SourceText { lines: lines(text), prefixes: prefixes.map(lines) };
        let mut reader = SentenceReader::with_tokenizers(
            LineSource::Text(Box::new(source)),
            &sides,
            false,
            options,
        );
        let mut all = Vec::new();
        while let Some(sentence) = reader.next()? {
            all.push(sentence);
        }
        Ok(all)
    }

    fn options(form: LineFormat) -> InputOptions {
        InputOptions {
            format: form,
            is_tokenized: false,
            max_length: 3,
            crop: false,
            splits_long: false,
        }
    }

    #[test]
    fn lines_parse_in_every_format() {
        let request = |form, line: &str| {
            let mut all = read(line.as_bytes(), None, options(form)).unwrap();
            all.remove(0).request
        };
        let expected = Request {
            number: 0,
            source: vec![2, 3, 0],
            prefix: vec![4],
            constraints: vec![vec![3], vec![2, 4]],
            candidates: None,
        };
        let fields = "a b\tc\tb ||| a c\r\n";
        assert_eq!(request(LineFormat::Tsv, fields), Ok(Some(expected.clone())));
        let json = r#"{"source": "a b", "prefix": "c", "constraints": ["b", "", "a c"]}"#;
        assert_eq!(request(LineFormat::Json, json), Ok(Some(expected)));
        let plain = request(LineFormat::Sentence, "a b\n");
        let json = r#"{"source": "a b", "prefix": null, "constraints": null}"#;
        assert_eq!(request(LineFormat::Json, json), plain);
        assert_eq!(request(LineFormat::Sentence, "\n"), Ok(None));
        for (form, line) in [
            (LineFormat::Tsv, "a\tb\tc\td"),
            (LineFormat::Json, "{\"source\": 1}"),
            (LineFormat::Json, "{\"source\": \"a\", \"prefx\": \"b\"}"),
            (LineFormat::Sentence, "a a a a"),
        ] {
            assert!(request(form, line).is_err(), "{line}");
        }
    }

    #[test]
    fn overlong_sentences_are_cropped_if_allowed() {
        let crop = InputOptions { crop: true, ..options(LineFormat::Sentence) };
        let sentence = read(b"a b c a\n", None, crop).unwrap().remove(0);
        assert_eq!(sentence.request.unwrap().unwrap().source, [2, 3, 4, 0]);
        assert!(sentence.warning.unwrap().contains("5 pieces, at most 4 are allowed"));
    }

    #[test]
    fn prefixes_and_constraints_have_a_maximum_length() {
        for line in ["a\ta a a a", "a\t\ta b ||| c c"] {
            let sentence = read(line.as_bytes(), None, options(LineFormat::Tsv)).unwrap().remove(0);
            assert!(sentence.request.unwrap_err().contains("4 pieces"), "{line}");
        }
    }

    #[test]
    fn right_to_left_models_take_constraints_but_no_prefix() {
        let sides = sides();
        let source = SourceText { lines: lines(b"a\t\ta b ||| c\na\tb\n"), prefixes: None };
        let mut reader = SentenceReader::with_tokenizers(
            LineSource::Text(Box::new(source)),
            &sides,
            true,
            options(LineFormat::Tsv),
        );
        let mut request = || reader.next().unwrap().unwrap().request;
        assert_eq!(request().unwrap().unwrap().constraints, [vec![3, 2], vec![4]]);
        assert!(request().unwrap_err().contains("right to left"));
    }

    #[test]
    fn prefix_file_must_have_a_line_for_each_source() {
        let read = |prefixes: &[u8]| read(b"a\nb\n", Some(prefixes), options(LineFormat::Sentence));
        // Lines may end in CRLF, as those of the text.
        for prefixes in [&b"c\n\n"[..], b"c\r\n\r\n"] {
            let all = read(prefixes).unwrap();
            assert_eq!(all[0].request.as_ref().unwrap().as_ref().unwrap().prefix, [4]);
            assert!(all[1].request.as_ref().unwrap().as_ref().unwrap().prefix.is_empty());
        }
        for wrong in [&b"c\n"[..], b"c\nc\nc\n"] {
            assert!(read(wrong).is_err());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_one_sentence_per_line(
            text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\t'), Just(b'{'), any::<u8>()], 0..80),
        ) {
            let count = lines_in(&text);
            for form in [LineFormat::Sentence, LineFormat::Tsv, LineFormat::Json] {
                // Compressed input has its own test.
                if !text.starts_with(&[0x1f, 0x8b]) {
                    prop_assert_eq!(read(&text, None, options(form)).unwrap().len(), count);
                }
            }
        }
    }

    fn lines_in(text: &[u8]) -> usize {
        text.strip_suffix(b"\n").unwrap_or(text).split(|&b| b == b'\n').count()
            - usize::from(text.is_empty())
    }
}
