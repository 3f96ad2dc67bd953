//! The flat vector of all parameters.
//!
//! Parameters are stored one after the other in the order of their names, each at a multiple of 64
//! floats. Marian does the same: its optimiser's state is one array in this order. The vector can
//! be divided into shards for workers regardless of its content (`docs/spec/training.md` 0.2 and
//! A.4).

use std::path::Path;

use miriam_nmt::ModelBundle;
use miriam_nmt::architecture::Architecture;

use crate::error::{Error, Result};

/// Every parameter is padded to a multiple of this many numbers: 256 bytes in f32.
pub const ALIGNMENT: usize = 64;

/// The exclusive limit of a parameter's magnitude. Products of two parameters are then below 1e30,
/// and sums of many such products stay below the limit of f32, 3.4e38.
const PARAMETER_LIMIT: f32 = 1e15;

/// Whether `number` is small enough for a parameter; false for NaN.
pub(crate) fn is_usable_parameter(number: f32) -> bool {
    number.abs() < PARAMETER_LIMIT
}

/// A parameter and its place in the flat vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Marian's name for it.
    pub name: String,
    /// `[rows, columns]`.
    pub shape: [usize; 2],
    /// The index of its first number.
    pub offset: usize,
}

impl Parameter {
    /// Returns the number of its elements.
    pub fn len(&self) -> usize {
        self.shape[0] * self.shape[1]
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns its place in the flat vector.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.len()
    }
}

/// The places of an architecture's parameters in one flat vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterLayout {
    parameters: Vec<Parameter>,
    len: usize,
}

impl ParameterLayout {
    /// Returns the layout of the parameters of `architecture`.
    pub fn new(architecture: &Architecture) -> Self {
        let mut specs = architecture.parameters();
        specs.sort_by(|a, b| a.name.cmp(&b.name));
        let mut len = 0;
        let parameters = specs.into_iter().map(|spec| {
            let parameter = Parameter { name: spec.name, shape: spec.shape, offset: len };
            len += parameter.len().next_multiple_of(ALIGNMENT);
            parameter
        });
        ParameterLayout { parameters: parameters.collect(), len }
    }

    /// Returns the number of elements of the flat vector, padding included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the parameter of that name.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        let found = self.parameters.binary_search_by(|parameter| parameter.name[..].cmp(name));
        found.ok().map(|index| &self.parameters[index])
    }

    /// Returns all parameters in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Parameter> {
        self.parameters.iter()
    }
}

/// Reads the parameters of the model at `path` as a flat vector of `layout`.
///
/// # Errors
/// If [`fill_parameters`] fails, or a parameter is missing.
pub fn read_parameters(path: &Path, layout: &ParameterLayout) -> Result<Vec<f32>> {
    let mut values = vec![0.0; layout.len()];
    match fill_parameters(path, layout, &mut values)?.first() {
        None => Ok(values),
        Some(name) => Err(Error::config(format!(
            "{}: {name} is missing; use the model's own options and vocabularies",
            path.display()
        ))),
    }
}

/// Reads the parameters of the model at `path` into `values`, a flat vector of `layout`. Returns
/// the names of the parameters that the model does not have; their numbers in `values` stay.
///
/// # Errors
/// If the file is not a single model, or a parameter has another shape or a number that cannot be
/// trained.
pub fn fill_parameters(
    path: &Path,
    layout: &ParameterLayout,
    values: &mut [f32],
) -> Result<Vec<String>> {
    let bundle = ModelBundle::open(path, None)?;
    let file = path.display();
    let [model] = &bundle.models[..] else {
        return Err(Error::config(format!("{file}: expected one model, not an ensemble")));
    };
    let mut missing = Vec::new();
    for parameter in layout.iter() {
        let Parameter { name, shape, .. } = parameter;
        let Some(tensor) = model.parameter(name) else {
            missing.push(name.clone());
            continue;
        };
        let found = tensor.shape();
        if found != *shape {
            return Err(Error::config(format!(
                "{file}: {name} has the shape {found:?}, expected {shape:?}; use the model's own \
                 options and vocabularies"
            )));
        }
        let numbers = tensor.values();
        if let Some(number) = numbers.iter().find(|&&number| !is_usable_parameter(number)) {
            return Err(Error::config(format!(
                "{file}: {name} has the unusable number {number:e}; use another copy of the model"
            )));
        }
        values[parameter.range()].copy_from_slice(&numbers);
    }
    Ok(missing)
}
