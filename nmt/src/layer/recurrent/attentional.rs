//! Devlin's decoder (2017, sections 4 and 5): a GRU that sees the context of attention as
//! another input, and fully connected layers above it.

use miriam_kernels::function::Activation;

use super::source::groups;
use super::{Cell, Decoder, Parents, Place, Shortcuts, Source, States};
use crate::Result;
use crate::architecture::{Cell as Kind, Stacked, Top};
use crate::layer::{Affine, Fit, GateParameters, Gates, Squash, Then};
use crate::network::Row;

/// The decoder's layers below the output matrix.
pub struct Attentional<B: Gates> {
    start: B::Weights,
    keys: B::Weights,
    query_of_state: B::Weights,
    query_of_word: B::Lexicon,
    squash: Squash,
    cell: Cell<B>,
    words: B::Lexicon,
    of_context: B::Weights,
    connected: Vec<B::Weights>,
    top: Above<B>,
    /// Whether sentences keep products of their states in the place of these.
    products: bool,
    /// Whether rows share what their parents share.
    merged: bool,
}

/// The layer below the softmax.
enum Above<B: Gates> {
    None,
    Tanh(B::Weights),
    Gru { input: B::Weights, cell: Cell<B>, width: usize },
}

impl<B: Gates> Attentional<B> {
    /// The decoder of a model.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn new<P: GateParameters<B>>(
        model: &Stacked,
        shortcuts: &Shortcuts,
        parameters: &mut P,
    ) -> Result<Self> {
        let table = model.tables.decoder_table();
        let place = Place { encoder: false, behind_attention: false, input: true };
        let cell = |prefix: &str, width, parameters: &mut P| {
            Cell::new(prefix, (Kind::Gru, width), place, false, shortcuts, parameters)
        };
        let plain = |matrices: &[&str], parameters: &mut P| {
            parameters.weights(Affine { matrices, biases: &[] })
        };
        let biased = |prefix: &str, parameters: &mut P| {
            let [matrix, bias] = [format!("{prefix}_W"), format!("{prefix}_b")];
            parameters.weights(Affine { matrices: &[&matrix], biases: &[&bias] })
        };
        let of_words = |matrices: &[&str], parameters: &mut P| {
            parameters.lexicon(table, Affine { matrices, biases: &[] }, shortcuts.words)
        };
        let top = match model.top {
            Top::None => Above::None,
            Top::Tanh(_) => Above::Tanh(biased("decoder_top", parameters)?),
            Top::Gru(width) => Above::Gru {
                input: plain(&["decoder_top_W", "decoder_top_Wx"], parameters)?,
                cell: cell("decoder_top", width, parameters)?,
                width,
            },
        };
        Ok(Attentional {
            start: biased("decoder_ff_state", parameters)?,
            keys: plain(&["decoder_att_U"], parameters)?,
            query_of_state: plain(&["decoder_att_W"], parameters)?,
            query_of_word: of_words(&["decoder_att_V"], parameters)?,
            squash: shortcuts.squash,
            cell: cell("decoder_cell", model.state, parameters)?,
            words: of_words(&["decoder_cell_W", "decoder_cell_Wx"], parameters)?,
            of_context: plain(&["decoder_cell_C", "decoder_cell_Cx"], parameters)?,
            connected: (1..=model.depth)
                .map(|layer| biased(&format!("decoder_fc{layer}"), parameters))
                .collect::<Result<_>>()?,
            top,
            products: shortcuts.context,
            merged: shortcuts.parents,
        })
    }
}

impl<B: Gates> Decoder<B> for Attentional<B> {
    fn remember(&self, backend: &mut B, states: &B::Rows, lengths: &[usize]) -> Vec<Source<B>> {
        let means = backend.means(states, lengths);
        let starts = backend.affine(&means, &self.start, Activation::Tanh.into());
        let keys = backend.affine(states, &self.keys, Activation::Tanh.into());
        let annotations = if self.products {
            let products = backend.affine(states, &self.of_context, Then::default());
            backend.annotate(&Fit::Product, &keys, &products, lengths)
        } else {
            backend.annotate(&Fit::Product, &keys, states, lengths)
        };
        let source = |(sentence, annotations)| {
            let mut starts = vec![backend.select(&starts, &[sentence])];
            if let Above::Gru { width, .. } = self.top {
                starts.push(backend.zeros(1, width));
            }
            Source { annotations, starts }
        };
        (0..).zip(annotations).map(source).collect()
    }

    fn step(
        &self,
        backend: &mut B,
        states: &mut States<B>,
        rows: &[Row],
        sources: &[&Source<B>],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> B::Rows {
        let before = states.first().map_or(0, |state| backend.shape(&state.output)[0]);
        let parents = Parents::new(rows, before, self.merged);
        let words: Vec<Option<u32>> = rows.iter().map(|row| row.word).collect();

        let old = parents.states(backend, states.first(), |row| sources[row].start(0));
        let recurrent = self.cell.recurrent(backend, &old.output);
        let recurrent = parents.spread(backend, recurrent);
        let of_state = backend.affine(&old.output, &self.query_of_state, Then::default());
        let of_state = parents.spread(backend, of_state);
        let old = parents.spread(backend, old.output);

        let query = backend.look_up(&self.query_of_word, &words);
        let query = backend.add(query, &of_state);
        let query = backend.activate(query, Activation::Tanh);
        let groups = groups(sources);
        let fit = Fit::Product;
        let answer = backend.attend_states(self.squash, &fit, &query, &groups, alignment);
        let of_context = if self.products {
            answer
        } else {
            backend.affine(&answer, &self.of_context, Then::default())
        };
        let input = backend.look_up(&self.words, &words);
        let input = backend.add(of_context, &input);
        let mut next = vec![self.cell.step(backend, Some(&input), &recurrent, &old, None)];

        // Every second layer adds what the one two below gave, before the function.
        let mut connected: Vec<B::Rows> = Vec::with_capacity(self.connected.len());
        for (layer, weights) in self.connected.iter().enumerate() {
            let residual = match layer {
                2.. if layer % 2 == 0 => Some(&connected[layer - 2]),
                _ => None,
            };
            let then = Then { residual, activation: Activation::Relu };
            let below = connected.last().unwrap_or(&next[0].output);
            let above = backend.affine(below, weights, then);
            connected.push(above);
        }
        let below = connected.last().unwrap_or(&next[0].output);
        let result = match &self.top {
            Above::None => backend.copy(below),
            Above::Tanh(weights) => backend.affine(below, weights, Activation::Tanh.into()),
            Above::Gru { input, cell, .. } => {
                let old = parents.states(backend, states.get(1), |row| sources[row].start(1));
                let recurrent = cell.recurrent(backend, &old.output);
                let recurrent = parents.spread(backend, recurrent);
                let old = parents.spread(backend, old.output);
                let input = backend.affine(below, input, Then::default());
                let state = cell.step(backend, Some(&input), &recurrent, &old, None);
                let result = backend.copy(&state.output);
                next.push(state);
                result
            }
        };
        *states = next;
        result
    }
}
