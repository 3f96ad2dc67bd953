//! Work on long texts, on threads that serve no sockets.
//!
//! The threads of sockets serve all clients, so longer work runs on other threads. It is cancelled
//! when its deadline has passed or its client has disconnected.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use miriam_textproc::Interrupted;

use crate::refusal::Refusal;

/// The largest text, in bytes, that a thread of sockets processes itself: about a millisecond.
const MAX_BYTES_AT_ONCE: usize = 8 << 10;

/// The time for joining translations after the deadline of their search.
const JOINING_TIME: Duration = Duration::from_secs(1);

/// Returns the deadline for joining translations whose search had `deadline`.
pub(crate) fn joining_deadline(deadline: Instant) -> Instant {
    // A search that took longer than it should may still have a result, which must be joined.
    deadline.max(Instant::now() + JOINING_TIME)
}

/// A guard that stops work when it is dropped, because nobody waits for the result.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs `work` on another thread until `deadline`. The argument of `work` tells whether to stop.
pub(crate) async fn run<T: Send + 'static>(
    deadline: Instant,
    work: impl FnOnce(&dyn Fn() -> bool) -> Result<T, Interrupted> + Send + 'static,
) -> Result<T, Refusal> {
    let is_abandoned = Arc::new(AtomicBool::new(false));
    let _guard = StopOnDrop(Arc::clone(&is_abandoned));
    let task = tokio::task::spawn_blocking(move || {
        work(&|| is_abandoned.load(Ordering::Acquire) || Instant::now() >= deadline)
    });
    match tokio::time::timeout_at(deadline.into(), task).await {
        Err(_) | Ok(Ok(Err(Interrupted))) => Err(Refusal::Deadline),
        Ok(Err(_)) => Err(Refusal::Internal("a worker failed on a text".into())),
        Ok(Ok(Ok(done))) => Ok(done),
    }
}

/// The fixed cost of a text, in bytes: its language is detected and its parts are kept.
const TEXT_WORK: usize = 256;

/// Returns the work on texts, in bytes.
pub(crate) fn text_work(texts: &[String]) -> usize {
    texts.iter().map(|text| text.len() + TEXT_WORK).sum()
}

/// Works like [`run`], but on this thread if the text is short.
pub(crate) async fn run_on_text<T: Send + 'static>(
    bytes: usize,
    deadline: Instant,
    work: impl FnOnce(&dyn Fn() -> bool) -> Result<T, Interrupted> + Send + 'static,
) -> Result<T, Refusal> {
    if bytes <= MAX_BYTES_AT_ONCE {
        return work(&|| false).map_err(|Interrupted| Refusal::Deadline);
    }
    run(deadline, work).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
    }

    /// Work that sends a message when it begins and when it is stopped.
    fn endless(
        messages: mpsc::Sender<()>,
    ) -> impl FnOnce(&dyn Fn() -> bool) -> Result<(), Interrupted> + Send + 'static {
        move |should_stop| {
            messages.send(()).unwrap();
            while !should_stop() {
                std::thread::sleep(Duration::from_millis(1));
            }
            messages.send(()).unwrap();
            Err(Interrupted)
        }
    }

    #[test]
    fn work_stops_at_its_deadline_and_without_a_client() {
        let runtime = runtime();
        let patience = Duration::from_secs(60);
        let (sender, messages) = mpsc::channel();
        let deadline = Instant::now() + Duration::from_millis(20);
        let outcome = runtime.block_on(run(deadline, endless(sender.clone())));
        assert_eq!(outcome, Err(Refusal::Deadline));
        messages.recv_timeout(patience).unwrap();
        messages.recv_timeout(patience).unwrap();
        let far = Instant::now() + Duration::from_secs(3600);
        let waiting = runtime.spawn(run(far, endless(sender)));
        messages.recv_timeout(patience).unwrap();
        waiting.abort();
        assert!(runtime.block_on(waiting).unwrap_err().is_cancelled());
        messages.recv_timeout(patience).unwrap();
    }

    #[test]
    fn results_and_panics_come_back() {
        let runtime = runtime();
        let far = Instant::now() + Duration::from_secs(3600);
        assert_eq!(runtime.block_on(run(far, |_| Ok(3))), Ok(3));
        assert_eq!(runtime.block_on(run_on_text(1, far, |_| Ok(3))), Ok(3));
        let panicking = |_: &dyn Fn() -> bool| -> Result<(), Interrupted> { panic!("a test") };
        let failed = runtime.block_on(run(far, panicking)).unwrap_err();
        assert_eq!(failed.detail(), "a worker failed on a text");
    }
}
