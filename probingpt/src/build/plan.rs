//! Plan of how a table will be stored, chosen from a sample before the rest is read.
//!
//! Scores that are ratios of counts repeat: a few thousand values cover a table, and take
//! codes of one or two bytes. Lexical weights and smoothed scores do not repeat, so a codebook for
//! them would cost more than it saves. The encoding is chosen by the first 65,536 entries, so that
//! it does not depend on threads or memory.

use std::collections::HashSet;

use miriam_textio::{Ln, fields, number};

use super::entries::{EntryBlock, TextEntry};
use crate::format::{ColumnEncoding, MAX_REORDERING, MAX_SCORES};
use crate::{Error, Result};

/// The number of entries in the sample.
pub(crate) const SAMPLE_ENTRIES: usize = 65_536;
/// The minimum mean number of entries per distinct value of a column that is coded.
const MIN_REPETITIONS: usize = 16;

/// The way in which a table is stored, the same for all workers.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The name of the phrase table in error messages.
    pub table: String,
    /// The name of the reordering table in error messages.
    pub reordering_table: String,
    /// The encoding of each column of phrase scores.
    pub columns: Vec<ColumnEncoding>,
    /// The number of reordering scores of an entry.
    pub num_reordering: usize,
    /// Whether counts are stored in the codebooks of score columns 0 and 2.
    pub counts_in_codebooks: bool,
    /// The largest number of targets of a source that are kept.
    pub prune: Option<usize>,
    pub zero_policy: ZeroScorePolicy,
}

/// The storage of a score of exactly 0, the logarithm of 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZeroScorePolicy {
    /// As 0, which Moses2 reads from text tables.
    Keep,
    /// As 1e-10, which Moses2 reads from its binary tables.
    Replace,
}

impl ZeroScorePolicy {
    /// Returns the stored score of a probability (`docs/spec/phrase-decoding.md` 2.1, 2.4).
    pub fn score(self, probability: f32) -> f32 {
        let ln = Ln::from_probability(probability).0;
        if ln == 0.0 && self == ZeroScorePolicy::Replace { 1e-10 } else { ln }
    }
}

/// Parses a probability; the error is the reason.
pub(crate) fn parse_probability(text: &[u8]) -> Result<f32, String> {
    let value = number::parse_f32_via_f64(text);
    match value.filter(|p| p.is_finite() && *p >= 0.0) {
        Some(value) => Ok(value),
        None => {
            let text = text.escape_ascii();
            Err(match value {
                Some(p) if p < 0.0 => format!("{text} is a negative probability"),
                _ => format!("{text} is not a probability"),
            })
        }
    }
}

/// The kinds of tables that a build reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableKind {
    /// A phrase table.
    Phrases,
    /// A phrase table, joined with a reordering table.
    Joined,
    /// A reordering table by itself: no phrase scores.
    Reordering,
}

/// The options of a plan that are known before the first line is read.
#[derive(Clone)]
pub(crate) struct PlanOptions {
    pub tables: TableKind,
    pub table: String,
    pub reordering_table: String,
    /// The number of phrase scores of a line; `None` for the number on the first line.
    pub num_scores: Option<usize>,
    /// The number of reordering scores of a line; `None` for the number on the first line.
    pub num_reordering: Option<usize>,
    /// The largest number of targets of a source that are kept.
    pub prune: Option<usize>,
    pub zero_policy: ZeroScorePolicy,
}

