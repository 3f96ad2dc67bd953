//! Conversion of options to a training run's configuration.

use std::path::{Path, PathBuf};

use miriam_nmt::architecture::{Architecture, PreNormKeys};
use miriam_nmt::formats::marian;
use miriam_nmt::packed::Precision;
use miriam_nmt::yaml::Value;

use super::raw::RawOptions;
use crate::data::{
    BatchOptions, BatchSize, CaseAugmentation, LengthLimit, MicroBatchLimits, Shuffle, SortKey,
};
use crate::dropout::{Dropout, TransformerSites};
use crate::error::{Error, Result};
use crate::kernels::IntegerPrecision;
use crate::training::{
    DivergenceDetector, DynamicScaling, Metric, StoppingRule, TrainingConfig, TrainingLength,
    ValidationOptions, ValidationReset, ValidationScript,
};
use crate::update::{ClipScope, MomentumSchedule, OptimizerKind, UpdateOptions};

/// The maximum number of workers.
const MAX_WORKERS: usize = 4096;

impl RawOptions {
    /// Returns the configuration of a training run with vocabularies of these sizes.
    ///
    /// # Errors
    /// If the value of an option is invalid.
    pub fn training_config(&self, vocab_sizes: [usize; 2]) -> Result<TrainingConfig> {
        self.check_language_model()?;
        let yaml = self.model_yaml()?;
        let value = Value::parse(yaml.as_bytes(), "the options of the model")?;
        let mut architecture = marian::from_options(&value, vocab_sizes)?;
        if let Architecture::Transformer(transformer) = &mut architecture {
            transformer.pre_norm_keys = PreNormKeys::Normalized;
        }
        let dropout = self.dropout()?;
        if dropout.recurrent > 0.0 && matches!(architecture, Architecture::Transformer(_)) {
            let reason =
                "it applies to recurrent models; for transformers use --transformer-dropout";
            return Err(invalid_option("dropout-rnn", reason));
        }
        let (optimizer_delay, parts) = self.optimizer_delay()?;
        let asynchronous = self.async_options(optimizer_delay, parts)?;
        let machine = self.machine(asynchronous.is_some())?;
        let config = TrainingConfig {
            asynchronous,
            machine,
            architecture,
            seed: self.get("seed")?,
            depth_scaling: self.get_flag("transformer-depth-scaling")?,
            update: self.update_options()?,
            schedule: self.schedule()?,
            normal_words: self.normal_words()?,
            momentum: self.momentum_schedule()?,
            dropout,
            batches: self.batch_options(parts)?,
            length_limit: LengthLimit {
                tokens: self.get("max-length")?,
                crops: self.get_flag("max-length-crop")?,
            },
            optimizer_delay,
            micro_batch_limits: MicroBatchLimits {
                words: self.get::<usize>("granule-words")?.max(1),
                bytes: Some(self.megabytes("granule-megabytes")?).filter(|&bytes| bytes > 0),
            },
            guided_alignment_weight: self.number("guided-alignment-weight", 0.0..=f64::MAX)?,
            mini_batch_warmup: self.get_length("mini-batch-warmup")?,
            workers: self.workers()?,
            limits: self.limits()?,
            validation: self.validation_options()?,
            display_frequency: self.get_length("disp-freq")?,
            display_first: self.get("disp-first")?,
            save_frequency: self.get_length("save-freq")?,
            overwrites: self.get_flag("overwrite")?,
            divergence: self.divergence()?,
            scaling: self.dynamic_scaling()?,
            replace_frequency: self.get_length("exponential-smoothing-replace-freq")?,
            norm_window: self.get::<u64>("gradient-norm-average-window")?.max(1),
            restores_corpus: !self.get_flag("no-restore-corpus")?,
            products: self.product_precision()?,
            quantization: self.quantization()?,
            product_clip: Some(self.number("clip-products", 0.0..=f64::from(f32::MAX))? as f32)
                .filter(|limit| *limit > 0.0),
        };
        Ok(config)
    }

    /// Returns the number of workers; all processors by default.
    ///
    /// # Errors
    /// If it is neither a number nor `all`, or out of range.
    pub fn workers(&self) -> Result<usize> {
        // In Marian, --cpu-threads 0 selects GPUs.
        match (&self.get_string("workers")[..], &self.get_string("cpu-threads")[..]) {
            ("", "" | "0") | ("all", _) => {
                Ok(std::thread::available_parallelism().map_or(1, |n| n.get()))
            }
            ("", _) => Ok(self.get::<usize>("cpu-threads")?.max(1)),
            (text, _) => parse_workers(text),
        }
    }

