//! Parameters of layers as plain floats, for backends that do not take the packed matrices of the
//! engine. A matrix is unpacked if the file has it packed, and read from its tensors otherwise.

use std::path::{Path, PathBuf};

use crate::layer::AffineNames;
use crate::{Error, Result};
use miriam_nmt_models::architecture::Model;
use miriam_nmt_models::checkpoint::{Tensor, transpose};
use miriam_nmt_models::packed::{PackedView, matrix_key};

/// A matrix in row-major order.
pub struct PlainMatrix {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// The numbers, `[rows, columns]`.
    pub values: Vec<f32>,
}

/// The weights of a matrix product: `[inputs, outputs]`, and a bias for each output.
pub struct PlainWeights {
    /// The matrix.
    pub matrix: PlainMatrix,
    /// The bias.
    pub bias: Option<Vec<f32>>,
}

/// Reader of the parameters of a model.
pub struct PlainParameters<'a> {
    model: &'a Model,
    path: PathBuf,
}

impl<'a> PlainParameters<'a> {
    /// Creates a reader of the parameters of `model`; `path` names the model in messages.
    pub fn new(model: &'a Model, path: &Path) -> Self {
        PlainParameters { model, path: path.to_owned() }
    }

    fn tensor(&self, name: &str) -> Result<&'a Tensor> {
        self.model
            .parameter(name)
            .ok_or_else(|| Error::mismatch(&self.path, name, "the parameter is missing"))
    }

    /// Returns the numbers of a parameter.
    ///
    /// # Errors
    /// If it is missing.
    pub fn values(&self, name: &str) -> Result<Vec<f32>> {
        Ok(self.tensor(name)?.values())
    }

    /// Returns the numbers of parameters one after the other.
    ///
    /// # Errors
    /// If one is missing.
    pub fn concat_values(&self, names: &[&str]) -> Result<Vec<f32>> {
        let all = names.iter().map(|name| self.values(name));
        Ok(all.collect::<Result<Vec<_>>>()?.concat())
    }

    /// Returns a matrix.
    ///
    /// # Errors
    /// If it is missing.
    pub fn matrix(&self, name: &str) -> Result<PlainMatrix> {
        let tensor = self.tensor(name)?;
        let [rows, columns] = [tensor.shape()[0], tensor.shape()[1]];
        Ok(PlainMatrix { rows, columns, values: tensor.values() })
    }

    /// Returns the weights of a matrix product, the matrices side by side.
    ///
    /// # Errors
    /// If a parameter is missing, or matrices have different numbers of inputs.
    pub fn weights(&self, affine: AffineNames<'_>) -> Result<PlainWeights> {
        let widths = affine.matrices.iter().map(|name| self.model.parameter_shape(name)[1]);
        let widths: Vec<usize> = widths.collect();
        let matrix = match self.unpacked(&matrix_key(affine.matrices, false)) {
            Some(matrix) => matrix,
            None => self.side_by_side(affine.matrices)?,
        };
        let mut bias = Vec::new();
        for (name, width) in affine.biases.iter().zip(&widths) {
            match *name {
                "" => bias.resize(bias.len() + width, 0.0),
                name => bias.extend(self.values(name)?),
            }
        }
        Ok(PlainWeights { matrix, bias: (!affine.biases.is_empty()).then_some(bias) })
    }

    /// Returns the weights of an output layer, whose table is `[tokens, inputs]`.
    ///
    /// # Errors
    /// If a parameter is missing.
    pub fn output_weights(&self, table: &str, bias: Option<&str>) -> Result<PlainWeights> {
        let matrix = match self.unpacked(&matrix_key(&[table], true)) {
            Some(matrix) => matrix,
            None => transposed(&self.matrix(table)?),
        };
        Ok(PlainWeights { matrix, bias: bias.map(|name| self.values(name)).transpose()? })
    }

    fn side_by_side(&self, names: &[&str]) -> Result<PlainMatrix> {
        let parts = names.iter().map(|name| self.matrix(name)).collect::<Result<Vec<_>>>()?;
        let rows = parts[0].rows;
        if let Some(index) = parts.iter().position(|part| part.rows != rows) {
            let reason = format!("expected {rows} inputs, found {}", parts[index].rows);
            return Err(Error::mismatch(&self.path, names[index], reason));
        }
        let columns = parts.iter().map(|part| part.columns).sum();
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for part in &parts {
                values.extend_from_slice(&part.values[row * part.columns..][..part.columns]);
            }
        }
        Ok(PlainMatrix { rows, columns, values })
    }

    /// Unpacks the matrix `key`; returns `None` if the file does not have it packed.
    fn unpacked(&self, key: &str) -> Option<PlainMatrix> {
        let stored = self.model.packed_matrices()?.matrices.get(key)?;
        let view = stored.view().expect("checked when the file was opened");
        let outputs = PlainMatrix {
            rows: view.columns(),
            columns: view.depth(),
            values: vec![0.0; view.columns() * view.depth()],
        };
        Some(transposed(&unpack_columns(view, outputs)))
    }
}

/// Fills the rows of `outputs`, `[outputs, inputs]`, with the columns of a packed matrix.
fn unpack_columns(view: PackedView<'_>, mut outputs: PlainMatrix) -> PlainMatrix {
    let depth = outputs.columns.max(1);
    for (column, into) in outputs.values.chunks_exact_mut(depth).enumerate() {
        match view {
            PackedView::F32(weights) => weights.column(column, into),
            PackedView::I16(weights) => weights.column(column, into),
            PackedView::I8(weights) => weights.column(column, into),
        }
    }
    outputs
}

fn transposed(matrix: &PlainMatrix) -> PlainMatrix {
    let PlainMatrix { rows, columns, ref values } = *matrix;
    PlainMatrix { rows: columns, columns: rows, values: transpose(values, rows, columns) }
}
