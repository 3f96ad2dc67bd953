//! The queue from the reader to the worker threads, which sorts sentences by length and cuts
//! them into batches.
//!
//! All threads share it, so that a short text is spread over all of them and sentences of
//! similar length form batches. The number of sentences read and not yet written is bounded: a
//! slow sentence blocks the reader instead of filling memory.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};

use miriam_textio::CancellationToken;

use crate::batch::BatchLimits;

/// Options of batching in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueOptions {
    /// The limits of a batch.
    pub limits: BatchLimits,
    /// The number of sentences that are read ahead and sorted.
    pub read_ahead: usize,
    /// Whether they are sorted by length.
    pub sort_by_length: bool,
    /// Whether an idle thread takes the available sentences without waiting for `read_ahead`.
    pub low_latency: bool,
}

impl QueueOptions {
    /// Creates options for batches within `limits`. The sentences of `maxi_batch` full batches are
    /// read ahead and sorted together.
    pub fn new(limits: BatchLimits, maxi_batch: usize) -> Self {
        let read_ahead = limits.max_sentences.saturating_mul(maxi_batch.max(1)).min(1 << 20);
        QueueOptions { limits, read_ahead, sort_by_length: true, low_latency: false }
    }
}

/// A bounded queue of sentences that leave in batches.
pub(crate) struct BatchQueue<T> {
    options: QueueOptions,
    length: fn(&T) -> usize,
    state: Mutex<QueueState<T>>,
    changed: Condvar,
}

struct QueueState<T> {
    waiting: Vec<T>,
    batches: VecDeque<Vec<T>>,
    /// The number of sentences that were read and not yet written.
    in_flight: usize,
    input_ended: bool,
    closed: bool,
}

impl<T> BatchQueue<T> {
    pub fn new(options: QueueOptions, length: fn(&T) -> usize) -> Self {
        let state = QueueState {
            waiting: Vec::new(),
            batches: VecDeque::new(),
            in_flight: 0,
            input_ended: false,
            closed: false,
        };
        BatchQueue { options, length, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Returns the maximum number of sentences in flight: a third each for those in translation, in
    /// batches, and waiting to be sorted.
    fn capacity(&self) -> usize {
        3 * self.options.read_ahead
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wait<'a>(&self, state: MutexGuard<'a, QueueState<T>>) -> MutexGuard<'a, QueueState<T>> {
        self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Adds a sentence, waiting for free capacity; false if the queue is closed.
    pub fn push(&self, item: T) -> bool {
        let mut state = self.lock();
        while state.in_flight >= self.capacity() && !state.closed {
            state = self.wait(state);
        }
        if state.closed {
            return false;
        }
        state.in_flight += 1;
        state.waiting.push(item);
        // Threads that wait for `read_ahead` sentences are not woken for each.
        if self.options.low_latency || state.waiting.len() >= self.options.read_ahead {
            self.changed.notify_all();
        }
        true
    }

    /// Marks the end of the input.
    pub fn end_input(&self) {
        self.lock().input_ended = true;
        self.changed.notify_all();
    }

    /// Drops all sentences and wakes all waiting threads.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.waiting.clear();
        state.batches.clear();
        self.changed.notify_all();
    }

    /// Marks a sentence as written.
    pub fn mark_written(&self) {
        let mut state = self.lock();
        state.in_flight -= 1;
        if state.in_flight + 1 == self.capacity() {
            self.changed.notify_all();
        }
    }

    /// Returns the next batch, or none at the end. A `busy` caller does not wait and may get an
    /// empty batch.
    pub fn pop_batch(&self, busy: bool) -> Option<Vec<T>> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if state.batches.is_empty() {
                let enough = if self.options.low_latency { 1 } else { self.options.read_ahead };
                if state.waiting.len() >= enough || state.input_ended {
                    let waiting = std::mem::take(&mut state.waiting);
                    let QueueOptions { limits, sort_by_length, .. } = self.options;
                    state.batches.extend(if sort_by_length {
                        limits.divide_sorted(waiting, self.length)
                    } else {
                        limits.divide(waiting, self.length)
                    });
                    self.changed.notify_all();
                }
            }
            if let Some(batch) = state.batches.pop_front() {
                return Some(batch);
            }
            if state.input_ended {
                return None;
            }
            if busy {
                return Some(Vec::new());
            }
            state = self.wait(state);
        }
    }

    /// Works as [`pop_batch`](Self::pop_batch); closes the queue if `stop` is cancelled.
    pub fn pop_batch_unless_cancelled(
        &self,
        stop: &CancellationToken,
        busy: bool,
    ) -> Option<Vec<T>> {
        if stop.is_cancelled() {
            self.close();
        }
        self.pop_batch(busy)
    }
}

