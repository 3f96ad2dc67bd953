//! The keywords that give a translator a language model.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use miriam_nmt::engine::Autotuner;
use miriam_nmt::translate::{TranslationOptions, Translator};
use miriam_storage::LoadMethod;
use miriam_textio::CancellationToken;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::open::open_as_kenlm;

/// A language model that takes part in the search of a translator.
pub struct LanguageModelArguments {
    path: PathBuf,
    weight: Option<f32>,
    by_pieces: bool,
}

impl LanguageModelArguments {
    /// Returns the model of the keywords `lm`, `lm_weight` and `lm_pieces`; `None` without `lm`.
    pub fn from_keywords(
        lm: Option<PathBuf>,
        lm_weight: Option<f32>,
        lm_pieces: bool,
    ) -> PyResult<Option<Self>> {
        let needs_lm = [(lm_weight.is_some(), "lm_weight"), (lm_pieces, "lm_pieces")];
        if let Some((_, name)) = needs_lm.iter().find(|(is_given, _)| *is_given && lm.is_none()) {
            let message = format!("{name} has no effect without lm, the language model");
            return Err(PyValueError::new_err(message));
        }
        if let Some(weight) = lm_weight.filter(|weight| !weight.is_finite()) {
            let message = format!("lm_weight: expected a number, found {weight}");
            return Err(PyValueError::new_err(message));
        }
        let Some(path) = lm else { return Ok(None) };
        Ok(Some(LanguageModelArguments { path, weight: lm_weight, by_pieces: lm_pieces }))
    }

    /// Sets the weight, if one was given.
    pub fn set_weight(&self, options: &mut TranslationOptions) {
        options.lm_weight = self.weight.unwrap_or(options.lm_weight);
    }

    /// Opens the model for the searches of `translator`; the error is a message.
    pub fn open(
        &self,
        translator: &mut Translator,
        tuner: &Arc<Autotuner>,
        stop: &CancellationToken,
    ) -> Result<(), String> {
        let opened = translator.open_language_model(&self.path, self.by_pieces, tuner, || {
            open_as_kenlm(&self.path, LoadMethod::Lazy, stop).map_err(Box::<dyn Error>::from)
        });
        opened.map_err(|error| error.to_string())
    }
}
