//! The queue of a model: requests by class, and within a class one sentence of each request in
//! turn, so that a request of a thousand lines does not delay one of a single line.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::load::Load;
use super::request::{Failure, Request};
use super::{RequestOptions, Sentence, SentenceResult};
use crate::metrics::ModelMetrics;

/// Requests that wait for a model.
pub struct ModelQueue {
    load: Arc<Load>,
    metrics: Arc<ModelMetrics>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The waiting classes; none is empty.
    classes: Vec<Class>,
    /// The number of workers that wait for a sentence.
    idle: usize,
    closed: bool,
}

/// The requests with the same options.
struct Class {
    options: RequestOptions,
    /// The requests, in the order of their turns.
    ring: VecDeque<Waiting>,
    sentences: usize,
}

/// A request whose sentences from index `next` on are waiting.
struct Waiting {
    request: Arc<Request>,
    next: usize,
}

/// A sentence of a request; the task must be finished or failed.
pub struct Task {
    request: Arc<Request>,
    index: usize,
    load: Arc<Load>,
}

impl Drop for Task {
    fn drop(&mut self) {
        self.load.end_search(self.words());
    }
}

impl ModelQueue {
    pub(super) fn new(load: Arc<Load>, metrics: Arc<ModelMetrics>) -> Self {
        ModelQueue { load, metrics, state: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, request: Arc<Request>) {
        let sentences = request.sentences.len();
        if sentences == 0 {
            return;
        }
        let mut state = self.lock();
        let options = request.options;
        let waiting = Waiting { request, next: 0 };
        match state.classes.iter_mut().find(|class| class.options == options) {
            Some(class) => {
                class.ring.push_back(waiting);
                class.sentences += sentences;
            }
            None => {
                let ring = VecDeque::from([waiting]);
                state.classes.push(Class { options, ring, sentences });
            }
        }
        match sentences {
            1 => self.changed.notify_one(),
            _ => self.changed.notify_all(),
        }
    }

    /// Lets the workers end when all waiting requests are finished. No request may be submitted
    /// after it.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    pub(super) fn wait(&self) -> bool {
        let mut state = self.lock();
        state.idle += 1;
        while state.classes.is_empty() && !state.closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.idle -= 1;
        !state.classes.is_empty()
    }

    /// Returns the next sentence of the class of `options`; without `options`, of the class whose
    /// first request is the oldest. Drops and counts the sentences of cancelled requests.
    pub(super) fn pop(&self, options: Option<RequestOptions>) -> Option<Task> {
        let mut state = self.lock();
        loop {
            let place = match options {
                Some(options) => state.classes.iter().position(|class| class.options == options),
                None => {
                    let classes = state.classes.iter().enumerate();
                    classes.min_by_key(|(_, class)| class.oldest()).map(|(place, _)| place)
                }
            }?;
            let class = &mut state.classes[place];
            let mut waiting = class.ring.pop_front().expect("no class is empty");
            let left = waiting.request.sentences.len() - waiting.next;
            let request = Arc::clone(&waiting.request);
            let index = waiting.next;
            let is_wanted = request.is_wanted();
            let taken = if is_wanted { 1 } else { left };
            let words: usize =
                (index..index + taken).map(|index| request.sentence_words(index)).sum();
            if is_wanted {
                self.load.begin_search(words);
            } else {
                // The sentences are counted first: when no words are queued, all are counted.
                self.metrics.record_dropped(request.dropped_outcome(), left);
                self.load.drop_queued(words);
            }
            class.sentences -= taken;
            waiting.next += taken;
            if taken < left {
                class.ring.push_back(waiting);
            }
            if class.ring.is_empty() {
                state.classes.swap_remove(place);
            }
            if is_wanted {
                request.start();
                return Some(Task { request, index, load: Arc::clone(&self.load) });
            }
        }
    }

    /// Returns how many sentences of a class a worker takes if it shares them with idle workers.
    pub(super) fn fair_share(&self, options: RequestOptions) -> usize {
        let state = self.lock();
        let class = state.classes.iter().find(|class| class.options == options);
        let sentences = class.map_or(0, |class| class.sentences);
        sentences.div_ceil(state.idle + 1)
    }

    /// Returns the arrival time of the oldest request of another class than `options`.
    pub(super) fn oldest_other(&self, options: RequestOptions) -> Option<Instant> {
        let state = self.lock();
        state.classes.iter().filter(|class| class.options != options).map(Class::oldest).min()
    }
}

impl Class {
    /// Returns the arrival time of the first request in the ring. The ring is nearly in the order
    /// of arrival.
    fn oldest(&self) -> Instant {
        self.ring.front().expect("no class is empty").request.arrived
    }
}

impl Task {
    /// Returns the sentence.
    pub fn sentence(&self) -> &Sentence {
        &self.request.sentences[self.index]
    }

    /// Returns the position of the sentence in its request.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the options of the request.
    pub fn options(&self) -> RequestOptions {
        self.request.options
    }

    /// Returns the deadline of the request.
    pub fn deadline(&self) -> Instant {
        self.request.deadline
    }

    /// Whether somebody waits for the result.
    pub fn is_wanted(&self) -> bool {
        self.request.is_wanted()
    }

    /// Returns a token that is cancelled when nobody waits for the result.
    pub fn cancellation(&self) -> miriam_textio::CancellationToken {
        self.request.cancellation.clone()
    }

    /// Returns the number of words of the sentence, plus one for its end.
    pub fn words(&self) -> usize {
        self.request.sentence_words(self.index)
    }

    /// Gives its result to the request.
    pub fn finish(self, result: SentenceResult) {
        self.request.finish(self.index, result);
    }

    /// Fails its request.
    pub fn fail(self, failure: Failure) {
        self.request.fail(failure);
    }
}
