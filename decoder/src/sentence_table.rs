//! A phrase table inside an input line (`docs/spec/phrase-decoding.md` 1.9):
//! `text @@@ entry $$$ entry`.
//!
//! The entries have the same form as in a text table, and are scored and pruned in the same way.
//! But they exist for one line only: they are kept as bytes, found by comparing bytes, and dropped
//! with the sentence. The table is small, so a map from source phrases is its only index.

use std::collections::HashMap;

use miriam_textio::{Ln, fields, number, parse_phrase_link};

/// Separates the text from the table.
const TABLE_SEPARATOR: &[u8] = b"@@@";
/// Separates the entries of the table.
const ENTRY_SEPARATOR: &[u8] = b"$$$";

/// One entry of the table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SentenceTableEntry {
    /// The target words as written, separated by blanks.
    pub(crate) target: Vec<u8>,
    /// The scores, as natural logarithms.
    pub(crate) scores: Vec<f32>,
    /// Pairs of source and target positions.
    pub(crate) alignment: Vec<(u16, u16)>,
}

/// The table of one sentence.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentenceTable {
    /// The entries of each source phrase, its words joined by blanks, in the
    /// order of the line.
    entries: HashMap<Vec<u8>, Vec<SentenceTableEntry>>,
    max_source_length: usize,
}

impl SentenceTable {
    /// Reads the table of `line` and returns the text before it.
    pub(crate) fn read<'a>(&mut self, line: &'a [u8]) -> Result<&'a [u8], String> {
        self.entries.clear();
        self.max_source_length = 0;
        let mut parts = fields::split_on(line, TABLE_SEPARATOR);
        let (Some(text), Some(table), None) = (parts.next(), parts.next(), parts.next()) else {
            return Err("a line is `text @@@ table` with one @@@ (inputtype 7)".into());
        };
        let entries = fields::split_on(table, ENTRY_SEPARATOR)
            .filter(|entry| !fields::trim(entry).is_empty());
        for (i, entry) in entries.enumerate() {
            self.add_entry(entry)
                .map_err(|reason| format!("entry {} of the table: {reason}", i + 1))?;
        }
        Ok(text)
    }

    fn add_entry(&mut self, line: &[u8]) -> Result<(), String> {
        let mut columns = fields::split_fields(line);
        let (Some(source), Some(target), Some(scores)) =
            (columns.next(), columns.next(), columns.next())
        else {
            return Err("it is not `source ||| target ||| scores`".into());
        };
        let (mut key, mut words) = (Vec::new(), Vec::new());
        let source_length = join_words(source, &mut key);
        let target_length = join_words(target, &mut words);
        if source_length == 0 {
            return Err("it has no source words".into());
        }
        let scores = fields::split_words(scores).map(|text| {
            let p = number::parse_f32_via_f64(text).filter(|p| p.is_finite() && *p >= 0.0);
            p.map(|p| Ln::from_probability(p).0)
                .ok_or_else(|| format!("{} is not a probability", String::from_utf8_lossy(text)))
        });
        let scores = scores.collect::<Result<Vec<f32>, String>>()?;
        let points = fields::split_words(columns.next().unwrap_or_default()).map(|point| {
            parse_phrase_link(point)
                .filter(|&(s, t)| usize::from(s) < source_length && usize::from(t) < target_length)
                .ok_or_else(|| format!("alignment {} is invalid", String::from_utf8_lossy(point)))
        });
        let alignment = points.collect::<Result<Vec<_>, String>>()?;
        self.max_source_length = self.max_source_length.max(source_length);
        let entry = SentenceTableEntry { target: words, scores, alignment };
        self.entries.entry(key).or_default().push(entry);
        Ok(())
    }

    /// Returns the number of words of the longest source phrase.
    pub(crate) fn max_source_length(&self) -> usize {
        self.max_source_length
    }

    /// Returns the entries of a source phrase, its words joined by blanks.
    pub(crate) fn find(&self, source: &[u8]) -> &[SentenceTableEntry] {
        self.entries.get(source).map_or(&[], Vec::as_slice)
    }
}

/// Appends to `joined` the words of `phrase`, joined by blanks, and returns their number.
fn join_words(phrase: &[u8], joined: &mut Vec<u8>) -> usize {
    let mut count = 0;
    for word in fields::split_words(phrase) {
        if count > 0 {
            joined.push(b' ');
        }
        joined.extend_from_slice(word);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_and_its_table() {
        let mut table = SentenceTable::default();
        let line =
            b"a b@@@ a  b ||| x y ||| 0.5 0 ||| 0-1 1-0 ||| 3 $$$ $$$a ||| ||| 1$$$a|||z|||1\t";
        assert_eq!(table.read(line), Ok(&b"a b"[..]));
        assert_eq!(table.max_source_length(), 2);
        let expected = SentenceTableEntry {
            target: b"x y".to_vec(),
            scores: vec![-std::f32::consts::LN_2, -100.0],
            alignment: vec![(0, 1), (1, 0)],
        };
        assert_eq!(table.find(b"a b"), [expected]);
        let targets: Vec<_> = table.find(b"a").iter().map(|e| &e.target[..]).collect();
        assert_eq!(targets, [&b""[..], b"z"], "in the order of the line");
        assert!(table.find(b"b").is_empty());
        assert_eq!(table.read(b"c @@@"), Ok(&b"c "[..]));
        assert!(table.find(b"a").is_empty(), "the table of the last line is dropped");
    }

    #[test]
    fn invalid_tables_are_rejected_with_the_reason() {
        for (line, reason) in [
            ("a b", "one @@@"),
            ("a @@@ b @@@ c", "one @@@"),
            ("a @@@ a ||| b", "entry 1"),
            ("a @@@ a ||| b ||| 1 $$$ a ||| b ||| x", "entry 2 of the table: x is not"),
            ("a @@@ a ||| b ||| -1", "-1 is not"),
            ("a @@@ ||| b ||| 1", "no source"),
            ("a @@@ a ||| b ||| 1 ||| 0-1", "0-1"),
            ("a @@@ a ||| b ||| 1 ||| 0:0", "0:0"),
            ("a @@@ a ||| b ||| 1 ||| +0-0", "+0-0"),
        ] {
            let error = SentenceTable::default().read(line.as_bytes()).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
    }
}
