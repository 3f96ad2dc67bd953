//! The count of open connections, including websockets.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::metrics::Metrics;

/// A guard that counts a connection while it, or a websocket on it, is open.
pub struct ConnectionGuard {
    metrics: Arc<Metrics>,
    _permit: OwnedSemaphorePermit,
    /// When the server stops, it waits until all clones of this sender are dropped, for at most
    /// `grace_seconds`.
    _alive: mpsc::Sender<()>,
}

impl ConnectionGuard {
    /// Creates a guard that holds `permit`.
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
