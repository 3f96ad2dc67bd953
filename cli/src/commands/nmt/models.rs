//! Options that select models, vocabularies and shortlists, named as in Marian.

use std::path::{Path, PathBuf};

use clap::Args;
use miriam_nmt::engine::Precision;
use miriam_nmt::shortlist::ShortlistOptions;
use miriam_nmt::{BundleOptions, DIALECTS, DecoderConfig, ModelBundle};

use super::value_parsers::finite;
use crate::common::exit_with_usage_error;

/// Options that name models with vocabularies and codes.
#[derive(Args)]
#[command(next_help_heading = "Models")]
pub struct ModelArguments {
    /// Models: folders of OPUS-MT, CTranslate2 or Hugging Face, files of Marian, Nematus or
    /// Amun, decoder configurations, files of ours; several vote together
    #[arg(short, long, num_args = 1.., value_name = "PATH", required_unless_present = "config")]
    models: Vec<PathBuf>,
    /// A decoder's configuration (.yml); options given here override it
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Vocabularies of source and target, or one of both (.yml, .json, .spm, .model, a word a
    /// line), in place of those beside the model
    #[arg(short, long, num_args = 1..=2, value_names = ["SOURCE", "TARGET"])]
    vocabs: Option<Vec<PathBuf>>,
    /// Codes of byte pair encoding for the text of source and target (one file: the same)
    /// [those beside the model]
    #[arg(long, num_args = 1..=2, value_names = ["SOURCE", "TARGET"])]
    bpe_codes: Vec<PathBuf>,
    /// Weights of the models [1 each]
    #[arg(long, num_args = 1.., value_name = "W", allow_negative_numbers = true,
          value_parser = finite)]
    weights: Vec<f32>,
    /// Precision of GEMM [that of the model's weights]; mixed is i16 in the
    /// encoder and i8 elsewhere; a file packed by nmt convert --precision has its own
    #[arg(long, value_name = "KIND", value_parser = Precision::ALL.map(Precision::name))]
    precision: Option<String>,
    /// Whose computation to follow where versions of Marian differ [that of the version
    /// that wrote the model]
    #[arg(long, value_name = "NAME", value_parser = DIALECTS.map(|(name, _)| name))]
    dialect: Option<String>,
}

/// Options of the shortlist, for translation only.
#[derive(Args)]
#[command(next_help_heading = "Models")]
pub struct DecoderShortlistArguments {
    /// A shortlist, then how many frequent words, how many translations of each word, and
    /// how probable they must be [100 100 0]
    #[arg(long, num_args = 1..=4, value_names = ["FILE", "FIRST", "BEST", "THRESHOLD"])]
    shortlist: Vec<String>,
    /// Use no shortlist or vocabulary map, though one is beside the model
    #[arg(long, conflicts_with = "shortlist")]
    no_shortlist: bool,
}

impl ModelArguments {
    /// Opens the models; with `lists`, for translation, also the shortlist.
    pub fn open_bundle(
        &self,
        lists: Option<&DecoderShortlistArguments>,
    ) -> anyhow::Result<ModelBundle> {
        let settings = self.config.as_deref().map(DecoderConfig::open).transpose()?;
        let given = settings.as_ref().map_or(&[][..], |settings| &settings.vocabularies);
        let options = BundleOptions {
            vocabularies: vocabulary_pair(self.vocabs.as_deref().unwrap_or(given)),
            without_shortlist: lists.is_none_or(DecoderShortlistArguments::overrides_found),
        };
        let mut bundle = match (&self.models[..], &self.config) {
            ([], Some(config)) => ModelBundle::open_with(config, &options)?,
            (models, _) => ModelBundle::open_ensemble(models, &options)?,
        };
        if let Some(settings) = settings {
            bundle.settings = settings;
        }
        warn_of_keys_without_effect(&bundle, self.config.as_deref().unwrap_or(&bundle.path));
        set_bpe_codes(&mut bundle, &self.bpe_codes)?;
        if let Some(lists) = lists {
            lists.apply(&mut bundle, !self.models.is_empty())?;
        }
        if let Some((_, dialect)) =
            DIALECTS.iter().find(|(name, _)| Some(*name) == self.dialect.as_deref())
        {
            bundle.set_dialect(*dialect);
        }
        if !self.weights.is_empty() {
            bundle.settings.weights = self.weights.clone();
        }
        Ok(bundle)
    }

    /// The precision of GEMM, if it is set.
    pub fn precision(&self) -> Option<Precision> {
        self.precision.as_deref().and_then(Precision::from_name)
    }
}

/// Names the keys of the decoder's configuration `file` that have no effect, once.
pub fn warn_of_keys_without_effect(bundle: &ModelBundle, file: &Path) {
    let keys = &bundle.settings.keys_without_effect;
    if !keys.is_empty() {
        tracing::warn!("{}: without effect here: {}", file.display(), keys.join(" "));
    }
}

/// Vocabularies of source and target, from one file or one each.
pub fn vocabulary_pair(paths: &[PathBuf]) -> Option<[&Path; 2]> {
    match paths {
        [source, target] => Some([source, target]),
        [both] => Some([both; 2]),
        _ => None,
    }
}

/// Sets the BPE codes of both sides, from one file or one each.
pub fn set_bpe_codes(bundle: &mut ModelBundle, codes: &[PathBuf]) -> anyhow::Result<()> {
    match codes {
        [] => {}
        [both] => bundle.set_bpe_codes([both, both])?,
        [source, target, ..] => bundle.set_bpe_codes([source, target])?,
    }
    Ok(())
}

impl DecoderShortlistArguments {
    /// Sets the shortlist of `bundle`: that of the options, or that of a configuration
    /// (`of_settings`) by which the bundle was not opened.
    fn apply(&self, bundle: &mut ModelBundle, of_settings: bool) -> anyhow::Result<()> {
        if self.no_shortlist {
            bundle.shortlist_generator = None;
            return Ok(());
        }
        let beside = bundle.settings.shortlist.clone().filter(|_| of_settings);
        if let Some((path, options)) = self.shortlist().or(beside) {
            bundle.set_shortlist(&path, options)?;
        }
        Ok(())
    }

    /// Whether a shortlist beside the model is not wanted.
    fn overrides_found(&self) -> bool {
        self.no_shortlist || !self.shortlist.is_empty()
    }

    fn shortlist(&self) -> Option<(PathBuf, ShortlistOptions)> {
        let [file, numbers @ ..] = &self.shortlist[..] else { return None };
        let default = ShortlistOptions::default();
        fn reject(text: &str) -> ! {
            exit_with_usage_error(format!("--shortlist: {text:?} is no number"))
        }
        let count = |text: Option<&String>, default| {
            text.map_or(default, |text| text.parse().unwrap_or_else(|_| reject(text)))
        };
        let threshold = numbers.get(2).map(|text| finite(text).unwrap_or_else(|_| reject(text)));
        let options = ShortlistOptions {
            first: count(numbers.first(), default.first),
            best: count(numbers.get(1), default.best),
            threshold: threshold.unwrap_or(default.threshold),
        };
        Some((file.into(), options))
    }
}