    /// Rejects an option for betas if the optimiser has no betas.
    pub(super) fn check_adam(&self, name: &str) -> Result<()> {
        match &self.get_string("optimizer")[..] {
            "adam" => Ok(()),
            other => Err(invalid_option(name, format!("{other} has no betas"))),
        }
    }

    fn momentum_schedule(&self) -> Result<MomentumSchedule> {
        let name = "momentum-schedule";
        let parsed = self.get_strings(name).join(" ").parse::<MomentumSchedule>();
        let schedule = parsed.map_err(|reason| invalid_option(name, reason))?;
        if !schedule.0.is_empty() {
            self.check_adam(name)?;
        }
        Ok(schedule)
    }

    /// Returns the options of case augmentation.
    ///
    /// # Errors
    /// If a number is invalid, or weights are per piece: pieces change with the case.
    pub fn case_augmentation(&self) -> Result<CaseAugmentation> {
        let cases = CaseAugmentation {
            all_caps_every: self.get("all-caps-every")?,
            title_case_every: self.get("english-title-case-every")?,
        };
        let has_weights = !matches!(&self.get_string("data-weighting")[..], "" | "none");
        if !cases.is_none() && has_weights && self.get_string("data-weighting-type") == "word" {
            let reason = "the weights of words belong to the unchanged text; use \
                --data-weighting-type sentence";
            return Err(invalid_option("data-weighting-type", reason));
        }
        Ok(cases)
    }

    /// Returns the number of batches per update, and the number of updates per batch.
    fn optimizer_delay(&self) -> Result<(usize, usize)> {
        let delay: f64 = self.get("optimizer-delay")?;
        // A third has no exact decimal form.
        let (batches, parts) = (delay.round(), (1.0 / delay).round());
        if delay >= 1.0 && delay == batches && delay <= 1e6 {
            Ok((delay as usize, 1))
        } else if delay > 0.0 && delay < 1.0 && parts <= 1e6 && (delay * parts - 1.0).abs() < 0.02 {
            Ok((1, parts as usize))
        } else {
            Err(invalid_option(
                "optimizer-delay",
                "expected a whole number of batches, or 0.5, 0.33, 0.25 and so on",
            ))
        }
    }

    /// Returns the bytes that a batch may take. Marian's negative numbers leave memory of GPUs
    /// free; here, they mean the default.
    fn workspace(&self) -> Result<usize> {
        if self.leaves_gpu_memory() {
            return Self::default().megabytes("workspace");
        }
        self.megabytes("workspace")
            .map_err(|_| invalid_option("workspace", "expected the megabytes of a batch, above 0"))
    }

    /// Returns an option in megabytes as bytes.
    fn megabytes(&self, name: &str) -> Result<usize> {
        let megabytes = self.number(name, 0.0..=1e9)?;
        Ok((megabytes * f64::from(1 << 20)) as usize)
    }

    pub(super) fn get_length(&self, name: &str) -> Result<TrainingLength> {
        self.get_string(name).parse().map_err(|reason| invalid_option(name, reason))
    }

    /// Returns the number of an option, which must be in a range.
    pub(super) fn number(&self, name: &str, range: std::ops::RangeInclusive<f64>) -> Result<f64> {
        let number = self.get(name)?;
        if range.contains(&number) {
            return Ok(number);
        }
        let (from, to) = range.into_inner();
        let expected =
            if to == f64::MAX { format!("{from} or more") } else { format!("{from} to {to}") };
        Err(invalid_option(name, format!("{number} is out of range; expected {expected}")))
    }

