//! A model: an architecture with all its parameters, each in its shape.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use miriam_storage::{Bytes, View};

use super::Architecture;
use crate::checkpoint::{DType, OwnedBytes, StorageOrder, Tensor};
use crate::packed::{MappedMatrix, PackedMatrices, Precision, is_transposed, matrix_names};
use crate::{Error, Result};

/// An entry of files that Nematus wrote. Marian expects Nematus' names of parameters only if the
/// entry exists; its value does not matter.
pub(crate) const NEMATUS_NAMING_MARK: &str = "decoder_c_tt";

/// Entries of checkpoints that are not parameters, left by training.
const IGNORED_TENSORS: [&str; 4] = [NEMATUS_NAMING_MARK, "uidx", "history_errs", "zipped_params"];

/// A parameter that an architecture needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterSpec {
    /// Marian's name for it.
    pub name: String,
    /// Its logical shape, `[rows, columns]`.
    pub shape: [usize; 2],
}

impl ParameterSpec {
    pub(super) fn new(name: impl Into<String>, shape: [usize; 2]) -> Self {
        ParameterSpec { name: name.into(), shape }
    }
}

/// A model: an architecture and its parameters. Clones share the parameters.
#[derive(Clone)]
pub struct Model {
    architecture: Architecture,
    parameters: BTreeMap<String, Tensor>,
    activation_multipliers: BTreeMap<String, f32>,
    unused: Vec<String>,
    /// Matrices packed for GEMM in one precision.
    packed_matrices: Option<PackedMatrices>,
    /// Whether all parameters are stored; otherwise some exist only as packed matrices.
    is_complete: bool,
}

impl Model {
    /// Takes the parameters of `architecture` out of `tensors`, whose names are Marian's. Each must
    /// exist with its shape; a vector may be `[n]` instead of `[1, n]`. The names of other tensors
    /// are kept as unused.
    pub(crate) fn new(
        architecture: Architecture,
        tensors: BTreeMap<String, Tensor>,
        activation_multipliers: BTreeMap<String, f32>,
        path: &Path,
    ) -> Result<Self> {
        Self::with_packed(architecture, tensors, activation_multipliers, None, path)
    }

    /// Works as [`Model::new`]. Parameters that are in `packed_matrices` may be missing from
    /// `tensors`.
    pub(crate) fn with_packed(
        architecture: Architecture,
        mut tensors: BTreeMap<String, Tensor>,
        activation_multipliers: BTreeMap<String, f32>,
        packed_matrices: Option<PackedMatrices>,
        path: &Path,
    ) -> Result<Self> {
        architecture.validate().map_err(|reason| Error::mismatch(path, "options", reason))?;
        let packed = match &packed_matrices {
            Some(packed) => check_packed_shapes(&architecture, &packed.matrices, path)?,
            None => BTreeSet::new(),
        };
        let mut parameters = BTreeMap::new();
        let (mut missing, mut is_complete) = (Vec::new(), true);
        for ParameterSpec { name, shape } in architecture.parameters() {
            let Some(tensor) = take_tensor(&mut tensors, &name) else {
                is_complete = false;
                if !packed.contains(&name) {
                    missing.push(name);
                }
                continue;
            };
            let found = tensor.shape().to_vec();
            let tensor = match found[..] {
                [rows, columns] if [rows, columns] == shape => tensor,
                [n] if shape == [1, n] => {
                    let reshaped = tensor.reshaped(shape.to_vec());
                    reshaped.map_err(|reason| Error::mismatch(path, &name, reason))?
                }
                _ => {
                    let reason = format!("expected the shape {shape:?}, found {found:?}");
                    return Err(Error::mismatch(path, &name, reason));
                }
            };
            parameters.insert(name, tensor);
        }
        if let [first, rest @ ..] = &missing[..] {
            let others = match rest.len() {
                0 => String::new(),
                1 => " and another one".into(),
                n => format!(" and {n} others"),
            };
            let reason = format!("the parameter{others} is missing, though the options need it");
            return Err(Error::mismatch(path, first, reason));
        }
        let unused =
            tensors.into_keys().filter(|name| !IGNORED_TENSORS.contains(&&name[..])).collect();
        Ok(Model {
            architecture,
            parameters,
            activation_multipliers,
            unused,
            packed_matrices,
            is_complete,
        })
    }

    /// Creates a model in memory: `values` gives the elements of each parameter in row-major order.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the architecture is not valid or `values` gives the wrong number of
    /// elements.
    pub fn with_values(
        architecture: Architecture,
        mut values: impl FnMut(&ParameterSpec) -> Vec<f32>,
    ) -> Result<Self> {
        let path = Path::new("(made in memory)");
        architecture.validate().map_err(|reason| Error::mismatch(path, "options", reason))?;
        let tensors = architecture.parameters().into_iter().map(|parameter| {
            let bytes: Vec<u8> =
                values(&parameter).iter().flat_map(|value| value.to_le_bytes()).collect();
            let bytes = Bytes::copy_from(&bytes);
            let view = View::new(&bytes, 0, bytes.len())
                .map_err(|reason| Error::mismatch(path, &parameter.name, reason))?;
            let shape = parameter.shape.to_vec();
            let tensor =
                Tensor::new(shape, DType::F32, StorageOrder::RowMajor, OwnedBytes::new(view))
                    .map_err(|reason| Error::mismatch(path, &parameter.name, reason))?;
            Ok((parameter.name, tensor))
        });
        let tensors = tensors.collect::<Result<_>>()?;
        Model::new(architecture, tensors, BTreeMap::new(), path)
    }

