//! One addend of a layer with several inputs: its product, with a norm where models have
//! one.

use crate::Result;
use crate::architecture::LayerNormStyle;
use crate::layer::{Affine, Gates, Norm, Norms, Parameters, Then};

/// Epsilons of Marian's recurrent models and of Nematus'.
pub(super) const MARIAN: f32 = 1e-9;
pub(super) const NEMATUS: f32 = 1e-5;

/// Parameters of a term, by name.
pub struct Names<'a> {
    /// The matrix.
    pub matrix: &'a str,
    /// Its bias, if any.
    pub bias: Option<&'a str>,
    /// Marian's scale of the norm, whose bias is that of the product.
    pub gamma: &'a str,
    /// Nematus' scale and bias of the norm of the product with its bias.
    pub norm: [&'a str; 2],
}

impl<'a> Names<'a> {
    /// What belongs to the product where norms have the style given.
    pub fn affine<'b>(&'b self, style: Option<LayerNormStyle>) -> Affine<'b> {
        let biases = match style {
            Some(LayerNormStyle::Marian) => &[],
            _ => self.bias.as_slice(),
        };
        Affine { matrices: std::slice::from_ref(&self.matrix), biases }
    }

    /// The norm of the product, `width` wide.
    pub fn norms<B: Gates>(
        &self,
        style: Option<LayerNormStyle>,
        width: usize,
        parameters: &mut impl Parameters<B>,
    ) -> Result<Norms<B>> {
        let norm = match style {
            None => return Ok(Vec::new()),
            Some(LayerNormStyle::Marian) => Norm {
                scale: parameters.vector(self.gamma)?,
                bias: self.bias.map(|bias| parameters.vector(bias)).transpose()?,
                epsilon: MARIAN,
            },
            Some(LayerNormStyle::Nematus) => Norm {
                scale: parameters.vector(self.norm[0])?,
                bias: Some(parameters.vector(self.norm[1])?),
                epsilon: NEMATUS,
            },
        };
        Ok(vec![(0..width, norm)])
    }
}

/// A product of rows and what is done to it alone.
pub struct Term<B: Gates> {
    weights: B::Weights,
    norms: Norms<B>,
}

impl<B: Gates> Term<B> {
    /// The term of those names, `width` columns.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn new(
        names: &Names<'_>,
        style: Option<LayerNormStyle>,
        width: usize,
        parameters: &mut impl Parameters<B>,
    ) -> Result<Self> {
        let weights = parameters.weights(names.affine(style))?;
        Ok(Term { weights, norms: names.norms(style, width, parameters)? })
    }

    /// Inputs to the term.
    pub fn apply(&self, backend: &mut B, input: &B::Rows) -> B::Rows {
        let product = self.product(backend, input);
        self.finish(backend, product)
    }

    /// The product alone. Products of weighted sums are weighted sums of products.
    pub fn product(&self, backend: &mut B, input: &B::Rows) -> B::Rows {
        backend.affine(input, &self.weights, Then::default())
    }

    /// The term of a product.
    pub fn finish(&self, backend: &mut B, product: B::Rows) -> B::Rows {
        backend.norm_parts(product, &self.norms)
    }

    /// `activation(others + term)`.
    pub fn close(
        &self,
        backend: &mut B,
        input: &B::Rows,
        others: &B::Rows,
        activation: miriam_kernels::function::Activation,
    ) -> B::Rows {
        if self.norms.is_empty() {
            let then = Then { residual: Some(others), activation };
            return backend.affine(input, &self.weights, then);
        }
        let term = self.apply(backend, input);
        let sum = backend.add(term, others);
        backend.activate(sum, activation)
    }
}
