//! The output layer: logits in blocks of columns, each searched while it is in the cache.

use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::gemm::Epilogue;
use miriam_kernels::pack::{WeightsF32, WeightsI8, WeightsI16};
use miriam_kernels::topk::{self, ColumnIds, TOPK_BLOCK};
use miriam_kernels::{MatMut, MatRef};

use super::weights::WeightMatrix;
use super::{Engine, PooledTensor, Weights};
use crate::Result;
use crate::layer::{OutputColumns, OutputOps, TopK};
use miriam_nmt_models::packed::PackedView;

/// The number of logits that are computed before they are searched. Their 256 KiB fit into a
/// second-level cache together with the rows and a few panels of weights. For the rows of a beam,
/// such a block still has many columns.
const LOGIT_BLOCK: usize = 64 << 10;

/// The number of rows that are multiplied with a block of columns before the next block.
const ROW_BLOCK: usize = 256;

impl Weights {
    /// Returns the columns `ids`, in that order. Their products are bit-identical to the products
    /// of the same columns in the whole matrix.
    ///
    /// # Panics
    /// If a column is out of range.
    pub fn select_columns(&self, ids: &[u32]) -> Weights {
        let missing = "the columns exist";
        let matrix = match self.matrix.view() {
            PackedView::F32(from) => {
                let mut selected = WeightsF32::default();
                selected.select(&from, ids).expect(missing);
                WeightMatrix::F32(selected)
            }
            PackedView::I16(from) => {
                let mut selected = WeightsI16::default();
                selected.select(&from, ids).expect(missing);
                WeightMatrix::I16(selected)
            }
            PackedView::I8(from) => {
                let mut selected = WeightsI8::default();
                selected.select(&from, ids).expect(missing);
                WeightMatrix::I8(selected)
            }
        };
        let bias = self.bias.as_ref();
        let bias = bias.map(|bias| ids.iter().map(|&id| bias[id as usize]).collect());
        Weights { matrix, bias, input_clip: self.input_clip }
    }
}

impl Engine {
    fn topk_block(
        &mut self,
        input: MatRef<f32>,
        weights: &Weights,
        columns: OutputColumns<'_>,
        best: &mut [TopK],
    ) {
        let width = (LOGIT_BLOCK / input.rows() / TOPK_BLOCK * TOPK_BLOCK).max(TOPK_BLOCK);
        let mut logits = std::mem::take(&mut self.logits);
        self.quantize_input(input, weights);
        for first in (0..weights.columns()).step_by(width) {
            let part = first..weights.columns().min(first + width);
            let length = input.rows() * part.len();
            logits.grow(length);
            let out = MatMut::new(&mut logits, input.rows(), part.len());
            let bias = weights.bias.as_ref().map(|bias| &bias[part.clone()]);
            let epilogue = Epilogue { bias, ..Epilogue::default() };
            self.gemm_columns(input, weights, part.clone(), epilogue, out);
            let ids = match columns {
                OutputColumns::All => ColumnIds::Consecutive(first as u32),
                OutputColumns::Tokens(tokens) => ColumnIds::Shortlist(&tokens[part.clone()]),
            };
            let logits = MatRef::new(&logits, input.rows(), part.len());
            topk::update_topk(self.cpu, logits, None, ids, best);
        }
        self.logits = logits;
    }

    /// Computes all logits of some rows, `[rows, tokens]`, bit-identical to the logits that
    /// [`topk`](OutputOps::topk) compares.
    pub(crate) fn compute_logits(
        &mut self,
        hidden: &PooledTensor,
        rows: Range<usize>,
        weights: &Weights,
        logits: &mut [f32],
    ) {
        let out = MatMut::new(logits, rows.len(), weights.columns());
        let epilogue = Epilogue { bias: weights.bias.as_deref(), ..Epilogue::default() };
        let input = hidden.view().row_range(rows);
        self.matmul(input, weights, epilogue, out);
    }
}

impl OutputOps for Engine {
    fn select_output(&mut self, weights: &Arc<Weights>, tokens: &[u32]) -> Result<Arc<Weights>> {
        Ok(Arc::new(weights.select_columns(tokens)))
    }

