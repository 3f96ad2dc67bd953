//! `miriam nmt rescore`: scores of neural models as features of n-best lists.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use miriam_combine::lists::FeatureModel;
use miriam_combine::rescore::ListCoverage;
use miriam_nmt::score::{LengthLimit, ListModel, ListOptions, MAX_LENGTH, ScoringDirection};
use miriam_nmt::translate::{LoadedModels, TranslationOptions};
use miriam_rescoring::NeuralFeature;

use super::models::{ModelArguments, SharedModelArguments};
use super::value_parsers::{batch_size, finite, length};
use crate::commands::rescore_lists::{RescoringFiles, name_features};
use crate::commands::tuner_cache::{AutotunerCache, AutotunerCacheOptions};
use crate::common::{CommonOptions, check_files, check_model_folder};

#[derive(Args)]
pub struct Arguments {
    /// Translation models in the direction of the list, of every kind that nmt translate opens, and
    /// language models; each adds a feature. Several models in one decoder configuration are an
    /// ensemble, which adds one feature
    #[arg(short, long, alias = "model", num_args = 1.., value_name = "PATH",
          required_unless_present = "reverse")]
    models: Vec<PathBuf>,
    /// Models that translate in the other direction: each adds the score of the source, given the
    /// translation
    #[arg(long, num_args = 1.., value_name = "PATH", requires = "source")]
    reverse: Vec<PathBuf>,
    // Languages and vocabularies are those of the list; they change sides for --reverse.
    #[command(flatten)]
    shared: SharedModelArguments,
    /// The text that the list translates, one sentence per line; only language models need none
    #[arg(long, value_name = "FILE")]
    source: Option<PathBuf>,
    /// The n-best list, of any program (number ||| text ||| features ||| total): plain, .gz, .zst,
    /// .bz2 or .xz; - for standard input
    #[arg(short = 'i', long, visible_alias = "input", value_name = "LIST", default_value = "-")]
    n_best: PathBuf,
    /// The names of the new features, separated by commas, first those of -m, then those of
    /// --reverse [default: Neural0, Neural1, ... and Reverse0, ..., except names that the
    /// first sentence already has]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    features: Vec<String>,
    /// The file to write; compressed if its name ends in .gz, .zst, .bz2 or .xz. The same command
    /// continues a run that was stopped
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Divide scores by the length, with </s>, to this power
    #[arg(long, num_args = 0..=1, value_name = "A", default_value_t = 0.0,
          default_missing_value = "1", allow_negative_numbers = true, value_parser = finite)]
    normalize: f32,
    /// The texts are already tokenised, with spaces between pieces
    #[arg(long)]
    no_spm_encode: bool,
    /// The longest sentence or translation, in pieces with </s>; a longer one is an error
    #[arg(long, value_name = "N", default_value_t = MAX_LENGTH, value_parser = length())]
    max_length: usize,
    /// Texts that a model reads together
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = batch_size())]
    mini_batch: usize,
    #[command(flatten)]
    tuner_cache: AutotunerCacheOptions,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let a = &arguments;
    let texts = a.source.iter().chain([&a.n_best]);
    check_files(texts, &[("--output", Some(&a.output))])?;
    for folder in a.models.iter().chain(&a.reverse) {
        check_model_folder(folder, [a.output.as_path()])?;
    }
    let tuner_cache = a.tuner_cache.open();
    let forward = a.models.iter().map(|path| (path, ScoringDirection::Forward));
    let reverse = a.reverse.iter().map(|path| (path, ScoringDirection::Reverse));
    let (mut models, mut stems, mut model_files) = (Vec::new(), Vec::new(), Vec::new());
    let mut threads = common.threads.count();
    for (path, direction) in forward.chain(reverse) {
        let (stem, shared) = match direction {
            ScoringDirection::Forward => ("Neural", a.shared.clone()),
            ScoringDirection::Reverse => ("Reverse", a.shared.clone().reversed()),
        };
        let options = ListOptions {
            direction,
            is_tokenized: a.no_spm_encode,
            limit: LengthLimit::error_above(a.max_length),
            normalize: a.normalize,
            mini_batch: a.mini_batch,
        };
        let model = ModelArguments::for_model(path, shared);
        let opened = open(&model, options, a.source.is_some(), &tuner_cache)?;
        threads = opened.threads.unwrap_or(threads);
        models.push(opened.feature);
        model_files.extend(opened.files);
        stems.push(stem);
    }
    check_source_use(a.source.as_deref(), &models)?;
    let models = models.iter().map(|model| model as &dyn FeatureModel);
    let features = name_features(a.features.clone(), &stems, models);
    let files = RescoringFiles {
        list: &a.n_best,
        source: a.source.as_deref(),
        coverage: ListCoverage::EverySentence,
        output: &a.output,
        model_files,
        options: a.describe(),
    };
    let outcome = files.add(&features, threads, common);
    tuner_cache.save();
    outcome
}

impl Arguments {
    /// Describes the options that scores depend on: a run that was stopped is continued only if
    /// they are the same.
    fn describe(&self) -> String {
        format!(
            "{:?} {:?} {:?} {} {} {}",
            self.models,
            self.reverse,
            self.shared,
            self.normalize,
            self.no_spm_encode,
            self.max_length
        )
    }
}

/// An opened model that scores lists.
pub struct OpenedModel {
    pub feature: NeuralFeature,
    /// The files that it was read from: weights, vocabularies, segmentation.
    pub files: Vec<PathBuf>,
    /// The number of threads that feed its GPUs; `None` if it computes on the CPU.
    pub threads: Option<usize>,
}

/// Checks that a source is given only if a model reads it.
///
/// # Errors
/// If all models are language models.
pub fn check_source_use(source: Option<&Path>, models: &[NeuralFeature]) -> anyhow::Result<()> {
    let is_read = models.iter().any(|model| model.model.reads_sentences());
    anyhow::ensure!(
        source.is_none() || is_read,
        "a language model reads no --source: leave it out"
    );
    Ok(())
}

/// Opens a model, or an ensemble, that scores lists. If the lists have no source sentences
/// (`has_sentences`), only a language model can be opened.
pub fn open(
    models: &ModelArguments,
    options: ListOptions,
    has_sentences: bool,
    tuner_cache: &AutotunerCache,
) -> anyhow::Result<OpenedModel> {
    let (mut bundle, _) = models.open_bundle(None, models.languages())?;
    bundle.prepare_to_score();
    if let Some(missing) = bundle.missing_languages().filter(|_| !options.is_tokenized) {
        anyhow::bail!(missing);
    }
    let mut defaults = TranslationOptions::for_bundle(&bundle, None);
    models.place(&mut defaults)?;
    let placement = defaults.placement(&tuner_cache.tuner);
    let loaded = LoadedModels::new(&bundle, &defaults.weights, placement)?;
    let model = ListModel::new(loaded, options, has_sentences);
    let model = model.with_context(|| bundle.path.display().to_string())?;
    // Files in an archive are not files of their own; the archive itself is.
    let files = bundle.source_files().filter(|path| path.is_file()).collect();
    Ok(OpenedModel {
        feature: NeuralFeature { model, translator: None },
        files,
        threads: defaults.devices.is_cuda().then_some(defaults.threads),
    })
}
