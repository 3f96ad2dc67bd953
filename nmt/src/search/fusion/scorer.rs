//! Scores of candidates by an n-gram or a neural language model, for the search.

use super::neural_scorer::NeuralScorer;
use super::ngram_scorer::NgramScorer;
use super::{Fusion, Kind, LmContext};
use crate::Result;
use miriam_nmt_network::network::{HypothesisRow, Slot};

/// The language-model scorer of one thread: scores the candidates of its hypotheses, and keeps the
/// scores of its last step.
#[derive(Default)]
pub(in crate::search) struct FusionScorer {
    ngrams: NgramScorer,
    neural: NeuralScorer,
}

impl FusionScorer {
    /// Begins the translation of the sentence `slot`.
    ///
    /// # Errors
    /// Those of a neural language model.
    pub fn begin(&mut self, fusion: &Fusion, slot: Slot) -> Result<()> {
        match &fusion.model.0 {
            Kind::Ngrams(_) => Ok(()),
            Kind::Neural(model) => self.neural.begin(model, slot),
        }
    }

    /// Ends the translation of the sentence `slot`.
    pub fn finish(&mut self, slot: Slot) {
        self.neural.finish(slot);
    }

    /// Begins a step of the hypotheses `rows`, which have no candidates yet.
    ///
    /// # Errors
    /// Those of a neural language model.
    pub fn begin_step(&mut self, rows: &[HypothesisRow]) -> Result<()> {
        self.ngrams.clear();
        self.neural.step(rows)
    }

    /// Adds the candidates `tokens` of the next row, whose hypothesis has the context `context`;
    /// `ends` says which of them end the sentence.
    pub fn add_row(
        &mut self,
        fusion: &Fusion,
        context: &LmContext,
        tokens: impl Iterator<Item = u32>,
        ends: impl Fn(u32) -> bool,
    ) {
        match &fusion.model.0 {
            Kind::Ngrams(model) => self.ngrams.add_row(model, context, tokens, ends),
            Kind::Neural(model) => self.neural.add_row(model, tokens, ends),
        }
    }

    /// Completes the scores of all rows.
    ///
    /// # Errors
    /// Those of a neural language model.
    pub fn score_rows(&mut self) -> Result<()> {
        self.neural.score()
    }

    /// Replaces `scores` by the weighted natural log-probabilities of the candidates of a row, in
    /// their order.
    pub fn weighted(&self, row: usize, fusion: &Fusion, scores: &mut Vec<f32>) {
        scores.clear();
        match &fusion.model.0 {
            Kind::Ngrams(_) => scores.extend(self.ngrams.scores(row)),
            Kind::Neural(_) => scores.extend(self.neural.scores(row)),
        }
        scores.iter_mut().for_each(|score| *score *= fusion.weight);
    }

    /// Sets `to` to the context `from` of a row, extended by a token among the row's candidates.
    /// `ends` says whether the token ends the sentence. Returns the natural log-probability of the
    /// words that the token completes (n-gram model), or of the token (neural model).
    pub fn extend(
        &self,
        fusion: &Fusion,
        row: usize,
        (token, ends): (u32, bool),
        from: &LmContext,
        to: &mut LmContext,
    ) -> f32 {
        match &fusion.model.0 {
            Kind::Ngrams(model) => self.ngrams.extend(model, row, token, from, to),
            Kind::Neural(model) => {
                self.neural.score_of(row, if ends { model.eos_id } else { token })
            }
        }
    }
}
