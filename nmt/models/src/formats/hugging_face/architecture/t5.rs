//! T5, MT5, UMT5 and MADLAD-400: RMS norms before sublayers, biases of relative positions, matrices
//! without biases, and attention scores that are not divided by the root of a head's width.
//!
//! The first T5 has ReLU, and one table for source, target and output; its logits are multiplied by
//! `d_model^-0.5`. Version 1.1 and its multilingual descendants have a separate output layer and
//! gated layers. The network divides the scores of all models by the root, so the query matrices
//! are multiplied by it here. The factor of the logits becomes one of the decoder's last norm.

use std::collections::BTreeMap;

use super::config::Config;
use super::{NamedTensors, TensorsByName, has_size};
use crate::architecture::{
    AutoregressionConfig, DecoderStart, PositionalEncodingKind, PreNormKeys, ProcessStep,
    ProcessSteps, RelativeBiasConfig, TransformerConfig, TransformerStackConfig,
};
use crate::architecture::{EmbeddingConfig, MAX_DEPTH, MAX_WIDTH, check_range};
use crate::checkpoint::{Checkpoint, Tensor};
use crate::{Error, Result};

const NORM_EPSILON: f32 = 1e-6;
const SHARED_TABLE: &str = "shared.weight";
const OUTPUT_MATRIX: &str = "lm_head.weight";

/// Returns the model of a checkpoint, with its tensors under Marian's names.
pub fn resolve(mut checkpoint: Checkpoint, config: &Config) -> Result<NamedTensors> {
    let transformer = read_transformer(&checkpoint, config)?;
    let PositionalEncodingKind::RelativeBias(bias) = transformer.positional_encoding else {
        unreachable!("read_transformer returns biases of relative positions")
    };

    let names: Vec<String> = checkpoint.names().map(str::to_owned).collect();
    let tables = &transformer.embeddings;
    let mut tensors = TensorsByName::default();
    for name in names {
        let Some(tensor) = checkpoint.take(&name) else { continue };
        let (to, tensor) = match marian_name(&name, tables) {
            Some(MarianName::Matrix(to)) => {
                let tensor = if to.ends_with("_Wq") {
                    tensor.scaled((bias.head_dim as f32).sqrt())
                } else {
                    Ok(tensor)
                };
                let tensor =
                    tensor.map_err(|reason| Error::mismatch(config.path, &name, reason))?;
                (to, tensor.transposed())
            }
            Some(MarianName::Vector(to)) => (to, tensor),
            None => (name.clone(), tensor),
        };
        tensors.insert(name, to, tensor, config)?;
    }
    let TensorsByName { mut tensors, names } = tensors;
    let scales_outputs =
        config.flag("scale_decoder_outputs", ties_output(config)? && !is_new_mt5(config))?;
    if scales_outputs && let Some(norm) = tensors.remove("decoder_top_rms_scale") {
        let norm = norm.scaled((tables.dim as f32).powf(-0.5)).map_err(|reason| {
            Error::mismatch(config.path, "decoder.final_layer_norm.weight", reason)
        })?;
        tensors.insert("decoder_top_rms_scale".into(), norm);
    }
    share_biases(&mut tensors, &transformer);
    fill_zeros(&mut tensors, &transformer);
    Ok(NamedTensors { transformer, tensors, names })
}

/// Gives all layers the biases of the first one, unless each has its own (UMT5).
fn share_biases(tensors: &mut BTreeMap<String, Tensor>, transformer: &TransformerConfig) {
    for (side, stack) in [("encoder", &transformer.encoder), ("decoder", &transformer.decoder)] {
        let Some(first) = tensors.get(&format!("{side}_l1_self_Rb")).cloned() else { continue };
        for layer in 2..=stack.depth {
            let name = format!("{side}_l{layer}_self_Rb");
            tensors.entry(name).or_insert_with(|| first.clone());
        }
    }
}

/// Adds the biases that [`TransformerConfig`] expects: zeros, because T5's matrices have none.
fn fill_zeros(tensors: &mut BTreeMap<String, Tensor>, transformer: &TransformerConfig) {
    for parameter in transformer.parameters() {
        let ([_, columns], name) = (parameter.shape, parameter.name);
        let last = name.rsplit('_').next().unwrap_or_default();
        if !["bq", "bk", "bv", "bo", "b1", "b2", "bg"].contains(&last) {
            continue;
        }
        let matrix = format!("{}W{}", &name[..name.len() - 2], &name[name.len() - 1..]);
        // Otherwise the error is that the matrix is missing or has the wrong shape.
        if has_size(tensors, &matrix, 1, columns) {
            tensors.entry(name).or_insert_with(|| Tensor::zeros(columns));
        }
    }
}

/// Whether the configuration ties the output layer to the table of embeddings.
fn ties_output(config: &Config) -> Result<bool> {
    config.flag("tie_word_embeddings", true)
}

/// Whether this is an MT5 that `transformers` wrote in version 5 or later. These versions never
/// scale the outputs of an MT5, and have no key for that.
fn is_new_mt5(config: &Config) -> bool {
    let version = config.text("transformers_version").and_then(|text| text.split('.').next());
    let major = version.and_then(|number| number.parse::<u32>().ok());
    config.text("model_type") == Some("mt5") && major.is_some_and(|major| major >= 5)
}

/// Whether the output layer is the table of embeddings. Since version 5, `transformers` marks every
/// model as tied, and stores an output matrix only if it differs from the table.
fn has_tied_output(checkpoint: &Checkpoint, config: &Config) -> Result<bool> {
    let Some(output) = checkpoint.get(OUTPUT_MATRIX) else { return Ok(true) };
    if !ties_output(config)? {
        return Ok(false);
    }
    let is_new = config.value.get("scale_decoder_outputs").is_some() || is_new_mt5(config);
    let table = checkpoint.get(SHARED_TABLE);
    Ok(!is_new || table.is_none_or(|table| table.bytes() == output.bytes()))
}