/// Guard that closes the queue and cancels the token when its thread panics. Otherwise the other
/// threads would wait forever.
pub(crate) struct PanicGuard<'a, T>(pub &'a BatchQueue<T>, pub &'a CancellationToken);

impl<T> Drop for PanicGuard<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
            self.1.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn queue(sentences: usize, words: usize, ahead: usize, low_latency: bool) -> BatchQueue<usize> {
        BatchQueue::new(
            QueueOptions {
                limits: BatchLimits { max_sentences: sentences, max_tokens: words },
                read_ahead: ahead,
                sort_by_length: true,
                low_latency,
            },
            |&n| n,
        )
    }

    #[test]
    fn read_ahead_is_sorted_into_batches() {
        let queue = queue(2, 10, 5, false);
        for length in [3, 9, 1, 4, 4] {
            assert!(queue.push(length));
        }
        for batch in [vec![9], vec![4, 4], vec![3, 1]] {
            assert_eq!(queue.pop_batch(false), Some(batch));
        }
        assert_eq!(queue.pop_batch(true), Some(vec![]), "a busy caller does not wait");
        queue.push(2);
        queue.end_input();
        assert_eq!(queue.pop_batch(false), Some(vec![2]));
        assert_eq!(queue.pop_batch(true), None);
    }

    #[test]
    fn low_latency_batches_are_taken_at_once() {
        let queue = queue(8, 100, 50, true);
        queue.push(3);
        assert_eq!(queue.pop_batch(false), Some(vec![3]));
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(queue.pop_batch(false), Some(vec![7])));
            std::thread::sleep(std::time::Duration::from_millis(5));
            queue.push(7);
        });
    }

    #[test]
    fn push_blocks_at_capacity_until_closed() {
        let queue = queue(1, 1, 1, false);
        (0..3).for_each(|n| assert!(queue.push(n)));
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| queue.push(3));
            std::thread::sleep(std::time::Duration::from_millis(5));
            assert!(!reader.is_finished());
            queue.mark_written();
            assert!(reader.join().unwrap());
            let reader = scope.spawn(|| queue.push(4));
            queue.close();
            assert!(!reader.join().unwrap());
        });
        assert_eq!(queue.pop_batch(false), None);
    }

    proptest! {
        /// For all sizes every sentence leaves once, and no thread hangs.
        #[test]
        fn nothing_is_lost(
            lengths in proptest::collection::vec(1usize..20, 0..60),
            sentences in 1usize..5, words in 1usize..40, ahead in 1usize..10,
            low_latency in any::<bool>(), threads in 1usize..4,
        ) {
            let queue = queue(sentences, words, ahead, low_latency);
            let count = std::sync::Mutex::new(Vec::new());
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| while let Some(batch) = queue.pop_batch(false) {
                        assert!(batch.len() <= sentences);
                        assert!(batch.len() == 1 || batch.iter().sum::<usize>() <= words);
                        batch.iter().for_each(|_| queue.mark_written());
                        count.lock().unwrap().extend(batch);
                    });
                }
                lengths.iter().for_each(|&length| assert!(queue.push(length)));
                queue.end_input();
            });
            let mut seen = count.into_inner().unwrap();
            seen.sort_unstable();
            let mut expected = lengths.clone();
            expected.sort_unstable();
            prop_assert_eq!(seen, expected);
        }
    }
}
