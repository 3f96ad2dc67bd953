//! Feed-forward layers.

use super::backend::Activation;
use super::sublayer_connection::load_affine;
use super::{Backend, ParameterLoader, SublayerConnection};
use crate::Result;
use crate::architecture::{self, Gelu, StackConfig, TransformerConfig};

/// Matrices with a function between them.
pub struct FeedForward<B: Backend> {
    connection: SublayerConnection<B>,
    hidden: Vec<B::Weights>,
    output: B::Weights,
    activation: Activation,
}

/// The kernel of an activation.
pub(super) fn kernel_activation(activation: architecture::Activation) -> Activation {
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
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        stack: &StackConfig,
        prefix: &str,
    ) -> Result<Self> {
        let inner = (1..stack.ffn_depth).map(|i| load_affine(parameters, prefix, &i.to_string()));
        let inner = inner.collect::<Result<_>>()?;
        let around = format!("{prefix}_ffn");
        Ok(FeedForward {
            hidden: inner,
            output: load_affine(parameters, prefix, &stack.ffn_depth.to_string())?,
            connection: SublayerConnection::load(parameters, shape, &around, &around)?,
            activation: kernel_activation(shape.activation),
        })
    }

    /// Applies the layer.
    pub fn forward(&self, backend: &mut B, input: &B::Tensor) -> B::Tensor {
        let own = self.connection.preprocess(backend, input);
        let mut rows = own;
        for weights in &self.hidden {
            let from = rows.as_ref().unwrap_or(input);
            rows = Some(backend.affine(from, weights, self.activation.into()));
        }
        let from = rows.as_ref().unwrap_or(input);
        self.connection.project_and_postprocess(backend, from, &self.output, input)
    }
}
