//! Coordinator of asynchronous workers: it tracks which workers compute and which wait for a batch.
//!
//! Workers get each batch from one coordinator and report to it. No lock covers the whole
//! training. A worker that has reported does nothing until it gets its next batch. So a coordinator
//! that hands out no batches and waits for all reports has exclusive use of shards and workers,
//! which validation and saving need. Each shard has a lock, and a worker holds one at a time.

/// The state of workers, as the coordinator knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Coordinator {
    /// Whether each worker computes a batch or reports it.
    busy: Vec<bool>,
    /// Whether the handing out of batches is paused.
    is_paused: bool,
}

impl Coordinator {
    /// Creates the state in which all workers wait for a batch.
    pub fn new(workers: usize) -> Self {
        Coordinator { busy: vec![false; workers], is_paused: false }
    }

    /// Returns a waiting worker and marks it as busy, unless batches are paused.
    pub fn next_idle(&mut self) -> Option<usize> {
        let idle = self.busy.iter().position(|busy| !busy).filter(|_| !self.is_paused)?;
        self.busy[idle] = true;
        Some(idle)
    }

    /// Marks a worker, which has reported, as waiting for a batch.
    ///
    /// # Panics
    /// If the worker was not busy.
    pub fn mark_idle(&mut self, worker: usize) {
        assert!(self.busy[worker], "the worker is not busy");
        self.busy[worker] = false;
    }

    /// Pauses or resumes the handing out of batches.
    pub fn set_paused(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Whether batches are paused and all workers wait, so that the coordinator has exclusive use
    /// of shards and workers.
    pub fn is_exclusive(&self) -> bool {
        self.is_paused && !self.busy.contains(&true)
    }

    /// Whether a worker is busy, so that a report will come.
    pub fn has_busy_worker(&self) -> bool {
        self.busy.contains(&true)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const SHARDS: usize = 2;

    /// State of a worker in the model of the protocol.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    enum Place {
        Waits,
        /// The worker waits for the lock of its nth shard. It visits all shards to fetch, then all
        /// to push.
        Before(usize),
        Holds(usize),
        /// Its report is on the way to the coordinator.
        Reports,
    }

    /// State of the whole protocol; every second report makes a validation due.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Protocol {
        coordinator: Coordinator,
        places: Vec<Place>,
        locks: [Option<usize>; SHARDS],
        reports: usize,
        validations: usize,
        limit: usize,
    }

    impl Protocol {
        /// Returns all states that one step of one participant can lead to.
        fn successors(&self) -> Vec<Protocol> {
            let mut all = Vec::new();
            for worker in 0..self.places.len() {
                let mut next = self.clone();
                next.places[worker] = match self.places[worker] {
                    Place::Waits | Place::Reports => continue,
                    Place::Before(step) => {
                        // Each worker begins with its own shard.
                        let lock = &mut next.locks[(worker + step) % SHARDS];
                        if lock.is_some() {
                            continue;
                        }
                        *lock = Some(worker);
                        Place::Holds(step)
                    }
                    Place::Holds(step) => {
                        next.locks[(worker + step) % SHARDS] = None;
                        match step + 1 {
                            step if step == 2 * SHARDS => Place::Reports,
                            step => Place::Before(step),
                        }
                    }
                };
                all.push(next);
            }
            // The coordinator does an exclusive task, hands out a batch, or takes a report.
            let mut next = self.clone();
            if self.coordinator.is_exclusive() {
                next.validations += 1;
                next.coordinator.set_paused(false);
                all.push(next);
                return all;
            }
            if self.reports < self.limit
                && let Some(idle) = next.coordinator.next_idle()
            {
                next.places[idle] = Place::Before(0);
                all.push(next);
            }
            for worker in 0..self.places.len() {
                if self.places[worker] == Place::Reports {
                    let mut next = self.clone();
                    next.places[worker] = Place::Waits;
                    next.coordinator.mark_idle(worker);
                    next.reports += 1;
                    if next.reports.is_multiple_of(2) {
                        next.coordinator.set_paused(true);
                    }
                    all.push(next);
                }
            }
            all
        }
    }

    /// Explores all orders of steps: during exclusive use no worker is in a shard, and there is no
    /// deadlock before the end.
    #[test]
    fn every_interleaving_is_safe_and_ends() {
        for workers in 1..=3 {
            let start = Protocol {
                coordinator: Coordinator::new(workers),
                places: vec![Place::Waits; workers],
                locks: [None; SHARDS],
                reports: 0,
                validations: 0,
                limit: 4,
            };
            let (mut seen, mut open) = (HashSet::from([start.clone()]), vec![start]);
            let mut ends = 0;
            while let Some(state) = open.pop() {
                if state.coordinator.is_exclusive() {
                    assert!(state.places.iter().all(|place| *place == Place::Waits), "{state:?}");
                    assert_eq!(state.locks, [None; SHARDS]);
                }
                let successors = state.successors();
                if successors.is_empty() {
                    ends += 1;
                    assert!(state.reports >= state.limit, "deadlock: {state:?}");
                    assert!(state.validations >= 1 && !state.coordinator.has_busy_worker());
                }
                for next in successors {
                    if seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
            assert!(ends > 0);
        }
    }
}
