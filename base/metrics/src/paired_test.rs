//! Significance tests for the difference of two systems: paired bootstrap resampling (Koehn
//! 2004) and approximate randomisation (Riezler and Maxwell 2005).

use crate::bootstrap::{
    MAX_DRAWN, confidence_interval, mean_of_paired_test, resample_scores, score_drawn_texts,
};
use crate::numpy_mean;
use crate::numpy_random::NumpyRng;
use crate::{ConfidenceInterval, Metric, PairedTest, Resampling, SegmentStatistics};

/// The score of a system and its comparison with the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemComparison {
    /// The score of the system.
    pub score: f64,
    /// The p-value of the difference from the baseline; `None` for the baseline itself.
    pub p_value: Option<f64>,
    /// The confidence interval of the score; `None` for approximate randomisation.
    pub confidence: Option<ConfidenceInterval>,
}

/// Compares the other `systems` with the first one, the baseline. All must have the same number of
/// rows.
pub fn compare_systems(
    metric: &dyn Metric,
    systems: &[SegmentStatistics],
    test: PairedTest,
) -> Vec<SystemComparison> {
    let scores: Vec<f64> = systems.iter().map(|rows| metric.score(&rows.sums()).0).collect();
    let Some((baseline, baseline_score)) = systems.first().zip(scores.first()) else {
        return Vec::new();
    };
    match test {
        PairedTest::Bootstrap(resampling) => {
            let baseline_resampled = resample_scores(metric, baseline, resampling);
            systems
                .iter()
                .zip(&scores)
                .enumerate()
                .map(|(number, (rows, score)): (usize, (&SegmentStatistics, &f64))| {
                    let is_baseline = number == 0;
                    let resampled = if is_baseline {
                        baseline_resampled.clone()
                    } else {
                        resample_scores(metric, rows, resampling)
                    };
                    let p_value = (!is_baseline).then(|| {
                        let pairs = resampled.iter().zip(&baseline_resampled);
                        let mut differences: Vec<f64> = pairs.map(|(a, b)| (a - b).abs()).collect();
                        let mean = numpy_mean::mean(&differences);
                        differences.iter_mut().for_each(|difference| *difference -= mean);
                        p_value(&differences, (baseline_score - score).abs())
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
                    p_value(&differences, (baseline_score - score).abs())
                });
                SystemComparison { score: *score, p_value, confidence: None }
            })
            .collect(),
    }
}

/// Returns the p-value of `difference`: the share of `chance_differences` that exceed it, with one
/// added to both counts so that it is never 0.
fn p_value(chance_differences: &[f64], difference: f64) -> f64 {
    let num_larger = chance_differences.iter().filter(|&&chance| chance > difference).count();
    (num_larger + 1) as f64 / (chance_differences.len() + 1) as f64
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
    score_drawn_texts(
        resampling.count,
        a.len(),
        MAX_DRAWN,
        || random.next_bool(),
        |coins| {
            let mut sums = [vec![0.0; a.width()], vec![0.0; a.width()]];
            for ((&coin, row_a), row_b) in coins.iter().zip(a.iter()).zip(b.iter()) {
                let rows = if coin { [row_a, row_b] } else { [row_b, row_a] };
                for (sums, row) in sums.iter_mut().zip(rows) {
                    sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
                }
            }
            let [one, other] = sums.map(|sums| metric.score(&sums).0);
            (one - other).abs()
        },
    )
}
