//! `miriam lm rescore`: n-gram scores as features of n-best lists.

use std::path::PathBuf;

use clap::Args;
use miriam_combine::rescore::{AddedFeatures, add_features};
use miriam_glm::device::DeviceChoice;
use miriam_lmcpu::OpenOptions;
use miriam_lmcpu::line_scoring::{SentenceMarkers, score_sentence};
use miriam_storage::LoadMethod;
use miriam_textio::Output;

use super::open_lm::open_model;
use crate::arpa_arguments::ArpaArguments;
use crate::common::{
    CommonOptions, check_files, check_stdin_use, exit_with_usage_error, parse_load_mode,
};

#[derive(Args)]
pub struct Arguments {
    /// Model files, KenLM binary files, or ARPA text (plain, .gz, .zst, .bz2 or .xz)
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// The n-best list, of any program (number ||| text ||| features ||| total): plain, .gz, .zst,
    /// .bz2 or .xz; - for standard input
    #[arg(short = 'i', long, visible_alias = "input", value_name = "LIST", default_value = "-")]
    n_best: PathBuf,
    /// The names of the new features, one for each model, separated by commas [default: Ngram0,
    /// Ngram1, ...]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    features: Vec<String>,
    /// The file to write; compressed if it ends in .gz or .zst
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// How model files are loaded: lazy (mapped, pages read on access), populate (mapped and read
    /// now) or huge (read into huge pages: private memory, faster queries)
    #[arg(long, value_name = "HOW", default_value = "populate", value_parser = parse_load_mode)]
    load: LoadMethod,
    #[command(flatten)]
    arpa_text: ArpaArguments,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let Arguments { models, n_best, features, output, load, arpa_text } = arguments;
    let inputs = models.iter().chain([&n_best]);
    check_stdin_use(inputs.clone())?;
    check_files(inputs, &[("--output", Some(&output))])?;
    let names = match features.len() {
        0 => (0..models.len()).map(|number| format!("Ngram{number}")).collect(),
        count if count == models.len() => features,
        count => exit_with_usage_error(format!(
            "{count} names of features for {} models: expected one for each",
            models.len()
        )),
    };
    let options = OpenOptions { load, arpa: arpa_text.options() };
    let models: Vec<_> = models
        .iter()
        .map(|model| open_model(model, options, DeviceChoice::Cpu, common))
        .collect::<Result<_, _>>()?;
    let score = |text: &[u8], values: &mut Vec<f64>| {
        values.extend(models.iter().map(|model| {
            let log10 = score_sentence(&**model, text, SentenceMarkers::BOTH);
            f64::from(log10) * std::f64::consts::LN_10
        }));
    };
    let added = AddedFeatures { names: &names, score: &score };
    let output = Output::create(&output)?;
    let threads = common.threads.count();
    let count = add_features(&n_best, &added, threads, output, &common.progress())?;
    tracing::info!("{count} translations scored");
    Ok(())
}