    fn topk(
        &mut self,
        hidden: &PooledTensor,
        rows: Range<usize>,
        weights: &Arc<Weights>,
        columns: OutputColumns<'_>,
        best: &mut [TopK],
    ) -> Result<()> {
        let input = hidden.view().row_range(rows);
        for first in (0..input.rows()).step_by(ROW_BLOCK) {
            let block = first..input.rows().min(first + ROW_BLOCK);
            let best = &mut best[block.clone()];
            self.topk_block(input.row_range(block), weights, columns, best);
        }
        Ok(())
    }

    fn gather_logits(
        &mut self,
        hidden: &PooledTensor,
        pairs: &[(u32, u32)],
        weights: &Arc<Weights>,
        logits: &mut [f32],
    ) -> Result<()> {
        let mut products = std::mem::take(&mut self.logits);
        let (mut tokens, mut first) = (Vec::new(), 0);
        // One GEMM for all pairs of a row.
        while let Some(&(row, _)) = pairs.get(first) {
            let count = pairs[first..].iter().take_while(|(other, _)| *other == row).count();
            tokens.clear();
            tokens.extend(pairs[first..first + count].iter().map(|&(_, token)| token));
            let columns = weights.select_columns(&tokens);
            let row = row as usize;
            products.grow(count);
            self.compute_logits(hidden, row..row + 1, &columns, &mut products);
            for (logit, product) in logits[first..first + count].iter_mut().zip(&products[..]) {
                if *logit > f32::NEG_INFINITY {
                    *logit = *product;
                }
            }
            first += count;
        }
        self.logits = products;
        Ok(())
    }

    fn row_logits(
        &mut self,
        hidden: &PooledTensor,
        rows: Range<usize>,
        weights: &Arc<Weights>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()> {
        logits.clear();
        logits.resize(rows.len() * weights.columns(), 0.0);
        self.compute_logits(hidden, rows.clone(), weights, logits);
        let mut best = vec![TopK::new(0, true); rows.len()];
        let all = MatRef::new(logits, rows.len(), weights.columns());
        topk::update_topk(self.cpu, all, None, ColumnIds::Consecutive(0), &mut best);
        log_normalizers.clear();
        log_normalizers.extend(best.iter().map(TopK::log_normalizer));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use miriam_kernels::Cpu;
    use miriam_kernels::pack::UnpackedWeights;
    use miriam_kernels::topk::TokenLogit;

    use super::*;

    #[test]
    fn blockwise_topk_equals_topk_of_all_logits() {
        let (count, depth, columns) = (200, 20, 1100);
        let number = |at: usize| ((at * 7919) % 2003) as f32 / 1001.0 - 1.0;
        let numbers: Vec<f32> = (0..depth * columns).map(number).collect();
        let source = UnpackedWeights::outputs_by_inputs(MatRef::new(&numbers, columns, depth));
        let matrices = [
            WeightMatrix::F32(WeightsF32::pack(source).unwrap()),
            WeightMatrix::I16(WeightsI16::quantize(source).unwrap()),
            WeightMatrix::I8(WeightsI8::quantize(source).unwrap()),
        ];
        for matrix in matrices {
            let bias = Some(numbers[..columns].to_vec());
            let weights = Arc::new(Weights { matrix, bias, input_clip: None });
            let mut engine = Engine::new(Cpu::detect());
            let mut rows = engine.empty_tensor(count, depth);
            for row in 0..count {
                let values = (0..depth).map(|at| number(3 * row + 5 * at + 1));
                rows.view_mut()
                    .row_mut(row)
                    .iter_mut()
                    .zip(values)
                    .for_each(|(to, value)| *to = value);
            }
            let mut logits = vec![0.0; count * columns];
            engine.compute_logits(&rows, 0..count, &weights, &mut logits);
            // Each round has five GEMMs of one shape: in all, more than the tuner times before it
            // chooses.
            for _ in 0..25 {
                let mut best = vec![TopK::new(3, true); count];
                engine.topk(&rows, 0..count, &weights, OutputColumns::All, &mut best).unwrap();
                for (best, logits) in best.iter().zip(logits.chunks(columns)) {
                    let mut all: Vec<TokenLogit> =
                        (0..).zip(logits).map(|(id, &logit)| TokenLogit { id, logit }).collect();
                    all.sort_by(|a, b| b.logit.total_cmp(&a.logit).then(a.id.cmp(&b.id)));
                    assert_eq!(best.candidates(), &all[..3]);
                }
            }
        }
    }
}
