//! Configuration of a training run, as typed values.

use std::path::PathBuf;

use miriam_nmt::architecture::Architecture;
use miriam_nmt::packed::Precision;

use super::divergence::DivergenceDetector;
use super::metric::Metric;
use super::schedule::Schedule;
use super::statistics::DynamicScaling;
use super::validation_script::ValidationScript;
use crate::asynchronous::AsyncOptions;
use crate::asynchronous::simulation::Machine;
use crate::data::{BatchOptions, LengthLimit, MicroBatchLimits};
use crate::dropout::Dropout;
use crate::kernels::ProductPrecision;
use crate::progress::{LogicalEpoch, Progress, SchedulingUnit, TrainingLength};
use crate::update::{MomentumSchedule, QuantizationOptions, UpdateOptions};

/// The metrics that must stall for training to stop (`early-stopping-on`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoppingRule {
    /// The first metric.
    #[default]
    First,
    /// All metrics.
    All,
    /// Any metric.
    Any,
}

/// The state of validation that a resumed training run forgets (`valid-reset-stalled`,
/// `valid-reset-all`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValidationReset {
    /// Nothing.
    #[default]
    Nothing,
    /// The counts of stalls.
    Stalls,
    /// The counts of stalls and the best values.
    All,
}

/// Options of validation and early stopping.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidationOptions {
    /// The metrics. By default, training stops early if the first one stalls.
    pub metrics: Vec<Metric>,
    /// The length between two validations.
    pub frequency: TrainingLength,
    /// The number of validations without improvement after which training stops; 0 for never.
    pub early_stopping: u64,
    /// The metrics that must stall for training to stop.
    pub stopping_rule: StoppingRule,
    /// For each metric, the largest improvement that still counts as a stall
    /// (`early-stopping-epsilon`).
    pub epsilons: Vec<f64>,
    /// Whether the best model by each metric is kept.
    pub keeps_best: bool,
    /// The beam size of translations.
    pub beam_size: usize,
    /// The length normalisation of translations.
    pub normalize: f32,
    /// The maximum length of translations, as a multiple of the source's.
    pub max_length_factor: f32,
    /// Whether the unknown token may be generated.
    pub allows_unknown: bool,
    /// The number of sentences per batch.
    pub mini_batch: usize,
    /// The length in tokens at which sentences are cropped.
    pub max_length: usize,
    /// The file for translations; fields in braces are filled in.
    pub translation_output: Option<PathBuf>,
    /// The program of the metrics `translation` and `valid-script`.
    pub script: Option<ValidationScript>,
    /// The file for the lines of validation (`valid-log`).
    pub log: Option<PathBuf>,
    /// The state of validation that a resumed training run forgets.
    pub reset: ValidationReset,
    /// The number of pairs of the training text whose cross-entropy is also shown
    /// (`train-ce-sample`).
    pub training_sample: usize,
    /// The precision in which the model is validated, which is the precision that it is trained
    /// for.
    pub precision: Precision,
}

impl ValidationOptions {
    /// Returns the index of the metric by which models are chosen for decoding: the first metric
    /// that scores translations, because it says more than cross-entropy. If there is none, the
    /// first metric.
    pub fn deciding_translation(&self) -> usize {
        self.metrics.iter().position(|metric| metric.needs_translations()).unwrap_or(0)
    }

    /// Whether any metric needs a validation set.
    pub fn needs_set(&self) -> bool {
        self.metrics.iter().any(|metric| metric.needs_validation_set())
    }
}

/// The limits at which a training run ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Training ends at the first of these (`after`, `after-epochs`, `after-batches`).
    pub lengths: Vec<TrainingLength>,
    /// The epochs of these lengths and of the log (`logical-epoch`).
    pub epoch: LogicalEpoch,
    /// Whether training also ends after one pass over the corpus, because standard input cannot be
    /// read again.
    pub is_one_pass: bool,
}

impl Limits {
    /// Returns the unit in which progress is shown, and the length of the training in this unit if
    /// the length is limited. Epochs, each of `epoch_labels` target tokens, are shown as target
    /// tokens.
    pub(super) fn shown_length(&self, epoch_labels: u64) -> (SchedulingUnit, Option<u64>) {
        let updates = self.shortest(SchedulingUnit::Updates);
        let epochs = self.shortest(SchedulingUnit::Epochs);
        let epochs = epochs.map(|epochs| epochs.saturating_mul(epoch_labels));
        let labels = self.shortest(SchedulingUnit::Labels).into_iter().chain(epochs).min();
        match (updates, labels) {
            (None, Some(labels)) => (SchedulingUnit::Labels, Some(labels)),
            (updates, _) => (SchedulingUnit::Updates, updates),
        }
    }

