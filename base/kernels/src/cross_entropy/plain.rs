//! Cross-entropy with label smoothing by plain arithmetic.

use crate::plain::log_sum_exp;
use crate::{MatMut, Real};

/// The inputs of [`cross_entropy`] other than the logits.
#[derive(Clone, Copy, Debug)]
pub struct LossRows<'a> {
    /// The expected token of each row.
    pub labels: &'a [u32],
    /// The factor of the loss and the gradient of each row; `None` is 1 for all rows.
    pub weights: Option<&'a [f32]>,
    /// The probability mass that is spread over all tokens, the label among them.
    pub smoothing: f32,
}

/// The loss of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowLoss {
    /// The weighted loss, in nats.
    pub loss: f64,
    /// The log-probability of the label, in nats, neither weighted nor smoothed.
    pub log_probability: f64,
}

/// Appends the loss of each row of `logits`, `[rows, tokens]`, to `losses`, and replaces the logits
/// by their gradient.
pub fn cross_entropy<R: Real>(
    rows: LossRows<'_>,
    mut logits: MatMut<'_, R>,
    losses: &mut Vec<RowLoss>,
) {
    let LossRows { labels, weights, smoothing } = rows;
    for (row, &label) in labels.iter().enumerate() {
        let weight = weights.map_or(R::ONE, |weights| R::of(weights[row].into()));
        losses.push(row_loss(label as usize, weight, R::of(smoothing.into()), logits.row_mut(row)));
    }
}

/// Returns the loss of a row of logits, and replaces the logits by their gradient.
fn row_loss<R: Real>(label: usize, weight: R, smoothing: R, logits: &mut [R]) -> RowLoss {
    let count = R::of(logits.len() as f64);
    let normalizer = log_sum_exp(logits);
    let mean = logits.iter().copied().sum::<R>() / count;
    let log_probability = logits[label] - normalizer;
    let loss = (R::ONE - smoothing) * -log_probability + smoothing * (normalizer - mean);
    for x in logits.iter_mut() {
        *x = weight * ((*x - normalizer).exp() - smoothing / count);
    }
    logits[label] -= weight * (R::ONE - smoothing);
    RowLoss { loss: (weight * loss).as_f64(), log_probability: log_probability.as_f64() }
}
