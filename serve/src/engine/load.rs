//! Length of the queue and speed of the engine, which together give the Retry-After.
//!
//! Speed is measured in words per second of busy time, so idle time does not lower it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::refusal::Refusal;

/// Seconds of work over which speed is measured.
const WINDOW: f64 = 10.0;

/// The assumption before the first measurement: words per second, and its weight in seconds.
const ASSUMED_SPEED: f64 = 1000.0;
const ASSUMED_SECONDS: f64 = 0.1;

/// The longest time after which a client is told to retry, in seconds.
const MAX_WAIT: f64 = 60.0;

/// The words in the queues, and the speed of translation.
pub(super) struct Load {
    max_queued: usize,
    state: Mutex<State>,
}

struct State {
    queued: usize,
    /// The number of words that are being translated.
    searched: usize,
    /// Busy time up to this moment is in `seconds`; `None` if nothing is queued or being
    /// translated.
    busy_since: Option<Instant>,
    /// The number of finished words, starting with those of the assumption. It is scaled down
    /// together with `seconds` when `seconds` exceeds [`WINDOW`].
    words: f64,
    /// The busy time in seconds, starting with [`ASSUMED_SECONDS`].
    seconds: f64,
}

impl Load {
    pub fn new(max_queued: usize) -> Self {
        let state = State {
            queued: 0,
            searched: 0,
            busy_since: None,
            words: ASSUMED_SPEED * ASSUMED_SECONDS,
            seconds: ASSUMED_SECONDS,
        };
        Load { max_queued, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves room for `words`. A request larger than the queue fits only into an empty queue.
    pub fn admit(&self, words: usize) -> Result<(), Refusal> {
        self.lock().admit(words, self.max_queued, Instant::now())
    }

    /// Removes `words` from the queue because they are dropped.
    pub fn drop_queued(&self, words: usize) {
        self.lock().change(Instant::now(), |state| state.queued -= words);
    }

    /// Removes `words` from the queue because their search begins.
    pub fn begin_search(&self, words: usize) {
        self.lock().change(Instant::now(), |state| {
            state.queued -= words;
            state.searched += words;
        });
    }

    /// Records that the search of `words` has ended, with any outcome.
    pub fn end_search(&self, words: usize) {
        self.lock().change(Instant::now(), |state| {
            state.searched -= words;
            state.words += words as f64;
        });
    }

    pub fn queued_words(&self) -> usize {
        self.lock().queued
    }
}

impl State {
    fn admit(&mut self, words: usize, max_queued: usize, now: Instant) -> Result<(), Refusal> {
        let after = self.queued.saturating_add(words);
        if self.queued > 0 && after > max_queued {
            self.change(now, |_| {});
            // The request fits as soon as this part of the queue is finished.
            let excess = (after - max_queued).min(self.queued);
            let wait = excess as f64 * self.seconds / self.words.max(1.0);
            return Err(Refusal::Overloaded(Duration::from_secs_f64(wait.min(MAX_WAIT))));
        }
        self.change(now, |state| state.queued = after);
        Ok(())
    }

    /// Counts the time until now as busy if there was work, and then makes a change.
    fn change(&mut self, now: Instant, change: impl FnOnce(&mut State)) {
        if let Some(since) = self.busy_since {
            self.seconds += now.saturating_duration_since(since).as_secs_f64();
        }
        change(self);
        self.busy_since = (self.queued + self.searched > 0).then_some(now);
        if self.seconds > WINDOW {
            let part = WINDOW / self.seconds;
            (self.words, self.seconds) = (self.words * part, WINDOW);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(outcome: Result<(), Refusal>) -> f64 {
        let Err(Refusal::Overloaded(wait)) = outcome else { panic!("{outcome:?}") };
        wait.as_secs_f64()
    }

    #[test]
    fn a_request_that_does_not_fit_gets_a_time_to_retry() {
        let load = Load::new(100);
        let mut state = load.lock();
        let began = Instant::now();
        let at = |time: f64| began + Duration::from_secs_f64(time);
        assert_eq!(state.admit(250, 100, began), Ok(()), "an empty queue takes anything");
        // Nothing was translated yet: 151 words too many, at 1000 a second.
        assert!((seconds(state.admit(1, 100, began)) - 0.151).abs() < 1e-6);
        // 100 words took two seconds, and 100 were assumed to take a tenth of a second.
        state.change(at(0.0), |state| (state.queued, state.searched) = (150, 100));
        state.change(at(2.0), |state| (state.searched, state.words) = (0, state.words + 100.0));
        let speed = 200.0 / 2.1;
        assert!((seconds(state.admit(1, 100, at(2.0))) - 51.0 / speed).abs() < 1e-6);
        // While nothing more is done the wait grows, up to a minute.
        assert!(seconds(state.admit(1, 100, at(9.0))) > 3.0 * 51.0 / speed);
        assert_eq!(seconds(state.admit(1, 100, at(1e6))), MAX_WAIT);
    }

    #[test]
    fn idle_time_is_not_counted() {
        let load = Load::new(100);
        let mut state = load.lock();
        let began = Instant::now();
        let at = |time: f64| began + Duration::from_secs_f64(time);
        // Twice 2500 words in 2.5 seconds of work, an hour apart.
        for start in [0.0, 3600.0] {
            assert_eq!(state.admit(2500, 100, at(start)), Ok(()));
            state.change(at(start + 2.5), |state| {
                (state.queued, state.words) = (0, state.words + 2500.0);
            });
        }
        assert_eq!(state.admit(400, 100, at(7200.0)), Ok(()));
        let wait = seconds(state.admit(100, 100, at(7200.0)));
        assert!((wait - 0.4).abs() < 0.01, "{wait}");
    }

    #[test]
    fn room_is_given_back() {
        let load = Load::new(100);
        assert_eq!(load.admit(250), Ok(()));
        load.begin_search(200);
        load.drop_queued(50);
        load.end_search(200);
        assert_eq!([load.admit(60), load.admit(40)], [Ok(()), Ok(())]);
        assert!(load.admit(1).is_err());
        assert_eq!(load.queued_words(), 100);
    }
}
