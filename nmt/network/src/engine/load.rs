//! Loader of a model's parameters for engines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_kernels::MatRef;
use miriam_kernels::embedding::SinusoidKind;
use miriam_kernels::pack::{Layout, UnpackedWeights, WeightsF32, WeightsI8, WeightsI16};

use super::weights::WeightMatrix;
use super::{EmbeddingTable, Engine, PositionalEncoding, Precision, Weights};
use crate::layer::{AffineNames, ParameterLoader, RelativePositions};
use crate::{Error, Result};
use miriam_nmt_models::architecture::{Model, PositionalEncodingKind};
use miriam_nmt_models::checkpoint::{DType, QuantMultipliers, StorageOrder, Tensor};
use miriam_nmt_models::packed::{
    MAX_I8, TIED_OUTPUT_ALPHA, is_transposed, matrix_key, matrix_names,
};

/// Loader that packs the parameters of a model, or uses the packed matrices of its file.
pub struct WeightLoader<'a> {
    model: &'a Model,
    path: PathBuf,
    precision: Precision,
    used: UsedParameters,
}

/// The parameters that layers have loaded.
#[derive(Default)]
pub(crate) struct UsedParameters {
    /// Packed matrices by their keys.
    pub packed: BTreeMap<String, Arc<Weights>>,
    /// Names of the parameters that are used unpacked.
    pub plain: BTreeSet<String>,
}

impl<'a> WeightLoader<'a> {
    /// Creates a loader of the parameters of `model` for GEMM in `precision`; `path` names the
    /// model in messages.
    pub fn new(model: &'a Model, path: &Path, precision: Precision) -> Self {
        WeightLoader { model, path: path.to_owned(), precision, used: UsedParameters::default() }
    }

    /// Returns the parameters that were loaded.
    pub(crate) fn into_used_parameters(self) -> UsedParameters {
        self.used
    }

