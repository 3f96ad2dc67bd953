//! Hugging Face's MarianMT: a configuration in JSON, matrices `[outputs, inputs]`, and one
//! token more than Marian had, `<pad>`, which decoding starts with.

use std::collections::BTreeMap;
use std::path::Path;

use super::transformer::{
    Activation, AutoregressionConfig, DecoderStart, Gelu, PositionalEncodingKind, PreNormKeys,
    ProcessStep, ProcessSteps, TransformerConfig, TransformerStackConfig,
};
use super::{Architecture, EmbeddingConfig, Model};
use serde_json::Value;

use crate::checkpoint::Checkpoint;
use crate::{Error, Result};

/// The epsilon of layer norms: PyTorch's default.
const NORM_EPSILON: f32 = 1e-5;

/// The model of a folder: its tensors, its `config.json`, and its `generation_config.json`,
/// where `transformers` writes the options of decoding since version 5.
///
/// # Errors
/// If the model has a feature that is not supported, or a parameter is missing or has
/// another shape than the model needs.
pub fn resolve(
    mut checkpoint: Checkpoint,
    config: &Value,
    generation: Option<&Value>,
) -> Result<Model> {
    let path = checkpoint.path().to_owned();
    let config = Config { value: config, generation, path: &path };
    let transformer = config.read_transformer(&checkpoint)?;
    let names: Vec<String> = checkpoint.names().map(str::to_owned).collect();
    let mut tensors = BTreeMap::new();
    for name in names {
        let Some(tensor) = checkpoint.take(&name) else { continue };
        let (name, tensor) = match marian_name(&name, &transformer.embeddings) {
            Some((to, true)) => (to, tensor.transposed()),
            Some((to, false)) => (to, tensor),
            None => (name, tensor),
        };
        // Tied tables may be stored under each of their names.
        tensors.entry(name).or_insert(tensor);
    }
    Model::new(Architecture::Transformer(transformer), tensors, BTreeMap::new(), &path)
}

struct Config<'a> {
    value: &'a Value,
    generation: Option<&'a Value>,
    path: &'a Path,
}

impl Config<'_> {
    fn read_transformer(&self, checkpoint: &Checkpoint) -> Result<TransformerConfig> {
        if self.text("model_type").is_some_and(|kind| kind != "marian") {
            let kind = self.text("model_type").unwrap_or_default();
            return Err(self.unsupported(format!("a model of type {kind}; only marian is read")));
        }
        for name in ["normalize_before", "normalize_embedding", "add_final_layer_norm"] {
            if self.flag(name, false)? {
                return Err(self.unsupported(format!("{name} is true, which MarianMT ignores")));
            }
        }
        let stack = |side: &str| {
            Ok::<_, Error>(TransformerStackConfig {
                depth: self.number(&format!("{side}_layers"))?,
                heads: self.number(&format!("{side}_attention_heads"))?,
                ffn_width: self.number(&format!("{side}_ffn_dim"))?,
                ffn_depth: 2,
            })
        };
        let (encoder, decoder) = (stack("encoder")?, stack("decoder")?);
        super::check_range("decoder_layers", decoder.depth, super::MAX_DEPTH)
            .map_err(|reason| Error::mismatch(self.path, "config.json", reason))?;
        let activation = match self.text("activation_function") {
            Some("relu") => Activation::Relu,
            Some("swish" | "silu") => Activation::Swish,
            Some("gelu") => Activation::Gelu(Gelu::Exact),
            Some("gelu_new" | "gelu_pytorch_tanh") => Activation::Gelu(Gelu::Tanh),
            other => return Err(self.unsupported(format!("activation_function {other:?}"))),
        };
        let source_vocab_size = self.number("vocab_size")?;
        let target_vocab_size = match self.value.get("decoder_vocab_size") {
            Some(value) if !value.is_null() => self.number("decoder_vocab_size")?,
            _ => source_vocab_size,
        };
        let bad_words = self.generation_option("bad_words_ids").and_then(Value::as_array);
        let suppressed = bad_words.into_iter().flatten().filter_map(|ids| {
            // Sequences of several tokens are not supported.
            let [id] = &ids.as_array()?[..] else { return None };
            u32::try_from(id.as_u64()?).ok()
        });
        let start = match self.generation_option("decoder_start_token_id") {
            Some(id) => self.to_number("decoder_start_token_id", Some(id))?,
            None => self.number("pad_token_id")?,
        };
        let table = checkpoint.get("model.encoder.embed_positions.weight");
        let positions = match table.and_then(|table| table.shape().first()) {
            Some(&length) => PositionalEncodingKind::Table { length },
            None => PositionalEncodingKind::Sinusoidal,
        };
        Ok(TransformerConfig {
            tied_layers: (1..=decoder.depth).collect(),
            alignment_layer: decoder.depth,
            activation,
            preprocess: ProcessSteps::default(),
            postprocess: ProcessSteps(vec![ProcessStep::Add, ProcessStep::Norm]),
            postprocess_embedding: ProcessSteps::default(),
            postprocess_top: ProcessSteps::default(),
            has_output_projection: true,
            autoregression: AutoregressionConfig::SelfAttention,
            positional_encoding: positions,
            scales_embeddings: self.flag("scale_embedding", false)?,
            decoder_start: DecoderStart::Token(u32::try_from(start).unwrap_or(u32::MAX)),
            pre_norm_keys: PreNormKeys::Normalized,
            norm_epsilon: NORM_EPSILON,
            embeddings: EmbeddingConfig {
                source_vocab_size,
                target_vocab_size,
                dim: self.number("d_model")?,
                shared: self.flag("share_encoder_decoder_embeddings", true)?,
                tied_output: self.flag("tie_word_embeddings", true)?,
                output_bias: true,
                right_to_left: false,
                suppress_tokens: suppressed.collect(),
            },
            encoder,
            decoder,
        })
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.value.get(name).and_then(Value::as_str)
    }

    /// Whether the flag `name` is set; `default` where it is missing or null.
    fn flag(&self, name: &str, default: bool) -> Result<bool> {
        match self.value.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(&Value::Bool(flag)) => Ok(flag),
            Some(_) => {
                let place = format!("config.json, {name}");
                Err(Error::mismatch(self.path, &place, "true or false is needed here"))
            }
        }
    }

    /// An option of decoding; older versions have it in `config.json`.
    fn generation_option(&self, name: &str) -> Option<&Value> {
        let mut files = [Some(self.value), self.generation].into_iter().flatten();
        files.find_map(|file| file.get(name).filter(|value| !value.is_null()))
    }

    fn number(&self, name: &str) -> Result<usize> {
        self.to_number(name, self.value.get(name))
    }

    fn to_number(&self, name: &str, value: Option<&Value>) -> Result<usize> {
        let number = value.and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        number.ok_or_else(|| {
            let place = format!("config.json, {name}");
            Error::mismatch(self.path, &place, "a number is needed here")
        })
    }

    fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::unsupported(self.path, reason)
    }
}

