//! Long work that can be cancelled by Ctrl-C and reports its progress to Python.
//!
//! Python runs signal handlers on its main thread, between bytecodes, so native code that does not
//! return must check for signals. The work runs in a new thread, and the calling thread checks
//! twenty times per second. A handler that raises (such as that for Ctrl-C) cancels the work, and
//! its exception is raised when the work has ended. The calling thread also calls listeners, so
//! they may raise too.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use miriam_textio::{CancellationToken, Progress};
use pyo3::prelude::*;

use crate::warning::warn;

/// The interval of checks for signals.
pub const INTERVAL: Duration = Duration::from_millis(50);

/// Python callables that listen to long work.
#[derive(Default)]
pub struct Listeners {
    /// Called with the task, the amount done, and the total if it is known.
    pub progress: Option<Py<PyAny>>,
    /// Called with each line of the log.
    pub log: Option<Py<PyAny>>,
}

/// Reports of long work that listeners have not received yet.
#[derive(Default)]
struct Said {
    task: Option<Task>,
    lines: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Clone, PartialEq)]
struct Task {
    name: String,
    done: u64,
    total: Option<u64>,
}

/// The object through which work is observed: its cancellation token and its reports.
pub struct Observer {
    /// Cancelled by a signal or by a listener that raises.
    pub stop: CancellationToken,
    said: Mutex<Said>,
}

impl Observer {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line of the log.
    pub fn log(&self, line: &str) {
        self.said().lines.push(line.to_owned());
    }

    /// Adds a Python warning.
    pub fn warn(&self, message: &str) {
        self.said().warnings.push(message.to_owned());
    }

    /// Runs signal handlers, and passes new reports to listeners. `told` is the last reported task.
    fn attend(
        &self,
        py: Python<'_>,
        listeners: &Listeners,
        told: &mut Option<Task>,
    ) -> PyResult<()> {
        py.check_signals()?;
        let (task, lines, warnings) = {
            let said = &mut *self.said();
            let (lines, warnings) = (&mut said.lines, &mut said.warnings);
            (said.task.clone(), std::mem::take(lines), std::mem::take(warnings))
        };
        for message in warnings {
            warn(py, &message, 2)?;
        }
        if let Some(log) = &listeners.log {
            for line in lines {
                log.call1(py, (line,))?;
            }
        }
        if let (Some(progress), Some(task)) = (&listeners.progress, &task)
            && told.as_ref() != Some(task)
        {
            progress.call1(py, (&task.name, task.done, task.total))?;
            *told = Some(task.clone());
        }
        Ok(())
    }
}

impl Progress for Observer {
    fn begin(&self, name: &str, total: Option<u64>) {
        self.said().task = Some(Task { name: name.to_owned(), done: 0, total });
    }

    fn set_position(&self, done: u64) {
        if let Some(task) = &mut self.said().task {
            task.done = done;
        }
    }

    fn end(&self) {}

    fn is_cancelled(&self) -> bool {
        self.stop.is_cancelled()
    }
}

/// Runs `work` without the interpreter's lock. A signal handler that raises cancels the token that
/// `work` receives; the exception is returned when the work has ended.
pub fn run_interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&CancellationToken) -> T + Send,
) -> PyResult<T> {
    run_observed(py, &Listeners::default(), |observer| work(&observer.stop))
}

/// Runs `work` like [`run_interruptible`], with reports to listeners; a listener that raises also
/// cancels it.
pub fn run_observed<T: Send>(
    py: Python<'_>,
    listeners: &Listeners,
    work: impl FnOnce(&Observer) -> T + Send,
) -> PyResult<T> {
    let observer = Observer { stop: CancellationToken::new(), said: Mutex::default() };
    let mut told = None;
    let (result, raised) = py.detach(|| {
        let (done_sender, done) = channel::<()>();
        std::thread::scope(|scope| {
            let observer = &observer;
            let worker = scope.spawn(move || {
                // Dropped when the work ends, also by a panic.
                let _done = done_sender;
                work(observer)
            });
            let mut raised = None;
            while done.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none()
                    && let Err(error) =
                        Python::attach(|py| observer.attend(py, listeners, &mut told))
                {
                    observer.stop.cancel();
                    raised = Some(error);
                }
            }
            let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (result, raised)
        })
    });
    match raised {
        Some(error) => return Err(error),
        // The last report.
        None => observer.attend(py, listeners, &mut told)?,
    }
    Ok(result)
}
