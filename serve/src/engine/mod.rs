//! The engine: searching threads, and the queues that feed them.
//!
//! Every model has as many threads as the engine, each with a translator or a session of its
//! own that lives as long as the model: buffers, caches and memory of neural sessions stay
//! warm. As many of them run at a time as the engine has permits. They know nothing of sockets
//! and of the runtime that serves these: a handler puts a request into a queue and awaits the
//! reply; when its client goes away it drops the reply, which cancels the request.
//!
//! The unit of work is a sentence. What it becomes depends on its model and on what is wanted
//! of it alone, never on the sentences that are translated beside it.

mod load;
mod permits;
mod queue;
mod request;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub use load::Overload;
pub use queue::{ModelQueue, Task};
pub use request::{
    Failure, Hypothesis, Pending, Phrase, Reply, RequestOptions, SearchWidth, Sentence,
    SentenceError, SentenceResult, TranslationOption,
};

use crate::metrics::{ModelMetrics, Outcome};
use load::Load;
use permits::{Permit, Permits};
use request::Request;

/// How long a class of sentences may keep a worker while others wait.
const MAX_TURN: Duration = Duration::from_millis(200);

/// How long sentences of another class or model wait before a worker looks after them.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// What all models share: permits to search, and how much is queued.
pub struct Engine {
    permits: Permits,
    load: Arc<Load>,
    threads: usize,
}

/// A model as the engine sees it: something that takes sentences out of a queue.
pub trait Backend: Send + Sync + 'static {
    /// Serves `worker` on this thread until [`Worker::wait`] says that there is no more.
    fn serve(&self, worker: &Worker);
}

/// A searching thread's view of the engine.
pub struct Worker {
    engine: Arc<Engine>,
    queue: Arc<ModelQueue>,
    metrics: Arc<ModelMetrics>,
}

impl Engine {
    /// An engine that searches on `threads` threads at a time and queues up to
    /// `max_queued_words` words.
    pub fn new(threads: usize, max_queued_words: usize) -> Arc<Self> {
        let threads = threads.max(1);
        let load = Arc::new(Load::new(max_queued_words));
        Arc::new(Engine { permits: Permits::new(threads), load, threads })
    }

    /// The number of sentences, or batches of neural models, that are searched at a time.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The words that wait in all queues.
    pub fn queued_words(&self) -> usize {
        self.load.queued_words()
    }

    /// A queue that is served by threads of its own, until it is closed and empty.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(
        self: &Arc<Self>,
        name: &str,
        backend: Arc<dyn Backend>,
        metrics: &Arc<ModelMetrics>,
    ) -> std::io::Result<Arc<ModelQueue>> {
        let queue = Arc::new(ModelQueue::new(Arc::clone(&self.load), self.threads));
        for number in 0..self.threads {
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

    /// Puts the sentences of a request into `queue`. A reply comes after `deadline` at the
    /// latest where the model looks at its clock; the caller has a clock of its own.
    ///
    /// # Errors
    /// If too much is queued already.
    pub fn submit(
        &self,
        queue: &ModelQueue,
        sentences: Vec<Sentence>,
        options: RequestOptions,
        deadline: Instant,
    ) -> Result<Pending, Overload> {
        let (request, pending) = Request::new(sentences, options, deadline);
        self.load.admit(request.words())?;
        queue.push(request);
        Ok(pending)
    }
}

impl Worker {
    /// Waits for a sentence; false when the queue is closed and empty.
    pub fn wait(&self) -> bool {
        self.queue.wait()
    }

    /// A permit to search, after those who asked before.
    pub fn permit(&self) -> Permit<'_> {
        self.engine.permits.acquire()
    }

    /// The next sentence: of the class of `options`, or else of the class that waits longest.
    pub fn pop(&self, options: Option<RequestOptions>) -> Option<Task> {
        self.queue.pop(options)
    }

    /// How many more sentences of the class of `options` a worker takes, so that idle ones get
    /// their part.
    pub fn fair_share(&self, options: RequestOptions) -> usize {
        self.queue.fair_share(options)
    }

    /// Whether a worker that began a turn with sentences of `options` at `started` leaves them:
    /// at once where it is idle and others wait longer, else after some time.
    pub fn must_yield(&self, options: RequestOptions, started: Instant, idle: bool) -> bool {
        let oldest = self.queue.oldest_other(options);
        if idle && oldest.is_some() {
            return true;
        }
        started.elapsed() > MAX_TURN
            && (oldest.is_some_and(|since| since.elapsed() > MAX_WAIT)
                || self.engine.permits.longest_wait() > MAX_WAIT)
    }

    /// Counts a sentence that was translated, or was not.
    pub fn record(&self, outcome: Outcome, started: Instant) {
        self.metrics.record(outcome, started.elapsed());
    }

    /// Counts the sentences of a batch that begins.
    pub fn record_batch(&self, sentences: usize) {
        self.metrics.record_batch(sentences);
    }
}

#[cfg(test)]
mod tests;
