//! Many sentences through one session: which are translated together.
//!
//! Sentences are read some way ahead and sorted by length, as Marian does, and taken up
//! batch by batch. Only hypotheses that live are computed, so a batch shrinks while its
//! sentences end. With *top-up* (a draft of Hoang et al. 2018) others take the places of
//! those that have ended as soon as half the places are free; the encoder reads whole
//! batches ahead of them. What comes out for a sentence is the same in every batch.

mod request;
mod scheduler;

use std::collections::{BTreeMap, VecDeque};

use crate::Result;
use crate::search::{Request, Translation};

pub(crate) use request::complete_candidates;
pub use scheduler::translate_batches;

/// A sentence to translate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// What the caller knows it by. What is drawn at random depends on it.
    pub id: u64,
    /// The sentence.
    pub request: Request,
}

/// Gives sentences to translate and takes their translations.
pub trait JobSource {
    /// The next sentences; none at the end of the input. An empty list says that there are
    /// none for the moment: sentences under translation go on meanwhile.
    ///
    /// # Errors
    /// If the input cannot be read; ends the translation.
    fn next_jobs(&mut self) -> Result<Option<Vec<Job>>>;

    /// Takes the translations of a sentence, best first, as soon as they are found, or why
    /// it has none.
    ///
    /// # Errors
    /// If they cannot be handed on; ends the translation.
    fn finish(&mut self, id: u64, result: Result<Vec<Translation>>) -> Result<()>;
}

/// A list of jobs and the translations of those that are done, by id.
#[derive(Debug, Default)]
pub struct JobList {
    jobs: VecDeque<Job>,
    /// What became of each job.
    pub results: BTreeMap<u64, Result<Vec<Translation>>>,
}

impl JobList {
    /// Jobs to do, in that order.
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

/// Which sentences are translated together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchingOptions {
    /// Sentences at the same time, at most (Marian's `mini-batch`).
    pub max_sentences: usize,
    /// Words of their sources, at most, `</s>` counting; 0 is no limit. A sentence that is
    /// longer goes alone. (Marian's `mini-batch-words`, but sentences are not padded here.)
    pub max_source_tokens: usize,
    /// Batches that are read ahead and sorted (Marian's `maxi-batch`).
    pub maxi_batch: usize,
    /// Whether what was read ahead is sorted by length, longest first (Marian's
    /// `maxi-batch-sort`).
    pub sort_by_length: bool,
    /// Whether sentences join a running batch when half of its places are free.
    pub top_up: bool,
}

impl Default for BatchingOptions {
    /// One sentence after the other, as they come.
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
