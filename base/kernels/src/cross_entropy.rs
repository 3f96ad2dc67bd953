//! Cross entropy over blocks of the vocabulary.
//!
//! The logits of a batch over the whole vocabulary would take more memory than everything else in
//! training. So they are computed in blocks of columns and never stored as a whole. A first pass
//! over the blocks collects the statistics of each row ([`LogitStatistics`]), which determine its
//! loss. A second pass computes the logits again and replaces each block by its gradient.
//!
//! Label smoothing spreads the probability e over all V columns, including the label's:
//! `loss = (1 - e) (lse - x_label) + e (lse - mean(x))`, where `lse` is the logarithm of the sum
//! of the exponentials.

pub mod plain;

use crate::activation::exp;
use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef};

/// The statistics of the logits of a row, from the blocks that were added so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogitStatistics {
    /// The largest logit.
    pub max: f32,
    /// The sum of `exp(logit - max)` over all logits.
    pub exp_sum: f64,
    /// The sum of the logits.
    pub sum: f64,
    /// The logit of the label; NaN until the label's block is added.
    pub label: f32,
}

impl Default for LogitStatistics {
    fn default() -> Self {
        Self { max: f32::NEG_INFINITY, exp_sum: 0.0, sum: 0.0, label: f32::NAN }
    }
}

impl LogitStatistics {
    /// Returns the logarithm of the sum of the exponentials of all logits.
    pub fn log_sum_exp(&self) -> f64 {
        f64::from(self.max) + self.exp_sum.ln()
    }

    /// Returns the cross entropy (natural logarithm) of the label with `smoothing` of the
    /// probability spread over all `columns`.
    pub fn cross_entropy(&self, columns: usize, smoothing: f32) -> f64 {
        // Logits are subtracted from the largest one first: the logarithm of the sum would be
        // rounded away beside a large logit.
        let (max, smoothing) = (f64::from(self.max), f64::from(smoothing));
        let label_loss = max - f64::from(self.label) + self.exp_sum.ln();
        if smoothing == 0.0 {
            return label_loss;
        }
        let mean_loss = max - self.sum / columns as f64 + self.exp_sum.ln();
        (1.0 - smoothing) * label_loss + smoothing * mean_loss
    }

    /// Adds the statistics of a block. NaN is kept, so that the loss becomes NaN.
    fn merge(&mut self, max: f32, exp_sum: f32, sum: f32) {
        if max > self.max || max.is_nan() {
            self.exp_sum *= f64::from(self.max - max).exp();
            self.max = max;
            self.exp_sum += f64::from(exp_sum);
        } else if max > f32::NEG_INFINITY {
            self.exp_sum += f64::from(exp_sum) * f64::from(max - self.max).exp();
        }
        self.sum += f64::from(sum);
    }
}

/// Adds a block of logits, `[rows, columns of the block]`, to the statistics of its rows. The
/// block's first column is column `first` of the vocabulary; `labels`, `[rows]`, are columns of
/// the vocabulary. Each block is added once.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn update_logit_statistics(
    cpu: Cpu,
    logits: MatRef<f32>,
    first: usize,
    labels: &[u32],
    statistics: &mut [LogitStatistics],
) {
    assert_eq!((labels.len(), statistics.len()), (logits.rows(), logits.rows()));
    for (index, statistics) in statistics.iter_mut().enumerate() {
        let row = logits.row(index);
        if row.is_empty() {
            continue;
        }
        let [max, exp_sum, sum] = dispatch!(cpu, block_statistics(row));
        statistics.merge(max, exp_sum, sum);
        if let Some(&label) = label_column(labels[index], first).and_then(|label| row.get(label)) {
            statistics.label = label;
        }
    }
}

/// Returns the label's column, counted from the first column of a block; it may lie behind the
/// block. `None` if the label is in an earlier block.
fn label_column(label: u32, first: usize) -> Option<usize> {
    (label as usize).checked_sub(first)
}

/// Returns three numbers of a row of a block: its largest logit, the sum of exponentials relative
/// to that logit, and the sum of the logits.
#[inline(always)]
fn block_statistics<I: Isa>(isa: I, row: &[f32]) -> [f32; 3] {
    let mut largest = isa.splat(f32::NEG_INFINITY);
    let mut sums = isa.splat(0.0);
    for part in lane_chunks(row.len()) {
        let part = &row[part];
        // `max` ignores NaN in its first argument; the sum of exponentials becomes NaN instead.
        largest = isa.max(isa.load_partial(part, f32::NEG_INFINITY), largest);
        sums = isa.add(sums, isa.load_partial(part, 0.0));
    }
    let max = isa.reduce_max(largest);
    if max == f32::NEG_INFINITY {
        // There are no exponentials, so only the sum of the logits shows NaN.
        let sum = isa.reduce_sum(sums);
        return [if sum.is_nan() { f32::NAN } else { max }, 0.0, sum];
    }
    let shift = isa.splat(max);
    let mut exponentials = isa.splat(0.0);
    for part in lane_chunks(row.len()) {
        let x = isa.load_partial(&row[part], f32::NEG_INFINITY);
        exponentials = isa.add(exponentials, exp(isa, isa.sub(x, shift)));
    }
    [max, isa.reduce_sum(exponentials), isa.reduce_sum(sums)]
}

/// The block of the vocabulary for which [`cross_entropy_gradient`] computes the gradient, and the
/// smoothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VocabularyBlock {
    /// The block's first column.
    pub first: usize,
    /// The number of columns of the whole vocabulary.
    pub columns: usize,
    /// The probability that is spread over all columns; 0 without label smoothing.
    pub smoothing: f32,
}

