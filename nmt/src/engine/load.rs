//! From the tensors of a model to what an engine multiplies with.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_kernels::Mat;
use miriam_kernels::embedding::Waves;
use miriam_kernels::pack::{Layout, Source, WeightsF32, WeightsI8, WeightsI16};

use super::{Engine, Marks, Matrix, Precision, Table, Weights};
use crate::architecture::{Model, Positions};
use crate::checkpoint::Tensor;
use crate::layer::{Affine, Parameters};
use crate::{Error, Result};

/// Packs the parameters of a model, or takes what a file has packed.
pub struct Loader<'a> {
    model: &'a Model,
    path: PathBuf,
    precision: Precision,
    recording: Recording,
}

/// What layers have asked for.
#[derive(Default)]
pub(crate) struct Recording {
    /// Weights of products, by the names of their matrices.
    pub products: BTreeMap<String, Arc<Weights>>,
    /// Parameters that are needed as they are.
    pub plain: BTreeSet<String>,
}

/// The name of matrices side by side in files. Those of output layers, which are tables
/// the other way round, are marked.
fn key(matrices: &[&str], turned: bool) -> String {
    matrices.join("+") + if turned { TURNED } else { "" }
}

/// The mark of output layers.
const TURNED: &str = "^T";

/// Names of the matrices of a key.
pub(crate) fn matrices(key: &str) -> impl Iterator<Item = &str> {
    key.strip_suffix(TURNED).unwrap_or(key).split('+')
}

/// Whether a key is that of an output layer.
pub(crate) fn is_turned(key: &str) -> bool {
    key.ends_with(TURNED)
}

impl<'a> Loader<'a> {
    /// Parameters of `model` for products in `precision`; `path` names it in messages.
    pub fn new(model: &'a Model, path: &Path, precision: Precision) -> Self {
        Loader { model, path: path.to_owned(), precision, recording: Recording::default() }
    }

    /// What was asked for.
    pub(crate) fn into_recording(self) -> Recording {
        self.recording
    }

    fn tensor(&self, name: &str) -> Result<&'a Tensor> {
        let missing = || Error::mismatch(&self.path, name, "the parameter is missing");
        self.model.parameter(name).ok_or_else(missing)
    }

    /// A parameter that is needed as it is.
    fn plain(&mut self, name: &str) -> Result<&'a Tensor> {
        self.recording.plain.insert(name.to_owned());
        self.tensor(name)
    }

    /// Weights under a key of this shape: those of the file, or what `pack` makes.
    fn product(
        &mut self,
        key: String,
        bias: Option<Vec<f32>>,
        pack: impl FnOnce(&Self) -> Result<Matrix>,
    ) -> Result<Arc<Weights>> {
        let matrix = match self.model.stored() {
            None => pack(self)?,
            Some((precision, _)) if precision != self.precision => {
                let reason = format!(
                    "its weights are packed as {}, not as {}; convert the original again",
                    precision.name(),
                    self.precision.name()
                );
                return Err(Error::unsupported(&self.path, reason));
            }
            Some((_, stored)) => {
                let matrix = stored.get(&key).cloned().ok_or_else(|| {
                    let reason = "they are not packed together; if another dialect is wanted, \
                                  convert the original for it";
                    Error::mismatch(&self.path, &key, reason)
                })?;
                Matrix::Stored(matrix)
            }
        };
        let columns = matrix.packed().columns();
        if let Some(bias) = bias.as_ref().filter(|bias| bias.len() != columns) {
            let reason = format!("{} biases for {columns} columns", bias.len());
            return Err(Error::mismatch(&self.path, &key, reason));
        }
        let weights = Arc::new(Weights { matrix, bias });
        self.recording.products.insert(key, Arc::clone(&weights));
        Ok(weights)
    }

    fn pack(&self, name: &str, source: Source<f32>) -> Result<Matrix> {
        let matrix = match self.precision.layout(name) {
            Layout::F32 => WeightsF32::pack(source).map(Matrix::F32),
            Layout::I16 => WeightsI16::quantise(source).map(Matrix::I16),
            Layout::I8 => WeightsI8::quantise(source).map(Matrix::I8),
        };
        matrix.map_err(|e| Error::mismatch(&self.path, name, e.to_string()))
    }

    /// Several matrices side by side.
    fn join(&self, names: &[&str]) -> Result<Matrix> {
        let tensors = names.iter().map(|name| self.tensor(name)).collect::<Result<Vec<_>>>()?;
        let depth = tensors[0].shape()[0];
        let width: usize = tensors.iter().map(|tensor| tensor.shape()[1]).sum();
        let mut joined = vec![0.0; depth * width];
        let mut first = 0;
        for (tensor, name) in tensors.iter().zip(names) {
            let columns = tensor.shape()[1];
            if tensor.shape()[0] != depth {
                let reason = format!("{} inputs beside {depth}", tensor.shape()[0]);
                return Err(Error::mismatch(&self.path, name, reason));
            }
            for (row, values) in tensor.values().chunks_exact(columns).enumerate() {
                joined[row * width + first..][..columns].copy_from_slice(values);
            }
            first += columns;
        }
        self.pack(names[0], Source::inputs_by_outputs(Mat::new(&joined, depth, width)))
    }
}

impl Parameters<Engine> for Loader<'_> {
    fn weights(&mut self, affine: Affine<'_>) -> Result<Arc<Weights>> {
        let bias = match affine.biases {
            [] => None,
            names => {
                let mut all = Vec::new();
                for (name, matrix) in names.iter().zip(affine.matrices) {
                    match *name {
                        "" => all.resize(all.len() + self.model.shape(matrix)[1], 0.0),
                        name => all.extend(self.plain(name)?.values()),
                    }
                }
                Some(all)
            }
        };
        let key = key(affine.matrices, false);
        self.product(key, bias, |loader| loader.join(affine.matrices))
    }

    fn output(&mut self, table: &str, bias: Option<&str>) -> Result<Arc<Weights>> {
        let bias = bias.map(|name| Ok::<_, Error>(self.plain(name)?.values())).transpose()?;
        self.product(key(&[table], true), bias, |loader| {
            let tensor = loader.tensor(table)?;
            let (values, shape) = (tensor.values(), tensor.shape());
            loader.pack(table, Source::outputs_by_inputs(Mat::new(&values, shape[0], shape[1])))
        })
    }

    fn vector(&mut self, name: &str) -> Result<Arc<[f32]>> {
        Ok(self.plain(name)?.values().into())
    }

    fn vectors(&mut self, names: &[&str]) -> Result<Arc<[f32]>> {
        let all = names.iter().map(|name| Ok(self.plain(name)?.values()));
        Ok(all.collect::<Result<Vec<_>>>()?.concat().into())
    }

    fn table(&mut self, name: &str) -> Result<Arc<Table>> {
        Ok(Arc::new(Table::new(self.plain(name)?)))
    }

    fn marks(&mut self, positions: Positions, width: usize, name: &str) -> Result<Option<Marks>> {
        Ok(match positions {
            Positions::None => None,
            Positions::SinusoidalMarian => Some(Marks::Sinusoidal(Waves::Marian, width)),
            Positions::Sinusoidal => Some(Marks::Sinusoidal(Waves::CTranslate2, width)),
            Positions::Table { .. } => Some(Marks::Table(self.table(name)?)),
        })
    }
}
