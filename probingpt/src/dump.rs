//! Printing of phrase-table entries as text.
//!
//! Probabilities are printed with six significant digits, and with more only if six do not parse to
//! the stored score. So the usual text of six digits is reproduced. A table that is built from the
//! printed text has the same scores, except near the limits of f32.

use std::io::Write;

use crate::build::ZeroScorePolicy;
use crate::{Annotations, AnyTable, RecordOffset, Result, Targets};

/// A printer of the entries of a table, source phrase by source phrase. The caller passes the word
/// ids of each source phrase, because not every kind of table keeps them.
///
/// # Examples
///
/// ```
/// use miriam_probingpt::{AnyTable, EntryPrinter, load_text};
/// use miriam_textio::NoProgress;
///
/// let text = tempfile::NamedTempFile::new()?;
/// let line = "das haus ||| the house ||| 0.5 0.125 ||| 0-0 1-1 ||| 4 2 2 ||| |||\n";
/// std::fs::write(text.path(), line)?;
/// let table = load_text(text.path(), None, 1, &NoProgress)?;
/// let record = table.records().next().expect("one source phrase");
/// let mut source = Vec::new();
/// table.read_source(record, &mut source)?;
///
/// let (table, mut printed) = (AnyTable::from(table), Vec::new());
/// EntryPrinter::new(&table).write_phrase_table(record, &source, &mut printed)?;
/// assert_eq!(String::from_utf8(printed)?, line);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EntryPrinter<'a> {
    table: &'a AnyTable,
    targets: Targets,
    annotations: Annotations,
    scratch: Vec<u8>,
}

impl<'a> EntryPrinter<'a> {
    /// Creates a printer for `table`.
    pub fn new(table: &'a AnyTable) -> Self {
        EntryPrinter {
            table,
            targets: Targets::new(),
            annotations: Annotations::new(),
            scratch: Vec::new(),
        }
    }

    /// Appends a line `source ||| target ||| scores ||| alignment` for each entry, with the
    /// reordering scores as a fifth field if `reordering`.
    ///
    /// # Errors
    ///
    /// If the record, a word or an alignment is damaged.
    pub fn write_query_result(
        &mut self,
        record: RecordOffset,
        source: &[u32],
        reordering: bool,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.table.read_targets(record, &mut self.targets)?;
        for i in 0..self.targets.len() {
            self.push_pair(source, i, out)?;
            self.push_scores(i, out);
            out.extend_from_slice(b" ||| ");
            self.push_alignment(i, out)?;
            if reordering {
                out.extend_from_slice(b" ||| ");
                self.push_reordering(i, out);
            }
            out.push(b'\n');
        }
        Ok(())
    }

    /// Appends the entries as lines of a phrase table, with alignment, counts and further fields if
    /// the table keeps them.
    ///
    /// # Errors
    ///
    /// If the record, a word or an alignment is damaged.
    pub fn write_phrase_table(
        &mut self,
        record: RecordOffset,
        source: &[u32],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.table.read_targets(record, &mut self.targets)?;
        let mut annotated = false;
        if let AnyTable::Native(table) = self.table {
            table.read_annotations(record, &mut self.annotations)?;
            annotated = table.has_counts() || table.has_extra();
        }
        for i in 0..self.targets.len() {
            self.push_pair(source, i, out)?;
            self.push_scores(i, out);
            if annotated || self.table.has_alignment() {
                out.extend_from_slice(b" ||| ");
                self.push_alignment(i, out)?;
            }
            if annotated {
                out.extend_from_slice(b" ||| ");
                out.extend_from_slice(self.annotations.counts(i));
                let extra = self.annotations.extra(i);
                out.extend_from_slice(if extra.is_empty() { b" ||| |||" } else { b" ||| " });
                out.extend_from_slice(extra);
            }
            out.push(b'\n');
        }
        Ok(())
    }

    /// Appends the entries that have reordering scores as lines of a reordering table.
    ///
    /// # Errors
    ///
    /// If the record or a word is damaged.
    pub fn write_reordering_table(
        &mut self,
        record: RecordOffset,
        source: &[u32],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.table.read_targets(record, &mut self.targets)?;
        for i in 0..self.targets.len() {
            if self.table.reordering_scores(&self.targets, i).is_some() {
                self.push_pair(source, i, out)?;
                self.push_reordering(i, out);
                out.push(b'\n');
            }
        }
        Ok(())
    }

