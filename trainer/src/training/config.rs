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
