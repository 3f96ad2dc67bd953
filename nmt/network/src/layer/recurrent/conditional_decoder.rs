//! The conditional decoder of Nematus, Amun and Marian (`neural.md` 1.7).
//!
//! A cell reads the last token; its state is the query of attention. A second cell reads the
//! context; transitions and higher layers follow. The deep output joins token, state and context.
//! A language model is the same without attention, the second cell's input and the context.

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
    /// The first cell.
    first_cell: Cell<B>,
    /// The projected embeddings of tokens, which the first cell reads.
    input_from_token: B::ProjectedEmbeddingCache,
    /// Attention to the source; `None` in a language model.
    context: Option<ContextLayers<B>>,
    /// The remaining cells of the first layer, which read no input.
    transitions: Vec<Cell<B>>,
    high_layers: Vec<HighLayer<B>>,
    /// Whether higher layers add their input to their output.
    has_skip_connections: bool,
    deep_output: DeepOutput<B>,
    /// Whether rows with the same parent share its products.
    merges_parents: bool,
}

/// The layers that read the source.
struct ContextLayers<B: RecurrentOps> {
    attention: SourceAttention<B>,
    /// The cell after attention.
    cell: Cell<B>,
    /// The weights of this cell for the context.
    cell_input: B::Weights,
    /// The context's term of the deep output.
    output: NormedAffine<B>,
    /// The width of that term.
    output_width: usize,
    /// Whether sentences keep products of their encoder states instead of the states.
    precomputes_products: bool,
}

/// Attention to the source, and the projection that gives the initial state.
struct SourceAttention<B: RecurrentOps> {
    initial_state: NormedAffine<B>,
    keys: NormedAffine<B>,
    query: NormedAffine<B>,
    score: AttentionScore<B::Vector>,
    activation_impl: ActivationImpl,
}

/// A layer above the first.
struct HighLayer<B: RecurrentOps> {
    input: B::Weights,
    cells: Vec<Cell<B>>,
}

/// The deep output: the tanh of the sum of terms of token, state and, if there is one, context.
struct DeepOutput<B: RecurrentOps> {
    tokens: B::ProjectedEmbeddingCache,
    token_norms: ColumnNorms<B>,
    state: NormedAffine<B>,
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
        let (style, h) = (model.layer_norm_style, model.state_width);
        let kind = model.decoder.cell;
        let cell = |name: &str, role, parameters: &mut P| {
            Cell::new(name, (kind, h), role, style.is_some(), speedups, parameters)
        };
        let names = CellNames::new("decoder_cell1", kind, role(false, true), style.is_some());
        let input_from_token = parameters.projected_embedding_cache(
            model.embeddings.decoder_table_name(),
            names.input_affine(&mut Default::default()),
            speedups.cached_tokens,
        )?;
        // In training, the masks of dropout depend on the order in which weights are loaded.
        let has_source = model.has_source();
        let attention =
            has_source.then(|| SourceAttention::new(model, speedups, parameters)).transpose()?;
        let first_cell = cell("decoder_cell1", role(false, true), parameters)?;
        let second_cell = has_source.then(|| {
            let role = role(true, true);
            let second_cell = cell("decoder_cell2", role, parameters)?;
            let names = CellNames::new("decoder_cell2", kind, role, style.is_some());
            let input = parameters.weights(names.input_affine(&mut Default::default()))?;
            Ok::<_, crate::Error>((second_cell, input))
        });
        let second_cell = second_cell.transpose()?;
        let first_transition = if has_source { 3 } else { 2 };
        let transitions = (first_transition..=model.decoder.base_depth)
            .map(|number| cell(&format!("decoder_cell{number}"), role(true, false), parameters))
            .collect::<Result<_>>()?;
        let high_layers = (2..=model.decoder.depth)
            .map(|layer| {
                fn name(number: usize, layer: usize) -> String {
                    format!("decoder_l{layer}_cell{number}")
                }
                let first = name(1, layer);
                let names = CellNames::new(&first, kind, role(false, true), style.is_some());
                let input = parameters.weights(names.input_affine(&mut Default::default()))?;
                let cells = (1..=model.decoder.high_depth)
                    .map(|number| cell(&name(number, layer), role(false, number == 1), parameters));
                Ok(HighLayer { input, cells: cells.collect::<Result<_>>()? })
            })
            .collect::<Result<_>>()?;
        let deep_output = DeepOutput::new(model, speedups, parameters)?;
        let context = match (attention, second_cell) {
            (Some(attention), Some((cell, cell_input))) => {
                let (names, width) = (DeepOutputNames::new(2), model.embeddings.dim);
                Some(ContextLayers {
                    attention,
                    cell,
                    cell_input,
                    output: NormedAffine::new(&names.affine(), style, width, parameters)?,
                    output_width: width,
                    precomputes_products: speedups.precompute_context,
                })
            }
            _ => None,
        };
        Ok(ConditionalDecoder {
            first_cell,
            input_from_token,
            context,
            transitions,
            high_layers,
            has_skip_connections: model.skip_connections,
            deep_output,
            merges_parents: speedups.merge_parents,
        })
    }
}

/// Returns the role of a cell of the decoder.
fn role(after_attention: bool, has_input: bool) -> CellRole {
    CellRole { in_encoder: false, after_attention, has_input }
}

