//! Parallel map over a stream; results keep its order.
//!
//! One thread reads, `threads` threads work, and the calling thread writes. Two limits bound
//! memory: the queue to the workers is short, and reading stops while too many results wait for a
//! slow one before them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crossbeam::channel::{bounded, unbounded};

/// Items in flight per thread: queued, worked on, or waiting to be written.
const IN_FLIGHT_PER_THREAD: usize = 32;

/// Returns the number of threads that the machine runs simultaneously.
pub fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Maps the items of `read` by functions from `worker`, one per thread, and passes the results to
/// `write` in the order of reading.
///
/// `read` returns `None` at the end. The second argument of `write` says whether more results are
/// ready, so that it can flush if none are. With one thread, all three functions run on the
/// caller's thread.
///
/// Panics if a worker does, after the others have ended.
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
    let in_flight = IN_FLIGHT_PER_THREAD * threads;
    let items: Vec<Slot<I>> = (0..in_flight).map(|_| Slot::default()).collect();
    let results: Vec<Slot<O>> = (0..in_flight).map(|_| Slot::default()).collect();
    let (mut read_outcome, mut write_outcome) = (Ok(()), Ok(()));
    let mut read_into_slot = |slot: usize| {
        let item = read().unwrap_or_else(|error| {
            read_outcome = Err(error);
            None
        });
        let is_there = item.is_some();
        *items[slot].lock() = item;
        is_there
    };
    let mut write_from_slot = |slot: usize, more: bool| {
        let result = results[slot].lock().take().expect("stored by its worker");
        write_outcome = write(result, more);
        write_outcome.is_ok()
    };
    map_slots(
        threads,
        in_flight,
        &mut read_into_slot,
        &|run| {
            let mut work = worker();
            run(&mut |slot| {
                let item = items[slot].lock().take().expect("stored by the reader");
                *results[slot].lock() = Some(work(item));
            });
        },
        &mut write_from_slot,
    );
    write_outcome.and(read_outcome)
}

/// An item or a result on its way.
struct Slot<T>(Mutex<Option<T>>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Slot(Mutex::new(None))
    }
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker's loop, which calls the function for each of its slots.
type RunWorker<'a> = dyn FnMut(&mut dyn FnMut(usize)) + 'a;

/// Runs the threads and queues of [`ordered_map`], which pass only numbers of slots, so that the
/// code is compiled once for all types of items. `in_flight` slots are used in turn. `read` fills a
/// slot, or reports the end; `write` empties a slot, or ends the work.
fn map_slots(
    threads: usize,
    in_flight: usize,
    read: &mut (dyn FnMut(usize) -> bool + Send),
    work: &(dyn Fn(&mut RunWorker<'_>) + Sync),
    write: &mut dyn FnMut(usize, bool) -> bool,
) {
    let (item_sender, item_receiver) = bounded::<usize>(2 * threads);
    // `None` means that the worker panics.
    let (result_sender, result_receiver) = unbounded::<Option<usize>>();
    // Each item needs a permit, which is returned when its result has been written, so a slot is
    // empty when it is used again.
    let (permit_sender, permit_receiver) = bounded::<()>(in_flight);
    for _ in 0..in_flight {
        permit_sender.send(()).expect("the receiver is alive");
    }
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut slots = (0..in_flight).cycle();
            while let (Ok(()), Some(slot)) = (permit_receiver.recv(), slots.next()) {
                if !read(slot) || item_sender.send(slot).is_err() {
                    break;
                }
            }
        });
        for _ in 0..threads {
            let (items, results) = (item_receiver.clone(), result_sender.clone());
            scope.spawn(move || {
                let _guard = PanicGuard(|| {
                    // The writer may have ended already.
                    let _ = results.send(None);
                });
                work(&mut |work_on| {
                    for slot in &items {
                        work_on(slot);
                        if results.send(Some(slot)).is_err() {
                            break;
                        }
                    }
                });
            });
        }
        drop((item_receiver, result_sender));
        let mut is_ready = vec![false; in_flight];
        let mut next = 0;
        // The scope resumes a panic after every thread has ended.
        'results: while let Ok(Some(slot)) = result_receiver.recv() {
            is_ready[slot] = true;
            while std::mem::take(&mut is_ready[next]) {
                let slot = next;
                next = (next + 1) % in_flight;
                if !write(slot, !result_receiver.is_empty() || is_ready[next]) {
                    break 'results;
                }
                // The reader may have ended already.
                let _ = permit_sender.send(());
            }
        }
        // Closing both ends stops the reader and the workers.
        drop((result_receiver, permit_sender));
        reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// A guard that calls its closure on a panic: without a message for the item, the writer would wait
/// for ever.
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
