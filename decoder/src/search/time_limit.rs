//! Driving a search to its end, or to the end of a sentence's time.
//!
//! A search that takes too long is begun again with narrower limits, over the
//! same options, and last as a greedy one that nothing interrupts. The
//! clock is read between steps; without a time limit there is no clock.

use std::time::{Duration, Instant};

use super::{Search, SearchSpace};

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

/// How wide the search of a sentence was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SearchEffort {
    /// That of the settings.
    Full,
    /// One with an eighth of the stacks and pops.
    Narrow,
    /// A greedy one, from left to right.
    Greedy,
}

/// Runs `search` from the joint state `begin`, within `time` where it is limited.
pub(crate) fn run_search(
    search: &mut dyn Search,
    space: &mut SearchSpace<'_>,
    begin: u32,
    time: Option<TimeLimit>,
) -> SearchEffort {
    let limits = space.limits;
    if let Some(time) = time {
        if run_search_within(search, space, begin, || time.is_over(1)) {
            return SearchEffort::Full;
        }
        space.limits = limits.narrowed();
        if run_search_within(search, space, begin, || time.is_over(2)) {
            return SearchEffort::Narrow;
        }
        space.limits = limits.to_greedy();
    }
    space.stateful_scorers.restart();
    search.start(space, begin);
    while search.step(space) {}
    if time.is_some() { SearchEffort::Greedy } else { SearchEffort::Full }
}

/// Whether the search ended before `is_over`, which is called before each step.
fn run_search_within(
    search: &mut dyn Search,
    space: &mut SearchSpace<'_>,
    begin: u32,
    is_over: impl Fn() -> bool,
) -> bool {
    if is_over() {
        return false;
    }
    space.stateful_scorers.restart();
    search.start(space, begin);
    while search.step(space) {
        if is_over() {
            return false;
        }
    }
    true
}
