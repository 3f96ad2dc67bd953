//! Sublayers through which a decoder layer depends on the preceding tokens: self-attention, average
//! attention and simple recurrent units. The last two keep only one row per hypothesis.

use miriam_kernels::operators::{
    AverageAttentionGate, Highway, LinearRecurrence, RunningMean, Sequences,
};

use super::backend::Activation;
use super::feed_forward::kernel_activation;
use super::sublayer_connection::load_affine;
use super::{
    AffineNames, AttentionMask, Backend, ColumnSlice, DecodingOps, DropoutSite, Epilogue,
    LayerNorm, NormKind, ParameterLoader, SelfAttention, SublayerConnection,
};
use crate::Result;
use miriam_nmt_models::architecture::{
    AutoregressionConfig, AverageAttentionConfig, RecurrentSublayerConfig, SruKind,
    TransformerConfig,
};

/// The autoregressive sublayer of a decoder layer.
pub enum Autoregression<B: Backend> {
    /// Attention to all positions so far.
    SelfAttention(SelfAttention<B>),
    /// The mean of all inputs so far.
    AverageAttention(AverageAttention<B>),
    /// A simple recurrent unit.
    Recurrent(SimpleRecurrentUnit<B>),
}

/// The state of a layer for all hypotheses of a step.
pub enum AutoregressionState<B: DecodingOps> {
    /// The KV cache of self-attention.
    KvCache(B::KvCache),
    /// A row for each hypothesis, `[rows, width]`: a mean or the state of a cell.
    Recurrent(B::Tensor),
}

/// The rows of a decoding step: their parents in the step before, and their positions.
pub struct DecodingStep<'a> {
    /// For each row, the row of the previous step that it continues, if any.
    pub parents: &'a [Option<u32>],
    /// The position of each row's token, from 0.
    pub positions: &'a [u32],
}

impl<B: Backend> Autoregression<B> {
    /// Loads the sublayer of the decoder layer `layer`, such as `decoder_l1`.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        layer: &str,
    ) -> Result<Self> {
        Ok(match &shape.autoregression {
            AutoregressionConfig::SelfAttention => {
                let prefix = format!("{layer}_self");
                Autoregression::SelfAttention(SelfAttention::load(
                    parameters, shape, &prefix, true,
                )?)
            }
            AutoregressionConfig::AverageAttention(average) => {
                let prefix = format!("{layer}_aan");
                Autoregression::AverageAttention(AverageAttention::load(
                    parameters, shape, average, &prefix,
                )?)
            }
            AutoregressionConfig::Recurrent(cell) => {
                let prefix = format!("{layer}_rnn");
                Autoregression::Recurrent(SimpleRecurrentUnit::load(
                    parameters, shape, cell, &prefix,
                )?)
            }
        })
    }

    /// Computes all positions of sequences at once. `input` is `[rows, width]`; `lengths` has the
    /// number of rows of each sequence.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn forward(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        lengths: &[usize],
    ) -> Result<B::Tensor> {
        let sequences = Sequences::Lengths(lengths.to_vec());
        let width = backend.shape(input)[1];
        Ok(match self {
            Autoregression::SelfAttention(attention) => {
                attention.forward(backend, input, lengths, AttentionMask::Causal)?
            }
            Autoregression::AverageAttention(mean) => {
                let initial = backend.zeros(lengths.len(), width)?;
                let operator = RunningMean { sequences, counts: vec![0; lengths.len()] };
                let matrices = [backend.whole(input), backend.whole(&initial)];
                let means = backend.apply(operator, &matrices, &[])?;
                mean.forward(backend, input, means)?
            }
            Autoregression::Recurrent(cell) => {
                let initial = backend.zeros(lengths.len(), width)?;
                cell.forward(backend, input, initial, sequences)?.0
            }
        })
    }
}