/// Replaces a block of logits, `[rows, columns of the block]`, by the gradient of the weighted
/// cross entropy: `weight * (softmax(x) - (1 - e) [column is the label] - e / V)`. `labels`,
/// `weights` and `statistics`, which must include all blocks, are `[rows]`.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn cross_entropy_gradient(
    cpu: Cpu,
    block: VocabularyBlock,
    labels: &[u32],
    weights: &[f32],
    statistics: &[LogitStatistics],
    mut logits: MatMut<f32>,
) {
    let rows = logits.rows();
    assert_eq!((labels.len(), weights.len(), statistics.len()), (rows, rows, rows));
    let spread = block.smoothing / block.columns as f32;
    for index in 0..rows {
        let (row, weight, statistics) = (logits.row_mut(index), weights[index], &statistics[index]);
        let factor = (f64::from(weight) / statistics.exp_sum) as f32;
        let shift = weight * spread;
        dispatch!(cpu, gradient_row(statistics.max, factor, shift, row));
        if let Some(label_gradient) =
            label_column(labels[index], block.first).and_then(|label| row.get_mut(label))
        {
            *label_gradient -= weight * (1.0 - block.smoothing);
        }
    }
}

/// Replaces each x of a row by `factor * exp(x - max) - shift`.
#[inline(always)]
fn gradient_row<I: Isa>(isa: I, max: f32, factor: f32, shift: f32, row: &mut [f32]) {
    let (max, factor) = (isa.splat(max), isa.splat(factor));
    let shift = isa.splat(-shift);
    for part in lane_chunks(row.len()) {
        let part = &mut row[part];
        let power = exp(isa, isa.sub(isa.load_partial(part, 0.0), max));
        isa.store_partial(isa.mul_add(power, factor, shift), part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestRng, assert_close};

    #[test]
    fn blocks_give_the_cross_entropy_and_its_gradient() {
        let mut numbers = TestRng::new(45);
        for (rows, columns, block) in
            [(0, 7, 3), (1, 1, 1), (3, 37, 16), (2, 100, 7), (4, 90, 200), (2, 64, 32)]
        {
            for smoothing in [0.0f32, 0.1] {
                let logits = numbers.floats(rows * columns, 20.0);
                let labels: Vec<u32> =
                    (0..rows).map(|_| numbers.integer(0, columns as i64 - 1) as u32).collect();
                let weights = numbers.floats(rows, 2.0);
                let e = f64::from(smoothing);
                let (mut losses, mut gradients) = (Vec::new(), Vec::new());
                for row in 0..rows {
                    let x: Vec<f64> =
                        (0..columns).map(|c| f64::from(logits[row * columns + c])).collect();
                    let label = labels[row] as usize;
                    let sum: f64 = x.iter().map(|x| x.exp()).sum();
                    let mean = x.iter().sum::<f64>() / columns as f64;
                    losses.push((1.0 - e) * (sum.ln() - x[label]) + e * (sum.ln() - mean));
                    gradients.extend((0..columns).map(|c| {
                        let target = (1.0 - e) * f64::from(u8::from(c == label));
                        let target = target + e / columns as f64;
                        f64::from(weights[row]) * (x[c].exp() / sum - target)
                    }));
                }
                for cpu in Cpu::all() {
                    let mut statistics = vec![LogitStatistics::default(); rows];
                    let whole = MatRef::new(&logits, rows, columns);
                    let ranges = (0..columns)
                        .step_by(block)
                        .map(|first| first..(first + block).min(columns));
                    for range in ranges.clone() {
                        let first = range.start;
                        let block = whole.column_range(range);
                        update_logit_statistics(cpu, block, first, &labels, &mut statistics);
                    }
                    let mut found = logits.clone();
                    for range in ranges {
                        let block = VocabularyBlock { first: range.start, columns, smoothing };
                        let into = MatMut::new(&mut found, rows, columns).column_range(range);
                        cross_entropy_gradient(cpu, block, &labels, &weights, &statistics, into);
                    }
                    assert_close(&found, &gradients, 1e-6, cpu.name());
                    for (statistics, expected) in statistics.iter().zip(&losses) {
                        let loss = statistics.cross_entropy(columns, smoothing);
                        assert!((loss - expected).abs() < 1e-5, "{loss} {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn unusual_logits_give_their_limits_or_nan() {
        let infinite = f32::NEG_INFINITY;
        for cpu in Cpu::all() {
            let run = |blocks: &[&[f32]]| {
                let mut statistics = [LogitStatistics::default()];
                let mut first = 0;
                for block in blocks {
                    let logits = MatRef::new(block, 1, block.len());
                    update_logit_statistics(cpu, logits, first, &[1], &mut statistics);
                    first += block.len();
                }
                statistics[0].cross_entropy(first, 0.0)
            };
            // Suppressed words have probability 0, even if a block consists of them only.
            assert!((run(&[&[infinite, 1.0], &[infinite; 3], &[1.0]]) - 2f64.ln()).abs() < 1e-6);
            assert!((run(&[&[1e30, 1e30, 0.0]]) - 2f64.ln()).abs() < 1e-6);
            for position in 0..4 {
                let mut logits = [1.0; 4];
                logits[position] = f32::NAN;
                assert!(run(&[&logits]).is_nan() && run(&[&logits[..2], &logits[2..]]).is_nan());
            }
            assert!(run(&[&[f32::NAN, infinite, 0.0]]).is_nan());
        }
    }
}
