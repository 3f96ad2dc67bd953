//! The engine: searching threads, and the queues that feed them.
//!
//! Every model has as many threads as the engine, or a few for each GPU. Each thread has its own
//! translator or session for the lifetime of the model, so that buffers and caches stay warm. The
//! engine's permits limit how many threads run at a time. Threads know nothing of sockets: a
//! handler puts a request into a queue and awaits the reply. When the client disconnects, the
//! handler drops the reply, which cancels the request.
//!
//! The unit of work is a sentence. Its translation depends only on its model and its options, never
//! on the sentences that are translated with it. The threads of a model form the batches
//! (`models/neural.rs`, `models/phrase.rs`).

mod load;
mod permits;
mod queue;
mod request;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub use queue::{ModelQueue, Task};
pub use request::{
    Failure, Hypothesis, Pending, Phrase, Reply, RequestOptions, SearchWidth, Sentence,
    SentenceError, SentenceResult, TranslationOption,
};

use crate::metrics::{ModelMetrics, Outcome};
use crate::refusal::Refusal;
use load::Load;
use permits::{Permit, Permits};
use request::Request;

/// The longest time for which a class of sentences may occupy a worker while others wait.
const MAX_TURN: Duration = Duration::from_millis(200);

/// The waiting time after which sentences of another class or model make a worker switch to them.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// State that all models share: permits to search, and the size of the queues.
pub struct Engine {
    permits: Permits,
    load: Arc<Load>,
    threads: usize,
}

/// A model that takes sentences out of a queue.
pub trait Backend: Send + Sync + 'static {
    /// Serves `worker` on this thread until [`Worker::wait`] returns false.
    fn serve(&self, worker: &Worker);

    /// Returns the number of threads beyond which more would not help, if the model has one.
    fn max_threads(&self) -> Option<usize> {
        None
    }
}

/// A searching thread's view of the engine.
pub struct Worker {
    engine: Arc<Engine>,
    queue: Arc<ModelQueue>,
    metrics: Arc<ModelMetrics>,
}

impl Engine {
    /// Creates an engine that searches on `threads` threads at a time and queues up to
    /// `max_queued_words` words.
    pub fn new(threads: usize, max_queued_words: usize) -> Arc<Self> {
        let threads = threads.max(1);
        let load = Arc::new(Load::new(max_queued_words));
        Arc::new(Engine { permits: Permits::new(threads), load, threads })
    }

    /// Returns how many sentences, or batches of neural models, are searched at a time.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the number of words in all queues.
    pub fn queued_words(&self) -> usize {
        self.load.queued_words()
    }

    /// Creates a queue that new threads serve until it is closed and empty.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(
        self: &Arc<Self>,
        name: &str,
        backend: Arc<dyn Backend>,
        metrics: &Arc<ModelMetrics>,
    ) -> std::io::Result<Arc<ModelQueue>> {
        let threads = backend.max_threads().map_or(self.threads, |most| most.min(self.threads));
        let queue = ModelQueue::new(Arc::clone(&self.load), Arc::clone(metrics));
        let queue = Arc::new(queue);
        for number in 0..threads {
            let worker = Worker {
                engine: Arc::clone(self),
                queue: Arc::clone(&queue),
                metrics: Arc::clone(metrics),
            };
            let backend = Arc::clone(&backend);
            let thread = thread::Builder::new().name(format!("{name}-{number}"));
            let started = thread.spawn(move || backend.serve(&worker));
            if let Err(error) = started {
                queue.close();
                return Err(error);
            }
        }
        Ok(queue)
    }

    /// Puts the sentences of a request into `queue`. A model that checks the time replies soon
    /// after `deadline`; the caller must watch the deadline too.
    ///
    /// # Errors
    /// If too much is queued already.
    pub fn submit(
        &self,
        queue: &ModelQueue,
        sentences: Vec<Sentence>,
        options: RequestOptions,
        deadline: Instant,
    ) -> Result<Pending, Refusal> {
        let (request, pending) = Request::new(sentences, options, deadline);
        self.load.admit(request.words())?;
        queue.push(request);
        Ok(pending)
    }
}

impl Worker {
    /// Waits for a sentence. Returns false when the queue is closed and empty.
    pub fn wait(&self) -> bool {
        self.queue.wait()
    }

    /// Waits for a permit to search, in the order of the requests for one.
    pub fn permit(&self) -> Permit<'_> {
        self.engine.permits.acquire()
    }

    /// Returns the next sentence of the class of `options`; without `options`, of the class that
    /// waits longest.
    pub fn pop(&self, options: Option<RequestOptions>) -> Option<Task> {
        self.queue.pop(options)
    }

    /// Returns how many more sentences of the class of `options` a worker takes, so that idle
    /// workers get their share.
    pub fn fair_share(&self, options: RequestOptions) -> usize {
        self.queue.fair_share(options)
    }

    /// Whether a worker that began with sentences of `options` at `started` switches to others. If
    /// it is `idle`, it does so as soon as another class waits; otherwise after `MAX_TURN`, if
    /// another class or a thread without a permit has waited for more than `MAX_WAIT`.
    pub fn must_yield(&self, options: RequestOptions, started: Instant, idle: bool) -> bool {
        let oldest = self.queue.oldest_other(options);
        if idle && oldest.is_some() {
            return true;
        }
        started.elapsed() > MAX_TURN
            && (oldest.is_some_and(|since| since.elapsed() > MAX_WAIT)
                || self.engine.permits.longest_wait() > MAX_WAIT)
    }

    /// Counts a sentence with its outcome.
    pub fn record(&self, outcome: Outcome, started: Instant) {
        self.metrics.record(outcome, started.elapsed());
    }

    /// Counts a sentence that failed, and fails its request.
    pub fn fail(&self, task: Task, failure: Failure, started: Instant) {
        self.record(failure.outcome(), started);
        task.fail(failure);
    }

    /// Counts a batch of this number of sentences: when it begins, and again whenever it grows.
    pub fn record_batch(&self, sentences: usize) {
        self.metrics.record_batch(sentences);
    }
}

#[cfg(test)]
mod tests;
