//! Arguments of `translate_texts`: decoding options and languages.

use miriam_nmt::translate::{DecodingSettings, Translator};
use miriam_nmt::{LanguagePairTokens, Languages};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::results::Loaded;
use crate::errors::value_error;

/// Parses decoding options from keyword arguments.
pub(super) fn decoding_settings(given: &Bound<'_, PyDict>) -> PyResult<DecodingSettings> {
    let mut settings = DecodingSettings::default();
    for (name, value) in given {
        let name: String = name.extract()?;
        let key = name.replace('_', "-");
        if name.contains('-') || !DecodingSettings::KEYS.contains(&&*key) {
            let names = DecodingSettings::KEYS.map(|key| key.replace('-', "_")).join(", ");
            let message = format!(
                "translate_texts() got an unexpected keyword argument '{name}'; options of decoding \
                 are {names}"
            );
            return Err(PyTypeError::new_err(message));
        }
        if value.is_none() {
            continue;
        }
        let set = match value.try_iter() {
            Ok(items)
                if !value.is_instance_of::<PyString>() && !value.is_instance_of::<PyBytes>() =>
            {
                let words = items.map(|word| lower_case(&word?)).collect::<PyResult<Vec<_>>>()?;
                settings.set_list(&key, &words)
            }
            _ => settings.set(&key, &lower_case(&value)?),
        };
        set.map_err(PyValueError::new_err)?;
    }
    Ok(settings)
}

/// Returns the text of a value in lower case, because Python writes True and False, but options of
/// the command line take true and false.
fn lower_case(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(value.str()?.to_string().to_ascii_lowercase())
}

/// Returns the translator for `texts`, with the languages that a multilingual model needs.
pub(super) fn translator_for_languages(
    loaded: &Loaded,
    texts: &[String],
    source_language: Option<&str>,
    target_language: Option<&str>,
) -> PyResult<Translator> {
    let translator = loaded.pool.translator();
    let tokens = match translator.languages() {
        None if target_language.is_some() => {
            return Err(PyValueError::new_err(
                "target_language: the vocabulary of the model names no languages; leave it out",
            ));
        }
        None => LanguagePairTokens::default(),
        Some(known) => match known.pair_tokens(source_language, target_language) {
            Ok(tokens) => tokens,
            // The model is not multilingual, although its vocabulary has words that look like
            // languages. So `source_language` only selects abbreviations.
            Err(_) if !translator.is_multilingual() && target_language.is_none() => {
                LanguagePairTokens::default()
            }
            Err(reason) => return Err(PyValueError::new_err(reason)),
        },
    };
    let translator = translator.for_languages(tokens).map_err(value_error)?;
    let lacks = texts.iter().map(|text| translator.missing_languages(text.as_bytes()));
    let lacks = lacks.fold([false; 2], |all, one| [all[0] || one[0], all[1] || one[1]]);
    let names = ["source_language", "target_language"].into_iter().zip(lacks);
    let names: Vec<&str> = names.filter(|(_, lacks)| *lacks).map(|(name, _)| name).collect();
    if !names.is_empty() {
        let known = translator.languages().map(Languages::list).unwrap_or_default();
        let message =
            format!("the model is multilingual; give {} (one of: {known})", names.join(" and "));
        return Err(PyValueError::new_err(message));
    }
    Ok(translator)
}
