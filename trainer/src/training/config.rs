//! What a training does, as typed values.

use std::path::PathBuf;

use miriam_nmt::architecture::Architecture;

use super::progress::Span;
use super::schedule::Schedule;
use crate::data::{BatchOptions, LengthLimit};
use crate::dropout::Dropout;
use crate::update::UpdateOptions;

/// A measure of a model on the validation set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// The sum of cross-entropies (`ce-sum`).
    CrossEntropySum,
    /// Cross-entropy a sentence (`cross-entropy`, `ce-mean`).
    CrossEntropy,
    /// Cross-entropy a target token (`ce-mean-words`).
    CrossEntropyWords,
    /// The exponential of the cross-entropy a target token.
    Perplexity,
    /// BLEU of detokenised translations, by 13a (`bleu`).
    Bleu,
    /// BLEU of the tokens as they are (`bleu-segmented`).
    BleuSegmented,
    /// chrF of detokenised translations.
    Chrf,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Metric; 7] = [
        Metric::CrossEntropySum,
        Metric::CrossEntropy,
        Metric::CrossEntropyWords,
        Metric::Perplexity,
        Metric::Bleu,
        Metric::BleuSegmented,
        Metric::Chrf,
    ];

    /// Marian's name.
    pub fn name(self) -> &'static str {
        match self {
            Metric::CrossEntropySum => "ce-sum",
            Metric::CrossEntropy => "cross-entropy",
            Metric::CrossEntropyWords => "ce-mean-words",
            Metric::Perplexity => "perplexity",
            Metric::Bleu => "bleu",
            Metric::BleuSegmented => "bleu-segmented",
            Metric::Chrf => "chrf",
        }
    }

    /// The metric of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "ce-mean" { "cross-entropy" } else { name };
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Whether larger values are better.
    pub fn is_larger_better(self) -> bool {
        matches!(self, Metric::Bleu | Metric::BleuSegmented | Metric::Chrf)
    }

    /// Whether it needs translations.
    pub fn needs_translations(self) -> bool {
        self.is_larger_better()
    }
}

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
    /// The least improvement.
    pub epsilon: f64,
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
    /// Where translations are written.
    pub translation_output: Option<PathBuf>,
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
    /// The number of target tokens at which a granule is closed.
    pub granule_words: usize,
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
    /// Slow window, fast window and standard deviations of the check for divergence
    /// (`throw-on-divergence`); none for no check.
    pub divergence: Option<[f64; 3]>,
}

impl TrainingConfig {
    /// The options that updates depend on, with their values: a resumed training must have the
    /// same. Limits, validation, display and workers are not among them.
    pub(super) fn options_of_updates(&self) -> Vec<(String, String)> {
        let TrainingConfig { update, schedule, dropout, batches, length_limit, .. } = self;
        let [decay_start, second_start] = schedule.decay_start;
        let sites = dropout.sites;
        let options: [(&str, String); 38] = [
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
            ("granule-words", self.granule_words.to_string()),
            ("mini-batch-warmup", self.mini_batch_warmup.to_string()),
        ];
        options.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }
}
