//! Transformers (`neural.md` 1.6): layers in their order, and the states of sentences and
//! hypotheses.
//!
//! Keys and values of the source are computed once per sentence, for all layers of the decoder in
//! one GEMM. Layers that share parameters also share these keys and values; the states of
//! hypotheses are separate for each layer. A language model is the decoder alone, whose layers have
//! no attention to a source.

use super::sentence_groups::sentence_groups;
use super::{EncoderDecoder, HypothesisRow, TeacherForced};
use crate::Result;
use crate::layer::{
    AttentionMask, Autoregression, AutoregressionState, Backend, ColumnSlice, CrossAttention,
    DecodingOps, DecodingStep, Embedding, Epilogue, FeedForward, ParameterLoader, SelfAttention,
    Side, SublayerConnection,
};
use miriam_nmt_models::architecture::{self, DecoderStart};

/// A transformer over a backend.
pub struct Transformer<B: Backend> {
    /// `None` in a language model.
    encoder: Option<TransformerEncoder<B>>,
    decoder: TransformerDecoder<B>,
    output: B::Weights,
}

struct TransformerEncoder<B: Backend> {
    embedding: Embedding<B>,
    layers: Vec<(SelfAttention<B>, FeedForward<B>)>,
    top: SublayerConnection<B>,
}

struct TransformerDecoder<B: Backend> {
    embedding: Embedding<B>,
    /// The layers; tied layers, which share their parameters, are stored once.
    layers: Vec<DecoderLayer<B>>,
    /// For each layer of the model, its index in `layers`.
    layer_order: Vec<usize>,
    /// Weights of keys and values of `layers`: k, v, k, v, ... `None` without a source.
    cross_kv_weights: Option<B::Weights>,
    heads: usize,
    width: usize,
    top: SublayerConnection<B>,
    start_token: Option<u32>,
    /// The layer whose first heads give alignments.
    alignment_layer: usize,
    /// The number of these heads.
    alignment_heads: usize,
}

struct DecoderLayer<B: Backend> {
    autoregression: Autoregression<B>,
    /// `None` without a source.
    cross_attention: Option<CrossAttention<B>>,
    feed_forward: FeedForward<B>,
}

/// An encoded sentence: its keys and values for each stored layer of the decoder; none in a
/// language model.
pub struct TransformerSource<B: Backend> {
    layer_kv: Vec<B::PackedKv>,
}

impl<B: Backend> Default for TransformerSource<B> {
    fn default() -> Self {
        TransformerSource { layer_kv: Vec::new() }
    }
}

/// The states of the hypotheses of a step.
pub struct TransformerState<B: DecodingOps> {
    layers: Vec<AutoregressionState<B>>,
    lists: StepLists,
}

/// Lists with an entry for each hypothesis of a step, whose memory the next step reuses.
#[derive(Default)]
struct StepLists {
    /// The row of the previous step that each hypothesis continues.
    parents: Vec<Option<u32>>,
    /// The last token of each hypothesis, or the token that sentences begin with.
    tokens: Vec<Option<u32>>,
    /// The position of that token, from 0.
    positions: Vec<u32>,
    /// The positions of the tokens of the previous step.
    last_positions: Vec<u32>,
}

impl StepLists {
    /// Fills the lists for the next step.
    fn advance(&mut self, rows: &[HypothesisRow], start_token: Option<u32>) {
        let StepLists { parents, tokens, positions, last_positions } = self;
        std::mem::swap(positions, last_positions);
        parents.clear();
        tokens.clear();
        positions.clear();
        for row in rows {
            parents.push(row.parent);
            tokens.push(row.token.or(start_token));
            positions.push(row.parent.map_or(0, |parent| last_positions[parent as usize] + 1));
        }
    }
}