    fn update_options(&self) -> Result<UpdateOptions> {
        let parameters: Vec<f64> = self.get_list("optimizer-params")?;
        let optimizer = self.get_string("optimizer");
        let most = match &optimizer[..] {
            "sgd" => 0,
            "adagrad" => 1,
            _ => 4,
        };
        if parameters.len() > most {
            let reason = format!("{} numbers; {optimizer} has {most}", parameters.len());
            return Err(invalid_option("optimizer-params", reason));
        }
        let parameter = |index: usize, default: f64, what: &str, fits: fn(f64) -> bool| {
            let number = parameters.get(index).copied().unwrap_or(default);
            fn reason(number: f64, what: &str) -> Error {
                invalid_option("optimizer-params", format!("{number}: {what}"))
            }
            if fits(number) { Ok(number) } else { Err(reason(number, what)) }
        };
        // With a beta of 1 the mean would never move, and its bias correction would divide by 0.
        let beta = |index, default| {
            parameter(index, default, "expected a number from 0 to below 1", |number| {
                (0.0..1.0).contains(&number)
            })
        };
        // Without epsilon, a gradient of 0 divides 0 by 0.
        let epsilon = |index| {
            parameter(index, 1e-8, "expected a number above 0", |number: f64| {
                number > 0.0 && number.is_finite()
            })
        };
        let kind = match &optimizer[..] {
            "sgd" => OptimizerKind::Sgd,
            "adagrad" => OptimizerKind::Adagrad { epsilon: epsilon(0)? },
            "adam" => OptimizerKind::Adam {
                beta1: beta(0, 0.9)?,
                beta2: beta(1, 0.999)?,
                epsilon: epsilon(2)?,
                weight_decay: {
                    parameter(3, 0.0, "expected a number from 0 on", |number: f64| {
                        number >= 0.0 && number.is_finite()
                    })?
                },
            },
            other => {
                return Err(invalid_option(
                    "optimizer",
                    format!("expected sgd, adagrad or adam, found {other:?}"),
                ));
            }
        };
        Ok(UpdateOptions {
            optimizer: kind,
            label_smoothing: self.number("label-smoothing", 0.0..=1.0)? as f32,
            clip_norm: self.number("clip-norm", 0.0..=f64::MAX)?,
            clip_scope: match &self.get_string("clip-norm-per")[..] {
                "sum" => ClipScope::Sum,
                "words" => ClipScope::Words,
                other => {
                    return Err(invalid_option(
                        "clip-norm-per",
                        format!("expected sum or words, found {other:?}"),
                    ));
                }
            },
            normalizes_gradient: self.get_flag("normalize-gradient")?,
            skips_nan: self.get_flag("check-gradient-nan")?,
            smoothing: self.number("exponential-smoothing", 0.0..=1.0)?,
            reference_words: self.get("mini-batch-words-ref")?,
        })
    }

    /// Whether dropout is the first step in the option `name`.
    fn begins_with_dropout(&self, name: &str) -> Result<bool> {
        let steps = self.get_string(name);
        match steps.find('d') {
            None => Ok(false),
            Some(0) => Ok(true),
            Some(_) => Err(invalid_option(name, format!("{steps:?}: d must be the first step"))),
        }
    }

    fn dropout(&self) -> Result<Dropout> {
        let rate = |name: &str| self.number(name, 0.0..=0.99).map(|rate| rate as f32);
        Ok(Dropout {
            transformer: rate("transformer-dropout")?,
            feed_forward: rate("transformer-dropout-ffn")?,
            attention: rate("transformer-dropout-attention")?,
            recurrent: rate("dropout-rnn")?,
            source_words: rate("dropout-src")?,
            target_words: rate("dropout-trg")?,
            sites: TransformerSites {
                embedding: self.begins_with_dropout("transformer-postprocess-emb")?,
                input: self.begins_with_dropout("transformer-preprocess")?,
                output: self.begins_with_dropout("transformer-postprocess")?,
                top: self.begins_with_dropout("transformer-postprocess-top")?,
            },
            ..Dropout::default()
        })
    }