impl<B: RecurrentOps> SourceAttention<B> {
    fn new<P: RecurrentParameterLoader<B>>(
        model: &RecurrentConfig,
        speedups: &Speedups,
        parameters: &mut P,
    ) -> Result<Self> {
        let (style, h, c) = (model.layer_norm_style, model.state_width, model.context_width());
        Ok(SourceAttention {
            initial_state: NormedAffine::new(&INITIAL_STATE, style, h, parameters)?,
            keys: NormedAffine::new(&KEYS, style, c, parameters)?,
            query: NormedAffine::new(&QUERY, style, c, parameters)?,
            score: AttentionScore::Additive(parameters.vector("decoder_U_att")?),
            activation_impl: speedups.activation_impl,
        })
    }
}

impl<B: RecurrentOps> ContextLayers<B> {
    /// Attends from the first cell's state. Returns the state of the second cell, and the context's
    /// term of the deep output.
    fn step(
        &self,
        backend: &mut B,
        first: CellState<B>,
        sources: &[&RecurrentSource<B>],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<(CellState<B>, B::Tensor)> {
        let SourceAttention { query, score, activation_impl, .. } = &self.attention;
        let query = query.forward_after_dropout(backend, &first.output)?;
        let groups = group_by_source(sources);
        let context =
            backend.attend_annotations(*activation_impl, score, &query, &groups, alignment)?;
        let (input, output_part) = if self.precomputes_products {
            let [_, width] = backend.shape(&context);
            let columns = width - self.output_width..width;
            let output_part = backend.copy(ColumnSlice { tensor: &context, columns })?;
            (context, self.output.apply_norms(backend, output_part)?)
        } else {
            let (weights, epilogue) = (&self.cell_input, Epilogue::default());
            let input = backend.affine_after_dropout(&context, weights, epilogue)?;
            (input, self.output.forward(backend, &context)?)
        };
        let input = self.cell.norm_input(backend, input)?;
        let state = self.cell.advance(backend, Some(&input), &first.output, first.cell)?;
        Ok((state, output_part))
    }
}

impl<B: RecurrentOps> RecurrentDecoder<B> for ConditionalDecoder<B> {
    fn prepare_sources(
        &self,
        backend: &mut B,
        states: &B::Tensor,
        lengths: &[usize],
    ) -> Result<Vec<RecurrentSource<B>>> {
        let context = self.context.as_ref().expect("a decoder with a source");
        let means = backend.mean_pool(states, lengths)?;
        let SourceAttention { initial_state, keys, score, .. } = &context.attention;
        let starts = initial_state.forward(backend, &means)?;
        let starts = backend.activate(&starts, Activation::Tanh)?;
        let keys = keys.forward_after_dropout(backend, states)?;
        let annotations = if context.precomputes_products {
            let cell_input = backend.affine(states, &context.cell_input, Epilogue::default())?;
            let output_part = context.output.project(backend, states)?;
            let values = backend.concat_columns(&[&cell_input, &output_part])?;
            backend.annotate(score, &keys, &values, lengths)?
        } else {
            backend.annotate(score, &keys, states, lengths)?
        };
        (0..)
            .zip(annotations)
            .map(|(sentence, annotations)| {
                let initial_states = vec![backend.index_select(&starts, &[sentence])?];
                Ok(RecurrentSource { annotations: Some(annotations), initial_states })
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
        let (mut state, context_part) = match &self.context {
            Some(context) => {
                let (state, part) = context.step(backend, first, sources, alignment)?;
                (state, Some(part))
            }
            None => {
                // There is no attention to report.
                alignment.into_iter().for_each(|all| all.extend(rows.iter().map(|_| Vec::new())));
                (first, None)
            }
        };
        for transition in &self.transitions {
            state = transition.advance(backend, None, &state.output, state.cell)?;
        }
        next.push(state);

        // The layers above the first. Skip connections change their outputs, not their states.
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
        let others = match &context_part {
            Some(context_part) => backend.add(context_part, &token_part)?,
            None => token_part,
        };
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
        let names = [0, 1].map(DeepOutputNames::new);
        let [token, state] = names.each_ref().map(DeepOutputNames::affine);
        let table = model.embeddings.decoder_table_name();
        Ok(DeepOutput {
            tokens: parameters.projected_embedding_cache(
                table,
                token.affine_names(style),
                speedups.cached_tokens,
            )?,
            token_norms: token.load_norms(style, width, parameters)?,
            state: NormedAffine::new(&state, style, width, parameters)?,
        })
    }
}

/// The names of the parameters of a term of the deep output.
struct DeepOutputNames([String; 5]);

impl DeepOutputNames {
    /// Returns the names of a term: 0 for the token, 1 for the state, 2 for the context.
    fn new(term: usize) -> Self {
        DeepOutputNames(
            ["W", "b", "gamma", "ln_s", "ln_b"]
                .map(|name| format!("decoder_ff_logit_l1_{name}{term}")),
        )
    }

    fn affine(&self) -> NormedAffineNames<'_> {
        let [matrix, bias, gamma, scale, shift] = &self.0;
        NormedAffineNames { matrix, bias: Some(bias), gamma, nematus_norm: [scale, shift] }
    }
}
