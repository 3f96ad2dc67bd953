//! How a decoder layer looks back at what was put out: self-attention, or what remembers
//! one row a hypothesis instead: means and simple recurrent cells.

use super::backend::Activation;
use super::feed_forward::kernel_activation;
use super::sublayer_connection::load_affine;
use super::{
    AffineNames, AttentionMask, Backend, ColumnSlice, DecodingOps, Epilogue, LayerNorm,
    ParameterLoader, SelfAttention, SequenceLayout, SublayerConnection,
};
use crate::Result;
use crate::architecture::{
    AutoregressionConfig, AverageAttentionConfig, RecurrentSublayerConfig, SruKind,
    TransformerConfig,
};

/// The sublayer that looks back.
pub enum Autoregression<B: Backend> {
    /// Attention to all steps so far.
    SelfAttention(SelfAttention<B>),
    /// The mean of all inputs so far.
    AverageAttention(AverageAttention<B>),
    /// A recurrent cell.
    Recurrent(SimpleRecurrentUnit<B>),
}

/// What a layer remembers of all hypotheses.
pub enum AutoregressionState<B: DecodingOps> {
    /// Keys and values.
    KvCache(B::KvCache),
    /// A row each.
    Recurrent(B::Tensor),
}

/// What a step of decoding is to layers that look back: how its rows go on from those of the
/// step before.
pub struct DecodingStep<'a> {
    /// The row that each continues.
    pub parents: &'a [Option<u32>],
    /// Words before each.
    pub positions: &'a [u32],
    /// Rows of the past that stay, if it is to be shortened first.
    pub kept_rows: Option<&'a [u32]>,
    /// The rows of the past that each sees, its own among them.
    pub paths: &'a [&'a [u32]],
    /// Rows that begin a hypothesis.
    pub new_rows: &'a [u32],
    /// As `paths`, where those rows see what they pass behind all others.
    pub new_row_paths: &'a [&'a [u32]],
}

impl<B: Backend> Autoregression<B> {
    /// The sublayer of a layer of the decoder, `decoder_l1` or so.
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

    /// All positions of sequences of these lengths at once.
    pub fn forward(&self, backend: &mut B, input: &B::Tensor, lengths: &[usize]) -> B::Tensor {
        let sequences = SequenceLayout::Lengths(lengths);
        let width = backend.shape(input)[1];
        match self {
            Autoregression::SelfAttention(attention) => {
                attention.forward(backend, input, lengths, AttentionMask::Causal)
            }
            Autoregression::AverageAttention(mean) => {
                let before = backend.zeros(lengths.len(), width);
                let seen = vec![0; lengths.len()];
                let means = backend.running_mean(input, before, &seen, sequences);
                mean.forward(backend, input, means)
            }
            Autoregression::Recurrent(cell) => {
                let before = backend.zeros(lengths.len(), width);
                cell.forward(backend, input, before, sequences).0
            }
        }
    }
}

impl<B: DecodingOps> Autoregression<B> {
    /// Nothing remembered yet.
    pub fn new_state(&self, backend: &mut B) -> AutoregressionState<B> {
        match self {
            Autoregression::SelfAttention(_) => {
                AutoregressionState::KvCache(backend.new_kv_cache())
            }
            Autoregression::AverageAttention(_) | Autoregression::Recurrent(_) => {
                AutoregressionState::Recurrent(backend.zeros(0, 0))
            }
        }
    }

    /// A step of hypotheses. What they remember goes on with them.
    ///
    /// # Panics
    /// If `remembered` is of another layer.
    pub fn step(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        state: &mut AutoregressionState<B>,
        step: &DecodingStep<'_>,
    ) -> B::Tensor {
        match (self, state) {
            (Autoregression::SelfAttention(attention), AutoregressionState::KvCache(past)) => {
                attention.step(backend, input, past, step)
            }
            (Autoregression::AverageAttention(mean), AutoregressionState::Recurrent(state)) => {
                let before = gather_parent_state(backend, input, state, step);
                *state =
                    backend.running_mean(input, before, step.positions, SequenceLayout::SingleStep);
                let means = backend.copy(state);
                mean.forward(backend, input, means)
            }
            (Autoregression::Recurrent(cell), AutoregressionState::Recurrent(state)) => {
                let before = gather_parent_state(backend, input, state, step);
                let (rows, cells) =
                    cell.forward(backend, input, before, SequenceLayout::SingleStep);
                *state = cells;
                rows
            }
            _ => unreachable!("every layer remembers what it has started"),
        }
    }
}

