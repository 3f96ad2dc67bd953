//! Phrase-based systems whose `moses.ini` names models that score n-best lists.

use std::path::PathBuf;
use std::sync::Arc;

use miriam_combine::lists::FeatureModel;
use miriam_decoder::{
    Configuration, NeuralModelSpec, RescoringModel, RescoringModelKind, Result, System,
};
use miriam_glm::device::{DeviceChoice, open_on_device};
use miriam_nmt::ModelBundle;
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_nmt::score::{ListModel, ListOptions, ScoringDirection};
use miriam_nmt::translate::{LoadedModels, SentenceOptions, TranslationOptions, Translator};
use miriam_storage::LoadMethod;
use miriam_textio::Progress;

use crate::{NeuralFeature, NgramFeature};

/// Opens every model that `configuration` names: the models of the search, and those of
/// `[rescore]`.
///
/// # Errors
///
/// If [`System::load`] fails, or a model of `[rescore]` cannot be opened.
pub fn load_system(configuration: &Configuration, progress: &dyn Progress) -> Result<System> {
    let tuner = Arc::new(Autotuner::new(Cpu::detect()));
    let open = |model: &RescoringModel, configuration: &Configuration| -> Result<_, String> {
        let path = configuration.resolve_path(&model.path);
        if !path.exists() {
            return Err(format!(
                "{} does not exist; paths are relative to the current folder or that of the ini",
                path.display()
            ));
        }
        Ok(match &model.kind {
            RescoringModelKind::Neural(spec) => {
                Box::new(open_neural(path, spec, configuration, &tuner)?) as Box<dyn FeatureModel>
            }
            RescoringModelKind::Ngram => {
                let opened =
                    open_on_device(&path, LoadMethod::Populate, DeviceChoice::Cpu, progress);
                Box::new(NgramFeature(opened.map_err(|error| error.to_string())?))
            }
        })
    };
    System::load_with(configuration, &open, progress)
}

fn open_neural(
    path: PathBuf,
    spec: &NeuralModelSpec,
    configuration: &Configuration,
    tuner: &Arc<Autotuner>,
) -> Result<NeuralFeature, String> {
    let paths: Vec<PathBuf> =
        spec.vocabularies.iter().map(|path| configuration.resolve_path(path)).collect();
    let vocabularies = match &paths[..] {
        [] => None,
        [both] => Some([both.as_path(), both]),
        [source, target, ..] => Some([source.as_path(), target]),
    };
    let load = || -> miriam_nmt::Result<_> {
        let mut bundle = ModelBundle::open(&path, vocabularies)?;
        bundle.set_languages(spec.from.as_deref(), spec.to.as_deref())?;
        let mut options = TranslationOptions::for_bundle(&bundle, None);
        let missing = bundle.missing_languages();
        if spec.candidates == 0 {
            bundle.prepare_to_score();
            let loaded = LoadedModels::new(&bundle, &options.weights, options.placement(tuner))?;
            return Ok((missing, loaded, None));
        }
        options.search.beam_size = options.search.beam_size.max(spec.candidates);
        let wanted = SentenceOptions { n_best: spec.candidates, ..SentenceOptions::default() };
        let translator = Translator::new(bundle, options, tuner)?.for_sentences(wanted)?;
        Ok((missing, translator.models().clone(), Some(translator)))
    };
    let (missing, loaded, translator) = load().map_err(|error| error.to_string())?;
    if let Some(missing) = missing {
        return Err(format!("{missing}; in a line of [rescore], from= and to= name languages"));
    }
    let direction =
        if spec.is_reverse { ScoringDirection::Reverse } else { ScoringDirection::Forward };
    let options = ListOptions { direction, normalize: spec.normalize, ..ListOptions::default() };
    let model = ListModel::new(loaded, options, true).map_err(|error| error.to_string())?;
    Ok(NeuralFeature { model, translator })
}
