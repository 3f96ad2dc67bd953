//! Encoders: stacks of recurrent layers that read sentences in one direction or both.
//!
//! The sentences of a batch go on together, a word of each at a time. Inside, positions are
//! ordered by time, and within a time by the length of their sentences, longest first: the
//! sentences that have a word at a time are then the first ones, in neighbouring rows, and
//! nobody is padded.

use super::cell::CellNames;
use super::{Cell, CellRole, Speedups};
use crate::Result;
use crate::architecture::{self, EncoderKind, RecurrentConfig, StackedConfig};
use crate::layer::{AffineNames, Epilogue, RecurrentOps, RecurrentParameterLoader};

/// Sentences in the order in which they are read.
pub struct PackedSequences {
    /// Of each sentence.
    pub lengths: Vec<usize>,
    /// How many sentences have a word at each time.
    batch_sizes: Vec<usize>,
    /// All words by time.
    tokens: Vec<Option<u32>>,
    /// The row of each position, sentence by sentence.
    position_rows: Vec<u32>,
}

impl PackedSequences {
    /// Orders the words of sentences.
    pub fn new(sentences: &[&[u32]]) -> Self {
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
        let mut order: Vec<usize> = (0..sentences.len()).collect();
        order.sort_by_key(|&sentence| std::cmp::Reverse(lengths[sentence]));
        let longest = lengths.iter().max().copied().unwrap_or(0);
        let mut tokens = Vec::new();
        let mut batch_sizes = Vec::with_capacity(longest);
        let mut row_of: Vec<Vec<u32>> = lengths.iter().map(|&n| Vec::with_capacity(n)).collect();
        for time in 0..longest {
            let first = tokens.len();
            for &sentence in &order {
                let Some(&word) = sentences[sentence].get(time) else { break };
                row_of[sentence].push(tokens.len() as u32);
                tokens.push(Some(word));
            }
            batch_sizes.push(tokens.len() - first);
        }
        PackedSequences { lengths, batch_sizes, tokens, position_rows: row_of.concat() }
    }
}

/// One layer in one direction.
struct RecurrentLayer<B: RecurrentOps> {
    input: InputProjection<B>,
    /// The first takes the input, the others move its state on.
    cells: Vec<Cell<B>>,
    is_backward: bool,
    /// Whether its input is added to its output.
    has_skip_connection: bool,
    /// Width of its state.
    state_width: usize,
}

/// What a layer multiplies.
enum InputProjection<B: RecurrentOps> {
    Tokens(B::ProjectedEmbeddingCache),
    Hidden(B::Weights),
}

/// Layers that read in turn, each what the one before gave.
type LayerStack<B> = Vec<RecurrentLayer<B>>;

/// An encoder: stages, each of which reads what the one before gave. Stacks of a stage
/// read the same; what they give is put side by side.
pub struct RecurrentEncoder<B: RecurrentOps> {
    stages: Vec<Vec<LayerStack<B>>>,
}

/// How a layer is made.
struct LayerSpec<'a> {
    cell: architecture::CellKind,
    state_width: usize,
    cell_depth: usize,
    has_norms: bool,
    table: &'a str,
    speedups: &'a Speedups,
}

impl LayerSpec<'_> {
    /// The layer whose cells have the names given.
    fn build_layer<B: RecurrentOps>(
        &self,
        names: impl Fn(usize) -> String,
        of_words: bool,
        backwards: bool,
        skip: bool,
        parameters: &mut impl RecurrentParameterLoader<B>,
    ) -> Result<RecurrentLayer<B>> {
        let place =
            |cell| CellRole { in_encoder: true, after_attention: false, has_input: cell == 1 };
        let cell = |number, parameters: &mut _| {
            let shape = (self.cell, self.state_width);
            let place = place(number);
            Cell::new(&names(number), shape, place, self.has_norms, self.speedups, parameters)
        };
        let of_input = CellNames::new(&names(1), self.cell, place(1), self.has_norms);
        let mut storage = Default::default();
        let affine: AffineNames<'_> = of_input.input_affine(&mut storage);
        let input = if of_words {
            InputProjection::Tokens(parameters.projected_embedding_cache(
                self.table,
                affine,
                self.speedups.cached_tokens,
            )?)
        } else {
            InputProjection::Hidden(parameters.weights(affine)?)
        };
        let cells = (1..=self.cell_depth).map(|number| cell(number, parameters));
        let cells = cells.collect::<Result<_>>()?;
        Ok(RecurrentLayer {
            input,
            cells,
            is_backward: backwards,
            has_skip_connection: skip,
            state_width: self.state_width,
        })
    }
}

