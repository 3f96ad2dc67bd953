//! Translators of `nmt translate`, loaded as its options say.

use miriam_nmt::engine::Cpu;
use miriam_nmt::search::DecodingSemantics;
use miriam_nmt::translate::{
    LineCounts, LineError, PivotTranslator, SourceText, TranslationOptions, Translator,
};
use miriam_nmt::{ModelBundle, Result};
use miriam_textio::{CancellationToken, Output, Progress};

use super::super::models::set_languages;
use super::{Arguments, SemanticsName};
use crate::commands::tuner_cache::AutotunerCache;
use crate::common::CommonOptions;

/// A translator with the size of its models for the report, and the cache that is saved at the end.
pub struct LoadedTranslator {
    translator: OneOrTwo,
    /// The memory of the parameters of all models.
    pub model_bytes: u64,
    pub tuner_cache: AutotunerCache,
}

/// The translator: one model, or two.
enum OneOrTwo {
    Single(Box<Translator>),
    Pivot(Box<PivotTranslator>),
}

impl LoadedTranslator {
    /// Translates as [`Translator::translate`] does.
    pub fn translate(
        &self,
        source: SourceText,
        low_latency: bool,
        output: Output,
        stop: &CancellationToken,
        progress: &dyn Progress,
        report_error: &mut dyn FnMut(&LineError) -> Result<()>,
    ) -> Result<LineCounts> {
        match &self.translator {
            OneOrTwo::Single(translator) => {
                translator.translate(source, low_latency, output, stop, progress, report_error)
            }
            OneOrTwo::Pivot(translator) => {
                translator.translate(source, low_latency, output, stop, progress, report_error)
            }
        }
    }
}

impl Arguments {
    /// Opens the models, and loads them for translation.
    ///
    /// # Errors
    /// If a file cannot be opened, or options do not fit the models.
    pub fn load(&self, common: &CommonOptions) -> anyhow::Result<LoadedTranslator> {
        let text = &self.text;
        let languages = self.pivot.languages(&self.models);
        let (bundle, is_via_set) = self.models.open_bundle(Some(&self.candidates), languages[0])?;
        let rules = self.search.search.map(|name| match name {
            SemanticsName::Marian => DecodingSemantics::Marian,
            SemanticsName::Ctranslate2 => DecodingSemantics::CTranslate2,
        });
        let options =
            self.override_options(TranslationOptions::for_bundle(&bundle, rules), common)?;
        let names_languages = options.input.is_tokenized || text.has_fields() || text.force_decode;
        if let Some(missing) = bundle.missing_languages().filter(|_| !names_languages) {
            anyhow::bail!(missing);
        }
        if self.verbose {
            tracing::info!("{}: {}", bundle.path.display(), bundle.format);
            for (name, value) in bundle.describe_files().into_iter().chain(options.describe()) {
                tracing::info!("{name}: {value}");
            }
            tracing::info!("instructions: {}", Cpu::describe_detected());
        }
        if let Some(warning) = bundle.segmentation_warning().filter(|_| !options.input.is_tokenized)
        {
            tracing::warn!("{warning}");
        }
        let tuner_cache = self.tuner_cache.open();
        if self.verbose {
            tracing::info!("{}", tuner_cache.describe());
        }
        let (splitter, language) =
            self.running_text.splitter(&bundle, self.models.shared.from.as_deref())?;
        if self.verbose && self.running_text.is_given() {
            tracing::info!("abbreviations of: {language}");
        }
        let mut model_bytes = bundle.parameter_bytes();
        let translator = match &self.pivot.then {
            None => {
                let mut translator = Translator::new(bundle, options, &tuner_cache.tuner)?;
                translator.set_splitter(splitter);
                self.language_model.apply(&mut translator, &tuner_cache.tuner, common)?;
                OneOrTwo::Single(Box::new(translator))
            }
            Some(path) => {
                if self.running_text.is_given() {
                    anyhow::bail!(
                        "--split and --html are not supported with --then; split the text with \
                         `miriam split`"
                    );
                }
                let mut second = ModelBundle::open(path, None)?;
                let is_via_set = set_languages(&mut second, languages[1])? || is_via_set;
                if self.pivot.via.is_some() && !is_via_set {
                    anyhow::bail!(
                        "--via: no token of these models names the language between them; leave it out"
                    );
                }
                if let Some(missing) = second.missing_languages() {
                    anyhow::bail!(missing);
                }
                model_bytes += second.parameter_bytes();
                let mut last =
                    self.override_options(TranslationOptions::for_bundle(&second, rules), common)?;
                last.input.is_tokenized = false;
                if self.verbose {
                    tracing::info!("then {}: {}", second.path.display(), second.format);
                    for (name, value) in second.describe_files().into_iter().chain(last.describe())
                    {
                        tracing::info!("then {name}: {value}");
                    }
                }
                let options = PivotTranslator::options_of_first(options, &last);
                let first = Translator::new(bundle, options, &tuner_cache.tuner)?;
                let mut second = Translator::new(second, last, &tuner_cache.tuner)?;
                self.language_model.apply(&mut second, &tuner_cache.tuner, common)?;
                OneOrTwo::Pivot(Box::new(PivotTranslator::new(first, second)))
            }
        };
        Ok(LoadedTranslator { translator, model_bytes, tuner_cache })
    }
}
