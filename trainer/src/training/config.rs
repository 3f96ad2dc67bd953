//! What a training does, as typed values.

use std::path::PathBuf;

use miriam_nmt::architecture::Architecture;

use super::progress::{Progress, Span};
use super::schedule::{DecayStrategy, Schedule};
use crate::data::{BatchOptions, BatchSize, LengthLimit, Shuffle, SortKey};
use crate::dropout::{Dropout, TransformerSites};
use crate::update::{Rule, UpdateOptions};

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
    /// BLEU of the ids of tokens (`bleu-segmented`).
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

/// What a training that goes on forgets of its validations (`valid-reset-stalled`,
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
    pub frequency: Span,
    /// The number of validations without improvement after which training stops; 0 for never.
    pub early_stopping: u64,
    /// Of which metrics.
    pub stopping_rule: StoppingRule,
    /// Of each metric the improvement that is not enough (`early-stopping-epsilon`).
    pub epsilons: Vec<f64>,
    /// What is forgotten of validations where training goes on.
    pub reset: ValidationReset,
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
    /// Where translations are written, with Marian's templates.
    pub translation_output: Option<PathBuf>,
}

impl ValidationOptions {
    /// The path of the translations at a time of the training: Marian's `{E}`, `{B}`, `{U}` and
    /// `{T}` stand for the epoch, the batches in it, and all updates and target tokens.
    pub(super) fn translation_path(
        &self,
        progress: &Progress,
        epoch_batches: u64,
    ) -> Option<PathBuf> {
        let path = self.translation_output.as_ref()?;
        // A path that is no text has no templates.
        let Some(text) = path.to_str() else { return Some(path.clone()) };
        let text = [
            ("{E}", progress.epoch),
            ("{B}", epoch_batches),
            ("{U}", progress.updates),
            ("{T}", progress.labels),
        ]
        .into_iter()
        .fold(text.to_owned(), |text, (name, number)| text.replace(name, &number.to_string()));
        Some(text.into())
    }
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
    /// The seed of initial values, dropout and shuffling.
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
        // No `..`, so that the compiler asks about each new field.
        let TrainingConfig {
            architecture: _,
            seed,
            depth_scaling: _,
            update,
            schedule,
            dropout,
            batches,
            length_limit,
            optimizer_delay,
            granule_words,
            guided_alignment_weight: _,
            mini_batch_warmup,
            workers: _,
            limits: _,
            validation: _,
            display_frequency: _,
            display_first: _,
            save_frequency: _,
            overwrites: _,
            divergence: _,
        } = self;
        let mut options = vec![("seed".to_owned(), seed.to_string())];
        add_update(*update, &mut options);
        add_schedule(schedule, &mut options);
        add_dropout(*dropout, &mut options);
        add_batches(*batches, &mut options);
        let LengthLimit { tokens, crops } = length_limit;
        add(
            &mut options,
            [
                ("max-length", tokens.to_string()),
                ("max-length-crop", crops.to_string()),
                ("optimizer-delay", optimizer_delay.to_string()),
                ("granule-words", granule_words.to_string()),
                ("mini-batch-warmup", mini_batch_warmup.to_string()),
            ],
        );
        options
    }
}

/// Names of options with their values, as they are given.
type OptionTexts = Vec<(String, String)>;

fn add<const N: usize>(options: &mut OptionTexts, more: [(&str, String); N]) {
    options.extend(more.map(|(name, value)| (name.to_owned(), value)));
}

fn add_update(update: UpdateOptions, options: &mut OptionTexts) {
    let UpdateOptions {
        rule,
        label_smoothing,
        clip_norm,
        normalizes_gradient,
        skips_nan,
        smoothing,
        reference_words,
    } = update;
    let (optimizer, parameters) = match rule {
        Rule::Sgd => ("sgd", String::new()),
        Rule::Adagrad { epsilon } => ("adagrad", epsilon.to_string()),
        Rule::Adam { beta1, beta2, epsilon, weight_decay } => {
            ("adam", format!("{beta1} {beta2} {epsilon:e} {weight_decay}"))
        }
    };
    add(
        options,
        [
            ("optimizer", optimizer.to_owned()),
            ("optimizer-params", parameters),
            ("label-smoothing", label_smoothing.to_string()),
            ("clip-norm", clip_norm.to_string()),
            ("normalize-gradient", normalizes_gradient.to_string()),
            ("check-gradient-nan", skips_nan.to_string()),
            ("exponential-smoothing", smoothing.to_string()),
            ("mini-batch-words-ref", reference_words.to_string()),
        ],
    );
}

