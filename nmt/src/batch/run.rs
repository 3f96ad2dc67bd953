//! The loop: read, encode, take up, step.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::request::{complete, empty, is_empty};
use super::{Batching, Job};
use crate::Result;
use crate::network::{Session, Slot};
use crate::search::{Search, SearchOptions, Translation};

type Done<'a> = &'a mut dyn FnMut(u64, Result<Vec<Translation>>) -> Result<()>;
type Next<'a> = &'a mut dyn FnMut() -> Result<Option<Vec<Job>>>;

/// Translates what `next` gives until it gives none: it is asked for more whenever there
/// is room. An empty list says that there is nothing for the moment; sentences under way
/// go on meanwhile. `done` gets the translations of each sentence, best first, as soon as
/// they are there, or why it has none.
///
/// # Errors
/// What `next` or `done` gives; then sentences under way are given up.
pub fn run(
    session: &mut dyn Session,
    options: &SearchOptions,
    batching: &Batching,
    next: Next<'_>,
    done: Done<'_>,
) -> Result<()> {
    session.keep_alignments(options.keeps_attention());
    let search = Search::new(options, session.words());
    let mut run = Run {
        session,
        options,
        batching,
        search,
        read: VecDeque::new(),
        ready: VecDeque::new(),
        over: false,
    };
    let result = run.all(next, done);
    run.search.abandon(run.session);
    run.ready.iter().for_each(|(_, slot)| run.session.finish(*slot));
    result
}

struct Run<'a> {
    session: &'a mut dyn Session,
    options: &'a SearchOptions,
    batching: &'a Batching,
    search: Search,
    /// Read ahead, in the order in which they will be encoded.
    read: VecDeque<Job>,
    /// Encoded.
    ready: VecDeque<(Job, Slot)>,
    /// Whether all of the input was read.
    over: bool,
}

impl Run<'_> {
    fn all(&mut self, next: Next<'_>, done: Done<'_>) -> Result<()> {
        loop {
            let places = self.batching.sentences.max(1);
            let free = places.saturating_sub(self.search.living());
            if self.search.living() == 0 || self.batching.top_up && 2 * free >= places {
                self.fill(places, next, done)?;
            }
            if self.search.living() > 0 {
                self.search.step(self.session, done)?;
            } else if self.over && self.read.is_empty() && self.ready.is_empty() {
                return Ok(());
            }
        }
    }

    /// Takes up sentences until the places are full.
    fn fill(&mut self, places: usize, next: Next<'_>, done: Done<'_>) -> Result<()> {
        while self.search.living() < places {
            if self.ready.is_empty() && !self.encode(places, next, done)? {
                return Ok(());
            }
            let Some((job, _)) = self.ready.front() else { continue };
            let words = self.search.source_words() + job.request.source.len();
            if !self.fits(self.search.living(), words) {
                return Ok(());
            }
            let Some((job, slot)) = self.ready.pop_front() else { return Ok(()) };
            if let Err(error) = self.search.add(job.id, slot, &job.request) {
                self.session.finish(slot);
                done(job.id, Err(error))?;
            }
        }
        Ok(())
    }

    /// Whether one sentence may join `others` if they have so many `words` together.
    fn fits(&self, others: usize, words: usize) -> bool {
        others == 0 || self.batching.words == 0 || words <= self.batching.words
    }

    /// Reads some batches, sorted by themselves: what is left of those before stays ahead.
    fn read_ahead(&mut self, places: usize, next: Next<'_>) -> Result<()> {
        let before = self.read.len();
        let wanted = places.saturating_mul(self.batching.read_ahead.max(1));
        while !self.over && self.read.len() < wanted {
            match next()? {
                Some(jobs) if jobs.is_empty() => break,
                Some(jobs) => {
                    self.read.extend(jobs);
                    // What comes may be more than one batch of so many words, and other
                    // threads want some of it.
                    if self.batching.words > 0 && self.batching.read_ahead <= 1 {
                        break;
                    }
                }
                None => self.over = true,
            }
        }
        if self.batching.sort {
            let length = |job: &Job| Reverse(job.request.source.len());
            self.read.make_contiguous()[before..].sort_by_key(length);
        }
        Ok(())
    }

    /// Encodes the next batch; false if there is none.
    fn encode(&mut self, places: usize, next: Next<'_>, done: Done<'_>) -> Result<bool> {
        let mut batch: Vec<Job> = Vec::new();
        let mut words = 0;
        let mut any = false;
        while batch.len() < places {
            if self.read.is_empty() {
                self.read_ahead(places, next)?;
            }
            let Some(mut job) = self.read.pop_front() else { break };
            words += job.request.source.len();
            if !self.fits(batch.len(), words) {
                self.read.push_front(job);
                break;
            }
            any = true;
            if is_empty(&job.request) {
                done(job.id, Ok(vec![empty(&job.request, self.options)]))?;
                continue;
            }
            match complete(&mut job.request, self.options, self.session.words()) {
                Ok(()) => batch.push(job),
                Err(error) => done(job.id, Err(error))?,
            }
        }
        // Sentences with candidates of their own and sentences without do not mix.
        let (some, none): (Vec<_>, Vec<_>) =
            batch.into_iter().partition(|job| job.request.candidates.is_some());
        for group in [some, none] {
            self.begin(group, done)?;
        }
        Ok(any)
    }

    /// Encodes sentences together; where that fails, each by itself, to see which it is.
    fn begin(&mut self, jobs: Vec<Job>, done: Done<'_>) -> Result<()> {
        if jobs.is_empty() {
            return Ok(());
        }
        let sources: Vec<&[u32]> = jobs.iter().map(|job| &job.request.source[..]).collect();
        let lists = jobs.iter().map(|job| job.request.candidates.as_deref());
        let lists: Option<Vec<&[u32]>> = lists.collect();
        match self.session.begin(&sources, lists.as_deref()) {
            Ok(slots) => self.ready.extend(jobs.into_iter().zip(slots)),
            Err(error) if jobs.len() == 1 => done(jobs[0].id, Err(error))?,
            Err(_) => {
                for job in jobs {
                    self.begin(vec![job], done)?;
                }
            }
        }
        Ok(())
    }
}