    /// Returns the options of batches. Sizes are divided by `parts`, the number of updates that a
    /// batch of the given size makes.
    fn batch_options(&self, parts: usize) -> Result<BatchOptions> {
        let sentences: usize = self.get::<usize>("mini-batch")?.max(1);
        let words: usize = self.get("mini-batch-words")?;
        fn part(size: usize, parts: usize) -> usize {
            size.div_ceil(parts)
        }
        let size = match (words, self.get_flag("count-target-words")?) {
            _ if self.get_flag("mini-batch-fit")? => {
                BatchSize::Bytes(part(self.workspace()?, parts))
            }
            (0, _) => BatchSize::Sentences(part(sentences, parts)),
            (words, true) => BatchSize::TargetTokens(part(words, parts)),
            (words, false) => BatchSize::SourceTokens(part(words, parts)),
        };
        let shuffle = match &self.get_string("shuffle")[..] {
            _ if self.get_flag("no-shuffle")? => Shuffle::None,
            "data" => Shuffle::Data,
            "batches" => Shuffle::Batches,
            "none" => Shuffle::None,
            other => {
                return Err(invalid_option(
                    "shuffle",
                    format!("expected data, batches or none, found {other:?}"),
                ));
            }
        };
        let sort = match &self.get_string("maxi-batch-sort")[..] {
            "trg" => SortKey::Target,
            "src" => SortKey::Source,
            "none" => SortKey::None,
            other => {
                return Err(invalid_option(
                    "maxi-batch-sort",
                    format!("expected trg, src or none, found {other:?}"),
                ));
            }
        };
        Ok(BatchOptions {
            size,
            maxi_batch: sentences.saturating_mul(self.get::<usize>("maxi-batch")?.max(1)),
            sort,
            shuffle,
            seed: self.get("seed")?,
        })
    }

    /// Returns the path in the option `name`, if there is one.
    fn get_path(&self, name: &str) -> Option<PathBuf> {
        Some(PathBuf::from(self.get_string(name))).filter(|path| *path != Path::new(""))
    }

    fn validation_options(&self) -> Result<ValidationOptions> {
        let names = self.get_strings("valid-metrics");
        let mut metrics: Vec<Metric> = Vec::new();
        for name in &names {
            let metric = parse_metric(name)?;
            // The state of a metric is found by its name.
            if metrics.contains(&metric) {
                let reason = format!("{} is listed twice", metric.name());
                return Err(invalid_option("valid-metrics", reason));
            }
            metrics.push(metric);
        }
        let arguments = self.get_strings("valid-script-args");
        let script =
            self.get_path("valid-script-path").map(|path| ValidationScript { path, arguments });
        let scored = metrics.iter().find(|m| matches!(m, Metric::Translation | Metric::Script));
        match (&script, scored) {
            (None, Some(Metric::Script)) => {
                return Err(invalid_option(
                    "valid-metrics",
                    "valid-script needs --valid-script-path",
                ));
            }
            (Some(_), None) => {
                let reason = "no metric uses it; add --valid-metrics translation or valid-script";
                return Err(invalid_option("valid-script-path", reason));
            }
            _ => {}
        }
        let epsilons: Vec<f64> = self.get_list("early-stopping-epsilon")?;
        let epsilons = match epsilons[..] {
            [all] => vec![all; metrics.len()],
            _ if epsilons.len() == metrics.len() => epsilons,
            _ => {
                let reason = format!(
                    "expected one number, or one for each of the {} metrics, found {}",
                    metrics.len(),
                    epsilons.len()
                );
                return Err(invalid_option("early-stopping-epsilon", reason));
            }
        };
        Ok(ValidationOptions {
            metrics,
            frequency: self.get_length("valid-freq")?,
            early_stopping: self.get("early-stopping")?,
            stopping_rule: match &self.get_string("early-stopping-on")[..] {
                "first" => StoppingRule::First,
                "all" => StoppingRule::All,
                "any" => StoppingRule::Any,
                other => {
                    return Err(invalid_option(
                        "early-stopping-on",
                        format!("expected first, all or any, found {other:?}"),
                    ));
                }
            },
            epsilons,
            precision: match self.quantize_aware()? {
                None => Precision::F32,
                Some(IntegerPrecision::I8) => Precision::I8,
                Some(IntegerPrecision::I16) => Precision::I16,
            },
            keeps_best: self.get_flag("keep-best")?,
            beam_size: self.get::<usize>("beam-size")?.max(1),
            normalize: self.get("normalize")?,
            max_length_factor: self.number("max-length-factor", 0.0..=f64::MAX)? as f32,
            allows_unknown: self.get_flag("allow-unk")?,
            mini_batch: self.get::<usize>("valid-mini-batch")?.max(1),
            max_length: self.get("valid-max-length")?,
            translation_output: self.get_path("valid-translation-output"),
            script,
            log: self.get_path("valid-log"),
            training_sample: self.get("train-ce-sample")?,
            reset: match [self.get_flag("valid-reset-all")?, self.get_flag("valid-reset-stalled")?]
            {
                [true, _] => ValidationReset::All,
                [_, true] => ValidationReset::Stalls,
                _ => ValidationReset::Nothing,
            },
        })
    }

