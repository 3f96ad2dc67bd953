//! A pool of threads that translate and score tokenised sentences of many callers with one
//! model, as CTranslate2's replicas do.
//!
//! A call is split into batches. Each sentence's result is available as soon as it is done. A
//! worker is not bound to a call: batches with equal options run together, and sentences join a
//! running batch as soon as half of its places are free. Results do not depend on how batches are
//! formed.

mod active_job;
mod alternatives;
mod decoding;
mod pending;
mod texts;
mod tokens;
mod work_queue;
mod worker;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::Translator;
pub use crate::batch::BatchLimits;
use crate::search::{GeneratedToken, Request, SearchOptions, Translation};
use miriam_nmt_network::network::ForcedScores;

pub use decoding::DecodingOptions;
pub use pending::{Pending, PoolError, PoolResult};
pub use texts::{TextBatch, TextFormat};
pub use tokens::{Example, ScoredTokens, ScoringExample, TokenTranslations};

use active_job::TranslationCall;
use work_queue::WorkQueue;
use worker::Work;

/// The limits of batches for a call that sets none, chosen for speed.
const DEFAULT_SENTENCES: usize = 32;
const DEFAULT_TOKENS: usize = 4096;
/// The interval at which a call that waits for a place in the queue checks whether it is still
/// wanted.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

impl BatchLimits {
    /// Returns the limits for CTranslate2's `max_batch_size`, which counts tokens if `in_tokens`,
    /// else examples. 0 means the default limits. A limit in tokens does not raise the default
    /// limit of sentences.
    pub fn from_ctranslate2(max_batch_size: usize, in_tokens: bool) -> Self {
        match (max_batch_size, in_tokens) {
            (0, _) => BatchLimits { max_sentences: DEFAULT_SENTENCES, max_tokens: DEFAULT_TOKENS },
            (most, false) => BatchLimits { max_sentences: most, max_tokens: 0 },
            (most, true) => {
                BatchLimits { max_sentences: most.min(DEFAULT_SENTENCES), max_tokens: most }
            }
        }
    }
}

/// Receiver of generated tokens, each with the index of its example. It returns whether the
/// translation must end.
pub type TokenObserver = dyn Fn(usize, GeneratedToken) -> bool + Send + Sync;

/// Options of alternatives: the best tokens at one position, each with its own continuation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlternativesOptions {
    /// The number of the best tokens.
    pub count: usize,
    /// The minimum probability of these tokens; less probable ones are left out.
    pub min_probability: f32,
}

/// The source of the candidate target tokens of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateSource {
    /// The whole vocabulary.
    Vocabulary,
    /// CTranslate2's vocabulary map, if the model has one.
    VocabularyMap,
    /// The shortlist or vocabulary map of the model, as for texts.
    Model,
}

/// The work to do on the requests of a call.
#[derive(Clone)]
pub struct TranslationTask {
    /// The options of search.
    pub search: SearchOptions,
    /// The limits of the batches of requests.
    pub limits: BatchLimits,
    /// The options of alternatives, if they are wanted.
    pub alternatives: Option<AlternativesOptions>,
    /// The source of candidate target tokens.
    pub candidates: CandidateSource,
    /// The receiver of generated tokens, if `search` reports them.
    pub observer: Option<Arc<TokenObserver>>,
}

/// A request, or its result if there is nothing to search for.
#[derive(Clone, Debug, PartialEq)]
pub enum Prepared {
    /// A sentence to translate.
    Request(Request),
    /// The translations of a sentence that has no words or cannot be translated. There may be none.
    Done(Vec<Translation>),
}

/// A translation to score: source and target ids with special tokens, or no source at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreRequest {
    /// Ids of the source, with special tokens.
    pub source: Vec<u32>,
    /// Ids of the target, with EOS.
    pub target: Vec<u32>,
}

/// A pool of worker threads with one translator, shared by all callers.
pub struct TranslatorPool {
    translator: Arc<Translator>,
    num_workers: usize,
    limit: usize,
    running: Mutex<Running>,
}

/// The workers of a process. After a fork, the child has no workers, and locks may never be
/// released; so it starts with a new queue and new workers.
struct Running {
    queue: Arc<WorkQueue<Work>>,
    /// The process that has the workers, once they are started.
    process: Option<u32>,
}

impl TranslatorPool {
    /// Creates a pool of `num_workers` threads, which the first call starts. The queue is full
    /// while `limit` batches wait; then a call with `is_wanted` blocks.
    pub fn new(translator: Arc<Translator>, num_workers: usize, limit: usize) -> Self {
        let queue = Arc::new(WorkQueue::new(limit));
        let running = Mutex::new(Running { queue, process: None });
        TranslatorPool { translator, num_workers: num_workers.max(1), limit, running }
    }

    /// Returns the translator.
    pub fn translator(&self) -> &Arc<Translator> {
        &self.translator
    }

    /// Returns the number of workers.
    pub fn num_workers(&self) -> usize {
        self.num_workers
    }

    /// Returns the number of batches that wait.
    pub fn num_queued_batches(&self) -> usize {
        self.queue().num_waiting()
    }

