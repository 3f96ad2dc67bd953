//! A reader of n-best lists. It reads one sentence at a time, so the length of a list does not
//! matter.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use super::{NBestFields, NBestForm};
use crate::{Error, Input, Lines, Result};

/// An entry of a list.
#[derive(Clone, Debug)]
pub struct NBestEntry {
    /// The whole line.
    pub line: Vec<u8>,
    /// The places of its fields.
    pub fields: NBestFields,
    /// The number of the line, from 1.
    pub line_number: u64,
    /// The name of the file.
    pub file: Arc<str>,
}

impl NBestEntry {
    /// Returns the translation.
    pub fn text(&self) -> &[u8] {
        &self.line[self.fields.text.clone()]
    }

    /// Returns the features; empty if the entry has none.
    pub fn features(&self) -> &[u8] {
        self.fields.features.clone().map_or(&[], |range| &self.line[range])
    }

    /// Returns the total.
    ///
    /// # Errors
    /// If the entry has none, or it is not a finite number.
    pub fn total(&self) -> Result<f64> {
        self.fields.total.ok_or_else(|| {
            self.error(
                self.fields.features_field + 1,
                "expected the total of the entry, a finite number",
            )
        })
    }

    /// Returns an error in a field of this entry; fields are counted from 1.
    pub fn error(&self, field: usize, reason: impl Into<String>) -> Error {
        Error::format(&self.file, self.line_number, Some(field), reason)
    }
}

/// A reader of one list, or of several files that are parts of one list.
pub struct NBestReader {
    form: NBestForm,
    parts: VecDeque<PathBuf>,
    /// The current part and its name.
    lines: Option<(Lines, Arc<str>)>,
    /// The first entry of the next sentence.
    pending: Option<NBestEntry>,
    next_id: u64,
    allows_gaps: bool,
}

impl NBestReader {
    /// Creates a reader of these parts. Sentences are numbered from 0 over all parts.
    pub fn new(parts: impl IntoIterator<Item = PathBuf>, form: NBestForm) -> Self {
        let parts = parts.into_iter().collect();
        NBestReader { form, parts, lines: None, pending: None, next_id: 0, allows_gaps: false }
    }

    /// Creates a reader of one list that is open already.
    pub fn from_lines(lines: Lines, form: NBestForm) -> Self {
        let name = lines.name().into();
        NBestReader { lines: Some((lines, name)), ..NBestReader::new([], form) }
    }

    /// Accepts lists whose sentence numbers ascend but do not begin with 0, or have gaps.
    #[must_use]
    pub fn with_gaps(self) -> Self {
        NBestReader { allows_gaps: true, ..self }
    }