    fn divergence(&self) -> Result<Option<DivergenceDetector>> {
        // An empty list, as in Marian's configurations, means no check.
        if matches!(&self.get_string("throw-on-divergence")[..], "" | "false") {
            return Ok(None);
        }
        const NAME: &str = "throw-on-divergence";
        let given: Vec<f64> = match &self.get_string(NAME)[..] {
            "true" => Vec::new(),
            _ => self.get_list(NAME)?,
        };
        let are_windows = given.iter().take(2).all(|window| *window >= 1.0);
        let is_factor = given.get(2).is_none_or(|deviations| *deviations >= 0.0);
        if !are_windows || !is_factor || given.len() > 3 {
            let reason = "expected up to three numbers: the slow and the fast window, in updates \
                          from 1, and the deviations, from 0";
            return Err(invalid_option(NAME, reason));
        }
        let defaults = [1000.0, 10.0, 5.0];
        let [slow_window, fast_window, deviations]: [f64; 3] =
            std::array::from_fn(|index| given.get(index).copied().unwrap_or(defaults[index]));
        Ok(Some(DivergenceDetector { slow_window, fast_window, deviations }))
    }

    /// Returns the gradient scaling that Marian writes as `2.f log` and an optional number of
    /// updates.
    fn dynamic_scaling(&self) -> Result<Option<DynamicScaling>> {
        const NAME: &str = "dynamic-gradient-scaling";
        if matches!(&self.get_string(NAME)[..], "" | "false") {
            return Ok(None);
        }
        let given: Vec<String> = match &self.get_strings(NAME)[..] {
            [bare] if bare == "true" => vec!["2".into(), "log".into()],
            // Marian writes its default as one string.
            [one] => one.split_whitespace().map(str::to_owned).collect(),
            several => several.to_vec(),
        };
        let deviations = given.first().and_then(|text| text.trim_end_matches('f').parse().ok());
        let deviations = deviations.filter(|x: &f64| *x > 0.0 && x.is_finite());
        let Some(deviations) = deviations else {
            return Err(invalid_option(NAME, "expected first a number of deviations above 0"));
        };
        let fade_out = given.get(2).map_or(Some(0), |text| text.parse().ok());
        let Some(fade_out) = fade_out.filter(|_| given.len() <= 3) else {
            return Err(invalid_option(
                NAME,
                "after the deviations, expected log or nothing, then a number of updates",
            ));
        };
        let uses_logarithm = given.get(1).is_some_and(|text| text == "log");
        Ok(Some(DynamicScaling { deviations, uses_logarithm, fade_out }))
    }
}

fn parse_metric(name: &str) -> Result<Metric> {
    Metric::from_name(name).ok_or_else(|| {
        if let Some((_, why)) = Metric::REFUSED.iter().find(|(known, _)| *known == name) {
            return invalid_option("valid-metrics", format!("{name}: {why}"));
        }
        let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        invalid_option(
            "valid-metrics",
            format!("unknown metric {name:?}; use {}", names.join(", ")),
        )
    })
}

/// Parses a number of workers, in the range of `--threads`.
fn parse_workers(text: &str) -> Result<usize> {
    let count = text.parse().ok().filter(|count| (1..=MAX_WORKERS).contains(count));
    fn reason(text: &str) -> String {
        format!("expected a number from 1 to {MAX_WORKERS}, or all, found {text:?}")
    }
    count.ok_or_else(|| invalid_option("workers", reason(text)))
}

