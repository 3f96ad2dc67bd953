//! A progress bar on standard error, drawn only on a terminal.

use std::io::IsTerminal;
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use miriam_textio::Progress;

/// A progress bar that libraries report to.
pub struct TerminalProgress {
    is_visible: bool,
    bar: Mutex<Option<ProgressBar>>,
}

impl TerminalProgress {
    /// Creates a bar, which is invisible when `quiet` or when standard error is not a terminal.
    pub fn new(quiet: bool) -> Self {
        TerminalProgress {
            is_visible: !quiet && std::io::stderr().is_terminal(),
            bar: Mutex::new(None),
        }
    }

    fn with_bar(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        if self.is_visible
            && let Ok(mut bar) = self.bar.lock()
        {
            act(&mut bar);
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
    }

    fn set_position(&self, done: u64) {
        self.with_bar(|slot| {
            if let Some(bar) = slot {
                bar.set_position(done);
            }
        });
    }

    fn end(&self) {
        self.with_bar(|slot| {
            if let Some(bar) = slot.take() {
                bar.finish_and_clear();
            }
        });
    }
}
