//! Counters and histograms in the text format of Prometheus.
//!
//! No label names a client, an address or a key: their number is unlimited, and they do not belong
//! in a database of measurements.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use miriam_textio::process_memory::resident_bytes;

use crate::readiness::Readiness;

/// The upper bounds of buckets of seconds.
const SECONDS: &[f64] = &[0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0];

/// The upper bounds of buckets of sentences.
const SENTENCES: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// The outcome of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was translated.
    Ok,
    /// It was translated by a narrower search because it reached its time limit.
    Degraded,
    /// Its client disconnected.
    Cancelled,
    /// Its deadline passed.
    Timeout,
    /// It failed.
    Error,
}

const OUTCOMES: [(Outcome, &str); 5] = [
    (Outcome::Ok, "ok"),
    (Outcome::Degraded, "degraded"),
    (Outcome::Cancelled, "cancelled"),
    (Outcome::Timeout, "timeout"),
    (Outcome::Error, "error"),
];

/// A histogram: the counts of values in buckets, and the sum of the values.
struct Histogram {
    bounds: &'static [f64],
    /// The count of each bucket; there is one bucket more than there are bounds.
    buckets: Vec<AtomicU64>,
    /// The sum of the values, in millionths.
    sum: AtomicU64,
}

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        let buckets = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Histogram { bounds, buckets, sum: AtomicU64::new(0) }
    }

    /// Creates a histogram of times in seconds.
    fn seconds() -> Self {
        Histogram::new(SECONDS)
    }

    fn record(&self, value: f64) {
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add((value * 1e6).round() as u64, Ordering::Relaxed);
    }

    fn write(&self, name: &str, labels: &str, out: &mut String) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut count = 0;
        for (number, bucket) in self.buckets.iter().enumerate() {
            count += bucket.load(Ordering::Relaxed);
            let bound = self.bounds.get(number).map_or("+Inf".to_owned(), f64::to_string);
            let _ = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {count}");
        }
        let sum = self.sum.load(Ordering::Relaxed) as f64 / 1e6;
        let _ = writeln!(out, "{name}_sum{{{labels}}} {sum}\n{name}_count{{{labels}}} {count}");
    }
}

/// The measurements of a model.
pub struct ModelMetrics {
    outcomes: [AtomicU64; OUTCOMES.len()],
    seconds: Histogram,
    batches: Histogram,
}

impl Default for ModelMetrics {
    fn default() -> Self {
        ModelMetrics {
            outcomes: Default::default(),
            seconds: Histogram::seconds(),
            batches: Histogram::new(SENTENCES),
        }
    }
}

impl ModelMetrics {
    /// Counts a sentence whose search took `time`.
    pub fn record(&self, outcome: Outcome, time: Duration) {
        self.outcomes[outcome as usize].fetch_add(1, Ordering::Relaxed);
        self.seconds.record(time.as_secs_f64());
    }

    /// Counts sentences that were dropped before their search.
    pub fn record_dropped(&self, outcome: Outcome, sentences: usize) {
        self.outcomes[outcome as usize].fetch_add(sentences as u64, Ordering::Relaxed);
    }

    /// Counts a batch of this number of sentences: when it begins, and again whenever it grows.
    pub fn record_batch(&self, sentences: usize) {
        self.batches.record(sentences as f64);
    }

    /// Returns the number of sentences with an outcome.
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize].load(Ordering::Relaxed)
    }
}

/// The time between two warnings of overload.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// Requests that were rejected because too much was queued.
#[derive(Default)]
struct Shed {
    total: u64,
    /// The time of the last warning, and the total at that time.
    warned: Option<(Instant, u64)>,
}

/// The time at which a server started, in seconds since 1970.
struct StartTime(f64);

impl Default for StartTime {
    fn default() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        StartTime(now.unwrap_or_default().as_secs_f64())
    }
}

/// The measurements of a server.
#[derive(Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    seconds: Mutex<BTreeMap<&'static str, Histogram>>,
    queue: Mutex<Option<Histogram>>,
    shed: Mutex<Shed>,
    started: StartTime,
    /// The models by name. Removed models stay, because counters must not decrease.
    models: Mutex<BTreeMap<String, Arc<ModelMetrics>>>,
    /// Open connections.
    pub connections: AtomicI64,
    /// Characters of the texts translated by DeepL's protocol, which reports them to its clients.
    pub characters: AtomicU64,
    /// Words of the sentences that clients sent, counted before their search.
    pub source_words: AtomicU64,
    /// Lines that could not be written to the log of requests.
    pub lost_log_lines: AtomicU64,
    /// Reloads of the configuration.
    pub reloads: AtomicU64,
    /// Reloads in which the configuration could not be read or a model did not open.
    pub reload_failures: AtomicU64,
}

