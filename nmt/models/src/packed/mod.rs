//! Packed weight matrices: their precision, their names in files, and matrices that stay in a
//! mapped file.

mod mapped_matrix;
mod precision;

use std::collections::BTreeMap;

use miriam_kernels::pack::Line;

pub use mapped_matrix::{MappedMatrix, PackedView};
pub use precision::Precision;

/// The largest integer of eight bits that quantisers write.
pub const LARGEST: f32 = 127.0;

/// The name of the multiplier of inputs where the output layer is a table.
pub const TABLE_AS_OUTPUT: &str = "none";

/// The parts of a packed matrix, `[depth, columns]`, that a file stores.
pub struct PackedParts<'a> {
    /// The number of inputs.
    pub depth: usize,
    /// The number of outputs.
    pub columns: usize,
    /// The packed numbers.
    pub lines: &'a [Line],
    /// The scale of each column; empty for floats.
    pub scales: &'a [f32],
    /// The correction of each column, for eight bits.
    pub corrections: &'a [i32],
    /// The largest Euclidean norm of a run of any column, for 16 bits.
    pub norm: u32,
}

/// The packed matrices of a model file, by their names.
#[derive(Clone)]
pub struct PackedMatrices {
    /// The precision of all of them.
    pub precision: Precision,
    /// The matrices, by the names of [`matrix_key`].
    pub matrices: BTreeMap<String, MappedMatrix>,
}

/// The suffix of the name of an output layer, a table that is packed transposed.
const TRANSPOSED_SUFFIX: &str = "^T";

/// Returns the name in files of matrices that are packed side by side; `transposed` for an output
/// layer.
pub fn matrix_key(matrices: &[&str], transposed: bool) -> String {
    matrices.join("+") + if transposed { TRANSPOSED_SUFFIX } else { "" }
}

/// Returns the names of the matrices of a key.
pub fn matrix_names(key: &str) -> impl Iterator<Item = &str> {
    key.strip_suffix(TRANSPOSED_SUFFIX).unwrap_or(key).split('+')
}

/// Whether a key is that of an output layer.
pub fn is_transposed(key: &str) -> bool {
    key.ends_with(TRANSPOSED_SUFFIX)
}
