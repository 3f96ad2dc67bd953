//! The conditional decoder of Nematus, Amun and Marian: a cell reads the last word, its
//! state asks attention, a second cell reads the answer, transitions and higher layers
//! follow; word, state and answer meet below the output matrix (`neural.md` 1.7).

use miriam_kernels::function::Activation;

use super::cell::CellNames;
use super::source::groups;
use super::term::{Names, Term};
use super::{Cell, Decoder, Parents, Place, Shortcuts, Source, State, States};
use crate::Result;
use crate::architecture::Recurrent;
use crate::layer::{Fit, GateParameters, Gates, Norms, Part, Squash, Then};
use crate::network::Row;

/// The decoder's layers below the output matrix.
pub struct Conditional<B: Gates> {
    start: Term<B>,
    keys: Term<B>,
    query: Term<B>,
    fit: Fit<B::Vector>,
    squash: Squash,
    /// The first cell, and its products of words.
    first: Cell<B>,
    words: B::Lexicon,
    /// The cell behind attention, and its weights for the context.
    second: Cell<B>,
    of_context: B::Weights,
    transitions: Vec<Cell<B>>,
    high: Vec<High<B>>,
    /// Whether higher layers add their input to their output.
    skip: bool,
    last: Last<B>,
    /// Whether sentences keep products of their states in the place of these.
    products: bool,
    /// Whether rows share what their parents share.
    merged: bool,
}

/// A layer above the first.
struct High<B: Gates> {
    input: B::Weights,
    cells: Vec<Cell<B>>,
}

/// Where word, state and context meet.
struct Last<B: Gates> {
    words: B::Lexicon,
    word_norms: Norms<B>,
    state: Term<B>,
    context: Term<B>,
    width: usize,
}

impl<B: Gates> Conditional<B> {
    /// The decoder of a model.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn new<P: GateParameters<B>>(
        model: &Recurrent,
        shortcuts: &Shortcuts,
        parameters: &mut P,
    ) -> Result<Self> {
        let (style, h, c) = (model.layer_norm, model.state, model.context());
        let kind = model.decoder.cell;
        let place = |behind_attention, input| Place { encoder: false, behind_attention, input };
        let of_input = |name: &str, place| CellNames::new(name, kind, place, style.is_some());
        let cell = |name: &str, place, parameters: &mut P| {
            Cell::new(name, (kind, h), place, style.is_some(), shortcuts, parameters)
        };
        let words = of_input("decoder_cell1", place(false, true));
        let words = parameters.lexicon(
            model.tables.decoder_table(),
            words.of_input(&mut Default::default()),
            shortcuts.words,
        )?;
        Ok(Conditional {
            start: Term::new(&START, style, h, parameters)?,
            keys: Term::new(&KEYS, style, c, parameters)?,
            query: Term::new(&QUERY, style, c, parameters)?,
            fit: Fit::Additive(parameters.vector("decoder_U_att")?),
            squash: shortcuts.squash,
            first: cell("decoder_cell1", place(false, true), parameters)?,
            words,
            second: cell("decoder_cell2", place(true, true), parameters)?,
            of_context: {
                let names = of_input("decoder_cell2", place(true, true));
                parameters.weights(names.of_input(&mut Default::default()))?
            },
            transitions: (3..=model.decoder.base_depth)
                .map(|number| {
                    cell(&format!("decoder_cell{number}"), place(true, false), parameters)
                })
                .collect::<Result<_>>()?,
            high: (2..=model.decoder.depth)
                .map(|layer| {
                    let name = |number| format!("decoder_l{layer}_cell{number}");
                    let names = of_input(&name(1), place(false, true));
                    let input = parameters.weights(names.of_input(&mut Default::default()))?;
                    let cells = (1..=model.decoder.high_depth)
                        .map(|number| cell(&name(number), place(false, number == 1), parameters));
                    Ok(High { input, cells: cells.collect::<Result<_>>()? })
                })
                .collect::<Result<_>>()?,
            skip: model.skip,
            last: Last::new(model, shortcuts, parameters)?,
            products: shortcuts.context,
            merged: shortcuts.parents,
        })
    }
}