    /// Reads the entries of the next sentence, at least one. Returns `None` at the end.
    ///
    /// # Errors
    /// If a part cannot be read, a line is not an entry, or the numbers of sentences do not ascend
    /// (one by one, unless gaps are accepted).
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Vec<NBestEntry>>> {
        let mut found: Vec<NBestEntry> = self.pending.take().into_iter().collect();
        loop {
            let Some((lines, name)) = &mut self.lines else {
                match self.parts.pop_front() {
                    Some(part) => {
                        let lines = Lines::new(Input::open(&part)?);
                        let name = lines.name().into();
                        self.lines = Some((lines, name));
                    }
                    None => return Ok(Some(found).filter(|found| !found.is_empty())),
                }
                continue;
            };
            let Some(line) = lines.next()? else {
                self.lines = None;
                continue;
            };
            let fields = NBestFields::parse(line.bytes, self.form)
                .map_err(|(field, reason)| Error::format(name, line.number, Some(field), reason))?;
            let id = fields.sentence;
            let entry = NBestEntry {
                line: line.bytes.to_vec(),
                fields,
                line_number: line.number,
                file: Arc::clone(name),
            };
            if self.allows_gaps && found.is_empty() && id >= self.next_id {
                self.next_id = id;
            }
            match id.checked_sub(self.next_id) {
                Some(0) => found.push(entry),
                Some(step) if !found.is_empty() && (step == 1 || self.allows_gaps) => {
                    self.pending = Some(entry);
                    self.next_id = id;
                    return Ok(Some(found));
                }
                _ if self.allows_gaps => {
                    let reason = format!("sentence {id} follows a later one: numbers must ascend");
                    return Err(entry.error(1, reason));
                }
                _ => {
                    let expected = self.next_id + u64::from(!found.is_empty());
                    // The numbers begin again where a file has the lists of several runs.
                    let remedy = if id == 0 { "; divide a file of several lists" } else { "" };
                    let reason = format!(
                        "expected sentence {expected}, found {id}: sentences are numbered from 0, \
                         and each has a translation{remedy}"
                    );
                    return Err(entry.error(1, reason));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(parts: &[&str], form: NBestForm) -> Result<Vec<Vec<String>>, String> {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> =
            (0..parts.len()).map(|n| folder.path().join(n.to_string())).collect();
        for (path, text) in paths.iter().zip(parts) {
            std::fs::write(path, text).unwrap();
        }
        let mut reader = NBestReader::new(paths, form);
        let mut all = Vec::new();
        while let Some(found) = reader.next().map_err(|e| e.to_string())? {
            all.push(
                found
                    .into_iter()
                    .map(|text| String::from_utf8(text.text().to_vec()).unwrap())
                    .collect(),
            );
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
        for form in [NBestForm::Plain, NBestForm::Any] {
            assert_eq!(read(&parts, form).unwrap(), expected);
        }
        assert!(read(&[], NBestForm::Any).unwrap().is_empty());
        assert!(read(&["", ""], NBestForm::Any).unwrap().is_empty());
    }

    #[test]
    fn other_fields_are_not_part_of_a_translation() {
        let entry = |fields: &str| read(&[&format!("0 ||| {fields}\n")], NBestForm::Any).unwrap();
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
        let own = read(&["0 ||| a ||| 1-2 ||| F0= 1 ||| 1\n"], NBestForm::Plain).unwrap();
        assert_eq!(own, [["a ||| 1-2"]]);
    }

    #[test]
    fn with_gaps_numbers_only_have_to_ascend() {
        let read = |list: &str| {
            let text = std::io::Cursor::new(list.to_owned());
            let lines = Lines::new(Input::from_reader(text, "list", None).unwrap());
            let mut reader = NBestReader::from_lines(lines, NBestForm::Any).with_gaps();
            let mut numbers = Vec::new();
            while let Some(found) = reader.next().map_err(|error| error.to_string())? {
                numbers.push((found[0].fields.sentence, found.len()));
            }
            Ok::<_, String>(numbers)
        };
        let line = |number: u64| format!("{number} ||| a ||| 1\n");
        assert_eq!(
            read(&[2, 2, 3, 7, 7, 9].map(line).concat()),
            Ok(vec![(2, 2), (3, 1), (7, 2), (9, 1)])
        );
        assert_eq!(read(&[1, u64::MAX].map(line).concat()), Ok(vec![(1, 1), (u64::MAX, 1)]));
        let error = read(&[1, 1, 0].map(line).concat()).unwrap_err();
        assert!(error.contains("list, line 3, field 1: sentence 0 follows a later one"), "{error}");
    }

    #[test]
    fn gaps_and_other_lines_are_errors() {
        for (list, place, what) in [
            ("0 ||| a ||| 1\n2 ||| b ||| 1\n", "line 2", "expected sentence 1, found 2"),
            ("1 ||| a ||| 1\n", "line 1", "expected sentence 0, found 1"),
            ("0 ||| a ||| 1\n1 ||| a ||| 1\n0 ||| b ||| 1\n", "line 3", "a file of several lists"),
            ("a b\n", "line 1", "expected an entry"),
            ("x ||| a\n", "line 1", "expected an entry"),
        ] {
            let error = read(&[list], NBestForm::Any).unwrap_err();
            assert!(error.contains(place) && error.contains(what), "{error}");
        }
    }
}
