//! Work on new threads: a measurement decides on their number, and a pool would share them.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls the workers that `make_worker` gives to `threads` threads with each task from 0 to
/// `tasks`, first come, first served. Returns the sum of what they return, whose order of
/// additions depends on the threads. One thread is the caller's own.
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
