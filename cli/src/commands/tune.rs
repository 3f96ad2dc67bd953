//! `miriam tune`: tuning of feature weights on a development text.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use miriam_combine::tune::{TuneListOptions, TuneListReport, tune_lists};
use miriam_combine::weights::FeatureWeights;
use miriam_decoder::tuning::{TuneOptions, TuningAlgorithm, tune};
use miriam_decoder::{PreparationCopy, SearchAlgorithm, Settings, supported_parameters};
use miriam_pipeline::prepare_file;
use miriam_textio::{Input, Output, is_same_file};
use miriam_textproc::TextProcessorConfig;

use super::system_configuration::read_configuration_from_ini;
use super::{numbered_references, raw_text};
use crate::common::{
    CommonOptions, check_files, check_model_folder, exit_with_usage_error, temporary_folder,
};
use crate::option_values::choices;

/// Search options that apply unless the ini or the command line has others. They give the quality
/// of wider searches in a fraction of the time.
const DEFAULT_SEARCH_OPTIONS: [(&str, &str); 3] =
    [("search-algorithm", "1"), ("cube-pruning-pop-limit", "400"), ("stack", "400")];

/// Find weights that translate a development text best by BLEU, or weights for the features of an
/// n-best list.
///
/// Examples:
///   miriam tune -f moses.ini --source dev.de --reference dev.en -o tuned.ini
///   miriam tune --n-best dev.list.gz --reference dev.en -o weights
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The system's moses.ini, or its folder, with the initial weights
    #[arg(short = 'f', long = "config", value_name = "INI", required_unless_present = "n_best")]
    ini: Option<PathBuf>,
    /// The development text, one sentence per line. Raw text if a file `preparation` is beside the
    /// ini, otherwise prepared as the system's input is
    #[arg(long, value_name = "FILE", required_unless_present = "n_best")]
    source: Option<PathBuf>,
    /// An n-best list of the development text, instead of a system and the text; several, such as
    /// those of earlier tuning runs, are pooled. They may be of any program, and compressed. The
    /// output has a line `NAME= weight ...` for each feature, as `rerank` reads them
    #[arg(long, value_name = "LIST", num_args = 1.., conflicts_with_all = ["ini", "source",
          "no_raw", "nbest_size", "log", "decoder_options", "moses"])]
    n_best: Vec<PathBuf>,
    /// The initial weights for an n-best list, in the form of the output [default: equal ones]
    #[arg(long, value_name = "FILE", requires = "n_best")]
    weights: Option<PathBuf>,
    /// A translation of the development text, raw or prepared as the source is; repeat it for
    /// several, or give the first part of the names FILE0, FILE1 and so on
    #[arg(long, value_name = "FILE", required = true)]
    reference: Vec<PathBuf>,
    /// The texts are already prepared, even if a file `preparation` is beside the ini
    #[arg(long)]
    no_raw: bool,
    /// The ini to write: the given one with the best weights. In another folder the steps for raw
    /// text are copied beside it. For an n-best list, the file of weights to write
    #[arg(short, long, value_name = "INI")]
    output: PathBuf,
    /// The optimiser of weights
    #[arg(long, default_value = "mira", value_parser = choices(METHODS))]
    method: TuningAlgorithm,
    /// The maximum number of iterations. The first translates with the initial weights, so a system
    /// needs two. Tuning stops after five in a row without improvement, or after three for an
    /// n-best list
    #[arg(long, value_name = "N", default_value_t = 15)]
    iterations: usize,
    /// Translations per n-best list
    #[arg(long, visible_alias = "nbest", value_name = "N", default_value_t = 100)]
    nbest_size: usize,
    /// The seed of random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Ignore the case of ASCII letters in BLEU
    #[arg(long)]
    case_insensitive: bool,
    /// Also write one line per iteration to this file, which is FILE.partial until the run ends
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Options of `miriam translate` in one argument, as mert-moses takes them
    #[arg(
        long,
        visible_alias = "decoder-flags",
        value_name = "OPTIONS",
        allow_hyphen_values = true
    )]
    decoder_options: Option<String>,
    /// Options of `miriam translate`. Defaults, if the ini does not set them: [-search-algorithm 1
    /// -cube-pruning-pop-limit 400 -stack 400]
    #[arg(last = true, value_name = "OPTIONS")]
    moses: Vec<String>,
}

/// The optimisers of weights: names, descriptions and values for [`choices`].
pub const METHODS: [(&str, &str, TuningAlgorithm); 3] = [
    ("mira", "Batch MIRA", TuningAlgorithm::Mira),
    ("mert", "Minimum error rate training", TuningAlgorithm::Mert),
    ("pro", "Pairwise ranked optimisation", TuningAlgorithm::Pro),
];

/// Options of `miriam translate` that tuning sets or has no use for.
const RESERVED_OPTIONS: [&str; 20] = [
    "alignment-output-file",
    "errors",
    "input-file",
    "listen",
    "n-best-list",
    "output-file",
    "output-search-graph",
    "output-unknowns",
    "print-id",
    "report-segmentation",
    "serial",
    "server",
    "server-keepalive-timeout",
    "server-log",
    "server-maxconn",
    "server-port",
    "server-timeout",
    "show-weights",
    "start-translation-id",
    "translation-details",
];