fn add_schedule(schedule: &Schedule, options: &mut OptionTexts) {
    let Schedule {
        rate,
        warmup,
        warmup_start_rate,
        warmup_cycle,
        warmup_at_reload,
        inverse_sqrt,
        decay,
        decay_strategy,
        decay_start: [decay_start, second_start],
        decay_frequency,
        decay_resets_optimizer,
        decay_repeats_warmup,
    } = schedule;
    let inverse_sqrt = match inverse_sqrt {
        Some((a, b)) => format!("{a} {b}"),
        None => "0".into(),
    };
    let strategy = match decay_strategy {
        DecayStrategy::Epoch => "epoch",
        DecayStrategy::Batches => "batches",
        DecayStrategy::Stalled => "stalled",
        DecayStrategy::EpochAndBatches => "epoch+batches",
        DecayStrategy::EpochAndStalled => "epoch+stalled",
    };
    add(
        options,
        [
            ("learn-rate", rate.to_string()),
            ("lr-warmup", warmup.to_string()),
            ("lr-warmup-start-rate", warmup_start_rate.to_string()),
            ("lr-warmup-cycle", warmup_cycle.to_string()),
            ("lr-warmup-at-reload", warmup_at_reload.to_string()),
            ("lr-decay-inv-sqrt", inverse_sqrt),
            ("lr-decay", decay.to_string()),
            ("lr-decay-strategy", strategy.to_owned()),
            ("lr-decay-start", format!("{decay_start} {second_start}")),
            ("lr-decay-freq", decay_frequency.to_string()),
            ("lr-decay-reset-optimizer", decay_resets_optimizer.to_string()),
            ("lr-decay-repeat-warmup", decay_repeats_warmup.to_string()),
        ],
    );
}

fn add_dropout(dropout: Dropout, options: &mut OptionTexts) {
    let Dropout {
        transformer,
        feed_forward,
        attention,
        recurrent,
        source_words,
        target_words,
        sites: TransformerSites { embedding, input, output, top },
        // It follows from the seed.
        key: _,
    } = dropout;
    add(
        options,
        [
            ("transformer-dropout", transformer.to_string()),
            ("transformer-dropout-ffn", feed_forward.to_string()),
            ("transformer-dropout-attention", attention.to_string()),
            ("dropout-rnn", recurrent.to_string()),
            ("dropout-src", source_words.to_string()),
            ("dropout-trg", target_words.to_string()),
            ("transformer-postprocess-emb: dropout", embedding.to_string()),
            ("transformer-preprocess: dropout", input.to_string()),
            ("transformer-postprocess: dropout", output.to_string()),
            ("transformer-postprocess-top: dropout", top.to_string()),
        ],
    );
}

fn add_batches(batches: BatchOptions, options: &mut OptionTexts) {
    // Shuffling has the seed of the training.
    let BatchOptions { size, maxi_batch, sort, shuffle, seed: _ } = batches;
    let (sentences, words, counts_target) = match size {
        BatchSize::Sentences(count) => (count.to_string(), 0, false),
        // Then it decides on the size of maxi-batches only.
        BatchSize::SourceTokens(count) => ("any".into(), count, false),
        BatchSize::TargetTokens(count) => ("any".into(), count, true),
    };
    let sort = match sort {
        SortKey::Target => "trg",
        SortKey::Source => "src",
        SortKey::None => "none",
    };
    let shuffle = match shuffle {
        Shuffle::Data => "data",
        Shuffle::Batches => "batches",
        Shuffle::None => "none",
    };
    add(
        options,
        [
            ("mini-batch-words", words.to_string()),
            ("count-target-words", counts_target.to_string()),
            ("mini-batch", sentences),
            ("maxi-batch, in sentences,", maxi_batch.to_string()),
            ("maxi-batch-sort", sort.to_owned()),
            ("shuffle", shuffle.to_owned()),
        ],
    );
}
