//! The output layer. The search for the best tokens downloads only these tokens, their logits and
//! the normalisers. If there are many rows, it does not even store their logits on the device.

use std::ops::Range;
use std::sync::Arc;

use miriam_gpu::Launch;
use miriam_nmt_models::Result;
use miriam_nmt_network::layer::{
    Epilogue, OutputColumns, OutputGroup, OutputOps, TokenLogit, TopK,
};

use crate::product::{FEW_ROWS, blocks, product_shape};
use crate::rows::NONE;
use crate::weight_format::PART_COLUMNS;
use crate::{CudaBackend, DeviceTensor, Weights, device_error};

/// The largest number of logits, or of results of parts, that a block of rows may have: 64 MiB of
/// floats.
const MAX_NUMBERS: usize = 16 << 20;

/// The most rows of a launch: the limit of the second dimension of a grid.
const MAX_ROWS: usize = 65_535;

/// The number of threads in a block of the kernels of `output.cu`, and the number of parts of rows
/// that a block computes.
const THREADS: u32 = 128;
const PARTS_OF_BLOCK: usize = 4;

/// The results of the parts of rows. Each part has its largest logit, the sum of exponentials
/// relative to it, and its best logits.
struct RowParts {
    /// `[2, rows * parts]`: the largest logits, then the sums.
    sums: DeviceTensor,
    /// `[2, rows * parts * each]`: logits, then columns as bits.
    best: DeviceTensor,
    rows: usize,
    /// The number of parts of a row.
    parts: usize,
    /// The number of best logits of a part.
    each: usize,
}

impl RowParts {
    /// Returns the number of parts of a row of `columns` columns, and the number of best logits
    /// that each part keeps so that the row's `k` best are among them.
    fn sizes(columns: usize, k: usize) -> [usize; 2] {
        [columns.div_ceil(PART_COLUMNS).max(1), k.min(PART_COLUMNS)]
    }

    /// Passes the parts to a kernel that writes or reads them.
    fn pass<'a>(&'a self, launch: Launch<'a>) -> Launch<'a> {
        let count = self.rows * self.parts;
        let launch = launch.in_order(self.sums.buffer(), 0).in_order(self.sums.buffer(), count);
        let launch = launch.in_order(self.best.buffer(), 0);
        launch.in_order(self.best.buffer(), count * self.each)
    }
}

/// The place of the results of a block of rows among the numbers that leave the device.
struct GroupResults<'a> {
    /// The index of the first number. The numbers are the best logits of each row, then their
    /// columns as bits, then for each row the largest logit and the sum of exponentials relative to
    /// it.
    start: usize,
    rows: usize,
    /// The number of best logits of a row.
    k: usize,
    columns: OutputColumns<'a>,
}

