//! Results of a load test: percentiles, counts, files and a chart.

use std::collections::BTreeMap;
use std::fmt::Write;

use miriam_chart::{Axis, Chart, Colour, Curve, LineStyle, Panel};
use miriam_textio::date;

use super::usage::ProcessUsage;
use super::{Arrivals, Outcome, Sample, ServingOptions};
use crate::machine;

/// The percentiles of the summary.
const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 100.0];

/// All requests in order of completion, and the server's resource usage.
pub(super) struct LoadStudy {
    /// The URL and the arrival process, for titles.
    what: String,
    samples: Vec<Sample>,
    usage: Vec<ProcessUsage>,
    is_open: bool,
    /// Latencies of successful responses in ascending order, in milliseconds.
    latencies: Vec<f64>,
}

/// Describes an outcome.
pub(super) fn label(outcome: Outcome) -> String {
    match outcome {
        Outcome::Status(status) => status.to_string(),
        Outcome::Fault => "fault".into(),
        Outcome::Failed => "failed".into(),
    }
}

/// Returns a percentile of ascending values: the smallest value such that at least `percent` % of
/// the values are not above it.
fn percentile(sorted: &[f64], percent: f64) -> f64 {
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
}

impl LoadStudy {
    pub fn new(
        options: &ServingOptions,
        mut samples: Vec<Sample>,
        usage: Vec<ProcessUsage>,
    ) -> Self {
        samples.sort_by(|a, b| a.done.total_cmp(&b.done));
        let good = samples.iter().filter(|one| one.outcome == Outcome::Status(200));
        let mut latencies: Vec<f64> = good.map(|one| (one.done - one.intended) * 1e3).collect();
        latencies.sort_by(f64::total_cmp);
        let how = match options.arrivals {
            Arrivals::Open(rate) => format!("open loop, {rate} requests per second"),
            Arrivals::Closed(clients) => format!("closed loop, {clients} clients"),
        };
        let what = format!("{}: {how}", options.url);
        let is_open = matches!(options.arrivals, Arrivals::Open(_));
        LoadStudy { what, samples, usage, is_open, latencies }
    }

    /// Returns the seconds from the start to the last response.
    fn seconds(&self) -> f64 {
        self.samples.last().map_or(f64::NAN, |last| last.done)
    }

    fn counts(&self) -> BTreeMap<Outcome, usize> {
        let mut counts = BTreeMap::new();
        for sample in &self.samples {
            *counts.entry(sample.outcome).or_default() += 1;
        }
        counts
    }

    /// Returns the summary that is printed.
    pub fn summary(&self) -> String {
        let mut out = String::new();
        // Writing into memory does not fail.
        let _ = writeln!(out, "{}", self.what);
        let seconds = self.seconds();
        let good = self.latencies.len();
        let _ = writeln!(
            out,
            "requests   {} in {seconds:.2} s; {good} good, {:.1} per second",
            self.samples.len(),
            good as f64 / seconds
        );
        let counts: Vec<String> = self
            .counts()
            .iter()
            .map(|(&outcome, count)| format!("{} {count}", label(outcome)))
            .collect();
        let _ = writeln!(out, "responses  {}", counts.join(", "));
        let from = if self.is_open { "from the intended time of sending" } else { "from sending" };
        let found: Vec<String> = PERCENTILES
            .iter()
            .map(|&percent| {
                let name = match percent {
                    100.0 => "max".into(),
                    percent => format!("p{percent}"),
                };
                format!("{name} {:.2}", percentile(&self.latencies, percent))
            })
            .collect();
        let _ = writeln!(out, "latency    {} ms, {from}", found.join(", "));
        if self.is_open {
            let late = self.samples.iter().map(|one| one.sent - one.intended);
            let late: Vec<f64> = late.filter(|&late| late > 0.01).collect();
            if !late.is_empty() {
                let _ = writeln!(
                    out,
                    "late       {} requests were sent more than 10 ms late; their latency \
                     includes this",
                    late.len()
                );
            }
        }
        if let (Some(first), Some(last)) = (self.usage.first(), self.usage.last()) {
            fn mebibytes(usage: &ProcessUsage) -> f64 {
                usage.resident_bytes as f64 / f64::from(1 << 20)
            }
            let most = self.usage.iter().map(mebibytes).fold(0.0, f64::max);
            let cpu = last.cpu_seconds - first.cpu_seconds;
            let _ = writeln!(
                out,
                "server     {cpu:.2} s of CPU time, {:.1} us per request; {:.1} MiB at the \
                 start, {most:.1} at most, {:.1} at the end",
                cpu * 1e6 / self.samples.len().max(1) as f64,
                mebibytes(first),
                mebibytes(last)
            );
        }
        out
    }

