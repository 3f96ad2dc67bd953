//! Operations that move rows: embeddings, rows by their numbers, parts of matrices.

use miriam_nmt_models::Result;
use miriam_nmt_network::layer::ColumnSlice;

use crate::{CudaBackend, DeviceTensor, EmbeddingTable, PositionalEncoding, device_error};

/// The number that represents a missing row or token in kernels.
pub(crate) const NONE: u32 = u32::MAX;

/// Threads of a block, as in `rows.cu` and `operators.cu`.
const THREADS: usize = 128;

/// Returns the grid of a kernel that has a thread for each element.
pub(crate) fn element_blocks(rows: usize, width: usize) -> (u32, u32) {
    ((rows * width).div_ceil(THREADS) as u32, 1)
}

impl CudaBackend {
    /// Gathers rows whose numbers are in range or [`NONE`], which gives a row of zeros.
    pub(crate) fn gather_rows(
        &mut self,
        from: &DeviceTensor,
        indices: Vec<u32>,
    ) -> Result<DeviceTensor> {
        let (rows, width) = (indices.len(), from.width());
        let out = self.empty(rows, width)?;
        if rows * width > 0 {
            let list = self.upload_list(&indices)?;
            let (rows_u32, width_u32) = (rows as u32, width as u32);
            let launch = self.launch("gather_rows").in_order(out.buffer(), 0);
            let launch = launch.in_order(from.buffer(), 0).in_order(&*list, 0);
            let launch = launch.value(&rows_u32).value(&width_u32).value(&width_u32);
            launch.run(element_blocks(rows, width), THREADS as u32).map_err(device_error)?;
        }
        Ok(out)
    }

    /// Writes the rows of `from` to the rows of `to` at `indices`, which are in range and distinct.
    pub(crate) fn scatter_rows(
        &mut self,
        to: &DeviceTensor,
        indices: &[u32],
        from: &ColumnSlice<'_, DeviceTensor>,
    ) -> Result<()> {
        let (rows, width) = (indices.len(), to.width());
        assert_eq!((from.tensor.rows(), from.columns.len()), (rows, width), "a row for each index");
        if rows * width == 0 {
            return Ok(());
        }
        let list = self.upload_list(indices)?;
        let (rows_u32, width_u32) = (rows as u32, width as u32);
        let stride = from.tensor.width() as u32;
        let launch = self.launch("scatter_rows").in_order(to.buffer(), 0);
        let launch = launch.in_order(from.tensor.buffer(), from.columns.start).in_order(&*list, 0);
        let launch = launch.value(&rows_u32).value(&width_u32).value(&stride);
        launch.run(element_blocks(rows, width), THREADS as u32).map_err(device_error)
    }

    /// Copies the first `rows` rows of `from` to the part of `to` that begins at `row` and
    /// `column`.
    pub(crate) fn copy_part(
        &mut self,
        from: &ColumnSlice<'_, DeviceTensor>,
        rows: usize,
        to: &DeviceTensor,
        [row, column]: [usize; 2],
    ) -> Result<()> {
        let width = from.columns.len();
        assert!(rows <= from.tensor.rows(), "rows that are there");
        assert!(row + rows <= to.rows() && column + width <= to.width(), "the part has room");
        if rows * width == 0 {
            return Ok(());
        }
        let (rows_u32, width_u32) = (rows as u32, width as u32);
        let (out_stride, stride) = (to.width() as u32, from.tensor.width() as u32);
        let launch = self.launch("copy_part").in_order(to.buffer(), row * to.width() + column);
        let launch = launch.in_order(from.tensor.buffer(), from.columns.start);
        let launch = launch.value(&rows_u32).value(&width_u32).value(&out_stride).value(&stride);
        launch.run(element_blocks(rows, width), THREADS as u32).map_err(device_error)
    }

    pub(crate) fn embed_tokens(
        &mut self,
        table: &EmbeddingTable,
        tokens: &[Option<u32>],
        scale: f32,
        positional_encoding: Option<(&PositionalEncoding, &[u32])>,
    ) -> Result<DeviceTensor> {
        let (rows, width) = (tokens.len(), table.width);
        let out = self.empty(rows, width)?;
        if rows * width == 0 {
            return Ok(out);
        }
        let exists = |token: u32| (token as usize) < table.vocab_size;
        assert!(tokens.iter().flatten().all(|&token| exists(token)), "tokens of the vocabulary");
        let tokens: Vec<u32> = tokens.iter().map(|token| token.unwrap_or(NONE)).collect();
        let token_list = self.upload_list(&tokens)?;
        let mut sinusoids = None;
        let encodings = match positional_encoding {
            None => None,
            Some((encoding, positions)) => {
                assert_eq!(positions.len(), rows, "a position for each token");
                let count = positions.iter().max().map_or(0, |&last| last as usize + 1);
                let encodings = match encoding {
                    PositionalEncoding::Learned(table) => table,
                    PositionalEncoding::Sinusoidal(all) => {
                        &**sinusoids.insert(self.sinusoids(all, count)?)
                    }
                };
                assert!(count <= encodings.vocab_size && encodings.width == width, "encodings");
                Some((encodings, self.upload_list(positions)?))
            }
        };
        let (rows_u32, width_u32) = (rows as u32, width as u32);
        let launch = self.launch("embed").in_order(out.buffer(), 0).read(&table.rows);
        let launch = launch.in_order(&*token_list, 0);
        let positions = encodings.as_ref().map(|(_, positions)| (&**positions, 0));
        let launch = launch.read_optional(encodings.as_ref().map(|(table, _)| &table.rows));
        let launch = launch.in_order_optional(positions);
        let launch = launch.value(&rows_u32).value(&width_u32).value(&scale);
        launch.run(element_blocks(rows, width), THREADS as u32).map_err(device_error)?;
        Ok(out)
    }
}
