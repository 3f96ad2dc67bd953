//! From one reader to the threads that translate: sentences wait here, are sorted by
//! length, and leave in batches.
//!
//! Threads share what has been read, so that a short text is spread over all of them and
//! sentences of one length meet whoever takes them. What is read and not yet written is
//! bounded: a slow sentence holds the reader up, not the memory.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};

use miriam_textio::Stop;

/// How sentences are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sorting {
    /// Sentences of a batch.
    pub sentences: usize,
    /// Words of a batch, of the source; one sentence may have more; 0 is no limit.
    pub words: usize,
    /// Sentences that are read ahead and sorted.
    pub ahead: usize,
    /// Whether they are sorted.
    pub sorted: bool,
    /// Whether whoever has nothing to do takes what is there, without waiting for so many.
    pub promptly: bool,
}

impl Sorting {
    /// Batches of so many sentences and words, so many of which are read ahead and sorted.
    pub fn new(mini_batch: usize, words: usize, maxi_batch: usize) -> Self {
        let sentences = mini_batch.max(1);
        let ahead = sentences.saturating_mul(maxi_batch.max(1)).min(1 << 20);
        Sorting { sentences, words, ahead, sorted: true, promptly: false }
    }
}

/// Sentences between the reader and the threads.
pub(crate) struct Queue<T> {
    sorting: Sorting,
    length: fn(&T) -> usize,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: Vec<T>,
    batches: VecDeque<Vec<T>>,
    /// Sentences that were read and not yet written.
    in_flight: usize,
    ended: bool,
    closed: bool,
}

impl<T> Queue<T> {
    pub fn new(sorting: Sorting, length: fn(&T) -> usize) -> Self {
        let state = State {
            waiting: Vec::new(),
            batches: VecDeque::new(),
            in_flight: 0,
            ended: false,
            closed: false,
        };
        Queue { sorting, length, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Sentences that may be under way: those that are translated, those that are ready for
    /// it, and those that wait to be sorted.
    fn most(&self) -> usize {
        3 * self.sorting.ahead
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Adds a sentence, as soon as there is room; false if nobody wants more.
    pub fn push(&self, item: T) -> bool {
        let mut state = self.lock();
        while state.in_flight >= self.most() && !state.closed {
            state = self.wait(state);
        }
        if state.closed {
            return false;
        }
        state.in_flight += 1;
        state.waiting.push(item);
        // Whoever waits for all that is read ahead need not hear of each.
        if self.sorting.promptly || state.waiting.len() >= self.sorting.ahead {
            self.changed.notify_all();
        }
        true
    }

    /// No more will come.
    pub fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// What is here is thrown away, and nobody waits any more.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.waiting.clear();
        state.batches.clear();
        self.changed.notify_all();
    }

    /// A sentence has been written.
    pub fn written(&self) {
        let mut state = self.lock();
        state.in_flight -= 1;
        if state.in_flight + 1 == self.most() {
            self.changed.notify_all();
        }
    }

    /// The next batch, or nothing when all is over. Who is `busy` does not wait for one, and
    /// may get an empty batch.
    pub fn take(&self, busy: bool) -> Option<Vec<T>> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if state.batches.is_empty() {
                let enough = if self.sorting.promptly { 1 } else { self.sorting.ahead };
                if state.waiting.len() >= enough || state.ended {
                    let waiting = std::mem::take(&mut state.waiting);
                    self.sort(waiting, &mut state.batches);
                    self.changed.notify_all();
                }
            }
            if let Some(batch) = state.batches.pop_front() {
                return Some(batch);
            }
            if state.ended {
                return None;
            }
            if busy {
                return Some(Vec::new());
            }
            state = self.wait(state);
        }
    }

    /// The same until `stop` is asked for; then what waits is thrown away.
    pub fn take_unless(&self, stop: &Stop, busy: bool) -> Option<Vec<T>> {
        if stop.is_asked() {
            self.close();
        }
        self.take(busy)
    }

