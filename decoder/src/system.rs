//! A translation system ready for use: its models and the plan of a search over them;
//! immutable and shared by all threads.

use miriam_textio::Progress;

use crate::config::{Configuration, RescoringModel, SearchAlgorithm, Settings};
use crate::factors::{FactorScheme, FactorSettings};
use crate::features::{FeatureComponents, FeatureKind, FeatureSpec, LoadContext};
use crate::models::Models;
use crate::rescoring::{Rescoring, RescoringModelOpener};
use crate::search_plan::SearchPlan;
use crate::{Error, Result};

/// Everything a translator needs: models, features with weights, and settings.
///
/// # Examples
///
/// A translation under other weights:
///
/// ```
/// # use miriam_decoder::{Configuration, System, Translator};
/// # use miriam_textio::NoProgress;
/// # let folder = tempfile::tempdir()?;
/// # let ini = folder.path().join("moses.ini");
/// # std::fs::write(
/// #     folder.path().join("phrase-table"),
/// #     "das ||| the ||| 0.5\ndas haus ||| the house ||| 0.25\nhaus ||| building ||| 0.25\n",
/// # )?;
/// # std::fs::write(
/// #     &ini,
/// #     "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\nDistortion\n\
/// #      PhraseDictionaryMemory name=Table num-features=1 path=phrase-table\n\
/// #      [weight]\nUnknownWordPenalty0= 1\nDistortion0= 0.5\nTable= 1\n",
/// # )?;
/// let mut system = System::load(&Configuration::from_ini(&ini)?, &NoProgress)?;
/// let names: Vec<&str> = system.features().iter().map(|feature| &feature.name[..]).collect();
/// assert_eq!(names, ["UnknownWordPenalty0", "Distortion0", "Table"]);
/// assert_eq!(system.weights(), [1.0, 0.5, 1.0]);
///
/// system.set_weights(&[1.0, 0.5, 2.0]);
/// let translation = Translator::new(&system).translate(b"das haus")?.expect("a translation");
/// assert_eq!(translation.score, 2.0 * 0.25f32.ln());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct System {
    pub(crate) settings: Settings,
    pub(crate) models: Models,
    pub(crate) plan: SearchPlan,
    /// The models of `[rescore]`.
    pub(crate) rescoring: Option<Rescoring>,
}

impl System {
    /// Opens every model that `configuration` names.
    ///
    /// # Errors
    ///
    /// Fails if a model cannot be opened or does not fit its feature, if a word of a table lacks a
    /// factor, or if no feature translates unknown words. Also fails if there are models in
    /// `[rescore]`: only [`load_with`](System::load_with) opens these.
    pub fn load(configuration: &Configuration, progress: &dyn Progress) -> Result<Self> {
        let refuse = |_: &RescoringModel, _: &Configuration| {
            Err("System::load opens no models of [rescore]; use `miriam translate`".to_owned())
        };
        Self::load_with(configuration, &refuse, progress)
    }

    /// Works like [`System::load`], and opens the models of `[rescore]` by `open_model`.
    ///
    /// # Errors
    ///
    /// Those of [`System::load`] and of `open_model`.
    pub fn load_with(
        configuration: &Configuration,
        open_model: &RescoringModelOpener<'_>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut system = Self::load_search(configuration, progress)?;
        let is_factored = system.is_factored();
        system.rescoring =
            Rescoring::open(configuration, open_model, system.features(), is_factored)?;
        Ok(system)
    }

    /// Opens only the models of the search.
    pub(crate) fn load_search(
        configuration: &Configuration,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let settings = configuration.settings.clone();
        let mut models = Models::new(factor_scheme(configuration)?);
        let is_factored = models.factor_scheme.is_some();
        let mut context = LoadContext {
            models: &mut models,
            resolve_path: &|path| configuration.resolve_path(path),
            determines_options: &|factors| {
                !is_factored || determines_options(configuration, factors)
            },
            threads: settings.threads,
            progress,
            early_distortion: settings.early_distortion,
            has_sentence_table: settings.input_format.has_sentence_table,
        };
        let mut plan = SearchPlan::load(configuration, &mut context)?;
        models.join_vocabulary()?;
        models.warn_of_unmatched_reordering()?;
        plan.features.finish(&models, settings.exact_recombination)?;
        plan.choose_path();
        if settings.algorithm == SearchAlgorithm::Stack && plan.fast_path.is_some() {
            // Only stack decoding leaves out cells by a bound of their scores. The check whether
            // such a bound holds reads all backoffs of a model.
            for lm in &mut models.language_models {
                lm.is_bounded = lm.model.has_only_lowering_backoffs();
            }
        }
        Ok(System { settings, models, plan, rescoring: None })
    }

    /// Returns the features in the order of the ini, features of `[rescore]` last, with their
    /// components among the values of a translation.
    pub fn features(&self) -> &[FeatureComponents] {
        match &self.rescoring {
            Some(rescoring) => &rescoring.components,
            None => &self.plan.features.components,
        }
    }

