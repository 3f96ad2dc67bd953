//! Comparison of the translations of a device with those of the CPU.

use std::io::Write;

use miriam_nmt::engine::Precision;

use super::super::batching::variant::{BatchingRun, BatchingVariant, run_variant};
use super::NmtGpuStudy;
use super::models::Subject;
use super::places::Place;
use crate::error::{Error, Result};

/// Scores that differ by less count as equal: relative to the expected log-probability, or to 1 if
/// its magnitude is below 1. Different translations with equal scores are a tie.
const TIE: f64 = 1e-3;

/// The number of sentences that are compared.
const SENTENCES: usize = 32;
const SENTENCES_OF_QUICK_CHECK: usize = 3;

/// The batch size: smaller than the number of sentences, so that there are several batches.
const BATCH: usize = 8;
const BATCH_OF_QUICK_CHECK: usize = 2;

/// The differences between two runs over the same sentences.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The number of sentences with the same translation and equal scores.
    pub same: usize,
    /// The number of sentences with different translations of equal scores.
    pub ties: usize,
    /// The numbers, from 1, of the sentences whose scores differ.
    pub different: Vec<usize>,
    /// The largest relative difference of scores of the same translation.
    pub largest_difference: f64,
}

impl Comparison {
    /// Compares the run of another place with that of the CPU.
    pub fn new(expected: &BatchingRun, found: &BatchingRun) -> Self {
        let mut comparison = Comparison::default();
        for (line, words) in expected.translations.iter().enumerate() {
            let [a, b] = [expected, found].map(|run| f64::from(run.scores[line]));
            let difference = (a - b).abs() / a.abs().max(1.0);
            let is_same = *words == found.translations[line];
            if is_same {
                comparison.largest_difference = comparison.largest_difference.max(difference);
            }
            // A score that is NaN differs from all others.
            if difference.is_nan() || difference >= TIE {
                comparison.different.push(line + 1);
            } else if is_same {
                comparison.same += 1;
            } else {
                comparison.ties += 1;
            }
        }
        comparison
    }
}

/// A sentence whose scores differ in two places.
pub struct Difference {
    /// The model, the beam size and the places.
    what: String,
    /// The sentence.
    detail: String,
}

impl From<Difference> for Error {
    fn from(difference: Difference) -> Self {
        Error::Mismatch { what: difference.what, detail: difference.detail }
    }
}

/// Prints the header of the table of [`check_subject`].
pub fn write_heading(out: &mut dyn Write) -> Result<()> {
    Ok(writeln!(
        out,
        "{:<12} {:>4} {:<16} {:>5} {:>5} {:>4} {:>9} {:>10}",
        "model", "beam", "place", "lines", "same", "ties", "different", "difference"
    )?)
}

/// Compares the translations of all other places with those of the first, the CPU, and prints a row
/// for each place and beam size. Returns the first difference. Places with a lower precision than
/// f32 are compared and printed, but may differ.
///
/// # Errors
/// If a place cannot be used, or a row cannot be printed.
pub fn check_subject(
    study: &NmtGpuStudy,
    subject: &Subject,
    places: &[Place],
    out: &mut dyn Write,
) -> Result<Option<Difference>> {
    let Some((cpu, others)) = places.split_first() else { return Ok(None) };
    let (sentences, batch) = if study.quick {
        (SENTENCES_OF_QUICK_CHECK, BATCH_OF_QUICK_CHECK)
    } else {
        (SENTENCES, BATCH)
    };
    let text = subject.text.resized(sentences);
    let mut first = None;
    let mut expected = Vec::new();
    let [variant, ..] = BatchingVariant::ALL;
    let mut session = cpu.load(subject)?.session()?;
    for &beam in &study.beams {
        expected.push(run_variant(&mut *session, &text, batch, beam as usize, variant, None)?);
    }
    for place in others {
        let mut session = place.load(subject)?.session()?;
        for (&beam, expected) in study.beams.iter().zip(&expected) {
            let found = run_variant(&mut *session, &text, batch, beam as usize, variant, None)?;
            let comparison = Comparison::new(expected, &found);
            writeln!(
                out,
                "{:<12} {beam:>4} {:<16} {:>5} {:>5} {:>4} {:>9} {:>10.1e}",
                subject.name,
                place.to_string(),
                text.num_sentences(),
                comparison.same,
                comparison.ties,
                comparison.different.len(),
                comparison.largest_difference,
            )?;
            out.flush()?;
            let is_exact = place.precision() == Precision::F32;
            if let (Some(line), None, true) = (comparison.different.first(), &first, is_exact) {
                first = Some(Difference {
                    what: format!("{}, beam {beam}, {cpu} and {place}", subject.name),
                    detail: format!("sentence {line}"),
                });
            }
        }
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_tied_or_different() {
        let run = |translations: &[&[u32]], scores: &[f32]| BatchingRun {
            translations: translations.iter().map(|words| words.to_vec()).collect(),
            scores: scores.to_vec(),
            ..BatchingRun::default()
        };
        let words: [&[u32]; 4] = [&[5, 6], &[5], &[7], &[8]];
        let expected = run(&words, &[-10.0, -2.0, -3.0, -0.5]);
        let words: [&[u32]; 4] = [&[5, 6], &[6], &[8], &[8]];
        let found = run(&words, &[-10.001, -2.001, -3.1, f32::NAN]);
        let comparison = Comparison::new(&expected, &found);
        assert_eq!((comparison.same, comparison.ties), (1, 1));
        assert_eq!(comparison.different, [3, 4]);
        assert!((comparison.largest_difference - 1e-4).abs() < 1e-6, "{comparison:?}");
    }
}
