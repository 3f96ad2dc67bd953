//! A reader of n-best lists as Marian writes them. It reads one sentence at a time, so the length
//! of a list does not matter.

use std::collections::VecDeque;
use std::path::PathBuf;

use miriam_textio::fields::{find_separator, split_words, trim};
use miriam_textio::{Error as TextError, Input, Line, Lines};

use crate::Result;

/// The fields of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListForm {
    /// Number, translation, features, total. Other bars belong to the translation.
    Plain,
    /// A list of another program, where alignments and word scores may follow a translation.
    Any,
}

/// A reader of one list, or of several parts of one.
pub(super) struct NBestReader {
    form: ListForm,
    parts: VecDeque<PathBuf>,
    lines: Option<Lines>,
    /// The first translation of the next sentence.
    pending: Option<Vec<u8>>,
    next_id: u64,
}

impl NBestReader {
    /// Creates a reader of these parts. Sentences are numbered from 0 over all parts.
    pub fn new(parts: impl IntoIterator<Item = PathBuf>, form: ListForm) -> Self {
        let parts = parts.into_iter().collect();
        NBestReader { form, parts, lines: None, pending: None, next_id: 0 }
    }

    /// Reads the translations of the next sentence, at least one. Returns `None` at the end.
    ///
    /// # Errors
    /// If a part cannot be read, a line is not an entry, or a sentence has no translation.
    pub fn next(&mut self) -> Result<Option<Vec<Vec<u8>>>> {
        let mut found: Vec<Vec<u8>> = self.pending.take().into_iter().collect();
        loop {
            let Some(lines) = &mut self.lines else {
                match self.parts.pop_front() {
                    Some(part) => self.lines = Some(Lines::new(Input::open(&part)?)),
                    None if found.is_empty() => return Ok(None),
                    None => {
                        self.next_id += 1;
                        return Ok(Some(found));
                    }
                }
                continue;
            };
            let name = lines.name().to_owned();
            let Some(line) = lines.next()? else {
                self.lines = None;
                continue;
            };
            let (id, text) = parse_entry(&line, self.form)
                .map_err(|reason| TextError::format(&name, line.number, None, reason))?;
            match id.checked_sub(self.next_id) {
                Some(0) => found.push(text.to_vec()),
                Some(1) if !found.is_empty() => {
                    self.pending = Some(text.to_vec());
                    self.next_id += 1;
                    return Ok(Some(found));
                }
                _ => {
                    let expected = self.next_id + u64::from(!found.is_empty());
                    let reason = format!(
                        "expected sentence {expected}, found {id}: sentences are numbered from 0, \
                         and each has a translation"
                    );
                    return Err(TextError::format(&name, line.number, None, reason).into());
                }
            }
        }
    }
}

/// Parses the number of the sentence and the translation of an entry.
fn parse_entry<'a>(line: &'a Line<'_>, form: ListForm) -> Result<(u64, &'a [u8]), String> {
    let bytes = line.bytes;
    find_separator(bytes)
        .and_then(|at| {
            let id = std::str::from_utf8(trim(&bytes[..at])).ok()?.parse().ok()?;
            Some((id, parse_translation(&bytes[at + 3..], form)))
        })
        .ok_or_else(|| {
            "expected an entry of an n-best list, `number ||| translation ||| ...`".to_owned()
        })
}

/// Parses the translation at the start of `fields`.
fn parse_translation(fields: &[u8], form: ListForm) -> &[u8] {
    // Fields end at these offsets.
    let mut ends = Vec::new();
    let mut start = 0;
    while let Some(at) = find_separator(&fields[start..]) {
        ends.push(start + at);
        start += at + 3;
    }
    // Features and their total follow it; the total has no end offset.
    let mut last = ends.len().saturating_sub(2);
    if form == ListForm::Any {
        if last > 0 && nth_field(fields, &ends, last).starts_with(b"WordScores=") {
            last -= 1;
        }
        if last > 0 && split_words(nth_field(fields, &ends, last)).all(is_alignment) {
            last -= 1;
        }
    }
    trim(&fields[..ends.get(last).copied().unwrap_or(fields.len())])
}

/// Returns the field that ends at `ends[index]`; `index` is at least 1.
fn nth_field<'a>(fields: &'a [u8], ends: &[usize], index: usize) -> &'a [u8] {
    trim(&fields[ends[index - 1] + 3..ends[index]])
}

/// Whether a word is a link, `3-2`, or its weights, `0.25,0.75`.
fn is_alignment(word: &[u8]) -> bool {
    word.iter().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b',' | b'.' | b'e'))
        && (word.contains(&b'-') || word.contains(&b','))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(parts: &[&str], form: ListForm) -> Result<Vec<Vec<String>>, String> {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> =
            (0..parts.len()).map(|n| folder.path().join(n.to_string())).collect();
        for (path, text) in paths.iter().zip(parts) {
            std::fs::write(path, text).unwrap();
        }
        let mut reader = NBestReader::new(paths, form);
        let mut all = Vec::new();
        while let Some(found) = reader.next().map_err(|e| e.to_string())? {
            all.push(found.into_iter().map(|text| String::from_utf8(text).unwrap()).collect());
        }
        Ok(all)
    }

    #[test]
    fn parts_are_one_list() {
        let parts = [
            "0 ||| a b ||| F0= -1 ||| -1\n0 ||| a ||| F0= -2 ||| -2\n1 |||  ||| F0= 0 ||| 0\n",
            "2 ||| c ||| F0= -1 F1= 2 ||| -1\n",
        ];
        let expected = [vec!["a b", "a"], vec![""], vec!["c"]];
        for form in [ListForm::Plain, ListForm::Any] {
            assert_eq!(read(&parts, form).unwrap(), expected);
        }
        assert!(read(&[], ListForm::Any).unwrap().is_empty());
        assert!(read(&["", ""], ListForm::Any).unwrap().is_empty());
    }

    #[test]
    fn other_fields_are_not_part_of_a_translation() {
        let entry = |fields: &str| read(&[&format!("0 ||| {fields}\n")], ListForm::Any).unwrap();
        for fields in [
            "a b",
            "a b ||| -1",
            "a b ||| F0= -1 ||| -1",
            "a b ||| 0-0 1-1 ||| F0= -1 ||| -1",
            "a b ||| 0.5,0.5 1,0 ||| WordScores= -0.5 -0.5 ||| F0= -1 ||| -1",
            "a b ||| WordScores= -0.5 ||| F0= -1 ||| -1",
        ] {
            assert_eq!(entry(fields), [["a b"]], "{fields}");
        }
        assert_eq!(entry("a ||| b 1 ||| F0= -1 ||| -1"), [["a ||| b 1"]]);
        let own = read(&["0 ||| a ||| 1-2 ||| F0= 1 ||| 1\n"], ListForm::Plain).unwrap();
        assert_eq!(own, [["a ||| 1-2"]]);
    }

    #[test]
    fn gaps_and_other_lines_are_errors() {
        for (list, place, what) in [
            ("0 ||| a ||| 1\n2 ||| b ||| 1\n", "line 2", "expected sentence 1, found 2"),
            ("1 ||| a ||| 1\n", "line 1", "expected sentence 0, found 1"),
            ("0 ||| a ||| 1\n1 ||| a ||| 1\n0 ||| b ||| 1\n", "line 3", "found 0"),
            ("a b\n", "line 1", "expected an entry"),
            ("x ||| a\n", "line 1", "expected an entry"),
        ] {
            let error = read(&[list], ListForm::Any).unwrap_err();
            assert!(error.contains(place) && error.contains(what), "{error}");
        }
    }
}
