//! Requests for a reload of models, sent by signals and protocols to the thread that opens them.

use std::sync::mpsc;

use tokio::sync::oneshot;

/// A sender of requests for a reload.
#[derive(Clone)]
pub struct ReloadSender(mpsc::Sender<ReloadRequest>);

/// A request for a reload. A caller that waits for its end adds a channel for that message.
pub(crate) type ReloadRequest = Option<oneshot::Sender<()>>;

/// Creates a sender and the receiver of its requests.
pub(crate) fn channel() -> (ReloadSender, mpsc::Receiver<ReloadRequest>) {
    let (sender, requests) = mpsc::channel();
    (ReloadSender(sender), requests)
}

impl ReloadSender {
    /// Requests a reload. Requests during a reload are merged into one.
    pub fn request(&self) {
        // The thread lives as long as the server.
        let _ = self.0.send(None);
    }

    /// Reloads, and waits for the end of the reload.
    pub(crate) async fn reload(&self) {
        let (sender, receiver) = oneshot::channel();
        let _ = self.0.send(Some(sender));
        // Without an answer, the server is ending.
        let _ = receiver.await;
    }
}
