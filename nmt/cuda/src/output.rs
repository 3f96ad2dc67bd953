//! The output layer: logits stay on the device, and the best tokens of each row leave it.

use std::ops::Range;
use std::sync::Arc;

use miriam_nmt_models::Result;
use miriam_nmt_network::layer::{Epilogue, OutputColumns, OutputOps, TokenLogit, TopK};

use crate::rows::NONE;
use crate::{CudaBackend, DeviceTensor, Weights, device_error};

/// Logits that are computed before they are searched: 64 MiB.
const LOGIT_BLOCK: usize = 16 << 20;

/// Rows of a launch: a grid has no more in its second dimension.
const MAX_ROWS: usize = 65_535;

/// Logits of a block, and its threads, as in `output.cu`.
const SPLIT: usize = 1024;
const THREADS: u32 = 128;

/// The k best and the normalisers of some rows, as they leave the device.
struct BestOfRows {
    /// The logits of the best and then their columns as bits, `k` for each row; then the largest logit
    /// and the sum relative to it for each row.
    numbers: Vec<f32>,
    rows: usize,
    k: usize,
}

impl BestOfRows {
    fn shift_and_sum(&self, row: usize) -> [f32; 2] {
        let first = 2 * self.rows * self.k + 2 * row;
        [self.numbers[first], self.numbers[first + 1]]
    }

    /// Returns the logits and columns of a row, best first.
    fn candidates(&self, row: usize) -> impl Iterator<Item = (f32, u32)> {
        let logits = row * self.k;
        let columns = logits + self.rows * self.k;
        let pairs = self.numbers[logits..][..self.k].iter().zip(&self.numbers[columns..][..self.k]);
        let pairs = pairs.map(|(&logit, column)| (logit, column.to_bits()));
        pairs.take_while(|&(_, column)| column != NONE)
    }
}

impl CudaBackend {
    /// Finds the k best of each row of logits, and what normalises them: without the sum, a logit
    /// that is not finite would not be noticed.
    fn best_of_logits(&mut self, logits: &DeviceTensor, k: usize) -> Result<BestOfRows> {
        let (rows, columns) = (logits.rows(), logits.width());
        let splits = columns.div_ceil(SPLIT).max(1);
        let sums = self.empty(2, rows * splits)?;
        let parts = self.empty(2, rows * splits * k)?;
        let count = 2 * rows * (k + 1);
        let found = self.empty(1, count)?;
        let (columns_u32, k_u32, splits_u32) = (columns as u32, k as u32, splits as u32);
        let launch = self.launch("topk_of_parts");
        let launch = launch.in_order(sums.buffer(), 0).in_order(sums.buffer(), rows * splits);
        let launch = launch.in_order(parts.buffer(), 0).in_order(parts.buffer(), rows * splits * k);
        let launch = launch.in_order(logits.buffer(), 0).value(&columns_u32).value(&k_u32);
        launch.run((splits as u32, rows as u32), THREADS).map_err(device_error)?;
        let launch = self.launch("topk_of_rows").in_order(found.buffer(), 2 * rows * k);
        let launch = launch.in_order(found.buffer(), 0).in_order(found.buffer(), rows * k);
        let launch = launch.in_order(sums.buffer(), 0).in_order(sums.buffer(), rows * splits);
        let launch = launch.in_order(parts.buffer(), 0).in_order(parts.buffer(), rows * splits * k);
        let launch = launch.value(&splits_u32).value(&k_u32);
        launch.run((rows as u32, 1), THREADS).map_err(device_error)?;
        let numbers = self.download(&found, count)?.to_vec();
        Ok(BestOfRows { numbers, rows, k })
    }
}

impl OutputOps for CudaBackend {
    fn select_output(&mut self, weights: &Arc<Weights>, tokens: &[u32]) -> Result<Arc<Weights>> {
        Ok(Arc::new(self.select_columns(weights, tokens)?))
    }

    fn topk(
        &mut self,
        hidden: &DeviceTensor,
        rows: Range<usize>,
        weights: &Arc<Weights>,
        columns: OutputColumns<'_>,
        best: &mut [TopK],
    ) -> Result<()> {
        assert_eq!(best.len(), rows.len(), "one list for each row");
        let block = (LOGIT_BLOCK / weights.columns.max(1)).clamp(1, MAX_ROWS);
        let k = best.iter().map(TopK::k).max().unwrap_or(0).min(weights.columns);
        for (index, best) in best.chunks_mut(block).enumerate() {
            let first = rows.start + index * block;
            let part = first..first + best.len();
            let logits = self.product(hidden, part, weights, Epilogue::default())?;
            let found = self.best_of_logits(&logits, k)?;
            for (row, best) in best.iter_mut().enumerate() {
                let candidates = found.candidates(row).map(|(logit, column)| TokenLogit {
                    id: match columns {
                        OutputColumns::All => column,
                        OutputColumns::Tokens(tokens) => tokens[column as usize],
                    },
                    logit,
                });
                let [shift, sum] = found.shift_and_sum(row);
                best.set(candidates, shift, sum.into());
            }
        }
        Ok(())
    }

    fn gather_logits(
        &mut self,
        hidden: &DeviceTensor,
        pairs: &[(u32, u32)],
        weights: &Arc<Weights>,
        logits: &mut [f32],
    ) -> Result<()> {
        let flat: Vec<u32> = pairs.iter().flat_map(|&(row, column)| [row, column]).collect();
        let products = self.product_of_pairs(hidden, &flat, weights)?;
        if !pairs.is_empty() {
            let products = self.download(&products, pairs.len())?;
            for (logit, product) in logits.iter_mut().zip(products) {
                if *logit > f32::NEG_INFINITY {
                    *logit = *product;
                }
            }
        }
        Ok(())
    }

    fn row_logits(
        &mut self,
        hidden: &DeviceTensor,
        rows: Range<usize>,
        weights: &Arc<Weights>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()> {
        logits.clear();
        log_normalizers.clear();
        if rows.is_empty() {
            return Ok(());
        }
        let products = self.product(hidden, rows.clone(), weights, Epilogue::default())?;
        let found = self.best_of_logits(&products, 0)?;
        for row in 0..rows.len() {
            let [shift, sum] = found.shift_and_sum(row);
            log_normalizers.push((f64::from(shift) + f64::from(sum).ln()) as f32);
        }
        logits.extend_from_slice(self.download(&products, rows.len() * weights.columns)?);
        Ok(())
    }
}