pub(super) fn invalid_option(name: &str, reason: impl std::fmt::Display) -> Error {
    Error::usage(format!("--{name}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(yaml: &str) -> Result<TrainingConfig> {
        let options = RawOptions::from_yaml(yaml.as_bytes(), "train.yml")?;
        options.check_status()?;
        options.training_config([10, 10])
    }

    fn error(yaml: &str) -> String {
        config(yaml).err().map(|error| error.to_string()).unwrap_or_default()
    }

    /// The output of `--dump-config full` of Marian 1.12.42, without files and workers.
    const FULL_CONFIGURATION: &str = include_str!("../../tests/golden/marian-full.yml");

    #[test]
    fn marians_full_configuration_has_its_defaults() {
        let options = RawOptions::from_yaml(FULL_CONFIGURATION.as_bytes(), "full.yml").unwrap();
        assert!(!options.is_given("version") && options.is_given("train-sets"));
        options.check_status().unwrap();
        assert!(options.training_files().is_ok());
        let full = options.training_config([10, 10]).unwrap();
        let plain = config("{type: amun, seed: 0, cpu-threads: 0}").unwrap();
        assert_eq!(format!("{full:?}"), format!("{plain:?}"));
        assert_eq!(full.workers, std::thread::available_parallelism().map_or(1, |n| n.get()));
    }

    #[test]
    fn workers_are_counted_from_one() {
        for text in ["0", "-1", "4097", "some", "1.5"] {
            let error = error(&format!("workers: {text}"));
            let expected = "expected a number from 1 to 4096, or all";
            assert!(error.contains("--workers") && error.contains(expected), "{error}");
        }
        assert_eq!(config("workers: 3").unwrap().workers, 3);
        let all = std::thread::available_parallelism().map_or(1, |n| n.get());
        assert_eq!(config("workers: all").unwrap().workers, all);
        // In Marian, 0 selects GPUs, and Marian's GPU builds write it into configurations.
        assert_eq!(config("cpu-threads: 0").unwrap().workers, all);
        assert_eq!(config("{workers: 2, cpu-threads: 5}").unwrap().workers, 2);
    }

    #[test]
    fn numbers_of_lists_are_counted() {
        for (yaml, name) in [
            ("optimizer-params: [0.9, 0.98, 1e-9, 0, 5]", "--optimizer-params: 5 numbers"),
            ("{optimizer: adagrad, optimizer-params: [0.9, 0.98]}", "--optimizer-params: 2"),
            ("{optimizer: sgd, optimizer-params: [0.9]}", "--optimizer-params: 1"),
            ("lr-decay-inv-sqrt: [1, 2, 3]", "--lr-decay-inv-sqrt"),
            ("lr-decay-start: [1]", "--lr-decay-start: 1 numbers"),
            ("{lr-decay-strategy: epoch, lr-decay-start: [1, 2]}", "--lr-decay-start: 2"),
            ("throw-on-divergence: [9, 8, 7, 6]", "--throw-on-divergence: expected up to three"),
            ("throw-on-divergence: 0", "the slow and the fast window, in updates from 1"),
            ("throw-on-divergence: [1000, 10, -1]", "and the deviations, from 0"),
            ("early-stopping-epsilon: [0.1, 0.2]", "--early-stopping-epsilon: expected one number"),
            ("valid-metrics: [ce-mean, cross-entropy]", "cross-entropy is listed twice"),
            ("clip-norm: -1", "--clip-norm: -1 is out of range; expected 0 or more"),
        ] {
            assert!(error(yaml).contains(name), "{yaml}: {}", error(yaml));
        }
        // Marian writes the bare option in this form.
        let detector = |yaml: &str| config(yaml).unwrap().divergence;
        let bare = detector("throw-on-divergence: true");
        assert_eq!(detector("throw-on-divergence: [1000, 10, 5.0f]"), bare);
        assert!(error("throw-on-divergence: [1000, 10, 5f]").contains("\"5f\""));
        let two = "valid-metrics: [perplexity, bleu]\nearly-stopping-epsilon: ";
        assert_eq!(config(&format!("{two}0.5")).unwrap().validation.epsilons, [0.5, 0.5]);
        assert_eq!(config(&format!("{two}[0.5, 1]")).unwrap().validation.epsilons, [0.5, 1.0]);
    }

    #[test]
    fn numbers_that_would_divide_by_zero_are_rejected() {
        for parameters in
            ["[1, 0.98]", "[0.9, 1]", "[-0.1]", "[0.9, 0.98, 0]", "[0.9, 0.98, 1, -1]"]
        {
            let error = error(&format!("optimizer-params: {parameters}"));
            assert!(error.contains("--optimizer-params: "), "{parameters}: {error}");
        }
        let most = usize::MAX;
        let config = config(&format!("{{mini-batch: {most}, maxi-batch: {most}}}")).unwrap();
        assert_eq!(config.batches.maxi_batch, most);
    }
}
