//! Operators of networks. Each operator names its kernel, and all kernels have the same parameters,
//! so this file does not list operators.

use std::ops::Range;

use miriam_gpu::Buffer;
use miriam_kernels::operators::{DeviceColumns, DeviceKernel, DeviceOperator, Operator, Sequences};
use miriam_nmt_models::{Error, Result};
use miriam_nmt_network::layer::ColumnSlice;
use zerocopy::{Immutable, IntoBytes};

use crate::rows::element_blocks;
use crate::{CudaBackend, DeviceTensor, device_error};

/// Mirrors `OperatorShape` of `operators.cu`.
#[derive(Clone, Copy, Debug, IntoBytes, Immutable)]
#[repr(C)]
struct OperatorShape {
    rows: u32,
    width: u32,
    out_stride: u32,
    strides: [u32; 4],
    code: u32,
    sequences: u32,
    number: f32,
}

/// The most input matrices, and the most input vectors, of a kernel.
const MAX_MATRICES: usize = 4;
const MAX_VECTORS: usize = 2;

/// Threads of a block, and of the group that computes a row.
const THREADS: usize = 128;
const ROW_THREADS: usize = 32;

/// The part of a result that a launch writes: these columns of all rows.
struct Target<'a> {
    tensor: &'a DeviceTensor,
    columns: Range<usize>,
}

impl CudaBackend {
    /// Returns the result of an operator.
    pub(crate) fn run_operator(
        &mut self,
        operator: &impl Operator,
        matrices: &[ColumnSlice<'_, DeviceTensor>],
        vectors: &[&std::sync::Arc<Buffer<f32>>],
    ) -> Result<DeviceTensor> {
        let shapes: Vec<[usize; 2]> =
            matrices.iter().map(|matrix| [matrix.tensor.rows(), matrix.columns.len()]).collect();
        let [rows, width] = operator.shape(&shapes);
        let out = self.empty(rows, width)?;
        if rows * width == 0 {
            return Ok(out);
        }
        let vectors: Vec<&Buffer<f32>> = vectors.iter().map(|vector| &***vector).collect();
        let whole = Target { tensor: &out, columns: 0..width };
        match operator.device(width) {
            DeviceOperator::Elements(kernel) => {
                let grid = element_blocks(rows, width);
                self.launch_operator(kernel, whole, matrices, &vectors, None, grid)?;
            }
            DeviceOperator::Rows(kernel) => {
                self.launch_operator(kernel, whole, matrices, &vectors, None, row_blocks(rows))?;
            }
            DeviceOperator::Sequences { kernel, sequences, counts } => {
                let input_rows = shapes[0][0];
                let list = sequence_list(&sequences, input_rows, counts);
                let count = sequences.starts(input_rows).count() - 1;
                let grid = element_blocks(count, width);
                let list = Some((&list[..], count));
                self.launch_operator(kernel, whole, matrices, &vectors, list, grid)?;
            }
            DeviceOperator::ConcatRows => {
                let mut row = 0;
                for part in matrices {
                    self.copy_part(part, part.tensor.rows(), &out, [row, 0])?;
                    row += part.tensor.rows();
                }
            }
            DeviceOperator::ConcatColumns => {
                let mut column = 0;
                for part in matrices {
                    self.copy_part(part, rows, &out, [0, column])?;
                    column += part.columns.len();
                }
            }
            DeviceOperator::ColumnRanges(ranges) => {
                let [from] = matrices else { panic!("ranges of the columns of one matrix") };
                for DeviceColumns { columns, kernel, by_rows, vectors: places } in ranges {
                    if columns.is_empty() {
                        continue;
                    }
                    let grid = if by_rows {
                        row_blocks(rows)
                    } else {
                        element_blocks(rows, columns.len())
                    };
                    let first = from.columns.start;
                    let part = first + columns.start..first + columns.end;
                    let part = ColumnSlice { tensor: from.tensor, columns: part };
                    let target = Target { tensor: &out, columns };
                    self.launch_operator(kernel, target, &[part], &vectors[places], None, grid)?;
                }
            }
            DeviceOperator::Unsupported => {
                let reason = format!("only training computes {operator:?}");
                return Err(Error::Device { reason });
            }
        }
        Ok(out)
    }

    fn launch_operator(
        &mut self,
        kernel: DeviceKernel,
        target: Target<'_>,
        matrices: &[ColumnSlice<'_, DeviceTensor>],
        vectors: &[&Buffer<f32>],
        list: Option<(&[u32], usize)>,
        grid: (u32, u32),
    ) -> Result<()> {
        assert!(
            matrices.len() <= MAX_MATRICES && vectors.len() <= MAX_VECTORS,
            "at most four matrices and two vectors"
        );
        let lens = vectors.iter().map(|vector| vector.len());
        kernel.check_inputs(matrices.len(), lens, target.columns.len());
        let uploaded = list.map(|(numbers, _)| self.upload_list(numbers)).transpose()?;
        let mut shape = OperatorShape {
            rows: target.tensor.rows() as u32,
            width: target.columns.len() as u32,
            out_stride: target.tensor.width() as u32,
            strides: [0; 4],
            code: kernel.code,
            sequences: list.map_or(0, |(_, count)| count as u32),
            number: kernel.number,
        };
        for (stride, matrix) in shape.strides.iter_mut().zip(matrices) {
            *stride = matrix.tensor.width() as u32;
        }
        let mut launch =
            self.launch(kernel.name).in_order(target.tensor.buffer(), target.columns.start);
        for index in 0..MAX_MATRICES {
            let matrix = matrices.get(index);
            launch = launch.in_order_optional(
                matrix.map(|matrix| (matrix.tensor.buffer(), matrix.columns.start)),
            );
        }
        for index in 0..MAX_VECTORS {
            launch = launch.read_optional(vectors.get(index).copied());
        }
        launch = launch.in_order_optional(uploaded.as_deref().map(|list| (list, 0)));
        launch.value(&shape).run(grid, THREADS as u32).map_err(device_error)
    }
}

/// Returns the grid of a kernel that has a group of threads for each row.
fn row_blocks(rows: usize) -> (u32, u32) {
    (rows.div_ceil(THREADS / ROW_THREADS) as u32, 1)
}

/// Returns the list for a kernel of sequences: the first row of each sequence, the end of the last
/// sequence, and the counts of the operator.
fn sequence_list(sequences: &Sequences, rows: usize, counts: &[u32]) -> Vec<u32> {
    let starts = sequences.starts(rows).map(|start| start as u32);
    starts.chain(counts.iter().copied()).collect()
}
