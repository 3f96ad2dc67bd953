//! What search asks of a model: sentences in, hypotheses on, best words out.

use std::ops::Range;

use crate::Result;

pub use miriam_kernels::topk::{TokenLogit, TopK};

/// A sentence under translation. Numbers of finished ones are given again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// A hypothesis of the coming step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HypothesisRow {
    /// Its sentence.
    pub slot: Slot,
    /// The row of the step before that it continues; none where a sentence starts.
    pub parent: Option<u32>,
    /// The word that was put out last; none where a sentence starts.
    pub token: Option<u32>,
}

/// One model, or several that vote, with the sentences it is translating.
///
/// Results of a row depend on its sentence and on its words only, never on other rows.
pub trait Session {
    /// Words of the target vocabulary.
    fn vocab_size(&self) -> usize;

    /// Reads sentences, ids of the source vocabulary, each with its `</s>`. They stay until
    /// [`finish`](Session::finish). `candidates`, where given, has a list for each
    /// sentence: ascending ids, the only words that it can be translated with.
    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>>;

    /// Forgets a sentence. None of its rows may come again.
    fn finish(&mut self, slot: Slot);

    /// The next step. Rows of one sentence stand side by side. Rows of the step before that
    /// no row continues are forgotten.
    ///
    /// # Panics
    /// If a parent was not there, or belongs to another sentence.
    fn step(&mut self, rows: &[HypothesisRow]);

    /// The best words of each row of the step, with what [`Best`] was made for: how many,
    /// and whether the normaliser is needed. A candidate's id is a word of the
    /// vocabulary; its score is `logit - log_normaliser` (of the row's candidates, if it has
    /// some).
    fn topk(&mut self, best: &mut [TopK]);

    /// Logits of one word each of some rows of the step: what `best` would tell of them. A
    /// word that is not among the candidates of the row has -infinity.
    fn token_logits(&mut self, wanted: &[(u32, u32)], logits: &mut Vec<f32>);

    /// Logits of some rows of the step, a row after the other: of all words, or, where the
    /// rows are of one sentence that has candidates, of those. And for each row what makes
    /// them logarithms of probabilities, as [`Best`] has it.
    ///
    /// # Panics
    /// If some of the rows have other candidates.
    fn row_logits(&mut self, rows: Range<usize>, logits: &mut Vec<f32>, normalisers: &mut Vec<f32>);

    /// Logarithms of the probabilities of all words of one row of the step, by id; -infinity
    /// for those that are no candidates.
    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>);

    /// From now on steps keep their attention to the source, or do not.
    fn keep_alignments(&mut self, keep: bool);

    /// The attention of a row of the step to the words of its sentence; sums to 1.
    ///
    /// # Panics
    /// If steps do not keep it.
    fn alignment(&self, row: u32) -> &[f32];
}