    /// Returns the architecture.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Replaces the architecture by one with the same parameters.
    pub(crate) fn set_architecture(&mut self, architecture: Architecture) {
        debug_assert_eq!(self.architecture.parameters(), architecture.parameters());
        self.architecture = architecture;
    }

    /// Returns the parameter that Marian calls `name`.
    pub fn parameter(&self, name: &str) -> Option<&Tensor> {
        self.parameters.get(name)
    }

    /// Returns all parameters, sorted by name.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = (&str, &Tensor)> {
        self.parameters.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }

    /// Checks that all parameters are finite; `path` names the model in messages.
    ///
    /// # Errors
    /// If a parameter is not finite; the error names the first such parameter.
    pub fn check_finite(&self, path: &Path) -> Result<()> {
        for (name, tensor) in self.parameters() {
            if let Some(value) = tensor.non_finite_value() {
                let reason = format!("a weight is {value}");
                return Err(Error::damaged(path, name, reason));
            }
            tensor.release_pages();
        }
        Ok(())
    }

    /// Returns the shape of a parameter of the architecture; `[0, 0]` for other names.
    pub fn parameter_shape(&self, name: &str) -> [usize; 2] {
        let all = self.architecture.parameters();
        all.into_iter().find(|needed| needed.name == name).map_or([0, 0], |needed| needed.shape)
    }

    /// Returns the packed matrices, by the joined names of their parameters, if the file has any.
    pub fn packed_matrices(&self) -> Option<&PackedMatrices> {
        self.packed_matrices.as_ref()
    }

    /// Returns the only precision of the model, if its file has the weights packed for this
    /// precision and in no other form.
    pub fn precision(&self) -> Option<Precision> {
        let packed = self.packed_matrices.as_ref().filter(|_| !self.is_complete);
        packed.map(|packed| packed.precision)
    }

    /// Returns the precision of the stored weights: [`precision`](Self::precision) if there is one,
    /// otherwise I8 or I16 if matrices are integers of this width, otherwise f32.
    pub fn stored_precision(&self) -> Precision {
        if let Some(packed) = self.precision() {
            return packed;
        }
        let weights = self.parameters().filter(|(name, _)| !name.contains("emb"));
        let mut dtypes = weights.map(|(_, tensor)| tensor.dtype());
        let highest = dtypes.try_fold(Precision::F32, |found, dtype| match dtype {
            DType::I8 => Err(Precision::I8),
            DType::I16 => Ok(Precision::I16),
            _ => Ok(found),
        });
        highest.unwrap_or_else(|eight| eight)
    }

    /// Returns the quantisation multiplier of the input activations of the matrix `name`, if the
    /// checkpoint has one. The name `none` means the matrix of a tied output layer.
    pub fn activation_multiplier(&self, name: &str) -> Option<f32> {
        self.activation_multipliers.get(name).copied()
    }

    /// Returns the quantisation multipliers of input activations by matrix.
    pub fn activation_multipliers(&self) -> &BTreeMap<String, f32> {
        &self.activation_multipliers
    }

    /// Returns the names of tensors in the file that the architecture does not use.
    pub fn unused_tensors(&self) -> &[String] {
        &self.unused
    }
}

/// Returns the names of packed parameters. Checks that each packed matrix has the shape of its
/// parameters side by side.
fn check_packed_shapes(
    architecture: &Architecture,
    matrices: &BTreeMap<String, MappedMatrix>,
    path: &Path,
) -> Result<BTreeSet<String>> {
    let needed: BTreeMap<String, [usize; 2]> =
        architecture.parameters().into_iter().map(|p| (p.name, p.shape)).collect();
    let mut names = BTreeSet::new();
    for (key, matrix) in matrices {
        let mut shape: Option<[usize; 2]> = None;
        for name in matrix_names(key) {
            let Some(&[rows, columns]) = needed.get(name) else {
                return Err(Error::mismatch(path, key, format!("{name} is not a parameter")));
            };
            let own = if is_transposed(key) { [columns, rows] } else { [rows, columns] };
            shape = match shape {
                None => Some(own),
                Some([depth, width]) if depth == own[0] => Some([depth, width + own[1]]),
                Some(_) => {
                    return Err(Error::mismatch(path, key, "its parameters differ in depth"));
                }
            };
            names.insert(name.to_owned());
        }
        if shape != Some([matrix.depth, matrix.columns]) {
            let reason = format!(
                "its packed matrix has the wrong shape, {} by {}",
                matrix.depth, matrix.columns
            );
            return Err(Error::mismatch(path, key, reason));
        }
    }
    Ok(names)
}

/// Takes the tensor of that name. Output matrices may be stored untransposed, under a name without
/// the `t`.
fn take_tensor(tensors: &mut BTreeMap<String, Tensor>, name: &str) -> Option<Tensor> {
    tensors.remove(name).or_else(|| {
        let prefix = name.strip_suffix("_Wt")?;
        tensors.remove(&format!("{prefix}_W")).map(Tensor::transposed)
    })
}
