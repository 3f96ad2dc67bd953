//! Progress on standard error: a bar on a terminal; elsewhere lines of the log, for studies only.

use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use miriam_bench::scaling::describe_duration;
use miriam_textio::Progress;

/// The bar that is drawn, if any; there is one task at a time.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Runs `write`, which may write to the terminal, while no bar is drawn there.
pub fn without_bar<T>(write: impl FnOnce() -> T) -> T {
    // The lock is released here, so that tasks continue while the terminal is slow.
    let bar = lock(&BAR).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The display of progress that libraries report to.
pub struct TerminalProgress(Display);

enum Display {
    Hidden,
    Bar,
    Lines(Mutex<Option<TaskLines>>),
}

impl TerminalProgress {
    /// Creates a bar, which is invisible when `quiet` or when standard error is not a terminal.
    pub fn new(quiet: bool) -> Self {
        let is_visible = !quiet && std::io::stderr().is_terminal();
        TerminalProgress(if is_visible { Display::Bar } else { Display::Hidden })
    }

    /// Creates a bar that becomes lines of the log when standard error is not a terminal. Without
    /// them nobody knows how long a study still takes.
    pub fn for_study(quiet: bool) -> Self {
        match TerminalProgress::new(quiet).0 {
            Display::Hidden if !quiet => TerminalProgress(Display::Lines(Mutex::new(None))),
            display => TerminalProgress(display),
        }
    }

    fn with_bar(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        if matches!(self.0, Display::Bar) {
            act(&mut lock(&BAR));
        }
    }

    fn with_lines(&self, act: impl FnOnce(&mut Option<TaskLines>)) {
        if let Display::Lines(lines) = &self.0 {
            act(&mut lock(lines));
        }
    }
}

impl Progress for TerminalProgress {
    fn begin(&self, stage: &str, total: Option<u64>) {
        self.with_bar(|slot| {
            let bar = match total {
                Some(total) => ProgressBar::new(total).with_style(
                    ProgressStyle::with_template("{msg:24} [{bar:40}] {percent:>3}% {eta}")
                        .expect("the template is a constant")
                        .progress_chars("=> "),
                ),
                None => ProgressBar::new_spinner().with_style(
                    ProgressStyle::with_template("{msg:24} {spinner} {human_pos} {elapsed}")
                        .expect("the template is a constant"),
                ),
            };
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.set_message(stage.to_owned());
            *slot = Some(bar);
        });
        self.with_lines(|slot| {
            *slot = total.filter(|&total| total > 0).map(|total| TaskLines::new(stage, total));
        });
    }

    fn set_position(&self, done: u64) {
        self.with_bar(|slot| {
            if let Some(bar) = slot {
                bar.set_position(done);
            }
        });
        self.with_lines(|slot| {
            if let Some(lines) = slot
                && let Some(line) = lines.advance(done, lines.begun.elapsed())
            {
                tracing::info!("{line}");
            }
        });
    }

    fn skip_to(&self, done: u64) {
        self.with_bar(|slot| {
            if let Some(bar) = slot {
                bar.set_position(done);
                // `reset_eta` counts from the last recorded position, and `tick` records this one.
                bar.tick();
                bar.reset_eta();
            }
        });
        self.with_lines(|slot| {
            if let Some(lines) = slot {
                lines.skip(done);
            }
        });
    }

    fn end(&self) {
        self.with_bar(|slot| {
            if let Some(bar) = slot.take() {
                bar.finish_and_clear();
            }
        });
        self.with_lines(|slot| *slot = None);
    }
}

/// The largest number of lines about a task.
const MAX_LINES: u64 = 50;

/// Lines about a task: how much is done and how long the rest takes.
struct TaskLines {
    name: String,
    total: u64,
    done: u64,
    /// The units that an earlier run has done.
    skipped: u64,
    begun: Instant,
}

impl TaskLines {
    fn new(name: &str, total: u64) -> Self {
        TaskLines { name: name.to_owned(), total, done: 0, skipped: 0, begun: Instant::now() }
    }

    /// Moves to `done` units after `elapsed`. Returns a line if one is due; the end of a task has
    /// none.
    fn advance(&mut self, done: u64, elapsed: Duration) -> Option<String> {
        // Reports of threads may overtake each other.
        let (before, done) = (self.done, done.max(self.done));
        self.done = done;
        if self.lines_due(done) == self.lines_due(before) || done >= self.total {
            return None;
        }
        let timed = done.saturating_sub(self.skipped);
        let seconds = elapsed.as_secs_f64() * (self.total - done) as f64 / timed.max(1) as f64;
        let percent = (100.0 * self.share(done)).round();
        let (name, left) = (&self.name, describe_duration(seconds));
        Some(format!("{name}: {percent} %, about {left} left"))
    }

    /// Moves to `done` units, of which the new ones took no time.
    fn skip(&mut self, done: u64) {
        self.skipped += done.saturating_sub(self.done);
        self.done = done;
    }

    fn share(&self, done: u64) -> f64 {
        done as f64 / self.total as f64
    }

    /// Returns the number of lines that are due after `done` units.
    fn lines_due(&self, done: u64) -> u64 {
        (MAX_LINES as f64 * self.share(done)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_the_time_left() {
        let mut lines = TaskLines::new("measuring", 4);
        let mut after = |done, seconds| lines.advance(done, Duration::from_secs(seconds));
        assert_eq!(after(1, 10).as_deref(), Some("measuring: 25 %, about 30 s left"));
        assert_eq!(after(2, 600).as_deref(), Some("measuring: 50 %, about 10 min left"));
        assert_eq!(after(2, 700), None, "nothing is new");
        assert_eq!(after(4, 1200), None, "the end needs no line");
    }

    #[test]
    fn work_of_an_earlier_run_takes_no_time() {
        let mut lines = TaskLines::new("measuring", 10);
        lines.skip(6);
        let line = lines.advance(8, Duration::from_secs(20));
        assert_eq!(line.as_deref(), Some("measuring: 80 %, about 20 s left"));
    }

    #[test]
    fn lines_about_many_small_steps_are_few() {
        let mut lines = TaskLines::new("training", 1_000_003);
        let found = (1..=1_000_003).filter(|&done| lines.advance(done, Duration::ZERO).is_some());
        assert_eq!(found.count() as u64, MAX_LINES - 1);
    }
}
