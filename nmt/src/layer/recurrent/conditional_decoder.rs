//! The conditional decoder of Nematus, Amun and Marian: a cell reads the last word, its
//! state asks attention, a second cell reads the answer, transitions and higher layers
//! follow; word, state and answer meet below the output matrix (`neural.md` 1.7).

use miriam_kernels::activation::Activation;

use super::cell::CellNames;
use super::encoded_source::group_by_source;
use super::normed_affine::{NormedAffine, NormedAffineNames};
use super::{
    Cell, CellRole, CellState, DecoderStates, ParentRows, RecurrentDecoder, RecurrentSource,
    Speedups,
};
use crate::Result;
use crate::architecture::RecurrentConfig;
use crate::layer::{
    ActivationImpl, AttentionScore, ColumnNorms, ColumnSlice, Epilogue, RecurrentOps,
    RecurrentParameterLoader,
};
use crate::network::HypothesisRow;

/// The decoder's layers below the output matrix.
pub struct ConditionalDecoder<B: RecurrentOps> {
    initial_state: NormedAffine<B>,
    keys: NormedAffine<B>,
    query: NormedAffine<B>,
    attention_score: AttentionScore<B::Vector>,
    activation_impl: ActivationImpl,
    /// The first cell, and its products of words.
    first_cell: Cell<B>,
    input_from_token: B::ProjectedEmbeddingCache,
    /// The cell behind attention, and its weights for the context.
    second_cell: Cell<B>,
    input_from_context: B::Weights,
    transitions: Vec<Cell<B>>,
    high_layers: Vec<HighLayer<B>>,
    /// Whether higher layers add their input to their output.
    has_skip_connections: bool,
    deep_output: DeepOutput<B>,
    /// Whether sentences keep products of their states in the place of these.
    precomputes_context: bool,
    /// Whether rows share what their parents share.
    merges_parents: bool,
}

/// A layer above the first.
struct HighLayer<B: RecurrentOps> {
    input: B::Weights,
    cells: Vec<Cell<B>>,
}

/// Where word, state and context meet.
struct DeepOutput<B: RecurrentOps> {
    tokens: B::ProjectedEmbeddingCache,
    token_norms: ColumnNorms<B>,
    state: NormedAffine<B>,
    context: NormedAffine<B>,
    width: usize,
}

impl<B: RecurrentOps> ConditionalDecoder<B> {
    /// The decoder of a model.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn new<P: RecurrentParameterLoader<B>>(
        model: &RecurrentConfig,
        speedups: &Speedups,
        parameters: &mut P,
    ) -> Result<Self> {
        let (style, h, c) = (model.layer_norm_style, model.state_width, model.context_width());
        let kind = model.decoder.cell;
        let place = |behind_attention, input| CellRole {
            in_encoder: false,
            after_attention: behind_attention,
            has_input: input,
        };
        let of_input = |name: &str, place| CellNames::new(name, kind, place, style.is_some());
        let cell = |name: &str, place, parameters: &mut P| {
            Cell::new(name, (kind, h), place, style.is_some(), speedups, parameters)
        };
        let words = of_input("decoder_cell1", place(false, true));
        let words = parameters.projected_embedding_cache(
            model.embeddings.decoder_table_name(),
            words.input_affine(&mut Default::default()),
            speedups.cached_tokens,
        )?;
        Ok(ConditionalDecoder {
            initial_state: NormedAffine::new(&START, style, h, parameters)?,
            keys: NormedAffine::new(&KEYS, style, c, parameters)?,
            query: NormedAffine::new(&QUERY, style, c, parameters)?,
            attention_score: AttentionScore::Additive(parameters.vector("decoder_U_att")?),
            activation_impl: speedups.activation_impl,
            first_cell: cell("decoder_cell1", place(false, true), parameters)?,
            input_from_token: words,
            second_cell: cell("decoder_cell2", place(true, true), parameters)?,
            input_from_context: {
                let names = of_input("decoder_cell2", place(true, true));
                parameters.weights(names.input_affine(&mut Default::default()))?
            },
            transitions: (3..=model.decoder.base_depth)
                .map(|number| {
                    cell(&format!("decoder_cell{number}"), place(true, false), parameters)
                })
                .collect::<Result<_>>()?,
            high_layers: (2..=model.decoder.depth)
                .map(|layer| {
                    let name = |number| format!("decoder_l{layer}_cell{number}");
                    let names = of_input(&name(1), place(false, true));
                    let input = parameters.weights(names.input_affine(&mut Default::default()))?;
                    let cells = (1..=model.decoder.high_depth)
                        .map(|number| cell(&name(number), place(false, number == 1), parameters));
                    Ok(HighLayer { input, cells: cells.collect::<Result<_>>()? })
                })
                .collect::<Result<_>>()?,
            has_skip_connections: model.skip_connections,
            deep_output: DeepOutput::new(model, speedups, parameters)?,
            precomputes_context: speedups.precompute_context,
            merges_parents: speedups.merge_parents,
        })
    }
}