/// The state that the rows of a step go on with.
fn gather_parent_state<B: DecodingOps>(
    backend: &mut B,
    input: &B::Tensor,
    state: &B::Tensor,
    step: &DecodingStep<'_>,
) -> B::Tensor {
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
    /// Of the input and of the mean.
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
        let mut inner = weights.collect::<Result<Vec<_>>>()?;
        // All but a last one that leads back to the width of embeddings have a function.
        let last = if matrices == average.ffn_depth { inner.pop() } else { None };
        let gates = if average.has_gate {
            Some([load_affine(parameters, prefix, "i")?, load_affine(parameters, prefix, "f")?])
        } else {
            None
        };
        let around = format!("{prefix}_ffn");
        Ok(AverageAttention {
            connection: SublayerConnection::load(parameters, shape, &around, &around)?,
            hidden: inner,
            output: last,
            activation: kernel_activation(average.activation),
            gates,
        })
    }

    /// From the means to the output.
    fn forward(&self, backend: &mut B, input: &B::Tensor, means: B::Tensor) -> B::Tensor {
        let mut rows = self.connection.preprocess(backend, &means).unwrap_or(means);
        for weights in &self.hidden {
            rows = backend.affine(&rows, weights, self.activation.into());
        }
        if let Some(weights) = &self.output {
            rows = backend.affine(&rows, weights, Epilogue::default());
        }
        if let Some([of_input, of_mean]) = &self.gates {
            let input_gate = backend.affine(input, of_input, Epilogue::default());
            let gate = backend.affine(&rows, of_mean, Epilogue::default());
            rows = backend.average_attention_gate(&input_gate, input, &gate, rows);
        }
        self.connection.postprocess(backend, rows, input)
    }
}

/// A simple recurrent unit, whose gates do not look at its state.
pub struct SimpleRecurrentUnit<B: Backend> {
    connection: SublayerConnection<B>,
    /// Input and forget gate, and SRU's second gate.
    projections: GateProjections<B>,
    kind: SruKind,
    output: Option<B::Weights>,
    width: usize,
}

enum GateProjections<B: Backend> {
    /// Side by side.
    Fused(B::Weights),
    /// Products without biases, each normalised by itself; biases come last.
    Normed(Vec<(B::Weights, LayerNorm<B::Vector>)>),
}

/// What Marian's cells add to variances.
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
        let products = if sublayer.has_layer_norm {
            let gates = gates.iter().map(|gate| {
                let name = format!("{prefix}_W{gate}");
                let weights =
                    parameters.weights(AffineNames { matrices: &[&name], biases: &[] })?;
                let scale = parameters.vector(&format!("{prefix}_gamma{gate}"))?;
                let bias = (!gate.is_empty())
                    .then(|| parameters.vector(&format!("{prefix}_b{gate}")))
                    .transpose()?;
                Ok((weights, LayerNorm { scale, bias, epsilon: CELL_EPSILON }))
            });
            GateProjections::Normed(gates.collect::<Result<_>>()?)
        } else {
            let matrices: Vec<_> = gates.iter().map(|gate| format!("{prefix}_W{gate}")).collect();
            let matrices: Vec<&str> = matrices.iter().map(String::as_str).collect();
            let biases: Vec<_> =
                gates[1..].iter().map(|gate| format!("{prefix}_b{gate}")).collect();
            // The input has none.
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
            projections: products,
            kind: sublayer.kind,
            output,
            width,
        })
    }
}

impl<B: Backend> SimpleRecurrentUnit<B> {
    /// The output, and the state behind each row.
    fn forward(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        before: B::Tensor,
        sequences: SequenceLayout<'_>,
    ) -> (B::Tensor, B::Tensor) {
        let own = self.connection.preprocess(backend, input);
        let entered = own.as_ref().unwrap_or(input);
        let made: Vec<B::Tensor> = match &self.projections {
            GateProjections::Fused(all) => vec![backend.affine(entered, all, Epilogue::default())],
            GateProjections::Normed(gates) => gates
                .iter()
                .map(|(weights, norm)| {
                    let product = backend.affine(entered, weights, Epilogue::default());
                    backend.layer_norm(&product, norm)
                })
                .collect(),
        };
        let gate = |index: usize| match &made[..] {
            [all] => ColumnSlice::nth(all, index, self.width),
            each => ColumnSlice::nth(&each[index], 0, self.width),
        };
        let cells = backend.linear_recurrence(gate(1), gate(0), before, sequences);
        let rows = backend.copy(&cells);
        let rows = match self.kind {
            SruKind::Ssru => backend.activate(rows, Activation::Relu),
            SruKind::Sru => {
                let rows = backend.activate(rows, Activation::Tanh);
                backend.highway(gate(2), entered, rows)
            }
        };
        let rows = match &self.output {
            Some(output) => self.connection.project_and_postprocess(backend, &rows, output, input),
            None => self.connection.postprocess(backend, rows, input),
        };
        (rows, cells)
    }
}
