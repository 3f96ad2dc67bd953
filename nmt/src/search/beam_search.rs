//! Search over many sentences at once, each at its own step.
//!
//! A step asks the session for all living hypotheses of all sentences together and then
//! goes on with each sentence by itself, so that what comes out for one depends on no
//! other.

use super::beam_state::{BeamState, Scratch, StepStatus};
use super::logits_processor::{LogitsOptions, LogitsProcessor};
use super::{DecodingSemantics, Request, SearchOptions, Translation};
use crate::Result;
use crate::network::{HypothesisRow, Session, Slot};

/// Sentences under translation, by one set of options.
pub struct BeamSearch {
    options: SearchOptions,
    active: Vec<BeamState>,
    /// Sentences that are done, whose memory serves others.
    free_states: Vec<BeamState>,
    rows: Vec<HypothesisRow>,
    processor: LogitsProcessor,
    scratch: Scratch,
}

impl BeamSearch {
    /// No sentences yet. The target vocabulary has so many words.
    pub fn new(options: &SearchOptions, vocabulary_size: usize) -> Self {
        let greedy = options.beam_size <= 1 && options.sampling.is_none();
        let policy = LogitsOptions {
            raw_logits: options.skip_cost && greedy,
            renormalise: options.semantics == DecodingSemantics::CTranslate2,
            repetition_penalty: options.repetition_penalty,
        };
        BeamSearch {
            options: options.clone(),
            active: Vec::new(),
            free_states: Vec::new(),
            rows: Vec::new(),
            processor: LogitsProcessor::new(policy, &options.suppress_tokens, vocabulary_size),
            scratch: Scratch::default(),
        }
    }

    /// Sentences under translation.
    pub fn active_sentences(&self) -> usize {
        self.active.len()
    }

    /// Words of their sources.
    pub fn source_tokens(&self) -> usize {
        self.active.iter().map(BeamState::source_length).sum()
    }

    /// Gives up all sentences.
    pub fn cancel_all(&mut self, session: &mut dyn Session) {
        for sentence in self.active.drain(..) {
            session.finish(sentence.slot);
        }
    }

    /// Takes up a sentence that `session` has begun under `slot`. `id` is what
    /// [`step`](Self::step) calls it, and what its random numbers depend on.
    ///
    /// # Errors
    /// If it has too many constraints. The slot is not used then.
    pub fn add(&mut self, id: u64, slot: Slot, request: &Request) -> Result<()> {
        let mut sentence = self.free_states.pop().unwrap_or_default();
        sentence.start(id, slot, request, &self.options)?;
        self.active.push(sentence);
        Ok(())
    }

    /// One word more for every hypothesis. Sentences that are done by it go to `done`,
    /// best translation first, and their slots back to the session.
    ///
    /// # Errors
    /// What `session` or `done` gives.
    pub fn step(
        &mut self,
        session: &mut dyn Session,
        done: &mut dyn FnMut(u64, Result<Vec<Translation>>) -> Result<()>,
    ) -> Result<()> {
        let BeamSearch { options, active: living, rows, processor: offers, scratch, .. } = self;
        rows.clear();
        offers.clear();
        for sentence in living.iter() {
            sentence.plan_step(options, rows, offers, scratch);
        }
        session.step(rows)?;
        offers.process(session)?;
        let mut first = 0;
        let mut at = 0;
        while at < self.active.len() {
            let sentence = &mut self.active[at];
            let rows = first..first + sentence.row_count();
            first = rows.end;
            if self.options.needs_attention() {
                rows.clone().for_each(|row| sentence.push_attention(session.alignment(row as u32)));
            }
            let (offers, scratch) = (&self.processor, &mut self.scratch);
            match sentence.advance(&self.options, offers, rows.start, scratch) {
                Ok(StepStatus::Active) => {
                    at += 1;
                    continue;
                }
                Ok(StepStatus::Finished) => {
                    done(sentence.id, Ok(sentence.translations(&self.options)))?
                }
                Err(error) => done(sentence.id, Err(error))?,
            }
            // Its neighbours keep their order, which rows follow.
            let sentence = self.active.remove(at);
            session.finish(sentence.slot);
            self.free_states.push(sentence);
        }
        Ok(())
    }
}
