//! Running of a search to its end, or to the end of a sentence's time.
//!
//! A search that takes too long is restarted with narrower limits, over the same options, and at
//! last as a greedy one without a time limit. The clock is read between steps; without a time limit
//! there is no clock. A cancelled search ends at its next step, whatever its limits are.

use std::time::{Duration, Instant};

use miriam_textio::CancellationToken;

use super::{Search, SearchSpace};

/// A sentence's time, and the request to give it up.
#[derive(Clone)]
pub(crate) struct TimeLimit {
    started: Instant,
    /// `None` for a search without a time limit.
    limit: Option<Duration>,
    cancellation: Option<CancellationToken>,
}

impl TimeLimit {
    /// Gives the search `limit` from now on, and a narrower one the same time again. Without a
    /// limit there is only `cancellation`.
    pub(crate) fn start(limit: Option<Duration>, cancellation: Option<CancellationToken>) -> Self {
        TimeLimit { started: Instant::now(), limit, cancellation }
    }

    /// Makes a limit as if started `before` now, for tests.
    #[cfg(test)]
    pub(crate) fn started_before(before: Duration, limit: Duration) -> Self {
        TimeLimit { started: Instant::now() - before, limit: Some(limit), cancellation: None }
    }

    fn is_cancelled(&self) -> bool {
        self.cancellation.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    fn is_over(&self, attempts: u32) -> bool {
        self.limit.is_some_and(|limit| self.started.elapsed() > limit.saturating_mul(attempts))
            || self.is_cancelled()
    }
}

/// The effort of the search of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SearchEffort {
    /// That of the settings.
    Full,
    /// One with an eighth of the stacks and pops.
    Narrow,
    /// A greedy one, from left to right.
    Greedy,
}

/// Runs `search` from the joint state `begin`, within `time` if it is limited; `None` if it was
/// cancelled.
pub(crate) fn run_search(
    search: &mut dyn Search,
    space: &mut SearchSpace<'_>,
    begin: u32,
    time: Option<&TimeLimit>,
) -> Option<SearchEffort> {
    let limits = space.limits;
    let limited = time.filter(|time| time.limit.is_some());
    if let Some(time) = limited {
        if run_search_within(search, space, begin, || time.is_over(1)) {
            return Some(SearchEffort::Full);
        }
        space.limits = limits.narrowed();
        if run_search_within(search, space, begin, || time.is_over(2)) {
            return Some(SearchEffort::Narrow);
        }
        space.limits = limits.to_greedy();
    }
    if !run_search_within(search, space, begin, || time.is_some_and(TimeLimit::is_cancelled)) {
        return None;
    }
    Some(if limited.is_some() { SearchEffort::Greedy } else { SearchEffort::Full })
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
