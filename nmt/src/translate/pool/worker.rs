//! Worker thread: takes batches from the queue and translates them in a session that it keeps.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::active_job::{ActiveJob, TranslationCall};
use super::work_queue::{ActiveBatch, WorkQueue};
use super::{CandidateSource, Pending, PoolError, ScoreRequest, TranslationTask, alternatives};
use crate::Result;
use crate::batch::{BatchingOptions, Job, JobSource, translate_batches};
use crate::search::{GeneratedToken, Request, Translation};
use crate::translate::Scorer;
use crate::translate::Translator;
use miriam_nmt_models::ShortlistGenerator;
use miriam_nmt_network::network::{ForcedScores, Session, Target};

/// The failure of a batch during which the worker panicked.
const PANICKED: &str = "the worker panicked; this is a bug in the program";

/// A batch of sentences to translate, or of translations to score.
pub(super) enum Work {
    Translate {
        call: Arc<TranslationCall>,
        jobs: Vec<(usize, Request)>,
        active: Arc<ActiveBatch>,
    },
    Score {
        pending: Arc<Pending<ForcedScores>>,
        jobs: Vec<(usize, ScoreRequest)>,
        active: Arc<ActiveBatch>,
    },
}

/// The session and the scorer of a thread, created when they are needed.
#[derive(Default)]
struct Memory {
    session: Option<Box<dyn Session>>,
    scorer: Option<Scorer>,
}

/// Processes batches until the queue is closed and empty.
pub(super) fn run(translator: &Translator, queue: &WorkQueue<Work>) {
    let mut memory = Memory::default();
    while let Some(work) = queue.pop() {
        let outcome = catch_unwind(AssertUnwindSafe(|| match work {
            Work::Translate { call, jobs, active } => {
                translate(translator, queue, &mut memory, call, jobs, active);
            }
            Work::Score { pending, jobs, active } => {
                score(translator, &mut memory, &pending, &jobs, active);
            }
        }));
        if outcome.is_err() {
            // After a panic, the state of the session cannot be used again.
            memory = Memory::default();
        }
    }
}

fn translate(
    translator: &Translator,
    queue: &WorkQueue<Work>,
    memory: &mut Memory,
    call: Arc<TranslationCall>,
    jobs: Vec<(usize, Request)>,
    active: Arc<ActiveBatch>,
) {
    let mut source = QueuedJobs {
        translator,
        queue,
        first: Some((Arc::clone(&call), jobs, active)),
        call,
        active: HashMap::new(),
        next_id: 0,
        failure: PANICKED.into(),
    };
    let session = match &mut memory.session {
        Some(session) => session,
        empty => match translator.models.session() {
            Ok(session) => empty.insert(session),
            Err(error) => {
                source.failure = error.to_string();
                source.start_first();
                return;
            }
        },
    };
    let task = &source.call.task;
    if task.alternatives.is_some() {
        let task = task.clone();
        source.start_first();
        let jobs = source.take_active();
        alternatives::translate(session.as_mut(), &task, jobs);
        return;
    }
    let (search, batching) = (task.search.clone(), BatchingOptions::from_queue(task.limits));
    if let Err(error) = translate_batches(session.as_mut(), &search, &batching, &mut source) {
        source.failure = error.to_string();
    }
}

/// A batch whose jobs are not active yet.
type WaitingBatch = (Arc<TranslationCall>, Vec<(usize, Request)>, Arc<ActiveBatch>);

/// The batches of a queue as the jobs of a search.
struct QueuedJobs<'a> {
    translator: &'a Translator,
    queue: &'a WorkQueue<Work>,
    first: Option<WaitingBatch>,
    /// The first call, whose options the others share.
    call: Arc<TranslationCall>,
    active: HashMap<u64, ActiveJob>,
    next_id: u64,
    /// The reason why the remaining sentences have no translation.
    failure: String,
}

impl Drop for QueuedJobs<'_> {
    fn drop(&mut self) {
        self.start_first();
        for job in self.active.values_mut() {
            job.drop_reason.clone_from(&self.failure);
        }
    }
}