impl<B: DecodingOps> Autoregression<B> {
    /// Returns the state before the first step.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn new_state(&self, backend: &mut B) -> Result<AutoregressionState<B>> {
        Ok(match self {
            Autoregression::SelfAttention(_) => {
                AutoregressionState::KvCache(backend.new_kv_cache()?)
            }
            Autoregression::AverageAttention(_) | Autoregression::Recurrent(_) => {
                AutoregressionState::Recurrent(backend.zeros(0, 0)?)
            }
        })
    }

    /// Computes a step of hypotheses, `[rows, width]`; each row takes over the state of its parent.
    ///
    /// # Errors
    /// If the backend fails.
    ///
    /// # Panics
    /// If `state` is of another kind of layer.
    pub fn step(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        state: &mut AutoregressionState<B>,
        step: &DecodingStep<'_>,
    ) -> Result<B::Tensor> {
        Ok(match (self, state) {
            (Autoregression::SelfAttention(attention), AutoregressionState::KvCache(cache)) => {
                attention.step(backend, input, cache, step.parents)?
            }
            (Autoregression::AverageAttention(mean), AutoregressionState::Recurrent(state)) => {
                let initial = gather_parent_state(backend, input, state, step)?;
                let counts = step.positions.to_vec();
                let operator = RunningMean { sequences: Sequences::SingleStep, counts };
                let matrices = [backend.whole(input), backend.whole(&initial)];
                *state = backend.apply(operator, &matrices, &[])?;
                let means = backend.copy(backend.whole(state))?;
                mean.forward(backend, input, means)?
            }
            (Autoregression::Recurrent(cell), AutoregressionState::Recurrent(state)) => {
                let initial = gather_parent_state(backend, input, state, step)?;
                let (rows, cells) = cell.forward(backend, input, initial, Sequences::SingleStep)?;
                *state = cells;
                rows
            }
            _ => unreachable!("a layer steps from the state that it has made"),
        })
    }
}

/// Gathers the states that the rows of a step continue; zeros where hypotheses begin.
fn gather_parent_state<B: DecodingOps>(
    backend: &mut B,
    input: &B::Tensor,
    state: &B::Tensor,
    step: &DecodingStep<'_>,
) -> Result<B::Tensor> {
    if step.parents.iter().all(Option::is_none) {
        let [rows, width] = backend.shape(input);
        return backend.zeros(rows, width);
    }
    backend.gather_state(state, step.parents)
}

/// Average attention (Zhang et al. 2018).
pub struct AverageAttention<B: Backend> {
    connection: SublayerConnection<B>,
    hidden: Vec<B::Weights>,
    output: Option<B::Weights>,
    activation: Activation,
    /// Gates of the input and of the mean.
    gates: Option<[B::Weights; 2]>,
}

impl<B: Backend> AverageAttention<B> {
    fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        average: &AverageAttentionConfig,
        prefix: &str,
    ) -> Result<Self> {
        let matrices = average.layer_shapes(shape.embeddings.dim).len();
        let weights = (1..=matrices).map(|i| load_affine(parameters, prefix, &i.to_string()));
        let mut hidden = weights.collect::<Result<Vec<_>>>()?;
        // The activation follows every matrix, except a last one that maps back to the width of
        // embeddings.
        let last = if matrices == average.ffn_depth { hidden.pop() } else { None };
        let gates = if average.has_gate {
            Some([load_affine(parameters, prefix, "i")?, load_affine(parameters, prefix, "f")?])
        } else {
            None
        };
        let norm_prefix = format!("{prefix}_ffn");
        Ok(AverageAttention {
            connection: SublayerConnection::load(parameters, shape, &norm_prefix, &norm_prefix)?,
            hidden,
            output: last,
            activation: kernel_activation(average.activation),
            gates,
        })
    }

    /// Computes the output from the inputs and their means, both `[rows, width]`.
    fn forward(&self, backend: &mut B, input: &B::Tensor, means: B::Tensor) -> Result<B::Tensor> {
        let mut rows = self.connection.preprocess(backend, &means)?.unwrap_or(means);
        for weights in &self.hidden {
            rows = backend.affine(&rows, weights, self.activation.into())?;
            rows = backend.drop_out(rows, DropoutSite::FeedForward)?;
        }
        if let Some(weights) = &self.output {
            rows = backend.affine(&rows, weights, Epilogue::default())?;
        }
        if let Some([input_gate_weights, mean_gate_weights]) = &self.gates {
            let input_gate = backend.affine(input, input_gate_weights, Epilogue::default())?;
            let gate = backend.affine(&rows, mean_gate_weights, Epilogue::default())?;
            let matrices = [&input_gate, &gate, input, &rows].map(|rows| backend.whole(rows));
            rows = backend.apply(AverageAttentionGate, &matrices, &[])?;
        }
        self.connection.postprocess(backend, rows, input)
    }
}