impl Plan {
    /// Chooses the plan for a table that begins with `sample`. `reordering_scores` is the number of
    /// scores on the first line of the reordering table.
    pub fn choose(
        options: PlanOptions,
        sample: &EntryBlock,
        reordering_scores: Option<usize>,
    ) -> Result<Self> {
        let num_scores = match (options.tables, sample.entries().next()) {
            (TableKind::Reordering, _) => 0,
            (_, Some(entry)) => check_num_scores(&options.table, &entry, options.num_scores)?,
            (_, None) => options.num_scores.unwrap_or(0),
        };
        let num_reordering = match (options.tables, reordering_scores) {
            (TableKind::Phrases, _) => 0,
            (_, Some(found)) => {
                let name = &options.reordering_table;
                if let Some(wanted) = options.num_reordering.filter(|&n| n != found) {
                    let reason = format!("expected {wanted} scores, found {found}");
                    return Err(Error::format(name, 1, Some(3), reason));
                }
                if found == 0 || found > MAX_REORDERING {
                    let reason = format!("{found} reordering scores, not 1 to {MAX_REORDERING}");
                    return Err(Error::format(name, 1, Some(3), reason));
                }
                found
            }
            (TableKind::Joined, None) if options.num_reordering.is_none() => {
                let table = &options.reordering_table;
                return Err(Error::Options(format!("{table}: the reordering table is empty")));
            }
            (_, None) => options.num_reordering.unwrap_or(0),
        };
        if options.prune.is_some() && num_scores < 3 {
            return Err(Error::Options(format!(
                "{}: pruning needs a third score, found {num_scores}",
                options.table
            )));
        }
        let mut columns = choose_encodings(sample, num_scores);
        let joint_counts = num_scores == 4
            && columns[0] == ColumnEncoding::Coded
            && columns[2] == ColumnEncoding::Coded
            && sample.entries().all(|e| parse_three_counts(e.fields().counts).is_some());
        if joint_counts {
            columns[0] = ColumnEncoding::CodedWithCounts;
            columns[2] = ColumnEncoding::CodedWithCounts;
        }
        Ok(Plan {
            table: options.table,
            reordering_table: options.reordering_table,
            columns,
            num_reordering,
            counts_in_codebooks: joint_counts,
            prune: options.prune,
            zero_policy: options.zero_policy,
        })
    }
}

fn check_num_scores(table: &str, entry: &TextEntry<'_>, wanted: Option<usize>) -> Result<usize> {
    let found = fields::split_words(entry.fields().scores).count();
    let reason = match wanted {
        Some(wanted) if wanted != found => {
            format!("expected {wanted} scores, found {found}")
        }
        _ if found == 0 || found > MAX_SCORES => format!("{found} scores, not 1 to {MAX_SCORES}"),
        _ => return Ok(found),
    };
    Err(Error::format(table, entry.line_number, Some(3), reason))
}

fn choose_encodings(sample: &EntryBlock, num_scores: usize) -> Vec<ColumnEncoding> {
    let mut seen: Vec<HashSet<&[u8]>> = vec![HashSet::new(); num_scores];
    let mut entries = 0;
    for entry in sample.entries() {
        entries += 1;
        let scores = fields::split_words(entry.scores_field());
        for (distinct, score) in seen.iter_mut().zip(scores) {
            // Once the column is known to be raw, no more values are collected.
            if distinct.len() * MIN_REPETITIONS <= SAMPLE_ENTRIES {
                distinct.insert(score);
            }
        }
    }
    seen.iter()
        .map(|d| {
            if d.len() * MIN_REPETITIONS <= entries {
                ColumnEncoding::Coded
            } else {
                ColumnEncoding::Raw
            }
        })
        .collect()
}

/// Returns the three counts of a counts field; `None` unless it has exactly three words, with
/// single spaces between them.
#[inline]
pub(crate) fn parse_three_counts(text: &[u8]) -> Option<[&[u8]; 3]> {
    let mut parts = text.split(|&b| b == b' ' || b == b'\t');
    let three = [parts.next()?, parts.next()?, parts.next()?];
    let is_exact = parts.next().is_none()
        && three.iter().all(|part| !part.is_empty())
        && text[three[0].len()] == b' '
        && text[three[0].len() + 1 + three[1].len()] == b' ';
    is_exact.then_some(three)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_nonnegative_numbers_are_probabilities() {
        for (text, value) in [(&b"0.5"[..], 0.5), (b"1e-9", 1e-9), (b"0", 0.0), (b"2.75", 2.75)] {
            assert_eq!(parse_probability(text), Ok(value));
        }
        for bad in [&b"-0.5"[..], b"nan", b"inf", b"1e39", b"", b"x", b"0.5x", b"0,5"] {
            assert!(parse_probability(bad).is_err(), "{}", bad.escape_ascii());
        }
        assert!(parse_probability(b"-1").unwrap_err().contains("negative"));
    }

    #[test]
    fn the_score_of_one_is_tiny_in_binary_tables_only() {
        assert_eq!(ZeroScorePolicy::Replace.score(1.0), 1e-10);
        assert_eq!(ZeroScorePolicy::Keep.score(1.0), 0.0);
        assert_eq!(ZeroScorePolicy::Replace.score(0.0), -100.0);
    }

    #[test]
    fn three_counts_are_told_from_anything_else() {
        assert_eq!(parse_three_counts(b"4 3 1"), Some([&b"4"[..], b"3", b"1"]));
        for odd in [&b""[..], b"4", b"4 3", b"4 3 1 2", b"4  3 1", b"4\t3 1", b"4 3\t1"] {
            assert_eq!(parse_three_counts(odd), None, "{}", odd.escape_ascii());
        }
    }
}
