//! A description joined with its parameters: every one there, of its shape.

use std::collections::BTreeMap;
use std::path::Path;

use super::Architecture;
use crate::checkpoint::Tensor;
use crate::{Error, Result};

/// What many writers leave in their files and nobody needs.
const HARMLESS: [&str; 4] = ["decoder_c_tt", "uidx", "history_errs", "zipped_params"];

/// A parameter that an architecture needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Marian's name for it.
    pub name: String,
    /// Its logical shape: rows, columns.
    pub shape: [usize; 2],
}

impl Parameter {
    pub(super) fn new(name: impl Into<String>, shape: [usize; 2]) -> Self {
        Parameter { name: name.into(), shape }
    }
}

/// A model: what it is and its parameters.
pub struct Model {
    architecture: Architecture,
    parameters: BTreeMap<String, Tensor>,
    activation_multipliers: BTreeMap<String, f32>,
    unused: Vec<String>,
}

impl Model {
    /// Takes the parameters of `architecture` out of `tensors`, whose names are Marian's.
    /// Each must be there in its shape; a list may come as [n] instead of [1, n]. What is
    /// left over is kept by name.
    pub(crate) fn new(
        architecture: Architecture,
        mut tensors: BTreeMap<String, Tensor>,
        activation_multipliers: BTreeMap<String, f32>,
        path: &Path,
    ) -> Result<Self> {
        let wrong = |reason| Error::mismatch(path, "options", reason);
        architecture.check().map_err(wrong)?;
        let mut parameters = BTreeMap::new();
        let mut missing = Vec::new();
        for Parameter { name, shape } in architecture.parameters() {
            let Some(tensor) = take(&mut tensors, &name) else {
                missing.push(name);
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
        let unused = tensors.into_keys().filter(|name| !HARMLESS.contains(&&name[..])).collect();
        Ok(Model { architecture, parameters, activation_multipliers, unused })
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

/// The tensor of that name. Output matrices may come the other way round, under a name
/// without the `t`.
fn take(tensors: &mut BTreeMap<String, Tensor>, name: &str) -> Option<Tensor> {
    tensors.remove(name).or_else(|| {
        let turned = name.strip_suffix("_Wt")?;
        tensors.remove(&format!("{turned}_W")).map(Tensor::transposed)
    })
}
