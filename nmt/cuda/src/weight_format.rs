//! Formats of weights on a device: their layout in words, and the kernels that read them.

use miriam_nmt_network::plain_parameters::PlainMatrix;
use zerocopy::{FromBytes, IntoBytes};

use crate::half::{bf16_bits, f16_bits};

/// The type of the weights of matrix products. Inputs are rounded to this type; sums are floats of
/// 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WeightFormat {
    /// Floats of 32 bits.
    #[default]
    F32,
    /// Floats of 16 bits by IEEE 754. Larger numbers saturate at the maximum, 65,504.
    F16,
    /// Floats of 16 bits with the exponents of f32, from compute capability 8.0 on.
    Bf16,
}

/// The number of columns in a part of a row of logits, as in `output.cuh`.
pub(crate) const PART_COLUMNS: usize = 64;

/// A kernel, with the size of the tile that a block computes and the number of threads of a block.
pub(crate) struct ProductKernel {
    pub name: &'static str,
    /// Columns and rows; for a kernel of pairs, the number of pairs and 1.
    pub tile: [usize; 2],
    pub threads: u32,
}

/// The kernels of the products with a type of weights.
pub(crate) struct ProductKernels {
    pub few_rows: ProductKernel,
    pub many_rows: ProductKernel,
    pub pairs: ProductKernel,
    /// Finds the best logits of each part of the rows of a product, for many rows.
    pub topk: ProductKernel,
}

/// Returns the description of a kernel of `product.cu` or `half_product.cu`.
const fn kernel(name: &'static str, tile: [usize; 2], threads: u32) -> ProductKernel {
    ProductKernel { name, tile, threads }
}

const F32_KERNELS: ProductKernels = ProductKernels {
    few_rows: kernel("product_of_few_rows", [128, 8], 128),
    many_rows: kernel("product_of_many_rows", [64, 64], 256),
    pairs: kernel("product_of_pairs", [128, 1], 128),
    topk: kernel("topk_of_products", [PART_COLUMNS, 64], 256),
};

const F16_KERNELS: ProductKernels = ProductKernels {
    few_rows: kernel("product_of_few_rows_f16", [32, 16], 128),
    many_rows: kernel("product_of_many_rows_f16", [64, 64], 256),
    pairs: kernel("product_of_pairs_f16", [32, 1], 128),
    topk: kernel("topk_of_products_f16", [PART_COLUMNS, 64], 256),
};

const BF16_KERNELS: ProductKernels = ProductKernels {
    few_rows: kernel("product_of_few_rows_bf16", [32, 16], 128),
    many_rows: kernel("product_of_many_rows_bf16", [64, 64], 256),
    pairs: kernel("product_of_pairs_bf16", [32, 1], 128),
    topk: kernel("topk_of_products_bf16", [PART_COLUMNS, 64], 256),
};

impl WeightFormat {
    /// Returns the kernels that multiply with weights of this format.
    pub(crate) fn kernels(self) -> &'static ProductKernels {
        match self {
            WeightFormat::F32 => &F32_KERNELS,
            WeightFormat::F16 => &F16_KERNELS,
            WeightFormat::Bf16 => &BF16_KERNELS,
        }
    }

    /// Returns the number of words that a column has.
    pub(crate) fn column_words(self, depth: usize) -> usize {
        match self {
            WeightFormat::F32 => depth,
            WeightFormat::F16 | WeightFormat::Bf16 => depth.div_ceil(2),
        }
    }

    /// Calls `write` with a matrix as words. A word is a float, or the rounded numbers of one
    /// column in two rows. The first row is in the lower half; a missing last row is zeros.
    pub(crate) fn with_words<R>(self, matrix: &PlainMatrix, write: impl FnOnce(&[u32]) -> R) -> R {
        let round = match self {
            WeightFormat::F32 => {
                let words = <[u32]>::ref_from_bytes(matrix.values.as_bytes());
                return write(words.expect("floats are words"));
            }
            WeightFormat::F16 => f16_bits,
            WeightFormat::Bf16 => bf16_bits,
        };
        let columns = matrix.columns;
        let mut words = Vec::with_capacity(self.column_words(matrix.rows) * columns);
        for rows in matrix.values.chunks(2 * columns.max(1)) {
            let (first, second) = rows.split_at(columns);
            words.extend(first.iter().enumerate().map(|(column, &low)| {
                let high = second.get(column).map_or(0, |&high| round(high));
                u32::from(round(low)) | u32::from(high) << 16
            }));
        }
        write(&words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_pairs_of_rows() {
        let matrix =
            PlainMatrix { rows: 3, columns: 2, values: vec![1.0, 2.0, -1.0, 0.5, 4.0, 0.0] };
        let words = |format: WeightFormat| format.with_words(&matrix, <[u32]>::to_vec);
        assert_eq!(words(WeightFormat::F16), [0xbc00_3c00, 0x3800_4000, 0x4400, 0]);
        assert_eq!(words(WeightFormat::Bf16), [0xbf80_3f80, 0x3f00_4000, 0x4080, 0]);
        let floats = matrix.values.iter().map(|value| value.to_bits());
        assert_eq!(words(WeightFormat::F32), floats.collect::<Vec<_>>());
        let empty = PlainMatrix { rows: 3, columns: 0, values: Vec::new() };
        assert!(WeightFormat::F16.with_words(&empty, <[u32]>::is_empty));
    }
}