/// Marian's name for a parameter, and whether the matrix must be transposed.
fn marian_name(name: &str, tables: &EmbeddingConfig) -> Option<(String, bool)> {
    let plain = |name: &str| Some((name.to_owned(), false));
    match name {
        "model.shared.weight" => return plain(tables.encoder_table_name()),
        "model.encoder.embed_tokens.weight" => return plain(tables.encoder_table_name()),
        "model.decoder.embed_tokens.weight" => return plain(tables.decoder_table_name()),
        "lm_head.weight" if tables.tied_output => return plain(tables.decoder_table_name()),
        "lm_head.weight" => return plain("decoder_ff_logit_out_Wt"),
        "final_logits_bias" => return plain("decoder_ff_logit_out_b"),
        "model.encoder.embed_positions.weight" => return plain("encoder_Wpos"),
        "model.decoder.embed_positions.weight" => return plain("decoder_Wpos"),
        _ => {}
    }
    let (side, rest) = name.strip_prefix("model.")?.split_once(".layers.")?;
    let (layer, rest) = rest.split_once('.')?;
    let layer = layer.parse::<usize>().ok()?.checked_add(1)?;
    let (sublayer, kind) = rest.rsplit_once('.')?;
    let weight = kind == "weight";
    let (norm, matrix) = match kind {
        "weight" => ("scale", 'W'),
        "bias" => ("bias", 'b'),
        _ => return None,
    };
    let prefix = format!("{side}_l{layer}");
    let norm_prefix = match sublayer {
        "self_attn_layer_norm" => Some("self_Wo"),
        "encoder_attn_layer_norm" => Some("context_Wo"),
        "final_layer_norm" => Some("ffn_ffn"),
        _ => None,
    };
    if let Some(sublayer) = norm_prefix {
        return Some((format!("{prefix}_{sublayer}_ln_{norm}"), false));
    }
    let to = match sublayer {
        "fc1" => format!("{prefix}_ffn_{matrix}1"),
        "fc2" => format!("{prefix}_ffn_{matrix}2"),
        _ => {
            let (attention, projection) = sublayer.split_once('.')?;
            let attention = match attention {
                "self_attn" => "self",
                "encoder_attn" => "context",
                _ => return None,
            };
            let letter = match projection.strip_suffix("_proj")? {
                "q" => 'q',
                "k" => 'k',
                "v" => 'v',
                "out" => 'o',
                _ => return None,
            };
            format!("{prefix}_{attention}_{matrix}{letter}")
        }
    };
    Some((to, weight))
}
