//! The same work over many parts, on a number of threads.
//!
//! Parts are taken in their order, so at most as many are in memory as there
//! are threads; that is what rayon's splitting in halves does not promise.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::Result;

/// What `work` makes of each of `parts` parts, in their order; the first error
/// ends the work.
pub(super) fn parallel_map<T: Send>(
    threads: usize,
    parts: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let run = || -> Result<Vec<(usize, T)>> {
        let mut done = Vec::new();
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= parts {
                return Ok(done);
            }
            match work(part) {
                Ok(result) => done.push((part, result)),
                Err(error) => {
                    next.store(parts, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    let mut done = if threads <= 1 || parts <= 1 {
        run()?
    } else {
        let outcomes = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.min(parts)).map(|_| scope.spawn(run)).collect();
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
