//! Requests to open models again, from signals and protocols to the thread that does it.

use std::sync::mpsc;

use tokio::sync::oneshot;

/// Asks for reloads.
#[derive(Clone)]
pub struct ReloadSender(mpsc::Sender<ReloadRequest>);

/// A reload, and who wants to know whether all models opened.
pub(crate) type ReloadRequest = Option<oneshot::Sender<bool>>;

/// A sender, and what it asks for.
pub(crate) fn channel() -> (ReloadSender, mpsc::Receiver<ReloadRequest>) {
    let (sender, requests) = mpsc::channel();
    (ReloadSender(sender), requests)
}

impl ReloadSender {
    /// Asks for a reload; requests that come while one is under way are one.
    pub fn request(&self) {
        // The thread ends with the server only.
        let _ = self.0.send(None);
    }

    /// Reloads, and tells whether all models opened.
    pub(crate) async fn reload(&self) -> bool {
        let (sender, receiver) = oneshot::channel();
        let _ = self.0.send(Some(sender));
        receiver.await.unwrap_or(false)
    }
}