impl<B: Backend> Transformer<B> {
    /// Loads the layers that `shape` describes.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &architecture::TransformerConfig,
    ) -> Result<Self> {
        let tables = &shape.embeddings;
        let encoder = if shape.has_source() {
            Some(TransformerEncoder::load(parameters, shape)?)
        } else {
            None
        };
        let mut distinct = shape.tied_layers.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let layers = distinct.iter().map(|layer| {
            let prefix = format!("decoder_l{layer}");
            let feed_forward = format!("{prefix}_ffn");
            Ok(DecoderLayer {
                autoregression: Autoregression::load(parameters, shape, &prefix)?,
                cross_attention: if shape.has_source() {
                    let context = format!("{prefix}_context");
                    Some(CrossAttention::load(parameters, shape, &context)?)
                } else {
                    None
                },
                feed_forward: FeedForward::load(parameters, shape, &shape.decoder, &feed_forward)?,
            })
        });
        let layers = layers.collect::<Result<_>>()?;
        let order: Vec<usize> = shape
            .tied_layers
            .iter()
            .map(|layer| distinct.partition_point(|other| other < layer))
            .collect();
        let contexts: Vec<String> =
            distinct.iter().map(|layer| format!("decoder_l{layer}_context")).collect();
        let decoder = TransformerDecoder {
            embedding: Embedding::load(parameters, shape, "decoder", tables.decoder_table_name())?,
            layers,
            layer_order: order,
            cross_kv_weights: if shape.has_source() {
                Some(CrossAttention::load_kv_weights(parameters, &contexts)?)
            } else {
                None
            },
            heads: shape.decoder.heads,
            width: shape.attention_width(&shape.decoder),
            top: SublayerConnection::load_top(parameters, shape, "decoder")?,
            start_token: match shape.decoder_start {
                DecoderStart::ZeroEmbedding => None,
                DecoderStart::Token(token) => Some(token),
            },
            alignment_layer: shape.alignment_layer - 1,
            alignment_heads: shape.alignment_heads as usize,
        };
        let table = if tables.tied_output {
            tables.decoder_table_name()
        } else {
            "decoder_ff_logit_out_Wt"
        };
        let bias = tables.output_bias.then_some("decoder_ff_logit_out_b");
        let output = parameters.output_weights(table, bias)?;
        Ok(Transformer { encoder, decoder, output })
    }

    /// Returns the states of the encoder, a row for each token of all sentences: `[tokens, width]`.
    ///
    /// # Errors
    /// If the backend fails.
    ///
    /// # Panics
    /// If the model is a language model, which has no encoder.
    pub fn encoder_states(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<B::Tensor> {
        let encoder = self.encoder.as_ref().expect("a model with a source");
        encoder.states(backend, sentences)
    }

    /// Encodes sentences; a language model does not read them.
    fn encode_sources(
        &self,
        backend: &mut B,
        sentences: &[&[u32]],
    ) -> Result<Vec<TransformerSource<B>>> {
        let Some(weights) = &self.decoder.cross_kv_weights else {
            return Ok(sentences.iter().map(|_| TransformerSource::default()).collect());
        };
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
        let mut sources = Vec::with_capacity(sentences.len());
        for group in sentence_groups(&lengths, backend.max_group_rows()) {
            let states = self.encoder_states(backend, &sentences[group.clone()])?;
            sources.extend(self.decoder.pack_sources(
                backend,
                &states,
                weights,
                &lengths[group],
            )?);
        }
        Ok(sources)
    }
}

impl<B: Backend> TransformerEncoder<B> {
    fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &architecture::TransformerConfig,
    ) -> Result<Self> {
        let layers = (1..=shape.encoder.depth).map(|layer| {
            let attention = format!("encoder_l{layer}_self");
            let feed_forward = format!("encoder_l{layer}_ffn");
            Ok((
                SelfAttention::load(parameters, shape, &attention, false)?,
                FeedForward::load(parameters, shape, &shape.encoder, &feed_forward)?,
            ))
        });
        let (layers, table) =
            (layers.collect::<Result<_>>()?, shape.embeddings.encoder_table_name());
        Ok(TransformerEncoder {
            embedding: Embedding::load(parameters, shape, "encoder", table)?,
            layers,
            top: SublayerConnection::load_top(parameters, shape, "encoder")?,
        })
    }

    /// Returns the states, a row for each token of all sentences: `[tokens, width]`.
    fn states(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<B::Tensor> {
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
        let tokens: Vec<Option<u32>> = sentences
            .iter()
            .flat_map(|sentence| sentence.iter().map(|&token| Some(token)))
            .collect();
        let positions: Vec<u32> = lengths.iter().flat_map(|&length| 0..length as u32).collect();
        backend.begin_rows(Side::Source, &lengths);
        let embedded = self.embedding.forward(backend, &tokens, &positions)?;
        let mut rows = self.embedding.postprocess(backend, &embedded)?;
        for (attention, feed_forward) in &self.layers {
            rows = attention.forward(backend, &rows, &lengths, AttentionMask::All)?;
            rows = feed_forward.forward(backend, &rows)?;
        }
        self.top.postprocess(backend, rows, &embedded)
    }
}

impl<B: Backend> TransformerDecoder<B> {
    /// Computes the keys and values of each sentence for the decoder from the states of the
    /// encoder.
    fn pack_sources(
        &self,
        backend: &mut B,
        states: &B::Tensor,
        weights: &B::Weights,
        lengths: &[usize],
    ) -> Result<Vec<TransformerSource<B>>> {
        let keys_values = backend.affine(states, weights, Epilogue::default())?;
        let mut sources: Vec<TransformerSource<B>> =
            lengths.iter().map(|_| TransformerSource::default()).collect();
        let width = self.width;
        for layer in 0..self.layers.len() {
            let keys = ColumnSlice::nth(&keys_values, 2 * layer, width);
            let values = ColumnSlice::nth(&keys_values, 2 * layer + 1, width);
            let packed = backend.pack_kv(self.heads, keys, values, lengths)?;
            for (source, packed) in sources.iter_mut().zip(packed) {
                source.layer_kv.push(packed);
            }
        }
        Ok(sources)
    }
}

impl<B: Backend> TeacherForced<B> for Transformer<B> {
    fn output_weights(&self) -> &B::Weights {
        &self.output
    }

    fn max_group_rows(&self, backend: &B) -> usize {
        backend.max_group_rows()
    }

