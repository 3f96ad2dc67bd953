//! Recurrent models: those of Marian (`s2s`), Amun and Nematus, and Devlin's (2017).
//!
//! Devlin's model has a decoder of its own, [`StackedDecoder`]; the others share
//! [`ConditionalDecoder`]. A language model has only a decoder.

use super::{EncoderDecoder, HypothesisRow, Slot, TeacherForced};
use crate::Result;
use crate::layer::recurrent::{
    ConditionalDecoder, DecoderStates, PackedSequences, RecurrentDecoder, RecurrentEncoder,
    RecurrentSource, Speedups, StackedDecoder,
};
use crate::layer::{DecodingOps, RecurrentOps, RecurrentParameterLoader, RowPosition, Side};
use miriam_nmt_models::architecture::{self, EmbeddingConfig};

/// A recurrent model with a decoder of the type `D`.
pub struct Recurrent<B: RecurrentOps, D = ConditionalDecoder<B>> {
    /// `None` in a language model.
    encoder: Option<RecurrentEncoder<B>>,
    decoder: D,
    output: B::Weights,
    state_width: usize,
}

/// Devlin's model of fully connected layers over an attentional GRU: see
/// [`architecture::StackedConfig`].
pub type Stacked<B> = Recurrent<B, StackedDecoder<B>>;

impl<B: RecurrentOps> Recurrent<B> {
    /// Loads a model with the architecture `model`.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn new<P: RecurrentParameterLoader<B>>(
        model: &architecture::RecurrentConfig,
        speedups: &Speedups,
        parameters: &mut P,
    ) -> Result<Self> {
        let encoder = if model.has_source() {
            Some(RecurrentEncoder::new(model, speedups, parameters)?)
        } else {
            None
        };
        Ok(Recurrent {
            encoder,
            decoder: ConditionalDecoder::new(model, speedups, parameters)?,
            output: load_output_weights(&model.embeddings, "decoder_ff_logit_l2", parameters)?,
            state_width: model.state_width,
        })
    }
}

impl<B: RecurrentOps> Stacked<B> {
    /// Loads a model with the architecture `model`.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn from_stacked<P: RecurrentParameterLoader<B>>(
        model: &architecture::StackedConfig,
        speedups: &Speedups,
        parameters: &mut P,
    ) -> Result<Self> {
        Ok(Recurrent {
            encoder: Some(RecurrentEncoder::from_stacked(model, speedups, parameters)?),
            decoder: StackedDecoder::new(model, speedups, parameters)?,
            output: load_output_weights(&model.embeddings, "decoder_ff_logit", parameters)?,
            state_width: model.state_width,
        })
    }
}

/// Loads the output layer. Its matrix is the decoder's embedding table if they are tied, and
/// `{name}_Wt` otherwise. Its bias is `{name}_b`, if the model has one.
fn load_output_weights<B: RecurrentOps, P: RecurrentParameterLoader<B>>(
    tables: &EmbeddingConfig,
    name: &str,
    parameters: &mut P,
) -> Result<B::Weights> {
    let [matrix, bias] = [format!("{name}_Wt"), format!("{name}_b")];
    let matrix = if tables.tied_output { tables.decoder_table_name() } else { &matrix };
    parameters.output_weights(matrix, tables.output_bias.then_some(&bias))
}

impl<B: RecurrentOps, D: RecurrentDecoder<B>> Recurrent<B, D> {
    /// Returns the states of the encoder, a row for each token of all sentences: `[tokens, width]`.
    ///
    /// # Errors
    /// If the backend fails.
    ///
    /// # Panics
    /// If the model is a language model, which has no encoder.
    pub fn encoder_states(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<B::Tensor> {
        let encoder = self.encoder.as_ref().expect("a model with a source");
        encoder.encode(backend, &PackedSequences::new(sentences))
    }

    /// Encodes sentences. A language model ignores them: its decoder starts with zeros.
    fn encode_sources(
        &self,
        backend: &mut B,
        sentences: &[&[u32]],
    ) -> Result<Vec<RecurrentSource<B>>> {
        if self.encoder.is_none() {
            let starts = sentences
                .iter()
                .map(|_| RecurrentSource::without_annotations(backend, self.state_width));
            return starts.collect();
        }
        let states = self.encoder_states(backend, sentences)?;
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
        self.decoder.prepare_sources(backend, &states, &lengths)
    }
}

impl<B: RecurrentOps, D: RecurrentDecoder<B>> TeacherForced<B> for Recurrent<B, D> {
    fn output_weights(&self) -> &B::Weights {
        &self.output
    }

    /// Computes one token of every translation at a time. Translations are sorted, the longest
    /// first. So those that still have a token are the first rows of the previous step, in the
    /// same order.
    fn target_states(
        &self,
        backend: &mut B,
        sources: &[&[u32]],
        targets: &[&[u32]],
    ) -> Result<B::Tensor> {
        let sources = self.encode_sources(backend, sources)?;
        let mut order: Vec<usize> = (0..targets.len()).collect();
        order.sort_by_key(|&target| std::cmp::Reverse(targets[target].len()));
        let longest = order.first().map_or(0, |&target| targets[target].len());
        let (mut states, mut steps) = (DecoderStates::new(), Vec::with_capacity(longest));
        let mut target_rows: Vec<Vec<u32>> = targets.iter().map(|_| Vec::new()).collect();
        let mut next_row = 0;
        for time in 0..longest {
            let active = order.partition_point(|&target| targets[target].len() > time);
            let active = &order[..active];
            let rows = (0..).zip(active).map(|(row, &target)| HypothesisRow {
                slot: Slot(target as u32),
                parent: (time > 0).then_some(row),
                token: time.checked_sub(1).map(|previous| targets[target][previous]),
            });
            let rows: Vec<HypothesisRow> = rows.collect();
            let row_sources: Vec<&RecurrentSource<B>> =
                active.iter().map(|&target| &sources[target]).collect();
            let positions = active
                .iter()
                .map(|&target| RowPosition { sentence: target as u32, position: time as u32 });
            let positions: Vec<RowPosition> = positions.collect();
            backend.begin_row_positions(Side::Target, &positions);
            steps.push(self.decoder.step(backend, &mut states, &rows, &row_sources, None)?);
            for &target in active {
                target_rows[target].push(next_row);
                next_row += 1;
            }
        }
        let by_time = backend.concat_rows(&steps.iter().collect::<Vec<_>>())?;
        backend.index_select(&by_time, &target_rows.concat())
    }
}

impl<B: DecodingOps + RecurrentOps, D: RecurrentDecoder<B>> EncoderDecoder<B> for Recurrent<B, D> {
    type EncodedSource = RecurrentSource<B>;
    type State = DecoderStates<B>;

    fn encode(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<Vec<Self::EncodedSource>> {
        self.encode_sources(backend, sentences)
    }

    fn start_state(&self, _: &mut B) -> Result<DecoderStates<B>> {
        Ok(Vec::new())
    }

    fn step(
        &self,
        backend: &mut B,
        state: &mut DecoderStates<B>,
        rows: &[HypothesisRow],
        sources: &[&Self::EncodedSource],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<B::Tensor> {
        self.decoder.step(backend, state, rows, sources, alignment)
    }
}
