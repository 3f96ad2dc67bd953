//! Packed weight matrices: their precision, their names in files, and matrices that stay in a
//! mapped file.

mod compute_type;
mod mapped_matrix;
mod precision;

use std::collections::BTreeMap;

use miriam_kernels::pack::Line;

pub use compute_type::SelectedPrecision;
pub use mapped_matrix::{MappedMatrix, PackedView};
pub use precision::Precision;

/// The largest magnitude of 8-bit weights and activations; -128 is not used.
pub const MAX_I8: f32 = 127.0;

/// The name under which Marian stores the activation multiplier (alpha) of a tied output layer.
pub const TIED_OUTPUT_ALPHA: &str = "none";

/// The parts of a packed matrix, `[depth, columns]`, that a file stores.
pub struct PackedParts<'a> {
    /// The number of inputs.
    pub depth: usize,
    /// The number of outputs.
    pub columns: usize,
    /// The packed weights.
    pub lines: &'a [Line],
    /// The scale of each column; empty for floats.
    pub scales: &'a [f32],
    /// For 8 bits: -128 times the sum of each column, which is added to products of inputs that
    /// were shifted by 128; else empty.
    pub corrections: &'a [i32],
    /// For 16 bits: the largest Euclidean norm of an
    /// [accumulation run](miriam_kernels::pack::ACCUMULATION_RUN) of any column.
    pub norm: u32,
}

/// The packed matrices of a model file.
#[derive(Clone)]
pub struct PackedMatrices {
    /// The precision of all of them.
    pub precision: Precision,
    /// The matrices, by [`matrix_key`].
    pub matrices: BTreeMap<String, MappedMatrix>,
}

/// The suffix of the key of a tied output layer: the embedding table, packed transposed.
const TRANSPOSED_SUFFIX: &str = "^T";

/// Returns the key of matrices that are packed side by side. `transposed` marks a tied output
/// layer.
pub fn matrix_key(matrices: &[&str], transposed: bool) -> String {
    matrices.join("+") + if transposed { TRANSPOSED_SUFFIX } else { "" }
}

/// Returns the names of the matrices of a key.
pub fn matrix_names(key: &str) -> impl Iterator<Item = &str> {
    key.strip_suffix(TRANSPOSED_SUFFIX).unwrap_or(key).split('+')
}

/// Whether a key belongs to a tied output layer.
pub fn is_transposed(key: &str) -> bool {
    key.ends_with(TRANSPOSED_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_contain_the_names_of_their_matrices() {
        for (names, transposed) in [(&["Wemb"][..], true), (&["Wq", "Wk", "Wv"], false)] {
            let key = matrix_key(names, transposed);
            assert_eq!(matrix_names(&key).collect::<Vec<_>>(), names);
            assert_eq!(is_transposed(&key), transposed);
        }
    }
}
