//! Feed-forward layers.

use super::around::matrix;
use super::backend::Activation;
use super::{Around, Backend, Parameters};
use crate::Result;
use crate::architecture::{self, Gelu, Stack, Transformer};

/// Matrices with a function between them.
pub struct FeedForward<B: Backend> {
    around: Around<B>,
    inner: Vec<B::Weights>,
    last: B::Weights,
    activation: Activation,
}

/// The kernel of an activation.
pub(super) fn function(activation: architecture::Activation) -> Activation {
    match activation {
        architecture::Activation::Relu => Activation::Relu,
        architecture::Activation::Swish => Activation::Swish,
        architecture::Activation::Gelu(Gelu::Exact) => Activation::Gelu,
        architecture::Activation::Gelu(Gelu::Sigmoid) => Activation::GeluSigmoid,
        architecture::Activation::Gelu(Gelu::Tanh) => Activation::GeluTanh,
    }
}

impl<B: Backend> FeedForward<B> {
    /// The layer under `prefix`, of a stack of a transformer.
    pub fn load(
        parameters: &mut impl Parameters<B>,
        shape: &Transformer,
        stack: &Stack,
        prefix: &str,
    ) -> Result<Self> {
        let inner = (1..stack.ffn_depth).map(|i| matrix(parameters, prefix, &i.to_string()));
        let inner = inner.collect::<Result<_>>()?;
        let around = format!("{prefix}_ffn");
        Ok(FeedForward {
            inner,
            last: matrix(parameters, prefix, &stack.ffn_depth.to_string())?,
            around: Around::load(parameters, shape, &around, &around)?,
            activation: function(shape.activation),
        })
    }

    /// Applies the layer.
    pub fn rows(&self, backend: &mut B, input: &B::Rows) -> B::Rows {
        let own = self.around.enter(backend, input);
        let mut rows = own;
        for weights in &self.inner {
            let from = rows.as_ref().unwrap_or(input);
            rows = Some(backend.affine(from, weights, self.activation.into()));
        }
        let from = rows.as_ref().unwrap_or(input);
        self.around.leave_by(backend, from, &self.last, input)
    }
}
