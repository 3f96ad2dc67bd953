//! Graceful interrupts: the first signal cancels, the second kills.
//!
//! A program that a signal stopped exits by that signal, so that shells and supervisors see it
//! (status 130 after SIGINT, 143 after SIGTERM).

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

use miriam_storage::partial_file::partial_path;
use miriam_textio::CancellationToken;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// A handler of SIGINT and SIGTERM, which keeps the received signal.
pub struct SignalHandler {
    received: Arc<AtomicI32>,
}

impl SignalHandler {
    /// Makes the first SIGINT or SIGTERM cancel `stop`; a second one kills.
    pub fn install(stop: &CancellationToken) -> io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let received = Arc::new(AtomicI32::new(0));
        let (stop, seen) = (stop.clone(), Arc::clone(&received));
        thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                if seen.swap(signal, Ordering::AcqRel) != 0 {
                    let _ = emulate_default_handler(signal);
                }
                stop.cancel();
            }
        })?;
        Ok(SignalHandler { received })
    }

    /// Exits by the received signal, with a message on the state of the output. Returns if there
    /// was none.
    pub fn reraise_signal_with_message(&self, what: &str) {
        let signal = self.received.load(Ordering::Acquire);
        if signal != 0 {
            tracing::warn!("stopped by a signal; {what}");
            let _ = emulate_default_handler(signal);
        }
    }
}

/// Makes writing beyond the limit of file sizes (`ulimit -f`) an error of the write, with the
/// file's name, instead of a signal that kills.
///
/// # Errors
/// If no handler can be installed.
pub fn catch_file_size_limit() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop)
}

/// Returns the end of a message on a stopped run: the partial files of its outputs, if any.
pub fn describe_partial_files<'p>(outputs: impl IntoIterator<Item = &'p Path>) -> String {
    let partial: BTreeSet<PathBuf> =
        outputs.into_iter().map(partial_path).filter(|path| path.is_file()).collect();
    let names: Vec<String> = partial.iter().map(|path| path.display().to_string()).collect();
    if names.is_empty() { String::new() } else { format!(", in {}", names.join(" and ")) }
}
