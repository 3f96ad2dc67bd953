//! A session that can switch off each optimisation of batches and that ends sentences at given
//! lengths.
//!
//! The engine computes live hypotheses only and fuses top-k with the output layer; it has no
//! switches for that. So this session over the same layers computes dead rows and full rows of
//! probabilities itself. Random models never generate EOS, or all at the same length: here a
//! sentence ends at the length of its reference.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::Cpu;
use miriam_kernels::activation::log_softmax;
use miriam_kernels::autotuner::Autotuner;
use miriam_kernels::topk::{ColumnIds, update_topk_from_scores};
use miriam_nmt::Result;
use miriam_nmt::engine::{Engine, PooledTensor};
use miriam_nmt::layer::{Backend, Epilogue, OutputColumns, OutputOps};
use miriam_nmt::network::{EncoderDecoder, HypothesisRow, Session, Slot, TopK};

/// The id of EOS.
pub(super) const EOS_ID: u32 = 0;

/// The input token of dead hypotheses.
const PAD_TOKEN: Option<u32> = Some(1);

/// The optimisations that are switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ablation {
    /// Hypotheses of sentences that have ended are computed until their batch is done.
    pub keep_dead_rows: bool,
    /// The GEMM of the output layer, the softmax and the top-k are separate passes.
    pub unfused_output: bool,
}

/// A session over the layers of a model, with ablations.
pub(super) struct AblatedSession<'a, F: EncoderDecoder<Engine>> {
    family: Arc<F>,
    engine: Engine,
    cpu: Cpu,
    ablation: Ablation,
    /// The length of the translation of a source, including EOS.
    target_lengths: &'a HashMap<Vec<u32>, usize>,
    vocabulary_size: usize,
    sentences: Vec<Option<AblatedSentence<F::EncodedSource>>>,
    /// Finished sentences that are still computed.
    dead: Vec<Slot>,
    state: F::State,
    /// Rows of the last step: first the live ones, then the dead ones.
    last_rows: Vec<HypothesisRow>,
    hidden: PooledTensor,
    top_k: Vec<TopK>,
    /// The number of steps so far.
    pub steps: usize,
    /// The number of rows of all steps.
    pub rows: usize,
}

struct AblatedSentence<S> {
    source: S,
    /// Tokens until the end, including EOS.
    tokens_left: usize,
}

impl<'a, F: EncoderDecoder<Engine>> AblatedSession<'a, F> {
    pub(super) fn new(
        family: &Arc<F>,
        tuner: &Arc<Autotuner>,
        vocabulary_size: usize,
        target_lengths: &'a HashMap<Vec<u32>, usize>,
        ablation: Ablation,
    ) -> Result<Self> {
        let cpu = Cpu::detect();
        let mut engine = Engine::with_tuner(cpu, Arc::clone(tuner));
        let (state, hidden) = (family.start_state(&mut engine)?, engine.zeros(0, 0)?);
        Ok(AblatedSession {
            family: Arc::clone(family),
            engine,
            cpu,
            ablation,
            target_lengths,
            vocabulary_size,
            sentences: Vec::new(),
            dead: Vec::new(),
            state,
            last_rows: Vec::new(),
            hidden,
            top_k: Vec::new(),
            steps: 0,
            rows: 0,
        })
    }

    /// Log-softmax of full rows, then top-k.
    fn top_k_unfused(&mut self) -> Result<()> {
        let output = self.family.output_weights();
        let mut scores = self.engine.affine(&self.hidden, output, Epilogue::default())?;
        log_softmax(self.cpu, scores.view_mut());
        for (row, best) in self.top_k.iter_mut().enumerate() {
            update_topk_from_scores(
                self.cpu,
                scores.view().row(row),
                ColumnIds::Consecutive(0),
                best,
            );
        }
        Ok(())
    }
}

