//! Messages of panics. If the system cannot start a thread, the message names a remedy. Every other
//! panic is a fault of this program, and the message requests a report.
//!
//! The standard library panics if it cannot start a thread of a scope. A thread that it has started
//! panics if there is no memory for the thread's signal stack. Other threads of the scope may wait
//! forever for a thread that is missing, so the program exits at once, as if it were killed:
//! finished outputs are kept, and unfinished ones keep their partial names.

use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};

/// The beginning of the standard library's panic message if it cannot start a thread.
const NO_THREAD: &str = "failed to spawn thread";
/// The beginning of its message in a new thread for which there is no memory left.
const NO_SIGNAL_STACK: &str = "failed to allocate an alternative stack";

/// The message if threads cannot be started.
pub const THREADS_REMEDY: &str = "the system starts no more threads; take fewer with --threads, or \
                                  raise its limits (`ulimit -u` and `-v`, `pids.max` of the control \
                                  group)";

static IS_SERVER: AtomicBool = AtomicBool::new(false);

/// Lets a server continue if a thread cannot be started: then only one request fails.
#[cfg(feature = "serve")]
pub fn continue_without_threads() {
    IS_SERVER.store(true, Ordering::Relaxed);
}

/// Replaces the messages of panics. Programs that are not servers end with status 1 if a thread
/// cannot be started.
pub fn install_hook() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if is_missing_thread(panic) {
            crate::console::print_error(format!("miriam: {THREADS_REMEDY}\n"));
            if !IS_SERVER.load(Ordering::Relaxed) {
                std::process::exit(1);
            }
            return;
        }
        default(panic);
        crate::console::print_error(
            "miriam: this is a fault of the program; please report it with the command and the message \
             above\n",
        );
    }));
}

/// Whether the standard library or rayon's common pool could not start a thread.
fn is_missing_thread(panic: &PanicHookInfo<'_>) -> bool {
    panic.payload_as_str().is_some_and(|message| {
        [NO_THREAD, NO_SIGNAL_STACK].iter().any(|start| message.starts_with(start))
            || message.contains("ThreadPoolBuildError")
    })
}
