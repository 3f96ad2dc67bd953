//! `miriam train`: a tuned phrase model from parallel text.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{ArgAction, Args};
use miriam_align::{AlignModel, Symmetrization};
use miriam_decoder::tuning::TuningAlgorithm;
use miriam_pipeline::{LanguagePair, LmKind, NeuralOptions, TrainOptions, Tuning, train};
use miriam_textio::{CancellableProgress, CancellationToken, find_swapped_sides};

use crate::common::{CommonOptions, warn_if_binary, warn_of_memory_floor};
use crate::memory_size::parse_memory;
use crate::option_values::choices;
use crate::signals::SignalHandler;

/// Train a phrase-based system from parallel text: align, extract, estimate, build, tune
///
/// Creates a folder for `miriam translate -f DIR/moses.ini`. The same command resumes a run
/// that ended early and does only what is missing. With --neural it trains neural models of both
/// directions too, and tunes the combination; `miriam nmt train` trains a neural model alone.
///
/// Example: miriam train --raw --source-language de --target-language en --source train.de
/// --target train.en --dev-source dev.de --dev-target dev.en -o model
#[derive(Args)]
pub struct Arguments {
    /// The source side of the parallel text: plain, .gz, .zst, .bz2 or .xz
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// The target side
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// The source side of the text to tune the weights on
    #[arg(long, value_name = "FILE", requires = "dev_target")]
    dev_source: Option<PathBuf>,
    /// Its target side
    #[arg(long, value_name = "FILE", requires = "dev_source")]
    dev_target: Option<PathBuf>,
    /// Text for the language model instead of the target side; repeatable
    #[arg(long, value_name = "FILE")]
    lm_text: Vec<PathBuf>,
    /// The folder of the model; a run that ended early resumes in it
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The texts are raw: normalise punctuation, tokenise and truecase them, and save these steps
    /// for `translate`
    #[arg(long, requires = "source_language", requires = "target_language")]
    raw: bool,
    /// The language of the source side, such as de
    #[arg(long, value_name = "LANGUAGE", requires = "raw")]
    source_language: Option<String>,
    /// The language of the target side
    #[arg(long, value_name = "LANGUAGE", requires = "raw")]
    target_language: Option<String>,
    /// Nonbreaking prefixes of the source language, words that keep their full stop, in Moses'
    /// form, instead of the built-in list; the model keeps a copy
    #[arg(
        long,
        visible_alias = "source-nonbreaking-prefixes",
        value_name = "FILE",
        requires = "raw"
    )]
    nonbreaking_prefixes: Option<PathBuf>,
    /// Nonbreaking prefixes of the target language
    #[arg(long, value_name = "FILE", requires = "raw")]
    target_nonbreaking_prefixes: Option<PathBuf>,
    /// Drop pairs with more words on a side
    #[arg(long, value_name = "N", default_value_t = 80)]
    max_words: usize,
    /// Drop pairs with a larger ratio of words between the sides
    #[arg(long, value_name = "N", default_value_t = 9)]
    max_ratio: usize,
    /// The alignment model
    #[arg(long, value_name = "MODEL", default_value = "ibm2",
          value_parser = choices(super::align::ALIGN_MODELS))]
    alignment_model: AlignModel,
    /// The method of symmetrising alignments of both directions, as in `align`
    #[arg(long, value_name = "METHOD", default_value = "grow-diag-final-and",
          value_parser = choices(super::align::symmetrizations()))]
    symmetrize: Symmetrization,
    /// Words in the longest phrases
    #[arg(long, value_name = "N", default_value_t = 7)]
    max_length: usize,
    /// The reordering model by its Moses name, or none
    #[arg(long, value_name = "TYPE", default_value = "wbe-msd-bidirectional-fe")]
    reordering: String,
    /// Words in the longest n-grams of the language model
    #[arg(long, value_name = "N", default_value_t = 5)]
    lm_order: usize,
    /// Drop n-grams that occur at most this often, as in `lm estimate`
    #[arg(long, value_name = "COUNT", num_args = 1.., action = ArgAction::Set)]
    lm_prune: Vec<u64>,
    /// The kind of the language model's file: probing is faster, trie smaller
    #[arg(long, value_name = "KIND", default_value = "probing", value_parser = choices(LM_KINDS))]
    lm_type: LmKind,
    /// The method of tuning weights on the dev text [default: mira]
    #[arg(long, value_name = "METHOD", value_parser = tuning_methods())]
    method: Option<TuningMethod>,
    /// The seed of tuning's random numbers [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The maximum number of iterations of tuning
    #[arg(long, value_name = "N")]
    iterations: Option<usize>,
    /// Train neural models too, in both directions, and combine them with the phrase-based system
    #[arg(long, requires = "dev_source")]
    neural: bool,
    /// Train neural models with this preset of `nmt train` [default: the task of --neural-config,
    /// else by the size of the text]
    #[arg(long, value_name = "NAME", requires = "neural",
          value_parser = super::nmt::train::task_parser())]
    task: Option<String>,
    /// Options of `nmt train` for the neural models, in YAML; later files override earlier ones.
    /// If neither --task nor these files name a task, options that are not set have Marian's
    /// defaults
    #[arg(long, value_name = "FILE", requires = "neural")]
    neural_config: Vec<PathBuf>,
    /// The number of pieces of the neural models' vocabulary [default: 2000 below 5,000 pairs,
    /// 4000 below 20,000, else 8000]
    #[arg(long, value_name = "N", requires = "neural",
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    vocab_size: Option<u32>,
    /// Continue training the neural model on this text of the target language, which the reverse
    /// model translates; repeatable
    #[arg(long, value_name = "FILE", requires = "neural")]
    back_translate: Vec<PathBuf>,
    /// The number of the neural model's best translations of a sentence, at most 1,000, that are
    /// added to those of the phrase-based system
    #[arg(long, value_name = "N", requires = "neural", default_value_t = 0)]
    neural_candidates: usize,
    /// Also keep the tables and the language model as text, in DIR/text
    #[arg(long)]
    text: bool,
    /// Keep intermediate files, in DIR/train.work
    #[arg(long)]
    keep_work: bool,
    /// Memory to use, such as 4G [default: half of the free memory]
    #[arg(short = 'S', long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<u64>,
}

