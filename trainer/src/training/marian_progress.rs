//! Marian's file of progress, `model.npz.progress.yml`. We write it so that Marian can resume our
//! trainings, and read it to resume Marian's. To resume our own trainings we do not need it: the
//! optimiser's file has the same values exactly.
//!
//! Marian demands every key. When it resumes our training, the sums of its log and its random
//! number generator start afresh. In the epoch that had begun, Marian takes sentences in its own
//! order and skips as many batches as we had made. When we resume Marian's training, we skip as
//! many sentences as Marian had read.

use std::fmt::Write as _;
use std::path::Path;

use miriam_nmt::yaml::Value;

use super::checkpoint::TrainingState;
use super::metric::{Metric, MetricState};
use super::schedule::ScheduleState;
use super::statistics::Statistics;
use crate::error::{Error, Result};
use crate::progress::{Progress, TrainingLength};

/// The number of words in the state of a Mersenne Twister.
const STATE_WORDS: usize = 624;

/// Returns the text of the file. `eta` is the learning rate of the next update. `warmup` is the
/// length of the warm-up; the start of the warm-up is written in the same unit.
pub(super) fn marian_progress(
    state: &TrainingState,
    eta: f64,
    warmup: TrainingLength,
    seed: u64,
) -> String {
    let progress = &state.progress;
    let (validator, stalled) = match state.metrics.first() {
        Some((name, metric)) => (name.as_str(), metric.stalled),
        None => ("", 0),
    };
    let schedule = &state.schedule;
    let count = schedule.next_warmup_start.unwrap_or(schedule.warmup_start);
    let warmup_start = TrainingLength { count, ..warmup };
    let mut text = format!(
        "epochs: {}\nbatches: {}\nbatches-epoch: {}\nsamples: {}\nlabels-total: {}\n\
         prev-labels-total: {}\nprev-batches: {}\nprev-epochs: {}\nstalled: {stalled}\n\
         stalled-max: {}\nvalidator: \"{validator}\"\n",
        progress.epoch,
        progress.updates,
        state.epoch_batches,
        state.sentences,
        progress.labels,
        progress.labels,
        progress.updates,
        progress.epoch,
        state.schedule.max_stalled,
    );
    text.push_str(if state.metrics.is_empty() { "validators: ~\n" } else { "validators:\n" });
    for (name, metric) in &state.metrics {
        let best = match metric.best() {
            f64::INFINITY => ".inf".into(),
            f64::NEG_INFINITY => "-.inf".into(),
            best => best.to_string(),
        };
        let stalled = metric.stalled;
        let _ = write!(text, "  {name}:\n    last-best: {best}\n    stalled: {stalled}\n");
    }
    let _ = write!(
        text,
        "reset: false\neta: {eta}\neta-factor: {}\nwarmup-start: {warmup_start}\n",
        state.schedule.factor
    );
    for key in ["cost-sum", "cost-count", "disp-updates", "disp-samples", "disp-words"] {
        let _ = writeln!(text, "{key}: 0");
    }
    for (key, average) in Statistics::KEYS.iter().zip(state.statistics.to_array()) {
        let _ = writeln!(text, "{key}: {average}");
    }
    let twister = mersenne_twister(seed as u32);
    let _ = write!(text, "seed-batch: {twister}\nseed-corpus: {twister}\n");
    text
}

/// The content of Marian's progress file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MarianProgress {
    pub progress: Progress,
    /// The number of sentences read so far in this epoch.
    pub sentences: u64,
    pub schedule: ScheduleState,
    /// The results of validation, for known metrics.
    pub metrics: Vec<(Metric, MetricState)>,
    pub statistics: Statistics,
}