    fn push_pair(&self, source: &[u32], i: usize, out: &mut Vec<u8>) -> Result<()> {
        for &word in source {
            out.extend_from_slice(self.table.source_word(word)?);
            out.push(b' ');
        }
        out.extend_from_slice(b"||| ");
        for &word in self.targets.words(i) {
            out.extend_from_slice(self.table.target_word(word)?);
            out.push(b' ');
        }
        out.extend_from_slice(b"||| ");
        Ok(())
    }

    fn push_scores(&mut self, i: usize, out: &mut Vec<u8>) {
        push_probabilities(self.targets.scores(i), &mut self.scratch, out);
    }

    fn push_reordering(&mut self, i: usize, out: &mut Vec<u8>) {
        if let Some(scores) = self.table.reordering_scores(&self.targets, i) {
            push_probabilities(scores, &mut self.scratch, out);
        }
    }

    fn push_alignment(&self, i: usize, out: &mut Vec<u8>) -> Result<()> {
        if !self.table.has_alignment() {
            return Ok(());
        }
        let alignment = self.targets.alignment_id(i);
        self.table.check_alignment(alignment)?;
        for (k, (source, target)) in self.table.alignment_points(alignment).enumerate() {
            let space = if k == 0 { "" } else { " " };
            // Writing to memory does not fail.
            let _ = write!(out, "{space}{source}-{target}");
        }
        Ok(())
    }
}

fn push_probabilities(scores: &[f32], scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
    for (k, &score) in scores.iter().enumerate() {
        if k > 0 {
            out.push(b' ');
        }
        push_probability(score, scratch, out);
    }
}

/// Appends the probability of `score`, a natural logarithm as it is stored.
pub(crate) fn push_probability(score: f32, scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
    let stored = if score == 1e-10 { 0.0 } else { score };
    let probability = f64::from(stored).exp();
    // Six digits reproduce nearly every score; some need more. Near the limits of f32, no number of
    // digits reproduces the score; eight are printed there.
    for digits in [6, 7, 8, 9, 12, 17, 8] {
        scratch.clear();
        push_digits(probability, digits, scratch);
        let read = miriam_textio::number::parse_f32_via_f64(scratch);
        if read.is_some_and(|p| ZeroScorePolicy::Keep.score(p) == stored) {
            break;
        }
    }
    out.extend_from_slice(scratch);
}

/// Appends `value` with `digits` significant digits, like C's `%.{digits}g`.
fn push_digits(value: f64, digits: usize, out: &mut Vec<u8>) {
    if digits == 6 {
        return miriam_textio::number::push_general(out, value);
    }
    let start = out.len();
    let _ = write!(out, "{value:.*e}", digits - 1);
    let at = out[start..].iter().position(|&b| b == b'e').map_or(out.len(), |at| start + at);
    let exponent = std::str::from_utf8(&out[at..]).ok().and_then(|e| e.get(1..)?.parse().ok());
    let exponent: i32 = exponent.unwrap_or(0);
    if (-4..digits as i32).contains(&exponent) {
        out.truncate(start);
        let _ = write!(out, "{value:.*}", (digits as i32 - 1 - exponent) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_textio::Ln;
    use proptest::prelude::*;

    fn printed(score: f32) -> String {
        let mut out = Vec::new();
        push_probability(score, &mut Vec::new(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn six_digit_texts_are_reproduced() {
        for text in ["0.75", "0.118867", "1", "6.79066e-07", "9.08081e-11", "2.718", "0.5", "1e-05"]
        {
            let p = miriam_textio::number::parse_f32_via_f64(text.as_bytes()).unwrap();
            assert_eq!(printed(Ln::from_probability(p).0), text);
        }
        assert_eq!(printed(1e-10), "1");
        assert_eq!(printed(-100.0), "3.7200760e-44");
    }

    proptest! {
        #[test]
        fn printed_probabilities_are_close_to_the_exact_ones(score in -86.0f32..3.0) {
            let text = printed(score);
            let p: f64 = text.parse().unwrap();
            let exact = f64::from(score).exp();
            prop_assert!((p - exact).abs() <= 4e-6 * exact, "{score} {text}");
        }
    }
}
