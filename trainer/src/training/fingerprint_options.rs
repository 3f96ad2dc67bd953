//! Options that updates depend on, by name. A resumed training run must have the same options.

use super::base_rate::BaseRate;
use super::config::TrainingConfig;
use super::fingerprint::OptionTexts;
use super::schedule::{DecayStrategy, Schedule};
use super::statistics::DynamicScaling;
use crate::asynchronous::AsyncOptions;
use crate::data::{BatchOptions, BatchSize, LengthLimit, MicroBatchLimits, Shuffle, SortKey};
use crate::dropout::{Dropout, TransformerSites};
use crate::kernels::{IntegerPrecision, ProductPrecision};
use crate::update::{ClipScope, OptimizerKind, QuantizationOptions, UpdateOptions};

impl TrainingConfig {
    /// Returns the options that updates depend on, with their values. Limits, validation, display,
    /// workers and checks for divergence are not among them, so a resumed training run may change
    /// them.
    pub(super) fn fingerprint_options(&self) -> OptionTexts {
        // No `..`, so that the compiler reports each new field.
        let TrainingConfig {
            architecture: _,
            seed,
            depth_scaling: _,
            update,
            schedule,
            normal_words,
            momentum,
            dropout,
            asynchronous,
            machine,
            batches,
            length_limit,
            optimizer_delay,
            micro_batch_limits,
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
            scaling,
            replace_frequency,
            norm_window,
            restores_corpus: _,
            products,
            quantization,
            product_clip,
        } = self;
        let mut options = vec![("seed".to_owned(), seed.to_string())];
        add_update(*update, &mut options);
        add_schedule(schedule, &mut options);
        add_dropout(*dropout, &mut options);
        add_batches(*batches, &mut options);
        let (precision, quantize_aware) = match products {
            ProductPrecision::F32 => ("float32", "none"),
            ProductPrecision::Bf16 => ("bf16", "none"),
            ProductPrecision::Integers(IntegerPrecision::I8) => ("float32", "i8"),
            ProductPrecision::Integers(IntegerPrecision::I16) => ("float32", "i16"),
        };
        let quantization = match quantization {
            None => "0".into(),
            Some(QuantizationOptions {
                bits,
                optimization_steps,
                is_log_based,
                quantizes_biases,
            }) => {
                let kind = if *is_log_based { "log-based" } else { "linear" };
                let biases = if *quantizes_biases { ", biases" } else { "" };
                format!("{bits}, {optimization_steps} steps, {kind}{biases}")
            }
        };
        let LengthLimit { tokens, crops } = length_limit;
        let MicroBatchLimits { words, bytes } = micro_batch_limits;
        let scaling = match scaling {
            None => "none".into(),
            Some(DynamicScaling { deviations, uses_logarithm, fade_out }) => {
                let scale = if *uses_logarithm { "log" } else { "none" };
                // Updates depend on the window only through this option.
                format!("{deviations} {scale} {fade_out}, window {norm_window}")
            }
        };
        add(
            &mut options,
            [
                ("batch-flexible-lr", normal_words.is_some().to_string()),
                ("batch-normal-words", normal_words.unwrap_or(0).to_string()),
                ("momentum-schedule", momentum.to_string()),
                ("max-length", tokens.to_string()),
                ("max-length-crop", crops.to_string()),
                ("optimizer-delay", optimizer_delay.to_string()),
                ("granule-words", words.to_string()),
                ("granule-megabytes, in bytes,", bytes.unwrap_or(0).to_string()),
                ("mini-batch-warmup", mini_batch_warmup.to_string()),
                ("exponential-smoothing-replace-freq", replace_frequency.to_string()),
                ("dynamic-gradient-scaling", scaling),
                ("precision", precision.to_owned()),
                ("quantize-aware", quantize_aware.to_owned()),
                ("quantize-bits", quantization),
                ("clip-products", product_clip.unwrap_or(0.0).to_string()),
                ("async-sgd", asynchronous.is_some().to_string()),
            ],
        );
        if let Some(asynchronous) = asynchronous {
            add_asynchronous(asynchronous, &mut options);
        }
        if let Some(machine) = machine {
            add(&mut options, [("simulate-async, the machine", format!("{machine:?}"))]);
        }
        options
    }
}

