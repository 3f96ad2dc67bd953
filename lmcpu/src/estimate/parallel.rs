//! The same work over many parts, on a number of threads and within a bound of
//! memory.
//!
//! Parts are taken in their order, and a part waits while others use the memory
//! it needs: that is what rayon's splitting in halves does not promise.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use crate::Result;

/// What work has at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resources {
    /// How many parts are worked on at once, at most.
    pub threads: usize,
    /// Bytes of memory for all of them.
    pub memory: u64,
}

/// What `work` makes of each part, in their order; the first error ends the
/// work. `costs` holds the bytes of memory that each part needs; one that needs
/// more than there are runs alone.
pub(super) fn parallel_map<T: Send>(
    means: Resources,
    costs: &[u64],
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let gate = MemorySemaphore { used: Mutex::new(0), freed: Condvar::new() };
    let run = || -> Result<Vec<(usize, T)>> {
        let mut done = Vec::new();
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            let Some(&cost) = costs.get(part) else { return Ok(done) };
            let _inside = gate.acquire(cost, means.memory);
            match work(part) {
                Ok(result) => done.push((part, result)),
                Err(error) => {
                    next.store(costs.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    let threads = means.threads.min(costs.len());
    let mut done = if threads <= 1 {
        run()?
    } else {
        let outcomes = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
            let join = |worker: thread::ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().map(join).collect::<Result<Vec<_>>>()
        })?;
        outcomes.into_iter().flatten().collect()
    };
    done.sort_unstable_by_key(|(part, _)| *part);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

/// Counts the bytes in use.
struct MemorySemaphore {
    used: Mutex<u64>,
    freed: Condvar,
}

impl MemorySemaphore {
    /// Waits until `cost` fits into `memory` or nobody is inside.
    fn acquire(&self, cost: u64, memory: u64) -> MemoryPermit<'_> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |used: &mut u64| *used > 0 && *used + cost > memory;
        let used = self.freed.wait_while(used, full);
        *used.unwrap_or_else(PoisonError::into_inner) += cost;
        MemoryPermit { semaphore: self, cost }
    }
}

/// Gives its bytes back when dropped, by a panic too.
struct MemoryPermit<'g> {
    semaphore: &'g MemorySemaphore,
    cost: u64,
}

impl Drop for MemoryPermit<'_> {
    fn drop(&mut self) {
        *self.semaphore.used.lock().unwrap_or_else(PoisonError::into_inner) -= self.cost;
        self.semaphore.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn results_keep_the_order_and_costs_the_bound() {
        let costs: Vec<u64> = (0..50).map(|i| i % 7).collect();
        for threads in [1, 3] {
            let used = AtomicUsize::new(0);
            let done = parallel_map(Resources { threads, memory: 5 }, &costs, |part| {
                let cost = costs[part] as usize;
                let before = used.fetch_add(cost, Ordering::SeqCst);
                assert!(before == 0 || before + cost <= 5);
                thread::yield_now();
                used.fetch_sub(cost, Ordering::SeqCst);
                Ok(part)
            });
            assert_eq!(done.unwrap(), (0..50).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_ends_the_work() {
        let fail = |part| match part {
            3 => Err(Error::InvalidOptions { reason: "three".into() }),
            _ => Ok(()),
        };
        let outcome = parallel_map(Resources { threads: 2, memory: 0 }, &[1; 9], fail);
        assert_eq!(outcome.unwrap_err().to_string(), "three");
    }
}
