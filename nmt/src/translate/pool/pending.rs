//! The results of a call, whose examples are finished in any order by any thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The reason why an example has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolError {
    /// The options of the call contradict each other or are out of range.
    Invalid(String),
    /// The example cannot be processed, or the device failed.
    Failed(String),
    /// The call was cancelled before the example was done.
    Cancelled,
}

impl std::fmt::Display for PoolError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PoolError::Invalid(reason) | PoolError::Failed(reason) => out.write_str(reason),
            PoolError::Cancelled => out.write_str("it was cancelled"),
        }
    }
}

impl std::error::Error for PoolError {}

/// The result of an example.
pub type PoolResult<R> = Result<Arc<R>, PoolError>;

/// The results of a call.
pub struct Pending<R> {
    state: Mutex<PendingState<R>>,
    /// Notified when an example is done.
    changed: Condvar,
    cancelled: AtomicBool,
}

struct PendingState<R> {
    results: Vec<Option<PoolResult<R>>>,
    num_missing: usize,
    /// Called when all examples are done.
    listeners: Vec<Box<dyn FnOnce() + Send>>,
}

impl<R> Pending<R> {
    /// Returns the results of `count` examples, none of which is done.
    pub fn new(count: usize) -> Self {
        let results = (0..count).map(|_| None).collect();
        let state = PendingState { results, num_missing: count, listeners: Vec::new() };
        Pending {
            state: Mutex::new(state),
            changed: Condvar::new(),
            cancelled: AtomicBool::new(false),
        }
    }

    /// Returns the results of `count` examples that all have failed.
    pub fn failed(count: usize, error: &PoolError) -> Self {
        let pending = Pending::new(count);
        (0..count).for_each(|index| pending.finish(index, Err(error.clone())));
        pending
    }

    fn lock(&self) -> MutexGuard<'_, PendingState<R>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns the number of examples.
    pub fn count(&self) -> usize {
        self.lock().results.len()
    }

    /// Sets the result of an example, unless it has one already.
    pub fn finish(&self, index: usize, result: Result<R, PoolError>) {
        let mut state = self.lock();
        if state.results[index].is_some() {
            return;
        }
        state.results[index] = Some(result.map(Arc::new));
        state.num_missing -= 1;
        let listeners = match state.num_missing {
            0 => std::mem::take(&mut state.listeners),
            _ => Vec::new(),
        };
        drop(state);
        self.changed.notify_all();
        listeners.into_iter().for_each(|listener| listener());
    }

    /// Cancels the examples that are not done: they fail, and workers drop them at their next step.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        for index in 0..self.count() {
            self.finish(index, Err(PoolError::Cancelled));
        }
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Whether an example is done.
    pub fn is_done(&self, index: usize) -> bool {
        self.lock().results[index].is_some()
    }

    /// Returns the result of an example, waiting for it at most `timeout`.
    pub fn wait(&self, index: usize, timeout: Duration) -> Option<PoolResult<R>> {
        self.wait_until(timeout, |state: &PendingState<R>| state.results[index].is_some()).results
            [index]
            .clone()
    }

    /// Whether all examples are done, waiting for them at most `timeout`.
    pub fn wait_all(&self, timeout: Duration) -> bool {
        self.wait_until(timeout, |state| state.num_missing == 0).num_missing == 0
    }

    fn wait_until(
        &self,
        timeout: Duration,
        ready: impl Fn(&PendingState<R>) -> bool,
    ) -> MutexGuard<'_, PendingState<R>> {
        let deadline = Instant::now() + timeout;
        let mut state = self.lock();
        while !ready(&state) {
            let rest = deadline.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(state, rest);
            state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        state
    }

    /// Calls `listener` when all examples are done: on the thread that does the last one, or
    /// at once if all are done already.
    pub fn on_all_done(&self, listener: impl FnOnce() + Send + 'static) {
        let mut state = self.lock();
        if state.num_missing > 0 {
            state.listeners.push(Box::new(listener));
            return;
        }
        drop(state);
        listener();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    const MOMENT: Duration = Duration::from_millis(1);

    #[test]
    fn results_come_in_any_order_and_listeners_once() {
        let pending = Pending::new(2);
        let calls = Arc::new(AtomicUsize::new(0));
        let listener = || {
            let calls = Arc::clone(&calls);
            move || {
                calls.fetch_add(1, Ordering::Relaxed);
            }
        };
        pending.on_all_done(listener());
        assert!(!pending.wait_all(MOMENT) && pending.wait(1, MOMENT).is_none());
        pending.finish(1, Ok("b"));
        assert!(pending.is_done(1) && !pending.is_done(0));
        assert_eq!(pending.wait(1, MOMENT).unwrap().unwrap().as_ref(), &"b");
        pending.finish(1, Ok("c"));
        assert_eq!(pending.wait(1, MOMENT).unwrap().unwrap().as_ref(), &"b", "the first one stays");
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        pending.cancel();
        assert_eq!(pending.wait(0, MOMENT), Some(Err(PoolError::Cancelled)));
        assert!(pending.wait_all(MOMENT));
        pending.on_all_done(listener());
        assert_eq!(calls.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn another_thread_ends_the_waiting() {
        let pending = Pending::new(1);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(MOMENT);
                pending.finish(0, Ok(7));
            });
            assert!(pending.wait_all(Duration::from_secs(60)));
        });
        let failed = Pending::<u8>::failed(1, &PoolError::Invalid("no".into()));
        assert_eq!(failed.wait(0, MOMENT), Some(Err(PoolError::Invalid("no".into()))));
    }
}
