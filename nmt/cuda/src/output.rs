//! The output layer: logits stay on the device, and the best tokens of each row leave it.

use std::ops::Range;
use std::sync::Arc;

use miriam_nmt_models::Result;
use miriam_nmt_network::layer::{
    Epilogue, OutputColumns, OutputGroup, OutputOps, TokenLogit, TopK,
};

use crate::rows::NONE;
use crate::{CudaBackend, DeviceTensor, Weights, device_error};

/// Logits that are computed before they are searched: 64 MiB.
const LOGIT_BLOCK: usize = 16 << 20;

/// Rows of a launch: a grid has no more in its second dimension.
const MAX_ROWS: usize = 65_535;

/// Logits of a block, and its threads, as in `output.cu`.
const SPLIT: usize = 1024;
const THREADS: u32 = 128;

/// The best of the rows of a group, among the numbers that leave the device.
struct GroupResults<'a> {
    /// The first number: the logits of the best of each row, their columns as bits, and of each row the
    /// largest logit and the sum relative to it.
    start: usize,
    rows: usize,
    /// The best of a row.
    k: usize,
    columns: OutputColumns<'a>,
}

impl GroupResults<'_> {
    /// The numbers of a row: of each of its best the logit and the column, the largest logit, the sum.
    fn len(&self) -> usize {
        2 * self.rows * (self.k + 1)
    }

    fn shift_and_sum(&self, numbers: &[f32], row: usize) -> [f32; 2] {
        let first = self.start + 2 * self.rows * self.k + 2 * row;
        [numbers[first], numbers[first + 1]]
    }

    /// Adds the tokens of a row and what normalises them.
    fn read_row(&self, numbers: &[f32], row: usize, best: &mut TopK) {
        let logits = self.start + row * self.k;
        let columns = logits + self.rows * self.k;
        let pairs = numbers[logits..][..self.k].iter().zip(&numbers[columns..][..self.k]);
        let pairs = pairs.map(|(&logit, column)| (logit, column.to_bits()));
        let candidates = pairs.take_while(|&(_, column)| column != NONE).map(|(logit, column)| {
            let id = match self.columns {
                OutputColumns::All => column,
                OutputColumns::Tokens(tokens) => tokens[column as usize],
            };
            TokenLogit { id, logit }
        });
        let [shift, sum] = self.shift_and_sum(numbers, row);
        best.set(candidates, shift, sum.into());
    }
}

impl CudaBackend {
    /// Finds the best of each row of logits, and what normalises them: without the sum, a logit that is
    /// not finite would not be noticed. Writes them to the place of `results` in `found`.
    fn find_best(
        &mut self,
        logits: &DeviceTensor,
        results: &GroupResults<'_>,
        found: &DeviceTensor,
    ) -> Result<()> {
        let (rows, columns, k) = (logits.rows(), logits.width(), results.k);
        assert_eq!(rows, results.rows, "results for each row");
        assert!(results.start + results.len() <= found.width(), "results have room");
        let splits = columns.div_ceil(SPLIT).max(1);
        let sums = self.empty(2, rows * splits)?;
        let parts = self.empty(2, rows * splits * k)?;
        let (columns_u32, k_u32, splits_u32) = (columns as u32, k as u32, splits as u32);
        let launch = self.launch("topk_of_parts");
        let launch = launch.in_order(sums.buffer(), 0).in_order(sums.buffer(), rows * splits);
        let launch = launch.in_order(parts.buffer(), 0).in_order(parts.buffer(), rows * splits * k);
        let launch = launch.in_order(logits.buffer(), 0).value(&columns_u32).value(&k_u32);
        launch.run((splits as u32, rows as u32), THREADS).map_err(device_error)?;
        let launch = self.launch("topk_of_rows");
        let launch = [2 * k, 0, k].into_iter().fold(launch, |launch, place| {
            launch.in_order(found.buffer(), results.start + rows * place)
        });
        let launch = launch.in_order(sums.buffer(), 0).in_order(sums.buffer(), rows * splits);
        let launch = launch.in_order(parts.buffer(), 0).in_order(parts.buffer(), rows * splits * k);
        let launch = launch.value(&splits_u32).value(&k_u32);
        launch.run((rows as u32, 1), THREADS).map_err(device_error)
    }
}

/// Returns the ranges of rows whose logits are computed at a time.
fn row_blocks(rows: Range<usize>, columns: usize) -> impl Iterator<Item = Range<usize>> {
    let block = (LOGIT_BLOCK / columns.max(1)).clamp(1, MAX_ROWS);
    rows.clone().step_by(block).map(move |first| first..rows.end.min(first + block))
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
        self.topk_by_group(hidden, &[OutputGroup { rows, weights, columns }], best)
    }

    /// Queues the work of all groups, and waits once.
    fn topk_by_group(
        &mut self,
        hidden: &DeviceTensor,
        groups: &[OutputGroup<'_, Arc<Weights>>],
        best: &mut [TopK],
    ) -> Result<()> {
        let count = groups.iter().map(|group| group.rows.len()).sum::<usize>();
        assert_eq!(best.len(), count, "one list for each row");
        // The blocks of rows of all groups, and the length of their results.
        let (mut blocks, mut len) = (Vec::new(), 0);
        let mut rest = &*best;
        for OutputGroup { rows, weights, columns } in groups {
            for rows in row_blocks(rows.clone(), weights.columns) {
                let (own, others) = rest.split_at(rows.len());
                rest = others;
                let k = own.iter().map(TopK::k).max().unwrap_or(0).min(weights.columns);
                let results = GroupResults { start: len, rows: rows.len(), k, columns: *columns };
                len += results.len();
                blocks.push((rows, *weights, results));
            }
        }
        let found = self.empty(1, len)?;
        for (rows, weights, results) in &blocks {
            let logits = self.product(hidden, rows.clone(), weights, Epilogue::default())?;
            self.find_best(&logits, results, &found)?;
        }
        let numbers = self.download(&found, len)?;
        let mut best = best.iter_mut();
        for (_, _, results) in &blocks {
            for (row, best) in best.by_ref().take(results.rows).enumerate() {
                results.read_row(numbers, row, best);
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
        for rows in row_blocks(rows, weights.columns) {
            let count = rows.len();
            let products = self.product(hidden, rows, weights, Epilogue::default())?;
            let columns = OutputColumns::All;
            let results = GroupResults { start: 0, rows: count, k: 0, columns };
            let found = self.empty(1, results.len())?;
            self.find_best(&products, &results, &found)?;
            let numbers = self.download(&found, results.len())?;
            log_normalizers.extend((0..count).map(|row| {
                let [shift, sum] = results.shift_and_sum(numbers, row);
                (f64::from(shift) + f64::from(sum).ln()) as f32
            }));
            logits.extend_from_slice(self.download(&products, count * weights.columns)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_rows_are_all_rows_once() {
        for (rows, columns) in
            [(0..0, 5), (3..4, 100), (2..200_000, 1), (7..1300, 32_000), (0..3, 0)]
        {
            let blocks: Vec<_> = row_blocks(rows.clone(), columns).collect();
            assert!(blocks.iter().all(|block| block.len() <= MAX_ROWS));
            assert!(blocks.iter().all(|block| block.len() * columns <= LOGIT_BLOCK));
            assert_eq!(blocks.into_iter().flatten().collect::<Vec<_>>(), rows.collect::<Vec<_>>());
        }
    }
}
