//! Cross-entropy with label smoothing (`training.md` A.1).

use crate::Real;

/// What the loss of a row of logits depends on.
#[derive(Clone, Copy, Debug)]
pub struct LossRow<R> {
    /// The token that should be there.
    pub label: usize,
    /// Multiplies loss and gradient.
    pub weight: R,
    /// The probability mass that is spread over all tokens, the label among them.
    pub smoothing: R,
    /// Whether the gradient is needed.
    pub has_gradient: bool,
}

/// The loss of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowLoss {
    /// The weighted loss, in nats.
    pub loss: f64,
    /// The log-probability of the label, in nats, neither weighted nor smoothed.
    pub log_probability: f64,
}

pub(super) fn cross_entropy<R: Real>(row: LossRow<R>, logits: &mut [R]) -> RowLoss {
    let LossRow { label, weight, smoothing, has_gradient } = row;
    let count = R::of(logits.len() as f64);
    let max = logits.iter().copied().fold(R::neg_infinity(), R::max);
    let sum: R = logits.iter().map(|&x| (x - max).exp()).sum();
    let normalizer = max + sum.ln();
    let mean = logits.iter().copied().sum::<R>() / count;
    let log_probability = logits[label] - normalizer;
    let one = R::ONE;
    let loss = (one - smoothing) * -log_probability + smoothing * (normalizer - mean);
    if has_gradient {
        for x in logits.iter_mut() {
            *x = weight * ((*x - normalizer).exp() - smoothing / count);
        }
        logits[label] -= weight * (one - smoothing);
    }
    RowLoss { loss: (weight * loss).to_f64(), log_probability: log_probability.to_f64() }
}
