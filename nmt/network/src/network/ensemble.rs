//! Ensembles: several models that vote on each token.

use std::ops::Range;

use miriam_kernels::Cpu;
use miriam_kernels::topk::{ColumnIds, update_topk_from_scores};

use super::network_session::scatter_scores;
use super::{HypothesisRow, Session, Slot, TopK};
use crate::{Error, Result};

/// The maximum number of rows whose scores are summed at once, in one pass over the weights of
/// every output layer.
const MAX_SUMMED_ROWS: usize = 64;

/// Sessions of several models as one: the score of a token is the sum of its log-probabilities,
/// each times the weight of its model. Attention comes from the first model.
pub struct Ensemble {
    members: Vec<EnsembleMember>,
    vocab_size: usize,
    cpu: Cpu,
    slots: Vec<EnsembleSlot>,
    free: Vec<Slot>,
    member_rows: Vec<HypothesisRow>,
    /// The sentence of each row of the step.
    row_slots: Vec<Slot>,
    /// Whether the log-normalisers of all rows of the step are known.
    has_log_normalizers: bool,
    /// The logits of one member.
    member_logits: Vec<f32>,
    log_normalizers: Vec<f32>,
    scores: Vec<f32>,
}

struct EnsembleMember {
    session: Box<dyn Session>,
    weight: f32,
    /// The log-normaliser of each row of the step, if it was needed.
    log_normalizers: Vec<f32>,
}

/// A sentence under translation; empty where the slot is free.
#[derive(Default)]
struct EnsembleSlot {
    /// Its slot in each member.
    member_slots: Vec<Slot>,
    candidates: Option<Vec<u32>>,
}

impl Ensemble {
    /// Joins `sessions`. Without weights the score is the mean of the models' scores; Marian's
    /// default, a weight of 1 for each, gives the sum.
    ///
    /// # Errors
    /// If there are no sessions, their vocabularies differ in size, there is not one weight for
    /// each, or a weight is not finite.
    pub fn new(sessions: Vec<Box<dyn Session>>, weights: Option<&[f32]>) -> Result<Self> {
        fn refuse(reason: String) -> Result<Ensemble, Error> {
            Err(Error::Ensemble { reason })
        }
        let Some(vocab_size) = sessions.first().map(|session| session.vocab_size()) else {
            return refuse("it has no models".into());
        };
        if let Some(other) = sessions.iter().find(|session| session.vocab_size() != vocab_size) {
            return refuse(format!(
                "the target vocabularies of its models differ in size: {vocab_size} and {}",
                other.vocab_size()
            ));
        }
        let equal = vec![1.0 / sessions.len() as f32; sessions.len()];
        let weights = weights.unwrap_or(&equal);
        if weights.len() != sessions.len() {
            let (models, weights) = (sessions.len(), weights.len());
            return refuse(format!("expected {models} weights, found {weights}"));
        }
        if let Some(weight) = weights.iter().find(|weight| !weight.is_finite()) {
            return refuse(format!("the weight {weight} is not a finite number"));
        }
        let members = sessions
            .into_iter()
            .zip(weights)
            .map(|(session, &weight)| EnsembleMember {
                session,
                weight,
                log_normalizers: Vec::new(),
            })
            .collect();
        Ok(Ensemble {
            members,
            vocab_size,
            cpu: Cpu::detect(),
            slots: Vec::new(),
            free: Vec::new(),
            member_rows: Vec::new(),
            row_slots: Vec::new(),
            has_log_normalizers: false,
            member_logits: Vec::new(),
            log_normalizers: Vec::new(),
            scores: Vec::new(),
        })
    }

    /// Returns the rows from `first` on that have the same candidates, at most
    /// [`MAX_SUMMED_ROWS`].
    fn rows_sharing_candidates(&self, first: usize) -> Range<usize> {
        let has_candidates = self.candidates(first).is_some();
        let rows = (first..self.row_slots.len()).take(MAX_SUMMED_ROWS);
        let sharing = rows.take_while(|&row| {
            if has_candidates {
                self.row_slots[row] == self.row_slots[first]
            } else {
                self.candidates(row).is_none()
            }
        });
        first..first + sharing.count()
    }

    fn candidates(&self, row: usize) -> Option<&[u32]> {
        self.slots[self.row_slots[row].0 as usize].candidates.as_deref()
    }

    /// Sums the scores of rows with the same candidates into `self.scores`.
    fn sum_scores(&mut self, rows: Range<usize>) -> Result<()> {
        self.scores.clear();
        for member in &mut self.members {
            let (logits, log_normalizers) = (&mut self.member_logits, &mut self.log_normalizers);
            member.session.row_logits(rows.clone(), logits, log_normalizers)?;
            member.log_normalizers[rows.clone()].copy_from_slice(log_normalizers);
            self.scores.resize(logits.len(), 0.0);
            let columns = (logits.len() / rows.len().max(1)).max(1);
            let each = self.scores.chunks_exact_mut(columns).zip(logits.chunks_exact(columns));
            for ((sums, logits), &log_normalizer) in each.zip(&*log_normalizers) {
                for (sum, &logit) in sums.iter_mut().zip(logits) {
                    *sum += weighted_log_prob(logit, log_normalizer, member.weight);
                }
            }
        }
        Ok(())
    }

