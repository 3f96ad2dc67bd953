//! Encoders: stacks of recurrent layers that read sentences in one direction or both.
//!
//! The sentences of a batch are read together, one token of each at a time. As in PyTorch's packed
//! sequences, rows are ordered by time, then by the length of their sentences, longest first. So at
//! each time, the tokens of the sentences that have not ended are in consecutive rows, in the same
//! order of sentences, and no sentence is padded.

use super::cell::CellNames;
use super::{Cell, CellRole, Speedups};
use crate::Result;
use crate::layer::{
    AffineNames, Epilogue, RecurrentOps, RecurrentParameterLoader, RowPosition, Side,
};
use miriam_nmt_models::architecture::{self, EncoderKind, RecurrentConfig, StackedConfig};

/// The tokens of sentences in the order in which they are read.
pub struct PackedSequences {
    /// The length of each sentence.
    pub lengths: Vec<usize>,
    /// The number of sentences that have a token at each time.
    batch_sizes: Vec<usize>,
    /// All tokens, ordered by time.
    tokens: Vec<Option<u32>>,
    /// The sentence and position of each token.
    rows: Vec<RowPosition>,
    /// The row of each position, sentence by sentence.
    position_rows: Vec<u32>,
}

impl PackedSequences {
    /// Packs the tokens of sentences.
    pub fn new(sentences: &[&[u32]]) -> Self {
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
        let mut order: Vec<usize> = (0..sentences.len()).collect();
        order.sort_by_key(|&sentence| std::cmp::Reverse(lengths[sentence]));
        let longest = lengths.iter().max().copied().unwrap_or(0);
        let (mut tokens, mut rows) = (Vec::new(), Vec::new());
        let mut batch_sizes = Vec::with_capacity(longest);
        let mut sentence_rows: Vec<Vec<u32>> =
            lengths.iter().map(|&n| Vec::with_capacity(n)).collect();
        for time in 0..longest {
            let first = tokens.len();
            for &sentence in &order {
                let Some(&token) = sentences[sentence].get(time) else { break };
                sentence_rows[sentence].push(tokens.len() as u32);
                tokens.push(Some(token));
                rows.push(RowPosition { sentence: sentence as u32, position: time as u32 });
            }
            batch_sizes.push(tokens.len() - first);
        }
        PackedSequences {
            lengths,
            batch_sizes,
            tokens,
            rows,
            position_rows: sentence_rows.concat(),
        }
    }
}

/// One layer in one direction.
struct RecurrentLayer<B: RecurrentOps> {
    input: InputProjection<B>,
    /// The first cell reads the input; the others are transitions of its state.
    cells: Vec<Cell<B>>,
    is_backward: bool,
    /// Whether its input is added to its output.
    has_skip_connection: bool,
    /// Width of its state.
    state_width: usize,
}

/// The projection of a layer's input.
enum InputProjection<B: RecurrentOps> {
    Tokens(B::ProjectedEmbeddingCache),
    Hidden(B::Weights),
}

/// Layers, each of which reads the output of the one before.
type LayerStack<B> = Vec<RecurrentLayer<B>>;

/// An encoder: stages, each of which reads the output of the one before. The stacks of a
/// stage read the same input; their outputs are side by side.
pub struct RecurrentEncoder<B: RecurrentOps> {
    stages: Vec<Vec<LayerStack<B>>>,
}

/// The properties that all layers of an encoder share.
struct LayerSpec<'a> {
    cell: architecture::CellKind,
    state_width: usize,
    cell_depth: usize,
    has_norms: bool,
    table: &'a str,
    speedups: &'a Speedups,
}

