//! Opening of language models for queries.

use std::path::Path;
use std::sync::Arc;

use miriam_glm::device::{DeviceChoice, open_on_device};
use miriam_lmcpu::{LanguageModel, OpenOptions};
use miriam_storage::LoadMethod;

use crate::common::CommonOptions;
use crate::model_kind::{ModelKind, explain_wrong_kind};

/// Opens the model at `model` on the device `processor`.
pub fn open_model(
    model: &Path,
    options: OpenOptions,
    processor: DeviceChoice,
    common: &CommonOptions,
) -> anyhow::Result<Arc<dyn LanguageModel>> {
    let progress = common.progress();
    common
        .build_thread_pool()?
        .install(|| open_on_device(model, options, processor, &progress))
        .map_err(|error| explain_wrong_kind(error, model, ModelKind::LanguageModel))
}

/// Opens the model at `model` as KenLM's programs do: the first of duplicate n-grams in ARPA text
/// is kept.
pub fn open_model_as_kenlm(
    model: &Path,
    load: LoadMethod,
    common: &CommonOptions,
) -> anyhow::Result<Arc<dyn LanguageModel>> {
    let progress = common.progress();
    common
        .build_thread_pool()?
        .install(|| miriam_glm::open_as_kenlm(model, load, &progress))
        .map_err(|error| explain_wrong_kind(error, model, ModelKind::LanguageModel))
}