/// The current state of a server, which [`Metrics`] does not count.
pub struct Gauges {
    /// Words in the queues.
    pub queued_words: usize,
    /// Name, generation and kind of each model.
    pub models: Vec<(String, u64, &'static str)>,
    /// Whether the server is ready.
    pub readiness: Readiness,
}

/// The largest number of characters of a reason in a label.
const MAX_REASON: usize = 200;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Metrics {
    /// Returns the measurements of the model `name`.
    pub fn model(&self, name: &str) -> Arc<ModelMetrics> {
        Arc::clone(lock(&self.models).entry(name.to_owned()).or_default())
    }

    /// Counts a request to a protocol, and its time if that does not depend on the client.
    pub fn record_request(&self, api: &'static str, status: u16, time: Option<Duration>) {
        *lock(&self.requests).entry((api, status)).or_default() += 1;
        let Some(time) = time else { return };
        let mut seconds = lock(&self.seconds);
        seconds.entry(api).or_insert_with(Histogram::seconds).record(time.as_secs_f64());
    }

    /// Counts the time of a request in a queue.
    pub fn record_queue(&self, time: Duration) {
        lock(&self.queue).get_or_insert_with(Histogram::seconds).record(time.as_secs_f64());
    }

    /// Counts a request that was rejected because too much is queued, and warns of it at most once
    /// a minute.
    pub fn record_shed(&self) {
        let mut shed = lock(&self.shed);
        shed.total += 1;
        if shed.warned.is_none_or(|(when, _)| when.elapsed() >= WARNING_INTERVAL) {
            let before = shed.warned.map_or(0, |(_, total)| total);
            let count = shed.total - before;
            tracing::warn!(
                "the queue is full (queued-words): requests rejected since the last warning: {count}"
            );
            shed.warned = Some((Instant::now(), shed.total));
        }
    }

    /// Returns all measurements, and those of `gauges`, as text.
    pub fn render(&self, gauges: &Gauges) -> String {
        let mut out = String::new();
        write_head(&mut out, "miriam_requests_total", "counter", "Requests by protocol and status");
        for ((api, status), count) in &*lock(&self.requests) {
            let labels = format!("api=\"{api}\",status=\"{status}\"");
            let _ = writeln!(out, "miriam_requests_total{{{labels}}} {count}");
        }
        write_head(&mut out, "miriam_request_seconds", "histogram", "From request to response");
        for (api, histogram) in &*lock(&self.seconds) {
            histogram.write("miriam_request_seconds", &format!("api=\"{api}\""), &mut out);
        }
        write_head(&mut out, "miriam_queue_seconds", "histogram", "From request to search");
        if let Some(histogram) = &*lock(&self.queue) {
            histogram.write("miriam_queue_seconds", "", &mut out);
        }
        self.render_models(&mut out);
        write_head(&mut out, "miriam_shed_total", "counter", "Requests rejected for overload");
        let _ = writeln!(out, "miriam_shed_total{{reason=\"queue\"}} {}", lock(&self.shed).total);
        write_head(&mut out, "miriam_model_info", "gauge", "The models that are served");
        for (name, generation, kind) in &gauges.models {
            let model = escape(name);
            let labels = format!("model=\"{model}\",generation=\"{generation}\",kind=\"{kind}\"");
            let _ = writeln!(out, "miriam_model_info{{{labels}}} 1");
        }
        let readiness = &gauges.readiness;
        let states = [
            (
                "miriam_ready",
                "Whether each model of the configuration is served",
                readiness.is_ready(),
            ),
            (
                "miriam_degraded",
                "Whether the server differs from its configuration",
                readiness.is_degraded(),
            ),
        ];
        let states = states.map(|(name, help, state)| (name, help, f64::from(u8::from(state))));
        write_values(&mut out, "gauge", &states);
        write_head(&mut out, "miriam_model_broken", "gauge", "The models that did not open");
        for model in &readiness.broken {
            let reason: String = model.reason.chars().take(MAX_REASON).collect();
            let (name, reason) = (escape(&model.name), escape(&reason));
            let serves = model.serves.map(|generation| generation.to_string()).unwrap_or_default();
            let labels = format!("model=\"{name}\",serves=\"{serves}\",reason=\"{reason}\"");
            let _ = writeln!(out, "miriam_model_broken{{{labels}}} 1");
        }
        let counters = [
            ("miriam_source_words_total", "Words that clients sent", &self.source_words),
            (
                "miriam_lost_log_lines_total",
                "Lines that could not be written to the log of requests",
                &self.lost_log_lines,
            ),
            ("miriam_reloads_total", "Reloads of the configuration", &self.reloads),
            (
                "miriam_reload_failures_total",
                "Reloads in which something was not read or did not open",
                &self.reload_failures,
            ),
        ];
        let counters = counters
            .map(|(name, help, counter)| (name, help, counter.load(Ordering::Relaxed) as f64));
        write_values(&mut out, "counter", &counters);
        let connections = self.connections.load(Ordering::Relaxed) as f64;
        let memory = resident_bytes().unwrap_or_default() as f64;
        let started = self.started.0;
        let values = [
            ("miriam_queued_words", "Words in the queues", gauges.queued_words as f64),
            ("miriam_connections", "Open connections", connections),
            ("process_resident_memory_bytes", "Resident memory", memory),
            ("process_start_time_seconds", "Start of the process, in seconds after 1970", started),
        ];
        write_values(&mut out, "gauge", &values);
        out
    }

    fn render_models(&self, out: &mut String) {
        let models = lock(&self.models).clone();
        write_head(out, "miriam_sentences_total", "counter", "Sentences by model and outcome");
        for (name, model) in &models {
            let name = escape(name);
            for (outcome, label) in OUTCOMES {
                let labels = format!("model=\"{name}\",outcome=\"{label}\"");
                let count = model.count(outcome);
                let _ = writeln!(out, "miriam_sentences_total{{{labels}}} {count}");
            }
        }
        write_head(out, "miriam_search_seconds", "histogram", "The search of a sentence");
        for (name, model) in &models {
            let labels = format!("model=\"{}\"", escape(name));
            model.seconds.write("miriam_search_seconds", &labels, out);
        }
        write_head(out, "miriam_batch_sentences", "histogram", "Sentences translated together");
        for (name, model) in &models {
            let labels = format!("model=\"{}\"", escape(name));
            model.batches.write("miriam_batch_sentences", &labels, out);
        }
    }
}

/// Writes the lines before the values of a measurement.
fn write_head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Writes measurements without labels: their names, descriptions and values.
fn write_values(out: &mut String, kind: &str, rows: &[(&str, &str, f64)]) {
    for (name, help, value) in rows {
        write_head(out, name, kind, help);
        let _ = writeln!(out, "{name} {value}");
    }
}

/// Escapes the value of a label.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_rounded_to_millionths() {
        let histogram = Histogram::seconds();
        histogram.record(1.6e-6);
        histogram.record(2.4e-6);
        let mut page = String::new();
        histogram.write("x", "", &mut page);
        assert!(page.contains("x_sum{} 0.000004\nx_count{} 2\n"), "{page}");
    }

    #[test]
    fn pages_are_as_prometheus_reads_them() {
        let metrics = Metrics::default();
        metrics.record_request("v1", 200, Some(Duration::from_millis(20)));
        metrics.record_request("v1", 200, Some(Duration::from_millis(200)));
        metrics.record_request("v1", 101, None);
        metrics.record_shed();
        metrics.model("a\"b").record(Outcome::Ok, Duration::from_micros(1));
        let models = vec![("a\"b".to_owned(), 3, "phrase")];
        let broken = crate::readiness::BrokenModel {
            name: "b".into(),
            reason: "no \"file\"".into(),
            serves: Some(2),
        };
        let readiness = Readiness { broken: vec![broken], ..Readiness::default() };
        let gauges = Gauges { queued_words: 7, models, readiness };
        let page = metrics.render(&gauges);
        for line in [
            "miriam_requests_total{api=\"v1\",status=\"101\"} 1",
            "miriam_requests_total{api=\"v1\",status=\"200\"} 2",
            "miriam_request_seconds_bucket{api=\"v1\",le=\"0.03\"} 1",
            "miriam_request_seconds_bucket{api=\"v1\",le=\"+Inf\"} 2",
            "miriam_request_seconds_count{api=\"v1\"} 2",
            "miriam_request_seconds_sum{api=\"v1\"} 0.22",
            "miriam_sentences_total{model=\"a\\\"b\",outcome=\"ok\"} 1",
            "miriam_model_info{model=\"a\\\"b\",generation=\"3\",kind=\"phrase\"} 1",
            "miriam_shed_total{reason=\"queue\"} 1",
            "miriam_queued_words 7",
            "miriam_ready 1",
            "miriam_degraded 1",
            "miriam_model_broken{model=\"b\",serves=\"2\",reason=\"no \\\"file\\\"\"} 1",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} in {page}");
        }
        // The start of the process is always the same.
        let start = |page: &str| {
            let mut lines = page.lines();
            lines.find(|line| line.starts_with("process_start_time_seconds")).unwrap().to_owned()
        };
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(start(&metrics.render(&gauges)), start(&page));
        // Every measurement has a description, as the checks of Prometheus demand.
        let named = |kind: &str| -> Vec<String> {
            let lines = page.lines().filter_map(|line| line.strip_prefix(kind));
            lines.filter_map(|line| line.split(' ').next().map(str::to_owned)).collect()
        };
        assert_eq!(named("# HELP "), named("# TYPE "));
        // Every line is a comment, or a name with labels and a number.
        for line in page.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(name.starts_with("miriam_") || name.starts_with("process_"), "{line}");
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }
}
