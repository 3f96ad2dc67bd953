//! An ordered pipeline: one reader, several workers, and the calling thread, which writes
//! their results in input order.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc;
use std::thread;

use miriam_textio::{CancellationToken, Error as TextError};

use super::queue::{BatchQueue, PanicGuard};
use crate::{Error, Result};

/// Function that sends the result for a number to the writer.
pub(crate) type ResultSender<'a, R> = dyn Fn(u64, R) -> Result<()> + 'a;

/// Runs `read`, which fills `queue`, on one thread, and `work`, which empties it, on `threads`
/// others. `work` sends a result for each number from 0 on. `write` gets the results in order,
/// and whether the next one is available already.
///
/// An error of `work` or `write` closes the queue and cancels `stop`, so that no thread waits for
/// input. After an error of `write`, sending results fails. An error of `read` only ends the input:
/// the items read before it are still processed. If there are several errors, the error of `write`
/// is returned, else that of `work`.
///
/// If `stop` was cancelled and the queue was closed, some numbers have no result. Results after the
/// first missing one are dropped.
pub(crate) fn run_ordered<T: Send, R: Send>(
    queue: &BatchQueue<T>,
    threads: usize,
    stop: &CancellationToken,
    read: impl FnOnce() -> Result<()> + Send,
    work: impl Fn(&ResultSender<R>) -> Result<()> + Sync,
    mut write: impl FnMut(R, bool) -> Result<()>,
) -> Result<()> {
    let (sender, results) = mpsc::channel::<(u64, R)>();
    thread::scope(|scope| {
        // Every thread has a guard, since the others would wait for a thread that panics.
        let _alarm = PanicGuard(queue, stop);
        let reader = scope.spawn(|| {
            let _alarm = PanicGuard(queue, stop);
            let outcome = read();
            queue.end_input();
            outcome
        });
        let workers: Vec<_> = (0..threads.max(1))
            .map(|_| {
                let (sender, work) = (sender.clone(), &work);
                scope.spawn(move || {
                    let _alarm = PanicGuard(queue, stop);
                    // The writer is gone only if it failed; its own error is returned, not this
                    // one.
                    let send =
                        |number, result| sender.send((number, result)).or(Err(writer_gone()));
                    let outcome = work(&send);
                    if outcome.is_err() {
                        queue.close();
                        stop.cancel();
                    }
                    outcome
                })
            })
            .collect();
        drop(sender);
        let mut waiting = BTreeMap::new();
        let (mut next, mut outcome) = (0, Ok(()));
        'results: while let Ok((number, result)) = results.recv() {
            waiting.insert(number, result);
            // Results that came meanwhile are written before output is flushed.
            waiting.extend(results.try_iter());
            while let Some(result) = waiting.remove(&next) {
                next += 1;
                outcome = write(result, waiting.contains_key(&next));
                if outcome.is_err() {
                    queue.close();
                    stop.cancel();
                    break 'results;
                }
                queue.mark_written();
            }
        }
        drop(results);
        let raise = |panic| std::panic::resume_unwind(panic);
        let worked = workers.into_iter().map(|worker| worker.join().unwrap_or_else(raise));
        let worked = worked.fold(Ok(()), Result::and);
        let read = reader.join().unwrap_or_else(raise);
        outcome.and(worked).and(read)
    })
}

/// Returns the error of a worker whose writer has ended.
pub(super) fn writer_gone() -> Error {
    TextError::io("output", "write", io::ErrorKind::BrokenPipe.into()).into()
}

#[cfg(test)]
mod tests {
    use super::super::queue::QueueOptions;
    use super::*;
    use crate::batch::BatchLimits;
    use std::path::Path;

    fn queue(ahead: usize) -> BatchQueue<u64> {
        let sorting = QueueOptions {
            limits: BatchLimits { max_sentences: 3, max_tokens: 0 },
            read_ahead: ahead,
            sort_by_length: true,
            low_latency: false,
        };
        BatchQueue::new(sorting, |&n| (n as usize * 7) % 5)
    }

    fn failure() -> Error {
        Error::unsupported(Path::new("x"), "wanted")
    }

    /// Computes the squares of the first `count` numbers, with an error where `fail` returns true.
    fn squares(
        threads: usize,
        count: u64,
        fail: impl Fn(&str, u64) -> bool + Sync,
    ) -> Result<Vec<u64>> {
        let (queue, stop) = (queue(10), CancellationToken::new());
        let mut out = Vec::new();
        let check = |place: &str, n| if fail(place, n) { Err(failure()) } else { Ok(()) };
        let read = || {
            for n in 0..count {
                check("read", n)?;
                if !queue.push(n) {
                    break;
                }
            }
            Ok(())
        };
        let work = |send: &ResultSender<u64>| {
            while let Some(batch) = queue.pop_batch(false) {
                for n in batch {
                    check("work", n)?;
                    send(n, n * n)?;
                }
            }
            Ok(())
        };
        run_ordered(&queue, threads, &stop, read, work, |square, _| {
            out.push(square);
            check("write", out.len() as u64)
        })?;
        Ok(out)
    }

    #[test]
    fn results_come_in_order() {
        for threads in [1, 2, 4] {
            let expected: Vec<u64> = (0..500).map(|n| n * n).collect();
            assert_eq!(squares(threads, 500, |_, _| false).unwrap(), expected);
            assert!(squares(threads, 0, |_, _| false).unwrap().is_empty());
        }
    }

    #[test]
    fn an_error_anywhere_stops_the_pipeline() {
        for threads in [1, 3] {
            for failing in ["read", "work", "write"] {
                let result = squares(threads, 10_000, |place, n| place == failing && n == 77);
                assert!(result.unwrap_err().to_string().contains("wanted"), "{failing}");
            }
        }
    }

    #[test]
    fn cancellation_keeps_a_contiguous_prefix() {
        let (queue, stop) = (queue(10), CancellationToken::new());
        let (mut out, mut count) = (Vec::new(), 0);
        let read = || {
            while !stop.is_cancelled() && queue.push(count) {
                count += 1;
            }
            Ok(())
        };
        let work = |send: &ResultSender<u64>| {
            while let Some(batch) = queue.pop_batch_unless_cancelled(&stop, false) {
                batch.into_iter().try_for_each(|n| send(n, n))?;
            }
            Ok(())
        };
        let write = |n, _| {
            out.push(n);
            if n == 99 {
                stop.cancel();
            }
            Ok(())
        };
        run_ordered(&queue, 2, &stop, read, work, write).unwrap();
        let written = out.len() as u64;
        assert!((100..=count).contains(&written), "{written} of {count}");
        assert!(out.into_iter().eq(0..written), "in order, none left out");
    }

    #[test]
    fn a_panic_stops_the_pipeline() {
        let result = std::panic::catch_unwind(|| {
            squares(2, 10_000, |place, n| {
                assert!(place != "work" || n != 50, "the sentence that fails");
                false
            })
        });
        assert!(result.is_err());
    }
}
