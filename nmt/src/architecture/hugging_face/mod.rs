//! Models of Hugging Face's `transformers`: a configuration in JSON, matrices `[outputs, inputs]`.
//!
//! Two families cover what people translate with: that of BART (`bart`: MarianMT, M2M-100 with
//! NLLB-200, mBART), and that of T5 (`t5`: T5, MT5, MADLAD-400). `model_type` tells which.

mod bart;
mod config;
mod t5;

use std::collections::BTreeMap;

use serde_json::Value;

use super::transformer::TransformerConfig;
use super::{Architecture, Model};
use crate::Result;
use crate::checkpoint::{Checkpoint, Tensor};
use config::Config;
pub(crate) use config::generation_option;

/// The model of a folder: its tensors, its `config.json`, and its `generation_config.json`,
/// where `transformers` writes the options of decoding since version 4.25.
///
/// # Errors
/// If the model has a feature that is not supported, or a parameter is missing or has
/// another shape than the model needs.
pub fn resolve(
    checkpoint: Checkpoint,
    config: &Value,
    generation: Option<&Value>,
) -> Result<Model> {
    let path = checkpoint.path().to_owned();
    let config = Config { value: config, generation, path: &path };
    let named = match config.text("model_type") {
        None | Some("marian") => bart::resolve(checkpoint, &config, bart::Kind::Marian)?,
        Some("m2m_100") => bart::resolve(checkpoint, &config, bart::Kind::M2m100)?,
        Some("mbart") => bart::resolve(checkpoint, &config, bart::Kind::Mbart)?,
        Some("t5" | "mt5" | "umt5") => t5::resolve(checkpoint, &config)?,
        Some(kind) => {
            return Err(config.unsupported(format!(
                "a model of type {kind}; covered are marian, m2m_100 (with NLLB-200), mbart, t5 \
                 (with MADLAD-400), mt5 and umt5"
            )));
        }
    };
    let NamedTensors { transformer, tensors } = named;
    Model::new(Architecture::Transformer(transformer), tensors, BTreeMap::new(), &path)
}

/// A description with its tensors under Marian's names.
struct NamedTensors {
    transformer: TransformerConfig,
    tensors: BTreeMap<String, Tensor>,
}
