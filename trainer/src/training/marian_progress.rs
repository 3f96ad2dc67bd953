//! Marian's file of progress, `model.npz.progress.yml`, from which Marian goes on with a training
//! of ours. We do not read it: the optimiser's file has all of it, exactly.
//!
//! Marian demands every key. Statistics that we do not keep begin anew, as does its random
//! number generator; the sentences of an epoch that was begun come in Marian's own order, but as
//! many of its batches as were made are left out.

use std::fmt::Write as _;

use super::checkpoint::TrainingState;
use super::progress::Span;

/// Words of a state of the Mersenne Twister.
const STATE_WORDS: usize = 624;

/// The text of the file. `eta` is the rate of the next update, `warmup` the length of the warm-up,
/// whose unit its start has.
pub(super) fn marian_progress(state: &TrainingState, eta: f64, warmup: Span, seed: u64) -> String {
    let progress = &state.progress;
    let (validator, stalled) = match state.metrics.first() {
        Some((name, metric)) => (name.as_str(), metric.stalled),
        None => ("", 0),
    };
    let schedule = &state.schedule;
    let count = schedule.next_warmup_start.unwrap_or(schedule.warmup_start);
    let warmup_start = Span { count, ..warmup };
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
    for key in [
        "cost-sum",
        "cost-count",
        "disp-updates",
        "disp-samples",
        "disp-words",
        "loss-avg-slow",
        "loss-avg-fast",
        "loss-var-slow",
        "gradient-norm-avg",
        "gradient-norm-var",
        "log-gradient-norm-avg",
        "log-gradient-norm-var",
    ] {
        let _ = writeln!(text, "{key}: 0");
    }
    let twister = mersenne_twister(seed as u32);
    let _ = write!(text, "seed-batch: {twister}\nseed-corpus: {twister}\n");
    text
}

/// The state of C++'s `mt19937` after it was seeded, as its `<<` writes it.
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
    use crate::training::checkpoint::Identity;
    use crate::training::config::Metric;
    use crate::training::divergence::LossAverages;
    use crate::training::progress::Progress;
    use crate::training::schedule::ScheduleState;
    use crate::training::validation::MetricState;

    /// The keys of a file that Marian wrote, in its order.
    const KEYS: &str = "epochs batches batches-epoch samples labels-total prev-labels-total \
        prev-batches prev-epochs stalled stalled-max validator validators reset eta eta-factor \
        warmup-start cost-sum cost-count disp-updates disp-samples disp-words loss-avg-slow \
        loss-avg-fast loss-var-slow gradient-norm-avg gradient-norm-var log-gradient-norm-avg \
        log-gradient-norm-var seed-batch seed-corpus";

    #[test]
    fn every_key_of_marian_is_there() {
        let mut metric = MetricState::new(Metric::Bleu);
        metric.follow(Metric::Bleu, 12.5, 0.0);
        metric.follow(Metric::Bleu, 11.0, 0.0);
        let state = TrainingState {
            progress: Progress { updates: 25, labels: 7367, epoch: 3 },
            position: BatchPosition::default(),
            schedule: ScheduleState {
                factor: 0.5,
                warmup_start: 3,
                next_warmup_start: Some(7),
                max_stalled: 4,
            },
            divergence: LossAverages::default(),
            validated_at: 20,
            metrics: vec![
                ("bleu".into(), metric),
                ("perplexity".into(), MetricState::new(Metric::Perplexity)),
            ],
            is_finished: false,
            sentences: 160,
            epoch_batches: 5,
            identity: Identity { corpus: 1, vocabularies: 2, architecture: 3, options: Vec::new() },
        };
        let text = marian_progress(&state, 1e-3, Span::updates(20), 1);
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
        ] {
            assert!(text.contains(&format!("\n{line}\n")), "{line}\n{text}");
        }
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
