//! Session that can switch off optimisations of batches, and that ends each translation at a given
//! length.
//!
//! Sessions cannot switch off these optimisations: they compute live hypotheses only, and fuse
//! top-k with the output layer. So this session wraps another one, keeps finished rows, and
//! requests full rows of scores. Random models would not end translations at realistic lengths, so
//! each translation ends at the length of its reference.

use std::collections::HashMap;
use std::ops::Range;

use miriam_kernels::Cpu;
use miriam_kernels::topk::{ColumnIds, update_topk_from_scores};
use miriam_nmt::Result;
use miriam_nmt::network::{HypothesisRow, Session, Slot, TopK};
use serde::{Deserialize, Serialize};

use crate::machine::Clock;

/// The id of EOS of random models.
pub(super) const EOS_ID: u32 = 0;

/// The input token of finished hypotheses.
const PAD_TOKEN: Option<u32> = Some(1);

/// Optimisations that are switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ablation {
    /// Whether hypotheses of finished sentences are computed until their batch is done.
    pub keep_dead_rows: bool,
    /// Whether the scores of the output layer, the softmax and the top-k are separate passes.
    pub unfused_output: bool,
}

/// A step of a recorded search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The number of times that sentences have entered the batch: without top-up, the number of the
    /// batch from 1.
    pub fills: usize,
    /// The number of unfinished sentences.
    pub sentences: usize,
    /// The number of computed rows, finished ones included.
    pub rows: usize,
    /// The time of the network and of the output layer in seconds.
    pub seconds: f64,
}

/// A session that wraps another one, with ablations.
pub(super) struct AblatedSession<'a> {
    inner: &'a mut dyn Session,
    cpu: Cpu,
    ablation: Ablation,
    /// The length of the translation of a source, including EOS; `None` if the model generates EOS.
    target_lengths: Option<&'a HashMap<Vec<u32>, usize>>,
    /// The number of tokens until the translation of each slot ends, including EOS.
    tokens_left: Vec<usize>,
    /// Finished sentences that are still computed.
    dead: Vec<Slot>,
    /// Rows of the last step: live ones first, then finished ones.
    last_rows: Vec<HypothesisRow>,
    top_k: Vec<TopK>,
    scores: Vec<f32>,
    log_normalizers: Vec<f32>,
    /// The number of steps so far.
    pub steps: usize,
    /// The number of rows of all steps.
    pub rows: usize,
    /// The clock of recorded steps; `None` if they are not recorded.
    clock: Option<Clock>,
    /// The steps, if they are recorded. Until the top-k of the last step is found, its `seconds`
    /// hold the time at which it started.
    pub records: Vec<StepRecord>,
    fills: usize,
}

impl<'a> AblatedSession<'a> {
    pub(super) fn new(
        inner: &'a mut dyn Session,
        target_lengths: Option<&'a HashMap<Vec<u32>, usize>>,
        ablation: Ablation,
        clock: Option<Clock>,
    ) -> Self {
        AblatedSession {
            inner,
            cpu: Cpu::detect(),
            ablation,
            target_lengths,
            tokens_left: Vec::new(),
            dead: Vec::new(),
            last_rows: Vec::new(),
            top_k: Vec::new(),
            scores: Vec::new(),
            log_normalizers: Vec::new(),
            steps: 0,
            rows: 0,
            clock,
            records: Vec::new(),
            fills: 0,
        }
    }

    /// Drops finished sentences that are still computed.
    pub(super) fn drop_dead_sentences(&mut self) {
        for slot in self.dead.drain(..) {
            self.inner.finish(slot);
        }
    }

    /// Computes the log-softmax of full rows, and then top-k.
    fn top_k_unfused(&mut self) -> Result<()> {
        let rows = self.last_rows.len();
        self.inner.row_logits(0..rows, &mut self.scores, &mut self.log_normalizers)?;
        let columns = self.scores.len() / rows;
        let rows = self.scores.chunks_mut(columns).zip(&self.log_normalizers);
        for ((scores, log_normalizer), best) in rows.zip(&mut self.top_k) {
            scores.iter_mut().for_each(|score| *score -= log_normalizer);
            update_topk_from_scores(self.cpu, scores, ColumnIds::Consecutive(0), best);
        }
        Ok(())
    }
}

