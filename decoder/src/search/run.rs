//! Driving a search to its end, or to the end of a sentence's time.
//!
//! A search that takes too long is begun again with narrower limits, over the
//! options that are there, and last as a greedy one that nothing interrupts. The
//! clock is read once in a few hundred scored expansions; without a time limit
//! there is no clock and no counting.

use std::time::{Duration, Instant};

use super::{JointStates, LanguageModelScores, Requests, Search, SearchSpace};

/// Expansions between two looks at the clock, some tens of microseconds.
const UNWATCHED: usize = 256;

/// A sentence's time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeLimit {
    started: Instant,
    limit: Duration,
}

impl TimeLimit {
    /// `limit` from now on for the search, and as long again for a narrower one.
    pub(crate) fn start(limit: Duration) -> Self {
        TimeLimit { started: Instant::now(), limit }
    }

    /// As if started `before` now, for tests.
    #[cfg(test)]
    pub(crate) fn started_before(before: Duration, limit: Duration) -> Self {
        TimeLimit { started: Instant::now() - before, limit }
    }

    fn is_over(self, attempts: u32) -> bool {
        self.started.elapsed() > self.limit.saturating_mul(attempts)
    }
}

/// Which search a sentence got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effort {
    /// The one the settings ask for.
    Full,
    /// One with an eighth of the stacks and pops.
    Narrow,
    /// A greedy one, from left to right.
    Greedy,
}

/// A search and what answers it.
pub(crate) struct SearchRun<'a> {
    pub(crate) search: &'a mut (dyn Search + Send),
    pub(crate) requests: &'a mut Requests,
    pub(crate) lms: &'a mut [LanguageModelScores],
    pub(crate) joint: &'a mut JointStates,
}

impl SearchRun<'_> {
    /// Searches from the joint state `begin`, within `time` where there is any;
    /// leaves the search over.
    pub(crate) fn complete(
        &mut self,
        space: &mut SearchSpace<'_>,
        begin: u32,
        time: Option<TimeLimit>,
    ) -> Effort {
        let Some(time) = time else {
            self.search.start(space, begin);
            while self.step(space) {}
            return Effort::Full;
        };
        let limits = space.limits;
        if self.complete_within(space, begin, || time.is_over(1)) {
            return Effort::Full;
        }
        space.limits = limits.narrow();
        if self.complete_within(space, begin, || time.is_over(2)) {
            return Effort::Narrow;
        }
        space.limits = limits.greedy();
        self.search.start(space, begin);
        while self.step(space) {}
        Effort::Greedy
    }

    /// Whether the search came to its end before `is_over`, which is asked before
    /// it starts and then every [`UNWATCHED`] expansions.
    fn complete_within(
        &mut self,
        space: &mut SearchSpace<'_>,
        begin: u32,
        is_over: impl Fn() -> bool,
    ) -> bool {
        if is_over() {
            return false;
        }
        self.search.start(space, begin);
        let mut unwatched = 0;
        while self.step(space) {
            unwatched += self.requests.len();
            if unwatched >= UNWATCHED {
                unwatched = 0;
                if is_over() {
                    return false;
                }
            }
        }
        true
    }

    /// One round of requests and answers; false when the search is over.
    #[inline]
    fn step(&mut self, space: &mut SearchSpace<'_>) -> bool {
        self.requests.clear();
        if !self.search.advance(space, self.requests) {
            return false;
        }
        self.requests.answer(space.system, space.options, self.lms, self.joint);
        self.search.accept(space, self.requests);
        true
    }
}