    /// Returns the shortest length in a unit; epochs are passes over the corpus.
    fn shortest(&self, unit: SchedulingUnit) -> Option<u64> {
        let pass = TrainingLength { count: 1, unit: SchedulingUnit::Epochs };
        let lengths = self.lengths.iter().map(|&length| self.in_data(length));
        let lengths = lengths.chain(self.is_one_pass.then_some(pass));
        let lengths = lengths.filter(|length| length.unit == unit);
        // 0 means no limit.
        lengths.map(|length| length.count).filter(|&count| count > 0).min()
    }

    /// Returns a length in passes over the corpus, updates or target tokens.
    pub(super) fn in_data(&self, length: TrainingLength) -> TrainingLength {
        match length.unit {
            SchedulingUnit::Epochs => self.epoch.length_of(length.count),
            SchedulingUnit::Updates | SchedulingUnit::Labels => length,
        }
    }

    /// Whether the only pass or one of the lengths is over.
    pub(super) fn are_reached(&self, progress: &Progress) -> bool {
        self.is_pass_over(progress)
            || self.lengths.iter().any(|length| match length.unit {
                _ if length.is_zero() => false,
                SchedulingUnit::Epochs => self.epoch.has_passed(progress, length.count),
                unit => progress.in_unit(unit) >= length.count,
            })
    }

    /// Whether the end of a pass over the corpus ends the training.
    pub(super) fn end_with_pass(&self, progress: &Progress) -> bool {
        let mut epochs = self.lengths.iter().filter(|one| one.unit == SchedulingUnit::Epochs);
        self.is_pass_over(progress)
            || self.epoch.length.unit == SchedulingUnit::Epochs
                && epochs.any(|one| !one.is_zero() && self.epoch.has_passed(progress, one.count))
    }

    /// Whether the only pass over the corpus is over.
    fn is_pass_over(&self, progress: &Progress) -> bool {
        self.is_one_pass && progress.epoch > 1
    }
}

impl TrainingConfig {
    /// Returns the number of workers of asynchronous training, in threads or in the simulated
    /// machine.
    pub fn num_async_workers(&self) -> usize {
        self.machine.as_ref().map_or(self.workers, |machine| machine.workers)
    }
}