impl<B: RecurrentOps> RecurrentEncoder<B> {
    /// The encoder of a model of Marian's, Amun's or Nematus'.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn new(
        model: &RecurrentConfig,
        speedups: &Speedups,
        parameters: &mut impl RecurrentParameterLoader<B>,
    ) -> Result<Self> {
        let architecture::RecurrentEncoderConfig { kind, cell, depth, cell_depth } = model.encoder;
        let plan = LayerSpec {
            cell,
            state_width: model.state_width,
            cell_depth,
            has_norms: model.layer_norm_style.is_some(),
            table: model.embeddings.encoder_table_name(),
            speedups,
        };
        let both = if kind == EncoderKind::BiUnidirectional { 1 } else { depth };
        let mut stack = |prefix: &str, backwards: bool| -> Result<LayerStack<B>> {
            let layer = |number| {
                let turned = kind == EncoderKind::Alternating && number % 2 == 0;
                let names = |cell| match (number, cell) {
                    (1, 1) => prefix.to_owned(),
                    (1, cell) => format!("{prefix}_cell{cell}"),
                    _ => format!("{prefix}_l{number}_cell{cell}"),
                };
                let skip = model.skip_connections && number > 1;
                plan.build_layer(names, number == 1, backwards ^ turned, skip, parameters)
            };
            (1..=both).map(layer).collect()
        };
        let mut stages = vec![vec![stack("encoder_bi", false)?, stack("encoder_bi_r", true)?]];
        if depth > both {
            let layer = |number| {
                let names = |cell| format!("encoder_l{number}_cell{cell}");
                // The first reads two states and gives one.
                plan.build_layer(
                    names,
                    false,
                    false,
                    model.skip_connections && number > 2,
                    parameters,
                )
            };
            stages.push(vec![(2..=depth).map(layer).collect::<Result<_>>()?]);
        }
        Ok(RecurrentEncoder { stages })
    }

    /// The encoder of Devlin's model: every layer reads both directions of the one below.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn from_stacked(
        model: &StackedConfig,
        speedups: &Speedups,
        parameters: &mut impl RecurrentParameterLoader<B>,
    ) -> Result<Self> {
        let plan = LayerSpec {
            cell: architecture::CellKind::Gru,
            state_width: model.encoder_state_width,
            cell_depth: 1,
            has_norms: false,
            table: model.embeddings.encoder_table_name(),
            speedups,
        };
        let mut stage = |layer: usize| {
            let mut direction = |prefix: &str, backwards| {
                let names = |_| format!("{prefix}_l{layer}");
                let layer = plan.build_layer(names, layer == 1, backwards, false, parameters)?;
                Ok::<LayerStack<B>, crate::Error>(vec![layer])
            };
            Ok(vec![direction("encoder", false)?, direction("encoder_r", true)?])
        };
        let stages = (1..=model.encoder_depth).map(&mut stage).collect::<Result<_>>()?;
        Ok(RecurrentEncoder { stages })
    }

    /// What the encoder gives for each word, sentence by sentence.
    pub fn encode(&self, backend: &mut B, sentences: &PackedSequences) -> B::Tensor {
        let mut read: Option<B::Tensor> = None;
        for stage in &self.stages {
            let outputs = stage.iter().map(|stack| {
                let mut below: Option<B::Tensor> = None;
                for layer in stack {
                    let input = below.as_ref().or(read.as_ref());
                    below = Some(layer.forward(backend, sentences, input));
                }
                below.expect("a stack has layers")
            });
            let outputs: Vec<B::Tensor> = outputs.collect();
            read = Some(match &outputs[..] {
                [_] => outputs.into_iter().next().expect("one"),
                _ => backend.concat_columns(&outputs.iter().collect::<Vec<_>>()),
            });
        }
        let by_time = read.expect("an encoder has layers");
        backend.index_select(&by_time, &sentences.position_rows)
    }
}

impl<B: RecurrentOps> RecurrentLayer<B> {
    fn forward(
        &self,
        backend: &mut B,
        sentences: &PackedSequences,
        below: Option<&B::Tensor>,
    ) -> B::Tensor {
        let products = match (&self.input, below) {
            (InputProjection::Tokens(lexicon), _) => {
                backend.embed_projected(lexicon, &sentences.tokens)
            }
            (InputProjection::Hidden(weights), Some(below)) => {
                backend.affine(below, weights, Epilogue::default())
            }
            (InputProjection::Hidden(_), None) => {
                panic!("a layer of rows reads what one of words gave")
            }
        };
        let products = self.cells[0].norm_input(backend, products);
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
            let input = backend.index_select(&products, &rows);
            let last = before.and_then(|time| outputs[time].as_ref());
            let resized = resize_states(backend, last, rows.len(), self.state_width);
            let state = resized.as_ref().or(last).expect("as many as resized");
            let old = cell.take().map(|cell| {
                resize_states(backend, Some(&cell), rows.len(), self.state_width).unwrap_or(cell)
            });
            let mut next = self.cells[0].advance(backend, Some(&input), state, old);
            for transition in &self.cells[1..] {
                next = transition.advance(backend, None, &next.output, next.cell);
            }
            cell = next.cell;
            outputs[time] = Some(next.output);
            before = Some(time);
        }
        let outputs: Vec<&B::Tensor> = outputs.iter().flatten().collect();
        let outputs = backend.concat_rows(&outputs);
        match below {
            Some(below) if self.has_skip_connection => backend.add(outputs, below),
            _ => outputs,
        }
    }
}

/// The states of the first `rows` sentences: fewer where some have ended, zeros behind
/// where some begin. None if they are as they must be.
fn resize_states<B: RecurrentOps>(
    backend: &mut B,
    states: Option<&B::Tensor>,
    rows: usize,
    width: usize,
) -> Option<B::Tensor> {
    let Some(states) = states else { return Some(backend.zeros(rows, width)) };
    let [before, _] = backend.shape(states);
    match before.cmp(&rows) {
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Less => {
            let zeros = backend.zeros(rows - before, width);
            Some(backend.concat_rows(&[states, &zeros]))
        }
        std::cmp::Ordering::Greater => {
            Some(backend.index_select(states, &(0..rows as u32).collect::<Vec<_>>()))
        }
    }
}
