//! Scores of candidates by a neural language model, in one batch for all hypotheses of a step.
//!
//! The model is a session that makes the same steps as the session of the translation model: each
//! hypothesis is a row of both, with the same parent. So the session has the language model's state
//! of each hypothesis, and no copy of its tokens is needed.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::{Error, Result};
use miriam_nmt_network::network::{HypothesisRow, Session, Slot, TopK};

/// Opens a session of a language model, for one thread.
type OpenSession = dyn Fn() -> Result<Box<dyn Session>> + Send + Sync;

/// A neural language model of the tokens of a target vocabulary. Clones share it.
#[derive(Clone)]
pub(super) struct NeuralModel {
    pub open_session: Arc<OpenSession>,
    /// The token that ends a sentence.
    pub eos_id: u32,
}

/// The sentences of one thread in a language model, and the scores of the candidates of a step.
#[derive(Default)]
pub(super) struct NeuralScorer {
    /// Opened with the first sentence.
    session: Option<Box<dyn Session>>,
    /// The sentences of the session, by their slots in the translation model.
    slots: HashMap<u32, Slot>,
    rows: Vec<HypothesisRow>,
    /// For each row a top-k with k = 0, which has only the log-normaliser.
    log_normalizers: Vec<TopK>,
    /// The range of each row in `candidates` and `scores`.
    row_ranges: Vec<Range<usize>>,
    /// The row and the token of each candidate.
    candidates: Vec<(u32, u32)>,
    scores: Vec<f32>,
}

impl NeuralScorer {
    /// Begins the translation of the sentence `slot`.
    pub fn begin(&mut self, model: &NeuralModel, slot: Slot) -> Result<()> {
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert((model.open_session)()?),
        };
        // A language model reads no source.
        let begun = session.begin(&[&[]], None)?;
        self.slots.insert(slot.0, begun[0]);
        Ok(())
    }

    /// Ends the translation of the sentence `slot`.
    pub fn finish(&mut self, slot: Slot) {
        if let (Some(session), Some(slot)) = (&mut self.session, self.slots.remove(&slot.0)) {
            session.finish(slot);
        }
    }

    /// Repeats a step of the translation model in the language model, and removes the candidates of
    /// the previous step.
    pub fn step(&mut self, rows: &[HypothesisRow]) -> Result<()> {
        self.row_ranges.clear();
        self.candidates.clear();
        let Some(session) = &mut self.session else { return Ok(()) };
        self.rows.clear();
        let slots = &self.slots;
        self.rows.extend(rows.iter().map(|row| HypothesisRow { slot: slots[&row.slot.0], ..*row }));
        session.step(&self.rows)?;
        self.log_normalizers.resize_with(rows.len(), || TopK::new(0, true));
        self.log_normalizers.iter_mut().for_each(|row| row.reset(0, true));
        session.topk(&mut self.log_normalizers)?;
        if self.log_normalizers.iter().all(|row| row.log_normalizer().is_finite()) {
            return Ok(());
        }
        let reason =
            "the numbers of the language model are not finite; check it with miriam verify";
        Err(Error::Untranslatable { reason: reason.into() })
    }

    /// Adds the candidates of the next row; `ends` says which of them end the sentence.
    pub fn add_row(
        &mut self,
        model: &NeuralModel,
        tokens: impl Iterator<Item = u32>,
        ends: impl Fn(u32) -> bool,
    ) {
        let (row, first) = (self.row_ranges.len() as u32, self.candidates.len());
        let tokens = tokens.map(|token| if ends(token) { model.eos_id } else { token });
        self.candidates.extend(tokens.map(|token| (row, token)));
        self.row_ranges.push(first..self.candidates.len());
    }

    /// Computes the scores of all candidates.
    pub fn score(&mut self) -> Result<()> {
        let Some(session) = self.session.as_mut().filter(|_| !self.candidates.is_empty()) else {
            return Ok(());
        };
        session.token_logits(&self.candidates, &mut self.scores)?;
        for (score, &(row, _)) in self.scores.iter_mut().zip(&self.candidates) {
            *score -= self.log_normalizers[row as usize].log_normalizer();
        }
        Ok(())
    }

    /// Returns the natural log-probabilities of the candidates of a row, in their order.
    pub fn scores(&self, row: usize) -> impl Iterator<Item = f32> {
        self.scores[self.row_ranges[row].clone()].iter().copied()
    }

    /// Returns the natural log-probability of a token among the candidates of a row.
    pub fn score_of(&self, row: usize, token: u32) -> f32 {
        let range = self.row_ranges[row].clone();
        let mut candidates = self.candidates[range.clone()].iter().zip(&self.scores[range]);
        let found = candidates.find(|((_, candidate), _)| *candidate == token);
        *found.expect("a candidate of the row").1
    }
}
