//! Configuration of a training, as typed values.

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
use crate::kernels::IntegerPrecision;
use crate::progress::TrainingLength;
use crate::update::{MomentumSchedule, QuantizationOptions, UpdateOptions};

/// Which metrics must stall for training to stop (`early-stopping-on`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoppingRule {
    /// The first.
    #[default]
    First,
    /// All.
    All,
    /// Any.
    Any,
}

/// The state of validation that a resumed training forgets (`valid-reset-stalled`,
/// `valid-reset-all`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValidationReset {
    /// Nothing.
    #[default]
    Nothing,
    /// How often they stalled.
    Stalls,
    /// That and the best values.
    All,
}

/// When the model is validated, and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidationOptions {
    /// The metrics, the first of which decides.
    pub metrics: Vec<Metric>,
    /// The length between two validations.
    pub frequency: TrainingLength,
    /// The number of validations without improvement after which training stops; 0 for never.
    pub early_stopping: u64,
    /// Of which metrics.
    pub stopping_rule: StoppingRule,
    /// Of each metric the improvement that is not enough (`early-stopping-epsilon`).
    pub epsilons: Vec<f64>,
    /// Whether the best model by each metric is kept.
    pub keeps_best: bool,
    /// The beam of translations.
    pub beam_size: usize,
    /// Their length normalisation.
    pub normalize: f32,
    /// Their maximum length, as a multiple of that of the source.
    pub max_length_factor: f32,
    /// Whether the unknown token may be generated.
    pub allows_unknown: bool,
    /// Sentences of a batch.
    pub mini_batch: usize,
    /// Sentences are cut at this length.
    pub max_length: usize,
    /// Where translations are written; fields in braces are filled in.
    pub translation_output: Option<PathBuf>,
    /// The program of the metrics `translation` and `valid-script`.
    pub script: Option<ValidationScript>,
    /// A file for the lines of validation (`valid-log`).
    pub log: Option<PathBuf>,
    /// What is forgotten where training goes on.
    pub reset: ValidationReset,
    /// Pairs of the training text whose cross-entropy is shown as well (`train-ce-sample`).
    pub training_sample: usize,
    /// The precision in which the model is validated: that which it is trained for.
    pub precision: Precision,
}

impl ValidationOptions {
    /// Returns the index of the metric by which models are chosen for decoding: the first one of
    /// translations, which say more than cross-entropy, or else the first.
    pub fn deciding_translation(&self) -> usize {
        self.metrics.iter().position(|metric| metric.needs_translations()).unwrap_or(0)
    }

    /// Whether any metric needs a validation set.
    pub fn needs_set(&self) -> bool {
        self.metrics.iter().any(|metric| metric.needs_validation_set())
    }
}

/// When a training ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The first of these (`after`, `after-epochs`, `after-batches`).
    pub lengths: Vec<TrainingLength>,
}

impl TrainingConfig {
    /// Returns the workers of asynchronous training, of threads or of the simulated machine.
    pub fn num_async_workers(&self) -> usize {
        self.machine.as_ref().map_or(self.workers, |machine| machine.workers)
    }
}

/// A training.
#[derive(Clone, Debug)]
pub struct TrainingConfig {
    /// The model.
    pub architecture: Architecture,
    /// The seed of initial values, dropout and shuffling.
    pub seed: u64,
    /// Whether initial values of deep layers are smaller (`transformer-depth-scaling`).
    pub depth_scaling: bool,
    /// How parameters are updated.
    pub update: UpdateOptions,
    /// The learning rate.
    pub schedule: Schedule,
    /// The target tokens of a batch that the rate is meant for, where others have rates in
    /// proportion (`batch-flexible-lr`, `batch-normal-words`); 0 for the mean of those before.
    pub normal_words: Option<u64>,
    /// Adam's betas over time (`momentum-schedule`).
    pub momentum: MomentumSchedule,
    /// Dropout; its key is set by the training.
    pub dropout: Dropout,
    /// How workers train without waiting for each other, if they do (`async-sgd`).
    pub asynchronous: Option<AsyncOptions>,
    /// The machine that is simulated instead of using threads (`simulate-async`).
    pub machine: Option<Machine>,
    /// Batches.
    pub batches: BatchOptions,
    /// Sentences beyond it are left out or cut.
    pub length_limit: LengthLimit,
    /// The number of batches of an update (`optimizer-delay`).
    pub optimizer_delay: usize,
    /// The limits at which a micro-batch is closed.
    pub micro_batch_limits: MicroBatchLimits,
    /// The weight of the loss of guided alignment, where alignments are given
    /// (`guided-alignment-weight`).
    pub guided_alignment_weight: f64,
    /// Over how much training batches grow to their size (`mini-batch-warmup`).
    pub mini_batch_warmup: TrainingLength,
    /// Worker threads.
    pub workers: usize,
    /// When it ends.
    pub limits: Limits,
    /// Validation.
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
    /// The length after which the parameters that are trained become their average
    /// (`exponential-smoothing-replace-freq`).
    pub replace_frequency: TrainingLength,
    /// The window of averages of the norm of the gradient (`gradient-norm-average-window`).
    pub norm_window: u64,
    /// Whether training goes on where it was in the corpus, which must be the same
    /// (`no-restore-corpus` if not).
    pub restores_corpus: bool,
    /// The integers of decoding that products are rounded to (`quantize-aware`).
    pub quantize_aware: Option<IntegerPrecision>,
    /// How parameters are quantised after every update (`quantize-bits`).
    pub quantization: Option<QuantizationOptions>,
    /// The magnitude at which weights and inputs of products are clipped (`clip-products`).
    pub product_clip: Option<f32>,
}
