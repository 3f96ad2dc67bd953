//! Permits to search, granted in the order of the requests for them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A fixed number of permits.
pub(super) struct Permits {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    free: usize,
    next_ticket: u64,
    /// Tickets of waiting threads, with the times of their arrival.
    waiting: VecDeque<(u64, Instant)>,
}

/// A permit, which is returned when dropped.
pub struct Permit<'a>(&'a Permits);

impl Permits {
    pub fn new(count: usize) -> Self {
        let state = State { free: count, next_ticket: 0, waiting: VecDeque::new() };
        Permits { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits for a permit, after all threads that came before.
    pub fn acquire(&self) -> Permit<'_> {
        let mut state = self.lock();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.waiting.push_back((ticket, Instant::now()));
        while state.free == 0 || state.waiting.front().is_none_or(|(first, _)| *first != ticket) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.pop_front();
        state.free -= 1;
        if state.free > 0 && !state.waiting.is_empty() {
            self.changed.notify_all();
        }
        Permit(self)
    }

    /// Returns how long the first waiting thread has waited.
    pub fn longest_wait(&self) -> Duration {
        self.lock().waiting.front().map_or(Duration::ZERO, |(_, since)| since.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.lock().free += 1;
        self.0.changed.notify_all();
    }
}