impl QueuedJobs<'_> {
    /// Makes the jobs of a batch active; returns their ids.
    fn start(
        &mut self,
        call: &Arc<TranslationCall>,
        jobs: Vec<(usize, Request)>,
        batch: &Arc<ActiveBatch>,
    ) -> Vec<u64> {
        jobs.into_iter()
            .map(|(index, mut request)| {
                let id = self.next_id;
                self.next_id += 1;
                request.number = index as u64;
                let (call, batch) = (Arc::clone(call), Arc::clone(batch));
                let drop_reason = self.failure.clone();
                let job = ActiveJob {
                    call,
                    index,
                    request,
                    drop_reason,
                    batch: Some(batch),
                    is_done: false,
                };
                self.active.insert(id, job);
                id
            })
            .collect()
    }

    /// Makes the jobs of the first batch active, unless they are active already.
    fn start_first(&mut self) {
        if let Some((call, jobs, batch)) = self.first.take() {
            self.start(&call, jobs, &batch);
        }
    }

    /// Takes the active jobs, and sets their candidates.
    fn take_active(&mut self) -> Vec<ActiveJob> {
        let mut jobs: Vec<ActiveJob> = std::mem::take(&mut self.active).into_values().collect();
        for job in &mut jobs {
            self.translator.set_candidates(&self.call.task, &mut job.request);
        }
        jobs
    }
}

impl JobSource for QueuedJobs<'_> {
    fn next_jobs(&mut self) -> Result<Option<Vec<Job>>> {
        let (call, jobs, batch) = match self.first.take() {
            Some(first) => first,
            None => match self.queue.pop_if(|work| match work {
                Work::Translate { call, .. } => {
                    Arc::ptr_eq(call, &self.call) || call.task.can_join(&self.call.task)
                }
                Work::Score { .. } => false,
            }) {
                Some(Work::Translate { call, jobs, active }) => (call, jobs, active),
                _ => return Ok((!self.active.is_empty()).then(Vec::new)),
            },
        };
        let ids = self.start(&call, jobs, &batch);
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            let Some(job) = self.active.get_mut(&id) else { continue };
            let mut request = std::mem::take(&mut job.request);
            self.translator.set_candidates(&call.task, &mut request);
            found.push(Job { id, request });
        }
        Ok(Some(found))
    }

    fn is_wanted(&mut self, id: u64) -> bool {
        let is_wanted = self.active.get(&id).is_some_and(ActiveJob::is_wanted);
        if !is_wanted {
            self.active.remove(&id);
        }
        is_wanted
    }

    fn token(&mut self, id: u64, token: GeneratedToken) -> bool {
        let Some(job) = self.active.get(&id) else { return true };
        match &job.call.task.observer {
            Some(observer) => observer(job.index, token),
            None => false,
        }
    }

    fn finish(&mut self, id: u64, result: Result<Vec<Translation>>) -> Result<()> {
        if let Some(job) = self.active.remove(&id) {
            job.finish(result);
        }
        Ok(())
    }
}

impl Translator {
    fn set_candidates(&self, task: &TranslationTask, request: &mut Request) {
        match task.candidates {
            CandidateSource::Vocabulary => {}
            // For a source that was cut, `prepare_tokens` has found them.
            CandidateSource::VocabularyMap if request.candidates.is_some() => {}
            CandidateSource::VocabularyMap => {
                request.candidates = self.vocabulary_map_candidates(request);
            }
            CandidateSource::Model => request.candidates = self.candidates_for(request),
        }
    }

    /// Returns the candidates of a sentence by the vocabulary map; `None` if the model has none.
    pub(super) fn vocabulary_map_candidates(&self, request: &Request) -> Option<Vec<u32>> {
        let generator = self.shortlist_generator.as_deref();
        let has_map = matches!(generator, Some(ShortlistGenerator::VocabularyMap(_)));
        if has_map { self.candidates_for(request) } else { None }
    }
}

fn score(
    translator: &Translator,
    memory: &mut Memory,
    pending: &Pending<ForcedScores>,
    jobs: &[(usize, ScoreRequest)],
    active: Arc<ActiveBatch>,
) {
    if pending.is_cancelled() {
        return;
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| -> Result<Vec<ForcedScores>> {
        let scorer = match &mut memory.scorer {
            Some(scorer) => scorer,
            empty => empty.insert(translator.scorer()?),
        };
        let sources: Vec<&[u32]> = jobs.iter().map(|(_, job)| &job.source[..]).collect();
        let targets = jobs.iter().enumerate();
        let targets: Vec<Target> = targets
            .map(|(at, (_, job))| Target { source_index: at, tokens: &job.target })
            .collect();
        scorer.score(&translator.models, &[], &sources, &targets, false)
    }));
    drop(active);
    let failure = match outcome {
        Ok(Ok(scores)) => {
            let scores = jobs.iter().zip(scores);
            return scores.for_each(|((index, _), scores)| pending.finish(*index, Ok(scores)));
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => {
            memory.scorer = None;
            PANICKED.into()
        }
    };
    for (index, _) in jobs {
        pending.finish(*index, Err(PoolError::Failed(failure.clone())));
    }
}