impl<B: RecurrentOps> RecurrentDecoder<B> for ConditionalDecoder<B> {
    fn prepare_sources(
        &self,
        backend: &mut B,
        states: &B::Tensor,
        lengths: &[usize],
    ) -> Vec<RecurrentSource<B>> {
        let means = backend.mean_pool(states, lengths);
        let starts = self.initial_state.forward(backend, &means);
        let starts = backend.activate(starts, Activation::Tanh);
        let keys = self.keys.forward(backend, states);
        let annotations = if self.precomputes_context {
            let of_cell = backend.affine(states, &self.input_from_context, Epilogue::default());
            let of_last = self.deep_output.context.project(backend, states);
            let values = backend.concat_columns(&[&of_cell, &of_last]);
            backend.annotate(&self.attention_score, &keys, &values, lengths)
        } else {
            backend.annotate(&self.attention_score, &keys, states, lengths)
        };
        let source = |(sentence, annotations)| RecurrentSource {
            annotations,
            initial_states: vec![backend.index_select(&starts, &[sentence])],
        };
        (0..).zip(annotations).map(source).collect()
    }

    fn step(
        &self,
        backend: &mut B,
        states: &mut DecoderStates<B>,
        rows: &[HypothesisRow],
        sources: &[&RecurrentSource<B>],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> B::Tensor {
        let before = states.first().map_or(0, |state| backend.shape(&state.output)[0]);
        let parents = ParentRows::new(rows, before, self.merges_parents);
        let words: Vec<Option<u32>> = rows.iter().map(|row| row.token).collect();
        let mut next = Vec::with_capacity(1 + self.high_layers.len());
        let of_parents = |backend: &mut B, layer: usize, cell: &Cell<B>| {
            let state = parents
                .gather_states(backend, states.get(layer), |row| sources[row].initial_state(layer));
            let product = cell.project_state(backend, &state.output);
            let product = parents.broadcast(backend, product);
            let output = parents.broadcast(backend, state.output);
            let cell = state.cell.map(|cell| parents.broadcast(backend, cell));
            (product, CellState::<B> { output, cell })
        };

        // The first layer, around attention.
        let (product, old) = of_parents(backend, 0, &self.first_cell);
        let input = backend.embed_projected(&self.input_from_token, &words);
        let input = self.first_cell.norm_input(backend, input);
        let asking = self.first_cell.step(backend, Some(&input), &product, &old.output, old.cell);
        let query = self.query.forward(backend, &asking.output);
        let groups = group_by_source(sources);
        let (squash, fit) = (self.activation_impl, &self.attention_score);
        let answer = backend.attend_annotations(squash, fit, &query, &groups, alignment);
        let (input, of_context) = if self.precomputes_context {
            let [_, width] = backend.shape(&answer);
            let columns = width - self.deep_output.width..width;
            let of_context = backend.copy_columns(ColumnSlice { tensor: &answer, columns });
            (answer, self.deep_output.context.apply_norms(backend, of_context))
        } else {
            let input = backend.affine(&answer, &self.input_from_context, Epilogue::default());
            (input, self.deep_output.context.forward(backend, &answer))
        };
        let input = self.second_cell.norm_input(backend, input);
        let mut state =
            self.second_cell.advance(backend, Some(&input), &asking.output, asking.cell);
        for transition in &self.transitions {
            state = transition.advance(backend, None, &state.output, state.cell);
        }
        next.push(state);

        // The layers above it. What they add is what they give, not what they keep.
        let mut skipped: Option<B::Tensor> = None;
        for (layer, high) in (1..).zip(&self.high_layers) {
            let below = skipped.as_ref().unwrap_or(&next[layer - 1].output);
            let (product, old) = of_parents(backend, layer, &high.cells[0]);
            let input = backend.affine(below, &high.input, Epilogue::default());
            let input = high.cells[0].norm_input(backend, input);
            let mut state =
                high.cells[0].step(backend, Some(&input), &product, &old.output, old.cell);
            for transition in &high.cells[1..] {
                state = transition.advance(backend, None, &state.output, state.cell);
            }
            if self.has_skip_connections {
                let copy = backend.copy(&state.output);
                skipped = Some(backend.add(copy, below));
            }
            next.push(state);
        }

        let top = skipped.as_ref().unwrap_or(&next[self.high_layers.len()].output);
        let of_words = backend.embed_projected(&self.deep_output.tokens, &words);
        let of_words = backend.norm_columns(of_words, &self.deep_output.token_norms);
        let others = backend.add(of_context, &of_words);
        let result =
            self.deep_output.state.add_and_activate(backend, top, &others, Activation::Tanh);
        *states = next;
        result
    }
}

const START: NormedAffineNames<'static> = NormedAffineNames {
    matrix: "decoder_ff_state_W",
    bias: Some("decoder_ff_state_b"),
    gamma: "decoder_ff_state_gamma",
    nematus_norm: ["decoder_ff_state_ln_s", "decoder_ff_state_ln_b"],
};
const KEYS: NormedAffineNames<'static> = NormedAffineNames {
    matrix: "decoder_Wc_att",
    bias: Some("decoder_b_att"),
    gamma: "decoder_att_gamma1",
    nematus_norm: ["decoder_Wc_att_lns", "decoder_Wc_att_lnb"],
};
const QUERY: NormedAffineNames<'static> = NormedAffineNames {
    matrix: "decoder_W_comb_att",
    bias: None,
    gamma: "decoder_att_gamma2",
    nematus_norm: ["decoder_W_comb_att_lns", "decoder_W_comb_att_lnb"],
};

impl<B: RecurrentOps> DeepOutput<B> {
    fn new(
        model: &RecurrentConfig,
        speedups: &Speedups,
        parameters: &mut impl RecurrentParameterLoader<B>,
    ) -> Result<Self> {
        let (style, width) = (model.layer_norm_style, model.embeddings.dim);
        let all: [[String; 5]; 3] = std::array::from_fn(|index| {
            ["W", "b", "gamma", "ln_s", "ln_b"]
                .map(|name| format!("decoder_ff_logit_l1_{name}{index}"))
        });
        let [words, state, context] = all.each_ref().map(|names| NormedAffineNames {
            matrix: &names[0],
            bias: Some(&names[1]),
            gamma: &names[2],
            nematus_norm: [&names[3], &names[4]],
        });
        let table = model.embeddings.decoder_table_name();
        Ok(DeepOutput {
            tokens: parameters.projected_embedding_cache(
                table,
                words.affine_names(style),
                speedups.cached_tokens,
            )?,
            token_norms: words.load_norms(style, width, parameters)?,
            state: NormedAffine::new(&state, style, width, parameters)?,
            context: NormedAffine::new(&context, style, width, parameters)?,
            width,
        })
    }
}
