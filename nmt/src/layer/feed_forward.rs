//! Feed-forward layers.

use super::sublayer_connection::load_affine;
use super::{Activation, Backend, DropoutSite, ParameterLoader, SublayerConnection};
use crate::Result;
use crate::architecture::{self, Gelu, TransformerConfig, TransformerStackConfig};

/// A feed-forward sublayer: matrices with an activation after all but the last.
pub struct FeedForward<B: Backend> {
    connection: SublayerConnection<B>,
    hidden: Vec<B::Weights>,
    output: B::Weights,
    activation: Activation,
}

/// The operation of an activation of the architecture.
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
    /// Loads the layer under `prefix` of a stack of a transformer.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        stack: &TransformerStackConfig,
        prefix: &str,
    ) -> Result<Self> {
        let hidden = (1..stack.ffn_depth).map(|i| load_affine(parameters, prefix, &i.to_string()));
        let hidden = hidden.collect::<Result<_>>()?;
        let norm_prefix = format!("{prefix}_ffn");
        Ok(FeedForward {
            hidden,
            output: load_affine(parameters, prefix, &stack.ffn_depth.to_string())?,
            connection: SublayerConnection::load(parameters, shape, &norm_prefix, &norm_prefix)?,
            activation: kernel_activation(shape.activation),
        })
    }

    /// Applies the layer to every row, `[rows, width]`.
    ///
    /// # Errors
    /// What the backend gives.
    pub fn forward(&self, backend: &mut B, input: &B::Tensor) -> Result<B::Tensor> {
        let mut rows = self.connection.preprocess(backend, input)?;
        for weights in &self.hidden {
            let from = rows.as_ref().unwrap_or(input);
            let hidden = backend.affine(from, weights, self.activation.into())?;
            rows = Some(backend.drop_out(hidden, DropoutSite::FeedForward)?);
        }
        let from = rows.as_ref().unwrap_or(input);
        self.connection.project_and_postprocess(backend, from, &self.output, input)
    }
}
