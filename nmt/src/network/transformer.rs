//! Transformers (`neural.md` 1.6): layers in their order, and what a sentence and a step
//! keep.
//!
//! Keys and values of the source are made once a sentence, for all layers of the decoder in
//! one product. Layers that share their parameters share those as well; what hypotheses
//! remember is each layer's own.

use super::cache_indirection::CacheIndirection;
use super::{EncoderDecoder, HypothesisRow};
use crate::Result;
use crate::architecture::{self, DecoderStart, ProcessSteps};
use crate::layer::{
    AttentionMask, Autoregression, AutoregressionState, Backend, ColumnSlice, CrossAttention,
    DecodingOps, DecodingStep, Embedding, Epilogue, FeedForward, ParameterLoader, SelfAttention,
    SublayerConnection,
};

/// A transformer over a backend.
pub struct Transformer<B: Backend> {
    encoder: TransformerEncoder<B>,
    decoder: TransformerDecoder<B>,
    output: B::Weights,
}

struct TransformerEncoder<B: Backend> {
    embedding: Embedding<B>,
    layers: Vec<(SelfAttention<B>, FeedForward<B>)>,
    top: Option<SublayerConnection<B>>,
}

struct TransformerDecoder<B: Backend> {
    embedding: Embedding<B>,
    /// Those that have parameters of their own.
    layers: Vec<DecoderLayer<B>>,
    /// For each layer, which of them it is.
    layer_order: Vec<usize>,
    /// Keys and values of `layers`, in turn.
    cross_kv_weights: B::Weights,
    heads: usize,
    width: usize,
    top: Option<SublayerConnection<B>>,
    start_token: Option<u32>,
    /// The layer whose first head tells alignments.
    alignment_layer: usize,
}

struct DecoderLayer<B: Backend> {
    autoregression: Autoregression<B>,
    cross_attention: CrossAttention<B>,
    feed_forward: FeedForward<B>,
}

/// A sentence: its keys and values, for each layer of parameters.
pub struct TransformerSource<B: Backend> {
    layer_kv: Vec<B::PackedKv>,
}

/// What hypotheses remember, layer by layer.
pub struct TransformerState<B: DecodingOps> {
    layers: Vec<AutoregressionState<B>>,
    cache_indirection: CacheIndirection,
}

