//! Interface of a model to search: sentences in, steps of hypotheses, best tokens out.

use std::ops::Range;

use crate::Result;
use crate::layer::{HypothesisRow, Slot, TopK};

/// One model, or an ensemble, with the sentences that it is translating.
///
/// Results of a row depend on its sentence and on its tokens only, never on other rows.
///
/// # Errors
/// All operations fail if the device fails. [`begin`](Session::begin) also fails if an id is not in
/// its vocabulary.
pub trait Session {
    /// Returns the size of the target vocabulary.
    fn vocab_size(&self) -> usize;

    /// Returns the largest number of sentences that should be under translation at once; it changes
    /// when the memory of a device is full.
    fn max_sentences(&self) -> usize {
        usize::MAX
    }

    /// Encodes sentences: lists of ids of the source vocabulary, each with its `</s>`. They stay
    /// until [`finish`](Session::finish). If `candidates` is given, it has a list for each
    /// sentence: the ascending ids of the only tokens that its translations may contain.
    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>>;

    /// Drops a sentence, which must have no rows from now on.
    fn finish(&mut self, slot: Slot);

    /// Computes the next step. Rows of one sentence follow each other. A row of the previous step
    /// is dropped if no row continues it.
    ///
    /// # Panics
    /// If a parent does not exist or belongs to another sentence, or if a token is not in the
    /// target vocabulary.
    fn step(&mut self, rows: &[HypothesisRow]) -> Result<()>;

    /// Finds the best tokens of each row of the step, and the row's log-normaliser unless its
    /// [`TopK`] omits it. The score of a token is `logit - log_normalizer`. If the sentence of the
    /// row has a list of candidates, both the best tokens and the log-normaliser are for this list.
    fn topk(&mut self, best: &mut [TopK]) -> Result<()>;

    /// Computes the logit of each (row, token) pair of the step, the same number as in
    /// [`topk`](Session::topk); -infinity for tokens that are not candidates of the row.
    fn token_logits(&mut self, pairs: &[(u32, u32)], logits: &mut Vec<f32>) -> Result<()>;

    /// Computes the logits and the log-normaliser of some rows of the step, one row after the
    /// other. The logits cover all tokens, or only the candidates if the rows belong to a sentence
    /// that has some.
    ///
    /// # Panics
    /// If the rows have different candidates.
    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()>;

    /// Computes the log-probabilities of all tokens of one row of the step, by id; -infinity for
    /// tokens that are not candidates.
    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>) -> Result<()>;

    /// Sets whether steps keep their attention to the source from now on.
    fn keep_alignments(&mut self, keep: bool);

    /// Returns the attention of a row of the step to the tokens of its sentence: weights whose sum
    /// is 1, or an empty list in a language model.
    ///
    /// # Panics
    /// If steps do not keep attention.
    fn alignment(&self, row: u32) -> &[f32];
}