    /// Returns a line of CSV for each request.
    pub fn requests_csv(&self) -> String {
        let mut out = String::from("intended_s,sent_s,done_s,outcome\n");
        for Sample { intended, sent, done, outcome } in &self.samples {
            let _ = writeln!(out, "{intended:.6},{sent:.6},{done:.6},{}", label(*outcome));
        }
        out
    }

    /// Returns a line of CSV for each second: responses, percentiles, and the resource usage of the
    /// server's process.
    pub fn seconds_csv(&self) -> String {
        let mut out =
            String::from("second,responses,good,p50_ms,p99_ms,resident_bytes,cpu_seconds\n");
        let mut rest = &self.samples[..];
        for second in 0..self.seconds().ceil().max(0.0) as usize {
            let end = rest.partition_point(|one| one.done < (second + 1) as f64);
            let (now, later) = rest.split_at(end);
            rest = later;
            let good = now.iter().filter(|one| one.outcome == Outcome::Status(200));
            let mut times: Vec<f64> = good.map(|one| (one.done - one.intended) * 1e3).collect();
            times.sort_by(f64::total_cmp);
            let usage = self.usage.iter().find(|usage| usage.time >= second as f64);
            let usage = usage.map(|usage| (usage.resident_bytes.to_string(), usage.cpu_seconds));
            let (bytes, cpu) =
                usage.map_or_else(Default::default, |(bytes, cpu)| (bytes, format!("{cpu:.2}")));
            let [p50, p99] = [50.0, 99.0].map(|percent| match &times[..] {
                [] => String::new(),
                times => format!("{:.3}", percentile(times, percent)),
            });
            let _ =
                writeln!(out, "{second},{},{},{p50},{p99},{bytes},{cpu}", now.len(), times.len());
        }
        out
    }

    /// Returns a chart of the latency that one in n requests exceeds.
    pub fn chart(&self) -> Chart {
        const MEASURED: LineStyle = LineStyle::solid(Colour(0x1f, 0x5f, 0xa8));
        let count = self.latencies.len();
        // Ranks count from the slowest request and are evenly spaced on the logarithmic axis.
        let mut ranks: Vec<usize> =
            (0..200).map(|step| (count as f64).powf(f64::from(step) / 199.0) as usize).collect();
        ranks.dedup();
        let points: Vec<(f64, f64)> = ranks
            .into_iter()
            .rev()
            .filter(|&rank| rank > 0 && rank <= count)
            .map(|rank| (count as f64 / rank as f64, self.latencies[count - rank].max(1e-3)))
            .collect();
        let panel = Panel {
            height: 320,
            y_axis: Axis::logarithmic("latency (ms)", points.iter().map(|point| point.1)),
            curves: vec![Curve::new(MEASURED, points.clone())],
        };
        Chart {
            title: "Latency of a translation server".into(),
            notes: vec![self.what.clone(), format!("{}; {}", machine::cpu_name(), date::today())],
            legend: vec![("latency that one in n requests exceeds".into(), MEASURED)],
            x_axis: Axis::logarithmic(
                "n (10: the 90th percentile, 100: the 99th)",
                points.iter().map(|point| point.0),
            ),
            bands: Vec::new(),
            panels: vec![panel],
        }
    }
}