impl LayerSpec<'_> {
    /// Loads a layer. `names` gives the prefix of each cell, counted from 1.
    fn build_layer<B: RecurrentOps>(
        &self,
        names: impl Fn(usize) -> String,
        reads_tokens: bool,
        is_backward: bool,
        has_skip_connection: bool,
        parameters: &mut impl RecurrentParameterLoader<B>,
    ) -> Result<RecurrentLayer<B>> {
        fn role(cell: usize) -> CellRole {
            CellRole { in_encoder: true, after_attention: false, has_input: cell == 1 }
        }
        let input_names = CellNames::new(&names(1), self.cell, role(1), self.has_norms);
        let mut storage = Default::default();
        let affine: AffineNames<'_> = input_names.input_affine(&mut storage);
        let input = if reads_tokens {
            InputProjection::Tokens(parameters.projected_embedding_cache(
                self.table,
                affine,
                self.speedups.cached_tokens,
            )?)
        } else {
            InputProjection::Hidden(parameters.weights(affine)?)
        };
        let shape = (self.cell, self.state_width);
        let cells = (1..=self.cell_depth).map(|number| {
            let role = role(number);
            Cell::new(&names(number), shape, role, self.has_norms, self.speedups, parameters)
        });
        let cells = cells.collect::<Result<_>>()?;
        Ok(RecurrentLayer {
            input,
            cells,
            is_backward,
            has_skip_connection,
            state_width: self.state_width,
        })
    }
}

impl<B: RecurrentOps> RecurrentEncoder<B> {
    /// Loads the encoder of a Marian, Amun or Nematus model.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn new(
        model: &RecurrentConfig,
        speedups: &Speedups,
        parameters: &mut impl RecurrentParameterLoader<B>,
    ) -> Result<Self> {
        let architecture::RecurrentEncoderConfig { kind, cell, depth, cell_depth } = model.encoder;
        let spec = LayerSpec {
            cell,
            state_width: model.state_width,
            cell_depth,
            has_norms: model.layer_norm_style.is_some(),
            table: model.embeddings.encoder_table_name(),
            speedups,
        };
        let bidirectional_depth = if kind == EncoderKind::BiUnidirectional { 1 } else { depth };
        let mut stack = |prefix: &str, backwards: bool| -> Result<LayerStack<B>> {
            (1..=bidirectional_depth)
                .map(|number| {
                    let turned = kind == EncoderKind::Alternating && number % 2 == 0;
                    let skip = model.skip_connections && number > 1;
                    spec.build_layer(
                        |cell| match (number, cell) {
                            (1, 1) => prefix.to_owned(),
                            (1, cell) => format!("{prefix}_cell{cell}"),
                            _ => format!("{prefix}_l{number}_cell{cell}"),
                        },
                        number == 1,
                        backwards ^ turned,
                        skip,
                        parameters,
                    )
                })
                .collect()
        };
        let mut stages = vec![vec![stack("encoder_bi", false)?, stack("encoder_bi_r", true)?]];
        if depth > bidirectional_depth {
            let layers = (2..=depth).map(|number| {
                // The first of these layers reads two states side by side, without skip connection.
                spec.build_layer(
                    |cell| format!("encoder_l{number}_cell{cell}"),
                    false,
                    false,
                    model.skip_connections && number > 2,
                    parameters,
                )
            });
            stages.push(vec![layers.collect::<Result<_>>()?]);
        }
        Ok(RecurrentEncoder { stages })
    }

    /// Loads the encoder of Devlin's model: every layer reads both directions of the one below.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn from_stacked(
        model: &StackedConfig,
        speedups: &Speedups,
        parameters: &mut impl RecurrentParameterLoader<B>,
    ) -> Result<Self> {
        let spec = LayerSpec {
            cell: architecture::CellKind::Gru,
            state_width: model.encoder_state_width,
            cell_depth: 1,
            has_norms: false,
            table: model.embeddings.encoder_table_name(),
            speedups,
        };
        let stages = (1..=model.encoder_depth).map(|layer| {
            let directions = [("encoder", false), ("encoder_r", true)];
            let stacks =
                directions.into_iter().map(|(prefix, backwards)| -> Result<LayerStack<B>> {
                    let name = |_| format!("{prefix}_l{layer}");
                    Ok(vec![spec.build_layer(name, layer == 1, backwards, false, parameters)?])
                });
            stacks.collect::<Result<_>>()
        });
        Ok(RecurrentEncoder { stages: stages.collect::<Result<_>>()? })
    }

    /// Returns the states of the encoder, a row for each token, sentence by sentence: `[tokens,
    /// width]`.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn encode(&self, backend: &mut B, sentences: &PackedSequences) -> Result<B::Tensor> {
        backend.begin_row_positions(Side::Source, &sentences.rows);
        let mut below: Option<B::Tensor> = None;
        for stage in &self.stages {
            let mut outputs = Vec::with_capacity(stage.len());
            for stack in stage {
                let mut rows: Option<B::Tensor> = None;
                for layer in stack {
                    let input = rows.as_ref().or(below.as_ref());
                    rows = Some(layer.forward(backend, sentences, input)?);
                }
                outputs.extend(rows);
            }
            below = Some(match &outputs[..] {
                [_] => outputs.remove(0),
                _ => backend.concat_columns(&outputs.iter().collect::<Vec<_>>())?,
            });
        }
        let by_time = below.expect("an encoder has layers");
        backend.begin_rows(Side::Source, &sentences.lengths);
        backend.index_select(&by_time, &sentences.position_rows)
    }
}