impl<B: Backend> Transformer<B> {
    /// The layers that `shape` describes.
    pub fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &architecture::TransformerConfig,
    ) -> Result<Self> {
        let tables = &shape.embeddings;
        let top = |parameters: &mut _, side: &str| {
            let (process, prefix) = (&shape.postprocess_top, format!("{side}_top"));
            let there = *process != ProcessSteps::default();
            there
                .then(|| SublayerConnection::load_post(parameters, shape, process, &prefix, ""))
                .transpose()
        };
        let layers = (1..=shape.encoder.depth).map(|layer| {
            let attention = format!("encoder_l{layer}_self");
            let feed_forward = format!("encoder_l{layer}_ffn");
            Ok((
                SelfAttention::load(parameters, shape, &attention, false)?,
                FeedForward::load(parameters, shape, &shape.encoder, &feed_forward)?,
            ))
        });
        let layers = layers.collect::<Result<_>>()?;
        let encoder = TransformerEncoder {
            embedding: Embedding::load(parameters, shape, "encoder", tables.encoder_table_name())?,
            layers,
            top: top(parameters, "encoder")?,
        };
        let mut own = shape.tied_layers.clone();
        own.sort_unstable();
        own.dedup();
        let layers = own.iter().map(|layer| {
            let prefix = format!("decoder_l{layer}");
            let feed_forward = format!("{prefix}_ffn");
            Ok(DecoderLayer {
                autoregression: Autoregression::load(parameters, shape, &prefix)?,
                cross_attention: CrossAttention::load(
                    parameters,
                    shape,
                    &format!("{prefix}_context"),
                )?,
                feed_forward: FeedForward::load(parameters, shape, &shape.decoder, &feed_forward)?,
            })
        });
        let layers = layers.collect::<Result<_>>()?;
        let order: Vec<usize> =
            shape.tied_layers.iter().map(|layer| own.partition_point(|own| own < layer)).collect();
        let contexts: Vec<String> =
            own.iter().map(|layer| format!("decoder_l{layer}_context")).collect();
        let decoder = TransformerDecoder {
            embedding: Embedding::load(parameters, shape, "decoder", tables.decoder_table_name())?,
            layers,
            layer_order: order,
            cross_kv_weights: CrossAttention::load_kv_weights(parameters, &contexts)?,
            heads: shape.decoder.heads,
            width: tables.dim,
            top: top(parameters, "decoder")?,
            start_token: match shape.decoder_start {
                DecoderStart::ZeroEmbedding => None,
                DecoderStart::Token(word) => Some(word),
            },
            alignment_layer: shape.alignment_layer - 1,
        };
        let table = match tables.tied_output {
            true => tables.decoder_table_name(),
            false => "decoder_ff_logit_out_Wt",
        };
        let bias = tables.output_bias.then_some("decoder_ff_logit_out_b");
        let output = parameters.output_weights(table, bias)?;
        Ok(Transformer { encoder, decoder, output })
    }

    /// The states of the encoder, a row for each word of all sentences.
    pub fn encoder_states(&self, backend: &mut B, sentences: &[&[u32]]) -> B::Tensor {
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
        let words: Vec<Option<u32>> =
            sentences.iter().flat_map(|sentence| sentence.iter().map(|&word| Some(word))).collect();
        let positions: Vec<u32> = lengths.iter().flat_map(|&length| 0..length as u32).collect();
        let embedded = self.encoder.embedding.forward(backend, &words, &positions);
        let mut rows = backend.copy(&embedded);
        for (attention, feed_forward) in &self.encoder.layers {
            rows = attention.forward(backend, &rows, &lengths, AttentionMask::All);
            rows = feed_forward.forward(backend, &rows);
        }
        match &self.encoder.top {
            Some(top) => top.postprocess(backend, rows, &embedded),
            None => rows,
        }
    }

    /// Keys and values for the decoder, sentence by sentence.
    fn pack_sources(
        &self,
        backend: &mut B,
        states: &B::Tensor,
        lengths: &[usize],
    ) -> Vec<TransformerSource<B>> {
        let made = backend.affine(states, &self.decoder.cross_kv_weights, Epilogue::default());
        let mut sources: Vec<TransformerSource<B>> =
            lengths.iter().map(|_| TransformerSource { layer_kv: Vec::new() }).collect();
        let width = self.decoder.width;
        for layer in 0..self.decoder.layers.len() {
            let keys = ColumnSlice::nth(&made, 2 * layer, width);
            let values = ColumnSlice::nth(&made, 2 * layer + 1, width);
            let memories = backend.pack_kv(self.decoder.heads, keys, values, lengths);
            for (source, memory) in sources.iter_mut().zip(memories) {
                source.layer_kv.push(memory);
            }
        }
        sources
    }

    /// What the output layer multiplies with, for every word of translations that are known,
    /// `</s>` at the end of each among them: all positions at once.
    pub fn decoder_states(
        &self,
        backend: &mut B,
        sources: &[&[u32]],
        targets: &[&[u32]],
    ) -> B::Tensor {
        let states = self.encoder_states(backend, sources);
        let lengths: Vec<usize> = sources.iter().map(|sentence| sentence.len()).collect();
        let sources = self.pack_sources(backend, &states, &lengths);
        let lengths: Vec<usize> = targets.iter().map(|target| target.len()).collect();
        // Each word is put out by the one before it.
        let words: Vec<Option<u32>> = targets
            .iter()
            .filter_map(|target| target.split_last())
            .flat_map(|(_, before)| {
                std::iter::once(self.decoder.start_token)
                    .chain(before.iter().map(|&word| Some(word)))
            })
            .collect();
        let positions: Vec<u32> = lengths.iter().flat_map(|&length| 0..length as u32).collect();
        let embedded = self.decoder.embedding.forward(backend, &words, &positions);
        let mut rows = backend.copy(&embedded);
        for &layer in &self.decoder.layer_order {
            let DecoderLayer { autoregression, cross_attention, feed_forward } =
                &self.decoder.layers[layer];
            rows = autoregression.forward(backend, &rows, &lengths);
            let memories = sources.iter().map(|source| &source.layer_kv[layer]);
            let groups: Vec<_> = lengths.iter().copied().zip(memories).collect();
            rows = cross_attention.forward(
                backend,
                &rows,
                |backend: &mut B, queries: ColumnSlice<'_, B::Tensor>| {
                    backend.attend(queries, &groups, AttentionMask::All)
                },
            );
            rows = feed_forward.forward(backend, &rows);
        }
        self.decoder.postprocess_top(backend, rows, &embedded)
    }
}