impl<B: Gates> Decoder<B> for Conditional<B> {
    fn remember(&self, backend: &mut B, states: &B::Rows, lengths: &[usize]) -> Vec<Source<B>> {
        let means = backend.means(states, lengths);
        let starts = self.start.apply(backend, &means);
        let starts = backend.activate(starts, Activation::Tanh);
        let keys = self.keys.apply(backend, states);
        let annotations = if self.products {
            let of_cell = backend.affine(states, &self.of_context, Then::default());
            let of_last = self.last.context.product(backend, states);
            let values = backend.join(&[&of_cell, &of_last]);
            backend.annotate(&self.fit, &keys, &values, lengths)
        } else {
            backend.annotate(&self.fit, &keys, states, lengths)
        };
        let source = |(sentence, annotations)| Source {
            annotations,
            starts: vec![backend.select(&starts, &[sentence])],
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
        let mut next = Vec::with_capacity(1 + self.high.len());
        let of_parents = |backend: &mut B, layer: usize, cell: &Cell<B>| {
            let state = parents.states(backend, states.get(layer), |row| sources[row].start(layer));
            let product = cell.recurrent(backend, &state.output);
            let product = parents.spread(backend, product);
            let output = parents.spread(backend, state.output);
            let cell = state.cell.map(|cell| parents.spread(backend, cell));
            (product, State::<B> { output, cell })
        };

        // The first layer, around attention.
        let (product, old) = of_parents(backend, 0, &self.first);
        let input = backend.look_up(&self.words, &words);
        let input = self.first.input(backend, input);
        let asking = self.first.step(backend, Some(&input), &product, &old.output, old.cell);
        let query = self.query.apply(backend, &asking.output);
        let groups = groups(sources);
        let (squash, fit) = (self.squash, &self.fit);
        let answer = backend.attend_states(squash, fit, &query, &groups, alignment);
        let (input, of_context) = if self.products {
            let [_, width] = backend.shape(&answer);
            let columns = width - self.last.width..width;
            let of_context = backend.columns(Part { rows: &answer, columns });
            (answer, self.last.context.finish(backend, of_context))
        } else {
            let input = backend.affine(&answer, &self.of_context, Then::default());
            (input, self.last.context.apply(backend, &answer))
        };
        let input = self.second.input(backend, input);
        let mut state = self.second.go_on(backend, Some(&input), &asking.output, asking.cell);
        for transition in &self.transitions {
            state = transition.go_on(backend, None, &state.output, state.cell);
        }
        next.push(state);

        // The layers above it. What they add is what they give, not what they keep.
        let mut skipped: Option<B::Rows> = None;
        for (layer, high) in (1..).zip(&self.high) {
            let below = skipped.as_ref().unwrap_or(&next[layer - 1].output);
            let (product, old) = of_parents(backend, layer, &high.cells[0]);
            let input = backend.affine(below, &high.input, Then::default());
            let input = high.cells[0].input(backend, input);
            let mut state =
                high.cells[0].step(backend, Some(&input), &product, &old.output, old.cell);
            for transition in &high.cells[1..] {
                state = transition.go_on(backend, None, &state.output, state.cell);
            }
            if self.skip {
                let copy = backend.copy(&state.output);
                skipped = Some(backend.add(copy, below));
            }
            next.push(state);
        }

        let top = skipped.as_ref().unwrap_or(&next[self.high.len()].output);
        let of_words = backend.look_up(&self.last.words, &words);
        let of_words = backend.norm_parts(of_words, &self.last.word_norms);
        let others = backend.add(of_context, &of_words);
        let result = self.last.state.close(backend, top, &others, Activation::Tanh);
        *states = next;
        result
    }
}

const START: Names<'static> = Names {
    matrix: "decoder_ff_state_W",
    bias: Some("decoder_ff_state_b"),
    gamma: "decoder_ff_state_gamma",
    norm: ["decoder_ff_state_ln_s", "decoder_ff_state_ln_b"],
};
const KEYS: Names<'static> = Names {
    matrix: "decoder_Wc_att",
    bias: Some("decoder_b_att"),
    gamma: "decoder_att_gamma1",
    norm: ["decoder_Wc_att_lns", "decoder_Wc_att_lnb"],
};
const QUERY: Names<'static> = Names {
    matrix: "decoder_W_comb_att",
    bias: None,
    gamma: "decoder_att_gamma2",
    norm: ["decoder_W_comb_att_lns", "decoder_W_comb_att_lnb"],
};

impl<B: Gates> Last<B> {
    fn new(
        model: &Recurrent,
        shortcuts: &Shortcuts,
        parameters: &mut impl GateParameters<B>,
    ) -> Result<Self> {
        let (style, width) = (model.layer_norm, model.tables.embedding);
        let all: [[String; 5]; 3] = std::array::from_fn(|index| {
            ["W", "b", "gamma", "ln_s", "ln_b"]
                .map(|name| format!("decoder_ff_logit_l1_{name}{index}"))
        });
        let [words, state, context] = all.each_ref().map(|names| Names {
            matrix: &names[0],
            bias: Some(&names[1]),
            gamma: &names[2],
            norm: [&names[3], &names[4]],
        });
        let table = model.tables.decoder_table();
        Ok(Last {
            words: parameters.lexicon(table, words.affine(style), shortcuts.words)?,
            word_norms: words.norms(style, width, parameters)?,
            state: Term::new(&state, style, width, parameters)?,
            context: Term::new(&context, style, width, parameters)?,
            width,
        })
    }
}