impl<B: RecurrentOps> RecurrentLayer<B> {
    fn forward(
        &self,
        backend: &mut B,
        sentences: &PackedSequences,
        below: Option<&B::Tensor>,
    ) -> Result<B::Tensor> {
        let products = match (&self.input, below) {
            (InputProjection::Tokens(cache), _) => {
                backend.embed_projected_after_dropout(cache, &sentences.tokens)?
            }
            (InputProjection::Hidden(weights), Some(below)) => {
                backend.affine_after_dropout(below, weights, Epilogue::default())?
            }
            (InputProjection::Hidden(_), None) => {
                panic!("a layer above the first reads the output of one below")
            }
        };
        let products = self.cells[0].norm_input(backend, products)?;
        let times = sentences.batch_sizes.len();
        let mut first_row = vec![0; times + 1];
        for (time, &active) in sentences.batch_sizes.iter().enumerate() {
            first_row[time + 1] = first_row[time] + active as u32;
        }
        let mut outputs: Vec<Option<B::Tensor>> = (0..times).map(|_| None).collect();
        let mut cell: Option<B::Tensor> = None;
        let mut before: Option<usize> = None;
        for step in 0..times {
            let time = if self.is_backward { times - 1 - step } else { step };
            let rows: Vec<u32> = (first_row[time]..first_row[time + 1]).collect();
            let input = backend.index_select(&products, &rows)?;
            let last = before.and_then(|time| outputs[time].as_ref());
            let resized = resize_states(backend, last, rows.len(), self.state_width)?;
            let state = resized.as_ref().or(last).expect("states of these rows");
            if let Some(last) = &cell
                && let Some(resized) =
                    resize_states(backend, Some(last), rows.len(), self.state_width)?
            {
                cell = Some(resized);
            }
            let mut next = self.cells[0].advance(backend, Some(&input), state, cell)?;
            for transition in &self.cells[1..] {
                next = transition.advance(backend, None, &next.output, next.cell)?;
            }
            cell = next.cell;
            outputs[time] = Some(next.output);
            before = Some(time);
        }
        let outputs: Vec<&B::Tensor> = outputs.iter().flatten().collect();
        let outputs = backend.concat_rows(&outputs)?;
        match below {
            Some(below) if self.has_skip_connection => backend.add(&outputs, below),
            _ => Ok(outputs),
        }
    }
}

/// Resizes `states` to the first `rows` sentences: drops the states of sentences that have ended,
/// and appends zeros for sentences that begin. Returns `None` if `states` has `rows` rows already.
fn resize_states<B: RecurrentOps>(
    backend: &mut B,
    states: Option<&B::Tensor>,
    rows: usize,
    width: usize,
) -> Result<Option<B::Tensor>> {
    let Some(states) = states else { return backend.zeros(rows, width).map(Some) };
    let [before, _] = backend.shape(states);
    Ok(match before.cmp(&rows) {
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Less => {
            let zeros = backend.zeros(rows - before, width)?;
            Some(backend.concat_rows(&[states, &zeros])?)
        }
        std::cmp::Ordering::Greater => {
            let first: Vec<u32> = (0..rows as u32).collect();
            Some(backend.index_select(states, &first)?)
        }
    })
}
