//! Opening any language model there is, `glm` files among them.

use std::path::Path;
use std::sync::Arc;

use miriam_lmcpu::{DuplicatePolicy, LanguageModel, NgramSource, Result};
use miriam_storage::{Container, LoadMethod};
use miriam_textio::Progress;

use crate::model::{GlmModel, KIND};
use crate::source::GlmSource;

/// Opens the model at `path`: a `glm` file, or whatever [`miriam_lmcpu::open`] opens.
pub fn open(
    path: &Path,
    load: LoadMethod,
    progress: &dyn Progress,
) -> Result<Arc<dyn LanguageModel>> {
    match is_glm(path)? {
        true => Ok(Arc::new(GlmModel::open(path, load)?)),
        false => miriam_lmcpu::open(path, load, progress),
    }
}

/// Opens the n-grams of the model at `path`: a `glm` file, or whatever
/// [`miriam_lmcpu::open_source`] opens.
pub fn open_source<'p>(
    path: &Path,
    duplicates: DuplicatePolicy,
    progress: &'p dyn Progress,
) -> Result<Box<dyn NgramSource + 'p>> {
    match is_glm(path)? {
        true => Ok(Box::new(GlmSource::open(path)?)),
        false => miriam_lmcpu::open_source(path, duplicates, progress),
    }
}

/// Whether there is a `glm` file, of any version, at `path`.
pub fn is_glm(path: &Path) -> Result<bool> {
    Ok(Container::is_container(path) && Container::open_any(path, LoadMethod::Lazy)?.kind() == KIND)
}
