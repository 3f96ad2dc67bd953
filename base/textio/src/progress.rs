//! Progress of long work: libraries report it, the program draws it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::CancellationToken;

/// A receiver of progress reports, from any thread. Libraries report through [`ProgressTask`]s,
/// which `task` of `dyn Progress` begins.
pub trait Progress: Sync {
    /// Begins the task `name`, with `total` units of work, if known.
    fn begin(&self, name: &str, total: Option<u64>);
    /// Sets the finished units of the current task to `done`.
    fn set_position(&self, done: u64);
    /// Sets the finished units of the current task to `done`. The added units were finished by an
    /// earlier run, so they say nothing about the time left.
    fn skip_to(&self, done: u64) {
        self.set_position(done);
    }
    /// Ends the current task.
    fn end(&self);
    /// Whether the work should stop with an error as soon as possible. Short work need not ask.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl dyn Progress + '_ {
    /// Begins the task `name` with `total` units of work, if known. Only one task runs at a time.
    pub fn task(&self, name: &str, total: Option<u64>) -> ProgressTask<'_> {
        self.begin(name, total);
        ProgressTask { progress: self, done: AtomicU64::new(0) }
    }
}

/// A task whose progress is reported. It ends when it is dropped, also after an error.
///
/// ```
/// use miriam_textio::{NoProgress, Progress};
///
/// fn work(progress: &dyn Progress) {
///     let task = progress.task("counting", Some(3));
///     (0..3).for_each(|_| task.advance(1));
/// }
/// work(&NoProgress);
/// ```
#[must_use = "the task ends when this is dropped"]
pub struct ProgressTask<'p> {
    progress: &'p dyn Progress,
    done: AtomicU64,
}

impl ProgressTask<'_> {
    /// Adds `units` of finished work.
    pub fn advance(&self, units: u64) {
        let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
        self.progress.set_position(done);
    }

    /// Adds `units` of work that an earlier run has finished.
    pub fn skip(&self, units: u64) {
        let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
        self.progress.skip_to(done);
    }

    /// Whether the work should stop: [`Progress::is_cancelled`].
    pub fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }

    /// Sets the finished units to `done`.
    pub fn set_position(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.progress.set_position(done);
    }
}

impl Drop for ProgressTask<'_> {
    fn drop(&mut self) {
        self.progress.end();
    }
}

/// A receiver that ignores progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _: &str, _: Option<u64>) {}
    fn set_position(&self, _: u64) {}
    fn end(&self) {}
}

/// A display of progress with a token that stops the work. If the display is cancelled, the next
/// call of `set_position` cancels the token, too, so the work may check either.
#[derive(Clone, Copy)]
pub struct CancellableProgress<'a> {
    /// The display.
    pub shown: &'a dyn Progress,
    /// The token that stops the work.
    pub stop: &'a CancellationToken,
}

impl Progress for CancellableProgress<'_> {
    fn begin(&self, name: &str, total: Option<u64>) {
        self.shown.begin(name, total);
    }

    fn set_position(&self, done: u64) {
        self.shown.set_position(done);
        if self.shown.is_cancelled() {
            self.stop.cancel();
        }
    }

    fn skip_to(&self, done: u64) {
        self.shown.skip_to(done);
    }

    fn end(&self) {
        self.shown.end();
    }

    fn is_cancelled(&self) -> bool {
        self.stop.is_cancelled() || self.shown.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Record(Mutex<Vec<String>>);

    impl Progress for Record {
        fn begin(&self, name: &str, total: Option<u64>) {
            self.0.lock().unwrap().push(format!("{name} {total:?}"));
        }
        fn set_position(&self, done: u64) {
            self.0.lock().unwrap().push(done.to_string());
        }
        fn skip_to(&self, done: u64) {
            self.0.lock().unwrap().push(format!("skip to {done}"));
        }
        fn end(&self) {
            self.0.lock().unwrap().push("end".into());
        }
    }

    #[test]
    fn a_task_ends_after_an_error_too() {
        let record = Record::default();
        let progress: &dyn Progress = &record;
        let work = || -> Result<(), ()> {
            let task = progress.task("reading", Some(9));
            task.advance(2);
            task.skip(1);
            task.advance(3);
            task.set_position(7);
            Err(())
        };
        assert!(work().is_err());
        assert_eq!(
            *record.0.lock().unwrap(),
            ["reading Some(9)", "2", "skip to 3", "6", "7", "end"]
        );
    }
}
