//! Encoders: stacks of recurrent layers that read sentences in one direction or both.
//!
//! The sentences of a batch go on together, a word of each at a time. Inside, positions are
//! ordered by time, and within a time by the length of their sentences, longest first: the
//! sentences that have a word at a time are then the first ones, in neighbouring rows, and
//! nobody is padded.

use super::cell::CellNames;
use super::{Cell, Place, Shortcuts};
use crate::Result;
use crate::architecture::{self, EncoderKind, Recurrent, Stacked};
use crate::layer::{Affine, GateParameters, Gates, Then};

/// Sentences in the order in which they are read.
pub struct Sentences {
    /// Of each sentence.
    pub lengths: Vec<usize>,
    /// How many sentences have a word at each time.
    active: Vec<usize>,
    /// All words by time.
    words: Vec<Option<u32>>,
    /// The row of each position, sentence by sentence.
    rows: Vec<u32>,
}

impl Sentences {
    /// Orders the words of sentences.
    pub fn new(sentences: &[&[u32]]) -> Self {
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
        let mut order: Vec<usize> = (0..sentences.len()).collect();
        order.sort_by_key(|&sentence| std::cmp::Reverse(lengths[sentence]));
        let longest = lengths.iter().max().copied().unwrap_or(0);
        let mut words = Vec::new();
        let mut active = Vec::with_capacity(longest);
        let mut row_of: Vec<Vec<u32>> = lengths.iter().map(|&n| Vec::with_capacity(n)).collect();
        for time in 0..longest {
            let first = words.len();
            for &sentence in &order {
                let Some(&word) = sentences[sentence].get(time) else { break };
                row_of[sentence].push(words.len() as u32);
                words.push(Some(word));
            }
            active.push(words.len() - first);
        }
        Sentences { lengths, active, words, rows: row_of.concat() }
    }
}

/// One layer in one direction.
struct Layer<B: Gates> {
    input: Input<B>,
    /// The first takes the input, the others move its state on.
    cells: Vec<Cell<B>>,
    backwards: bool,
    /// Whether its input is added to its output.
    skip: bool,
    /// Width of its state.
    state: usize,
}

/// What a layer multiplies.
enum Input<B: Gates> {
    Words(B::Lexicon),
    Rows(B::Weights),
}

/// Layers that read in turn, each what the one before gave.
type Stack<B> = Vec<Layer<B>>;

/// An encoder: stages, each of which reads what the one before gave. Stacks of a stage
/// read the same; what they give is put side by side.
pub struct Encoder<B: Gates> {
    stages: Vec<Vec<Stack<B>>>,
}

/// How a layer is made.
struct Plan<'a> {
    cell: architecture::Cell,
    state: usize,
    cell_depth: usize,
    norms: bool,
    table: &'a str,
    shortcuts: &'a Shortcuts,
}

impl Plan<'_> {
    /// The layer whose cells have the names given.
    fn layer<B: Gates>(
        &self,
        names: impl Fn(usize) -> String,
        of_words: bool,
        backwards: bool,
        skip: bool,
        parameters: &mut impl GateParameters<B>,
    ) -> Result<Layer<B>> {
        let place = |cell| Place { encoder: true, behind_attention: false, input: cell == 1 };
        let cell = |number, parameters: &mut _| {
            let shape = (self.cell, self.state);
            let place = place(number);
            Cell::new(&names(number), shape, place, self.norms, self.shortcuts, parameters)
        };
        let of_input = CellNames::new(&names(1), self.cell, place(1), self.norms);
        let mut storage = Default::default();
        let affine: Affine<'_> = of_input.of_input(&mut storage);
        let input = if of_words {
            Input::Words(parameters.lexicon(self.table, affine, self.shortcuts.words)?)
        } else {
            Input::Rows(parameters.weights(affine)?)
        };
        let cells = (1..=self.cell_depth).map(|number| cell(number, parameters));
        let cells = cells.collect::<Result<_>>()?;
        Ok(Layer { input, cells, backwards, skip, state: self.state })
    }
}