    /// Returns the number of values of a translation.
    pub(crate) fn num_components(&self) -> usize {
        self.features().last().map_or(0, |last| last.range.end)
    }

    /// Whether models use other factors than the first one, or the settings change how factors are
    /// read or printed.
    pub fn is_factored(&self) -> bool {
        self.models.factor_scheme.is_some()
    }

    /// Returns search and output options.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the weights of all components, in the order of
    /// [`Derivation::values`](crate::Derivation::values). If rescored lists have weights of their
    /// own, returns these weights.
    pub fn weights(&self) -> Vec<f32> {
        self.features().iter().flat_map(|feature| feature.weights.iter().copied()).collect()
    }

    /// Gives every component a new weight, as tuning does once per iteration; `weights` has the
    /// length and the order of [`System::weights`]. Options made with the old weights are dropped.
    /// The search keeps its weights if rescored lists have weights of their own.
    ///
    /// # Panics
    ///
    /// Panics if there are more or fewer weights.
    pub fn set_weights(&mut self, weights: &[f32]) {
        let num_search = self.plan.features.num_components;
        assert_eq!(weights.len(), self.num_components(), "one weight a component");
        if !self.rescoring.as_ref().is_some_and(|rescoring| rescoring.has_own_weights) {
            self.plan.set_weights(&weights[..num_search]);
        }
        let rescoring = self.rescoring.iter_mut();
        for feature in rescoring.flat_map(|rescoring| &mut rescoring.components) {
            feature.weights.copy_from_slice(&weights[feature.range.clone()]);
        }
    }
}

/// Returns the scheme by which words are split into factors; `None` if all models use the first
/// factor only and the settings of factors are the defaults.
///
/// # Errors
/// Fails if a model needs a factor of the input that no column has.
fn factor_scheme(configuration: &Configuration) -> Result<Option<FactorScheme>> {
    let settings = &configuration.settings.input_format.factors;
    let (mut source, mut target) = (Vec::new(), Vec::new());
    // Target words may lack a factor of a reordering model: then they have no scores in it.
    let mut reordered = Vec::new();
    let mut output_is_first = true;
    let add_needed = |needed: &mut Vec<_>, factors: &[usize], feature: &FeatureSpec| {
        needed.extend(factors.iter().map(|&factor| (factor, feature.name.clone())));
    };
    for (number, feature, spec) in configuration.phrase_tables() {
        if configuration.mapping.iter().all(|step| step.table != number) {
            continue;
        }
        add_needed(&mut source, &spec.input_factors, feature);
        output_is_first &= spec.output_factors.as_deref().is_none_or(|f| f == [0]);
    }
    for (_, feature, spec, _) in configuration.reordering_tables() {
        add_needed(&mut source, &spec.input_factors, feature);
        add_needed(&mut reordered, &spec.output_factors, feature);
    }
    for feature in &configuration.features {
        match &feature.kind {
            FeatureKind::LanguageModel(spec) => add_needed(&mut target, &[spec.factor], feature),
            FeatureKind::OperationSequenceModel(spec) => {
                // A word without a surface is its own surface.
                if spec.source_factor > 0 {
                    add_needed(&mut source, &[spec.source_factor], feature);
                }
                if spec.target_factor > 0 {
                    add_needed(&mut target, &[spec.target_factor], feature);
                }
            }
            _ => {}
        }
    }
    if let Some(listed) = &settings.input
        && let Some((factor, feature)) = source.iter().find(|(factor, _)| !listed.contains(factor))
    {
        let reason = format!(
            "{feature} needs factor {factor} of the input; list the factors of all columns of the \
             input, here or with -input-factors"
        );
        return Err(Error::section(&configuration.ini, "input-factors", reason));
    }
    let plain = FactorSettings {
        output_delimiter: settings.output_delimiter.clone(),
        input: settings.input.clone().filter(|factors| *factors == [0]),
        ..FactorSettings::default()
    };
    fn only_first(needed: &[(usize, String)]) -> bool {
        needed.iter().all(|(factor, _)| *factor == 0)
    }
    let all_first = [&source, &target, &reordered].into_iter().all(|needed| only_first(needed));
    if *settings == plain && output_is_first && all_first {
        return Ok(None);
    }
    Ok(Some(FactorScheme::new(settings, source, target)))
}

/// Whether the factors `input` of a source phrase include all source factors that a model reads
/// when it scores an option. Such models are reordering models and, for their estimates, operation
/// sequence models.
fn determines_options(configuration: &Configuration, input: &[usize]) -> bool {
    configuration
        .reordering_tables()
        .all(|(_, _, spec, _)| spec.input_factors.iter().all(|factor| input.contains(factor)))
        && configuration.features.iter().all(|feature| match &feature.kind {
            FeatureKind::OperationSequenceModel(spec) => input.contains(&spec.source_factor),
            _ => true,
        })
}
