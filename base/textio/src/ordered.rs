//! A parallel map over a stream whose results keep the order of the stream.
//!
//! One thread reads, `threads` work, the calling thread writes. Two bounds keep
//! memory flat: the queue to the workers is short, and reading stops while too
//! many results wait for a slow one ahead of them.

use std::collections::VecDeque;
use std::thread;

use crossbeam::channel::{bounded, unbounded};

/// Items in flight per thread: queued, worked on, or waiting to be written.
const IN_FLIGHT_PER_THREAD: usize = 32;

/// The number of threads the machine runs at once.
pub fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Maps the items of `read` by functions that `worker` makes, one per thread, and passes
/// the results to `write` in the order of reading.
///
/// `read` returns `None` at the end. The second argument of `write` says whether more
/// results are ready, so that it can flush when they are not. With one thread no thread is
/// started: all three run on the caller's.
///
/// Panics when a worker does, after the others have ended.
///
/// # Errors
/// The first error of `read` or `write`, which ends the work.
///
/// ```
/// use miriam_textio::ordered_map;
///
/// let (mut numbers, mut squares) = (1..=100, Vec::new());
/// ordered_map(
///     4,
///     || Ok::<_, ()>(numbers.next()),
///     || |n: u64| n * n,
///     |square, _| {
///         squares.push(square);
///         Ok(())
///     },
/// )?;
/// assert!(squares.into_iter().eq((1..=100).map(|n| n * n)));
/// # Ok::<(), ()>(())
/// ```
pub fn ordered_map<I, O, E, W>(
    threads: usize,
    mut read: impl FnMut() -> Result<Option<I>, E> + Send,
    worker: impl Fn() -> W + Sync,
    mut write: impl FnMut(O, bool) -> Result<(), E>,
) -> Result<(), E>
where
    I: Send,
    O: Send,
    E: Send,
    W: FnMut(I) -> O,
{
    if threads <= 1 {
        let mut work = worker();
        while let Some(item) = read()? {
            write(work(item), false)?;
        }
        return Ok(());
    }
    let (item_sender, item_receiver) = bounded::<(u64, I)>(2 * threads);
    // A number without a result says that the worker is panicking.
    let (result_sender, result_receiver) = unbounded::<(u64, Option<O>)>();
    // A permit is taken for each item read and returned when its result has been
    // written.
    let (permit_sender, permit_receiver) = bounded::<()>(IN_FLIGHT_PER_THREAD * threads);
    for _ in 0..IN_FLIGHT_PER_THREAD * threads {
        permit_sender.send(()).expect("the receiver is alive");
    }
    thread::scope(|scope| {
        let reader = scope.spawn(move || -> Result<(), E> {
            let mut number = 0;
            while permit_receiver.recv().is_ok() {
                let Some(item) = read()? else { break };
                if item_sender.send((number, item)).is_err() {
                    break;
                }
                number += 1;
            }
            Ok(())
        });
        for _ in 0..threads {
            let (items, results, worker) = (item_receiver.clone(), result_sender.clone(), &worker);
            scope.spawn(move || {
                let _guard = PanicGuard(|| drop(results.send((u64::MAX, None))));
                let mut work = worker();
                for (number, item) in items {
                    if results.send((number, Some(work(item)))).is_err() {
                        break;
                    }
                }
            });
        }
        drop((item_receiver, result_sender));
        let mut waiting: VecDeque<Option<O>> = VecDeque::new();
        let mut next = 0u64;
        let mut outcome = Ok(());
        'results: for (number, result) in &result_receiver {
            if result.is_none() {
                // The scope resumes the panic once every thread has ended.
                break;
            }
            let index = (number - next) as usize;
            if waiting.len() <= index {
                waiting.resize_with(index + 1, || None);
            }
            waiting[index] = result;
            while let Some(Some(_)) = waiting.front() {
                let result = waiting.pop_front().flatten().expect("matched above");
                next += 1;
                let more = !result_receiver.is_empty() || matches!(waiting.front(), Some(Some(_)));
                outcome = write(result, more);
                if outcome.is_err() {
                    break 'results;
                }
                // The reader may have ended already.
                let _ = permit_sender.send(());
            }
        }
        // Closing both ends stops the reader and the workers.
        drop((result_receiver, permit_sender));
        let read_outcome = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        outcome.and(read_outcome)
    })
}

/// Calls its closure when a panic drops it: without a message for the item that
/// panicked the writer would wait for ever.
struct PanicGuard<F: Fn()>(F);

impl<F: Fn()> Drop for PanicGuard<F> {
    fn drop(&mut self) {
        if thread::panicking() {
            (self.0)();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn run(threads: usize, n: u64) -> Vec<u64> {
        let mut next = 0;
        let mut out = Vec::new();
        let read = || {
            next += 1;
            Ok::<_, ()>((next <= n).then_some(next))
        };
        let worker = || {
            |x: u64| {
                if x.is_multiple_of(7) {
                    thread::sleep(std::time::Duration::from_micros(300));
                }
                x * x
            }
        };
        ordered_map(threads, read, worker, |x, _| {
            out.push(x);
            Ok(())
        })
        .unwrap();
        out
    }

    #[test]
    fn order_is_kept_with_any_number_of_threads() {
        let expected: Vec<u64> = (1..=1000).map(|x| x * x).collect();
        for threads in [1, 2, 5] {
            assert_eq!(run(threads, 1000), expected);
        }
        assert!(run(3, 0).is_empty());
    }

    #[test]
    fn errors_of_reader_and_writer_end_the_work() {
        for threads in [1, 3] {
            let mut n = 0;
            let result = ordered_map(
                threads,
                || {
                    n += 1;
                    if n == 50 { Err("read") } else { Ok(Some(n)) }
                },
                || |x: i32| x,
                |_, _| Ok(()),
            );
            assert_eq!(result, Err("read"));
            let count = AtomicU64::new(0);
            let result = ordered_map(
                threads,
                || Ok(Some(count.fetch_add(1, Ordering::Relaxed))),
                || |x: u64| x,
                |x, _| if x == 20 { Err("write") } else { Ok(()) },
            );
            assert_eq!(result, Err("write"));
            assert!(count.load(Ordering::Relaxed) < 1000, "reading stopped");
        }
    }

    #[test]
    fn a_panic_of_a_worker_ends_the_work() {
        let outcome = std::panic::catch_unwind(|| {
            let mut n = 0u64;
            let read = || {
                n += 1;
                Ok::<_, ()>(Some(n))
            };
            let worker = || |x: u64| assert!(x != 100, "the item that fails");
            ordered_map(3, read, worker, |_, _| Ok(()))
        });
        assert!(outcome.is_err());
    }

    #[test]
    fn a_slow_item_does_not_let_results_pile_up() {
        let count = AtomicU64::new(0);
        let read = || {
            let n = count.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ()>((n < 10_000).then_some(n))
        };
        let worker = || {
            let count = &count;
            move |x: u64| {
                if x == 0 {
                    thread::sleep(std::time::Duration::from_millis(50));
                    assert!(count.load(Ordering::SeqCst) <= 2 * IN_FLIGHT_PER_THREAD as u64 + 2);
                }
                x
            }
        };
        ordered_map(2, read, worker, |_, _| Ok(())).unwrap();
    }
}
