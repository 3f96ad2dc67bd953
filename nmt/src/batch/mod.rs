//! Batching: the choice of sentences that are translated together in one session.
//!
//! Sentences are read ahead, sorted by length, as in Marian, and admitted to the search batch by
//! batch. Only live hypotheses are computed, so a batch shrinks as its sentences end. With *top-up*
//! (from the draft of Hoang et al. 2018), new sentences replace finished ones as soon as half of
//! the batch's places are free; they are encoded in whole batches before. The translation of a
//! sentence does not depend on the batch.

mod limits;
mod request;
mod scheduler;

use std::collections::{BTreeMap, VecDeque};

use crate::Result;
use crate::search::{GeneratedToken, Request, Translation};

pub use limits::BatchLimits;
pub(crate) use request::complete_candidates;
pub use scheduler::translate_batches;

/// A sentence to translate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// The caller's id of the sentence.
    pub id: u64,
    /// The sentence.
    pub request: Request,
}

/// Provides sentences to translate and takes their translations.
pub trait JobSource {
    /// Returns the next sentences; `None` at the end of the input. An empty list means that no
    /// input is available yet; active sentences continue meanwhile. If there are none, the next
    /// call follows at once.
    ///
    /// # Errors
    /// If the input cannot be read, which ends the translation.
    fn next_jobs(&mut self) -> Result<Option<Vec<Job>>>;

    /// Whether the translation of sentence `id` is still wanted; called before the sentence is
    /// encoded and admitted, and at every step of the search. An unwanted sentence is dropped at
    /// once, without a call of [`finish`](JobSource::finish).
    fn is_wanted(&mut self, id: u64) -> bool {
        let _ = id;
        true
    }

    /// Takes a token of sentence `id`, and returns whether its translation must end; see
    /// [`SearchEvents::token`](crate::search::SearchEvents).
    fn token(&mut self, id: u64, token: GeneratedToken) -> bool {
        let _ = (id, token);
        false
    }

    /// Takes the translations of a sentence, best first, as soon as they are found, or the reason
    /// why it has none.
    ///
    /// # Errors
    /// If they cannot be passed on, which ends the translation.
    fn finish(&mut self, id: u64, result: Result<Vec<Translation>>) -> Result<()>;
}

/// A list of jobs, which collects the results of the finished ones by id.
#[derive(Debug, Default)]
pub struct JobList {
    jobs: VecDeque<Job>,
    /// The result of each finished job.
    pub results: BTreeMap<u64, Result<Vec<Translation>>>,
}

impl JobList {
    /// Creates a list of `jobs`, which are translated in this order.
    pub fn new(jobs: impl IntoIterator<Item = Job>) -> Self {
        JobList { jobs: jobs.into_iter().collect(), results: BTreeMap::new() }
    }
}

impl JobSource for JobList {
    fn next_jobs(&mut self) -> Result<Option<Vec<Job>>> {
        Ok(Some(self.jobs.drain(..).collect::<Vec<_>>()).filter(|jobs| !jobs.is_empty()))
    }

    fn finish(&mut self, id: u64, result: Result<Vec<Translation>>) -> Result<()> {
        self.results.insert(id, result);
        Ok(())
    }
}

/// Options of batching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchingOptions {
    /// The maximum number of sentences of a batch (Marian's `mini-batch`).
    pub max_sentences: usize,
    /// The maximum number of source tokens of a batch, including `</s>`; 0 means no limit. A longer
    /// sentence is a batch of its own. (Marian's `mini-batch-words`, but without padding.)
    pub max_source_tokens: usize,
    /// The number of batches that are read ahead and sorted (Marian's `maxi-batch`).
    pub maxi_batch: usize,
    /// Whether sentences read ahead are sorted by length, longest first (Marian's
    /// `maxi-batch-sort`).
    pub sort_by_length: bool,
    /// Whether sentences join a running batch when half of its places are free.
    pub top_up: bool,
}

impl Default for BatchingOptions {
    /// Returns options that translate one sentence at a time, in input order.
    fn default() -> Self {
        BatchingOptions {
            max_sentences: 1,
            max_source_tokens: 0,
            maxi_batch: 1,
            sort_by_length: false,
            top_up: false,
        }
    }
}

impl BatchingOptions {
    /// Creates options for sentences from a queue, which has already read ahead and sorted them.
    /// They join a running batch when half of its places are free.
    pub fn from_queue(limits: BatchLimits) -> Self {
        BatchingOptions {
            max_sentences: limits.max_sentences,
            max_source_tokens: limits.max_tokens,
            maxi_batch: 1,
            sort_by_length: false,
            top_up: true,
        }
    }

    fn limits(&self) -> BatchLimits {
        BatchLimits { max_sentences: self.max_sentences, max_tokens: self.max_source_tokens }
    }
}
