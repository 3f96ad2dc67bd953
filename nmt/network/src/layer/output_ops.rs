//! The output layer: logits of tokens, the best of them, and their log-normalisers.
//!
//! All logits of a step are `[rows, tokens]`, the largest matrix of decoding. A backend computes it
//! in parts and returns only the results that search needs.

use std::ops::Range;

pub use miriam_kernels::topk::{TokenLogit, TopK};

use super::Backend;
use crate::Result;

/// The tokens of the columns of an output layer.
#[derive(Clone, Copy, Debug)]
pub enum OutputColumns<'a> {
    /// The whole vocabulary: column i is token i.
    All,
    /// Some tokens, in ascending order: column i is the i-th of them.
    Tokens(&'a [u32]),
}

/// Consecutive rows of a step with the output layer that they share.
#[derive(Debug)]
pub struct OutputGroup<'a, W> {
    /// The rows.
    pub rows: Range<usize>,
    /// The weights of its columns.
    pub weights: &'a W,
    /// The tokens of its columns.
    pub columns: OutputColumns<'a>,
}

/// The operations of the output layer that search uses.
///
/// `hidden` is the output of a decoder for the rows of a step, `[rows, inputs]`; a logit is the
/// product of a row with a column of the weights plus its bias. The log-probability of a token is
/// its logit minus the log-normaliser of its row, the logarithm of the sum of the exponentials of
/// all logits of the row. All operations compute the same number for a logit.
pub trait OutputOps: Backend {
    /// Returns the columns of an output layer that belong to `tokens`, in that order.
    ///
    /// # Panics
    /// If a token is out of range.
    fn select_output(&mut self, weights: &Self::Weights, tokens: &[u32]) -> Result<Self::Weights>;

    /// Updates `best`, which has one entry per row, with the logits of `rows`. An entry keeps the k
    /// best logits and the log-normaliser.
    fn topk(
        &mut self,
        hidden: &Self::Tensor,
        rows: Range<usize>,
        weights: &Self::Weights,
        columns: OutputColumns<'_>,
        best: &mut [TopK],
    ) -> Result<()>;

    /// Works as [`topk`](OutputOps::topk) for several groups, whose rows have one entry each in
    /// `best`, in the order of the groups. A backend on a GPU waits only once, for all groups.
    fn topk_by_group(
        &mut self,
        hidden: &Self::Tensor,
        groups: &[OutputGroup<'_, Self::Weights>],
        best: &mut [TopK],
    ) -> Result<()> {
        let mut rest = best;
        for OutputGroup { rows, weights, columns } in groups {
            let (best, others) = rest.split_at_mut(rows.len());
            self.topk(hidden, rows.clone(), weights, *columns, best)?;
            rest = others;
        }
        Ok(())
    }

    /// Writes the logit of each (row, column) pair to `logits`, which has an entry for each pair.
    /// Entries that are -infinity stay unchanged, because their tokens are not candidates. Pairs of
    /// one row follow each other.
    fn gather_logits(
        &mut self,
        hidden: &Self::Tensor,
        pairs: &[(u32, u32)],
        weights: &Self::Weights,
        logits: &mut [f32],
    ) -> Result<()>;

    /// Computes all logits of some rows, one row after the other, and the log-normaliser of each.
    fn row_logits(
        &mut self,
        hidden: &Self::Tensor,
        rows: Range<usize>,
        weights: &Self::Weights,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()>;

    /// Returns the log-probability of one token for each row.
    ///
    /// # Panics
    /// If there is not one token for each row.
    fn log_probabilities(
        &mut self,
        hidden: &Self::Tensor,
        weights: &Self::Weights,
        tokens: &[u32],
    ) -> Result<Vec<f32>> {
        let [rows, _] = self.shape(hidden);
        assert_eq!(tokens.len(), rows, "a token for each row");
        let mut best = vec![TopK::new(0, true); rows];
        self.topk(hidden, 0..rows, weights, OutputColumns::All, &mut best)?;
        let pairs: Vec<(u32, u32)> = (0..).zip(tokens.iter().copied()).collect();
        let mut scores = vec![0.0; rows];
        self.gather_logits(hidden, &pairs, weights, &mut scores)?;
        scores.iter_mut().zip(&best).for_each(|(score, best)| *score -= best.log_normalizer());
        Ok(scores)
    }
}
