//! The output layer.

use std::ops::Range;

use miriam_kernels::plain::log_sum_exp;
use miriam_kernels::topk::{ColumnIds, update_topk};
use miriam_kernels::{Cpu, MatRef};

use super::operations::product;
use super::{Matrix, ReferenceBackend, Weights};
use crate::Result;
use crate::layer::{OutputColumns, OutputOps, TopK};

/// Returns the logits of some rows, `[rows, tokens]`.
fn logits(hidden: &Matrix, rows: Range<usize>, weights: &Weights) -> Matrix {
    product(hidden.view().row_range(rows), weights, None)
}

fn to_f32(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

impl ReferenceBackend {
    /// Returns the log-probabilities of all tokens for each row, `[rows, tokens]`, in f64; the
    /// operations of [`OutputOps`] round their results to f32.
    pub fn log_softmax(&self, hidden: &Matrix, weights: &Weights) -> Matrix {
        let logits = logits(hidden, 0..hidden.rows(), weights);
        let normalizers: Vec<f64> = logits.iter().map(log_sum_exp).collect();
        Matrix::from_fn(logits.rows(), logits.width(), |row: usize, column: usize| {
            logits.row(row)[column] - normalizers[row]
        })
    }
}

impl OutputOps for ReferenceBackend {
    fn select_output(&mut self, weights: &Weights, tokens: &[u32]) -> Result<Weights> {
        let Weights { matrix, bias, rounding } = weights;
        let matrix = Matrix::from_fn(matrix.rows(), tokens.len(), |row: usize, column: usize| {
            matrix.row(row)[tokens[column] as usize]
        });
        Ok(Weights {
            matrix,
            bias: bias
                .as_ref()
                .map(|bias| tokens.iter().map(|&token| bias[token as usize]).collect()),
            rounding: *rounding,
        })
    }

    fn topk(
        &mut self,
        hidden: &Matrix,
        rows: Range<usize>,
        weights: &Weights,
        columns: OutputColumns<'_>,
        best: &mut [TopK],
    ) -> Result<()> {
        let ids = match columns {
            OutputColumns::All => ColumnIds::Consecutive(0),
            OutputColumns::Tokens(tokens) => ColumnIds::Shortlist(tokens),
        };
        for (logits, best) in logits(hidden, rows, weights).iter().zip(best) {
            let logits = to_f32(logits);
            let row = MatRef::new(&logits, 1, logits.len());
            update_topk(Cpu::plain(), row, None, ids, std::slice::from_mut(best));
        }
        Ok(())
    }

    fn gather_logits(
        &mut self,
        hidden: &Matrix,
        pairs: &[(u32, u32)],
        weights: &Weights,
        out: &mut [f32],
    ) -> Result<()> {
        for (&(row, token), out) in pairs.iter().zip(out) {
            let row = row as usize;
            if *out > f32::NEG_INFINITY {
                *out = logits(hidden, row..row + 1, weights).row(0)[token as usize] as f32;
            }
        }
        Ok(())
    }

    fn row_logits(
        &mut self,
        hidden: &Matrix,
        rows: Range<usize>,
        weights: &Weights,
        out: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()> {
        out.clear();
        log_normalizers.clear();
        for logits in logits(hidden, rows, weights).iter() {
            out.extend(to_f32(logits));
            log_normalizers.push(log_sum_exp(logits) as f32);
        }
        Ok(())
    }
}
