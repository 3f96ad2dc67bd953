//! Transformers (`neural.md` 1.6): layers in their order, and what a sentence and a step
//! keep.
//!
//! Keys and values of the source are made once a sentence, for all layers of the decoder in
//! one product. Layers that share their parameters share those as well; what hypotheses
//! remember is each layer's own.

use super::paths::Paths;
use super::{Family, Row};
use crate::Result;
use crate::architecture::{self, Process, Start};
use crate::layer::{
    Around, Backend, CrossAttention, Decoding, Embedding, FeedForward, LookBack, Parameters, Part,
    Remembered, SelfAttention, Steps, Then, Visible,
};

/// A transformer over a backend.
pub struct Transformer<B: Backend> {
    encoder: Encoder<B>,
    decoder: Decoder<B>,
    output: B::Weights,
}

struct Encoder<B: Backend> {
    embedding: Embedding<B>,
    layers: Vec<(SelfAttention<B>, FeedForward<B>)>,
    top: Option<Around<B>>,
}

struct Decoder<B: Backend> {
    embedding: Embedding<B>,
    /// Those that have parameters of their own.
    layers: Vec<Layer<B>>,
    /// For each layer, which of them it is.
    order: Vec<usize>,
    /// Keys and values of `layers`, in turn.
    memory: B::Weights,
    heads: usize,
    width: usize,
    top: Option<Around<B>>,
    start: Option<u32>,
    /// The layer whose first head tells alignments.
    alignment: usize,
}

struct Layer<B: Backend> {
    look_back: LookBack<B>,
    context: CrossAttention<B>,
    feed_forward: FeedForward<B>,
}

/// A sentence: its keys and values, for each layer of parameters.
pub struct Source<B: Backend> {
    memories: Vec<B::Memory>,
}

/// What hypotheses remember, layer by layer.
pub struct State<B: Decoding> {
    layers: Vec<Remembered<B>>,
    paths: Paths,
}

