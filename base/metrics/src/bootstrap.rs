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
    score.confidence = Some(confidence_interval(metric, scores, exact_mean));
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

/// Returns the exact mean, rounded once, as Python's `statistics.mean` computes it, which sacreBLEU
/// uses for the interval of one system.
fn exact_mean(_: &dyn Metric, scores: &[f64]) -> f64 {
    let (mut sum, mut error) = (0.0, 0.0);
    for &score in scores {
        // `total` plus what is added to `error` is exactly `sum + score` (Knuth 1969).
        let total = sum + score;
        let added = total - sum;
        error += (sum - (total - added)) + (score - added);
        sum = total;
    }
    let count = scores.len().max(1) as f64;
    let mean = (sum + error) / count;
    let remainder = (-mean).mul_add(count, sum) + error;
    mean + remainder / count
}

/// Returns NumPy's mean, which sacreBLEU uses in paired tests.
pub(crate) fn mean_of_paired_test(metric: &dyn Metric, scores: &[f64]) -> f64 {
    if metric.has_f32_scores() {
        let scores: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
        return numpy_mean::mean(&scores).into();
    }
    numpy_mean::mean(scores)
}

/// The number of values that are drawn before the texts that they belong to are scored.
pub(crate) const MAX_DRAWN: usize = 1 << 24;

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
    let draw = || random.next_below(bound);
    score_drawn_texts(resampling.count, rows.len(), MAX_DRAWN, draw, |segments| {
        let mut sums = vec![0f32; width];
        for &segment in segments {
            let row = &numbers[segment as usize * width..][..width];
            sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
        }
        metric.score_f32(&sums)
    })
}

/// Returns the `score` of each of `count` random texts, in order; none if texts are empty. A text
/// consists of `len` values of `draw`. At most `max_drawn` values, or those of one text, are kept
/// at once.
pub(crate) fn score_drawn_texts<T: Sync>(
    count: usize,
    len: usize,
    max_drawn: usize,
    mut draw: impl FnMut() -> T,
    score: impl Fn(&[T]) -> f64 + Sync,
) -> Vec<f64> {
    if len == 0 {
        return Vec::new();
    }
    let max_texts = (max_drawn / len).max(1);
    let mut drawn: Vec<T> = Vec::new();
    let mut scores: Vec<f64> = Vec::new();
    while scores.len() < count {
        let num_texts = max_texts.min(count - scores.len());
        drawn.clear();
        drawn.extend((0..num_texts * len).map(|_| draw()));
        scores.par_extend(drawn.par_chunks_exact(len).map(&score));
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bleu;

    #[test]
    fn texts_are_drawn_in_order_whatever_is_kept_at_once() {
        for max_drawn in [0, 3, 7, 1000] {
            let mut next = 0u32;
            let draw = || {
                next += 1;
                next
            };
            let scores = score_drawn_texts(5, 3, max_drawn, draw, |text| {
                f64::from(text[0] * 10_000 + text[1] * 100 + text[2])
            });
            let expected = [10_203.0, 40_506.0, 70_809.0, 101_112.0, 131_415.0];
            assert_eq!(scores, expected, "{max_drawn}");
        }
        assert!(score_drawn_texts(5, 0, 1000, || 0, |_| 1.0).is_empty());
    }

    /// The expected means are those of Python's `statistics.mean`. Sums that are rounded at every
    /// step give other last digits, except for the last mean.
    #[test]
    fn means_are_those_of_python() {
        let mean = |scores: &[f64]| exact_mean(&Bleu::default(), scores);
        let equal = 15.619_699_498_399_974;
        assert_eq!(mean(&[equal; 137]), equal);
        for (count, expected) in
            [(1000, 0.745_526_377_872_957_1), (137, 1.172_347_027_551_217_6), (1, 100.0)]
        {
            let scores = (0..count).map(|i| 100.0 / (1.0 + f64::from(i * 7919 % 1009)));
            let mut scores: Vec<f64> = scores.collect();
            scores.sort_unstable_by(f64::total_cmp);
            assert_eq!(mean(&scores), expected, "{count}");
        }
        assert_eq!(mean(&[]), 0.0);
    }
}