impl GroupResults<'_> {
    /// Returns how many numbers the results have. For each row, these are `k` logits, their
    /// columns, the largest logit and the sum.
    fn len(&self) -> usize {
        2 * self.rows * (self.k + 1)
    }

    fn shift_and_sum(&self, numbers: &[f32], row: usize) -> [f32; 2] {
        let first = self.start + 2 * self.rows * self.k + 2 * row;
        [numbers[first], numbers[first + 1]]
    }

    /// Sets `best` to the tokens of a row, with the largest logit and the sum that normalise them.
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
    fn new_parts(&self, rows: usize, columns: usize, k: usize) -> Result<RowParts> {
        let [parts, each] = RowParts::sizes(columns, k);
        let sums = self.empty(2, rows * parts)?;
        let best = self.empty(2, rows * parts * each)?;
        Ok(RowParts { sums, best, rows, parts, each })
    }

    /// Finds the best logits of each part of the rows.
    fn parts_of_logits(&self, logits: &DeviceTensor, k: usize) -> Result<RowParts> {
        let (rows, columns) = (logits.rows(), logits.width());
        let parts = self.new_parts(rows, columns, k)?;
        let (each, columns_u32) = (parts.each as u32, columns as u32);
        let launch = parts.pass(self.launch("topk_of_parts")).value(&each);
        let launch = launch.in_order(logits.buffer(), 0).value(&columns_u32);
        let grid = (parts.parts.div_ceil(PARTS_OF_BLOCK) as u32, rows as u32);
        launch.run(grid, THREADS).map_err(device_error)?;
        Ok(parts)
    }

    /// Finds the best logits of each part of the rows of a product. The logits are stored only if
    /// the rows are few.
    fn parts_of_product(
        &mut self,
        input: &DeviceTensor,
        rows: Range<usize>,
        weights: &Weights,
        k: usize,
    ) -> Result<RowParts> {
        if rows.len() <= FEW_ROWS || weights.columns == 0 {
            let logits = self.product(input, rows, weights, Epilogue::default())?;
            return self.parts_of_logits(&logits, k);
        }
        assert_eq!(input.width(), weights.depth, "an input for each row of weights");
        assert!(rows.end <= input.rows(), "rows that are there");
        let parts = self.new_parts(rows.len(), weights.columns, k)?;
        let (each, shape) = (parts.each as u32, product_shape(input, rows.len(), weights));
        let kernel = &weights.format.kernels().topk;
        let launch = parts.pass(self.launch(kernel.name)).value(&each);
        let launch = launch.in_order(input.buffer(), rows.start * input.width());
        let launch = launch.read(&weights.words).read_optional(weights.bias.as_ref());
        let grid = blocks([weights.columns, rows.len()], kernel.tile);
        launch.value(&shape).run(grid, kernel.threads).map_err(device_error)?;
        Ok(parts)
    }

    /// Finds the best logits of each row, its largest logit and its sum of exponentials, and writes
    /// them to the place of `results` in `found`. The sum is always needed: it shows whether a
    /// logit is not finite.
    fn merge_parts(
        &self,
        parts: &RowParts,
        results: &GroupResults<'_>,
        found: &DeviceTensor,
    ) -> Result<()> {
        let (rows, k) = (results.rows, results.k);
        assert_eq!(rows, parts.rows, "results for each row");
        assert!(results.start + results.len() <= found.width(), "results have room");
        let launch =
            [2 * k, 0, k].into_iter().fold(self.launch("topk_of_rows"), |launch, place| {
                launch.in_order(found.buffer(), results.start + rows * place)
            });
        let sizes = [parts.parts, parts.each, k].map(|size| size as u32);
        let launch = sizes.iter().fold(parts.pass(launch), |launch, size| launch.value(size));
        launch.run((rows as u32, 1), THREADS).map_err(device_error)
    }
}

/// Divides `rows` into ranges whose rows are computed at once. A row has `numbers` numbers.
fn row_blocks(rows: Range<usize>, numbers: usize) -> impl Iterator<Item = Range<usize>> {
    let block = (MAX_NUMBERS / numbers.max(1)).clamp(1, MAX_ROWS);
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
            let (own, others) = rest.split_at(rows.len());
            rest = others;
            let k = own.iter().map(TopK::k).max().unwrap_or(0).min(weights.columns);
            let [parts, each] = RowParts::sizes(weights.columns, k);
            for rows in row_blocks(rows.clone(), 2 * parts * (each + 1)) {
                let results = GroupResults { start: len, rows: rows.len(), k, columns: *columns };
                len += results.len();
                blocks.push((rows, *weights, results));
            }
        }
        let found = self.empty(1, len)?;
        for (rows, weights, results) in &blocks {
            let parts = self.parts_of_product(hidden, rows.clone(), weights, results.k)?;
            self.merge_parts(&parts, results, &found)?;
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
            let parts = self.parts_of_logits(&products, 0)?;
            self.merge_parts(&parts, &results, &found)?;
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
    fn blocks_contain_each_row_once() {
        for (rows, columns) in
            [(0..0, 5), (3..4, 100), (2..200_000, 1), (7..1300, 32_000), (0..3, 0)]
        {
            let blocks: Vec<_> = row_blocks(rows.clone(), columns).collect();
            assert!(blocks.iter().all(|block| block.len() <= MAX_ROWS));
            assert!(blocks.iter().all(|block| block.len() * columns <= MAX_NUMBERS));
            assert_eq!(blocks.into_iter().flatten().collect::<Vec<_>>(), rows.collect::<Vec<_>>());
        }
    }
}
