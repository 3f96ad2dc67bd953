//! The language model of a translator, which takes part in its search: n-gram or neural.

use std::path::Path;
use std::sync::Arc;

use miriam_kernels::autotuner::Autotuner;
use miriam_lmcpu::LanguageModel;
use miriam_nmt_models::ModelBundle;

use super::settings::check_search;
use super::{LoadedModels, TranslationOptions, Translator, complete_search};
use crate::search::FusionModel;
use crate::{Error, Result};

impl Translator {
    /// Adds the scores of the language model at `path` to the search. A neural model is added by
    /// [`set_neural_language_model`](Self::set_neural_language_model). An n-gram model is opened by
    /// `open_ngrams` and added by [`set_language_model`](Self::set_language_model).
    ///
    /// # Errors
    /// Those of the methods above, and if the model cannot be opened.
    pub fn open_language_model<E: From<Error>>(
        &mut self,
        path: &Path,
        by_pieces: bool,
        tuner: &Arc<Autotuner>,
        open_ngrams: impl FnOnce() -> Result<Arc<dyn LanguageModel>, E>,
    ) -> Result<(), E> {
        if ModelBundle::is_found_at(path) {
            let lm = ModelBundle::open(path, None)?;
            Ok(self.set_neural_language_model(&lm, tuner)?)
        } else {
            Ok(self.set_language_model(open_ngrams()?, by_pieces)?)
        }
    }

    /// Adds the scores of an n-gram language model to the search, weighted by [`lm_weight`] of the
    /// options. The model is over the tokens of the target vocabulary if `by_pieces`, else over
    /// words of the output text, separated by spaces.
    ///
    /// [`lm_weight`]: super::TranslationOptions::lm_weight
    ///
    /// # Errors
    /// If the models write from right to left, or the options ask for sampling.
    pub fn set_language_model(
        &mut self,
        lm: Arc<dyn LanguageModel>,
        by_pieces: bool,
    ) -> Result<()> {
        if self.models.is_right_to_left() {
            let reason = "a model that writes from right to left does not support a language \
                          model; score its n-best lists with miriam lm rescore";
            return Err(Error::Untranslatable { reason: reason.into() });
        }
        let target = &self.models.tokenizers()[1];
        self.set_fusion_model(if by_pieces {
            FusionModel::over_pieces(lm, target.token_pieces())
        } else {
            FusionModel::over_words(lm, target.token_texts())
        })
    }

    /// Adds the scores of a neural language model to the search, as
    /// [`set_language_model`](Self::set_language_model) does for n-grams. The model computes on the
    /// devices of the translator, in the precision of its own file. `tuner` chooses its kernels.
    ///
    /// # Errors
    /// If `bundle` is not a language model or cannot be loaded, if its vocabulary or its direction
    /// differs from the translation model's, or if the options ask for sampling.
    pub fn set_neural_language_model(
        &mut self,
        bundle: &ModelBundle,
        tuner: &Arc<Autotuner>,
    ) -> Result<()> {
        let path = &bundle.path;
        if !bundle.is_language_model() {
            let reason = "it translates; a language model is needed, as miriam nmt train --type \
                          lm-transformer makes it";
            return Err(Error::unsupported(path, reason));
        }
        let mut options = TranslationOptions::for_bundle(bundle, None);
        options.devices = self.options.devices.clone();
        let lm = LoadedModels::new(bundle, &options.weights, options.placement(tuner))?;
        let [own, others] = [&self.models, &lm].map(|models| &models.tokenizers()[1].vocabulary);
        if !own.has_same_ids(others) {
            let reason = format!(
                "its vocabulary of {} pieces differs from the vocabulary of the translations ({} \
                 pieces, {}); train it with --vocabs of the translation model",
                others.len(),
                own.len(),
                own.name()
            );
            return Err(Error::mismatch(path, "vocabulary", reason));
        }
        if lm.is_right_to_left() != self.models.is_right_to_left() {
            let reason = "it reads text from the other end; it must read in the direction in \
                          which translations are written";
            return Err(Error::mismatch(path, "right-left", reason));
        }
        let eos_id = others.eos_id();
        self.set_fusion_model(FusionModel::neural(move || lm.session(), eos_id))
    }

    fn set_fusion_model(&mut self, model: FusionModel) -> Result<()> {
        self.fusion_model = Some(model);
        self.search = complete_search(
            &self.options,
            &self.always_suppressed,
            &self.models.tokenizers()[1].vocabulary,
            self.fusion_model.as_ref(),
        );
        check_search(&self.search)
    }

    /// Whether a language model takes part in the search.
    pub fn has_language_model(&self) -> bool {
        self.fusion_model.is_some()
    }
}
