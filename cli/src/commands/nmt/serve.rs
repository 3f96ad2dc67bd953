//! `miriam nmt serve`: a server of one neural model, with the options of marian-server.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use clap::builder::BoolishValueParser;
use miriam_nmt::DecoderConfig;
use miriam_nmt::translate::{AlignmentFormat, DecodingSettings};
use miriam_serve::{
    Configuration, MarianServerModels, ModelConfiguration, ModelKind, ShortlistSetting,
};

use super::configured_options;
use super::ignored_options::IgnoredOptions;
use super::models::precision_or_compute_type;
use super::translate::{CpuThreads, SamplingArguments, SearchArguments, parse_cpu_threads};
use super::value_parsers::{batch_size, finite, length};
use crate::commands::serve::run_server;
use crate::commands::tuner_cache::AutotunerCacheOptions;
use crate::common::{CommonOptions, Threads};

/// One neural model, with the options of marian-server.
#[derive(Args)]
pub struct Arguments {
    /// The model: a file or a folder; several form an ensemble
    #[arg(short, long, alias = "models", num_args = 1.., value_name = "PATH",
          required_unless_present = "config")]
    model: Vec<PathBuf>,
    /// A decoder's configuration (.yml), which names the model and may have the port; later ones
    /// override earlier ones, and the options given here override all
    #[arg(short, long, value_name = "FILE", conflicts_with = "model")]
    config: Vec<PathBuf>,
    /// Resolve the paths of configurations relative to their folders
    #[arg(long, hide = true)]
    relative_paths: bool,
    /// Weights of the models [1 each]
    #[arg(long, num_args = 1.., value_name = "W", allow_negative_numbers = true,
          value_parser = finite)]
    weights: Vec<f32>,
    /// Its source and target vocabularies, or a joint one
    #[arg(short, long, num_args = 1..=2, value_names = ["SOURCE", "TARGET"])]
    vocabs: Vec<PathBuf>,
    /// The port, only on this machine [that of the configuration, or 8080]
    #[arg(short, long, value_name = "PORT")]
    port: Option<u16>,
    #[command(flatten)]
    search: SearchArguments,
    #[command(flatten)]
    sampling: SamplingArguments,
    /// Answer with n-best lists, whose length is the beam size
    #[arg(long, num_args = 0..=1, value_name = "0|1", default_missing_value = "1",
          value_parser = BoolishValueParser::new())]
    n_best: Option<bool>,
    /// Answer with alignments of pieces: hard, soft, or those above a threshold
    #[arg(long, num_args = 0..=1, value_name = "FORM", default_missing_value = "hard",
          value_parser = str::parse::<AlignmentFormat>)]
    alignment: Option<AlignmentFormat>,
    /// Answer with the score of each piece
    #[arg(long)]
    word_scores: bool,
    /// The input is already tokenised, with spaces between pieces
    #[arg(long)]
    no_spm_encode: bool,
    /// Answer with pieces, with spaces between them
    #[arg(long)]
    no_spm_decode: bool,
    /// The longest sentence, in pieces with </s>
    #[arg(long, value_name = "N", value_parser = length())]
    max_length: Option<usize>,
    /// Translate only the beginning of longer sentences
    #[arg(long)]
    max_length_crop: bool,
    /// A shortlist, then the numbers of frequent words and of translations per word, and the least
    /// probability [100 100 0]
    #[arg(long, num_args = 1..=4, value_names = ["FILE", "FIRST", "BEST", "THRESHOLD"])]
    shortlist: Vec<String>,
    /// Sentences translated together
    #[arg(long, value_name = "N", value_parser = batch_size())]
    mini_batch: Option<usize>,
    /// Precision of GEMM [that of the model's weights]
    #[arg(long, value_name = "KIND", alias = "compute-type",
          value_parser = precision_or_compute_type())]
    precision: Option<String>,
    /// The same as --threads; 0, which selects GPUs in Marian, has no effect
    #[arg(long, value_name = "N", value_parser = parse_cpu_threads)]
    cpu_threads: Option<CpuThreads>,
    /// The GPU, as Marian names it [the CPU]
    #[arg(short, long, value_name = "N")]
    devices: Option<u32>,
    #[command(flatten)]
    tuner_cache: AutotunerCacheOptions,
    #[command(flatten)]
    ignored_options: IgnoredOptions,
}

impl Arguments {
    /// Returns the model with its options. `configured` has the settings of configurations.
    fn model_configuration(&self, configured: &DecoderConfig) -> ModelConfiguration {
        let lengths = DecodingSettings {
            max_length: self.max_length,
            max_length_crop: self.max_length_crop.then_some(true),
            ..DecodingSettings::default()
        };
        let mut device = self.devices.map(|number| format!("cuda:{number}"));
        if device.is_some() && miriam_nmt::gpu_count() == 0 {
            tracing::warn!(
                "without effect here: --devices; there is no GPU, the model runs on the CPU"
            );
            device = None;
        }
        ModelConfiguration {
            name: "marian".into(),
            path: self.model.first().or(self.config.first()).cloned().unwrap_or_default(),
            marian_server: Some(MarianServerModels {
                models: self.model.clone(),
                configurations: self.config.clone(),
                has_relative_paths: self.relative_paths,
                settings: DecoderConfig {
                    weights: self.weights.clone(),
                    n_best: self.n_best,
                    alignment: self.alignment.map(Some),
                    word_scores: self.word_scores.then_some(true),
                    is_tokenized: self.no_spm_encode.then_some(true),
                    as_pieces: self.no_spm_decode.then_some(true),
                    other_options: configured.other_options.clone(),
                    ..DecoderConfig::default()
                },
            }),
            vocabs: self.vocabs.clone(),
            kind: Some(ModelKind::Neural),
            decoding: lengths.or(self.search.settings()).or(self.sampling.settings()),
            search: self.search.semantics_name(),
            shortlist: ShortlistSetting::from_words(&self.shortlist),
            mini_batch: self.mini_batch,
            precision: self.precision.clone(),
            device,
            ..Default::default()
        }
    }
}

/// Serves the model.
pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    arguments.ignored_options.check(false);
    let tuner_cache = arguments.tuner_cache.open();
    let own_threads = arguments.cpu_threads.and_then(|CpuThreads(threads)| threads);
    let threads = match own_threads.unwrap_or(common.threads) {
        Threads::Count(count) => Some(count),
        Threads::All => None,
    };
    let settings = configured_options::open_all(&arguments.config, arguments.relative_paths)?;
    let port = arguments.port.or(settings.port).unwrap_or(8080);
    let configuration = Configuration {
        listen: vec![format!("127.0.0.1:{port}")],
        threads,
        models: vec![arguments.model_configuration(&settings)],
        ..Configuration::default()
    };
    let tuner = Arc::clone(&tuner_cache.tuner);
    run_server(Box::new(move || Ok(configuration.clone())), tuner)?;
    tuner_cache.save();
    Ok(())
}