/// The configuration of a training run.
#[derive(Clone, Debug)]
pub struct TrainingConfig {
    /// The architecture of the model.
    pub architecture: Architecture,
    /// The seed of initial values, dropout and shuffling.
    pub seed: u64,
    /// Whether initial values are smaller in deeper layers (`transformer-depth-scaling`).
    pub depth_scaling: bool,
    /// The options of updates.
    pub update: UpdateOptions,
    /// The schedule of the learning rate.
    pub schedule: Schedule,
    /// The target tokens per batch that the rate is meant for; other batches have rates in
    /// proportion (`batch-flexible-lr`, `batch-normal-words`). 0 for the mean of earlier batches.
    pub normal_words: Option<u64>,
    /// Adam's betas over time (`momentum-schedule`).
    pub momentum: MomentumSchedule,
    /// Dropout; its key is set by the training.
    pub dropout: Dropout,
    /// The options of asynchronous training, if workers do not wait for each other (`async-sgd`).
    pub asynchronous: Option<AsyncOptions>,
    /// The machine that is simulated instead of using threads (`simulate-async`).
    pub machine: Option<Machine>,
    /// The options of batches.
    pub batches: BatchOptions,
    /// The length limit; longer sentences are left out or cropped.
    pub length_limit: LengthLimit,
    /// The number of batches per update (`optimizer-delay`).
    pub optimizer_delay: usize,
    /// The limits at which a micro-batch is closed.
    pub micro_batch_limits: MicroBatchLimits,
    /// The weight of the loss of guided alignment, if alignments are given
    /// (`guided-alignment-weight`).
    pub guided_alignment_weight: f64,
    /// The length of training over which batches grow to their full size (`mini-batch-warmup`).
    pub mini_batch_warmup: TrainingLength,
    /// The number of worker threads.
    pub workers: usize,
    /// The limits at which training ends.
    pub limits: Limits,
    /// The options of validation.
    pub validation: ValidationOptions,
    /// The length between two lines of the log.
    pub display_frequency: TrainingLength,
    /// The number of first updates that are all logged.
    pub display_first: u64,
    /// The length between two saved models.
    pub save_frequency: TrainingLength,
    /// Whether saved models replace each other (`overwrite`).
    pub overwrites: bool,
    /// The check for divergence (`throw-on-divergence`).
    pub divergence: Option<DivergenceDetector>,
    /// Scaling of gradients whose norm is far above its average (`dynamic-gradient-scaling`).
    pub scaling: Option<DynamicScaling>,
    /// The length between two replacements of the parameters by their average
    /// (`exponential-smoothing-replace-freq`).
    pub replace_frequency: TrainingLength,
    /// The window of the average gradient norm (`gradient-norm-average-window`).
    pub norm_window: u64,
    /// Whether a resumed training run continues at its position in the corpus, which must then be
    /// the same; `no-restore-corpus` switches this off.
    pub restores_corpus: bool,
    /// The type of numbers in products with weights, from `precision` or `quantize-aware`.
    pub products: ProductPrecision,
    /// The quantisation of parameters after every update (`quantize-bits`).
    pub quantization: Option<QuantizationOptions>,
    /// The magnitude at which weights and inputs of matrix products are clipped (`clip-products`).
    pub product_clip: Option<f32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_shown_in_updates_or_target_tokens() {
        use SchedulingUnit::{Labels, Updates};
        let shown = |lengths: &[&str]| {
            let lengths: Vec<TrainingLength> =
                lengths.iter().map(|length| length.parse().unwrap()).collect();
            Limits { lengths, ..Limits::default() }.shown_length(1000)
        };
        assert_eq!(shown(&[]), (Updates, None));
        assert_eq!(shown(&["0e", "0u"]), (Updates, None), "no limits");
        assert_eq!(shown(&["3e"]), (Labels, Some(3000)));
        assert_eq!(shown(&["3e", "2Kt"]), (Labels, Some(2000)), "the first that is reached");
        assert_eq!(shown(&["3e", "70u", "50u"]), (Updates, Some(50)));
        let lengths = vec!["3e".parse().unwrap()];
        let logical = |length: &str| LogicalEpoch { length: length.parse().unwrap(), decimals: 0 };
        let shown = |length| Limits {
            lengths: lengths.clone(),
            epoch: logical(length),
            is_one_pass: false,
        };
        assert_eq!(shown("20u").shown_length(1000), (Updates, Some(60)));
        assert_eq!(shown("2e").shown_length(1000), (Labels, Some(6000)));
    }

    #[test]
    fn limits_in_epochs_end_passes_or_not() {
        let limits = |length: &str, lengths: &[&str]| Limits {
            lengths: lengths.iter().map(|length| length.parse().unwrap()).collect(),
            epoch: LogicalEpoch { length: length.parse().unwrap(), decimals: 0 },
            is_one_pass: false,
        };
        let progress = Progress { updates: 19, labels: 475, epoch: 5 };
        for (length, lengths, is_reached, ends_pass) in [
            ("6u", &["3e"][..], true, false),
            ("7u", &["3e"], false, false),
            ("2e", &["2e"], true, true),
            ("2e", &["3e", "0e"], false, false),
            ("2e", &["3e", "19u"], true, false),
            ("1e", &["475t", "5e"], true, false),
        ] {
            let limits = limits(length, lengths);
            assert_eq!(limits.are_reached(&progress), is_reached, "{length} {lengths:?}");
            assert_eq!(limits.end_with_pass(&progress), ends_pass, "{length} {lengths:?}");
        }
        // One pass ends, whatever an epoch is.
        for length in ["6u", "2e"] {
            let one_pass = Limits { is_one_pass: true, ..limits(length, &["100e"]) };
            assert!(one_pass.are_reached(&progress) && one_pass.end_with_pass(&progress));
            let first = Progress { epoch: 1, ..progress };
            assert!(!one_pass.are_reached(&first) && !one_pass.end_with_pass(&first));
            assert_eq!(one_pass.shortest(SchedulingUnit::Epochs), Some(1));
        }
    }
}