    /// Cuts sentences into batches. The longest come first, so that none of them is the
    /// last, alone.
    fn sort(&self, mut waiting: Vec<T>, batches: &mut VecDeque<Vec<T>>) {
        let length = self.length;
        if self.sorting.sorted {
            waiting.sort_by_key(|item| std::cmp::Reverse(length(item)));
        }
        let (mut batch, mut words) = (Vec::new(), 0usize);
        for item in waiting {
            let more = length(&item);
            let full = batch.len() >= self.sorting.sentences
                || (self.sorting.words > 0 && words.saturating_add(more) > self.sorting.words);
            if full && !batch.is_empty() {
                batches.push_back(std::mem::take(&mut batch));
                words = 0;
            }
            words = words.saturating_add(more);
            batch.push(item);
        }
        if !batch.is_empty() {
            batches.push_back(batch);
        }
    }
}

/// Closes a queue when its thread panics, and asks for the end: the others would wait for
/// ever, for sentences or for input.
pub(crate) struct Alarm<'a, T>(pub &'a Queue<T>, pub &'a Stop);

impl<T> Drop for Alarm<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
            self.1.ask();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn queue(sentences: usize, words: usize, ahead: usize, promptly: bool) -> Queue<usize> {
        Queue::new(Sorting { sentences, words, ahead, sorted: true, promptly }, |&n| n)
    }

    #[test]
    fn what_is_read_ahead_is_sorted_and_cut() {
        let queue = queue(2, 10, 5, false);
        for length in [3, 9, 1, 4, 4] {
            assert!(queue.push(length));
        }
        for batch in [vec![9], vec![4, 4], vec![3, 1]] {
            assert_eq!(queue.take(false), Some(batch));
        }
        assert_eq!(queue.take(true), Some(vec![]), "who is busy does not wait");
        queue.push(2);
        queue.end();
        assert_eq!(queue.take(false), Some(vec![2]));
        assert_eq!(queue.take(true), None);
    }

    #[test]
    fn what_trickles_in_is_taken_at_once() {
        let queue = queue(8, 100, 50, true);
        queue.push(3);
        assert_eq!(queue.take(false), Some(vec![3]));
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(queue.take(false), Some(vec![7])));
            std::thread::sleep(std::time::Duration::from_millis(5));
            queue.push(7);
        });
    }

    #[test]
    fn the_reader_waits_for_room_and_a_closed_queue_for_nobody() {
        let queue = queue(1, 1, 1, false);
        (0..3).for_each(|n| assert!(queue.push(n)));
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| queue.push(3));
            std::thread::sleep(std::time::Duration::from_millis(5));
            assert!(!reader.is_finished());
            queue.written();
            assert!(reader.join().unwrap());
            let reader = scope.spawn(|| queue.push(4));
            queue.close();
            assert!(!reader.join().unwrap());
        });
        assert_eq!(queue.take(false), None);
    }

    proptest! {
        /// Whatever the sizes, every sentence leaves once, and threads do not hang.
        #[test]
        fn nothing_is_lost(
            lengths in proptest::collection::vec(1usize..20, 0..60),
            sentences in 1usize..5, words in 1usize..40, ahead in 1usize..10,
            promptly in any::<bool>(), threads in 1usize..4,
        ) {
            let queue = queue(sentences, words, ahead, promptly);
            let count = std::sync::Mutex::new(Vec::new());
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| while let Some(batch) = queue.take(false) {
                        assert!(batch.len() <= sentences);
                        assert!(batch.len() == 1 || batch.iter().sum::<usize>() <= words);
                        batch.iter().for_each(|_| queue.written());
                        count.lock().unwrap().extend(batch);
                    });
                }
                lengths.iter().for_each(|&length| assert!(queue.push(length)));
                queue.end();
            });
            let mut seen = count.into_inner().unwrap();
            seen.sort_unstable();
            let mut expected = lengths.clone();
            expected.sort_unstable();
            prop_assert_eq!(seen, expected);
        }
    }
}
