//! The conditional decoder of Nematus, Amun and Marian (`neural.md` 1.7).
//!
//! A cell reads the last token; its state is the query of attention. A second cell reads the
//! context; transitions and higher layers follow. The deep output joins token, state and context.

use super::cell::CellNames;
use super::column_norms::ColumnNorms;
use super::encoded_source::group_by_source;
use super::normed_affine::{NormedAffine, NormedAffineNames};
use super::{
    Cell, CellRole, CellState, DecoderStates, ParentRows, RecurrentDecoder, RecurrentSource,
    Speedups,
};
use crate::Result;
use crate::layer::{
    Activation, ActivationImpl, AttentionScore, ColumnSlice, Epilogue, HypothesisRow, RecurrentOps,
    RecurrentParameterLoader,
};
use miriam_nmt_models::architecture::RecurrentConfig;

/// The decoder's layers below the output layer.
pub struct ConditionalDecoder<B: RecurrentOps> {
    initial_state: NormedAffine<B>,
    keys: NormedAffine<B>,
    query: NormedAffine<B>,
    attention_score: AttentionScore<B::Vector>,
    activation_impl: ActivationImpl,
    /// The first cell.
    first_cell: Cell<B>,
    /// The projected embeddings of tokens, which the first cell reads.
    input_from_token: B::ProjectedEmbeddingCache,
    /// The cell after attention.
    second_cell: Cell<B>,
    /// The second cell's weights for the context.
    input_from_context: B::Weights,
    transitions: Vec<Cell<B>>,
    high_layers: Vec<HighLayer<B>>,
    /// Whether higher layers add their input to their output.
    has_skip_connections: bool,
    deep_output: DeepOutput<B>,
    /// Whether sentences keep products of their encoder states instead of the states.
    precomputes_context: bool,
    /// Whether rows with the same parent share its products.
    merges_parents: bool,
}

/// A layer above the first.
struct HighLayer<B: RecurrentOps> {
    input: B::Weights,
    cells: Vec<Cell<B>>,
}

/// The deep output: the tanh of the sum of terms of token, state and context.
struct DeepOutput<B: RecurrentOps> {
    tokens: B::ProjectedEmbeddingCache,
    token_norms: ColumnNorms<B>,
    state: NormedAffine<B>,
    context: NormedAffine<B>,
    width: usize,
}