impl Session for AblatedSession<'_> {
    fn vocab_size(&self) -> usize {
        self.inner.vocab_size()
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        assert!(
            candidates.is_none() || !self.ablation.unfused_output,
            "separate passes have all scores"
        );
        // The finished sentences belong to the previous batch.
        self.drop_dead_sentences();
        self.fills += 1;
        let slots = self.inner.begin(sentences, candidates)?;
        for (words, slot) in sentences.iter().zip(&slots) {
            let slot = slot.0 as usize;
            self.tokens_left.resize(self.tokens_left.len().max(slot + 1), 0);
            self.tokens_left[slot] = self.target_lengths.map_or(usize::MAX, |all| all[*words]);
        }
        Ok(slots)
    }

    fn finish(&mut self, slot: Slot) {
        if self.ablation.keep_dead_rows { self.dead.push(slot) } else { self.inner.finish(slot) }
    }

    fn step(&mut self, rows: &[HypothesisRow]) -> Result<()> {
        let start = self.clock.map(Clock::seconds);
        let mut all = rows.to_vec();
        for &slot in &self.dead {
            let before = (0..).zip(&self.last_rows).filter(|(_, row)| row.slot == slot);
            all.extend(before.map(|(at, _)| HypothesisRow {
                slot,
                parent: Some(at),
                token: PAD_TOKEN,
            }));
        }
        let mut sentences = 0;
        for at in (0..rows.len()).filter(|at| *at == 0 || rows[*at].slot != rows[*at - 1].slot) {
            sentences += 1;
            let tokens_left = &mut self.tokens_left[rows[at].slot.0 as usize];
            *tokens_left = tokens_left.saturating_sub(1);
        }
        self.inner.step(&all)?;
        self.steps += 1;
        self.rows += all.len();
        if let Some(seconds) = start {
            let (fills, rows) = (self.fills, all.len());
            self.records.push(StepRecord { fills, sentences, rows, seconds });
        }
        self.last_rows = all;
        Ok(())
    }

    fn topk(&mut self, best: &mut [TopK]) -> Result<()> {
        let Some(first) = best.first() else { return Ok(()) };
        // Live and finished rows are computed in one GEMM, so the top-k of both have one buffer.
        self.top_k.resize(self.last_rows.len(), first.clone());
        self.top_k[best.len()..].fill(first.clone());
        self.top_k.iter_mut().zip(&mut *best).for_each(|(own, theirs)| std::mem::swap(own, theirs));
        self.top_k.iter_mut().for_each(TopK::clear);
        if self.ablation.unfused_output {
            self.top_k_unfused()?;
        } else {
            self.inner.topk(&mut self.top_k)?;
        }
        self.top_k.iter_mut().zip(&mut *best).for_each(|(own, theirs)| std::mem::swap(own, theirs));
        for (row, best) in self.last_rows.iter().zip(best) {
            if self.tokens_left[row.slot.0 as usize] == 0 {
                best.clear();
                update_topk_from_scores(self.cpu, &[0.0], ColumnIds::Shortlist(&[EOS_ID]), best);
            }
        }
        if let (Some(clock), Some(record)) = (self.clock, self.records.last_mut()) {
            record.seconds = clock.seconds() - record.seconds;
        }
        Ok(())
    }

    fn token_logits(&mut self, pairs: &[(u32, u32)], logits: &mut Vec<f32>) -> Result<()> {
        self.inner.token_logits(pairs, logits)
    }

    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()> {
        self.inner.row_logits(rows, logits, log_normalizers)
    }

    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>) -> Result<()> {
        self.inner.log_probabilities(row, scores)
    }

    fn keep_alignments(&mut self, keep: bool) {
        self.inner.keep_alignments(keep);
    }

    fn alignment(&self, row: u32) -> &[f32] {
        self.inner.alignment(row)
    }
}
