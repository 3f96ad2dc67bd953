//! The output layer: logits in blocks of columns, each searched while it is in the cache.

use miriam_kernels::gemm::Epilogue;
use miriam_kernels::pack::{WeightsF32, WeightsI8, WeightsI16};
use miriam_kernels::topk::{self, ColumnIds, TOPK_BLOCK, TopK};
use miriam_kernels::{Mat, MatMut};

use super::{Engine, PackedView, PooledTensor, WeightMatrix, Weights};

/// Logits that are made before they are searched: 256 KiB, which a second-level cache holds
/// beside the rows and a few panels of weights, and which make the blocks of a beam wide enough.
const LOGIT_BLOCK: usize = 64 << 10;

/// Rows that are multiplied with a block of columns before the next block.
const ROW_BLOCK: usize = 256;

/// The words of columns.
#[derive(Clone, Copy, Debug)]
pub enum OutputColumns<'a> {
    /// All, by number.
    All,
    /// These, ascending.
    Tokens(&'a [u32]),
}

impl Weights {
    /// Some of the columns, in the order of `ids`; they give the same bits as among all.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn select_columns(&self, ids: &[u32]) -> Weights {
        let none = "columns that are there";
        let matrix = match self.matrix.view() {
            PackedView::F32(from) => {
                let mut some = WeightsF32::default();
                some.select(&from, ids).expect(none);
                WeightMatrix::F32(some)
            }
            PackedView::I16(from) => {
                let mut some = WeightsI16::default();
                some.select(&from, ids).expect(none);
                WeightMatrix::I16(some)
            }
            PackedView::I8(from) => {
                let mut some = WeightsI8::default();
                some.select(&from, ids).expect(none);
                WeightMatrix::I8(some)
            }
        };
        let bias = self.bias.as_ref();
        let bias = bias.map(|bias| ids.iter().map(|&id| bias[id as usize]).collect());
        Weights { matrix, bias }
    }
}

impl Engine {
    /// Adds the products of some rows with the columns of an output layer to what the best
    /// of each row are chosen from.
    pub fn topk(
        &mut self,
        rows: &PooledTensor,
        which: std::ops::Range<usize>,
        weights: &Weights,
        columns: OutputColumns<'_>,
        best: &mut [TopK],
    ) {
        let input = rows.view().row_range(which);
        for first in (0..input.rows()).step_by(ROW_BLOCK) {
            let some = first..input.rows().min(first + ROW_BLOCK);
            let best = &mut best[some.clone()];
            self.topk_of_block(input.row_range(some), weights, columns, best);
        }
    }

    fn topk_of_block(
        &mut self,
        input: Mat<f32>,
        weights: &Weights,
        columns: OutputColumns<'_>,
        best: &mut [TopK],
    ) {
        let width = (LOGIT_BLOCK / input.rows() / TOPK_BLOCK * TOPK_BLOCK).max(TOPK_BLOCK);
        let mut logits = std::mem::take(&mut self.logits);
        self.quantise_input(input, weights);
        for first in (0..weights.columns()).step_by(width) {
            let part = first..weights.columns().min(first + width);
            let length = input.rows() * part.len();
            if logits.len() < length {
                logits.resize(length, 0.0);
            }
            let out = MatMut::new(&mut logits, input.rows(), part.len());
            let bias = weights.bias.as_ref().map(|bias| &bias[part.clone()]);
            let epilogue = Epilogue { bias, ..Epilogue::default() };
            self.gemm_columns(input, weights, part.clone(), epilogue, out);
            let ids = match columns {
                OutputColumns::All => ColumnIds::Consecutive(first as u32),
                OutputColumns::Tokens(words) => ColumnIds::Shortlist(&words[part.clone()]),
            };
            let logits = Mat::new(&logits, input.rows(), part.len());
            topk::update_topk(self.cpu, logits, None, ids, best);
        }
        self.logits = logits;
    }

    /// The logits of some rows, with the bits that [`best`](Engine::best) compares.
    pub fn compute_logits(
        &mut self,
        rows: &PooledTensor,
        which: std::ops::Range<usize>,
        weights: &Weights,
        logits: &mut Vec<f32>,
    ) {
        logits.clear();
        logits.resize(which.len() * weights.columns(), 0.0);
        let out = MatMut::new(logits, which.len(), weights.columns());
        let epilogue = Epilogue { bias: weights.bias.as_deref(), ..Epilogue::default() };
        let input = rows.view().row_range(which);
        self.matmul(input, weights, epilogue, out);
    }
}

impl Engine {
    /// Logits of single words of single rows, into the places that are not -infinity
    /// already; the bits that [`best`](Engine::best) compares.
    pub fn gather_logits(
        &mut self,
        rows: &PooledTensor,
        wanted: &[(u32, u32)],
        weights: &Weights,
        logits: &mut [f32],
    ) {
        let mut products = std::mem::take(&mut self.logits);
        let (mut words, mut first) = (Vec::new(), 0);
        // Those of one row in one product.
        while let Some(&(row, _)) = wanted.get(first) {
            let count = wanted[first..].iter().take_while(|(other, _)| *other == row).count();
            words.clear();
            words.extend(wanted[first..first + count].iter().map(|&(_, word)| word));
            let columns = weights.select_columns(&words);
            let row = row as usize;
            self.compute_logits(rows, row..row + 1, &columns, &mut products);
            for (logit, product) in logits[first..].iter_mut().zip(&products) {
                if *logit > f32::NEG_INFINITY {
                    *logit = *product;
                }
            }
            first += count;
        }
        self.logits = products;
    }
}

impl Engine {
    /// The logarithm of the probability of a word for each row.
    pub(crate) fn log_probabilities(
        &mut self,
        rows: &PooledTensor,
        weights: &Weights,
        words: &[u32],
    ) -> Vec<f32> {
        assert_eq!(words.len(), rows.rows(), "a word for each row");
        let mut all = vec![TopK::new(0, true); words.len()];
        self.topk(rows, 0..words.len(), weights, OutputColumns::All, &mut all);
        let wanted: Vec<(u32, u32)> = (0..).zip(words.iter().copied()).collect();
        let mut scores = vec![0.0; words.len()];
        self.gather_logits(rows, &wanted, weights, &mut scores);
        scores.iter_mut().zip(&all).for_each(|(score, all)| *score -= all.log_normaliser());
        scores
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
        let source = UnpackedWeights::outputs_by_inputs(Mat::new(&numbers, columns, depth));
        let matrices = [
            WeightMatrix::F32(WeightsF32::pack(source).unwrap()),
            WeightMatrix::I16(WeightsI16::quantise(source).unwrap()),
            WeightMatrix::I8(WeightsI8::quantise(source).unwrap()),
        ];
        for matrix in matrices {
            let weights = Weights { matrix, bias: Some(numbers[..columns].to_vec()) };
            let mut engine = Engine::new(Cpu::detect());
            let mut rows = engine.empty_tensor(count, depth);
            for row in 0..count {
                let values = (0..depth).map(|at| number(3 * row + 5 * at + 1));
                rows.view_mut().row(row).iter_mut().zip(values).for_each(|(to, value)| *to = value);
            }
            let mut logits = Vec::new();
            engine.compute_logits(&rows, 0..count, &weights, &mut logits);
            // More products than the tuner tries.
            for _ in 0..25 {
                let mut best = vec![TopK::new(3, true); count];
                engine.topk(&rows, 0..count, &weights, OutputColumns::All, &mut best);
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
