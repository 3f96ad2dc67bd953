//! How a decoder layer looks back at what was put out: self-attention, or what remembers
//! one row a hypothesis instead: means and simple recurrent cells.

use super::around::matrix;
use super::backend::Activation;
use super::feed_forward::function;
use super::{
    Affine, Around, Backend, Decoding, Norm, Parameters, Part, SelfAttention, Sequences, Then,
    Visible,
};
use crate::Result;
use crate::architecture::{
    Autoregression, AverageAttention, RecurrentCell, RecurrentSublayer, Transformer,
};

/// The sublayer that looks back.
pub enum LookBack<B: Backend> {
    /// Attention to all steps so far.
    Attention(SelfAttention<B>),
    /// The mean of all inputs so far.
    Mean(Mean<B>),
    /// A recurrent cell.
    Cell(SimpleCell<B>),
}

/// What a layer remembers of all hypotheses.
pub enum Remembered<B: Decoding> {
    /// Keys and values.
    Past(B::Past),
    /// A row each.
    State(B::Rows),
}

/// What a step of decoding is to layers that look back: how its rows go on from those of the
/// step before.
pub struct Steps<'a> {
    /// The row that each continues.
    pub parents: &'a [Option<u32>],
    /// Words before each.
    pub positions: &'a [u32],
    /// Rows of the past that stay, if it is to be shortened first.
    pub kept: Option<&'a [u32]>,
    /// The rows of the past that each sees, its own among them.
    pub paths: &'a [&'a [u32]],
    /// Rows that begin a hypothesis.
    pub firsts: &'a [u32],
    /// As `paths`, where those rows see what they pass behind all others.
    pub first_paths: &'a [&'a [u32]],
}

impl<B: Backend> LookBack<B> {
    /// The sublayer of a layer of the decoder, `decoder_l1` or so.
    pub fn load(
        parameters: &mut impl Parameters<B>,
        shape: &Transformer,
        layer: &str,
    ) -> Result<Self> {
        Ok(match &shape.autoregression {
            Autoregression::SelfAttention => {
                let prefix = format!("{layer}_self");
                LookBack::Attention(SelfAttention::load(parameters, shape, &prefix, true)?)
            }
            Autoregression::AverageAttention(average) => {
                let prefix = format!("{layer}_aan");
                LookBack::Mean(Mean::load(parameters, shape, average, &prefix)?)
            }
            Autoregression::Recurrent(cell) => {
                let prefix = format!("{layer}_rnn");
                LookBack::Cell(SimpleCell::load(parameters, shape, cell, &prefix)?)
            }
        })
    }

    /// All positions of sequences of these lengths at once.
    pub fn whole(&self, backend: &mut B, input: &B::Rows, lengths: &[usize]) -> B::Rows {
        let sequences = Sequences::Lengths(lengths);
        let width = backend.shape(input)[1];
        match self {
            LookBack::Attention(attention) => {
                attention.whole(backend, input, lengths, Visible::Past)
            }
            LookBack::Mean(mean) => {
                let before = backend.zeros(lengths.len(), width);
                let seen = vec![0; lengths.len()];
                let means = backend.running_mean(input, before, &seen, sequences);
                mean.rows(backend, input, means)
            }
            LookBack::Cell(cell) => {
                let before = backend.zeros(lengths.len(), width);
                cell.rows(backend, input, before, sequences).0
            }
        }
    }
}

impl<B: Decoding> LookBack<B> {
    /// Nothing remembered yet.
    pub fn start(&self, backend: &mut B) -> Remembered<B> {
        match self {
            LookBack::Attention(_) => Remembered::Past(backend.past()),
            LookBack::Mean(_) | LookBack::Cell(_) => Remembered::State(backend.zeros(0, 0)),
        }
    }

    /// A step of hypotheses. What they remember goes on with them.
    ///
    /// # Panics
    /// If `remembered` is of another layer.
    pub fn step(
        &self,
        backend: &mut B,
        input: &B::Rows,
        remembered: &mut Remembered<B>,
        steps: &Steps<'_>,
    ) -> B::Rows {
        match (self, remembered) {
            (LookBack::Attention(attention), Remembered::Past(past)) => {
                attention.step(backend, input, past, steps)
            }
            (LookBack::Mean(mean), Remembered::State(state)) => {
                let before = carry(backend, input, state, steps);
                *state = backend.running_mean(input, before, steps.positions, Sequences::Single);
                let means = backend.copy(state);
                mean.rows(backend, input, means)
            }
            (LookBack::Cell(cell), Remembered::State(state)) => {
                let before = carry(backend, input, state, steps);
                let (rows, cells) = cell.rows(backend, input, before, Sequences::Single);
                *state = cells;
                rows
            }
            _ => unreachable!("every layer remembers what it has started"),
        }
    }
}

/// The state that the rows of a step go on with.
fn carry<B: Decoding>(
    backend: &mut B,
    input: &B::Rows,
    state: &B::Rows,
    steps: &Steps<'_>,
) -> B::Rows {
    if steps.parents.iter().all(Option::is_none) {
        let [rows, width] = backend.shape(input);
        return backend.zeros(rows, width);
    }
    backend.carry(state, steps.parents)
}

/// Average attention (Zhang et al. 2018).
pub struct Mean<B: Backend> {
    around: Around<B>,
    inner: Vec<B::Weights>,
    last: Option<B::Weights>,
    activation: Activation,
    /// Of the input and of the mean.
    gates: Option<[B::Weights; 2]>,
}

