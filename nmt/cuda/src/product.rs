//! Products of rows with weights, by the kernel for their number of rows.

use std::ops::Range;

use miriam_gpu::{Buffer, Pod};
use miriam_nmt_models::Result;
use miriam_nmt_network::layer::Epilogue;
use zerocopy::{Immutable, IntoBytes};

use crate::{CudaBackend, DeviceTensor, Weights, device_error};

/// Mirrors `ProductShape` of `product.cuh`.
#[derive(Clone, Copy, Debug, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct ProductShape {
    rows: u32,
    depth: u32,
    columns: u32,
    input_stride: u32,
    weights_stride: u32,
    residual_stride: u32,
    out_stride: u32,
    activation: u32,
}

/// Up to this number of rows, a product uses the kernel that reads weights once for eight or
/// sixteen rows.
pub(crate) const FEW_ROWS: usize = 16;

impl CudaBackend {
    /// Computes `activation(input * weights + bias + residual)` for the rows `rows` of `input`.
    pub(crate) fn product(
        &mut self,
        input: &DeviceTensor,
        rows: Range<usize>,
        weights: &Weights,
        epilogue: Epilogue<'_, DeviceTensor>,
    ) -> Result<DeviceTensor> {
        assert_eq!(input.width(), weights.depth, "an input for each row of weights");
        let out = self.empty(rows.len(), weights.columns)?;
        if out.rows() * out.width() == 0 {
            return Ok(out);
        }
        let residual = epilogue.residual;
        if let Some(residual) = residual {
            assert_eq!([residual.rows(), residual.width()], [out.rows(), out.width()], "residual");
        }
        let shape = ProductShape {
            residual_stride: residual.map_or(0, DeviceTensor::width) as u32,
            activation: epilogue.activation.code(),
            ..product_shape(input, rows.len(), weights)
        };
        let kernels = weights.format.kernels();
        let kernel = if rows.len() <= FEW_ROWS { &kernels.few_rows } else { &kernels.many_rows };
        let grid = blocks([weights.columns, rows.len()], kernel.tile);
        let launch = self.launch(kernel.name).in_order(out.buffer(), 0);
        let launch = launch.in_order(input.buffer(), rows.start * input.width());
        let launch = launch.read(&weights.words).read_optional(weights.bias.as_ref());
        let launch = launch.in_order_optional(residual.map(|residual| (residual.buffer(), 0)));
        launch.value(&shape).run(grid, kernel.threads).map_err(device_error)?;
        Ok(out)
    }

    /// Computes single elements of a product. `pairs` has the row and the column of each, one pair
    /// after the other.
    pub(crate) fn product_of_pairs(
        &mut self,
        input: &DeviceTensor,
        pairs: &[u32],
        weights: &Weights,
    ) -> Result<DeviceTensor> {
        assert_eq!(input.width(), weights.depth, "an input for each row of weights");
        let limits = [input.rows() as u32, weights.columns as u32];
        let in_range = |pair: &[u32]| pair[0] < limits[0] && pair[1] < limits[1];
        assert!(pairs.chunks_exact(2).all(in_range), "rows and columns that are there");
        let count = pairs.len() / 2;
        let out = self.empty(1, count)?;
        if count == 0 {
            return Ok(out);
        }
        let list = self.upload_list(pairs)?;
        let (shape, count_u32) = (product_shape(input, input.rows(), weights), count as u32);
        let kernel = &weights.format.kernels().pairs;
        let launch = self.launch(kernel.name).in_order(out.buffer(), 0);
        let launch = launch.in_order(input.buffer(), 0).read(&weights.words);
        let launch = launch.read_optional(weights.bias.as_ref()).in_order(&*list, 0);
        let launch = launch.value(&count_u32).value(&shape);
        launch.run(blocks([count, 1], kernel.tile), kernel.threads).map_err(device_error)?;
        Ok(out)
    }

    /// Returns the weights of `columns` only, in this order.
    pub(crate) fn select_columns(&mut self, weights: &Weights, columns: &[u32]) -> Result<Weights> {
        let limit = weights.columns as u32;
        assert!(columns.iter().all(|&column| column < limit), "columns that are there");
        let list = self.upload_list(columns)?;
        let shape = [weights.format.column_words(weights.depth), columns.len()];
        let bias = weights.bias.as_ref();
        Ok(Weights {
            words: self.gather_columns(&weights.words, &list, shape, limit)?,
            format: weights.format,
            bias: bias
                .map(|bias| self.gather_columns(bias, &list, [1, columns.len()], limit))
                .transpose()?,
            depth: weights.depth,
            columns: columns.len(),
        })
    }

    /// Gathers the columns of a list, `[rows, width]`, from rows of `stride` words.
    fn gather_columns<T: Pod>(
        &self,
        from: &Buffer<T>,
        list: &Buffer<u32>,
        [rows, width]: [usize; 2],
        stride: u32,
    ) -> Result<Buffer<T>> {
        assert_eq!(size_of::<T>(), size_of::<u32>(), "words");
        let out = self.allocate(rows * width)?;
        if rows * width > 0 {
            let (rows_u32, width_u32) = (rows as u32, width as u32);
            let launch = self.launch("gather_columns").in_order(&out, 0).read(from);
            let launch = launch.in_order(list, 0);
            let launch = launch.value(&rows_u32).value(&width_u32).value(&stride);
            let grid = crate::rows::element_blocks(rows, width);
            launch.run(grid, 128).map_err(device_error)?;
        }
        Ok(out)
    }
}

/// Returns the shape of a product of dense matrices without a residual.
pub(crate) fn product_shape(input: &DeviceTensor, rows: usize, weights: &Weights) -> ProductShape {
    ProductShape {
        rows: rows as u32,
        depth: weights.depth as u32,
        columns: weights.columns as u32,
        input_stride: input.width() as u32,
        weights_stride: weights.columns as u32,
        residual_stride: 0,
        out_stride: weights.columns as u32,
        activation: 0,
    }
}

/// Returns the grid of blocks, `width` by `height` elements each, that cover a matrix.
pub(crate) fn blocks([columns, rows]: [usize; 2], [width, height]: [usize; 2]) -> (u32, u32) {
    (columns.div_ceil(width) as u32, rows.div_ceil(height) as u32)
}
