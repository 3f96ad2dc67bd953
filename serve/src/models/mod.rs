//! Models that the server opens. Each model that translates has a queue in the engine, and is
//! tested with one line.

mod fingerprint;
pub mod languages;
mod lm;
mod model_keys;
mod model_languages;
mod neural;
mod phrase;
mod registry;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use miriam_decoder::{Configuration as PhraseConfiguration, OutputStream, System, XmlInputMode};
use miriam_nmt::engine::{Autotuner, Precision};
use miriam_nmt::search::{DecodingSemantics, SearchOptions};
use miriam_nmt::translate::{DecodingSettings, TranslationOptions, Translator};
use miriam_nmt::{BundleOptions, DeviceSet, LanguagePairTokens, ModelBundle};
use miriam_rescoring::load_system;
use miriam_storage::{Container, LoadMethod};
use miriam_textio::NoProgress;
use miriam_textproc::{NonbreakingPrefixes, TextProcessorConfig};

pub use lm::LanguageModel;
pub use registry::{Registry, Route};

use crate::config::{ModelConfiguration, ModelKind, MosesSystem, ShortlistSetting};
use crate::engine::{
    Backend, Engine, ModelQueue, Pending, RequestOptions, SearchWidth, Sentence, SentenceResult,
};
use crate::metrics::Metrics;
use crate::refusal::Refusal;
use crate::{Error, Result};
use fingerprint::Fingerprint;
use model_keys::{check_keys, name_keys};
use model_languages::ModelLanguages;
use neural::NeuralModel;
use phrase::PhraseModel;

