//! The output layer and the loss in one operation.
//!
//! The logits of a whole micro-batch would be its largest matrix. The loss is a sum over rows, so
//! the gradient of a row's logits needs no other rows. Therefore rows are processed block by block:
//! logits, losses, gradients of the logits, and the products of these gradients with the weights
//! and the states. The logits of a block are not kept.

use miriam_kernels::activation::Activation;
use miriam_kernels::{MatMut, MatRef};

use super::Tape;
use super::node::{Op, Tensor, Values};
use super::weights::AffineId;
use crate::Real;
use crate::kernels::{Kernels, LossRows};

/// The number of logits to compute at once (4 MiB in f32). Blocks of 16 rows may have more.
const BLOCK_LOGITS: usize = 1 << 20;

/// The settings of the loss besides states and labels.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossOptions<'a> {
    /// The probability mass that is spread over all tokens, including the label.
    pub label_smoothing: f32,
    /// One weight per row; all 1 if absent.
    pub row_weights: Option<&'a [f32]>,
}

/// The sums of losses over rows, in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// The weighted and smoothed loss, whose gradient is computed.
    pub sum: f64,
    /// The cross-entropy, neither weighted nor smoothed.
    pub cross_entropy: f64,
}

/// Returns the number of rows, at most `rows`, whose logits over `tokens` tokens are computed at a
/// time.
pub(crate) fn logits_block_rows(rows: usize, tokens: usize) -> usize {
    (BLOCK_LOGITS / tokens.max(1)).clamp(16, rows.max(16)).min(rows.max(1))
}

impl<K: Kernels> Tape<K> {
    /// Returns the loss of the logits `hidden * weights + bias` with one label per row: the sum
    /// over rows of `(1 - e) * (lse - x[label]) + e * (lse - mean(x))` with label smoothing e
    /// (`docs/spec/training.md` A.1). Each row's term is multiplied by its weight, if row weights
    /// are given. The gradient is the gradient of this sum.
    ///
    /// # Panics
    /// If the number of labels, or of row weights if given, differs from the number of rows.
    pub fn cross_entropy(
        &mut self,
        hidden: Tensor,
        weights: AffineId,
        labels: &[u32],
        options: LossOptions<'_>,
    ) -> Loss {
        assert_eq!(labels.len(), hidden.rows(), "one label per row");
        let hidden = self.clip_products(hidden);
        let LossOptions { label_smoothing, row_weights } = options;
        assert!(row_weights.is_none_or(|weights| weights.len() == labels.len()));
        let (rows, width) = (hidden.rows(), hidden.width());
        let tokens = self.registry.affine(weights).outputs;
        let block_rows = logits_block_rows(rows, tokens);
        let was_measuring = std::mem::replace(&mut self.is_measuring, true);
        self.record(Op::CrossEntropy { hidden, weights }, rows, 1, rows * width);
        self.is_measuring = was_measuring;
        let mut loss = Loss::default();
        if was_measuring {
            return loss;
        }
        self.grow_values();
        let packed_parameters = self.packed_parameters();
        let registry = std::sync::Arc::clone(&self.registry);
        let spec = registry.affine(weights);
        let node = self.nodes.last().expect("just recorded");
        let (before, rest) = self.values.split_at_mut(node.value);
        let (losses, rest) = rest.split_at_mut(rows);
        let hidden_gradient = &mut rest[..rows * width];
        let hidden = Values { nodes: &self.nodes, values: before }.of(hidden);
        let bias = spec.bias.map(|bias| packed_parameters.vector(bias));
        let kernels = &mut self.kernels;
        let logits = &mut self.scratch.logits;
        logits.resize_for_overwrite(block_rows * tokens, block_rows * tokens);
        let mut row_losses = Vec::with_capacity(block_rows);
        for first in (0..rows).step_by(block_rows) {
            let block = first..rows.min(first + block_rows);
            let logits = &mut logits[..block.len() * tokens];
            let states = hidden.row_range(block.clone());
            packed_parameters.with_weights(&registry, weights, |weights| {
                let out = MatMut::new(logits, block.len(), tokens);
                kernels.gemm(states, weights, bias, None, Activation::None, out);
            });
            let rows = LossRows {
                labels: &labels[block.clone()],
                weights: row_weights.map(|weights| &weights[block.clone()]),
                smoothing: label_smoothing,
            };
            row_losses.clear();
            kernels.cross_entropy(rows, MatMut::new(logits, block.len(), tokens), &mut row_losses);
            for (row, row_loss) in block.clone().zip(&row_losses) {
                losses[row] = K::Real::of(row_loss.loss);
                loss.sum += row_loss.loss;
                loss.cross_entropy -= row_loss.log_probability;
            }
            let gradient = MatRef::new(logits, block.len(), tokens);
            packed_parameters.with_weights(&registry, weights, |weights| {
                let into = &mut hidden_gradient[block.start * width..block.end * width];
                let into = MatMut::new(into, block.len(), width);
                kernels.gemm_gradient(gradient, weights, false, into);
            });
            let into = &mut self.parameter_gradient;
            super::gradient_sums::add_weight_gradient(kernels, spec, states, gradient, into);
            if let Some(bias) = spec.bias {
                let sums = &mut self.scratch.vector_gradients;
                super::gradient_sums::add_bias_gradient(
                    kernels, &registry, bias, gradient, sums, into,
                );
            }
        }
        loss
    }
}