impl<F: EncoderDecoder<Engine>> Session for AblatedSession<'_, F> {
    fn vocab_size(&self) -> usize {
        self.vocabulary_size
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        assert!(candidates.is_none(), "all words are candidates");
        // The previous batch is done.
        for slot in self.dead.drain(..) {
            self.sentences[slot.0 as usize] = None;
        }
        let sources = self.family.encode(&mut self.engine, sentences)?;
        let all = sentences.iter().zip(sources).map(|(words, source)| {
            let sentence =
                Some(AblatedSentence { source, tokens_left: self.target_lengths[*words] });
            let free = self.sentences.iter().position(Option::is_none);
            let slot = free.unwrap_or(self.sentences.len());
            match self.sentences.get_mut(slot) {
                Some(free) => *free = sentence,
                None => self.sentences.push(sentence),
            }
            Slot(slot as u32)
        });
        Ok(all.collect())
    }

    fn finish(&mut self, slot: Slot) {
        if self.ablation.keep_dead_rows {
            self.dead.push(slot)
        } else {
            self.sentences[slot.0 as usize] = None
        }
    }

    fn step(&mut self, rows: &[HypothesisRow]) -> Result<()> {
        let mut all = rows.to_vec();
        for &slot in &self.dead {
            let before = (0..).zip(&self.last_rows).filter(|(_, row)| row.slot == slot);
            all.extend(before.map(|(at, _)| HypothesisRow {
                slot,
                parent: Some(at),
                token: PAD_TOKEN,
            }));
        }
        for at in (0..rows.len()).filter(|at| *at == 0 || rows[*at].slot != rows[*at - 1].slot) {
            if let Some(sentence) = &mut self.sentences[rows[at].slot.0 as usize] {
                sentence.tokens_left = sentence.tokens_left.saturating_sub(1);
            }
        }
        let sources = all.iter().map(|row: &HypothesisRow| {
            &self.sentences[row.slot.0 as usize].as_ref().expect("begun").source
        });
        let sources: Vec<&F::EncodedSource> = sources.collect();
        self.hidden = self.family.step(&mut self.engine, &mut self.state, &all, &sources, None)?;
        self.steps += 1;
        self.rows += all.len();
        self.last_rows = all;
        Ok(())
    }

    fn topk(&mut self, best: &mut [TopK]) -> Result<()> {
        let Some(first) = best.first() else { return Ok(()) };
        // One GEMM for dead and live rows.
        self.top_k.resize(self.last_rows.len(), first.clone());
        self.top_k[best.len()..].fill(first.clone());
        self.top_k.iter_mut().zip(&mut *best).for_each(|(own, theirs)| std::mem::swap(own, theirs));
        self.top_k.iter_mut().for_each(TopK::clear);
        if self.ablation.unfused_output {
            self.top_k_unfused()?;
        } else {
            let (rows, output) = (0..self.last_rows.len(), self.family.output_weights());
            self.engine.topk(&self.hidden, rows, output, OutputColumns::All, &mut self.top_k)?;
        }
        self.top_k.iter_mut().zip(&mut *best).for_each(|(own, theirs)| std::mem::swap(own, theirs));
        for (row, best) in self.last_rows.iter().zip(best) {
            let sentence = self.sentences[row.slot.0 as usize].as_ref();
            if sentence.is_some_and(|sentence| sentence.tokens_left == 0) {
                best.clear();
                update_topk_from_scores(self.cpu, &[0.0], ColumnIds::Shortlist(&[EOS_ID]), best);
            }
        }
        Ok(())
    }

    fn token_logits(&mut self, pairs: &[(u32, u32)], logits: &mut Vec<f32>) -> Result<()> {
        logits.clear();
        logits.resize(pairs.len(), 0.0);
        self.engine.gather_logits(&self.hidden, pairs, self.family.output_weights(), logits)
    }

    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()> {
        let output = self.family.output_weights();
        self.engine.row_logits(&self.hidden, rows, output, logits, log_normalizers)
    }

    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>) -> Result<()> {
        let (row, mut log_normalizers) = (row as usize, Vec::new());
        self.row_logits(row..row + 1, scores, &mut log_normalizers)?;
        scores.iter_mut().for_each(|logit| *logit -= log_normalizers[0]);
        Ok(())
    }

    fn keep_alignments(&mut self, keep: bool) {
        assert!(!keep, "alignments are not kept");
    }

    fn alignment(&self, _: u32) -> &[f32] {
        panic!("alignments are not kept");
    }
}
