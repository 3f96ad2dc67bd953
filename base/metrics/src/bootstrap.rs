//! Bootstrap confidence intervals of a score: the same metric on texts of equal size, whose
//! segments are drawn with replacement (Koehn 2004).

use rayon::prelude::*;

use crate::numpy_mean;
use crate::numpy_random::NumpyRng;
use crate::{ConfidenceInterval, Metric, Resampling, Score, SegmentStatistics};

/// Computes the confidence interval of `score`, the score of `rows`, and adds it to the score and
/// its signature.
pub fn estimate_confidence(
    metric: &dyn Metric,
    rows: &SegmentStatistics,
    resampling: Resampling,
    score: &mut Score,
) {
    let scores = resample_scores(metric, rows, resampling);
    score.confidence = Some(confidence_interval(metric, scores, plain_mean));
    score.signature.insert_resampling("bs", resampling.count, resampling.seed);
}

/// Returns the mean of `scores`, computed by `mean` after sorting, and half the width of the range
/// of 95 % of them.
pub(crate) fn confidence_interval(
    metric: &dyn Metric,
    mut scores: Vec<f64>,
    mean: fn(&dyn Metric, &[f64]) -> f64,
) -> ConfidenceInterval {
    scores.sort_unstable_by(f64::total_cmp);
    let outside = scores.len() / 40;
    let span = match (scores.get(outside), scores.iter().nth_back(outside)) {
        (Some(low), Some(high)) => high - low,
        _ => 0.0,
    };
    let (mean, half_width) = (mean(metric, &scores), 0.5 * span);
    if metric.has_f32_scores() {
        ConfidenceInterval { mean: (mean as f32).into(), half_width: (half_width as f32).into() }
    } else {
        ConfidenceInterval { mean, half_width }
    }
}

/// Returns a mean without imitating NumPy's rounding: sacreBLEU uses the mean of Python's
/// `statistics` for the interval of one system.
fn plain_mean(_: &dyn Metric, scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len().max(1) as f64
}

/// Returns NumPy's mean, which sacreBLEU uses in paired tests.
pub(crate) fn mean_of_paired_test(metric: &dyn Metric, scores: &[f64]) -> f64 {
    if metric.has_f32_scores() {
        let scores: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
        return numpy_mean::mean(&scores).into();
    }
    numpy_mean::mean(scores)
}

/// Returns the scores of resampled texts. Like in NumPy, statistics are added in f32.
pub(crate) fn resample_scores(
    metric: &dyn Metric,
    rows: &SegmentStatistics,
    resampling: Resampling,
) -> Vec<f64> {
    let width = rows.width();
    let numbers: Vec<f32> = rows.iter().flatten().map(|&number| number as f32).collect();
    let mut random = NumpyRng::new(resampling.seed);
    let bound = rows.len() as u32;
    let segments: Vec<u32> =
        (0..resampling.count * rows.len()).map(|_| random.next_below(bound)).collect();
    segments
        .par_chunks_exact(rows.len().max(1))
        .map(|segments| {
            let mut sums = vec![0f32; width];
            for &segment in segments {
                let row = &numbers[segment as usize * width..][..width];
                sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
            }
            metric.score_f32(&sums)
        })
        .collect()
}
