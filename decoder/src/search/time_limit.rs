//! Search for the translation of a sentence within a time limit.
//!
//! A search that exceeds the limit is restarted with narrower limits, over the same translation
//! options. If that takes too long as well, a greedy search without a time limit follows. The clock
//! is read between steps, and not at all without a time limit. A cancelled search ends at its next
//! step in any case.

use std::time::{Duration, Instant};

use miriam_textio::CancellationToken;

use super::{Search, SearchSpace};

/// The time limit of a sentence, and the token that cancels its search.
#[derive(Clone)]
pub(crate) struct TimeLimit {
    started: Instant,
    /// `None` for a search without a time limit.
    limit: Option<Duration>,
    cancellation: Option<CancellationToken>,
}

impl TimeLimit {
    /// Starts the clock: the first search has `limit`, and the narrower one as much time again. If
    /// `limit` is `None`, only `cancellation` ends a search early.
    pub(crate) fn start(limit: Option<Duration>, cancellation: Option<CancellationToken>) -> Self {
        TimeLimit { started: Instant::now(), limit, cancellation }
    }

    /// Returns a limit whose clock was started `before` ago.
    #[cfg(test)]
    pub(crate) fn started_before(before: Duration, limit: Duration) -> Self {
        TimeLimit { started: Instant::now() - before, limit: Some(limit), cancellation: None }
    }

    fn is_cancelled(&self) -> bool {
        self.cancellation.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    /// Whether the time of `attempts` searches is over, or the search was cancelled.
    fn is_over(&self, attempts: u32) -> bool {
        self.limit.is_some_and(|limit| self.started.elapsed() > limit.saturating_mul(attempts))
            || self.is_cancelled()
    }
}

/// The kind of search that found the translation of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SearchEffort {
    /// The limits of the settings.
    Full,
    /// An eighth of the stack size and the pop limit.
    Narrow,
    /// A greedy search from left to right.
    Greedy,
}

/// Runs `search` from the joint state `begin`, within the limit of `time` if there is one. Returns
/// `None` if the search was cancelled.
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

/// Runs `search` until it ends or `is_over`, which is called before each step, returns true.
/// Returns whether the search ended.
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
