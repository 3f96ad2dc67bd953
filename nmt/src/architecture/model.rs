//! A description joined with its parameters: every one there, of its shape.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use miriam_storage::{Bytes, View};

use super::Architecture;
use crate::checkpoint::{DType, OwnedBytes, StorageOrder, Tensor};
use crate::packed::{MappedMatrix, Precision, is_transposed, matrix_names};
use crate::{Error, Result};

/// What many writers leave in their files and nobody needs.
const IGNORED_TENSORS: [&str; 4] = ["decoder_c_tt", "uidx", "history_errs", "zipped_params"];

/// A parameter that an architecture needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterSpec {
    /// Marian's name for it.
    pub name: String,
    /// Its logical shape: rows, columns.
    pub shape: [usize; 2],
}

impl ParameterSpec {
    pub(super) fn new(name: impl Into<String>, shape: [usize; 2]) -> Self {
        ParameterSpec { name: name.into(), shape }
    }
}

/// A model: what it is and its parameters.
pub struct Model {
    architecture: Architecture,
    parameters: BTreeMap<String, Tensor>,
    activation_multipliers: BTreeMap<String, f32>,
    unused: Vec<String>,
    /// Matrices that are packed for products of one precision, in the place of parameters.
    packed_matrices: Option<(Precision, BTreeMap<String, MappedMatrix>)>,
}

impl Model {
    /// Takes the parameters of `architecture` out of `tensors`, whose names are Marian's.
    /// Each must be there in its shape; a list may come as [n] instead of [1, n]. What is
    /// left over is kept by name.
    pub(crate) fn new(
        architecture: Architecture,
        tensors: BTreeMap<String, Tensor>,
        activation_multipliers: BTreeMap<String, f32>,
        path: &Path,
    ) -> Result<Self> {
        Self::with_packed(architecture, tensors, activation_multipliers, None, path)
    }

    /// The same, where some matrices come packed, by their names. Their parameters need not
    /// be there otherwise, but shapes must be theirs.
    pub(crate) fn with_packed(
        architecture: Architecture,
        mut tensors: BTreeMap<String, Tensor>,
        activation_multipliers: BTreeMap<String, f32>,
        stored: Option<(Precision, BTreeMap<String, MappedMatrix>)>,
        path: &Path,
    ) -> Result<Self> {
        let wrong = |reason| Error::mismatch(path, "options", reason);
        architecture.validate().map_err(wrong)?;
        let packed = match &stored {
            Some((_, stored)) => check_packed_shapes(&architecture, stored, path)?,
            None => BTreeSet::new(),
        };
        let mut parameters = BTreeMap::new();
        let mut missing = Vec::new();
        for ParameterSpec { name, shape } in architecture.parameters() {
            let Some(tensor) = take_tensor(&mut tensors, &name) else {
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
                    let reason = format!("its shape is {found:?}, the options ask for {shape:?}");
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
            let reason = format!("the parameter{others} is missing, though the options ask for it");
            return Err(Error::mismatch(path, first, reason));
        }
        let unused =
            tensors.into_keys().filter(|name| !IGNORED_TENSORS.contains(&&name[..])).collect();
        Ok(Model {
            architecture,
            parameters,
            activation_multipliers,
            unused,
            packed_matrices: stored,
        })
    }

    /// A model whose parameters `values` gives, as many numbers each as the shape says, in
    /// the order of rows: one that is not read but made.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the architecture is none or a parameter has other numbers.
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

    /// What the model is.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// The same parameters under a changed description, which must need the same.
    pub(crate) fn set_architecture(&mut self, architecture: Architecture) {
        debug_assert_eq!(self.architecture.parameters(), architecture.parameters());
        self.architecture = architecture;
    }

    /// The parameter of that name (Marian's).
    pub fn parameter(&self, name: &str) -> Option<&Tensor> {
        self.parameters.get(name)
    }

    /// All parameters in the order of their names.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = (&str, &Tensor)> {
        self.parameters.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }

    /// The shape of a parameter that the architecture needs; zeros for others.
    pub(crate) fn parameter_shape(&self, name: &str) -> [usize; 2] {
        let all = self.architecture.parameters();
        all.into_iter().find(|needed| needed.name == name).map_or([0, 0], |needed| needed.shape)
    }

    /// Matrices that are packed, by their names side by side, if the file has such.
    pub(crate) fn packed_matrices(&self) -> Option<(Precision, &BTreeMap<String, MappedMatrix>)> {
        self.packed_matrices.as_ref().map(|(precision, stored)| (*precision, stored))
    }

    /// The precision that weights are packed in, where the file has them so: no other can be
    /// multiplied with.
    pub fn precision(&self) -> Option<Precision> {
        self.packed_matrices.as_ref().map(|(precision, _)| *precision)
    }

    /// What activations that meet the matrix `name` were multiplied with when the model
    /// was made for integers, where it says so (`none` is a tied output layer).
    pub fn activation_multiplier(&self, name: &str) -> Option<f32> {
        self.activation_multipliers.get(name).copied()
    }

    /// All of them.
    pub fn activation_multipliers(&self) -> &BTreeMap<String, f32> {
        &self.activation_multipliers
    }

    /// Tensors of the file that the architecture has no use for.
    pub fn unused(&self) -> &[String] {
        &self.unused
    }
}

/// Names of parameters that lie packed. Each matrix must have their shapes side by side.
fn check_packed_shapes(
    architecture: &Architecture,
    stored: &BTreeMap<String, MappedMatrix>,
    path: &Path,
) -> Result<BTreeSet<String>> {
    let needed: BTreeMap<String, [usize; 2]> =
        architecture.parameters().into_iter().map(|p| (p.name, p.shape)).collect();
    let mut names = BTreeSet::new();
    for (key, matrix) in stored {
        let mut shape: Option<[usize; 2]> = None;
        for name in matrix_names(key) {
            let Some(&[rows, columns]) = needed.get(name) else {
                return Err(Error::mismatch(path, key, format!("{name} is no parameter")));
            };
            let own = if is_transposed(key) { [columns, rows] } else { [rows, columns] };
            shape = match shape {
                None => Some(own),
                Some([depth, width]) if depth == own[0] => Some([depth, width + own[1]]),
                Some(_) => return Err(Error::mismatch(path, key, "their inputs differ")),
            };
            names.insert(name.to_owned());
        }
        if shape != Some([matrix.depth, matrix.columns]) {
            let reason = format!("a packed matrix of {} by {}", matrix.depth, matrix.columns);
            return Err(Error::mismatch(path, key, reason));
        }
    }
    Ok(names)
}

/// The tensor of that name. Output matrices may come the other way round, under a name
/// without the `t`.
fn take_tensor(tensors: &mut BTreeMap<String, Tensor>, name: &str) -> Option<Tensor> {
    tensors.remove(name).or_else(|| {
        let turned = name.strip_suffix("_Wt")?;
        tensors.remove(&format!("{turned}_W")).map(Tensor::transposed)
    })
}
