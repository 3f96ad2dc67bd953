//! Graceful interrupts: the first signal cancels, the second kills.
//!
//! A program that a signal stopped ends by that signal, so that shells and supervisors
//! see it (status 130 after SIGINT, 143 after SIGTERM).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

use miriam_textio::CancellationToken;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// The signal received, if any.
pub struct SignalHandler {
    received: Arc<AtomicI32>,
}

impl SignalHandler {
    /// From now on the first SIGINT or SIGTERM cancels `stop`; another one kills.
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

    /// Ends the program by the signal received, after everything read is done; returns if
    /// there was none.
    pub fn reraise_signal(&self) {
        self.reraise_signal_with_message("all lines read are translated and written");
    }

    /// The same, with a message on the state of the output.
    pub fn reraise_signal_with_message(&self, what: &str) {
        let signal = self.received.load(Ordering::Acquire);
        if signal != 0 {
            tracing::warn!("stopped by a signal; {what}");
            let _ = emulate_default_handler(signal);
        }
    }
}
