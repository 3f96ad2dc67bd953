//! Devlin's decoder (2017, sections 4 and 5): a GRU with the context of attention as a second
//! input, and fully connected layers above it.

use super::encoded_source::group_by_source;
use super::{
    Cell, CellRole, DecoderStates, ParentRows, RecurrentDecoder, RecurrentSource, Speedups,
};
use crate::Result;
use crate::layer::{
    Activation, ActivationImpl, AffineNames, AttentionScore, Epilogue, HypothesisRow, RecurrentOps,
    RecurrentParameterLoader,
};
use miriam_nmt_models::architecture::{CellKind as Kind, StackedConfig, TopLayerConfig};

/// The decoder's layers below the output matrix.
pub struct StackedDecoder<B: RecurrentOps> {
    initial_state: B::Weights,
    keys: B::Weights,
    query_from_state: B::Weights,
    query_from_token: B::ProjectedEmbeddingCache,
    activation_impl: ActivationImpl,
    cell: Cell<B>,
    input_from_token: B::ProjectedEmbeddingCache,
    input_from_context: B::Weights,
    fully_connected: Vec<B::Weights>,
    top: TopLayer<B>,
    /// Whether sentences keep products of their encoder states instead of the states.
    precomputes_context: bool,
    /// Whether rows with the same parent share its products.
    merges_parents: bool,
}

/// The layer below the softmax.
enum TopLayer<B: RecurrentOps> {
    None,
    Tanh(B::Weights),
    Gru { input: B::Weights, cell: Cell<B>, width: usize },
}

fn load_plain<B: RecurrentOps>(
    parameters: &mut impl RecurrentParameterLoader<B>,
    matrices: &[&str],
) -> Result<B::Weights> {
    parameters.weights(AffineNames { matrices, biases: &[] })
}

fn load_biased<B: RecurrentOps>(
    parameters: &mut impl RecurrentParameterLoader<B>,
    prefix: &str,
) -> Result<B::Weights> {
    let [matrix, bias] = [format!("{prefix}_W"), format!("{prefix}_b")];
    parameters.weights(AffineNames { matrices: &[&matrix], biases: &[&bias] })
}

impl<B: RecurrentOps> StackedDecoder<B> {
    /// Loads the decoder of a model.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn new<P: RecurrentParameterLoader<B>>(
        model: &StackedConfig,
        speedups: &Speedups,
        parameters: &mut P,
    ) -> Result<Self> {
        let table = model.embeddings.decoder_table_name();
        let role = CellRole { in_encoder: false, after_attention: false, has_input: true };
        let cell = |prefix: &str, width, parameters: &mut P| {
            Cell::new(prefix, (Kind::Gru, width), role, false, speedups, parameters)
        };

        let word_projection = |matrices: &[&str], parameters: &mut P| {
            parameters.projected_embedding_cache(
                table,
                AffineNames { matrices, biases: &[] },
                speedups.cached_tokens,
            )
        };
        let top = match model.top {
            TopLayerConfig::None => TopLayer::None,
            TopLayerConfig::Tanh(_) => TopLayer::Tanh(load_biased(parameters, "decoder_top")?),
            TopLayerConfig::Gru(width) => TopLayer::Gru {
                input: load_plain(parameters, &["decoder_top_W", "decoder_top_Wx"])?,
                cell: cell("decoder_top", width, parameters)?,
                width,
            },
        };
        Ok(StackedDecoder {
            initial_state: load_biased(parameters, "decoder_ff_state")?,
            keys: load_plain(parameters, &["decoder_att_U"])?,
            query_from_state: load_plain(parameters, &["decoder_att_W"])?,
            query_from_token: word_projection(&["decoder_att_V"], parameters)?,
            activation_impl: speedups.activation_impl,
            cell: cell("decoder_cell", model.state_width, parameters)?,
            input_from_token: word_projection(&["decoder_cell_W", "decoder_cell_Wx"], parameters)?,
            input_from_context: load_plain(parameters, &["decoder_cell_C", "decoder_cell_Cx"])?,
            fully_connected: (1..=model.fc_depth)
                .map(|layer| load_biased(parameters, &format!("decoder_fc{layer}")))
                .collect::<Result<_>>()?,
            top,
            precomputes_context: speedups.precompute_context,
            merges_parents: speedups.merge_parents,
        })
    }
}

