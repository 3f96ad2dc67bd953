//! A request to come to an end, made once, seen by many threads.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crossbeam::channel::{Receiver, Sender, bounded};

/// Work that is asked to stop finishes what it has begun. Clones are one request.
#[derive(Clone)]
pub struct CancellationToken(Arc<Shared>);

struct Shared {
    cancelled: AtomicBool,
    /// Dropped when the request is made, which wakes whoever waits.
    sender: Mutex<Option<Sender<Infallible>>>,
    receiver: Receiver<Infallible>,
}

impl CancellationToken {
    /// Nobody has asked yet.
    pub fn new() -> Self {
        let (sender, receiver) = bounded(0);
        let sender = Mutex::new(Some(sender));
        CancellationToken(Arc::new(Shared { cancelled: AtomicBool::new(false), sender, receiver }))
    }

    /// Asks.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        self.0.sender.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
    }

    /// Whether somebody has asked.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Carries nothing and is closed when somebody asks.
    pub(crate) fn closed_on_cancel(&self) -> &Receiver<Infallible> {
        &self.0.receiver
    }
}

impl Default for CancellationToken {
    fn default() -> Self {
        Self::new()
    }
}