    /// Computes all positions at once.
    fn target_states(
        &self,
        backend: &mut B,
        sources: &[&[u32]],
        targets: &[&[u32]],
    ) -> Result<B::Tensor> {
        let sources = self.encode_sources(backend, sources)?;
        let lengths: Vec<usize> = targets.iter().map(|target| target.len()).collect();
        // The input at each position is the token before it.
        let tokens: Vec<Option<u32>> = targets
            .iter()
            .filter_map(|target| target.split_last())
            .flat_map(|(_, before)| {
                std::iter::once(self.decoder.start_token)
                    .chain(before.iter().map(|&token| Some(token)))
            })
            .collect();
        let positions: Vec<u32> = lengths.iter().flat_map(|&length| 0..length as u32).collect();
        backend.begin_rows(Side::Target, &lengths);
        let embedded = self.decoder.embedding.forward(backend, &tokens, &positions)?;
        let mut rows = self.decoder.embedding.postprocess(backend, &embedded)?;
        for (number, &layer) in self.decoder.layer_order.iter().enumerate() {
            let DecoderLayer { autoregression, cross_attention, feed_forward } =
                &self.decoder.layers[layer];
            rows = autoregression.forward(backend, &rows, &lengths)?;
            if let Some(cross_attention) = cross_attention {
                let packed = sources.iter().map(|source| &source.layer_kv[layer]);
                let groups: Vec<_> = lengths.iter().copied().zip(packed).collect();
                rows = cross_attention.forward(
                    backend,
                    &rows,
                    |backend: &mut B, queries: ColumnSlice<'_, B::Tensor>| {
                        if number == self.decoder.alignment_layer {
                            backend.attend_aligned(queries, &groups)
                        } else {
                            backend.attend(queries, &groups, AttentionMask::All)
                        }
                    },
                )?;
            }
            rows = feed_forward.forward(backend, &rows)?;
        }
        self.decoder.top.postprocess(backend, rows, &embedded)
    }
}

impl<B: DecodingOps> EncoderDecoder<B> for Transformer<B> {
    type EncodedSource = TransformerSource<B>;
    type State = TransformerState<B>;

    fn encode(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<Vec<TransformerSource<B>>> {
        self.encode_sources(backend, sentences)
    }

    fn start_state(&self, backend: &mut B) -> Result<TransformerState<B>> {
        let TransformerDecoder { layer_order, layers, .. } = &self.decoder;
        let states =
            layer_order.iter().map(|&layer| layers[layer].autoregression.new_state(backend));
        Ok(TransformerState { layers: states.collect::<Result<_>>()?, lists: StepLists::default() })
    }

    fn step(
        &self,
        backend: &mut B,
        state: &mut TransformerState<B>,
        rows: &[HypothesisRow],
        sources: &[&TransformerSource<B>],
        mut alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<B::Tensor> {
        let decoder = &self.decoder;
        let TransformerState { layers, lists } = state;
        lists.advance(rows, decoder.start_token);
        let step = DecodingStep { parents: &lists.parents, positions: &lists.positions };
        let embedded = decoder.embedding.forward(backend, &lists.tokens, step.positions)?;
        let mut x = decoder.embedding.postprocess(backend, &embedded)?;
        let mut groups = Vec::new();
        for (number, (&layer, state)) in
            decoder.layer_order.iter().zip(layers.iter_mut()).enumerate()
        {
            let DecoderLayer { autoregression, cross_attention, feed_forward } =
                &decoder.layers[layer];
            x = autoregression.step(backend, &x, state, &step)?;
            if let Some(cross_attention) = cross_attention {
                group_repeats(sources.iter().map(|source| &source.layer_kv[layer]), &mut groups);
                let alignment =
                    alignment.as_deref_mut().filter(|_| number == decoder.alignment_layer);
                x = cross_attention.forward(
                    backend,
                    &x,
                    |backend: &mut B, queries: ColumnSlice<'_, B::Tensor>| match alignment {
                        Some(weights) => {
                            for head in 1..decoder.alignment_heads {
                                let queries = queries.clone();
                                backend.attend_with_weights(queries, &groups, head, weights)?;
                            }
                            backend.attend_with_weights(queries, &groups, 0, weights)
                        }
                        None => backend.attend(queries, &groups, AttentionMask::All),
                    },
                )?;
            }
            x = feed_forward.forward(backend, &x)?;
        }
        if self.encoder.is_none() {
            // There is no attention to report.
            alignment.into_iter().for_each(|all| all.extend(rows.iter().map(|_| Vec::new())));
        }
        decoder.top.postprocess(backend, x, &embedded)
    }
}

/// Groups consecutive references to the same item: fills `groups` with the size of each group and
/// its item.
fn group_repeats<'a, T>(all: impl Iterator<Item = &'a T>, groups: &mut Vec<(usize, &'a T)>) {
    groups.clear();
    for item in all {
        match groups.last_mut() {
            Some((count, same)) if std::ptr::eq(*same, item) => *count += 1,
            _ => groups.push((1, item)),
        }
    }
}
