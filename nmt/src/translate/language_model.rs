//! The n-gram language model of a translator, which takes part in its search.

use std::sync::Arc;

use miriam_lmcpu::LanguageModel;

use super::settings::check_search;
use super::{Translator, complete_search};
use crate::search::FusionModel;
use crate::{Error, Result};

impl Translator {
    /// Adds the scores of a language model to the search, weighted by [`lm_weight`] of the options.
    /// The model is over the tokens of the target vocabulary if `by_pieces`, else over words of the
    /// output text, separated by spaces.
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
            let reason = "a model that writes from right to left takes no language model; score its \
                          n-best lists with miriam lm rescore";
            return Err(Error::Untranslatable { reason: reason.into() });
        }
        let target = &self.models.tokenizers()[1];
        let model = if by_pieces {
            FusionModel::over_pieces(lm, target.token_pieces())
        } else {
            FusionModel::over_words(lm, target.token_texts())
        };
        self.fusion_model = Some(model);
        self.search = complete_search(
            &self.options,
            &self.always_suppressed,
            &target.vocabulary,
            self.fusion_model.as_ref(),
        );
        check_search(&self.search)
    }

    /// Whether a language model takes part in the search.
    pub fn has_language_model(&self) -> bool {
        self.fusion_model.is_some()
    }
}
