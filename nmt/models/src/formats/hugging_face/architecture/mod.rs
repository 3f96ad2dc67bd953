//! Models of Hugging Face's `transformers`: a configuration in JSON, matrices `[outputs, inputs]`.
//!
//! Two families cover translation: BART (`bart`: MarianMT, M2M-100 with NLLB-200, mBART), and T5
//! (`t5`: T5, MT5, MADLAD-400). `model_type` tells which.

mod bart;
mod config;
mod t5;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::architecture::{Architecture, Model, TransformerConfig};
use crate::checkpoint::{Checkpoint, DType, NOT_A_TENSOR, Tensor};
use crate::{Error, Result};
use config::Config;
pub(crate) use config::{generation_option, listed_ids, token_option};

/// Endings of the names of tensors that are ignored: tables of sinusoids, which are computed here;
/// relative position biases of T5's cross-attention, which T5 has never used; the numbers of
/// positions; and fairseq's version numbers.
const IGNORED_SUFFIXES: [&str; 5] = [
    "embed_positions.weight",
    "embed_positions.weights",
    "EncDecAttention.relative_attention_bias.weight",
    "position_ids",
    "coder.version",
];

/// Returns the model in a folder. `config` is its `config.json`; `generation` is its
/// `generation_config.json`, to which `transformers` has written the decoding options since
/// version 4.25.
///
/// # Errors
/// If the model has a feature that is not supported, a parameter is missing or has the wrong shape,
/// or the file has tensors that the model of the configuration lacks.
pub fn resolve(
    checkpoint: Checkpoint,
    config: &Value,
    generation: Option<&Value>,
) -> Result<Model> {
    let path = checkpoint.path().to_owned();
    let config = Config { value: config, generation, path: &path };
    if let Some(quantization) = config.value.get("quantization_config").filter(|v| !v.is_null()) {
        let method = quantization.get("quant_method").and_then(Value::as_str).unwrap_or("unknown");
        return Err(config.unsupported(format!(
            "its weights are quantised (quantization_config in config.json, method {method}); use \
             the floating-point model that it was made from, and quantise that with miriam nmt \
             convert --precision"
        )));
    }
    if let Some(prefix) = wrapper_prefix(&checkpoint) {
        return Err(config.unsupported(format!(
            "the names of its tensors begin with {prefix:?}, because the model was saved inside of \
             another one (DataParallel, torch.compile); save the model itself with save_pretrained"
        )));
    }
    let skipped = unread_tensor(checkpoint.skipped_tensors()).cloned();
    let named = match config.text("model_type") {
        None if config.value.get("encoder_layers").is_none() => {
            let reason =
                "config.json has no model_type; use the file that was saved with the model";
            return Err(config.unsupported(reason));
        }
        None | Some("marian") => bart::resolve(checkpoint, &config, bart::Kind::Marian)?,
        Some("m2m_100") => bart::resolve(checkpoint, &config, bart::Kind::M2m100)?,
        Some("mbart") => bart::resolve(checkpoint, &config, bart::Kind::Mbart)?,
        Some("t5" | "mt5" | "umt5") => t5::resolve(checkpoint, &config)?,
        Some(kind) => {
            return Err(config.unsupported(format!(
                "a model of type {kind} is not supported; supported are marian, m2m_100 (with \
                 NLLB-200), mbart, t5 (with MADLAD-400), mt5 and umt5"
            )));
        }
    };
    let NamedTensors { transformer, tensors, names } = named;
    fn name_in_file(name: &str, names: &BTreeMap<String, String>) -> String {
        names.get(name).map_or(name, String::as_str).to_owned()
    }
    fn is_integer(tensor: &Tensor) -> bool {
        matches!(tensor.dtype(), DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }
    let integers = tensors.iter().find(|(name, tensor)| is_integer(tensor) && !is_ignored(name));
    let integers = integers.map(|(name, _)| name_in_file(name, &names));
    let model = Model::new(Architecture::Transformer(transformer), tensors, BTreeMap::new(), &path);
    let model = match (model, skipped) {
        (Err(error), Some((name, reason))) => {
            let reason = format!(
                "it was not read ({reason}), and the rest is not the model of config.json; use a \
                 model with floating-point weights of at least 16 bits. Without it: {error}"
            );
            return Err(Error::mismatch(&path, &name, reason));
        }
        // Biases that are missing count as zeros, and other tensors as unused.
        (Ok(_), Some((name, reason))) if reason != NOT_A_TENSOR => {
            let reason = format!(
                "it was not read ({reason}), and the rest would be another model; use a model with \
                 floating-point weights of at least 16 bits"
            );
            return Err(Error::mismatch(&path, &name, reason));
        }
        (model, _) => model?,
    };
    if let Some(name) = integers {
        let reason = "its elements are integers without quantisation multipliers; use a model with \
                      floating-point weights";
        return Err(Error::mismatch(&path, &name, reason));
    }
    let unused = model.unused_tensors().iter().map(|name| name_in_file(name, &names));
    let unused: Vec<String> = unused.filter(|name| !is_ignored(name)).collect();
    if let [first, rest @ ..] = &unused[..] {
        let reason = format!(
            "config.json describes a model without this tensor and {} others of the file; use the \
             config.json that was saved with this model",
            rest.len()
        );
        return Err(Error::mismatch(&path, first, reason));
    }
    Ok(model)
}

/// Returns the beginning of the names of all tensors if PyTorch adds it to those of a model inside
/// of another one.
fn wrapper_prefix(checkpoint: &Checkpoint) -> Option<&'static str> {
    checkpoint.names().next()?;
    let prefixes = ["module.", "_orig_mod."];
    prefixes.into_iter().find(|prefix| checkpoint.names().all(|name| name.starts_with(prefix)))
}

