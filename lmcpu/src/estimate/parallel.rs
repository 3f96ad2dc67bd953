//! A parallel map over parts, within a bound of memory.
//!
//! Parts are started in order, and a part waits while others use the memory it needs:
//! rayon's recursive splitting guarantees neither.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use crate::Result;

/// The threads and memory that work may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resources {
    /// The largest number of parts worked on at once.
    pub threads: usize,
    /// The memory for all parts, in bytes.
    pub memory: u64,
}

/// Returns the result of `work` for each part, in order; the first error ends the work. `costs`
/// holds the bytes of memory that each part needs; a part that needs more than all memory runs
/// alone.
pub(super) fn parallel_map<T: Send>(
    resources: Resources,
    costs: &[u64],
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut results: Vec<Mutex<Option<T>>> = Vec::new();
    results.resize_with(costs.len(), Mutex::default);
    run_parts(resources, costs, &|part| {
        let result = work(part)?;
        *results[part].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        Ok(())
    })?;
    let results = results.into_iter().map(|result| {
        let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        result.expect("without an error every part has its result")
    });
    Ok(results.collect())
}

/// Runs the threads of [`parallel_map`]. This code does not depend on the type of results, so that
/// it is compiled once.
fn run_parts(
    resources: Resources,
    costs: &[u64],
    work: &(dyn Fn(usize) -> Result<()> + Sync),
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let semaphore = MemorySemaphore { used: Mutex::new(0), freed: Condvar::new() };
    let run = || -> Result<()> {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            let Some(&cost) = costs.get(part) else { return Ok(()) };
            let _permit = semaphore.acquire(cost, resources.memory);
            if let Err(error) = work(part) {
                next.store(costs.len(), Ordering::Relaxed);
                return Err(error);
            }
        }
    };
    let threads = resources.threads.min(costs.len());
    if threads <= 1 {
        return run();
    }
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let mut workers = workers.into_iter();
        // A panic is raised again here; the scope waits for the other threads.
        workers.try_for_each(|worker| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

/// A bound of the bytes in use.
struct MemorySemaphore {
    used: Mutex<u64>,
    freed: Condvar,
}

impl MemorySemaphore {
    /// Waits until `cost` more bytes fit into `memory` or none are in use.
    fn acquire(&self, cost: u64, memory: u64) -> MemoryPermit<'_> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let used = self.freed.wait_while(used, |used: &mut u64| *used > 0 && *used + cost > memory);
        *used.unwrap_or_else(PoisonError::into_inner) += cost;
        MemoryPermit { semaphore: self, cost }
    }
}

/// Bytes in use, which are released when this value is dropped, also by a panic.
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
    fn results_are_in_order_and_costs_within_the_bound() {
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
