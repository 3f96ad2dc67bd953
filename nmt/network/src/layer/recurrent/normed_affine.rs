//! One term of a layer with several inputs: an affine map, with a layer norm where models
//! have one.

use super::column_norms::ColumnNorms;
use crate::Result;
use crate::layer::{
    Activation, AffineNames, Epilogue, LayerNorm, NormKind, ParameterLoader, RecurrentOps,
};
use miriam_nmt_models::architecture::LayerNormStyle;

/// Epsilons of the layer norms of Marian's recurrent models and of Nematus'.
pub(super) const MARIAN_EPSILON: f32 = 1e-9;
pub(super) const NEMATUS_EPSILON: f32 = 1e-5;

/// Names of the parameters of a term.
pub struct NormedAffineNames<'a> {
    /// The matrix.
    pub matrix: &'a str,
    /// Its bias, if any.
    pub bias: Option<&'a str>,
    /// The scale of Marian's norm. Its bias is `bias`, and the product has no bias.
    pub gamma: &'a str,
    /// The scale and the bias of Nematus' norm, which follows the addition of `bias`.
    pub nematus_norm: [&'a str; 2],
}

impl<'a> NormedAffineNames<'a> {
    /// Returns the names of the product's parameters in a model whose norms have the style `style`.
    pub fn affine_names<'b>(&'b self, style: Option<LayerNormStyle>) -> AffineNames<'b> {
        let biases = match style {
            Some(LayerNormStyle::Marian) => &[],
            _ => self.bias.as_slice(),
        };
        AffineNames { matrices: std::slice::from_ref(&self.matrix), biases }
    }

    /// Loads the norm of the product, `width` wide; empty if the model has no norms.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load_norms<B: RecurrentOps>(
        &self,
        style: Option<LayerNormStyle>,
        width: usize,
        parameters: &mut impl ParameterLoader<B>,
    ) -> Result<ColumnNorms<B>> {
        let norm = match style {
            None => return Ok(ColumnNorms::new([])),
            Some(LayerNormStyle::Marian) => LayerNorm {
                kind: NormKind::Layer,
                scale: parameters.vector(self.gamma)?,
                bias: self.bias.map(|bias| parameters.vector(bias)).transpose()?,
                epsilon: MARIAN_EPSILON,
            },
            Some(LayerNormStyle::Nematus) => LayerNorm {
                kind: NormKind::Layer,
                scale: parameters.vector(self.nematus_norm[0])?,
                bias: Some(parameters.vector(self.nematus_norm[1])?),
                epsilon: NEMATUS_EPSILON,
            },
        };
        Ok(ColumnNorms::new([(0..width, norm)]))
    }
}

/// An affine map and the norm of its result.
pub struct NormedAffine<B: RecurrentOps> {
    weights: B::Weights,
    norms: ColumnNorms<B>,
}

impl<B: RecurrentOps> NormedAffine<B> {
    /// Loads the term with the names `names`. Its result has `width` columns.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn new(
        names: &NormedAffineNames<'_>,
        style: Option<LayerNormStyle>,
        width: usize,
        parameters: &mut impl ParameterLoader<B>,
    ) -> Result<Self> {
        let weights = parameters.weights(names.affine_names(style))?;
        Ok(NormedAffine { weights, norms: names.load_norms(style, width, parameters)? })
    }

    /// Computes the affine map and the norm of its result, `[rows, inputs]` to `[rows, width]`.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn forward(&self, backend: &mut B, input: &B::Tensor) -> Result<B::Tensor> {
        let product = self.project(backend, input)?;
        self.apply_norms(backend, product)
    }

    /// Works as [`forward`](NormedAffine::forward), but training drops columns of the input.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn forward_after_dropout(&self, backend: &mut B, input: &B::Tensor) -> Result<B::Tensor> {
        let product = backend.affine_after_dropout(input, &self.weights, Epilogue::default())?;
        self.apply_norms(backend, product)
    }

    /// Computes the affine map without the norm. So the result for a weighted mean of rows is the
    /// weighted mean of their results.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn project(&self, backend: &mut B, input: &B::Tensor) -> Result<B::Tensor> {
        backend.affine(input, &self.weights, Epilogue::default())
    }

    /// Applies the norm to a result of [`project`](NormedAffine::project).
    ///
    /// # Errors
    /// If the backend fails.
    pub fn apply_norms(&self, backend: &mut B, product: B::Tensor) -> Result<B::Tensor> {
        self.norms.forward(backend, product)
    }

    /// Computes `activation(forward(input) + others)`.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn add_and_activate(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        others: &B::Tensor,
        activation: Activation,
    ) -> Result<B::Tensor> {
        if self.norms.is_empty() {
            let epilogue = Epilogue { residual: Some(others), activation };
            return backend.affine(input, &self.weights, epilogue);
        }
        let term = self.forward(backend, input)?;
        let sum = backend.add(&term, others)?;
        backend.activate(&sum, activation)
    }
}