/// Returns the first tensor that was skipped, with the reason. Without one, returns the first other
/// entry that is named like a parameter, or else the first one, which the model may not need.
fn unread_tensor(skipped: &[(String, String)]) -> Option<&(String, String)> {
    let entries = skipped.iter().filter(|(name, _)| !is_ignored(name));
    entries.min_by_key(|(name, reason)| {
        let is_parameter =
            ["weight", "bias", "_packed_params"].iter().any(|end| name.ends_with(end));
        (reason == NOT_A_TENSOR, !is_parameter)
    })
}

fn is_ignored(name: &str) -> bool {
    IGNORED_SUFFIXES.iter().any(|end| name.ends_with(end))
}

/// An architecture with its tensors under Marian's names.
struct NamedTensors {
    transformer: TransformerConfig,
    tensors: BTreeMap<String, Tensor>,
    /// The name that each tensor has in the file, by its name here.
    names: BTreeMap<String, String>,
}

/// Tensors under Marian's names, in the process of being renamed. A table that several layers share
/// may be in a file under the name of each of them.
#[derive(Default)]
struct TensorsByName {
    tensors: BTreeMap<String, Tensor>,
    names: BTreeMap<String, String>,
}

impl TensorsByName {
    /// Adds the tensor `from` of the file under Marian's name `to`.
    ///
    /// # Errors
    /// If a tensor with other contents already has the name `to`.
    fn insert(&mut self, from: String, to: String, tensor: Tensor, config: &Config) -> Result<()> {
        let Some(other) = self.tensors.get(&to) else {
            self.names.insert(to.clone(), from);
            self.tensors.insert(to, tensor);
            return Ok(());
        };
        if other.dtype() == tensor.dtype()
            && other.shape() == tensor.shape()
            && other.bytes() == tensor.bytes()
        {
            return Ok(());
        }
        let reason = format!(
            "it differs from {}, though config.json ties them (tie_word_embeddings); set \
             tie_word_embeddings to false if the model has separate tables",
            self.names[&to]
        );
        Err(Error::mismatch(config.path, &from, reason))
    }
}

/// Whether the tensor with Marian's name `name` has `size` rows (`axis` 0) or columns (`axis` 1).
/// This checks the sizes that a configuration claims before memory is allocated for them.
fn has_size(tensors: &BTreeMap<String, Tensor>, name: &str, axis: usize, size: usize) -> bool {
    let tensor = tensors.get(name).filter(|tensor| tensor.numel() > 0);
    tensor.is_some_and(|tensor| tensor.shape().get(axis) == Some(&size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_that_were_not_read_come_before_other_entries() {
        let entry = |name: &str, reason: &str| (name.to_owned(), reason.to_owned());
        let other = entry("epoch", NOT_A_TENSOR);
        let bias = entry("final_logits_bias", "elements of kind Float8");
        let ignored = entry("model.embed_positions.weight", "elements of kind Float8");
        let skipped = [ignored.clone(), other.clone(), bias.clone()];
        assert_eq!(unread_tensor(&skipped), Some(&bias));
        assert_eq!(unread_tensor(&skipped[..2]), Some(&other));
        let packed = entry("final_logits_bias", NOT_A_TENSOR);
        assert_eq!(unread_tensor(&[other.clone(), packed.clone()]), Some(&packed));
        assert_eq!(unread_tensor(&[ignored]), None);
    }
}