    fn tensor(&self, name: &str) -> Result<&'a Tensor> {
        self.model
            .parameter(name)
            .ok_or_else(|| Error::mismatch(&self.path, name, "the parameter is missing"))
    }

    /// Returns a parameter that is used unpacked.
    fn plain_tensor(&mut self, name: &str) -> Result<&'a Tensor> {
        self.used.plain.insert(name.to_owned());
        self.tensor(name)
    }

    /// Loads the packed matrix `key` from the file, or packs it with `pack`.
    fn load_matrix(
        &mut self,
        key: String,
        bias: Option<Vec<f32>>,
        pack: impl FnOnce(&Self) -> Result<WeightMatrix>,
    ) -> Result<Arc<Weights>> {
        let stored = self.model.packed_matrices().and_then(|packed| {
            let stored = packed.matrices.get(&key);
            stored.filter(|_| packed.precision.packs_like(self.precision))
        });
        let matrix = match (stored, self.model.precision()) {
            (Some(stored), _) => WeightMatrix::Mapped(stored.clone()),
            (None, None) => {
                let packed = pack(self)?;
                // The unpacked parameters are not read again, except rows of tables.
                matrix_names(&key).for_each(|name| {
                    self.model.parameter(name).into_iter().for_each(Tensor::release_pages);
                });
                packed
            }
            (None, Some(only)) if !only.packs_like(self.precision) => {
                let reason = format!(
                    "its weights are packed as {}, not as {}; convert the original model again",
                    only.name(),
                    self.precision.name()
                );
                return Err(Error::unsupported(&self.path, reason));
            }
            (None, Some(_)) => {
                let reason = "the file does not have this packed matrix; to use another dialect, \
                              convert the original model for it";
                return Err(Error::mismatch(&self.path, &key, reason));
            }
        };
        let columns = matrix.view().columns();
        if let Some(bias) = bias.as_ref().filter(|bias| bias.len() != columns) {
            let reason = format!("expected {columns} biases, found {}", bias.len());
            return Err(Error::mismatch(&self.path, &key, reason));
        }
        let input_clip = match self.precision {
            Precision::I8Alphas => Some(self.input_clip(&key)?),
            _ => None,
        };
        let weights = Arc::new(Weights { matrix, bias, input_clip });
        self.used.packed.insert(key, Arc::clone(&weights));
        Ok(weights)
    }

    /// Returns the magnitude at which a file with alphas clips the inputs of a matrix, or of
    /// several that are multiplied with the same inputs.
    fn input_clip(&self, key: &str) -> Result<f32> {
        let missing = |name: &str| {
            let reason = "the file has no scale for quantising its inputs (no alphas); give \
                          --precision i8";
            Error::mismatch(&self.path, name, reason)
        };
        let output_name = is_transposed(key).then_some(TIED_OUTPUT_ALPHA);
        let mut clip = None;
        for name in matrix_names(key) {
            let mut names = output_name.into_iter().chain([name]);
            let multiplier = names.find_map(|name| self.model.activation_multiplier(name));
            let magnitude = MAX_I8 / multiplier.ok_or_else(|| missing(name))?;
            if *clip.get_or_insert(magnitude) != magnitude {
                let reason = "the scale of its inputs differs from that of a matrix with the \
                              same inputs; give --precision i8";
                return Err(Error::mismatch(&self.path, name, reason));
            }
        }
        clip.ok_or_else(|| missing(key))
    }

    fn pack(&self, name: &str, source: UnpackedWeights<f32>) -> Result<WeightMatrix> {
        let matrix = match self.precision.layout(name) {
            Layout::F32 => WeightsF32::pack(source).map(WeightMatrix::F32),
            Layout::I16 => WeightsI16::quantize(source).map(WeightMatrix::I16),
            Layout::I8 => WeightsI8::quantize(source).map(WeightMatrix::I8),
        };
        matrix.map_err(|e| Error::mismatch(&self.path, name, e.to_string()))
    }

    /// Packs several matrices side by side.
    fn pack_concatenated(&self, names: &[&str]) -> Result<WeightMatrix> {
        let tensors = names.iter().map(|name| self.tensor(name)).collect::<Result<Vec<_>>>()?;
        if self.precision.layout(names[0]) == Layout::I8 {
            let columns = tensors.iter().map(|tensor| IntegerColumns::from_matrix(tensor));
            if let Some(columns) = columns.collect::<Option<Vec<_>>>()
                && let Some(packed) = pack_integers(&columns)
            {
                return packed.map_err(|e| Error::mismatch(&self.path, names[0], e.to_string()));
            }
        }
        let depth = tensors[0].shape()[0];
        let width: usize = tensors.iter().map(|tensor| tensor.shape()[1]).sum();
        let mut joined = vec![0.0; depth * width];
        let mut first = 0;
        for (tensor, name) in tensors.iter().zip(names) {
            let columns = tensor.shape()[1];
            if tensor.shape()[0] != depth {
                let reason = format!("expected {depth} inputs, found {}", tensor.shape()[0]);
                return Err(Error::mismatch(&self.path, name, reason));
            }
            for (row, values) in tensor.values().chunks_exact(columns).enumerate() {
                joined[row * width + first..][..columns].copy_from_slice(values);
            }
            first += columns;
        }
        self.pack(names[0], UnpackedWeights::inputs_by_outputs(MatRef::new(&joined, depth, width)))
    }
}

/// The columns of a matrix of eight-bit integers, one output after the other as in the file.
struct IntegerColumns<'a> {
    bytes: &'a [u8],
    depth: usize,
    columns: usize,
    multipliers: &'a QuantMultipliers,
}

impl<'a> IntegerColumns<'a> {
    /// Returns the columns of a matrix `[inputs, outputs]`, if the file stores integers column by
    /// column.
    fn from_matrix(tensor: &'a Tensor) -> Option<Self> {
        let &[depth, columns] = tensor.shape() else { return None };
        Self::new(tensor, StorageOrder::ColumnMajor, depth, columns)
    }

    /// Returns the columns of a table `[outputs, inputs]`, if the file stores integers row by row.
    fn from_table(tensor: &'a Tensor) -> Option<Self> {
        let &[columns, depth] = tensor.shape() else { return None };
        Self::new(tensor, StorageOrder::RowMajor, depth, columns)
    }

