//! Search over many sentences at once, each at its own step.
//!
//! A step asks the session for all living hypotheses of all sentences together and then
//! goes on with each sentence by itself, so that what comes out for one depends on no
//! other.

use super::offer::{Offers, Policy};
use super::sentence::{Outcome, Scratch, Sentence};
use super::{Request, Rules, SearchOptions, Translation};
use crate::Result;
use crate::network::{Row, Session, Slot};

/// Sentences under translation, by one set of options.
pub struct Search {
    options: SearchOptions,
    living: Vec<Sentence>,
    /// Sentences that are done, whose memory serves others.
    spare: Vec<Sentence>,
    rows: Vec<Row>,
    offers: Offers,
    scratch: Scratch,
}

impl Search {
    /// No sentences yet. The target vocabulary has so many words.
    pub fn new(options: &SearchOptions, words: usize) -> Self {
        let greedy = options.beam <= 1 && options.sampling.is_none();
        let policy = Policy {
            raw: options.skip_cost && greedy,
            renormalise: options.rules == Rules::CTranslate2,
            repetition_penalty: options.repetition_penalty,
        };
        Search {
            options: options.clone(),
            living: Vec::new(),
            spare: Vec::new(),
            rows: Vec::new(),
            offers: Offers::new(policy, &options.never, words),
            scratch: Scratch::default(),
        }
    }

    /// Sentences under translation.
    pub fn living(&self) -> usize {
        self.living.len()
    }

    /// Words of their sources.
    pub fn source_words(&self) -> usize {
        self.living.iter().map(Sentence::source_words).sum()
    }

    /// Gives up all sentences.
    pub fn abandon(&mut self, session: &mut dyn Session) {
        for sentence in self.living.drain(..) {
            session.finish(sentence.slot);
        }
    }

    /// Takes up a sentence that `session` has begun under `slot`. `id` is what
    /// [`step`](Self::step) calls it, and what its random numbers depend on.
    ///
    /// # Errors
    /// If it has too many constraints. The slot is not used then.
    pub fn add(&mut self, id: u64, slot: Slot, request: &Request) -> Result<()> {
        let mut sentence = self.spare.pop().unwrap_or_default();
        sentence.start(id, slot, request, &self.options)?;
        self.living.push(sentence);
        Ok(())
    }

    /// One word more for every hypothesis. Sentences that are done by it go to `done`,
    /// best translation first, and their slots back to the session.
    ///
    /// # Errors
    /// What `done` gives.
    pub fn step(
        &mut self,
        session: &mut dyn Session,
        done: &mut dyn FnMut(u64, Result<Vec<Translation>>) -> Result<()>,
    ) -> Result<()> {
        let Search { options, living, rows, offers, scratch, .. } = self;
        rows.clear();
        offers.clear();
        for sentence in living.iter() {
            sentence.plan(options, rows, offers, scratch);
        }
        session.step(rows);
        offers.ask(session);
        let mut first = 0;
        let mut at = 0;
        while at < self.living.len() {
            let sentence = &mut self.living[at];
            let rows = first..first + sentence.rows();
            first = rows.end;
            if self.options.keeps_attention() {
                rows.clone().for_each(|row| sentence.attend(session.alignment(row as u32)));
            }
            let (offers, scratch) = (&self.offers, &mut self.scratch);
            match sentence.advance(&self.options, offers, rows.start, scratch) {
                Ok(Outcome::Living) => {
                    at += 1;
                    continue;
                }
                Ok(Outcome::Done) => done(sentence.id, Ok(sentence.translations(&self.options)))?,
                Err(error) => done(sentence.id, Err(error))?,
            }
            // Its neighbours keep their order, which rows follow.
            let sentence = self.living.remove(at);
            session.finish(sentence.slot);
            self.spare.push(sentence);
        }
        Ok(())
    }
}
