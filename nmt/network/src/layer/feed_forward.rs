//! Feed-forward layers.

use miriam_kernels::operators::Multiply;

use super::sublayer_connection::load_affine;
use super::{Activation, Backend, DropoutSite, Epilogue, ParameterLoader, SublayerConnection};
use crate::Result;
use miriam_nmt_models::architecture::{self, Gelu, TransformerConfig, TransformerStackConfig};

/// A feed-forward sublayer: matrices with an activation after all but the last, or a gated
/// linear unit.
pub struct FeedForward<B: Backend> {
    connection: SublayerConnection<B>,
    hidden: Vec<B::Weights>,
    /// The second product of gated layers, which multiplies the first after its activation.
    gate: Option<B::Weights>,
    output: B::Weights,
    activation: Activation,
}

/// Converts an activation of the architecture to the activation of the kernels.
pub(super) fn kernel_activation(activation: architecture::Activation) -> Activation {
    match activation.function() {
        architecture::Activation::Swish => Activation::Swish,
        architecture::Activation::Gelu(Gelu::Exact) => Activation::Gelu,
        architecture::Activation::Gelu(Gelu::Sigmoid) => Activation::GeluSigmoid,
        architecture::Activation::Gelu(Gelu::Tanh) => Activation::GeluTanh,
        _ => Activation::Relu,
    }
}

impl<B: Backend> FeedForward<B> {
    /// Loads the layer under `prefix` of a stack of a transformer.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
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
            gate: shape
                .activation
                .is_gated()
                .then(|| load_affine(parameters, prefix, "g"))
                .transpose()?,
            output: load_affine(parameters, prefix, &stack.ffn_depth.to_string())?,
            connection: SublayerConnection::load(parameters, shape, &norm_prefix, &norm_prefix)?,
            activation: kernel_activation(shape.activation),
        })
    }

    /// Applies the layer to every row, `[rows, width]`.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn forward(&self, backend: &mut B, input: &B::Tensor) -> Result<B::Tensor> {
        let mut rows = self.connection.preprocess(backend, input)?;
        for weights in &self.hidden {
            let from = rows.as_ref().unwrap_or(input);
            let mut hidden = backend.affine(from, weights, self.activation.into())?;
            if let Some(gate) = &self.gate {
                let gate = backend.affine(from, gate, Epilogue::default())?;
                let matrices = [backend.whole(&hidden), backend.whole(&gate)];
                hidden = backend.apply(Multiply, &matrices, &[])?;
            }
            rows = Some(backend.drop_out(hidden, DropoutSite::FeedForward)?);
        }
        let from = rows.as_ref().unwrap_or(input);
        self.connection.project_and_postprocess(backend, from, &self.output, input)
    }
}
