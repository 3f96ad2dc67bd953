//! Long work that Ctrl-C ends.
//!
//! Python runs signal handlers on its main thread, between bytecodes, so native code that
//! does not return must ask for them. The work runs in a thread of its own and the
//! calling thread asks twenty times a second; a handler that raises (Ctrl-C does) cancels
//! the work, and its exception is raised when the work has ended.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use miriam_textio::{CancellationToken, Progress};
use pyo3::prelude::*;

/// How often signals are looked for.
const INTERVAL: Duration = Duration::from_millis(50);

/// Runs `work` without the interpreter's lock; a signal whose handler raises cancels the
/// token that it receives, and the exception is returned once it has ended.
pub fn run_interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&CancellationToken) -> T + Send,
) -> PyResult<T> {
    let stop = CancellationToken::new();
    py.detach(|| {
        let (done_sender, done) = channel::<()>();
        std::thread::scope(|scope| {
            let stop = &stop;
            let worker = scope.spawn(move || {
                // Dropped when the work ends, by a panic too.
                let _done = done_sender;
                work(stop)
            });
            let mut interrupted = None;
            while done.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if interrupted.is_none()
                    && let Err(error) = Python::attach(|py| py.check_signals())
                {
                    stop.cancel();
                    interrupted = Some(error);
                }
            }
            let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match interrupted {
                Some(error) => Err(error),
                None => Ok(result),
            }
        })
    })
}

/// Draws nothing, and cancels work with its token.
pub struct Cancellation<'t>(pub &'t CancellationToken);

impl Progress for Cancellation<'_> {
    fn begin(&self, _: &str, _: Option<u64>) {}
    fn set_position(&self, _: u64) {}
    fn end(&self) {}
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}
