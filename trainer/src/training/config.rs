//! What a training does, as typed values.

use std::path::PathBuf;

use miriam_nmt::architecture::Architecture;

use super::divergence::DivergenceCheck;
use super::metric::Metric;
use super::progress::Span;
use super::schedule::Schedule;
use super::statistics::DynamicScaling;
use super::validation_script::ValidationScript;
use crate::data::{BatchOptions, GranuleLimits, LengthLimit};
use crate::dropout::Dropout;
use crate::update::UpdateOptions;

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

/// When the model is validated, and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidationOptions {
    /// The metrics, the first of which decides.
    pub metrics: Vec<Metric>,
    /// The length between two validations.
    pub frequency: Span,
    /// The number of validations without improvement after which training stops; 0 for never.
    pub early_stopping: u64,
    /// Of which metrics.
    pub stopping_rule: StoppingRule,
    /// The least improvement of each metric; the last one of those that follow.
    pub epsilons: Vec<f64>,
    /// Whether the best model by each metric is kept.
    pub keeps_best: bool,
    /// The beam of translations.
    pub beam_size: usize,
    /// Their length normalisation.
    pub normalize: f32,
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
}

impl ValidationOptions {
    /// The least improvement of the metric of an index.
    pub fn epsilon(&self, index: usize) -> f64 {
        self.epsilons.get(index).or(self.epsilons.last()).copied().unwrap_or(0.0)
    }

    /// The index of the metric by which models are chosen for decoding: the first one of
    /// translations, which say more than cross-entropy, or else the first.
    pub fn deciding_translation(&self) -> usize {
        self.metrics.iter().position(|metric| metric.needs_translations()).unwrap_or(0)
    }

    /// Whether any metric needs a validation set.
    pub fn needs_set(&self) -> bool {
        self.metrics.iter().any(|metric| metric.needs_validation_set())
    }
}

/// What is forgotten of validation where training goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValidationReset {
    /// Nothing.
    #[default]
    Nothing,
    /// Stalls (`valid-reset-stalled`).
    Stalls,
    /// Stalls and best values (`valid-reset-all`).
    All,
}

/// When a training ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The first of these (`after`, `after-epochs`, `after-batches`).
    pub spans: Vec<Span>,
}

/// A training.
#[derive(Clone, Debug)]
pub struct TrainingConfig {
    /// The model.
    pub architecture: Architecture,
    /// Marian's strings of processing steps, which the architecture forgets the dropout of, and
    /// the other options of the model file.
    pub seed: u64,
    /// Whether initial values of deep layers are smaller (`transformer-depth-scaling`).
    pub depth_scaling: bool,
    /// How parameters are updated.
    pub update: UpdateOptions,
    /// The learning rate.
    pub schedule: Schedule,
    /// Dropout; its key is set by the training.
    pub dropout: Dropout,
    /// Batches.
    pub batches: BatchOptions,
    /// Sentences beyond it are left out or cut.
    pub length_limit: LengthLimit,
    /// The number of batches of an update (`optimizer-delay`).
    pub optimizer_delay: usize,
    /// When a granule is closed.
    pub granule_limits: GranuleLimits,
    /// The weight of the loss of guided alignment, where alignments are given
    /// (`guided-alignment-weight`).
    pub guided_alignment_weight: f64,
    /// Over how much training batches grow to their size (`mini-batch-warmup`).
    pub mini_batch_warmup: Span,
    /// Worker threads.
    pub workers: usize,
    /// When it ends.
    pub limits: Limits,
    /// Validation.
    pub validation: ValidationOptions,
    /// The length between two lines of the log.
    pub display_frequency: Span,
    /// The number of first updates that are all logged.
    pub display_first: u64,
    /// The length between two saved models.
    pub save_frequency: Span,
    /// Whether saved models replace each other (`overwrite`).
    pub overwrites: bool,
    /// The check for divergence (`throw-on-divergence`).
    pub divergence: Option<DivergenceCheck>,
    /// Scaling of gradients whose norm is far above its average (`dynamic-gradient-scaling`).
    pub scaling: Option<DynamicScaling>,
    /// The length after which the parameters that are trained become their average
    /// (`exponential-smoothing-replace-freq`).
    pub replace_frequency: Span,
    /// The window of averages of the norm of the gradient (`gradient-norm-average-window`).
    pub norm_window: u64,
    /// Whether training goes on where it was in the corpus, which must be the same
    /// (`no-restore-corpus` if not).
    pub restores_corpus: bool,
}