impl<B: Backend> TransformerDecoder<B> {
    fn postprocess_top(&self, backend: &mut B, rows: B::Tensor, embedded: &B::Tensor) -> B::Tensor {
        match &self.top {
            Some(top) => top.postprocess(backend, rows, embedded),
            None => rows,
        }
    }
}

impl<B: DecodingOps> EncoderDecoder<B> for Transformer<B> {
    type EncodedSource = TransformerSource<B>;
    type State = TransformerState<B>;

    fn encode(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<Vec<TransformerSource<B>>> {
        let states = self.encoder_states(backend, sentences);
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
        Ok(self.pack_sources(backend, &states, &lengths))
    }

    fn start_state(&self, backend: &mut B) -> TransformerState<B> {
        let TransformerDecoder { layer_order: order, layers, .. } = &self.decoder;
        let layers =
            order.iter().map(|&layer| layers[layer].autoregression.new_state(backend)).collect();
        TransformerState { layers, cache_indirection: CacheIndirection::default() }
    }

    fn step(
        &self,
        backend: &mut B,
        state: &mut TransformerState<B>,
        rows: &[HypothesisRow],
        sources: &[&TransformerSource<B>],
        mut alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> B::Tensor {
        let decoder = &self.decoder;
        let parents: Vec<Option<u32>> = rows.iter().map(|row| row.parent).collect();
        let passes_twice = decoder.layers.iter().any(|layer| match &layer.autoregression {
            Autoregression::SelfAttention(attention) => attention.caches_first_twice(),
            _ => false,
        });
        let firsts: Vec<u32> = match passes_twice {
            true => (0..).zip(&parents).filter_map(|(i, p)| p.is_none().then_some(i)).collect(),
            false => Vec::new(),
        };
        let kept = state.cache_indirection.advance(&parents, firsts.len()).map(<[u32]>::to_vec);
        let paths: Vec<&[u32]> =
            (0..rows.len()).map(|row| state.cache_indirection.path(row)).collect();
        let positions: Vec<u32> =
            (0..rows.len()).map(|row| state.cache_indirection.position(row)).collect();
        let behind: Vec<u32> = firsts
            .iter()
            .zip(0..)
            .map(|(&first, i)| paths[first as usize][0] + rows.len() as u32 - first + i)
            .collect();
        let mut first_paths = if firsts.is_empty() { Vec::new() } else { paths.clone() };
        for (index, &first) in firsts.iter().enumerate() {
            first_paths[first as usize] = &behind[index..=index];
        }
        let steps = DecodingStep {
            parents: &parents,
            positions: &positions,
            kept_rows: kept.as_deref(),
            paths: &paths,
            new_rows: &firsts,
            new_row_paths: &first_paths,
        };
        let words: Vec<Option<u32>> =
            rows.iter().map(|row| row.token.or(decoder.start_token)).collect();
        let embedded = decoder.embedding.forward(backend, &words, &positions);
        let mut x = backend.copy(&embedded);
        for (number, (&layer, remembered)) in
            decoder.layer_order.iter().zip(&mut state.layers).enumerate()
        {
            let DecoderLayer { autoregression, cross_attention, feed_forward } =
                &decoder.layers[layer];
            x = autoregression.step(backend, &x, remembered, &steps);
            let memories = sources.iter().map(|source| &source.layer_kv[layer]);
            let groups: Vec<(usize, &B::PackedKv)> = group_repeats(memories);
            let alignment = alignment.as_deref_mut().filter(|_| number == decoder.alignment_layer);
            x = cross_attention.forward(
                backend,
                &x,
                |backend: &mut B, queries: ColumnSlice<'_, B::Tensor>| match alignment {
                    Some(weights) => backend.attend_with_weights(queries, &groups, 0, weights),
                    None => backend.attend(queries, &groups, AttentionMask::All),
                },
            );
            x = feed_forward.forward(backend, &x);
        }
        decoder.postprocess_top(backend, x, &embedded)
    }

    fn output_weights(&self) -> &B::Weights {
        &self.output
    }
}

/// How many in a row are one and the same.
fn group_repeats<'a, T>(all: impl Iterator<Item = &'a T>) -> Vec<(usize, &'a T)> {
    let mut groups: Vec<(usize, &T)> = Vec::new();
    for item in all {
        match groups.last_mut() {
            Some((count, same)) if std::ptr::eq(*same, item) => *count += 1,
            _ => groups.push((1, item)),
        }
    }
    groups
}