impl<B: Backend> Mean<B> {
    fn load(
        parameters: &mut impl Parameters<B>,
        shape: &Transformer,
        average: &AverageAttention,
        prefix: &str,
    ) -> Result<Self> {
        let matrices = average.widths(shape.tables.embedding).len();
        let weights = (1..=matrices).map(|i| matrix(parameters, prefix, &i.to_string()));
        let mut inner = weights.collect::<Result<Vec<_>>>()?;
        // All but a last one that leads back to the width of embeddings have a function.
        let last = if matrices == average.ffn_depth { inner.pop() } else { None };
        let gates = if average.gate {
            Some([matrix(parameters, prefix, "i")?, matrix(parameters, prefix, "f")?])
        } else {
            None
        };
        let around = format!("{prefix}_ffn");
        Ok(Mean {
            around: Around::load(parameters, shape, &around, &around)?,
            inner,
            last,
            activation: function(average.activation),
            gates,
        })
    }

    /// From the means to the output.
    fn rows(&self, backend: &mut B, input: &B::Rows, means: B::Rows) -> B::Rows {
        let mut rows = self.around.enter(backend, &means).unwrap_or(means);
        for weights in &self.inner {
            rows = backend.affine(&rows, weights, self.activation.into());
        }
        if let Some(weights) = &self.last {
            rows = backend.affine(&rows, weights, Then::default());
        }
        if let Some([of_input, of_mean]) = &self.gates {
            let input_gate = backend.affine(input, of_input, Then::default());
            let gate = backend.affine(&rows, of_mean, Then::default());
            rows = backend.weigh(&input_gate, input, &gate, rows);
        }
        self.around.leave(backend, rows, input)
    }
}

/// A simple recurrent unit, whose gates do not look at its state.
pub struct SimpleCell<B: Backend> {
    around: Around<B>,
    /// Input and forget gate, and SRU's second gate.
    products: Gates<B>,
    cell: RecurrentCell,
    output: Option<B::Weights>,
    width: usize,
}

enum Gates<B: Backend> {
    /// Side by side.
    Plain(B::Weights),
    /// Products without biases, each normalised by itself; biases come last.
    Normed(Vec<(B::Weights, Norm<B::Vector>)>),
}

/// What Marian's cells add to variances.
const CELL_EPSILON: f32 = 1e-9;

impl<B: Backend> SimpleCell<B> {
    fn load(
        parameters: &mut impl Parameters<B>,
        shape: &Transformer,
        sublayer: &RecurrentSublayer,
        prefix: &str,
    ) -> Result<Self> {
        let width = shape.tables.embedding;
        let gates: &[&str] = match sublayer.cell {
            RecurrentCell::Ssru => &["", "f"],
            RecurrentCell::Sru => &["", "f", "r"],
        };
        let products = if sublayer.layer_norm {
            let gates = gates.iter().map(|gate| {
                let name = format!("{prefix}_W{gate}");
                let weights = parameters.weights(Affine { matrices: &[&name], biases: &[] })?;
                let scale = parameters.vector(&format!("{prefix}_gamma{gate}"))?;
                let bias = (!gate.is_empty())
                    .then(|| parameters.vector(&format!("{prefix}_b{gate}")))
                    .transpose()?;
                Ok((weights, Norm { scale, bias, epsilon: CELL_EPSILON }))
            });
            Gates::Normed(gates.collect::<Result<_>>()?)
        } else {
            let matrices: Vec<_> = gates.iter().map(|gate| format!("{prefix}_W{gate}")).collect();
            let matrices: Vec<&str> = matrices.iter().map(String::as_str).collect();
            let biases: Vec<_> =
                gates[1..].iter().map(|gate| format!("{prefix}_b{gate}")).collect();
            // The input has none.
            let biases: Vec<&str> =
                std::iter::once("").chain(biases.iter().map(String::as_str)).collect();
            Gates::Plain(parameters.weights(Affine { matrices: &matrices, biases: &biases })?)
        };
        let output = sublayer.projection.then(|| matrix(parameters, prefix, "o")).transpose()?;
        Ok(SimpleCell {
            around: Around::load(parameters, shape, prefix, &format!("{prefix}_ffn"))?,
            products,
            cell: sublayer.cell,
            output,
            width,
        })
    }
}

impl<B: Backend> SimpleCell<B> {
    /// The output, and the state behind each row.
    fn rows(
        &self,
        backend: &mut B,
        input: &B::Rows,
        before: B::Rows,
        sequences: Sequences<'_>,
    ) -> (B::Rows, B::Rows) {
        let own = self.around.enter(backend, input);
        let entered = own.as_ref().unwrap_or(input);
        let made: Vec<B::Rows> = match &self.products {
            Gates::Plain(all) => vec![backend.affine(entered, all, Then::default())],
            Gates::Normed(gates) => gates
                .iter()
                .map(|(weights, norm)| {
                    let product = backend.affine(entered, weights, Then::default());
                    backend.norm(&product, norm)
                })
                .collect(),
        };
        let gate = |index: usize| match &made[..] {
            [all] => Part::nth(all, index, self.width),
            each => Part::nth(&each[index], 0, self.width),
        };
        let cells = backend.recur(gate(1), gate(0), before, sequences);
        let rows = backend.copy(&cells);
        let rows = match self.cell {
            RecurrentCell::Ssru => backend.activate(rows, Activation::Relu),
            RecurrentCell::Sru => {
                let rows = backend.activate(rows, Activation::Tanh);
                backend.highway(gate(2), entered, rows)
            }
        };
        let rows = match &self.output {
            Some(output) => self.around.leave_by(backend, &rows, output, input),
            None => self.around.leave(backend, rows, input),
        };
        (rows, cells)
    }
}
