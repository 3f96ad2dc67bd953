//! Record of a request: its line in the log and its counts in the measurements.
//!
//! The record is written when its last owner drops it: the handler of the request, the body of a
//! stream or the task of a websocket. If the client goes away, these owners are dropped too, so
//! every request is recorded.

use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Instant;

use crate::access_log::{AccessLog, Record, RequestHead};
use crate::metrics::Metrics;

/// The status of a request whose response was not completed, mostly because its client went away.
/// The number is the one that nginx uses.
const GIVEN_UP: u16 = 499;

tokio::task_local! {
    /// The name of the key of the request that a task answers. It is set late, because each
    /// protocol finds the key in a different place of the request.
    static KEY_NAME: Arc<OnceLock<String>>;
}

/// Remembers the name of the key of the request that this task answers.
pub(crate) fn set_key_name(name: &str) {
    // Requests outside of a task, as in tests, have no record.
    let _ = KEY_NAME.try_with(|known| known.set(name.to_owned()));
}

/// A request that is being answered.
pub struct RequestRecord {
    metrics: Arc<Metrics>,
    log: Option<Arc<AccessLog>>,
    head: RequestHead,
    started: Instant,
    key: Arc<OnceLock<String>>,
    status: AtomicU16,
    /// Bytes of the body of the response.
    bytes: AtomicU64,
    /// Whether the client decides how long the request takes.
    is_open_ended: AtomicBool,
}

impl RequestRecord {
    /// Creates the record of a request that begins now.
    pub(crate) fn new(
        metrics: &Arc<Metrics>,
        log: Option<&Arc<AccessLog>>,
        head: RequestHead,
    ) -> Arc<Self> {
        Arc::new(RequestRecord {
            metrics: Arc::clone(metrics),
            log: log.cloned(),
            head,
            started: Instant::now(),
            key: Arc::default(),
            status: AtomicU16::new(GIVEN_UP),
            bytes: AtomicU64::new(0),
            is_open_ended: AtomicBool::new(false),
        })
    }

    /// Runs `answering`, which may set the name of the key.
    pub(crate) async fn with_key_name<F: Future>(&self, answering: F) -> F::Output {
        KEY_NAME.scope(Arc::clone(&self.key), answering).await
    }

    /// Sets the status of a request with a complete response.
    pub(crate) fn complete(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    /// Counts bytes of the response.
    pub(crate) fn add_bytes(&self, count: usize) {
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Excludes the time from the measurements, because the client decides how long the request
    /// takes.
    pub(crate) fn set_open_ended(&self) {
        self.is_open_ended.store(true, Ordering::Relaxed);
    }
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        let status = match *self.status.get_mut() {
            GIVEN_UP if thread::panicking() => 500,
            status => status,
        };
        let time = self.started.elapsed();
        let is_measured = !*self.is_open_ended.get_mut() && status != GIVEN_UP;
        let head = &self.head;
        self.metrics.record_request(head.group, status, is_measured.then_some(time));
        let Some(log) = &self.log else { return };
        let is_written = log.write(&Record {
            head,
            key: self.key.get().map(String::as_str),
            status,
            time,
            bytes: self.bytes.load(Ordering::Relaxed),
        });
        if !is_written {
            self.metrics.lost_log_lines.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper::Method;
    use hyper::header::HeaderValue;

    use super::*;

    fn record(metrics: &Arc<Metrics>, log: &Arc<AccessLog>) -> Arc<RequestRecord> {
        let head = RequestHead {
            id: HeaderValue::from_static("7"),
            traceparent: None,
            client: None,
            method: Method::POST,
            path: "/v1/translate".into(),
            group: "v1",
        };
        RequestRecord::new(metrics, Some(log), head)
    }

    #[test]
    fn a_request_is_recorded_when_its_last_owner_drops_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let (log, metrics) = (Arc::new(AccessLog::open(&path).unwrap()), Arc::default());
        let read = || -> Vec<serde_json::Value> {
            let text = std::fs::read_to_string(&path).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        drop(record(&metrics, &log));
        let answered = record(&metrics, &log);
        answered.complete(101);
        answered.set_open_ended();
        let other = Arc::clone(&answered);
        drop(answered);
        assert_eq!(read().len(), 1);
        other.add_bytes(12);
        drop(other);
        let lines = read();
        assert_eq!(lines[0]["status"], 499);
        assert_eq!(lines[0]["bytes"], 0);
        assert_eq!(lines[1]["status"], 101);
        assert_eq!(lines[1]["bytes"], 12);
        // Neither time is measured: both depend on the client.
        let readiness = crate::readiness::Readiness::default();
        let gauges = crate::metrics::Gauges { queued_words: 0, models: Vec::new(), readiness };
        let page = metrics.render(&gauges);
        assert!(page.contains("miriam_requests_total{api=\"v1\",status=\"499\"} 1"), "{page}");
        assert!(!page.contains("miriam_request_seconds_count"), "{page}");
    }
}