impl<B: Gates> Encoder<B> {
    /// The encoder of a model of Marian's, Amun's or Nematus'.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn new(
        model: &Recurrent,
        shortcuts: &Shortcuts,
        parameters: &mut impl GateParameters<B>,
    ) -> Result<Self> {
        let architecture::Encoder { kind, cell, depth, cell_depth } = model.encoder;
        let plan = Plan {
            cell,
            state: model.state,
            cell_depth,
            norms: model.layer_norm.is_some(),
            table: model.tables.encoder_table(),
            shortcuts,
        };
        let both = if kind == EncoderKind::BiUnidirectional { 1 } else { depth };
        let mut stack = |prefix: &str, backwards: bool| -> Result<Stack<B>> {
            let layer = |number| {
                let turned = kind == EncoderKind::Alternating && number % 2 == 0;
                let names = |cell| match (number, cell) {
                    (1, 1) => prefix.to_owned(),
                    (1, cell) => format!("{prefix}_cell{cell}"),
                    _ => format!("{prefix}_l{number}_cell{cell}"),
                };
                let skip = model.skip && number > 1;
                plan.layer(names, number == 1, backwards ^ turned, skip, parameters)
            };
            (1..=both).map(layer).collect()
        };
        let mut stages = vec![vec![stack("encoder_bi", false)?, stack("encoder_bi_r", true)?]];
        if depth > both {
            let layer = |number| {
                let names = |cell| format!("encoder_l{number}_cell{cell}");
                // The first reads two states and gives one.
                plan.layer(names, false, false, model.skip && number > 2, parameters)
            };
            stages.push(vec![(2..=depth).map(layer).collect::<Result<_>>()?]);
        }
        Ok(Encoder { stages })
    }

    /// The encoder of Devlin's model: every layer reads both directions of the one below.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn of_stacked(
        model: &Stacked,
        shortcuts: &Shortcuts,
        parameters: &mut impl GateParameters<B>,
    ) -> Result<Self> {
        let plan = Plan {
            cell: architecture::Cell::Gru,
            state: model.encoder_state,
            cell_depth: 1,
            norms: false,
            table: model.tables.encoder_table(),
            shortcuts,
        };
        let mut stage = |layer: usize| {
            let mut direction = |prefix: &str, backwards| {
                let names = |_| format!("{prefix}_l{layer}");
                let layer = plan.layer(names, layer == 1, backwards, false, parameters)?;
                Ok::<Stack<B>, crate::Error>(vec![layer])
            };
            Ok(vec![direction("encoder", false)?, direction("encoder_r", true)?])
        };
        let stages = (1..=model.encoder_depth).map(&mut stage).collect::<Result<_>>()?;
        Ok(Encoder { stages })
    }

    /// What the encoder gives for each word, sentence by sentence.
    pub fn read(&self, backend: &mut B, sentences: &Sentences) -> B::Rows {
        let mut read: Option<B::Rows> = None;
        for stage in &self.stages {
            let outputs = stage.iter().map(|stack| {
                let mut below: Option<B::Rows> = None;
                for layer in stack {
                    let input = below.as_ref().or(read.as_ref());
                    below = Some(layer.read(backend, sentences, input));
                }
                below.expect("a stack has layers")
            });
            let outputs: Vec<B::Rows> = outputs.collect();
            read = Some(match &outputs[..] {
                [_] => outputs.into_iter().next().expect("one"),
                _ => backend.join(&outputs.iter().collect::<Vec<_>>()),
            });
        }
        let by_time = read.expect("an encoder has layers");
        backend.select(&by_time, &sentences.rows)
    }
}

impl<B: Gates> Layer<B> {
    fn read(&self, backend: &mut B, sentences: &Sentences, below: Option<&B::Rows>) -> B::Rows {
        let products = match (&self.input, below) {
            (Input::Words(lexicon), _) => backend.look_up(lexicon, &sentences.words),
            (Input::Rows(weights), Some(below)) => backend.affine(below, weights, Then::default()),
            (Input::Rows(_), None) => panic!("a layer of rows reads what one of words gave"),
        };
        let products = self.cells[0].input(backend, products);
        let times = sentences.active.len();
        let mut first_row = vec![0; times + 1];
        for (time, &active) in sentences.active.iter().enumerate() {
            first_row[time + 1] = first_row[time] + active as u32;
        }
        let mut outputs: Vec<Option<B::Rows>> = (0..times).map(|_| None).collect();
        let mut cell: Option<B::Rows> = None;
        let mut before: Option<usize> = None;
        for step in 0..times {
            let time = if self.backwards { times - 1 - step } else { step };
            let rows: Vec<u32> = (first_row[time]..first_row[time + 1]).collect();
            let input = backend.select(&products, &rows);
            let last = before.and_then(|time| outputs[time].as_ref());
            let resized = resize(backend, last, rows.len(), self.state);
            let state = resized.as_ref().or(last).expect("as many as resized");
            let old = cell
                .take()
                .map(|cell| resize(backend, Some(&cell), rows.len(), self.state).unwrap_or(cell));
            let mut next = self.cells[0].go_on(backend, Some(&input), state, old);
            for transition in &self.cells[1..] {
                next = transition.go_on(backend, None, &next.output, next.cell);
            }
            cell = next.cell;
            outputs[time] = Some(next.output);
            before = Some(time);
        }
        let outputs: Vec<&B::Rows> = outputs.iter().flatten().collect();
        let outputs = backend.stack(&outputs);
        match below {
            Some(below) if self.skip => backend.add(outputs, below),
            _ => outputs,
        }
    }
}

/// The states of the first `rows` sentences: fewer where some have ended, zeros behind
/// where some begin. None if they are as they must be.
fn resize<B: Gates>(
    backend: &mut B,
    states: Option<&B::Rows>,
    rows: usize,
    width: usize,
) -> Option<B::Rows> {
    let Some(states) = states else { return Some(backend.zeros(rows, width)) };
    let [before, _] = backend.shape(states);
    match before.cmp(&rows) {
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Less => {
            let zeros = backend.zeros(rows - before, width);
            Some(backend.stack(&[states, &zeros]))
        }
        std::cmp::Ordering::Greater => {
            Some(backend.select(states, &(0..rows as u32).collect::<Vec<_>>()))
        }
    }
}
