//! How much is queued, and how long it takes: what a client that is sent away is told.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Seconds over which speed is measured.
const WINDOW: usize = 10;

/// Words that wait, and words that were translated of late.
pub(super) struct Load {
    queued: AtomicUsize,
    max_queued: usize,
    started: Instant,
    /// Words of each of the last seconds, with the second.
    seconds: Mutex<[(u64, usize); WINDOW]>,
}

/// Too much is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overload {
    /// When to try again.
    pub retry_after: Duration,
}

impl Load {
    pub fn new(max_queued: usize) -> Self {
        Load {
            queued: AtomicUsize::new(0),
            max_queued,
            started: Instant::now(),
            seconds: Mutex::new([(0, 0); WINDOW]),
        }
    }

    /// Makes room for `words`. What is larger than all room finds it where nothing waits.
    pub fn admit(&self, words: usize) -> Result<(), Overload> {
        let admit = |queued: usize| {
            let after = queued.saturating_add(words);
            (queued == 0 || after <= self.max_queued).then_some(after)
        };
        match self.queued.fetch_update(Ordering::AcqRel, Ordering::Acquire, admit) {
            Ok(_) => Ok(()),
            Err(queued) => Err(Overload { retry_after: self.retry_after(queued) }),
        }
    }

    /// Says that `words` wait no more.
    pub fn leave(&self, words: usize) {
        self.queued.fetch_sub(words, Ordering::AcqRel);
    }

    pub fn queued_words(&self) -> usize {
        self.queued.load(Ordering::Acquire)
    }

    /// Counts `words` that were translated.
    pub fn record_words(&self, words: usize) {
        let second = self.started.elapsed().as_secs();
        let mut seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = &mut seconds[second as usize % WINDOW];
        if slot.0 != second {
            *slot = (second, 0);
        }
        slot.1 += words;
    }

    fn retry_after(&self, queued: usize) -> Duration {
        let now = self.started.elapsed().as_secs();
        let seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = seconds.iter().filter(|(second, _)| now - second < WINDOW as u64);
        let words: usize = recent.map(|(_, words)| words).sum();
        let span = (now + 1).min(WINDOW as u64) as usize;
        let wait = queued * span / words.max(1);
        Duration::from_secs(wait.clamp(1, 60) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_told_when_to_come_back() {
        let load = Load::new(100);
        assert_eq!(load.admit(250), Ok(()), "an empty queue takes anything");
        // Nothing was translated yet, so the wait is the longest that is told.
        let overload = Overload { retry_after: Duration::from_secs(60) };
        assert_eq!(load.admit(1), Err(overload));
        load.record_words(50);
        let overload = Overload { retry_after: Duration::from_secs(5) };
        assert_eq!(load.admit(1), Err(overload), "250 words at 50 a second");
        load.leave(250);
        assert_eq!([load.admit(60), load.admit(40)], [Ok(()), Ok(())]);
        assert!(load.admit(1).is_err());
        assert_eq!(load.queued_words(), 100);
    }
}