impl<B: RecurrentOps> ConditionalDecoder<B> {
    /// Loads the decoder of a model.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn new<P: RecurrentParameterLoader<B>>(
        model: &RecurrentConfig,
        speedups: &Speedups,
        parameters: &mut P,
    ) -> Result<Self> {
        let (style, h, c) = (model.layer_norm_style, model.state_width, model.context_width());
        let kind = model.decoder.cell;
        fn role(after_attention: bool, has_input: bool) -> CellRole {
            CellRole { in_encoder: false, after_attention, has_input }
        }

        let cell = |name: &str, role, parameters: &mut P| {
            Cell::new(name, (kind, h), role, style.is_some(), speedups, parameters)
        };
        let names = CellNames::new("decoder_cell1", kind, role(false, true), style.is_some());
        let input_from_token = parameters.projected_embedding_cache(
            model.embeddings.decoder_table_name(),
            names.input_affine(&mut Default::default()),
            speedups.cached_tokens,
        )?;
        Ok(ConditionalDecoder {
            initial_state: NormedAffine::new(&INITIAL_STATE, style, h, parameters)?,
            keys: NormedAffine::new(&KEYS, style, c, parameters)?,
            query: NormedAffine::new(&QUERY, style, c, parameters)?,
            attention_score: AttentionScore::Additive(parameters.vector("decoder_U_att")?),
            activation_impl: speedups.activation_impl,
            first_cell: cell("decoder_cell1", role(false, true), parameters)?,
            input_from_token,
            second_cell: cell("decoder_cell2", role(true, true), parameters)?,
            input_from_context: {
                let names =
                    CellNames::new("decoder_cell2", kind, role(true, true), style.is_some());
                parameters.weights(names.input_affine(&mut Default::default()))?
            },
            transitions: (3..=model.decoder.base_depth)
                .map(|number| cell(&format!("decoder_cell{number}"), role(true, false), parameters))
                .collect::<Result<_>>()?,
            high_layers: (2..=model.decoder.depth)
                .map(|layer| {
                    fn name(number: usize, layer: usize) -> String {
                        format!("decoder_l{layer}_cell{number}")
                    }
                    let first = name(1, layer);
                    let names = CellNames::new(&first, kind, role(false, true), style.is_some());
                    let input = parameters.weights(names.input_affine(&mut Default::default()))?;
                    let cells = (1..=model.decoder.high_depth).map(|number| {
                        cell(&name(number, layer), role(false, number == 1), parameters)
                    });
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
    ) -> Result<Vec<RecurrentSource<B>>> {
        let means = backend.mean_pool(states, lengths)?;
        let starts = self.initial_state.forward(backend, &means)?;
        let starts = backend.activate(&starts, Activation::Tanh)?;
        let keys = self.keys.forward_after_dropout(backend, states)?;
        let annotations = if self.precomputes_context {
            let cell_input =
                backend.affine(states, &self.input_from_context, Epilogue::default())?;
            let output_part = self.deep_output.context.project(backend, states)?;
            let values = backend.concat_columns(&[&cell_input, &output_part])?;
            backend.annotate(&self.attention_score, &keys, &values, lengths)?
        } else {
            backend.annotate(&self.attention_score, &keys, states, lengths)?
        };
        (0..)
            .zip(annotations)
            .map(|(sentence, annotations)| {
                let initial_states = vec![backend.index_select(&starts, &[sentence])?];
                Ok(RecurrentSource { annotations, initial_states })
            })
            .collect()
    }

    fn step(
        &self,
        backend: &mut B,
        states: &mut DecoderStates<B>,
        rows: &[HypothesisRow],
        sources: &[&RecurrentSource<B>],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<B::Tensor> {
        let before = states.first().map_or(0, |state| backend.shape(&state.output)[0]);
        let parents = ParentRows::new(rows, before, self.merges_parents);
        let tokens: Vec<Option<u32>> = rows.iter().map(|row| row.token).collect();
        let mut next = Vec::with_capacity(1 + self.high_layers.len());
        let product_of_parents = |backend: &mut B, layer: usize, cell: &Cell<B>| {
            let state = parents.gather_states(backend, states.get(layer), |row: usize| {
                sources[row].initial_state(layer)
            })?;
            let product = cell.project_state(backend, &state.output)?;
            let product = parents.broadcast(backend, product)?;
            let output = parents.broadcast(backend, state.output)?;
            let cell = state.cell.map(|cell| parents.broadcast(backend, cell)).transpose()?;
            Ok::<_, crate::Error>((product, CellState::<B> { output, cell }))
        };

        // The first layer, around attention.
        let (product, old) = product_of_parents(backend, 0, &self.first_cell)?;
        let input = backend.embed_projected_after_dropout(&self.input_from_token, &tokens)?;
        let input = self.first_cell.norm_input(backend, input)?;
        let first = self.first_cell.step(backend, Some(&input), &product, &old.output, old.cell)?;
        let query = self.query.forward_after_dropout(backend, &first.output)?;
        let groups = group_by_source(sources);
        let (activation_impl, score) = (self.activation_impl, &self.attention_score);
        let context =
            backend.attend_annotations(activation_impl, score, &query, &groups, alignment)?;
        let (input, context_part) = if self.precomputes_context {
            let [_, width] = backend.shape(&context);
            let columns = width - self.deep_output.width..width;
            let context_part = backend.copy(ColumnSlice { tensor: &context, columns })?;
            (context, self.deep_output.context.apply_norms(backend, context_part)?)
        } else {
            let (weights, epilogue) = (&self.input_from_context, Epilogue::default());
            let input = backend.affine_after_dropout(&context, weights, epilogue)?;
            (input, self.deep_output.context.forward(backend, &context)?)
        };
        let input = self.second_cell.norm_input(backend, input)?;
        let mut state =
            self.second_cell.advance(backend, Some(&input), &first.output, first.cell)?;
        for transition in &self.transitions {
            state = transition.advance(backend, None, &state.output, state.cell)?;
        }
        next.push(state);

        // The layers above it. Skip connections change their outputs, not their states.
        let mut skipped: Option<B::Tensor> = None;
        for (layer, high) in (1..).zip(&self.high_layers) {
            let below = skipped.as_ref().unwrap_or(&next[layer - 1].output);
            let (product, old) = product_of_parents(backend, layer, &high.cells[0])?;
            let input = backend.affine_after_dropout(below, &high.input, Epilogue::default())?;
            let input = high.cells[0].norm_input(backend, input)?;
            let mut state =
                high.cells[0].step(backend, Some(&input), &product, &old.output, old.cell)?;
            for transition in &high.cells[1..] {
                state = transition.advance(backend, None, &state.output, state.cell)?;
            }
            if self.has_skip_connections {
                skipped = Some(backend.add(&state.output, below)?);
            }
            next.push(state);
        }

        let top = skipped.as_ref().unwrap_or(&next[self.high_layers.len()].output);
        let token_part = backend.embed_projected(&self.deep_output.tokens, &tokens)?;
        let token_part = self.deep_output.token_norms.forward(backend, token_part)?;
        let others = backend.add(&context_part, &token_part)?;
        let result =
            self.deep_output.state.add_and_activate(backend, top, &others, Activation::Tanh)?;
        *states = next;
        Ok(result)
    }
}

const INITIAL_STATE: NormedAffineNames<'static> = NormedAffineNames {
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
        let names: [[String; 5]; 3] = std::array::from_fn(|index| {
            ["W", "b", "gamma", "ln_s", "ln_b"]
                .map(|name| format!("decoder_ff_logit_l1_{name}{index}"))
        });
        let [token, state, context] = names.each_ref().map(|names| NormedAffineNames {
            matrix: &names[0],
            bias: Some(&names[1]),
            gamma: &names[2],
            nematus_norm: [&names[3], &names[4]],
        });
        let table = model.embeddings.decoder_table_name();
        Ok(DeepOutput {
            tokens: parameters.projected_embedding_cache(
                table,
                token.affine_names(style),
                speedups.cached_tokens,
            )?,
            token_norms: token.load_norms(style, width, parameters)?,
            state: NormedAffine::new(&state, style, width, parameters)?,
            context: NormedAffine::new(&context, style, width, parameters)?,
            width,
        })
    }
}