    /// Returns the number of batches that wait or are being processed.
    pub fn num_active_batches(&self) -> usize {
        self.queue().num_active()
    }

    fn queue(&self) -> Arc<WorkQueue<Work>> {
        let running = self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        Arc::clone(&running.queue)
    }

    /// Returns the queue of this process. Starts its workers if they are not running.
    fn start(&self) -> Arc<WorkQueue<Work>> {
        let mut running = self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let process = std::process::id();
        if running.process != Some(process) {
            if running.process.is_some() {
                running.queue = Arc::new(WorkQueue::new(self.limit));
            }
            running.process = Some(process);
            for _ in 0..self.num_workers {
                let (translator, queue) =
                    (Arc::clone(&self.translator), Arc::clone(&running.queue));
                std::thread::spawn(move || worker::run(&translator, &queue));
            }
        }
        Arc::clone(&running.queue)
    }

    /// Queues the requests of a call. With `is_wanted`, waits while the queue is full, calls that
    /// function from time to time, and cancels the call if it returns false. Without `is_wanted`,
    /// does not wait.
    pub fn translate(
        &self,
        task: TranslationTask,
        requests: Vec<Prepared>,
        is_wanted: Option<&mut dyn FnMut() -> bool>,
    ) -> Arc<Pending<Vec<Translation>>> {
        let pending = Arc::new(Pending::new(requests.len()));
        let mut jobs = Vec::with_capacity(requests.len());
        for (index, request) in requests.into_iter().enumerate() {
            match request {
                Prepared::Done(translations) => pending.finish(index, Ok(translations)),
                Prepared::Request(request) => jobs.push((index, request)),
            }
        }
        let batches = task.limits.divide_sorted(jobs, |(_, request)| request.source.len());
        let call = Arc::new(TranslationCall { task, pending: Arc::clone(&pending) });
        self.push_all(
            batches,
            |jobs, active| Work::Translate { call: Arc::clone(&call), jobs, active },
            &*pending,
            is_wanted,
        );
        pending
    }

    /// Queues translations to score; those without a source get the score 0 for each token.
    pub fn score(
        &self,
        limits: BatchLimits,
        requests: Vec<ScoreRequest>,
        is_wanted: Option<&mut dyn FnMut() -> bool>,
    ) -> Arc<Pending<ForcedScores>> {
        let pending = Arc::new(Pending::new(requests.len()));
        let mut jobs = Vec::with_capacity(requests.len());
        for (index, request) in requests.into_iter().enumerate() {
            if request.source.is_empty() {
                let token_scores = vec![0.0; request.target.len()];
                let scores = ForcedScores { token_scores, alignment: Vec::new() };
                pending.finish(index, Ok(scores));
            } else {
                jobs.push((index, request));
            }
        }
        let batches =
            limits.divide_sorted(jobs, |(_, request): &(usize, ScoreRequest)| request.source.len());
        self.push_all(
            batches,
            |jobs, active| Work::Score { pending: Arc::clone(&pending), jobs, active },
            &*pending,
            is_wanted,
        );
        pending
    }

    fn push_all<T, R>(
        &self,
        batches: Vec<Vec<T>>,
        work: impl Fn(Vec<T>, Arc<work_queue::ActiveBatch>) -> Work,
        pending: &Pending<R>,
        mut is_wanted: Option<&mut dyn FnMut() -> bool>,
    ) {
        if batches.is_empty() {
            return;
        }
        let queue = self.start();
        // `is_wanted` is called even if workers are so fast that there is always a place.
        let mut asked = Instant::now();
        for batch in batches {
            if let Some(is_wanted) = &mut is_wanted {
                loop {
                    let has_place = queue.wait_for_place(POLL_INTERVAL);
                    if asked.elapsed() >= POLL_INTERVAL {
                        if !is_wanted() {
                            pending.cancel();
                            return;
                        }
                        asked = Instant::now();
                    }
                    if has_place {
                        break;
                    }
                }
            }
            queue.push(work(batch, Arc::new(queue.activate())));
        }
    }
}

impl Drop for TranslatorPool {
    /// Closes the queue. Workers end when they have processed the waiting batches.
    fn drop(&mut self) {
        self.queue().close();
    }
}

impl TranslationTask {
    /// Whether requests of both tasks may be translated together.
    fn can_join(&self, other: &TranslationTask) -> bool {
        // Calls with sampling stay separate: the keys of random numbers are indices in a call.
        self.alternatives.is_none()
            && other.alternatives.is_none()
            && self.search.sampling.is_none()
            && self.limits == other.limits
            && self.candidates == other.candidates
            && self.search == other.search
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_sizes_from_ctranslate2() {
        let divide = |size, in_tokens| {
            let limits = BatchLimits::from_ctranslate2(size, in_tokens);
            limits.divide_sorted(vec![2, 9, 3, 1, 4, 3], |&n| n)
        };
        assert_eq!(divide(4, false), [vec![9, 4, 3, 3], vec![2, 1]]);
        assert_eq!(divide(0, true), [vec![9, 4, 3, 3, 2, 1]]);
        assert_eq!(divide(5, true), [vec![9], vec![4], vec![3], vec![3, 2], vec![1]]);
    }
}