    /// Makes sure that the log-normalisers of all rows of the step are known.
    fn ensure_log_normalizers(&mut self) -> Result<()> {
        if !self.has_log_normalizers {
            let mut best = vec![TopK::new(0, true); self.row_slots.len()];
            for member in &mut self.members {
                best.iter_mut().for_each(TopK::clear);
                member.session.topk(&mut best)?;
                let found = best.iter().map(TopK::log_normalizer);
                member.log_normalizers.iter_mut().zip(found).for_each(|(old, new)| *old = new);
            }
            self.has_log_normalizers = true;
        }
        Ok(())
    }
}

/// Returns the share of a model in the score of a token; -infinity if the model excludes the token,
/// whatever the weight.
fn weighted_log_prob(logit: f32, log_normalizer: f32, weight: f32) -> f32 {
    if logit == f32::NEG_INFINITY { logit } else { weight * (logit - log_normalizer) }
}

impl Session for Ensemble {
    fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    fn max_sentences(&self) -> usize {
        let limits = self.members.iter().map(|member| member.session.max_sentences());
        limits.min().unwrap_or(usize::MAX)
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        let mut begun: Vec<Vec<Slot>> = Vec::with_capacity(self.members.len());
        for at in 0..self.members.len() {
            match self.members[at].session.begin(sentences, candidates) {
                Ok(slots) => begun.push(slots),
                Err(error) => {
                    for (member, slots) in self.members.iter_mut().zip(begun) {
                        slots.into_iter().for_each(|slot| member.session.finish(slot));
                    }
                    return Err(error);
                }
            }
        }
        let new = (0..sentences.len()).map(|sentence| {
            let member_slots = begun.iter().map(|slots| slots[sentence]).collect();
            let candidates = candidates.map(|lists| lists[sentence].to_vec());
            let slot = self.free.pop().unwrap_or(Slot(self.slots.len() as u32));
            self.slots
                .resize_with(self.slots.len().max(slot.0 as usize + 1), EnsembleSlot::default);
            self.slots[slot.0 as usize] = EnsembleSlot { member_slots, candidates };
            slot
        });
        Ok(new.collect())
    }

    fn finish(&mut self, slot: Slot) {
        let EnsembleSlot { member_slots, .. } = std::mem::take(&mut self.slots[slot.0 as usize]);
        for (member, slot) in self.members.iter_mut().zip(member_slots) {
            member.session.finish(slot);
        }
        self.free.push(slot);
    }

    fn step(&mut self, rows: &[HypothesisRow]) -> Result<()> {
        for (at, member) in self.members.iter_mut().enumerate() {
            self.member_rows.clear();
            self.member_rows.extend(rows.iter().map(|row| HypothesisRow {
                slot: self.slots[row.slot.0 as usize].member_slots[at],
                ..*row
            }));
            member.session.step(&self.member_rows)?;
            member.log_normalizers.clear();
            member.log_normalizers.resize(rows.len(), 0.0);
        }
        self.row_slots.clear();
        self.row_slots.extend(rows.iter().map(|row| row.slot));
        self.has_log_normalizers = false;
        Ok(())
    }

    fn topk(&mut self, best: &mut [TopK]) -> Result<()> {
        assert_eq!(best.len(), self.row_slots.len(), "a `TopK` for each row");
        let mut first = 0;
        while first < best.len() {
            let rows = self.rows_sharing_candidates(first);
            first = rows.end;
            self.sum_scores(rows.clone())?;
            let ids =
                self.candidates(rows.start).map_or(ColumnIds::Consecutive(0), ColumnIds::Shortlist);
            let columns = (self.scores.len() / rows.len()).max(1);
            for (scores, best) in self.scores.chunks_exact(columns).zip(&mut best[rows]) {
                best.clear();
                update_topk_from_scores(self.cpu, scores, ids, best);
            }
        }
        self.has_log_normalizers = true;
        Ok(())
    }

    fn token_logits(&mut self, pairs: &[(u32, u32)], logits: &mut Vec<f32>) -> Result<()> {
        self.ensure_log_normalizers()?;
        logits.clear();
        logits.resize(pairs.len(), 0.0);
        for member in &mut self.members {
            member.session.token_logits(pairs, &mut self.member_logits)?;
            for ((sum, &logit), &(row, _)) in logits.iter_mut().zip(&self.member_logits).zip(pairs)
            {
                let log_normalizer = member.log_normalizers[row as usize];
                *sum += weighted_log_prob(logit, log_normalizer, member.weight);
            }
        }
        Ok(())
    }

    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()> {
        self.sum_scores(rows.clone())?;
        logits.clone_from(&self.scores);
        // Sums of log-probabilities need no normaliser.
        log_normalizers.clear();
        log_normalizers.resize(rows.len(), 0.0);
        Ok(())
    }

    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>) -> Result<()> {
        let row = row as usize;
        self.sum_scores(row..row + 1)?;
        scores.clone_from(&self.scores);
        if let Some(candidates) = self.candidates(row) {
            scatter_scores(candidates, self.vocab_size, scores);
        }
        Ok(())
    }

    fn keep_alignments(&mut self, keep: bool) {
        let first = self.members.first_mut();
        first.into_iter().for_each(|member| member.session.keep_alignments(keep));
    }

    fn alignment(&self, row: u32) -> &[f32] {
        self.members[0].session.alignment(row)
    }
}