impl MarianProgress {
    /// Reads the file at `path`. Values that old versions of Marian did not write get their initial
    /// values.
    ///
    /// # Errors
    /// If it cannot be read or is not YAML, a required number is missing, or a number is malformed.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let text = std::fs::read(path).map_err(|e| miriam_storage::Error::io(path, "read", e))?;
        Self::parse(&text, path)
    }

    fn parse(text: &[u8], path: &Path) -> Result<Self> {
        let yaml = Value::parse(text, &path.display().to_string())?;
        let warmup_start = match yaml.get("warmup-start").and_then(Value::as_str) {
            None => 0,
            Some(text) => {
                text.parse::<TrainingLength>().map_err(|_| damaged(path, "warmup-start"))?.count
            }
        };
        let mut statistics = [0.0; Statistics::COUNT];
        for (average, key) in statistics.iter_mut().zip(Statistics::KEYS) {
            *average = number_or(&yaml, path, key, 0.0)?;
        }
        let mut metrics = Vec::new();
        for (name, seen) in yaml.get("validators").and_then(Value::entries).unwrap_or_default() {
            let name = String::from_utf8_lossy(name);
            let Some(metric) = Metric::from_name(&name) else { continue };
            let best = number(path, &name, seen.get("last-best"))?;
            let stalled = number(path, &name, seen.get("stalled"))?;
            // Marian writes the largest f32 if there is no result yet.
            let best = (best.abs() < f64::from(f32::MAX) * 0.999).then_some(best);
            metrics.push((metric, MetricState::from_marian(metric, best, stalled as u64)));
        }
        Ok(MarianProgress {
            progress: Progress {
                updates: count(&yaml, path, "batches")?,
                labels: number_or(&yaml, path, "labels-total", 0.0)? as u64,
                epoch: count(&yaml, path, "epochs")?.max(1),
            },
            sentences: count(&yaml, path, "samples")?,
            schedule: ScheduleState {
                factor: number_or(&yaml, path, "eta-factor", 1.0)?,
                warmup_start,
                next_warmup_start: None,
                max_stalled: number_or(&yaml, path, "stalled-max", 0.0)? as u64,
                // Marian has no cycles.
                cycle_start: 0,
            },
            metrics,
            statistics: Statistics::from_array(statistics),
        })
    }
}

/// Returns the error for a missing or malformed number `key`.
fn damaged(path: &Path, key: &str) -> Error {
    let remedy = "copy it again from Marian's folder, or move the optimiser's file away and begin \
                  with --pretrained-model";
    Error::resume(path, format!("{key} is missing or not a number; {remedy}"))
}

fn number(path: &Path, key: &str, value: Option<&Value>) -> Result<f64> {
    value.and_then(marian_number).ok_or_else(|| damaged(path, key))
}

/// Returns the number `key`, or `default` if it is missing.
fn number_or(yaml: &Value, path: &Path, key: &str, default: f64) -> Result<f64> {
    match yaml.get(key) {
        None => Ok(default),
        value => number(path, key, value),
    }
}

fn count(yaml: &Value, path: &Path, key: &str) -> Result<u64> {
    let number = number(path, key, yaml.get(key))?;
    let is_count = number >= 0.0 && number.fract() == 0.0;
    if is_count { Ok(number as u64) } else { Err(damaged(path, key)) }
}

/// Parses a number that Marian wrote; infinities are written as in YAML.
fn marian_number(value: &Value) -> Option<f64> {
    match value.as_str()? {
        ".inf" | ".Inf" => Some(f64::INFINITY),
        "-.inf" | "-.Inf" => Some(f64::NEG_INFINITY),
        number => number.parse().ok().filter(|number: &f64| !number.is_nan()),
    }
}