fn add<const N: usize>(options: &mut OptionTexts, more: [(&str, String); N]) {
    options.extend(more.map(|(name, value)| (name.to_owned(), value)));
}

fn add_update(update: UpdateOptions, options: &mut OptionTexts) {
    let UpdateOptions {
        optimizer,
        label_smoothing,
        clip_norm,
        clip_scope,
        normalizes_gradient,
        // The treatment of gradients that are not finite may change, like the check for divergence.
        skips_nan: _,
        smoothing,
        reference_words,
    } = update;
    let (optimizer, parameters) = match optimizer {
        OptimizerKind::Sgd => ("sgd", String::new()),
        OptimizerKind::Adagrad { epsilon } => ("adagrad", epsilon.to_string()),
        OptimizerKind::Adam { beta1, beta2, epsilon, weight_decay } => {
            ("adam", format!("{beta1} {beta2} {epsilon:e} {weight_decay}"))
        }
    };
    let clip_scope = match clip_scope {
        ClipScope::Sum => "sum",
        ClipScope::Words => "words",
    };
    add(
        options,
        [
            ("optimizer", optimizer.to_owned()),
            ("optimizer-params", parameters),
            ("label-smoothing", label_smoothing.to_string()),
            ("clip-norm", clip_norm.to_string()),
            ("clip-norm-per", clip_scope.to_owned()),
            ("normalize-gradient", normalizes_gradient.to_string()),
            ("exponential-smoothing", smoothing.to_string()),
            ("mini-batch-words-ref", reference_words.to_string()),
        ],
    );
}

fn add_asynchronous(asynchronous: &AsyncOptions, options: &mut OptionTexts) {
    let AsyncOptions {
        // The delay is recorded with the options of synchronous training.
        delay: _,
        scales_rate_by_delay,
        gradient_buffer,
        local,
        dropping,
    } = asynchronous;
    let (local, dropping) = (local.as_ref(), dropping.as_ref());
    add(
        options,
        [
            ("scale-rate-by-delay", scales_rate_by_delay.to_string()),
            ("gradient-buffer", gradient_buffer.to_string()),
            (
                "local-optimizer, all its options,",
                local.map_or("none".into(), |l| format!("{l:?}")),
            ),
            (
                "grad-dropping, all its options,",
                dropping.map_or("none".into(), |d| format!("{d:?}")),
            ),
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
    fn none() -> String {
        "none".to_owned()
    }
    let [learn_rate, cycle, random] = match rate {
        BaseRate::Constant(rate) => [rate.to_string(), none(), none()],
        BaseRate::Cycle { low, high, updates } => {
            [none(), format!("{low} {high} {updates}"), none()]
        }
        // The seed is the training's seed, which is recorded already.
        BaseRate::Random { high, seed: _ } => [none(), none(), high.to_string()],
    };
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
            ("learn-rate", learn_rate),
            ("lr-cycle", cycle),
            ("lr-random", random),
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
        // The key follows from the seed.
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
    // The seed of shuffling is the training's seed, which is recorded already.
    let BatchOptions { size, maxi_batch, sort, shuffle, seed: _ } = batches;
    let (sentences, words, counts_target, bytes) = match size {
        BatchSize::Sentences(count) => (count.to_string(), 0, false, 0),
        // With these limits, the option for sentences only affects the size of maxi-batches.
        BatchSize::SourceTokens(count) => ("any".into(), count, false, 0),
        BatchSize::TargetTokens(count) => ("any".into(), count, true, 0),
        BatchSize::Bytes(count) => ("any".into(), 0, false, count),
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
            ("mini-batch-fit: workspace, in bytes,", bytes.to_string()),
            ("maxi-batch, in sentences,", maxi_batch.to_string()),
            ("maxi-batch-sort", sort.to_owned()),
            ("shuffle", shuffle.to_owned()),
        ],
    );
}