/// A model that is open.
pub struct Model {
    /// The configuration from which the model was opened.
    pub configuration: ModelConfiguration,
    /// A number that grows by one with every model that the server opens, from 1.
    pub generation: u64,
    /// The model itself, by its kind.
    pub kind: ModelKind,
    /// The beam size of a neural model, unless it samples.
    pub beam_size: Option<usize>,
    /// Facts about the model, for clients that ask for them.
    pub facts: Vec<(&'static str, String)>,
    /// Settings of a phrase-based system that matter to Moses' protocol. Some may be repeated but
    /// not changed by a call, the others add something to every response.
    pub moses_settings: Vec<(&'static str, String)>,
    pub(crate) files: Fingerprint,
    engine: Arc<Engine>,
    served: Served,
    /// For a neural model, its translator, which counts tokens.
    pub(crate) translator: Option<Arc<Translator>>,
    /// For a neural model, its languages.
    languages: Option<ModelLanguages>,
    /// The model's list of nonbreaking prefixes, which replaces the list of the language.
    pub(crate) prefixes: Option<NonbreakingPrefixes>,
}

/// How a model computes results.
enum Served {
    /// From sentences in a queue.
    Sentences(Arc<ModelQueue>),
    /// In direct calls.
    Calls(Arc<LanguageModel>),
}

/// The resources that models need when they are opened.
pub struct Opener {
    /// The engine whose threads run the searches.
    pub engine: Arc<Engine>,
    /// The measurements of the models.
    pub metrics: Arc<Metrics>,
    /// The tuner that chooses kernels for neural models.
    pub tuner: Arc<Autotuner>,
}

impl Opener {
    /// Opens a model, and translates a line with it unless it is a language model.
    ///
    /// # Errors
    /// If a file is missing or damaged, an option does not fit it, or it cannot translate.
    pub fn open(&self, configuration: &ModelConfiguration, generation: u64) -> Result<Model> {
        let kind = configuration.actual_kind();
        check_keys(configuration, kind)?;
        let mut model = match kind {
            ModelKind::Lm => self.open_lm(configuration)?,
            ModelKind::Phrase => self.open_phrase(configuration)?,
            ModelKind::Neural => self.open_neural(configuration)?,
        };
        model.generation = generation;
        model.probe()?;
        Ok(model)
    }

    /// Creates a model with the properties of all kinds; the others are left empty.
    fn create_model(
        &self,
        configuration: &ModelConfiguration,
        kind: ModelKind,
        served: Served,
        files: Fingerprint,
        facts: Vec<(&'static str, String)>,
    ) -> Model {
        Model {
            configuration: configuration.clone(),
            generation: 0,
            kind,
            beam_size: None,
            facts,
            moses_settings: Vec::new(),
            files,
            engine: Arc::clone(&self.engine),
            served,
            translator: None,
            languages: None,
            prefixes: None,
        }
    }

    /// Starts the queue of a model that translates.
    fn start(&self, configuration: &ModelConfiguration, backend: impl Backend) -> Result<Served> {
        let metrics = self.metrics.model(&configuration.name);
        let queue = self.engine.start(&configuration.name, Arc::new(backend), &metrics);
        let queue = queue.map_err(|error| Error::model(&configuration.name, error))?;
        Ok(Served::Sentences(queue))
    }

    fn open_neural(&self, configuration: &ModelConfiguration) -> Result<Model> {
        let is_marian_server = configuration.marian_server.is_some();
        let wrong = |reason: String| {
            let reason = if is_marian_server { reason } else { name_keys(&reason) };
            Error::model(&configuration.name, reason)
        };
        let vocabularies = match &configuration.vocabs[..] {
            [] => None,
            [both] => Some([both.as_path(); 2]),
            [source, target] => Some([source.as_path(), target.as_path()]),
            _ => return Err(wrong("give one vocabulary or two, source and target".into())),
        };
        let shortlist = configuration.shortlist.as_ref();
        let options = BundleOptions { vocabularies, without_shortlist: shortlist.is_some() };
        let opened = match &configuration.marian_server {
            Some(models) => models.open(&options),
            None => ModelBundle::open_with(&configuration.path, &options),
        };
        let mut bundle = opened.map_err(|error| wrong(error.to_string()))?;
        if let Some((file, options)) =
            shortlist.map(ShortlistSetting::parse).transpose().map_err(wrong)?.flatten()
        {
            bundle.set_shortlist(&file, options).map_err(|error| wrong(error.to_string()))?;
        }
        let semantics = match configuration.search.as_deref() {
            None => None,
            Some("marian") => Some(DecodingSemantics::Marian),
            Some("ctranslate2") => Some(DecodingSemantics::CTranslate2),
            Some(other) => {
                return Err(wrong(format!("search {other:?}: give marian or ctranslate2")));
            }
        };
        let mut options = TranslationOptions::for_bundle(&bundle, semantics);
        configuration.decoding.apply(&mut options);
        if let Some(name) = &configuration.device {
            let devices = name.parse::<DeviceSet>();
            let devices =
                devices.map_err(|expected| wrong(format!("device {name:?}: {expected}")))?;
            options.set_devices(devices).map_err(|error| wrong(error.to_string()))?;
        }
        options.mini_batch = configuration.mini_batch.unwrap_or(options.mini_batch).max(1);
        if let Some(name) = &configuration.precision {
            let selected = Precision::select(name, options.devices.is_cuda());
            let selected = selected.map_err(|reason| wrong(format!("precision: {reason}")))?;
            if let Some(warning) = selected.warning {
                tracing::warn!("{}: precision: {warning}", configuration.name);
            }
            options.precision = selected.precision.unwrap_or(options.precision);
        }
        let segmentation = bundle.segmentation_warning().filter(|_| !options.input.is_tokenized);
        for warning in segmentation.into_iter().chain(bundle.settings_warning()) {
            tracing::warn!("{}: {warning}", configuration.name);
        }
        let mut facts: Vec<(&'static str, String)> =
            std::iter::once(("format", bundle.format.clone()))
                .chain(options.describe())
                .filter(|(name, _)| *name != "cpu-threads")
                .collect();
        let files = bundle.source_files();
        let marian_server = configuration.marian_server.iter();
        let files = files.chain(marian_server.flat_map(|named| named.configurations.clone()));
        let prefix_file = configuration.nonbreaking_prefixes.as_deref();
        let prefixes = read_prefixes(configuration, prefix_file)?;
        let files = files.chain(prefix_file.map(Path::to_owned)).chain(configuration.lm.clone());
        let files = Fingerprint::of(files.collect::<Vec<PathBuf>>().into_iter());
        let beam_size = options.search.sampling.is_none().then_some(options.search.beam_size);
        let mut translator = Translator::new(bundle, options, &self.tuner)
            .map_err(|error| wrong(error.to_string()))?;
        add_language_model(&mut translator, configuration, &self.tuner).map_err(wrong)?;
        let translator = Arc::new(translator);
        let languages = ModelLanguages::new(configuration, &translator).map_err(wrong)?;
        facts.push(("languages", languages.describe(configuration)));
        // Language tokens count towards the length of a sentence.
        let counter = translator.for_languages(languages.first_pair_tokens());
        let counter = Arc::new(counter.map_err(|error| wrong(error.to_string()))?);
        let prefix = configuration.prefix_token.as_deref();
        let served = self.start(configuration, NeuralModel::new(translator, prefix))?;
        let mut model = self.create_model(configuration, ModelKind::Neural, served, files, facts);
        model.beam_size = beam_size;
        model.translator = Some(counter);
        model.languages = Some(languages);
        model.prefixes = prefixes;
        Ok(model)
    }

    fn open_phrase(&self, configuration: &ModelConfiguration) -> Result<Model> {
        let wrong = |reason: String| Error::model(&configuration.name, reason);
        let threads = self.engine.threads();
        let ini = if configuration.path.is_dir() {
            configuration.path.join("moses.ini")
        } else {
            configuration.path.clone()
        };
        let options = ["-threads".to_owned(), threads.to_string()];
        let options: Vec<String> =
            options.into_iter().chain(configuration.options.clone()).collect();
        let mut found = match configuration.moses_system.as_ref().and_then(MosesSystem::take) {
            Some(found) => found,
            None => PhraseConfiguration::from_ini_and_options(&ini, &options)
                .map_err(|error| wrong(error.to_string()))?,
        };
        found.settings.threads = threads;
        let settings = &found.settings;
        let is_output = |(stream, path): &(OutputStream, PathBuf)| {
            *stream != OutputStream::Best || path.as_os_str() != "-"
        };
        let no_effect = [
            (settings.print_score, "output-hypo-score"),
            (settings.output.print_id, "print-id"),
            (settings.output.print_score_breakdown, "report-segmentation-enriched"),
            (settings.input.as_os_str() != "-", "input-file"),
            (settings.outputs.iter().any(is_output), "outputs"),
            (!settings.cpus.is_empty(), "cpus"),
        ];
        for (_, option) in no_effect.iter().filter(|(is_set, _)| *is_set) {
            tracing::warn!("{}: {option}: without effect in a server", configuration.name);
        }
        let preparation = TextProcessorConfig::path_beside(&ini);
        let wanted = configuration.raw.unwrap_or_else(|| preparation.exists());
        let mut prefix_file = configuration.nonbreaking_prefixes.clone();
        let mut preparation_files = vec![preparation.clone()];
        let steps = if wanted {
            let mut config = TextProcessorConfig::read(&preparation)
                .map_err(|error| wrong(error.to_string()))?;
            if let Some(list) = &configuration.nonbreaking_prefixes {
                config.nonbreaking_prefixes = Some(list.clone());
            }
            prefix_file = config.nonbreaking_prefixes.clone().or(prefix_file);
            preparation_files.extend(config.files_mut().map(|file| file.clone()));
            Some(config.build().map_err(|error| wrong(error.to_string()))?)
        } else {
            None
        };
        let prefixes = read_prefixes(configuration, prefix_file.as_deref())?;
        let files = found.model_files().chain([ini.clone()]).chain(preparation_files);
        let files = files.chain(prefix_file);
        let files = Fingerprint::of(files.collect::<Vec<PathBuf>>().into_iter());
        let system = load_system(&found, &NoProgress).map_err(|error| wrong(error.to_string()))?;
        let features: Vec<&str> =
            system.features().iter().map(|feature| &feature.name[..]).collect();
        let settings = system.settings();
        let facts = vec![
            ("search", format!("{:?}", settings.algorithm)),
            ("stack", settings.stack_size.to_string()),
            ("pop-limit", settings.pop_limit.to_string()),
            ("features", features.join(" ")),
            ("prepares-text", steps.is_some().to_string()),
        ];
        let moses_settings = moses_settings(&system);
        let served = self.start(configuration, PhraseModel::new(system, steps))?;
        let mut model = self.create_model(configuration, ModelKind::Phrase, served, files, facts);
        model.moses_settings = moses_settings;
        model.prefixes = prefixes;
        Ok(model)
    }

    fn open_lm(&self, configuration: &ModelConfiguration) -> Result<Model> {
        let arpa = configuration.arpa_options();
        let arpa = arpa.map_err(|reason| Error::model(&configuration.name, reason))?;
        let model = LanguageModel::open(&configuration.path, arpa)?;
        let facts = vec![("order", model.order().to_string())];
        let files = Fingerprint::of(std::iter::once(configuration.path.clone()));
        let served = Served::Calls(Arc::new(model));
        Ok(self.create_model(configuration, ModelKind::Lm, served, files, facts))
    }
}

/// Opens the language model that a configuration names, for the searches of `translator`.
fn add_language_model(
    translator: &mut Translator,
    configuration: &ModelConfiguration,
    tuner: &Arc<Autotuner>,
) -> Result<(), String> {
    let Some(path) = &configuration.lm else {
        let needs_lm = [
            (configuration.lm_pieces.is_some(), "lm-pieces"),
            (configuration.decoding.lm_weight.is_some(), "lm-weight"),
        ];
        return match needs_lm.iter().find(|(is_given, _)| *is_given) {
            None => Ok(()),
            Some((_, key)) => Err(format!("{key} has no effect without lm, the language model")),
        };
    };
    let by_pieces = configuration.lm_pieces == Some(true);
    let opened = translator.open_language_model(path, by_pieces, tuner, || {
        let lm = miriam_glm::open_as_kenlm(path, LoadMethod::Lazy, &NoProgress);
        lm.map_err(Box::<dyn std::error::Error>::from)
    });
    opened.map_err(|error| error.to_string())
}

/// Reads the list of nonbreaking prefixes of a model, if it has one.
fn read_prefixes(
    configuration: &ModelConfiguration,
    file: Option<&Path>,
) -> Result<Option<NonbreakingPrefixes>> {
    let prefixes = file.map(NonbreakingPrefixes::read).transpose();
    prefixes.map_err(|error| Error::model(&configuration.name, error.to_string()))
}

/// The setting of a system that adds phrases to every response.
pub const REPORT_SEGMENTATION: &str = "report-segmentation";
/// The setting of a system that adds word alignment to every response.
pub const PRINT_ALIGNMENT: &str = "print-alignment-info";

/// Returns the settings of a system by Moses' names. Settings of factors are included only if words
/// have several factors.
fn moses_settings(system: &System) -> Vec<(&'static str, String)> {
    let settings = system.settings();
    let markup = match settings.input_format.markup {
        XmlInputMode::PassThrough => "pass-through",
        XmlInputMode::Ignore => "ignore",
        XmlInputMode::Inclusive => "inclusive",
        XmlInputMode::Exclusive => "exclusive",
        XmlInputMode::Constraint => "constraint",
    };
    let mut all = vec![
        ("xml-input", markup.to_owned()),
        ("max-phrase-length", settings.max_phrase_length.to_string()),
        ("cube-pruning-diversity", u8::from(settings.diversity).to_string()),
        ("cube-pruning-lazy-scoring", settings.lazy_scoring.to_string()),
        (REPORT_SEGMENTATION, settings.print_segmentation.to_string()),
        (PRINT_ALIGNMENT, settings.output.print_alignment.to_string()),
    ];
    if system.is_factored() {
        let factors = &settings.input_format.factors;
        let output: Vec<String> = factors.output.iter().map(usize::to_string).collect();
        // Moses' name for no delimiter.
        let delimiter = if factors.delimiter.is_empty() { "none" } else { &factors.delimiter };
        all.extend([
            ("report-all-factors", factors.report_all_factors.to_string()),
            ("output-factors", output.join(",")),
            ("factor-delimiter", delimiter.to_owned()),
            ("output-factor-delimiter", factors.output_delimiter.clone()),
        ]);
    }
    all
}

impl Model {
    /// Returns the name of the model.
    pub fn name(&self) -> &str {
        &self.configuration.name
    }

    /// Whether a setting of Moses is true.
    pub fn has_moses_setting(&self, name: &str) -> bool {
        self.moses_settings.iter().any(|(known, value)| *known == name && value == "true")
    }

    /// Returns the language model, if it is one.
    pub fn language_model(&self) -> Option<&Arc<LanguageModel>> {
        match &self.served {
            Served::Calls(model) => Some(model),
            Served::Sentences(_) => None,
        }
    }

    /// Whether it translates.
    pub fn translates(&self) -> bool {
        matches!(self.served, Served::Sentences(_))
    }

    /// Returns the most tokens of a sentence of running text and the translator that counts them,
    /// if longer sentences must be cut.
    pub(crate) fn sentence_limit(&self) -> Option<(usize, &Translator)> {
        let translator = self.translator.as_deref()?;
        Some((translator.max_running_tokens()?, translator))
    }

    /// Returns the language tokens of a request, empty for a model that needs none.
    ///
    /// # Errors
    /// If a language must be named and is not.
    pub(crate) fn language_pair_tokens(
        &self,
        from: Option<&str>,
        to: Option<&str>,
        sentences: &[Sentence],
    ) -> Result<LanguagePairTokens, String> {
        let Some(languages) = &self.languages else { return Ok(LanguagePairTokens::default()) };
        languages
            .pair_tokens(from, to, sentences)
            .map_err(|reason| format!("{}: {reason}", self.name()))
    }

    /// Returns the model's codes for the source and target language of a request; `None` for a
    /// language that the model does not need, or that the request does not determine.
    pub(crate) fn language_codes(&self, from: Option<&str>, to: Option<&str>) -> [Option<&str>; 2] {
        self.languages.as_ref().map_or([None; 2], |languages| languages.codes(from, to))
    }

    /// Whether `configuration` would open the same model now.
    pub fn is_current(&self, configuration: &ModelConfiguration) -> bool {
        self.configuration == *configuration && self.files.is_current()
    }

    /// Checks the checksums and weights of files in this project's format, which are only mapped
    /// when a model is opened.
    ///
    /// # Errors
    /// If one is damaged.
    pub fn verify_files(&self) -> Result<()> {
        fn verify(path: &Path) -> Result<(), miriam_nmt::Error> {
            let container = Container::open_any(path, LoadMethod::Lazy)?;
            container.verify()?;
            if container.kind() == miriam_nmt::KIND {
                miriam_nmt::verify(&container)?;
            }
            Ok(())
        }
        let files = self.files.paths().filter(|path| Container::is_container(path));
        { files }.try_for_each(verify).map_err(|e| Error::model(self.name(), e.to_string()))
    }

    /// Puts sentences into the queue of the model.
    ///
    /// # Errors
    /// If too much is queued.
    ///
    /// # Panics
    /// If the model does not translate.
    pub fn submit(
        &self,
        sentences: Vec<Sentence>,
        request_options: RequestOptions,
        deadline: Instant,
    ) -> Result<Pending, Refusal> {
        let Served::Sentences(queue) = &self.served else {
            panic!("a language model does not translate")
        };
        let request_options = match self.kind {
            // Options without effect must not form a separate class.
            ModelKind::Neural => RequestOptions {
                raw: false,
                distinct: false,
                graph: false,
                translation_options: false,
                width: SearchWidth::default(),
                n_best: request_options.n_best.max(1),
                ..request_options
            },
            _ => RequestOptions {
                settings: DecodingSettings::default(),
                languages: LanguagePairTokens::default(),
                scores: false,
                alignment: false,
                ..request_options
            },
        };
        self.engine.submit(queue, sentences, request_options, deadline)
    }

    /// Returns the options of a neural model's search with other settings.
    pub fn search_with(&self, settings: &DecodingSettings) -> Option<SearchOptions> {
        self.translator.as_ref().map(|translator| translator.search_with(settings))
    }

    /// Returns `n_best`, or the longest list that the model gives if that is shorter.
    pub fn limit_n_best(&self, n_best: usize) -> usize {
        let search = self.search_with(&DecodingSettings::default());
        search.and_then(|search| search.n_best_limit()).map_or(n_best, |limit| n_best.min(limit))
    }

    /// Checks that the model can translate, with one line.
    fn probe(&self) -> Result<()> {
        let wrong = |reason: String| Error::model(self.name(), reason);
        let sentence = Sentence { text: b"a".to_vec(), ..Default::default() };
        let deadline = Instant::now() + Duration::from_secs(60);
        let Served::Sentences(queue) = &self.served else { return Ok(()) };
        let languages = self.languages.as_ref().map(ModelLanguages::first_pair_tokens);
        let options =
            RequestOptions { languages: languages.unwrap_or_default(), ..Default::default() };
        let pending = self.engine.submit(queue, vec![sentence], options, deadline);
        let pending = pending.map_err(|_| wrong("the queue is full".into()))?;
        match pending.blocking_reply().outcome {
            // A phrase-based model may reject unknown words.
            Ok(results) if self.kind != ModelKind::Phrase => {
                let error = results.iter().find_map(SentenceResult::fatal_error);
                error.map_or(Ok(()), |error| Err(wrong(error.reason.clone())))
            }
            Ok(_) => Ok(()),
            Err(failure) => {
                let reason = Refusal::from(failure).detail();
                Err(wrong(format!("it cannot translate a line: {reason}")))
            }
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        if let Served::Sentences(queue) = &self.served {
            queue.close();
        }
    }
}

#[cfg(test)]
mod tests;
