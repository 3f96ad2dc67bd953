//! What metrics have in common: statistics of segments, and scores of their sums.

use rayon::prelude::*;

use crate::{Error, Result, Score, Signature};

/// A metric with its options.
pub trait Metric: Sync {
    /// How the score is called: `BLEU`, `chrF2++`, `TER`.
    fn name(&self) -> String;

    /// The options, as the signature lists them between its general items and the
    /// release.
    fn extend_signature(&self, signature: &mut Signature);

    /// How many numbers the statistics of a segment are.
    fn num_statistics(&self) -> usize;

    /// The statistics of a translation by its references, of which there is at least
    /// one; they are exact in f64 and add up.
    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64>;

    /// The score of sums of statistics, and what is said about it beside the number.
    fn score(&self, sums: &[f64]) -> (f64, String);

    /// The score of sums of statistics in f32, as NumPy works it out.
    fn score_f32(&self, sums: &[f32]) -> f64;

    /// Whether those scores are f32 to NumPy, so that their mean is one too.
    fn has_f32_scores(&self) -> bool {
        true
    }
}

/// The statistics of a text, a row a segment.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentStatistics {
    width: usize,
    values: Vec<f64>,
}

impl SegmentStatistics {
    /// How many segments there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.width
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.width)
    }

    /// How many numbers a row has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The sums of all rows.
    pub fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.width];
        for row in self.iter() {
            sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
        }
        sums
    }
}

/// The statistics of all lines of a text. `references` are whole texts, as many lines
/// each. Lines are worked on in parallel, in the pool that the caller is in.
pub fn corpus_statistics(
    metric: &dyn Metric,
    hypotheses: &[String],
    references: &[Vec<String>],
) -> Result<SegmentStatistics> {
    if references.is_empty() {
        return Err(Error::NoInput("there is no reference to compare with"));
    }
    if hypotheses.is_empty() {
        return Err(Error::NoInput("there is no translation to score"));
    }
    for (number, reference) in references.iter().enumerate() {
        if reference.len() != hypotheses.len() {
            return Err(Error::LineCountMismatch {
                hypotheses: hypotheses.len(),
                reference: number + 1,
                lines: reference.len(),
            });
        }
    }
    let rows: Vec<Vec<f64>> = hypotheses
        .par_iter()
        .enumerate()
        .map(|(line, hypothesis)| {
            let references: Vec<&str> = references.iter().map(|text| &text[line][..]).collect();
            metric.statistics(hypothesis, &references)
        })
        .collect();
    Ok(SegmentStatistics { width: metric.num_statistics(), values: rows.concat() })
}

/// The score of a text whose statistics are `rows`, by `references` references.
pub fn corpus_score(metric: &dyn Metric, rows: &SegmentStatistics, references: usize) -> Score {
    let (value, verbose) = metric.score(&rows.sums());
    let mut signature = Signature::new(references);
    metric.extend_signature(&mut signature);
    Score { name: metric.name(), value, verbose, confidence: None, signature }
}

/// The score of one line.
pub fn sentence_score(metric: &dyn Metric, hypothesis: &str, references: &[&str]) -> Score {
    let numbers = metric.statistics(hypothesis, references);
    corpus_score(
        metric,
        &SegmentStatistics { width: numbers.len(), values: numbers },
        references.len(),
    )
}