const LM_KINDS: [(&str, &str, LmKind); 2] =
    [("probing", "", LmKind::Probing), ("trie", "", LmKind::Trie)];

/// A method of tuning, or `None` to keep the initial weights.
type TuningMethod = Option<TuningAlgorithm>;

fn tuning_methods() -> impl TypedValueParser<Value = TuningMethod> {
    let none = "Keep the initial weights; with --neural, only those of the combination are tuned";
    let methods = super::tune::METHODS.map(|(name, help, method)| (name, help, Some(method)));
    choices(methods.into_iter().chain([("none", none, None)]))
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let method = arguments.method.unwrap_or(Some(TuningAlgorithm::Mira));
    warn_of_unused_tuning(&arguments);
    let mut options = TrainOptions {
        dev: arguments.dev_source.zip(arguments.dev_target),
        lm_text: arguments.lm_text,
        raw_languages: arguments
            .source_language
            .zip(arguments.target_language)
            .filter(|_| arguments.raw)
            .map(|(source, target)| LanguagePair { source, target }),
        nonbreaking_prefixes: [
            arguments.nonbreaking_prefixes,
            arguments.target_nonbreaking_prefixes,
        ],
        max_words: arguments.max_words,
        max_ratio: arguments.max_ratio,
        alignment_model: arguments.alignment_model,
        symmetrization: arguments.symmetrize,
        max_length: arguments.max_length,
        reordering: Some(arguments.reordering).filter(|name| name != "none"),
        lm_order: arguments.lm_order,
        lm_prune: arguments.lm_prune,
        lm_kind: arguments.lm_type,
        tuning: method.map(|method| Tuning { method, iterations: arguments.iterations }),
        neural: arguments.neural.then_some(NeuralOptions {
            task: arguments.task,
            configs: arguments.neural_config,
            vocab_size: arguments.vocab_size.map(|size| size as usize),
            back_translate: arguments.back_translate,
            candidates: arguments.neural_candidates,
        }),
        keep_text: arguments.text,
        keep_work: arguments.keep_work,
        threads: common.threads.count(),
        ..TrainOptions::new(arguments.source, arguments.target, arguments.output)
    };
    options.seed = arguments.seed.unwrap_or(options.seed);
    warn_of_memory_floor(arguments.memory);
    if let Some(memory) = arguments.memory {
        options.memory = memory;
    }
    let languages = options.raw_languages.iter().flat_map(|raw| [&raw.source, &raw.target]);
    for (language, list) in languages.zip(&options.nonbreaking_prefixes) {
        if list.is_none() {
            super::textproc::warn_if_unknown_language(language);
        }
    }
    let texts = [&options.source, &options.target].into_iter().chain(&options.lm_text);
    let texts = texts.chain(options.neural.iter().flat_map(|neural| &neural.back_translate));
    let dev = options.dev.iter().flat_map(|(source, target)| [source, target]);
    warn_if_binary(texts.chain(dev).map(PathBuf::as_path))?;
    if let Some((source, target)) = &options.dev
        && let Some(warning) =
            find_swapped_sides([&options.source, &options.target], [source, target])?
    {
        tracing::warn!("{warning}");
    }
    let stop = CancellationToken::new();
    // Training of a neural model saves its progress when it is stopped. Other stages can stop at
    // once, because they lose little.
    let signals = options.neural.is_some().then(|| SignalHandler::install(&stop)).transpose()?;
    let progress = CancellableProgress { shown: &common.progress(), stop: &stop };
    let summary = match (train(&options, &progress), signals) {
        (Err(error), Some(signals)) if stop.is_cancelled() => {
            if !matches!(error, miriam_pipeline::Error::Cancelled) {
                tracing::error!("{error}");
            }
            signals.reraise_signal_with_message("the same command resumes the training");
            return Err(error.into());
        }
        (summary, _) => summary?,
    };
    crate::console::print_line(format_args!(
        "{summary}\ntranslate with  {}",
        summary.next_command()
    ))
}

/// Warns of options of tuning that have no effect, because there is no text to tune on, or because
/// the initial weights are kept.
fn warn_of_unused_tuning(arguments: &Arguments) {
    let has_dev = arguments.dev_source.is_some();
    let keeps_weights = arguments.method == Some(None);
    let reason = match (has_dev, keeps_weights) {
        (true, false) => return,
        (true, true) => "--method none keeps the initial weights",
        (false, _) => "weights are tuned only with --dev-source and --dev-target",
    };
    // The weights of a combination are always tuned, in a fixed number of rounds at most.
    let uses_seed = has_dev && arguments.neural;
    for (option, is_unused) in [
        ("--method", arguments.method.is_some() && !keeps_weights),
        ("--seed", arguments.seed.is_some() && !uses_seed),
        ("--iterations", arguments.iterations.is_some()),
    ] {
        if is_unused {
            tracing::warn!("{option} has no effect: {reason}");
        }
    }
}
