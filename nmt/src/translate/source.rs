//! Lines of the input, and what they ask for.

use miriam_textio::{Error as TextError, Lines, fields};
use serde::Deserialize;

use super::models::Models;
use super::options::{InputOptions, LineForm};
use super::text::{Cutting, Pieces, Side};
use crate::Result;
use crate::search::Request;

/// Where sentences come from.
pub struct Source {
    /// Their lines.
    pub lines: Lines,
    /// Lines that their translations begin with, as many.
    pub prefixes: Option<Lines>,
}

/// A line that was read.
pub(super) struct Sentence {
    /// Its number, from 0.
    pub id: u64,
    pub pieces: Pieces,
    /// What to translate; nothing if there is nothing, or why it cannot be.
    pub request: Result<Option<Request>, String>,
    /// The only words for it, where the scores of single models are wanted.
    pub candidates: Option<Vec<u32>>,
    /// What was done to it.
    pub remark: Option<String>,
}

impl Sentence {
    /// What it is sorted by.
    pub fn length(&self) -> usize {
        self.pieces.len() + 1
    }
}

/// A line in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    source: String,
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    constraints: Vec<String>,
}

/// Makes sentences of lines.
pub(super) struct Reader<'a> {
    source: Source,
    sides: &'a [Side; 2],
    right_to_left: bool,
    options: InputOptions,
    cutting: Cutting,
    id: u64,
}

impl<'a> Reader<'a> {
    pub fn new(source: Source, models: &'a Models, options: InputOptions) -> Self {
        Self::for_sides(source, models.sides(), models.is_right_to_left(), options)
    }

    fn for_sides(
        source: Source,
        sides: &'a [Side; 2],
        right_to_left: bool,
        options: InputOptions,
    ) -> Self {
        Reader { source, sides, right_to_left, options, cutting: Cutting::default(), id: 0 }
    }

    /// The next one.
    pub fn next(&mut self) -> Result<Option<Sentence>> {
        let name = self.source.lines.name().to_owned();
        let Some(line) = self.source.lines.next()? else {
            return self.no_more_prefixes(&name);
        };
        let number = line.number;
        let text = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes);
        let parsed = match self.options.form {
            LineForm::Sentence => Ok((text.to_vec(), Vec::new(), Vec::new())),
            LineForm::Fields => of_fields(text),
            LineForm::Json => of_json(text),
        };
        let prefix = match &mut self.source.prefixes {
            None => None,
            Some(prefixes) => match prefixes.next()? {
                Some(line) => Some(line.bytes.to_vec()),
                None => {
                    let reason = format!("{number} lines are needed, as in {name}");
                    return Err(TextError::format(prefixes.name(), number, None, reason).into());
                }
            },
        };
        let id = self.id;
        self.id += 1;
        let (text, own_prefix, constraints) = match parsed {
            Ok(parsed) => parsed,
            Err(reason) => {
                let pieces = Pieces::default();
                return Ok(Some(Sentence {
                    id,
                    pieces,
                    request: Err(reason),
                    candidates: None,
                    remark: None,
                }));
            }
        };
        Ok(Some(self.sentence(id, &text, &prefix.unwrap_or(own_prefix), &constraints)))
    }

    fn no_more_prefixes(&mut self, name: &str) -> Result<Option<Sentence>> {
        if let Some(prefixes) = &mut self.source.prefixes
            && let Some(line) = prefixes.next()?
        {
            let number = line.number;
            let reason = format!("{name} has only {} lines", self.id);
            return Err(TextError::format(prefixes.name(), number, None, reason).into());
        }
        Ok(None)
    }

    fn sentence(
        &mut self,
        id: u64,
        text: &[u8],
        prefix: &[u8],
        constraints: &[Vec<u8>],
    ) -> Sentence {
        let [source, target] = self.sides;
        let cutting = &mut self.cutting;
        let mut pieces = source.read(text, cutting);
        let InputOptions { max_length, crop, .. } = self.options;
        let mut remark = None;
        if pieces.len() > max_length {
            let reason =
                format!("{} pieces, {max_length} are allowed (--max-length)", pieces.len());
            if !crop {
                return Sentence {
                    id,
                    pieces: Pieces::default(),
                    request: Err(reason),
                    candidates: None,
                    remark,
                };
            }
            remark = Some(format!("{reason}; the others are left out"));
            pieces.truncate(max_length);
        }
        if pieces.is_empty() {
            return Sentence { id, pieces, request: Ok(None), candidates: None, remark };
        }
        let prefix = target.read(prefix, cutting).ids;
        let constraints = constraints.iter().map(|text| target.read(text, cutting).ids);
        let constraints = constraints.filter(|ids| !ids.is_empty()).collect();
        let request = match self.wanted(&prefix, constraints) {
            Ok(constraints) => {
                let source = source.with_end(&pieces);
                Ok(Some(Request { source, constraints, prefix, candidates: None }))
            }
            Err(reason) => Err(reason),
        };
        Sentence { id, pieces, request, candidates: None, remark }
    }

    /// The constraints as the models put them out, or why they cannot be had, or the prefix.
    fn wanted(
        &self,
        prefix: &[u32],
        mut constraints: Vec<Vec<u32>>,
    ) -> Result<Vec<Vec<u32>>, String> {
        let most = self.options.max_length;
        let check = |what: &str, length: usize| {
            let reason = || format!("{what} of {length} pieces, {most} are allowed (--max-length)");
            if length > most { Err(reason()) } else { Ok(()) }
        };
        check("a prefix", prefix.len())?;
        check("constraints", constraints.iter().map(Vec::len).sum())?;
        if self.right_to_left {
            // What a translation begins with comes last there, when all else is settled.
            if !prefix.is_empty() {
                return Err("a model that writes from right to left takes no prefix".into());
            }
            constraints.iter_mut().for_each(|words| words.reverse());
        }
        Ok(constraints)
    }
}

