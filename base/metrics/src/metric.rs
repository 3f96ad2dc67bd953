//! Interface of metrics: statistics of segments, and scores of their sums.

use rayon::prelude::*;

use crate::{Error, Result, Score, Signature};

/// A metric with its options.
pub trait Metric: Sync {
    /// Returns the name of the score: `BLEU`, `chrF2++`, `TER`.
    fn name(&self) -> String;

    /// Adds the metric's options to a signature, between its general items and the release.
    fn extend_signature(&self, signature: &mut Signature);

    /// Returns the number of statistics of a segment.
    fn num_statistics(&self) -> usize;

    /// Returns the statistics of `hypothesis` against `references`, at least one:
    /// [`num_statistics`](Metric::num_statistics) numbers, whose sums are statistics too. They are
    /// integers, except for the mean length of the references in TER.
    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64>;

    /// Returns the score of summed statistics, and sacreBLEU's verbose text.
    fn score(&self, sums: &[f64]) -> (f64, String);

    /// Returns the score of summed statistics in f32, computed like in NumPy.
    fn score_f32(&self, sums: &[f32]) -> f64;

    /// Whether scores of f32 sums are f32 in NumPy, so that their mean is too.
    fn has_f32_scores(&self) -> bool {
        true
    }
}

/// The statistics of a text: a matrix `[segments, width]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentStatistics {
    width: usize,
    values: Vec<f64>,
}

impl SegmentStatistics {
    /// Returns the number of segments.
    pub fn len(&self) -> usize {
        self.values.len() / self.width
    }

    /// Whether there are no segments.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the rows of the segments, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.width)
    }

    /// Returns the number of statistics of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the sums of all rows.
    pub fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.width];
        for row in self.iter() {
            sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
        }
        sums
    }
}

/// Returns the statistics of all lines of a text. Each of `references` is a text with the same
/// number of lines. Lines are processed in parallel, in the caller's rayon pool.
///
/// # Errors
/// [`Error::NoInput`] without a reference or a line, [`Error::LineCountMismatch`]
/// if a reference has another number of lines.
pub fn corpus_statistics(
    metric: &dyn Metric,
    hypotheses: &[String],
    references: &[impl AsRef<[String]> + Sync],
) -> Result<SegmentStatistics> {
    if references.is_empty() {
        return Err(Error::NoInput("there is no reference to compare with"));
    }
    if hypotheses.is_empty() {
        return Err(Error::NoInput("there is no translation to score"));
    }
    for (number, reference) in references.iter().enumerate() {
        let lines = reference.as_ref().len();
        if lines != hypotheses.len() {
            return Err(Error::LineCountMismatch {
                hypotheses: hypotheses.len(),
                reference: number + 1,
                lines,
            });
        }
    }
    Ok(segment_statistics(metric, hypotheses, |line| {
        references.iter().map(|text| &text.as_ref()[line][..]).collect()
    }))
}

/// Works like [`corpus_statistics`] for lines that need not have equally many references:
/// `references(i)` returns the references of line `i`, at least one.
pub fn segment_statistics<'a>(
    metric: &dyn Metric,
    hypotheses: &[String],
    references: impl Fn(usize) -> Vec<&'a str> + Sync,
) -> SegmentStatistics {
    let lines = hypotheses.par_iter().enumerate();
    let rows: Vec<Vec<f64>> =
        lines.map(|(line, hypothesis)| metric.statistics(hypothesis, &references(line))).collect();
    SegmentStatistics { width: metric.num_statistics(), values: rows.concat() }
}

/// Returns the score of a text with the statistics `rows`; `references` is the number of
/// references, for the signature.
pub fn corpus_score(metric: &dyn Metric, rows: &SegmentStatistics, references: usize) -> Score {
    score_of_sums(metric, &rows.sums(), Some(references))
}

/// Works like [`corpus_score`], for sums of statistics, such as the sums of a text that was
/// processed in parts. `references` is `None` if lines have different numbers of references.
pub fn score_of_sums(metric: &dyn Metric, sums: &[f64], references: Option<usize>) -> Score {
    let (value, verbose) = metric.score(sums);
    let mut signature = Signature::new(references);
    metric.extend_signature(&mut signature);
    Score { name: metric.name(), value, verbose, confidence: None, signature }
}

/// Returns the score of one line.
pub fn sentence_score(metric: &dyn Metric, hypothesis: &str, references: &[&str]) -> Score {
    let numbers = metric.statistics(hypothesis, references);
    corpus_score(
        metric,
        &SegmentStatistics { width: numbers.len(), values: numbers },
        references.len(),
    )
}
