//! A queue of the batches that wait for a worker, first come, first served.
//!
//! While a busy worker has free places, it looks at the first waiting batch, and takes it if its
//! options are those of the running batch. So batches of different calls run together, and no batch
//! waits longer than one that came later. The queue also counts the batches that wait or are being
//! processed.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Guard that counts a batch as active, from when it is queued until its last example is done.
pub(super) struct ActiveBatch(Arc<Counter>);

#[derive(Default)]
struct Counter(Mutex<usize>);

impl Drop for ActiveBatch {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) -= 1;
    }
}

/// A queue of batches. Its limit holds only for callers that wait for a place before they add a
/// batch.
pub(super) struct WorkQueue<W> {
    state: Mutex<QueueState<W>>,
    changed: Condvar,
    active: Arc<Counter>,
    limit: usize,
}

struct QueueState<W> {
    waiting: VecDeque<W>,
    closed: bool,
}

impl<W> WorkQueue<W> {
    /// Creates a queue that is full while `limit` batches wait, or one batch if `limit` is 0.
    pub fn new(limit: usize) -> Self {
        WorkQueue {
            state: Mutex::new(QueueState { waiting: VecDeque::new(), closed: false }),
            changed: Condvar::new(),
            active: Arc::default(),
            limit: limit.max(1),
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<W>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Counts one more batch.
    pub fn activate(&self) -> ActiveBatch {
        *self.active.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
        ActiveBatch(Arc::clone(&self.active))
    }

    /// Returns the number of batches that wait or are being processed.
    pub fn num_active(&self) -> usize {
        *self.active.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns the number of batches that wait.
    pub fn num_waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Waits until the queue is not full or is closed, at most `timeout`. Returns false if neither
    /// has happened by then.
    pub fn wait_for_place(&self, timeout: Duration) -> bool {
        let state = self.lock();
        let waited =
            self.changed.wait_timeout_while(state, timeout, |state: &mut QueueState<W>| {
                state.waiting.len() >= self.limit && !state.closed
            });
        !waited.unwrap_or_else(|poisoned| poisoned.into_inner()).1.timed_out()
    }

    /// Adds a batch, even if the queue is full.
    pub fn push(&self, work: W) {
        self.lock().waiting.push_back(work);
        self.changed.notify_all();
    }

    /// Closes the queue; waiting batches are still processed.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Returns the next batch, waiting for it; `None` if the queue is closed and empty.
    pub fn pop(&self) -> Option<W> {
        let mut state = self.lock();
        loop {
            if let Some(work) = state.waiting.pop_front() {
                self.changed.notify_all();
                return Some(work);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Returns the next batch, if there is one and `is_wanted` accepts it.
    pub fn pop_if(&self, is_wanted: impl FnOnce(&W) -> bool) -> Option<W> {
        let mut state = self.lock();
        if !state.waiting.front().is_some_and(is_wanted) {
            return None;
        }
        let work = state.waiting.pop_front();
        self.changed.notify_all();
        work
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_leave_in_order_and_are_counted() {
        let queue = WorkQueue::new(2);
        let moment = Duration::from_millis(1);
        assert!(queue.wait_for_place(moment));
        for number in [1, 2] {
            queue.push((number, queue.activate()));
        }
        assert!(!queue.wait_for_place(moment), "it is full");
        assert_eq!((queue.num_waiting(), queue.num_active()), (2, 2));
        assert!(queue.pop_if(|(number, _)| *number == 2).is_none(), "1 comes first");
        let (number, one) = queue.pop_if(|(number, _)| *number == 1).unwrap();
        assert!(number == 1 && queue.wait_for_place(moment));
        assert_eq!((queue.num_waiting(), queue.num_active()), (1, 2));
        drop(one);
        assert_eq!(queue.num_active(), 1);
        queue.close();
        assert_eq!(queue.pop().map(|(number, _)| number), Some(2));
        assert!(queue.pop().is_none());
        assert_eq!(queue.num_active(), 0);
    }
}
