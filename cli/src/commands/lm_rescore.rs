//! `miriam lm rescore`: n-gram scores as features of n-best lists.

use std::path::PathBuf;

use clap::Args;
use miriam_combine::lists::FeatureModel;
use miriam_combine::rescore::ListCoverage;
use miriam_glm::device::DeviceChoice;
use miriam_lmcpu::OpenOptions;
use miriam_rescoring::NgramFeature;
use miriam_storage::LoadMethod;

use super::open_lm::open_model;
use super::rescore_lists::{RescoringFiles, name_features};
use crate::arpa_arguments::ArpaArguments;
use crate::common::{CommonOptions, check_files, parse_load_mode};

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
    /// Ngram1, ..., except names that the first sentence already has]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    features: Vec<String>,
    /// The file to write; compressed if it ends in .gz, .zst, .bz2 or .xz. The same command
    /// continues a run that was stopped
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// How model files are loaded: lazy (mapped, pages read on access), populate (mapped and read
    /// now) or huge (read into huge pages: private memory, faster queries)
    #[arg(long, value_name = "MODE", default_value = "populate", value_parser = parse_load_mode)]
    load: LoadMethod,
    #[command(flatten)]
    arpa_text: ArpaArguments,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let Arguments { models, n_best, features, output, load, arpa_text } = arguments;
    let inputs = models.iter().chain([&n_best]);
    check_files(inputs, &[("--output", Some(&output))])?;
    let options = OpenOptions { load, arpa: arpa_text.options() };
    let opened: Vec<NgramFeature> = models
        .iter()
        .map(|model| open_model(model, options, DeviceChoice::Cpu, common).map(NgramFeature))
        .collect::<Result<_, _>>()?;
    let stems = vec!["Ngram"; opened.len()];
    let opened = opened.iter().map(|model| model as &dyn FeatureModel);
    let features = name_features(features, &stems, opened);
    let files = RescoringFiles {
        list: &n_best,
        source: None,
        coverage: ListCoverage::EverySentence,
        output: &output,
        model_files: models.clone(),
        options: format!("{:?}", options.arpa),
    };
    files.add(&features, common.threads.count(), common)
}
