//! Cancellation token that many threads share.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crossbeam::channel::{Receiver, Sender, bounded};

/// A request to stop. Cancelled work finishes the items it has started. Clones share their state.
#[derive(Clone)]
pub struct CancellationToken(Arc<Shared>);

struct Shared {
    cancelled: AtomicBool,
    /// Dropped on cancellation, which wakes the threads that wait on `receiver`.
    sender: Mutex<Option<Sender<Infallible>>>,
    receiver: Receiver<Infallible>,
}

impl CancellationToken {
    /// Returns a token that is not cancelled.
    pub fn new() -> Self {
        let (sender, receiver) = bounded(0);
        let sender = Mutex::new(Some(sender));
        CancellationToken(Arc::new(Shared { cancelled: AtomicBool::new(false), sender, receiver }))
    }

    /// Cancels the work permanently.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        self.0.sender.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
    }

    /// Whether [`CancellationToken::cancel`] has been called.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Returns a channel without messages that is closed on cancellation.
    pub(crate) fn closed_on_cancel(&self) -> &Receiver<Infallible> {
        &self.0.receiver
    }
}

impl Default for CancellationToken {
    fn default() -> Self {
        Self::new()
    }
}
