//! `miriam tune`: tuning of feature weights on a development text.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use miriam_decoder::tuning::{TuneOptions, TuningAlgorithm, tune};
use miriam_textio::Input;

use super::translate::read_configuration;
use crate::common::CommonOptions;

/// Search options unless others follow `--`: as good as wider searches, in a fraction of
/// their time.
const DEFAULT_SEARCH_OPTIONS: [&str; 6] =
    ["-search-algorithm", "1", "-cube-pruning-pop-limit", "400", "-stack", "400"];

/// Find weights that translate a development text best by BLEU.
///
/// Example: miriam tune -f moses.ini --source dev.de --reference dev.en -o tuned.ini
#[derive(Args)]
pub struct Arguments {
    /// The system's moses.ini, or its folder, with the weights to begin with
    #[arg(short = 'f', long = "config", value_name = "INI")]
    ini: PathBuf,
    /// The development text, a sentence a line, prepared as the system's input is
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// Its translation, prepared as the system's output is; repeat it for several
    #[arg(long, value_name = "FILE", required = true)]
    reference: Vec<PathBuf>,
    /// The ini to write: the given one with the best weights
    #[arg(short, long, value_name = "INI")]
    output: PathBuf,
    /// The optimiser of weights
    #[arg(long, value_enum, default_value = "mira")]
    method: MethodName,
    /// Iterations at most; stops after five in a row without improvement
    #[arg(long, value_name = "N", default_value_t = 15)]
    iterations: usize,
    /// Translations in the list of a line
    #[arg(long, visible_alias = "nbest", value_name = "N", default_value_t = 100)]
    nbest_size: usize,
    /// The seed of random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Let BLEU ignore the case of ASCII letters
    #[arg(long)]
    case_insensitive: bool,
    /// Also write a line an iteration to this file, which is FILE.partial until the run ends
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
    /// Options of `miriam translate` [-search-algorithm 1 -cube-pruning-pop-limit 400 -stack 400]
    #[arg(last = true, value_name = "OPTIONS")]
    moses: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum MethodName {
    /// Batch MIRA
    Mira,
    /// Minimum error rate training
    Mert,
    /// Pairwise ranked optimisation
    Pro,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let Arguments { ini, source, reference, output, .. } = arguments;
    for file in reference.iter().chain([&source]) {
        Input::check_access(file, Some(&output))?;
    }
    let mut tokens = vec!["-f".to_owned(), ini.to_string_lossy().into_owned()];
    let given = arguments.decoder_options.as_deref().unwrap_or_default();
    tokens.extend(given.split_ascii_whitespace().map(str::to_owned));
    tokens.extend(arguments.moses);
    if tokens.len() == 2 {
        tokens.extend(DEFAULT_SEARCH_OPTIONS.map(str::to_owned));
    }
    let mut configuration = read_configuration(&tokens)?;
    configuration.settings.threads = common.threads.count();
    let options = TuneOptions {
        log: arguments.log,
        method: match arguments.method {
            MethodName::Mira => TuningAlgorithm::Mira,
            MethodName::Mert => TuningAlgorithm::Mert,
            MethodName::Pro => TuningAlgorithm::Pro,
        },
        iterations: arguments.iterations,
        nbest_size: arguments.nbest_size,
        seed: arguments.seed,
        case_insensitive: arguments.case_insensitive,
        ..TuneOptions::new(configuration, source, reference, output)
    };
    let report = common.build_thread_pool()?.install(|| tune(&options, &common.progress()))?;
    tracing::info!("best: iteration {}, BLEU {:.2}", report.best_index + 1, report.best().bleu);
    Ok(())
}