impl TrainingConfig {
    /// The options that updates depend on, with their values: a resumed training must have the
    /// same. Limits, validation, display and workers are not among them.
    pub(super) fn options_of_updates(&self) -> Vec<(String, String)> {
        let TrainingConfig { update, schedule, dropout, batches, length_limit, .. } = self;
        let [decay_start, second_start] = schedule.decay_start;
        let sites = dropout.sites;
        let options = [
            ("seed", self.seed.to_string()),
            ("optimizer and --optimizer-params", format!("{:?}", update.rule)),
            ("label-smoothing", update.label_smoothing.to_string()),
            ("clip-norm", update.clip_norm.to_string()),
            ("normalize-gradient", update.normalizes_gradient.to_string()),
            ("check-gradient-nan", update.skips_nan.to_string()),
            ("exponential-smoothing", update.smoothing.to_string()),
            ("mini-batch-words-ref", update.reference_words.to_string()),
            ("learn-rate", schedule.rate.to_string()),
            ("lr-warmup", schedule.warmup.to_string()),
            ("lr-warmup-start-rate", schedule.warmup_start_rate.to_string()),
            ("lr-warmup-cycle", schedule.warmup_cycle.to_string()),
            ("lr-warmup-at-reload", schedule.warmup_at_reload.to_string()),
            (
                "lr-decay-inv-sqrt",
                match schedule.inverse_sqrt {
                    Some((a, b)) => format!("{a} {b}"),
                    None => "0".into(),
                },
            ),
            ("lr-decay", schedule.decay.to_string()),
            ("lr-decay-strategy", format!("{:?}", schedule.decay_strategy)),
            ("lr-decay-start", format!("{decay_start} {second_start}")),
            ("lr-decay-freq", schedule.decay_frequency.to_string()),
            ("lr-decay-reset-optimizer", schedule.decay_resets_optimizer.to_string()),
            ("lr-decay-repeat-warmup", schedule.decay_repeats_warmup.to_string()),
            ("transformer-dropout", dropout.transformer.to_string()),
            ("transformer-dropout-ffn", dropout.feed_forward.to_string()),
            ("transformer-dropout-attention", dropout.attention.to_string()),
            ("dropout-src", dropout.source_words.to_string()),
            ("dropout-trg", dropout.target_words.to_string()),
            ("transformer-postprocess-emb: dropout", sites.embedding.to_string()),
            ("transformer-preprocess: dropout", sites.input.to_string()),
            ("transformer-postprocess: dropout", sites.output.to_string()),
            ("transformer-postprocess-top: dropout", sites.top.to_string()),
            ("mini-batch or --mini-batch-words", format!("{:?}", batches.size)),
            ("maxi-batch, in sentences,", batches.maxi_batch.to_string()),
            ("maxi-batch-sort", format!("{:?}", batches.sort)),
            ("shuffle", format!("{:?}", batches.shuffle)),
            ("max-length", length_limit.tokens.to_string()),
            ("max-length-crop", length_limit.crops.to_string()),
            ("optimizer-delay", self.optimizer_delay.to_string()),
            ("granule-words", self.granule_limits.words.to_string()),
            ("mini-batch-warmup", self.mini_batch_warmup.to_string()),
            ("dropout-rnn", dropout.recurrent.to_string()),
            ("granule-megabytes, in bytes,", format!("{:?}", self.granule_limits.bytes)),
            ("exponential-smoothing-replace-freq", self.replace_frequency.to_string()),
            ("dynamic-gradient-scaling", format!("{:?}", self.scaling)),
            ("clip-norm-per", format!("{:?}", update.clip_scope)),
        ];
        options.map(|(name, value): (&str, String)| (name.to_owned(), value)).to_vec()
    }
}