impl<B: RecurrentOps> RecurrentDecoder<B> for StackedDecoder<B> {
    fn prepare_sources(
        &self,
        backend: &mut B,
        states: &B::Tensor,
        lengths: &[usize],
    ) -> Result<Vec<RecurrentSource<B>>> {
        let means = backend.mean_pool(states, lengths)?;
        let starts = backend.affine(&means, &self.initial_state, Activation::Tanh.into())?;
        let keys = backend.affine_after_dropout(states, &self.keys, Activation::Tanh.into())?;
        let annotations = if self.precomputes_context {
            let products = backend.affine(states, &self.input_from_context, Epilogue::default())?;
            backend.annotate(&AttentionScore::DotProduct, &keys, &products, lengths)?
        } else {
            backend.annotate(&AttentionScore::DotProduct, &keys, states, lengths)?
        };
        (0..)
            .zip(annotations)
            .map(|(sentence, annotations)| -> Result<RecurrentSource<B>> {
                let mut starts = vec![backend.index_select(&starts, &[sentence])?];
                if let TopLayer::Gru { width, .. } = self.top {
                    starts.push(backend.zeros(1, width)?);
                }
                Ok(RecurrentSource { annotations: Some(annotations), initial_states: starts })
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

        let old =
            parents.gather_states(backend, states.first(), |row| sources[row].initial_state(0))?;
        let recurrent = self.cell.project_state(backend, &old.output)?;
        let recurrent = parents.broadcast(backend, recurrent)?;
        let (weights, epilogue) = (&self.query_from_state, Epilogue::default());
        let state_part = backend.affine_after_dropout(&old.output, weights, epilogue)?;
        let state_part = parents.broadcast(backend, state_part)?;
        let old = parents.broadcast(backend, old.output)?;

        let query = backend.embed_projected(&self.query_from_token, &tokens)?;
        let query = backend.add(&query, &state_part)?;
        let query = backend.activate(&query, Activation::Tanh)?;
        let groups = group_by_source(sources);
        let score = AttentionScore::DotProduct;
        let context =
            backend.attend_annotations(self.activation_impl, &score, &query, &groups, alignment)?;
        let context_part = if self.precomputes_context {
            context
        } else {
            let (weights, epilogue) = (&self.input_from_context, Epilogue::default());
            backend.affine_after_dropout(&context, weights, epilogue)?
        };
        let input = backend.embed_projected_after_dropout(&self.input_from_token, &tokens)?;
        let input = backend.add(&context_part, &input)?;
        let mut next = vec![self.cell.step(backend, Some(&input), &recurrent, &old, None)?];

        // The third, fifth, seventh ... layer adds the output of the layer two below it, before the
        // activation.
        let mut connected: Vec<B::Tensor> = Vec::with_capacity(self.fully_connected.len());
        for (layer, weights) in self.fully_connected.iter().enumerate() {
            let residual = match layer {
                2.. if layer % 2 == 0 => Some(&connected[layer - 2]),
                _ => None,
            };
            let epilogue = Epilogue { residual, activation: Activation::Relu };
            let below = connected.last().unwrap_or(&next[0].output);
            let above = backend.affine(below, weights, epilogue)?;
            connected.push(above);
        }
        let below = connected.last().unwrap_or(&next[0].output);
        let result = match &self.top {
            TopLayer::None => backend.copy(backend.whole(below))?,
            TopLayer::Tanh(weights) => backend.affine(below, weights, Activation::Tanh.into())?,
            TopLayer::Gru { input, cell, .. } => {
                let old = parents
                    .gather_states(backend, states.get(1), |row| sources[row].initial_state(1))?;
                let recurrent = cell.project_state(backend, &old.output)?;
                let recurrent = parents.broadcast(backend, recurrent)?;
                let old = parents.broadcast(backend, old.output)?;
                let input = backend.affine_after_dropout(below, input, Epilogue::default())?;
                let state = cell.step(backend, Some(&input), &recurrent, &old, None)?;
                let result = backend.copy(backend.whole(&state.output))?;
                next.push(state);
                result
            }
        };
        *states = next;
        Ok(result)
    }
}