    fn new(tensor: &'a Tensor, order: StorageOrder, depth: usize, columns: usize) -> Option<Self> {
        let bytes = tensor.bytes();
        // The negative of -128 does not fit eight bits; no quantiser writes this number.
        let fits = tensor.dtype() == DType::I8 && tensor.order() == order && !bytes.contains(&0x80);
        let multipliers = tensor.multipliers().filter(|_| fits)?;
        Some(IntegerColumns { bytes, depth, columns, multipliers })
    }

    /// Returns the factor of the integers of each output.
    fn scales(&self) -> Vec<f32> {
        match self.multipliers {
            QuantMultipliers::PerTensor(multiplier) => vec![1.0 / multiplier; self.columns],
            QuantMultipliers::PerChannel(multipliers) => {
                multipliers.iter().map(|multiplier| 1.0 / multiplier).collect()
            }
        }
    }
}

/// Whether packing `tensors` side by side in `layout` loses nothing, so that their values can be
/// read from the packed matrix. `transposed`: whether they are packed transposed.
pub(crate) fn packs_losslessly(layout: Layout, tensors: &[&Tensor], transposed: bool) -> bool {
    tensors.iter().all(|tensor| match layout {
        Layout::F32 => !matches!(tensor.dtype(), DType::I8 | DType::I16 | DType::I32 | DType::I64),
        Layout::I16 => false,
        Layout::I8 if transposed => IntegerColumns::from_table(tensor).is_some(),
        Layout::I8 => IntegerColumns::from_matrix(tensor).is_some(),
    })
}

