//! The loop of batched translation: reads and encodes sentences, admits them to the search, and
//! computes its steps.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::request::{empty_translation, validate_and_complete};
use super::{BatchingOptions, Job, JobSource};
use crate::Result;
use crate::search::{BeamSearch, GeneratedToken, SearchEvents, SearchOptions, Translation};
use miriam_nmt_network::network::{Session, Slot};

/// Translates the jobs of `source` until its input ends. Sentences join the batch when it is empty
/// or, with [`BatchingOptions::top_up`], when half of its places are free.
///
/// # Errors
/// Those of `session`, of a neural language model in the search, and of `source`. All unfinished
/// sentences are dropped then.
pub fn translate_batches(
    session: &mut dyn Session,
    options: &SearchOptions,
    batching: &BatchingOptions,
    source: &mut dyn JobSource,
) -> Result<()> {
    session.keep_alignments(options.needs_attention());
    let search = BeamSearch::new(options, session.vocab_size());
    let mut scheduler = BatchScheduler {
        session,
        options,
        batching,
        search,
        pending: VecDeque::new(),
        encoded: VecDeque::new(),
        input_ended: false,
    };
    let result = scheduler.run(source);
    scheduler.search.cancel_all(scheduler.session);
    scheduler.encoded.iter().for_each(|(_, slot)| scheduler.session.finish(*slot));
    result
}

/// Passes the results of the search to the source of the sentences.
struct SourceEvents<'a>(&'a mut dyn JobSource);

impl SearchEvents for SourceEvents<'_> {
    fn token(&mut self, id: u64, token: GeneratedToken) -> bool {
        self.0.token(id, token)
    }

    fn finish(&mut self, id: u64, result: Result<Vec<Translation>>) -> Result<()> {
        self.0.finish(id, result)
    }
}

struct BatchScheduler<'a> {
    session: &'a mut dyn Session,
    options: &'a SearchOptions,
    batching: &'a BatchingOptions,
    search: BeamSearch,
    /// Jobs read ahead, in the order in which they will be encoded.
    pending: VecDeque<Job>,
    /// Sentences that are encoded and not yet admitted to the search.
    encoded: VecDeque<(Job, Slot)>,
    /// Whether the source has no more jobs.
    input_ended: bool,
}

impl BatchScheduler<'_> {
    fn run(&mut self, source: &mut dyn JobSource) -> Result<()> {
        loop {
            self.search.retain(self.session, |id| source.is_wanted(id));
            let places = self.batching.max_sentences.min(self.session.max_sentences()).max(1);
            let free = places.saturating_sub(self.search.active_sentences());
            if self.search.active_sentences() == 0 || self.batching.top_up && 2 * free >= places {
                self.admit_sentences(places, source)?;
            }
            if self.search.active_sentences() > 0 {
                self.search.step(self.session, &mut SourceEvents(source))?;
            } else if self.input_ended && self.pending.is_empty() && self.encoded.is_empty() {
                return Ok(());
            }
        }
    }

    /// Admits sentences to the search until the batch is full or no sentence is available. The
    /// batch has `places` for sentences.
    fn admit_sentences(&mut self, places: usize, source: &mut dyn JobSource) -> Result<()> {
        while self.search.active_sentences() < places {
            if self.encoded.is_empty() && !self.encode_batch(places, source)? {
                return Ok(());
            }
            let Some((job, _)) = self.encoded.front() else { continue };
            let tokens = self.search.source_tokens() + job.request.source.len();
            if !self.batching.limits().allow(self.search.active_sentences() + 1, tokens) {
                return Ok(());
            }
            let Some((job, slot)) = self.encoded.pop_front() else { return Ok(()) };
            if !source.is_wanted(job.id) {
                self.session.finish(slot);
                continue;
            }
            if let Err(error) = self.search.add(job.id, slot, &job.request) {
                self.session.finish(slot);
                source.finish(job.id, Err(error))?;
            }
        }
        Ok(())
    }

    /// Reads the next batches when no job is pending, and sorts their jobs if the options say so.
    fn read_ahead(&mut self, places: usize, source: &mut dyn JobSource) -> Result<()> {
        let wanted = places.saturating_mul(self.batching.maxi_batch.max(1));
        while !self.input_ended && self.pending.len() < wanted {
            match source.next_jobs()? {
                Some(jobs) if jobs.is_empty() => break,
                Some(jobs) => {
                    self.pending.extend(jobs);
                    // The jobs may already fill more than one batch of `max_source_tokens`, and
                    // other threads need input too.
                    if self.batching.max_source_tokens > 0 && self.batching.maxi_batch <= 1 {
                        break;
                    }
                }
                None => self.input_ended = true,
            }
        }
        if self.batching.sort_by_length {
            self.pending.make_contiguous().sort_by_key(|job| Reverse(job.request.source.len()));
        }
        Ok(())
    }

    /// Encodes the next batch. Returns false if no job was available. A batch may be empty: jobs
    /// that are unwanted, empty or invalid end without being encoded.
    fn encode_batch(&mut self, places: usize, source: &mut dyn JobSource) -> Result<bool> {
        let mut batch: Vec<Job> = Vec::new();
        let mut tokens = 0;
        let mut took_jobs = false;
        while batch.len() < places {
            if self.pending.is_empty() {
                self.read_ahead(places, source)?;
            }
            let Some(mut job) = self.pending.pop_front() else { break };
            if !source.is_wanted(job.id) {
                took_jobs = true;
                continue;
            }
            tokens += job.request.source.len();
            if !self.batching.limits().allow(batch.len() + 1, tokens) {
                self.pending.push_front(job);
                break;
            }
            took_jobs = true;
            if job.request.source.is_empty() {
                source.finish(job.id, Ok(vec![empty_translation()]))?;
                continue;
            }
            match validate_and_complete(&mut job.request, self.options, self.session.vocab_size()) {
                Ok(()) => batch.push(job),
                Err(error) => source.finish(job.id, Err(error))?,
            }
        }
        // Sentences with and without candidates are encoded separately.
        let (with_candidates, without): (Vec<_>, Vec<_>) =
            batch.into_iter().partition(|job| job.request.candidates.is_some());
        for group in [with_candidates, without] {
            self.begin_sentences(group, source)?;
        }
        Ok(took_jobs)
    }

    /// Encodes sentences together, all with candidates or all without. If that fails, encodes each
    /// alone, so that only those that fail alone get an error.
    fn begin_sentences(&mut self, jobs: Vec<Job>, source: &mut dyn JobSource) -> Result<()> {
        if jobs.is_empty() {
            return Ok(());
        }
        let sources: Vec<&[u32]> = jobs.iter().map(|job| &job.request.source[..]).collect();
        let candidates: Option<Vec<&[u32]>> =
            jobs.iter().map(|job| job.request.candidates.as_deref()).collect();
        match self.session.begin(&sources, candidates.as_deref()) {
            Ok(slots) => self.encoded.extend(jobs.into_iter().zip(slots)),
            Err(error) if jobs.len() == 1 => source.finish(jobs[0].id, Err(error))?,
            Err(_) => {
                for job in jobs {
                    self.begin_sentences(vec![job], source)?;
                }
            }
        }
        Ok(())
    }
}
