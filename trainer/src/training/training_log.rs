//! Log of a training run, in Marian's format.

use std::time::{Duration, Instant};

use crate::progress::{LogicalEpoch, Progress};
use crate::update::UpdateReport;

/// The time without a line after which the first early line is written.
const FIRST_EARLY_LINE: Duration = Duration::from_secs(20);

/// Sums over the updates since the last log line.
#[derive(Clone, Debug)]
pub struct TrainingLog {
    loss: f64,
    loss_count: f64,
    labels: u64,
    last_labels: u64,
    since: Instant,
    /// The time without a line after which the next early line is written.
    early_after: Duration,
    /// The number of sentences of this epoch so far.
    pub sentences: u64,
}

impl Default for TrainingLog {
    fn default() -> Self {
        TrainingLog {
            loss: 0.0,
            loss_count: 0.0,
            labels: 0,
            last_labels: 0,
            since: Instant::now(),
            early_after: FIRST_EARLY_LINE,
            sentences: 0,
        }
    }
}

impl TrainingLog {
    /// Creates a log with empty sums after `sentences` sentences of the epoch.
    pub fn new(sentences: u64) -> Self {
        TrainingLog { sentences, ..TrainingLog::default() }
    }

    /// Adds an update. The cost of a skipped update may be NaN.
    pub fn add(&mut self, report: &UpdateReport) {
        if !report.is_skipped {
            self.loss += report.loss;
            self.loss_count += report.loss_count;
        }
        self.labels += report.target_tokens as u64;
        self.last_labels = report.target_tokens as u64;
        self.sentences += report.sentences as u64;
    }

    /// Returns the loss per target token since the last line. With guided alignment, links are
    /// counted too, multiplied by the weight of guided alignment. Returns NaN if nothing was
    /// counted.
    pub fn loss(&self) -> f64 {
        self.loss / self.loss_count
    }

    /// Returns the number of target tokens per second since the last line.
    pub fn words_per_second(&self) -> f64 {
        self.labels as f64 / self.since.elapsed().as_secs_f64().max(1e-9)
    }

    /// Returns the log line after the update that led to `progress`, and resets the sums. `norm` is
    /// the average gradient norm per word, `rate` the rate of the next update, `epoch` the unit of
    /// epochs.
    pub fn take_line(
        &mut self,
        epoch: LogicalEpoch,
        progress: &Progress,
        norm: f64,
        rate: f64,
    ) -> String {
        let line = self.line(epoch, progress, norm, rate);
        *self = TrainingLog { sentences: self.sentences, ..TrainingLog::default() };
        line
    }

    /// Returns an early line without resetting the sums, if no line was written for long: first
    /// after 20 seconds, then each time after twice as long.
    pub fn early_line(
        &mut self,
        epoch: LogicalEpoch,
        progress: &Progress,
        norm: f64,
        rate: f64,
    ) -> Option<String> {
        if self.since.elapsed() < self.early_after {
            return None;
        }
        self.early_after *= 2;
        Some(self.line(epoch, progress, norm, rate))
    }

    fn line(&self, epoch: LogicalEpoch, progress: &Progress, norm: f64, rate: f64) -> String {
        format!(
            "Ep. {} : Up. {} : Sen. {} : Cost {:.8} * {} @ {} after {} : Time {:.2}s : {:.2} \
             words/s : gNorm {norm:.4} : L.r. {}",
            epoch.format(progress),
            progress.updates,
            with_commas(self.sentences),
            self.loss(),
            with_commas(self.loss_count as u64),
            with_commas(self.last_labels),
            with_commas(progress.labels),
            self.since.elapsed().as_secs_f64(),
            self.words_per_second(),
            scientific(rate),
        )
    }
}

/// Returns a number with commas as thousands separators.
pub fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a number like C's `%.4e`.
fn scientific(number: f64) -> String {
    let text = format!("{number:.4e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An early line does not reset the sums, so the regular line differs only in its times.
    #[test]
    fn lines_come_early_where_updates_are_slow() {
        let mut log = TrainingLog { loss: 6.0, loss_count: 4.0, ..TrainingLog::default() };
        let (epoch, progress) = (LogicalEpoch::default(), Progress::default());
        assert_eq!(log.early_line(epoch, &progress, 1.0, 0.1), None);
        log.early_after = Duration::ZERO;
        let early = log.early_line(epoch, &progress, 1.0, 0.1).unwrap();
        assert!(early.contains("Cost 1.50000000 * 4 @"), "{early}");
        let line = log.take_line(epoch, &progress, 1.0, 0.1);
        assert!(line.contains("Cost 1.50000000 * 4 @"), "{line}");
        assert_eq!(log.early_after, FIRST_EARLY_LINE);
    }

    #[test]
    fn numbers_are_printed_as_marian_does() {
        assert_eq!(with_commas(0), "0");
        assert_eq!(with_commas(1_234_567), "1,234,567");
        assert_eq!(with_commas(123), "123");
        assert_eq!(scientific(3e-4), "3.0000e-04");
        assert_eq!(scientific(0.0), "0.0000e+00");
        assert_eq!(scientific(12.5), "1.2500e+01");
    }
}
