//! Alignment error rate (Och and Ney 2003): links against a manual gold standard, in which some are
//! sure and others only possible.

use std::collections::HashSet;
use std::path::Path;

use miriam_textio::{LinkCertainty, ParallelLines, Progress};

use crate::links::{Link, for_each_link, parse_links};
use crate::{Error, Result};

/// The agreement of links with a gold standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AlignmentEvaluation {
    /// The number of links evaluated.
    pub links: u64,
    /// The number of sure links of the gold standard.
    pub sure_links: u64,
    /// The number of evaluated links that are sure in the gold standard.
    pub matched_sure: u64,
    /// The number of evaluated links that are sure or possible in the gold standard.
    pub matched_possible: u64,
}

impl AlignmentEvaluation {
    /// Returns the share of links that are sure or possible in the gold standard.
    pub fn precision(&self) -> f64 {
        ratio(self.matched_possible, self.links)
    }

    /// Returns the share of sure links that were found.
    pub fn recall(&self) -> f64 {
        ratio(self.matched_sure, self.sure_links)
    }

    /// Returns the alignment error rate, from 0 (best) to 1.
    pub fn error_rate(&self) -> f64 {
        1.0 - ratio(self.matched_sure + self.matched_possible, self.links + self.sure_links)
    }
}

/// Returns `part / total`; 1 if `total` is 0.
fn ratio(part: u64, total: u64) -> f64 {
    if total == 0 { 1.0 } else { part as f64 / total as f64 }
}

/// Compares the links of a file with a gold standard, line by line. In the gold standard, sure
/// links are written `i-j` and other possible links `i?j`.
///
/// # Errors
/// If a file cannot be read, the files differ in their numbers of lines, or a link is malformed;
/// [`Error::Cancelled`] if `progress` is cancelled.
pub fn evaluate_alignment(
    links: &Path,
    gold: &Path,
    progress: &dyn Progress,
) -> Result<AlignmentEvaluation> {
    let task = progress.task("comparing links", None);
    let mut files = ParallelLines::open(&[links, gold])?;
    let mut agreement = AlignmentEvaluation::default();
    let mut found: Vec<Link> = Vec::new();
    let (mut sure, mut possible) = (HashSet::new(), HashSet::new());
    loop {
        if task.is_cancelled() {
            return Err(Error::Cancelled);
        }
        sure.clear();
        possible.clear();
        let more = files.next(|index, name, line| match index {
            0 => parse_links(name, line, &mut found),
            _ => for_each_link(name, line, |link, certainty| {
                possible.insert(link);
                if certainty == LinkCertainty::Sure {
                    sure.insert(link);
                }
                Ok(())
            }),
        })?;
        if !more {
            return Ok(agreement);
        }
        found.sort_unstable();
        found.dedup();
        fn count_in(set: &HashSet<Link>, found: &[Link]) -> u64 {
            found.iter().filter(|link| set.contains(link)).count() as u64
        }
        task.advance(1);
        agreement.links += found.len() as u64;
        agreement.sure_links += sure.len() as u64;
        agreement.matched_sure += count_in(&sure, &found);
        agreement.matched_possible += count_in(&possible, &found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_textio::NoProgress;

    #[test]
    fn error_rate_equals_manual_calculation() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("writable");
            path
        };
        // Line 1: one of the 3 links is sure, another is possible; one of the 2 sure links is
        // found. Line 2 has no links on either side. Line 3: a link that is given twice counts
        // once.
        let links = path("links", "0-0 1-1 2-2\n\n4-5 4-5\n");
        let gold = path("gold", "0-0 1?1 3-3\n\n4-5\n");
        let agreement =
            evaluate_alignment(&links, &gold, &NoProgress).expect("both are well-formed");
        let expected =
            AlignmentEvaluation { links: 4, sure_links: 3, matched_sure: 2, matched_possible: 3 };
        assert_eq!(agreement, expected);
        assert_eq!(agreement.precision(), 0.75);
        assert_eq!(agreement.recall(), 2.0 / 3.0);
        assert!((agreement.error_rate() - 2.0 / 7.0).abs() < 1e-15);
        let short = path("short", "0-0\n");
        let error = evaluate_alignment(&links, &short, &NoProgress).unwrap_err().to_string();
        assert!(error.contains("has 3 lines") && error.contains("has 1: "), "{error}");
    }
}
