//! Interface of an architecture to search, training and scoring.

use crate::Result;
use crate::layer::{Backend, DecodingOps, HypothesisRow};

/// The layers of a model, applied to known translations, for training and scoring.
pub trait TeacherForced<B: Backend> {
    /// Returns the weights of the output layer, `[width, tokens]`.
    fn output_weights(&self) -> &B::Weights;

    /// Returns the largest number of rows of whole sentences that should pass through the layers
    /// together. Layers that compute position by position take all sentences at once.
    fn max_group_rows(&self, _backend: &B) -> usize {
        usize::MAX
    }

    /// Returns the input of the output layer for every token of known translations, one translation
    /// after the other: `[tokens, width]`. Sources and targets end with `</s>`.
    ///
    /// # Errors
    /// If the backend fails.
    fn target_states(
        &self,
        backend: &mut B,
        sources: &[&[u32]],
        targets: &[&[u32]],
    ) -> Result<B::Tensor>;
}

/// The layers of a model that reads a sentence and writes its translation token by token.
///
/// # Errors
/// All operations fail if the backend fails.
pub trait EncoderDecoder<B: DecodingOps>: TeacherForced<B> {
    /// An encoded source sentence, kept while it is translated.
    type EncodedSource;
    /// The states of the rows of the last step. Rows of one sentence follow each other.
    type State;

    /// Encodes sentences, which end with `</s>`.
    fn encode(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<Vec<Self::EncodedSource>>;

    /// Returns the state before the first step. It has no rows.
    fn start_state(&self, backend: &mut B) -> Result<Self::State>;

    /// Computes a step: row i continues row `rows[i].parent` of the previous step by a token.
    /// `sources` has the sentence of each row. Returns the input of the output layer, `[rows,
    /// width]`. If `alignment` is given, appends a list with the attention weights of each row, for
    /// each head that gives alignments; the lists of a language model are empty.
    fn step(
        &self,
        backend: &mut B,
        state: &mut Self::State,
        rows: &[HypothesisRow],
        sources: &[&Self::EncodedSource],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<B::Tensor>;
}