fn read_transformer(checkpoint: &Checkpoint, config: &Config) -> Result<TransformerConfig> {
    let encoder = TransformerStackConfig {
        depth: config.number("num_layers")?,
        heads: config.number("num_heads")?,
        ffn_width: config.number("d_ff")?,
        ffn_depth: 2,
    };
    let decoder = TransformerStackConfig {
        depth: config.number_or("num_decoder_layers", encoder.depth)?,
        ..encoder.clone()
    };
    let head_dim = config.number("d_kv")?;
    for (name, number, max) in [
        ("num_layers", encoder.depth, MAX_DEPTH),
        ("num_decoder_layers", decoder.depth, MAX_DEPTH),
        ("num_heads", encoder.heads, MAX_WIDTH),
        ("d_kv", head_dim, MAX_WIDTH),
    ] {
        check_range(name, number, max)
            .map_err(|reason| Error::mismatch(config.path, "config.json", reason))?;
    }
    const FEED_FORWARD: &str = "feed_forward_proj";
    let kind = config.text(FEED_FORWARD).unwrap_or("relu");
    let activation = match kind.strip_prefix("gated-") {
        // The gelu of T5 1.1 is the approximation by tanh, whatever its name says.
        Some("gelu") => config.activation(FEED_FORWARD, Some("gelu_new"))?.gated(),
        Some(function) => config.activation(FEED_FORWARD, Some(function))?.gated(),
        None => config.activation(FEED_FORWARD, Some(kind))?,
    };
    let norm = ProcessSteps(vec![ProcessStep::RmsNorm]);
    let vocab_size = config.number("vocab_size")?;
    Ok(TransformerConfig {
        tied_layers: (1..=decoder.depth).collect(),
        alignment_layer: decoder.depth,
        alignment_heads: 1,
        activation,
        preprocess: norm.clone(),
        postprocess: ProcessSteps(vec![ProcessStep::Add]),
        postprocess_embedding: ProcessSteps::default(),
        postprocess_top: norm,
        has_output_projection: true,
        autoregression: AutoregressionConfig::SelfAttention,
        positional_encoding: PositionalEncodingKind::RelativeBias(RelativeBiasConfig {
            buckets: config.number_or("relative_attention_num_buckets", 32)?,
            max_distance: config.number_or("relative_attention_max_distance", 128)?,
            head_dim,
        }),
        scales_embeddings: false,
        decoder_start: DecoderStart::Token(config.start_token()?),
        pre_norm_keys: PreNormKeys::Normalized,
        norm_epsilon: config.float_or("layer_norm_epsilon", NORM_EPSILON)?,
        embeddings: EmbeddingConfig {
            source_vocab_size: vocab_size,
            target_vocab_size: vocab_size,
            dim: config.number("d_model")?,
            shared: true,
            tied_output: has_tied_output(checkpoint, config)?,
            output_bias: false,
            right_to_left: false,
            suppress_tokens: config.suppressed_tokens(vocab_size)?,
        },
        encoder,
        decoder,
    })
}

/// Marian's name of a parameter.
enum MarianName {
    /// A matrix, which must be transposed.
    Matrix(String),
    /// A vector or a table of rows.
    Vector(String),
}

/// Returns Marian's name of the parameter `name` of T5; `None` if T5 has no such parameter.
fn marian_name(name: &str, tables: &EmbeddingConfig) -> Option<MarianName> {
    match name {
        SHARED_TABLE | "encoder.embed_tokens.weight" | "decoder.embed_tokens.weight" => {
            return Some(MarianName::Vector(tables.encoder_table_name().into()));
        }
        OUTPUT_MATRIX if tables.tied_output => {
            return Some(MarianName::Vector(tables.decoder_table_name().into()));
        }
        OUTPUT_MATRIX => return Some(MarianName::Vector("decoder_ff_logit_out_Wt".into())),
        _ => {}
    }
    let (side, rest) = name.strip_suffix(".weight")?.split_once('.')?;
    if !["encoder", "decoder"].contains(&side) {
        return None;
    }
    if rest == "final_layer_norm" {
        return Some(MarianName::Vector(format!("{side}_top_rms_scale")));
    }
    let (block, rest) = rest.strip_prefix("block.")?.split_once(".layer.")?;
    let prefix = format!("{side}_l{}", block.parse::<usize>().ok()?.checked_add(1)?);
    let (sublayer, part) = rest.split_once('.')?;
    let sublayer = match (side, sublayer) {
        (_, "0") => "self",
        ("decoder", "1") => "context",
        ("encoder", "1") | ("decoder", "2") => "ffn",
        _ => return None,
    };
    if part == "layer_norm" {
        let norm = if sublayer == "ffn" { "ffn" } else { "Wo" };
        return Some(MarianName::Vector(format!("{prefix}_{sublayer}_{norm}_rms_scale_pre")));
    }
    let (_, matrix) = part.split_once('.')?;
    let letter = match (sublayer, matrix) {
        ("self", "relative_attention_bias") => {
            return Some(MarianName::Vector(format!("{prefix}_self_Rb")));
        }
        ("self" | "context", "q" | "k" | "v" | "o") => matrix,
        ("ffn", "wi" | "wi_0") => "1",
        ("ffn", "wi_1") => "g",
        ("ffn", "wo") => "2",
        _ => return None,
    };
    Some(MarianName::Matrix(format!("{prefix}_{sublayer}_W{letter}")))
}