impl<B: Backend> Transformer<B> {
    /// The layers that `shape` describes.
    pub fn load(
        parameters: &mut impl Parameters<B>,
        shape: &architecture::Transformer,
    ) -> Result<Self> {
        let tables = &shape.tables;
        let top = |parameters: &mut _, side: &str| {
            let (process, prefix) = (&shape.postprocess_top, format!("{side}_top"));
            let there = *process != Process::default();
            there.then(|| Around::load_behind(parameters, shape, process, &prefix, "")).transpose()
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
        let encoder = Encoder {
            embedding: Embedding::load(parameters, shape, "encoder", tables.encoder_table())?,
            layers,
            top: top(parameters, "encoder")?,
        };
        let mut own = shape.tied_layers.clone();
        own.sort_unstable();
        own.dedup();
        let layers = own.iter().map(|layer| {
            let prefix = format!("decoder_l{layer}");
            let feed_forward = format!("{prefix}_ffn");
            Ok(Layer {
                look_back: LookBack::load(parameters, shape, &prefix)?,
                context: CrossAttention::load(parameters, shape, &format!("{prefix}_context"))?,
                feed_forward: FeedForward::load(parameters, shape, &shape.decoder, &feed_forward)?,
            })
        });
        let layers = layers.collect::<Result<_>>()?;
        let order: Vec<usize> =
            shape.tied_layers.iter().map(|layer| own.partition_point(|own| own < layer)).collect();
        let contexts: Vec<String> =
            own.iter().map(|layer| format!("decoder_l{layer}_context")).collect();
        let decoder = Decoder {
            embedding: Embedding::load(parameters, shape, "decoder", tables.decoder_table())?,
            layers,
            order,
            memory: CrossAttention::memory_weights(parameters, &contexts)?,
            heads: shape.decoder.heads,
            width: tables.embedding,
            top: top(parameters, "decoder")?,
            start: match shape.start {
                Start::Zeros => None,
                Start::Token(word) => Some(word),
            },
            alignment: shape.alignment_layer - 1,
        };
        let table = match tables.tied_output {
            true => tables.decoder_table(),
            false => "decoder_ff_logit_out_Wt",
        };
        let bias = tables.output_bias.then_some("decoder_ff_logit_out_b");
        let output = parameters.output(table, bias)?;
        Ok(Transformer { encoder, decoder, output })
    }

    /// The states of the encoder, a row for each word of all sentences.
    pub fn encoder_states(&self, backend: &mut B, sentences: &[&[u32]]) -> B::Rows {
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
        let words: Vec<Option<u32>> =
            sentences.iter().flat_map(|sentence| sentence.iter().map(|&word| Some(word))).collect();
        let positions: Vec<u32> = lengths.iter().flat_map(|&length| 0..length as u32).collect();
        let embedded = self.encoder.embedding.rows(backend, &words, &positions);
        let mut rows = backend.copy(&embedded);
        for (attention, feed_forward) in &self.encoder.layers {
            rows = attention.whole(backend, &rows, &lengths, Visible::All);
            rows = feed_forward.rows(backend, &rows);
        }
        match &self.encoder.top {
            Some(top) => top.leave(backend, rows, &embedded),
            None => rows,
        }
    }

    /// Keys and values for the decoder, sentence by sentence.
    fn sources(&self, backend: &mut B, states: &B::Rows, lengths: &[usize]) -> Vec<Source<B>> {
        let made = backend.affine(states, &self.decoder.memory, Then::default());
        let mut sources: Vec<Source<B>> =
            lengths.iter().map(|_| Source { memories: Vec::new() }).collect();
        let width = self.decoder.width;
        for layer in 0..self.decoder.layers.len() {
            let keys = Part::nth(&made, 2 * layer, width);
            let values = Part::nth(&made, 2 * layer + 1, width);
            let memories = backend.remember(self.decoder.heads, keys, values, lengths);
            for (source, memory) in sources.iter_mut().zip(memories) {
                source.memories.push(memory);
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
    ) -> B::Rows {
        let states = self.encoder_states(backend, sources);
        let lengths: Vec<usize> = sources.iter().map(|sentence| sentence.len()).collect();
        let sources = self.sources(backend, &states, &lengths);
        let lengths: Vec<usize> = targets.iter().map(|target| target.len()).collect();
        // Each word is put out by the one before it.
        let words: Vec<Option<u32>> = targets
            .iter()
            .filter_map(|target| target.split_last())
            .flat_map(|(_, before)| {
                std::iter::once(self.decoder.start).chain(before.iter().map(|&word| Some(word)))
            })
            .collect();
        let positions: Vec<u32> = lengths.iter().flat_map(|&length| 0..length as u32).collect();
        let embedded = self.decoder.embedding.rows(backend, &words, &positions);
        let mut rows = backend.copy(&embedded);
        for &layer in &self.decoder.order {
            let Layer { look_back, context, feed_forward } = &self.decoder.layers[layer];
            rows = look_back.whole(backend, &rows, &lengths);
            let memories = sources.iter().map(|source| &source.memories[layer]);
            let groups: Vec<_> = lengths.iter().copied().zip(memories).collect();
            rows = context.rows(backend, &rows, |backend: &mut B, queries: Part<'_, B::Rows>| {
                backend.attend(queries, &groups, Visible::All)
            });
            rows = feed_forward.rows(backend, &rows);
        }
        self.decoder.finish(backend, rows, &embedded)
    }
}

impl<B: Backend> Decoder<B> {
    fn finish(&self, backend: &mut B, rows: B::Rows, embedded: &B::Rows) -> B::Rows {
        match &self.top {
            Some(top) => top.leave(backend, rows, embedded),
            None => rows,
        }
    }
}

impl<B: Decoding> Family<B> for Transformer<B> {
    type Source = Source<B>;
    type State = State<B>;

    fn encode(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<Vec<Source<B>>> {
        let states = self.encoder_states(backend, sentences);
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
        Ok(self.sources(backend, &states, &lengths))
    }

    fn state(&self, backend: &mut B) -> State<B> {
        let Decoder { order, layers, .. } = &self.decoder;
        let layers = order.iter().map(|&layer| layers[layer].look_back.start(backend)).collect();
        State { layers, paths: Paths::default() }
    }

    fn step(
        &self,
        backend: &mut B,
        state: &mut State<B>,
        rows: &[Row],
        sources: &[&Source<B>],
        mut alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> B::Rows {
        let decoder = &self.decoder;
        let parents: Vec<Option<u32>> = rows.iter().map(|row| row.parent).collect();
        let passes_twice = decoder.layers.iter().any(|layer| match &layer.look_back {
            LookBack::Attention(attention) => attention.passes_firsts_twice(),
            _ => false,
        });
        let firsts: Vec<u32> = match passes_twice {
            true => (0..).zip(&parents).filter_map(|(i, p)| p.is_none().then_some(i)).collect(),
            false => Vec::new(),
        };
        let kept = state.paths.advance(&parents, firsts.len()).map(<[u32]>::to_vec);
        let paths: Vec<&[u32]> = (0..rows.len()).map(|row| state.paths.path(row)).collect();
        let positions: Vec<u32> = (0..rows.len()).map(|row| state.paths.position(row)).collect();
        let behind: Vec<u32> = firsts
            .iter()
            .zip(0..)
            .map(|(&first, i)| paths[first as usize][0] + rows.len() as u32 - first + i)
            .collect();
        let mut first_paths = if firsts.is_empty() { Vec::new() } else { paths.clone() };
        for (index, &first) in firsts.iter().enumerate() {
            first_paths[first as usize] = &behind[index..=index];
        }
        let steps = Steps {
            parents: &parents,
            positions: &positions,
            kept: kept.as_deref(),
            paths: &paths,
            firsts: &firsts,
            first_paths: &first_paths,
        };
        let words: Vec<Option<u32>> = rows.iter().map(|row| row.word.or(decoder.start)).collect();
        let embedded = decoder.embedding.rows(backend, &words, &positions);
        let mut x = backend.copy(&embedded);
        for (number, (&layer, remembered)) in
            decoder.order.iter().zip(&mut state.layers).enumerate()
        {
            let Layer { look_back, context, feed_forward } = &decoder.layers[layer];
            x = look_back.step(backend, &x, remembered, &steps);
            let memories = sources.iter().map(|source| &source.memories[layer]);
            let groups: Vec<(usize, &B::Memory)> = grouped(memories);
            let alignment = alignment.as_deref_mut().filter(|_| number == decoder.alignment);
            x = context.rows(backend, &x, |backend: &mut B, queries: Part<'_, B::Rows>| {
                match alignment {
                    Some(weights) => backend.attend_and_tell(queries, &groups, 0, weights),
                    None => backend.attend(queries, &groups, Visible::All),
                }
            });
            x = feed_forward.rows(backend, &x);
        }
        decoder.finish(backend, x, &embedded)
    }

    fn output(&self) -> &B::Weights {
        &self.output
    }
}

/// How many in a row are one and the same.
fn grouped<'a, T>(all: impl Iterator<Item = &'a T>) -> Vec<(usize, &'a T)> {
    let mut groups: Vec<(usize, &T)> = Vec::new();
    for item in all {
        match groups.last_mut() {
            Some((count, same)) if std::ptr::eq(*same, item) => *count += 1,
            _ => groups.push((1, item)),
        }
    }
    groups
}
