//! One addend of a layer with several inputs: its product, with a norm where models have
//! one.

use crate::Result;
use crate::architecture::LayerNormStyle;
use crate::layer::{AffineNames, ColumnNorms, Epilogue, LayerNorm, ParameterLoader, RecurrentOps};

/// Epsilons of Marian's recurrent models and of Nematus'.
pub(super) const MARIAN_EPSILON: f32 = 1e-9;
pub(super) const NEMATUS_EPSILON: f32 = 1e-5;

/// Parameters of a term, by name.
pub struct NormedAffineNames<'a> {
    /// The matrix.
    pub matrix: &'a str,
    /// Its bias, if any.
    pub bias: Option<&'a str>,
    /// Marian's scale of the norm, whose bias is that of the product.
    pub gamma: &'a str,
    /// Nematus' scale and bias of the norm of the product with its bias.
    pub nematus_norm: [&'a str; 2],
}

impl<'a> NormedAffineNames<'a> {
    /// What belongs to the product where norms have the style given.
    pub fn affine_names<'b>(&'b self, style: Option<LayerNormStyle>) -> AffineNames<'b> {
        let biases = match style {
            Some(LayerNormStyle::Marian) => &[],
            _ => self.bias.as_slice(),
        };
        AffineNames { matrices: std::slice::from_ref(&self.matrix), biases }
    }

    /// The norm of the product, `width` wide.
    pub fn load_norms<B: RecurrentOps>(
        &self,
        style: Option<LayerNormStyle>,
        width: usize,
        parameters: &mut impl ParameterLoader<B>,
    ) -> Result<ColumnNorms<B>> {
        let norm = match style {
            None => return Ok(Vec::new()),
            Some(LayerNormStyle::Marian) => LayerNorm {
                scale: parameters.vector(self.gamma)?,
                bias: self.bias.map(|bias| parameters.vector(bias)).transpose()?,
                epsilon: MARIAN_EPSILON,
            },
            Some(LayerNormStyle::Nematus) => LayerNorm {
                scale: parameters.vector(self.nematus_norm[0])?,
                bias: Some(parameters.vector(self.nematus_norm[1])?),
                epsilon: NEMATUS_EPSILON,
            },
        };
        Ok(vec![(0..width, norm)])
    }
}

/// A product of rows and what is done to it alone.
pub struct NormedAffine<B: RecurrentOps> {
    weights: B::Weights,
    norms: ColumnNorms<B>,
}

impl<B: RecurrentOps> NormedAffine<B> {
    /// The term of those names, `width` columns.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn new(
        names: &NormedAffineNames<'_>,
        style: Option<LayerNormStyle>,
        width: usize,
        parameters: &mut impl ParameterLoader<B>,
    ) -> Result<Self> {
        let weights = parameters.weights(names.affine_names(style))?;
        Ok(NormedAffine { weights, norms: names.load_norms(style, width, parameters)? })
    }

    /// Inputs to the term.
    pub fn forward(&self, backend: &mut B, input: &B::Tensor) -> B::Tensor {
        let product = self.project(backend, input);
        self.apply_norms(backend, product)
    }

    /// The product alone. Products of weighted sums are weighted sums of products.
    pub fn project(&self, backend: &mut B, input: &B::Tensor) -> B::Tensor {
        backend.affine(input, &self.weights, Epilogue::default())
    }

    /// The term of a product.
    pub fn apply_norms(&self, backend: &mut B, product: B::Tensor) -> B::Tensor {
        backend.norm_columns(product, &self.norms)
    }

    /// `activation(others + term)`.
    pub fn add_and_activate(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        others: &B::Tensor,
        activation: miriam_kernels::activation::Activation,
    ) -> B::Tensor {
        if self.norms.is_empty() {
            let then = Epilogue { residual: Some(others), activation };
            return backend.affine(input, &self.weights, then);
        }
        let term = self.forward(backend, input);
        let sum = backend.add(term, others);
        backend.activate(sum, activation)
    }
}
