//! The count of open connections, kept as long as a connection or what came of it is used.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::metrics::Metrics;

/// Counts a connection while it, or a websocket that came of it, is open.
pub struct ConnectionGuard {
    metrics: Arc<Metrics>,
    _permit: OwnedSemaphorePermit,
    /// The server waits until all of these are gone.
    _alive: mpsc::Sender<()>,
}

impl ConnectionGuard {
    /// A guard that holds `permit`.
    pub fn new(
        metrics: &Arc<Metrics>,
        permit: OwnedSemaphorePermit,
        alive: mpsc::Sender<()>,
    ) -> Arc<Self> {
        metrics.connections.fetch_add(1, Ordering::Relaxed);
        Arc::new(ConnectionGuard { metrics: Arc::clone(metrics), _permit: permit, _alive: alive })
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.metrics.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