/// Ends the program with a usage error if one of the options is among [`RESERVED_OPTIONS`].
fn check_search_options(options: &[String]) {
    for option in options {
        let Some(name) = option.strip_prefix('-') else { continue };
        let name = name.strip_prefix('-').unwrap_or(name);
        let name = name.split_once('=').map_or(name, |(name, _)| name);
        let parameter = supported_parameters()
            .iter()
            .find(|one| !name.is_empty() && (one.name == name || one.short == name));
        if parameter.is_some_and(|one| RESERVED_OPTIONS.contains(&one.name)) {
            let reason =
                "`miriam tune` does not take this option of `miriam translate`; leave it out";
            exit_with_usage_error(format!("{option}: {reason}"));
        }
    }
}

pub fn run(mut arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    arguments.reference = numbered_references::expand(&arguments.reference);
    if !arguments.n_best.is_empty() {
        return tune_n_best_lists(&arguments, common);
    }
    let Arguments { ini, source, reference, output, .. } = arguments;
    let (Some(ini), Some(source)) = (ini, source) else {
        bail!("expected a system, --config, and the development text, --source");
    };
    let outputs = [("--output", Some(&output)), ("--log", arguments.log.as_ref())];
    check_files(reference.iter().chain([&source]), &outputs)?;
    let flags = arguments.decoder_options.as_deref().unwrap_or_default();
    let mut options: Vec<String> = flags.split_ascii_whitespace().map(str::to_owned).collect();
    options.extend(arguments.moses);
    check_search_options(&options);
    let mut configuration = read_configuration_from_ini(&ini, &options, &DEFAULT_SEARCH_OPTIONS)?;
    configuration.settings.threads = common.threads.count();
    for file in configuration.model_files() {
        if file.is_dir() {
            let paths = outputs.iter().filter_map(|(_, path)| path.map(PathBuf::as_path));
            check_model_folder(&file, paths)?;
        } else if file.is_file() {
            for (option, output) in &outputs {
                // The new weights may replace those of the ini.
                if *option != "--output" || !is_same_file(&file, &configuration.ini) {
                    Input::check_access(&file, output.map(PathBuf::as_path))?;
                }
            }
        }
    }
    let Settings { algorithm, stack_size, pop_limit, .. } = configuration.settings;
    let search = match algorithm {
        SearchAlgorithm::CubePruning => format!("cube pruning, pop limit {pop_limit}"),
        SearchAlgorithm::Stack => "stack decoding".into(),
    };
    tracing::info!("search: {search}, stack {stack_size}; translate with the same options");
    let preparation_copy = PreparationCopy::plan(&configuration, &output)?;
    if let Some(copy) = &preparation_copy {
        copy.check_targets()?;
    }
    let folder = temporary_folder()?;
    let preparation = raw_text::preparation_file(&configuration);
    let (source, reference) = if !arguments.no_raw && preparation.exists() {
        prepare_texts(&preparation, &source, &reference, folder.path(), common)?
    } else {
        (source, reference)
    };
    let options = TuneOptions {
        log: arguments.log,
        method: arguments.method,
        iterations: arguments.iterations,
        nbest_size: arguments.nbest_size,
        seed: arguments.seed,
        case_insensitive: arguments.case_insensitive,
        ..TuneOptions::new(configuration, source, reference, output)
    };
    let report = common.build_thread_pool()?.install(|| tune(&options, &common.progress()))?;
    if let Some(copy) = preparation_copy {
        copy.write()?;
    }
    tracing::info!("best: iteration {}, BLEU {:.2}", report.best_index + 1, report.best().bleu);
    Ok(())
}

/// Tunes the weights of n-best lists.
fn tune_n_best_lists(arguments: &Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let Arguments { n_best, weights, reference, output, .. } = arguments;
    let inputs = reference.iter().chain(weights).chain(n_best);
    check_files(inputs, &[("--output", Some(output))])?;
    let options = TuneListOptions {
        references: reference.clone(),
        initial: weights.as_deref().map(FeatureWeights::read).transpose()?,
        method: arguments.method,
        rounds: arguments.iterations,
        seed: arguments.seed,
        case_insensitive: arguments.case_insensitive,
        threads: common.threads.count(),
    };
    let output = Output::create(output)?;
    let report = tune_lists(n_best, &options, output, &common.progress())?;
    let TuneListReport { sentences, entries, initial_bleu, bleu } = report;
    tracing::info!(
        "{sentences} sentences, {entries} different entries: BLEU {bleu:.2}, {initial_bleu:.2} by \
         the initial weights"
    );
    Ok(())
}

/// Prepares raw texts with the steps in the file `preparation`, into files in `folder`.
fn prepare_texts(
    preparation: &Path,
    source: &Path,
    references: &[PathBuf],
    folder: &Path,
    common: &CommonOptions,
) -> anyhow::Result<(PathBuf, Vec<PathBuf>)> {
    let config = TextProcessorConfig::read(preparation)?;
    let Some(reference_config) = config.reference_config() else {
        bail!(
            "{}: it does not say how references are prepared; add lines with detokenize LANGUAGE \
             and target-truecase FILE, or give prepared texts with --no-raw",
            preparation.display()
        );
    };
    let (threads, progress) = (common.threads.count(), common.progress());
    let prepare = |text: &Path, config: &TextProcessorConfig, name: String| {
        let output = folder.join(name);
        prepare_file(text, &config.build()?, &output, threads, &progress)?;
        anyhow::Ok(output)
    };
    let prepared = prepare(source, &config, "source".into())?;
    let references = references.iter().enumerate();
    let references: anyhow::Result<_> = references
        .map(|(i, text)| prepare(text, &reference_config, format!("reference.{i}")))
        .collect();
    Ok((prepared, references?))
}
