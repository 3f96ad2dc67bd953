//! Options that select models, vocabularies and shortlists, named as in Marian.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use miriam_nmt::engine::Precision;
use miriam_nmt::shortlist::ShortlistOptions;
use miriam_nmt::translate::TranslationOptions;
use miriam_nmt::{
    BundleOptions, DIALECTS, DecoderConfig, DeviceSet, LanguageStyle, ModelBundle, Segmentation,
    TokenizerPair, gpu_count,
};

use miriam_textio::{Input, is_same_file};

use super::configured_options;
use super::value_parsers::finite;
use crate::common::{check_model_folder, exit_with_usage_error};
use crate::model_kind::{ModelKind, explain_wrong_kind};

/// Options that name models with vocabularies and codes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Models")]
pub struct ModelArguments {
    /// Models: packages of OPUS-MT or Argos Translate (zipped or unpacked), folders of
    /// CTranslate2, Hugging Face or Firefox, files of Marian, Nematus or Amun, decoder
    /// configurations, files of this program; several form an ensemble
    #[arg(short, long, alias = "model", num_args = 1.., value_name = "PATH",
          required_unless_present = "config")]
    models: Vec<PathBuf>,
    /// A decoder's configuration in YAML; options given here override it. If several are given,
    /// later ones override earlier ones
    #[arg(short, long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Resolve the paths of configurations relative to their folders
    #[arg(long, hide = true)]
    relative_paths: bool,
    /// The settings of the configurations, once they have been read.
    #[arg(skip)]
    settings: OnceCell<DecoderConfig>,
    /// Weights of the models [1 each]
    #[arg(long, num_args = 1.., value_name = "W", allow_negative_numbers = true,
          value_parser = finite)]
    weights: Vec<f32>,
    #[command(flatten)]
    pub shared: SharedModelArguments,
}

/// Options that apply to models whose paths are given by other options.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Models")]
pub struct SharedModelArguments {
    /// Source and target vocabularies, or a joint one (.yml, .json, .spm, .model, or one word per
    /// line), instead of those beside the model
    #[arg(short, long, num_args = 1..=2, value_names = ["SOURCE", "TARGET"])]
    vocabs: Option<Vec<PathBuf>>,
    /// BPE codes for source and target text, or one file for both [those beside the model]
    #[arg(long, num_args = 1..=2, value_names = ["SOURCE", "TARGET"])]
    bpe_codes: Vec<PathBuf>,
    /// The language of the text, for multilingual models, in any usual spelling: de, deu_Latn,
    /// de_DE, __de__
    #[arg(long, value_name = "LANGUAGE")]
    pub from: Option<String>,
    /// The language of translations, in the same spellings, or as <2de>, >>deu<< [that of the
    /// model's files]
    #[arg(long, value_name = "LANGUAGE")]
    pub to: Option<String>,
    /// Precision of GEMM [that of the model's weights]; mixed is i16 in the
    /// encoder and i8 elsewhere; i8-alphas is i8 with the fixed scales of a browser's model, as
    /// bergamot and Firefox compute; f16 and bf16 are for GPUs; a file packed by nmt convert
    /// --precision has its own
    #[arg(long, num_args = 1..=3, value_name = "KIND", alias = "compute-type",
          value_parser = precision_or_compute_type())]
    precision: Vec<String>,
    /// Where models compute: cpu, cuda, cuda:N, several GPUs as cuda:0,1, or auto, the first GPU if
    /// it can be used. GPUs compute in f32, or as --precision f16 or bf16 says
    #[arg(long, value_name = "DEVICE", default_value = "cpu", conflicts_with = "devices")]
    device: DeviceSet,
    /// The GPUs, as Marian names them: the same as --device cuda:N,...
    #[arg(short, long, value_name = "N", num_args = 1.., hide = true)]
    devices: Vec<u32>,
    /// The version of Marian to follow where versions differ [the version that wrote the model]
    #[arg(long, value_name = "NAME", value_parser = DIALECTS.map(|(name, _)| name))]
    dialect: Option<String>,
}

/// Returns a parser for the names of `precisions`, including CTranslate2's names.
pub fn precision_names(precisions: &[Precision]) -> PossibleValuesParser {
    precisions.iter().map(precision_name).into()
}

/// Returns a parser for the names of all precisions, and for all compute types of CTranslate2.
pub fn precision_or_compute_type() -> PossibleValuesParser {
    let own = Precision::ALL.iter().map(|precision| PossibleValue::new(precision.name()));
    own.chain(Precision::compute_types().map(|name| PossibleValue::new(name).hide(true))).into()
}

fn precision_name(precision: &Precision) -> PossibleValue {
    PossibleValue::new(precision.name()).aliases(precision.ctranslate2_names())
}

