//! Opening of language models of every kind, including `glm` files.

use std::path::Path;
use std::sync::Arc;

use miriam_lmcpu::{
    ArpaOptions, LanguageModel, NgramSource, OpenOptions, Result, read_keeping_first,
};
use miriam_storage::{Container, LoadMethod};
use miriam_textio::Progress;

use crate::model::{GlmModel, KIND};
use crate::source::glm_source;

/// Opens the model at `path`: a `glm` file, or any that [`miriam_lmcpu::open`] opens.
///
/// # Errors
///
/// If the file cannot be read, or is not a valid model.
pub fn open(
    path: &Path,
    options: impl Into<OpenOptions>,
    progress: &dyn Progress,
) -> Result<Arc<dyn LanguageModel>> {
    let options = options.into();
    if is_glm(path)? {
        Ok(Arc::new(GlmModel::open(path, options.load)?))
    } else {
        miriam_lmcpu::open(path, options, progress)
    }
}

/// Opens the model at `path` as KenLM's programs do: of duplicate n-grams in ARPA text, the first
/// is kept.
///
/// # Errors
///
/// Those of [`open`].
pub fn open_as_kenlm(
    path: &Path,
    load: LoadMethod,
    progress: &dyn Progress,
) -> Result<Arc<dyn LanguageModel>> {
    read_keeping_first(path, ArpaOptions::default(), |arpa| {
        open(path, OpenOptions { load, arpa }, progress)
    })
}

/// Opens the n-grams of the model at `path` as lists: a `glm` file, or any model that
/// [`miriam_lmcpu::open_source`] opens.
///
/// # Errors
///
/// If the file cannot be read, or is not a valid model.
pub fn open_source<'p>(
    path: &Path,
    arpa: ArpaOptions,
    progress: &'p dyn Progress,
) -> Result<Box<dyn NgramSource + 'p>> {
    if is_glm(path)? {
        Ok(Box::new(glm_source(Container::open_any(path, LoadMethod::Lazy)?)?))
    } else {
        miriam_lmcpu::open_source(path, arpa, progress)
    }
}

/// Whether `path` is a `glm` file, of any version.
///
/// # Errors
///
/// If the file is a container that cannot be opened.
pub fn is_glm(path: &Path) -> Result<bool> {
    Ok(Container::is_container(path) && Container::open_any(path, LoadMethod::Lazy)?.kind() == KIND)
}