/// Returns the state of C++'s `mt19937` right after seeding, as the text that `<<` writes.
fn mersenne_twister(seed: u32) -> String {
    let mut word = seed;
    let mut text = word.to_string();
    for index in 1..STATE_WORDS {
        word = (word ^ (word >> 30)).wrapping_mul(1_812_433_253).wrapping_add(index as u32);
        let _ = write!(text, " {word}");
    }
    let _ = write!(text, " {STATE_WORDS}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::BatchPosition;
    use crate::progress::Progress;
    use crate::training::fingerprint::TrainingFingerprint;
    use crate::training::schedule::ScheduleState;

    /// Returns a state whose progress file is known.
    fn state() -> TrainingState {
        let mut metric = MetricState::new(Metric::Bleu);
        metric.record(Metric::Bleu, 12.5, 0.0);
        metric.record(Metric::Bleu, 11.0, 0.0);
        TrainingState {
            progress: Progress { updates: 25, labels: 7367, epoch: 3 },
            position: BatchPosition::default(),
            schedule: ScheduleState {
                factor: 0.5,
                warmup_start: 3,
                next_warmup_start: Some(7),
                max_stalled: 4,
                cycle_start: 0,
            },
            validated_at: 20,
            metrics: vec![
                ("bleu".into(), metric),
                ("perplexity".into(), MetricState::new(Metric::Perplexity)),
            ],
            is_finished: false,
            is_last_best: false,
            has_last_pushes: false,
            sentences: 160,
            epoch_batches: 5,
            statistics: Statistics::from_array([6.5, 6.25, 0.125, 2.0, 0.5, 0.75, 0.0625]),
            fingerprint: TrainingFingerprint {
                corpus: 1,
                vocabularies: 2,
                architecture: 3,
                options: Vec::new(),
                model_options: Vec::new(),
            },
        }
    }

    /// The keys of a file that Marian wrote, in its order.
    const KEYS: &str = "epochs batches batches-epoch samples labels-total prev-labels-total \
        prev-batches prev-epochs stalled stalled-max validator validators reset eta eta-factor \
        warmup-start cost-sum cost-count disp-updates disp-samples disp-words loss-avg-slow \
        loss-avg-fast loss-var-slow gradient-norm-avg gradient-norm-var log-gradient-norm-avg \
        log-gradient-norm-var seed-batch seed-corpus";

    #[test]
    fn every_key_of_marian_is_there() {
        let text = marian_progress(&state(), 1e-3, TrainingLength::from_updates(20), 1);
        let keys = text.lines().filter(|line| !line.starts_with(' '));
        let keys: Vec<&str> = keys.map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
        for line in [
            "batches-epoch: 5",
            "samples: 160",
            "stalled: 1",
            "stalled-max: 4",
            "validator: \"bleu\"",
            "  bleu:\n    last-best: 12.5\n    stalled: 1",
            "  perplexity:\n    last-best: .inf\n    stalled: 0",
            "eta: 0.001\neta-factor: 0.5\nwarmup-start: 7u",
            "loss-avg-slow: 6.5\nloss-avg-fast: 6.25\nloss-var-slow: 0.125\ngradient-norm-avg: 2",
        ] {
            assert!(text.contains(&format!("\n{line}\n")), "{line}\n{text}");
        }
    }

    #[test]
    fn a_written_file_is_read_back() {
        let path = Path::new("model.npz.progress.yml");
        let state = state();
        let text = marian_progress(&state, 1e-3, TrainingLength::from_updates(20), 1);
        let found = MarianProgress::parse(text.as_bytes(), path).unwrap();
        assert_eq!((found.progress, found.sentences), (state.progress, 160));
        // Marian's file has only one start of a warm-up: the start of the next warm-up.
        let schedule = ScheduleState { warmup_start: 7, next_warmup_start: None, ..state.schedule };
        assert_eq!((found.schedule, found.statistics), (schedule, state.statistics));
        let named = found.metrics.iter().map(|(metric, seen)| (metric.name().to_owned(), *seen));
        assert_eq!(named.collect::<Vec<_>>(), state.metrics);
        let error = MarianProgress::parse(b"epochs: 1\nbatches: x\n", path).unwrap_err();
        assert!(error.to_string().contains("progress.yml: batches is missing"), "{error}");
    }

    /// Reads a file that Marian wrote, without the states of its random number generators.
    #[test]
    fn files_of_marian_are_read() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = path.join("tests/golden/marian/model.npz.progress.yml");
        let found = MarianProgress::open(&path).unwrap();
        assert_eq!(found.progress, Progress { updates: 7, labels: 290, epoch: 2 });
        assert_eq!((found.sentences, found.schedule), (16, ScheduleState::default()));
        let metrics =
            found.metrics.iter().map(|(metric, seen)| (*metric, seen.best(), seen.stalled));
        let expected = [
            (Metric::CrossEntropy, 16.3054, 0),
            (Metric::Bleu, 0.0, 2),
            (Metric::Perplexity, 23.00365, 0),
        ];
        assert_eq!(metrics.collect::<Vec<_>>(), expected);
        assert_eq!(found.statistics.norm, [3.041709, 0.7873762]);
        // The largest f32 means no value yet.
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.replace("last-best: 16.3054", "last-best: 3.402823e+38");
        let text = text.replace("last-best: 0", "last-best: -3.402823e+38");
        let found = MarianProgress::parse(text.as_bytes(), &path).unwrap();
        let best: Vec<f64> = found.metrics.iter().map(|(_, seen)| seen.best()).collect();
        assert_eq!(best, [f64::INFINITY, f64::NEG_INFINITY, 23.00365]);
    }

    /// The first and the last words of a state that Marian wrote.
    #[test]
    fn generators_are_seeded_as_in_cpp() {
        let state = mersenne_twister(1);
        assert!(state.starts_with("1 1812433254 3713160357 3109174145 64984499 "));
        assert!(state.ends_with(" 1473334647 2386671612 2069268389 624"));
        assert_eq!(state.split(' ').count(), STATE_WORDS + 1);
    }
}