/// A simple recurrent unit, whose gates do not depend on its state.
pub struct SimpleRecurrentUnit<B: Backend> {
    connection: SublayerConnection<B>,
    /// The projections for the input, the forget gate, and SRU's second gate.
    projections: GateProjections<B>,
    kind: SruKind,
    output: Option<B::Weights>,
    width: usize,
}

enum GateProjections<B: Backend> {
    /// Side by side in one GEMM.
    Fused(B::Weights),
    /// Products without biases, each normalised by itself before its bias is added.
    Normed(Vec<(B::Weights, LayerNorm<B::Vector>)>),
}

/// Epsilon of the layer norms of Marian's cells.
const CELL_EPSILON: f32 = 1e-9;

impl<B: Backend> SimpleRecurrentUnit<B> {
    fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        sublayer: &RecurrentSublayerConfig,
        prefix: &str,
    ) -> Result<Self> {
        let width = shape.embeddings.dim;
        let gates: &[&str] = match sublayer.kind {
            SruKind::Ssru => &["", "f"],
            SruKind::Sru => &["", "f", "r"],
        };
        let projections = if sublayer.has_layer_norm {
            let gates = gates.iter().map(|gate| {
                let name = format!("{prefix}_W{gate}");
                let weights =
                    parameters.weights(AffineNames { matrices: &[&name], biases: &[] })?;
                let scale = parameters.vector(&format!("{prefix}_gamma{gate}"))?;
                let bias = (!gate.is_empty())
                    .then(|| parameters.vector(&format!("{prefix}_b{gate}")))
                    .transpose()?;
                Ok((
                    weights,
                    LayerNorm { kind: NormKind::Layer, scale, bias, epsilon: CELL_EPSILON },
                ))
            });
            GateProjections::Normed(gates.collect::<Result<_>>()?)
        } else {
            let matrices: Vec<_> = gates.iter().map(|gate| format!("{prefix}_W{gate}")).collect();
            let matrices: Vec<&str> = matrices.iter().map(String::as_str).collect();
            let biases: Vec<_> =
                gates[1..].iter().map(|gate| format!("{prefix}_b{gate}")).collect();
            // The projection of the input has no bias.
            let biases: Vec<&str> =
                std::iter::once("").chain(biases.iter().map(String::as_str)).collect();
            GateProjections::Fused(
                parameters.weights(AffineNames { matrices: &matrices, biases: &biases })?,
            )
        };
        let output = sublayer
            .has_output_projection
            .then(|| load_affine(parameters, prefix, "o"))
            .transpose()?;
        Ok(SimpleRecurrentUnit {
            connection: SublayerConnection::load(
                parameters,
                shape,
                prefix,
                &format!("{prefix}_ffn"),
            )?,
            projections,
            kind: sublayer.kind,
            output,
            width,
        })
    }
}

impl<B: Backend> SimpleRecurrentUnit<B> {
    /// Returns the output and the state of each row, both `[rows, width]`.
    fn forward(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        initial: B::Tensor,
        sequences: Sequences,
    ) -> Result<(B::Tensor, B::Tensor)> {
        let own_norm = self.connection.preprocess(backend, input)?;
        let input_or_norm = own_norm.as_ref().unwrap_or(input);
        let products: Vec<B::Tensor> = match &self.projections {
            GateProjections::Fused(all) => {
                vec![backend.affine(input_or_norm, all, Epilogue::default())?]
            }
            GateProjections::Normed(gates) => gates
                .iter()
                .map(|(weights, norm)| {
                    let product = backend.affine(input_or_norm, weights, Epilogue::default())?;
                    backend.layer_norm(&product, norm)
                })
                .collect::<Result<_>>()?,
        };
        let gate = |index: usize| match &products[..] {
            [all] => ColumnSlice::nth(all, index, self.width),
            each => ColumnSlice::nth(&each[index], 0, self.width),
        };
        let matrices = [gate(1), gate(0), backend.whole(&initial)];
        let cells = backend.apply(LinearRecurrence { sequences }, &matrices, &[])?;
        let rows = match self.kind {
            SruKind::Ssru => backend.activate(&cells, Activation::Relu)?,
            SruKind::Sru => {
                let rows = backend.activate(&cells, Activation::Tanh)?;
                let matrices = [gate(2), backend.whole(input_or_norm), backend.whole(&rows)];
                backend.apply(Highway, &matrices, &[])?
            }
        };
        let rows = self.connection.finish(backend, rows, self.output.as_ref(), input)?;
        Ok((rows, cells))
    }
}
