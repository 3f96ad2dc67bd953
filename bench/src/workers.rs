//! Sums over tasks on new threads: a pool would share its threads with other work.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns the sum of a worker's results for the tasks from 0 to `tasks`. Each of `threads` threads
/// has a worker from `make_worker` and takes the next task when it is free, so that rounding errors
/// of the sum depend on scheduling. If `threads` is 1, the caller's thread does all tasks.
pub fn sum_over_threads<W: FnMut(usize) -> f64>(
    threads: usize,
    tasks: usize,
    make_worker: impl Fn() -> W + Sync,
) -> f64 {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut worker = make_worker();
        let tasks = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed))
            .take_while(|&task| task < tasks);
        tasks.fold(0.0, |sum, task| sum + worker(task))
    };
    if threads == 1 {
        return work();
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_done_once() {
        for threads in [1, 3] {
            assert_eq!(sum_over_threads(threads, 101, || |task| task as f64), 5050.0);
            assert_eq!(sum_over_threads(threads, 0, || |task| task as f64), 0.0);
        }
    }
}
