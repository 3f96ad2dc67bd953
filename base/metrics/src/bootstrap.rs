//! How sure a score is: the same metric on texts of as many segments, drawn from the
//! text with replacement (Koehn 2004).

use rayon::prelude::*;

use crate::numpy_random::NumpyRng;
use crate::{Metric, Score, SegmentStatistics};

/// How often a text is drawn anew, and from which random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resampling {
    /// Texts drawn.
    pub count: usize,
    /// Where random numbers start; equal seeds draw equal texts.
    pub seed: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Resampling { count: 1000, seed: 12345 }
    }
}

/// Where the score of another text like this one is likely to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceInterval {
    /// The mean of the scores of drawn texts.
    pub mean: f64,
    /// Half of what 95 % of them span.
    pub half_width: f64,
}

/// Adds the confidence of `score`, which came from `rows`, to it.
pub fn estimate_confidence(
    metric: &dyn Metric,
    rows: &SegmentStatistics,
    resampling: Resampling,
    score: &mut Score,
) {
    let scores = resample_scores(metric, rows, resampling);
    score.confidence = Some(confidence_interval(metric, scores));
    score.signature.insert_resampling("bs", resampling.count, resampling.seed);
}

/// Mean and spread of `scores`.
pub(crate) fn confidence_interval(metric: &dyn Metric, mut scores: Vec<f64>) -> ConfidenceInterval {
    scores.sort_unstable_by(f64::total_cmp);
    let outside = scores.len() / 40;
    let span = match (scores.get(outside), scores.iter().nth_back(outside)) {
        (Some(low), Some(high)) => high - low,
        _ => 0.0,
    };
    let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    let half_width = 0.5 * span;
    match metric.has_f32_scores() {
        true => ConfidenceInterval {
            mean: (mean as f32).into(),
            half_width: (half_width as f32).into(),
        },
        false => ConfidenceInterval { mean, half_width },
    }
}

/// The scores of drawn texts. NumPy adds their statistics in f32.
pub(crate) fn resample_scores(
    metric: &dyn Metric,
    rows: &SegmentStatistics,
    resampling: Resampling,
) -> Vec<f64> {
    let width = rows.width();
    let numbers: Vec<f32> = rows.iter().flatten().map(|&number| number as f32).collect();
    let mut random = NumpyRng::new(resampling.seed);
    let bound = rows.len() as u32;
    let places: Vec<u32> =
        (0..resampling.count * rows.len()).map(|_| random.next_below(bound)).collect();
    let score = |places: &[u32]| {
        let mut sums = vec![0f32; width];
        for &place in places {
            let row = &numbers[place as usize * width..][..width];
            sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
        }
        metric.score_f32(&sums)
    };
    places.par_chunks_exact(rows.len().max(1)).map(score).collect()
}