/// Returns the precision that `name` selects on GPUs if `is_cuda`, otherwise on CPUs; `None` for
/// that of the model.
pub fn select_precision(name: &str, is_cuda: bool) -> anyhow::Result<Option<Precision>> {
    let selected = Precision::select(name, is_cuda);
    let selected = selected.map_err(|reason| anyhow::anyhow!("--precision: {reason}"))?;
    if let Some(warning) = selected.warning {
        tracing::warn!("--precision: {warning}");
    }
    Ok(selected.precision)
}

/// Model arguments of a command that can also run without models.
pub struct OptionalModelArguments(pub Option<ModelArguments>);

impl Args for OptionalModelArguments {
    fn augment_args(command: Command) -> Command {
        // A new argument replaces `models`, because the old one's condition cannot be removed.
        ModelArguments::augment_args(command).mut_arg("models", |needed| {
            let help = needed.get_help().cloned().unwrap_or_default();
            let models = Arg::new("models").short('m').long("models").num_args(1..);
            models
                .value_name("PATH")
                .value_parser(clap::value_parser!(PathBuf))
                .action(ArgAction::Append)
                .help_heading("Models")
                .help(help)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OptionalModelArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let models = ModelArguments::from_arg_matches(matches)?;
        let is_given = !models.models.is_empty() || !models.config.is_empty();
        Ok(OptionalModelArguments(is_given.then_some(models)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Options of the shortlist, for translation only.
#[derive(Args)]
#[command(next_help_heading = "Models")]
pub struct DecoderShortlistArguments {
    /// A shortlist, then the numbers of frequent words and of translations per word, and the least
    /// probability [100 100 0]
    #[arg(long, num_args = 1..=4, value_names = ["FILE", "FIRST", "BEST", "THRESHOLD"])]
    shortlist: Vec<String>,
    /// Ignore a shortlist or vocabulary map beside the model
    #[arg(long, conflicts_with = "shortlist")]
    no_shortlist: bool,
}

/// Warns of a SentencePiece model with more pieces than a model's table has rows. Marian's training
/// can cut a vocabulary (`--dim-vocabs`), so it is not an error, but it is rarely intended.
fn warn_of_superfluous_pieces(bundle: &ModelBundle) {
    let Some(TokenizerPair { vocabularies, segmentation, .. }) = &bundle.tokenizers else { return };
    for (vocabulary, segmentation) in vocabularies.iter().zip(segmentation) {
        if let Segmentation::SentencePiece(pieces) = segmentation
            && pieces.name == vocabulary.name()
            && pieces.model.len() > vocabulary.len()
        {
            tracing::warn!(
                "{}: the vocabulary has {} pieces, the model's table has {} rows; is this the vocabulary of the model?",
                pieces.name,
                pieces.model.len(),
                vocabulary.len()
            );
            if vocabularies[0].name() == vocabularies[1].name() {
                return;
            }
        }
    }
}

impl SharedModelArguments {
    /// Returns the same options for a model of the other direction.
    pub fn reversed(mut self) -> Self {
        self.vocabs.iter_mut().for_each(|pair| pair.reverse());
        self.bpe_codes.reverse();
        std::mem::swap(&mut self.from, &mut self.to);
        self
    }
}

impl ModelArguments {
    /// Returns the options of one model.
    pub fn for_model(path: &Path, shared: SharedModelArguments) -> Self {
        ModelArguments {
            models: vec![path.to_owned()],
            config: Vec::new(),
            relative_paths: false,
            settings: OnceCell::new(),
            weights: Vec::new(),
            shared,
        }
    }

    /// Returns the languages of text and translations.
    pub fn languages(&self) -> NamedLanguages<'_> {
        let (from, to) = (self.shared.from.as_deref(), self.shared.to.as_deref());
        NamedLanguages { from, to, via: None }
    }

    /// Returns the settings of the configurations, if there are any.
    pub fn settings(&self) -> anyhow::Result<Option<&DecoderConfig>> {
        if !self.config.is_empty() && self.settings.get().is_none() {
            // A pipe can be read only once.
            let settings = configured_options::open_all(&self.config, self.relative_paths)?;
            let _ = self.settings.set(settings);
        }
        Ok(self.settings.get())
    }

    /// Checks that no output replaces a file of the models, of their configurations, or of the
    /// vocabularies and codes that are given with them.
    ///
    /// # Errors
    /// If an output would replace such a file, or a file cannot be read.
    pub fn check_outputs<'p>(
        &self,
        outputs: impl IntoIterator<Item = &'p Path> + Clone,
    ) -> anyhow::Result<()> {
        let settings = self.settings()?;
        let named =
            settings.iter().flat_map(|found| found.models.iter().chain(&found.vocabularies));
        let given = self.shared.vocabs.iter().flatten().chain(&self.shared.bpe_codes);
        for path in self.models.iter().chain(given).chain(&self.config).chain(named) {
            // Files that are not named are found beside a named file.
            let folder = if path.is_dir() { Some(&**path) } else { path.parent() };
            let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
            check_model_folder(folder.unwrap_or(Path::new(".")), outputs.clone())?;
            for output in outputs.clone() {
                if path.is_file() && is_same_file(path, output) {
                    Input::check_access(path, Some(output))?;
                }
            }
        }
        Ok(())
    }

    /// Returns the names of the configurations for messages, separated by commas.
    fn config_names(&self) -> String {
        let names = self.config.iter().map(|path| path.display().to_string());
        names.collect::<Vec<String>>().join(", ")
    }

    /// Opens the models, and the shortlist too if `lists` is given; only the command for
    /// translation gives it. Also returns whether the pivot language was set.
    pub fn open_bundle(
        &self,
        lists: Option<&DecoderShortlistArguments>,
        languages: NamedLanguages,
    ) -> anyhow::Result<(ModelBundle, bool)> {
        let settings = self.settings()?;
        if lists.is_some() && settings.is_some_and(|settings| settings.is_for_scoring) {
            anyhow::bail!(
                "{}: `model` and `train-sets` are keys of a scorer's configuration; give a \
                 decoder's configuration, which has the key `models`",
                self.config_names()
            );
        }
        let given = settings.map_or(&[][..], |settings| &settings.vocabularies);
        let options = BundleOptions {
            vocabularies: vocabulary_pair(self.shared.vocabs.as_deref().unwrap_or(given)),
            without_shortlist: lists.is_none_or(DecoderShortlistArguments::overrides_found),
        };
        let mut bundle = match (&self.models[..], settings, self.config.last()) {
            ([], Some(settings), Some(config)) => {
                ModelBundle::open_config(settings.clone(), config, &options)
                    .map_err(|e| explain_wrong_kind(e, config, ModelKind::NeuralModel))?
            }
            (models, ..) => {
                let opened = ModelBundle::open_ensemble(models, &options).map_err(|error| {
                    match models.iter().find(|path| {
                        ModelKind::of(path).is_some_and(|kind| kind != ModelKind::NeuralModel)
                    }) {
                        Some(path) => explain_wrong_kind(error, path, ModelKind::NeuralModel),
                        None => error.into(),
                    }
                });
                let mut bundle = opened?;
                if let Some(settings) = settings {
                    bundle.settings = settings.clone().or(std::mem::take(&mut bundle.settings));
                }
                bundle
            }
        };
        warn_of_superfluous_pieces(&bundle);
        let names = self.config_names();
        let file = if names.is_empty() { &*bundle.path } else { Path::new(&names) };
        warn_of_keys_without_effect(&bundle, file);
        set_bpe_codes(&mut bundle, &self.shared.bpe_codes)?;
        if let Some(lists) = lists {
            lists.apply(&mut bundle, !self.models.is_empty())?;
        }
        if let Some((_, dialect)) =
            DIALECTS.iter().find(|(name, _)| Some(*name) == self.shared.dialect.as_deref())
        {
            bundle.set_dialect(*dialect);
        }
        let is_via_set = set_languages(&mut bundle, languages)?;
        if !self.weights.is_empty() {
            bundle.settings.weights = self.weights.clone();
        }
        Ok((bundle, is_via_set))
    }

    /// Returns the languages and the dialect that are set, by the names of their options.
    pub fn describe_choices(&self) -> BTreeMap<String, String> {
        let choices = [
            ("from", &self.shared.from),
            ("to", &self.shared.to),
            ("dialect", &self.shared.dialect),
        ];
        let given = choices.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        given.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Sets where and how models compute. Marian's option for GPUs has no effect on a machine
    /// without GPUs, because command lines are copied from machines that have some.
    pub fn place(&self, options: &mut TranslationOptions) -> anyhow::Result<()> {
        let mut devices = self.shared.device.clone();
        if devices == DeviceSet::Auto && self.asks_for_integers() {
            devices = DeviceSet::Cpu;
        }
        if !self.shared.devices.is_empty() {
            match DeviceSet::from_numbers(self.shared.devices.clone()) {
                Ok(_) if gpu_count() == 0 => {
                    tracing::warn!(
                        "without effect here: --devices; there is no GPU, models run on the CPU"
                    );
                }
                Ok(set) => devices = set,
                Err(reason) => exit_with_usage_error(format!("--devices: {reason}")),
            }
        }
        options.set_devices(devices)?;
        options.precision = self.precision(options.devices.is_cuda())?.unwrap_or(options.precision);
        Ok(())
    }

    /// Whether a precision is given that only CPUs compute in.
    fn asks_for_integers(&self) -> bool {
        let mut named = self.shared.precision.iter().filter(|name| *name != "auto");
        named.any(|name| {
            let on_cpus = Precision::select(name, false).ok().and_then(|found| found.precision);
            on_cpus.is_some_and(Precision::is_integer)
        })
    }

    /// Returns the precision of GEMM on GPUs if `is_cuda`, otherwise on CPUs, if it is set.
    ///
    /// # Errors
    /// If the device does not have it.
    fn precision(&self, is_cuda: bool) -> anyhow::Result<Option<Precision>> {
        let names = &self.shared.precision;
        // Marian also names the precision of parameters, which is the same here.
        if names.windows(2).any(|pair| pair[0] != pair[1]) {
            exit_with_usage_error(format!(
                "--precision {}: expected one precision",
                names.join(" ")
            ));
        }
        names.first().map_or(Ok(None), |name| select_precision(name, is_cuda))
    }
}

/// The languages that are given for a model.
#[derive(Clone, Copy)]
pub struct NamedLanguages<'a> {
    pub from: Option<&'a str>,
    pub to: Option<&'a str>,
    /// The pivot language between two models.
    pub via: Option<Via<'a>>,
}

/// The pivot language between two models: `To` for the first model, which translates into it,
/// `From` for the second model, which translates from it.
#[derive(Clone, Copy)]
pub enum Via<'a> {
    To(&'a str),
    From(&'a str),
}

/// Sets the languages of a model. Returns whether the pivot language was set. A bilingual model
/// takes no pivot language; some multilingual models take it only as the target language.
pub fn set_languages(bundle: &mut ModelBundle, languages: NamedLanguages) -> anyhow::Result<bool> {
    let NamedLanguages { from, to, via } = languages;
    let style = via.and_then(|_| bundle.languages()).map(|all| all.style);
    let (from, to, is_set) = match (via, style) {
        (Some(Via::To(name)), Some(_)) => (from, Some(name), true),
        (Some(Via::From(name)), Some(LanguageStyle::BothSides)) => (Some(name), to, true),
        _ => (from, to, false),
    };
    bundle.set_languages(from, to)?;
    Ok(is_set)
}

/// Warns once of keys without effect in the decoder's configuration `file`.
pub fn warn_of_keys_without_effect(bundle: &ModelBundle, file: &Path) {
    if let Some(warning) = bundle.settings_warning() {
        tracing::warn!("{}: {warning}", file.display());
    }
}

/// Returns the source and target vocabularies, from one file or from two.
pub fn vocabulary_pair(paths: &[PathBuf]) -> Option<[&Path; 2]> {
    match paths {
        [source, target] => Some([source, target]),
        [both] => Some([both; 2]),
        _ => None,
    }
}

/// Sets the BPE codes of both sides, from one file or from two.
pub fn set_bpe_codes(bundle: &mut ModelBundle, codes: &[PathBuf]) -> anyhow::Result<()> {
    match codes {
        [] => {}
        [both] => bundle.set_bpe_codes([both, both])?,
        [source, target, ..] => bundle.set_bpe_codes([source, target])?,
    }
    Ok(())
}

impl DecoderShortlistArguments {
    /// Sets the shortlist of `bundle` that the options name. With `from_settings`, the default is
    /// the shortlist of the configuration, for bundles that were not opened by this configuration.
    fn apply(&self, bundle: &mut ModelBundle, from_settings: bool) -> anyhow::Result<()> {
        if self.no_shortlist {
            bundle.shortlist_generator = None;
            return Ok(());
        }
        let configured = bundle.settings.shortlist.clone().filter(|_| from_settings);
        if let Some((path, options)) = self.shortlist().or(configured) {
            bundle.set_shortlist(&path, options)?;
        }
        Ok(())
    }

    /// Whether to ignore a shortlist beside the model.
    fn overrides_found(&self) -> bool {
        self.no_shortlist || !self.shortlist.is_empty()
    }

    fn shortlist(&self) -> Option<(PathBuf, ShortlistOptions)> {
        let [file, numbers @ ..] = &self.shortlist[..] else { return None };
        let options = ShortlistOptions::parse(numbers)
            .unwrap_or_else(|reason| exit_with_usage_error(format!("--shortlist: {reason}")));
        Some((file.into(), options))
    }
}

/// Warns of vocabularies with words that are not UTF-8, which only match text in the same encoding.
pub fn warn_of_other_encodings(bundle: &ModelBundle) {
    let vocabularies = bundle.tokenizers.iter().flat_map(|pair| &pair.vocabularies);
    let mut known = BTreeSet::new();
    for vocabulary in vocabularies.filter(|vocabulary| known.insert(vocabulary.name().to_owned())) {
        let count = vocabulary.count_non_utf8();
        if count > 0 {
            tracing::warn!(
                "{}: {count} words are not UTF-8; they are kept as bytes, and only text in the \
                 same encoding has them",
                vocabulary.name()
            );
        }
    }
}
