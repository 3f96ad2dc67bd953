//! Beam search over many sentences at once, each at its own step.
//!
//! A step runs the model on all live hypotheses of all sentences together and then advances
//! each sentence alone. So the translations of a sentence do not depend on other sentences.

use super::beam_state::{BeamState, Scratch, StepStatus};
use super::fusion::FusionScorer;
use super::logits_processor::{LogitsOptions, LogitsProcessor};
use super::{DecodingSemantics, Request, SearchEvents, SearchOptions};
use crate::Result;
use miriam_nmt_network::network::{HypothesisRow, Session, Slot};

/// The active sentences of a beam search with one set of options.
pub struct BeamSearch {
    options: SearchOptions,
    active: Vec<BeamState>,
    /// States of finished sentences, whose memory is reused.
    free_states: Vec<BeamState>,
    rows: Vec<HypothesisRow>,
    processor: LogitsProcessor,
    fusion_scorer: FusionScorer,
    fused_scores: Vec<f32>,
    scratch: Scratch,
}

impl BeamSearch {
    /// Creates a search without sentences, for a target vocabulary of `vocabulary_size` tokens.
    pub fn new(options: &SearchOptions, vocabulary_size: usize) -> Self {
        let greedy = options.beam_size <= 1 && options.sampling.is_none();
        let policy = LogitsOptions {
            raw_logits: options.skip_cost && greedy,
            renormalize: options.semantics == DecodingSemantics::CTranslate2,
            repetition_penalty: options.repetition_penalty,
        };
        BeamSearch {
            options: options.clone(),
            active: Vec::new(),
            free_states: Vec::new(),
            rows: Vec::new(),
            processor: LogitsProcessor::new(policy, &options.suppress_tokens, vocabulary_size),
            fusion_scorer: FusionScorer::default(),
            fused_scores: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Returns the number of active sentences.
    pub fn active_sentences(&self) -> usize {
        self.active.len()
    }

    /// Returns the number of source tokens of active sentences.
    pub fn source_tokens(&self) -> usize {
        self.active.iter().map(BeamState::source_length).sum()
    }

    /// Drops all active sentences and their slots.
    pub fn cancel_all(&mut self, session: &mut dyn Session) {
        for sentence in self.active.drain(..) {
            session.finish(sentence.slot);
            self.fusion_scorer.finish(sentence.slot);
        }
    }

    /// Drops the active sentences that `is_wanted` rejects, and their slots.
    pub fn retain(&mut self, session: &mut dyn Session, mut is_wanted: impl FnMut(u64) -> bool) {
        let mut at = 0;
        while at < self.active.len() {
            if is_wanted(self.active[at].id) {
                at += 1;
                continue;
            }
            let sentence = self.active.remove(at);
            session.finish(sentence.slot);
            self.fusion_scorer.finish(sentence.slot);
            self.free_states.push(sentence);
        }
    }

    /// Adds a sentence that the session has begun as `slot`. [`step`](Self::step) reports it
    /// under `id`.
    ///
    /// # Errors
    /// If it has too many constraints, or if the neural language model of the fusion fails. The
    /// caller keeps the slot then.
    pub fn add(&mut self, id: u64, slot: Slot, request: &Request) -> Result<()> {
        let mut sentence = self.free_states.pop().unwrap_or_default();
        sentence.start(id, slot, request, &self.options)?;
        if let Some(fusion) = &self.options.fusion {
            self.fusion_scorer.begin(fusion, slot)?;
        }
        self.active.push(sentence);
        Ok(())
    }

    /// Extends every hypothesis by one token. The translations of finished sentences, best
    /// first, go to `events`, and their slots back to the session.
    ///
    /// # Errors
    /// Those of `session`, of a neural language model in the search, and of `events`.
    pub fn step(&mut self, session: &mut dyn Session, events: &mut dyn SearchEvents) -> Result<()> {
        let BeamSearch { options, active, rows, processor, scratch, .. } = self;
        rows.clear();
        processor.clear();
        for sentence in active.iter() {
            sentence.plan_step(options, rows, processor, scratch);
        }
        session.step(rows)?;
        processor.process(session)?;
        if let Some(fusion) = &options.fusion {
            let (scorer, scores) = (&mut self.fusion_scorer, &mut self.fused_scores);
            scorer.begin_step(rows)?;
            let mut first = 0;
            for sentence in active.iter() {
                sentence.add_candidates(options, fusion, processor, first, scorer);
                first += sentence.row_count();
            }
            scorer.score_rows()?;
            for row in 0..rows.len() {
                scorer.weighted(row, fusion, scores);
                processor.fuse(row, scores.iter().copied());
            }
        }
        let mut first = 0;
        let mut at = 0;
        while at < self.active.len() {
            let sentence = &mut self.active[at];
            let rows = first..first + sentence.row_count();
            first = rows.end;
            if self.options.needs_attention() {
                rows.clone().for_each(|row| sentence.push_attention(session.alignment(row as u32)));
            }
            let (processor, scorer) = (&self.processor, &self.fusion_scorer);
            let scratch = &mut self.scratch;
            match sentence.advance(&self.options, processor, scorer, rows.start, scratch, events) {
                Ok(StepStatus::Active) => {
                    at += 1;
                    continue;
                }
                Ok(StepStatus::Finished) => {
                    events.finish(sentence.id, Ok(sentence.translations(&self.options)))?
                }
                Err(error) => events.finish(sentence.id, Err(error))?,
            }
            // `remove` keeps the other sentences in the order of their rows.
            let sentence = self.active.remove(at);
            session.finish(sentence.slot);
            self.fusion_scorer.finish(sentence.slot);
            self.free_states.push(sentence);
        }
        Ok(())
    }
}