/// Packs the integers of a file unchanged, matrices side by side. They are not rounded again, and
/// no matrix of floats is made.
fn pack_integers(matrices: &[IntegerColumns<'_>]) -> Option<miriam_kernels::Result<WeightMatrix>> {
    let depth = matrices.first()?.depth;
    if matrices.iter().any(|matrix| matrix.depth != depth) {
        return None;
    }
    let scales: Vec<f32> = matrices.iter().flat_map(IntegerColumns::scales).collect();
    let joined: Vec<u8>;
    let bytes = match matrices {
        // The largest matrix, the output layer, is packed alone and need not be copied.
        [one] => one.bytes,
        several => {
            joined = several.iter().map(|matrix| matrix.bytes).collect::<Vec<_>>().concat();
            &joined
        }
    };
    let source = UnpackedWeights::outputs_by_inputs(MatRef::new(bytes, scales.len(), depth));
    Some(WeightsI8::pack_bytes(source, |column| scales[column]).map(WeightMatrix::I8))
}

impl ParameterLoader<Engine> for WeightLoader<'_> {
    fn weights(&mut self, affine: AffineNames<'_>) -> Result<Arc<Weights>> {
        let bias = match affine.biases {
            [] => None,
            names => {
                let mut all = Vec::new();
                for (name, matrix) in names.iter().zip(affine.matrices) {
                    match *name {
                        "" => all.resize(all.len() + self.model.parameter_shape(matrix)[1], 0.0),
                        name => all.extend(self.plain_tensor(name)?.values()),
                    }
                }
                Some(all)
            }
        };
        let key = matrix_key(affine.matrices, false);
        self.load_matrix(key, bias, |loader| loader.pack_concatenated(affine.matrices))
    }

    fn output_weights(&mut self, table: &str, bias: Option<&str>) -> Result<Arc<Weights>> {
        let bias =
            bias.map(|name| Ok::<_, Error>(self.plain_tensor(name)?.values())).transpose()?;
        self.load_matrix(matrix_key(&[table], true), bias, |loader| {
            let tensor = loader.tensor(table)?;
            if loader.precision.layout(table) == Layout::I8
                && let Some(columns) = IntegerColumns::from_table(tensor)
                && let Some(packed) = pack_integers(&[columns])
            {
                return packed.map_err(|e| Error::mismatch(&loader.path, table, e.to_string()));
            }
            let (values, shape) = (tensor.values(), tensor.shape());
            loader.pack(
                table,
                UnpackedWeights::outputs_by_inputs(MatRef::new(&values, shape[0], shape[1])),
            )
        })
    }

    fn vector(&mut self, name: &str) -> Result<Arc<[f32]>> {
        Ok(self.plain_tensor(name)?.values().into())
    }

    fn values(&mut self, name: &str) -> Result<Vec<f32>> {
        Ok(self.plain_tensor(name)?.values())
    }

    fn concat_vectors(&mut self, names: &[&str]) -> Result<Arc<[f32]>> {
        let all = names.iter().map(|name| Ok(self.plain_tensor(name)?.values()));
        Ok(all.collect::<Result<Vec<_>>>()?.concat().into())
    }

    fn relative_positions(&mut self, host: RelativePositions) -> Result<RelativePositions> {
        Ok(host)
    }

    fn embedding_table(&mut self, name: &str) -> Result<Arc<EmbeddingTable>> {
        Ok(Arc::new(EmbeddingTable::new(self.plain_tensor(name)?)))
    }

    fn positional_encoding(
        &mut self,
        kind: PositionalEncodingKind,
        width: usize,
        name: &str,
    ) -> Result<Option<PositionalEncoding>> {
        Ok(match kind {
            PositionalEncodingKind::None
            | PositionalEncodingKind::RelativeVectors { .. }
            | PositionalEncodingKind::RelativeBias(_) => None,
            PositionalEncodingKind::SinusoidalMarian
            | PositionalEncodingKind::SinusoidalFromOne
            | PositionalEncodingKind::SinusoidalFromTwo => {
                Some(PositionalEncoding::Sinusoidal(SinusoidKind::Marian, width))
            }
            PositionalEncodingKind::Sinusoidal => {
                Some(PositionalEncoding::Sinusoidal(SinusoidKind::CTranslate2, width))
            }
            PositionalEncodingKind::Table { .. } => {
                Some(PositionalEncoding::Learned(self.embedding_table(name)?))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_nmt_models::checkpoint::OwnedBytes;
    use miriam_nmt_models::packed::PackedView;
    use miriam_storage::{Bytes, View};

    fn tensor(shape: [usize; 2], order: StorageOrder, values: &[i8]) -> Tensor {
        let bytes: Vec<u8> = values.iter().map(|&value| value as u8).collect();
        let view = View::new(&Bytes::copy_from(&bytes), 0, bytes.len()).unwrap();
        Tensor::new(shape.to_vec(), DType::I8, order, OwnedBytes::new(view)).unwrap()
    }

    fn columns(matrix: &WeightMatrix) -> Vec<Vec<f32>> {
        let PackedView::I8(view) = matrix.view() else { panic!("eight bits") };
        let column = |column| {
            let mut values = vec![0.0; view.depth()];
            view.column(column, &mut values);
            values
        };
        (0..view.columns()).map(column).collect()
    }

    #[test]
    fn integers_of_a_file_are_kept() {
        // Quantising the second column again would round its numbers to multiples of 50 / 127.
        let one = tensor([3, 2], StorageOrder::ColumnMajor, &[2, 4, 6, 100, -56, 43]);
        let one = one.with_multipliers(QuantMultipliers::PerTensor(2.0)).unwrap();
        let each = QuantMultipliers::PerChannel([4.0].into());
        let other = tensor([3, 1], StorageOrder::ColumnMajor, &[1, 127, -127]);
        let other = other.with_multipliers(each).unwrap();
        let both = [&one, &other].map(|tensor| IntegerColumns::from_matrix(tensor).unwrap());
        let packed = pack_integers(&both).unwrap().unwrap();
        let expected = [[1.0, 2.0, 3.0], [50.0, -28.0, 21.5], [0.25, 31.75, -31.75]];
        assert_eq!(columns(&packed), expected);
        // A table has its outputs as rows.
        let table = one.transposed();
        let packed = pack_integers(&[IntegerColumns::from_table(&table).unwrap()]);
        assert_eq!(columns(&packed.unwrap().unwrap()), expected[..2]);
        assert!(IntegerColumns::from_matrix(&table).is_none());
        let lowest = tensor([1, 2], StorageOrder::ColumnMajor, &[1, -128]);
        let lowest = lowest.with_multipliers(QuantMultipliers::PerTensor(2.0)).unwrap();
        assert!(IntegerColumns::from_matrix(&lowest).is_none());
    }
}