type Parsed = (Vec<u8>, Vec<u8>, Vec<Vec<u8>>);

fn of_fields(line: &[u8]) -> Result<Parsed, String> {
    let mut parts = line.split(|&byte| byte == b'\t');
    let mut part = || parts.next().unwrap_or_default().to_vec();
    let (source, prefix, constraints) = (part(), part(), part());
    if parts.next().is_some() {
        return Err("more than three fields with tabs between them".into());
    }
    let constraints = fields::three_bar(&constraints).filter(|text| !text.is_empty());
    Ok((source, prefix, constraints.map(<[u8]>::to_vec).collect()))
}

fn of_json(line: &[u8]) -> Result<Parsed, String> {
    if line.trim_ascii().is_empty() {
        return Ok(Parsed::default());
    }
    let object: Object =
        serde_json::from_slice(line).map_err(|e| format!("no JSON object with a source: {e}"))?;
    let constraints = object.constraints.into_iter().map(String::into_bytes).collect();
    Ok((object.source.into_bytes(), object.prefix.into_bytes(), constraints))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segmentation::Segmentation;
    use crate::vocabulary::Vocabulary;
    use miriam_textio::Input;
    use proptest::prelude::*;
    use std::io::Cursor;
    use std::path::Path;
    use std::sync::Arc;

    fn sides() -> [Side; 2] {
        let words = b"</s>\n<unk>\na\nb\nc\n";
        let vocabulary = Arc::new(Vocabulary::parse(words, Path::new("v.txt")).unwrap());
        let segmentation = Segmentation::Pieces;
        let side = Side { vocabulary, segmentation, reads_pieces: false, writes_pieces: false };
        [side.clone(), side]
    }

    fn lines(text: &[u8]) -> Lines {
        Lines::new(Input::from_reader(Cursor::new(text.to_vec()), "input", None).unwrap())
    }

    fn read(text: &[u8], prefixes: Option<&[u8]>, options: InputOptions) -> Result<Vec<Sentence>> {
        let sides = sides();
        let source = Source { lines: lines(text), prefixes: prefixes.map(lines) };
        let mut reader = Reader::for_sides(source, &sides, false, options);
        let mut all = Vec::new();
        while let Some(sentence) = reader.next()? {
            all.push(sentence);
        }
        Ok(all)
    }

    fn options(form: LineForm) -> InputOptions {
        InputOptions { form, pieces: false, max_length: 3, crop: false }
    }

    #[test]
    fn a_line_says_what_is_wanted() {
        let request = |form, line: &str| {
            let mut all = read(line.as_bytes(), None, options(form)).unwrap();
            all.remove(0).request
        };
        let expected = Request {
            source: vec![2, 3, 0],
            prefix: vec![4],
            constraints: vec![vec![3], vec![2, 4]],
            candidates: None,
        };
        let fields = "a b\tc\tb ||| a c\r\n";
        assert_eq!(request(LineForm::Fields, fields), Ok(Some(expected.clone())));
        let json = r#"{"source": "a b", "prefix": "c", "constraints": ["b", "", "a c"]}"#;
        assert_eq!(request(LineForm::Json, json), Ok(Some(expected)));
        assert_eq!(request(LineForm::Sentence, "\n"), Ok(None));
        for (form, line) in [
            (LineForm::Fields, "a\tb\tc\td"),
            (LineForm::Json, "{\"source\": 1}"),
            (LineForm::Json, "{\"source\": \"a\", \"prefx\": \"b\"}"),
            (LineForm::Sentence, "a a a a"),
        ] {
            assert!(request(form, line).is_err(), "{line}");
        }
    }

    #[test]
    fn what_is_too_long_is_cut_where_that_is_allowed() {
        let crop = InputOptions { crop: true, ..options(LineForm::Sentence) };
        let sentence = read(b"a b c a\n", None, crop).unwrap().remove(0);
        assert_eq!(sentence.request.unwrap().unwrap().source, [2, 3, 4, 0]);
        assert!(sentence.remark.unwrap().contains("4 pieces"));
    }

    #[test]
    fn prefixes_and_constraints_have_a_longest_length() {
        for line in ["a\ta a a a", "a\t\ta b ||| c c"] {
            let sentence =
                read(line.as_bytes(), None, options(LineForm::Fields)).unwrap().remove(0);
            assert!(sentence.request.unwrap_err().contains("4 pieces"), "{line}");
        }
    }

    #[test]
    fn models_that_write_backwards_take_constraints_only() {
        let sides = sides();
        let source = Source { lines: lines(b"a\t\ta b ||| c\na\tb\n"), prefixes: None };
        let mut reader = Reader::for_sides(source, &sides, true, options(LineForm::Fields));
        let mut request = || reader.next().unwrap().unwrap().request;
        assert_eq!(request().unwrap().unwrap().constraints, [vec![3, 2], vec![4]]);
        assert!(request().unwrap_err().contains("right to left"));
    }

    #[test]
    fn files_of_prefixes_have_as_many_lines() {
        let read = |prefixes: &[u8]| read(b"a\nb\n", Some(prefixes), options(LineForm::Sentence));
        let all = read(b"c\n\n").unwrap();
        assert_eq!(all[0].request.as_ref().unwrap().as_ref().unwrap().prefix, [4]);
        for wrong in [&b"c\n"[..], b"c\nc\nc\n"] {
            assert!(read(wrong).is_err());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_sentence_a_line(
            text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\t'), Just(b'{'), any::<u8>()], 0..80),
        ) {
            let count = lines_in(&text);
            for form in [LineForm::Sentence, LineForm::Fields, LineForm::Json] {
                // Compressed input is another test's.
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
