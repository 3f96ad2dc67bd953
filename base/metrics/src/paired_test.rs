//! Significance tests for the difference of two systems: paired bootstrap resampling (Koehn
//! 2004) and approximate randomisation (Riezler and Maxwell 2005).

use rayon::prelude::*;

use crate::bootstrap::{confidence_interval, mean_of_paired_test, resample_scores};
use crate::numpy_mean;
use crate::numpy_random::NumpyRng;
use crate::{ConfidenceInterval, Metric, PairedTest, Resampling, SegmentStatistics};

/// A system compared with the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemComparison {
    /// Its score.
    pub score: f64,
    /// The p-value of the difference to the baseline; `None` for the baseline itself.
    pub p_value: Option<f64>,
    /// The confidence interval of the score; `None` for approximate randomisation.
    pub confidence: Option<ConfidenceInterval>,
}

/// Compares the other `systems` with the first one, the baseline. All have the same number of rows.
pub fn compare_systems(
    metric: &dyn Metric,
    systems: &[SegmentStatistics],
    test: PairedTest,
) -> Vec<SystemComparison> {
    let scores: Vec<f64> = systems.iter().map(|rows| metric.score(&rows.sums()).0).collect();
    let Some((baseline, first)) = systems.first().zip(scores.first()) else { return Vec::new() };
    match test {
        PairedTest::Bootstrap(resampling) => {
            let drawn = |rows: &SegmentStatistics| resample_scores(metric, rows, resampling);
            let baselines = drawn(baseline);
            systems
                .iter()
                .zip(&scores)
                .enumerate()
                .map(|(number, (rows, score)): (usize, (&SegmentStatistics, &f64))| {
                    let resampled = drawn(rows);
                    let p_value = (number > 0).then(|| {
                        let pairs = resampled.iter().zip(&baselines);
                        let mut differences: Vec<f64> = pairs.map(|(a, b)| (a - b).abs()).collect();
                        let mean = numpy_mean::mean(&differences);
                        differences.iter_mut().for_each(|difference| *difference -= mean);
                        p_value(&differences, (first - score).abs())
                    });
                    SystemComparison {
                        score: *score,
                        p_value,
                        confidence: Some(confidence_interval(
                            metric,
                            resampled,
                            mean_of_paired_test,
                        )),
                    }
                })
                .collect()
        }
        PairedTest::ApproximateRandomization(resampling) => systems
            .iter()
            .zip(&scores)
            .enumerate()
            .map(|(number, (rows, score)): (usize, (&SegmentStatistics, &f64))| {
                let p_value = (number > 0).then(|| {
                    let differences = randomized_differences(metric, baseline, rows, resampling);
                    p_value(&differences, (first - score).abs())
                });
                SystemComparison { score: *score, p_value, confidence: None }
            })
            .collect(),
    }
}

/// Returns the share of chance differences that exceed `difference`, with one added to both counts
/// so that p is never 0.
fn p_value(chance: &[f64], difference: f64) -> f64 {
    let more = chance.iter().filter(|&&by_chance| by_chance > difference).count();
    (more + 1) as f64 / (chance.len() + 1) as f64
}

/// Returns, for each trial, the absolute difference of the scores of two systems after random swaps
/// of segments.
fn randomized_differences(
    metric: &dyn Metric,
    a: &SegmentStatistics,
    b: &SegmentStatistics,
    resampling: Resampling,
) -> Vec<f64> {
    let mut random = NumpyRng::new(resampling.seed);
    let coins: Vec<bool> = (0..resampling.count * a.len()).map(|_| random.next_bool()).collect();
    coins
        .par_chunks_exact(a.len().max(1))
        .map(|coins| {
            let mut sums = [vec![0.0; a.width()], vec![0.0; a.width()]];
            for ((&coin, one), other) in coins.iter().zip(a.iter()).zip(b.iter()) {
                let [first, second] = if coin { [one, other] } else { [other, one] };
                for (sums, row) in sums.iter_mut().zip([first, second]) {
                    sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
                }
            }
            let [one, other] = sums.map(|sums| metric.score(&sums).0);
            (one - other).abs()
        })
        .collect()
}
