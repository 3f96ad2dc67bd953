//! The BART family. MarianMT has one more token than Marian, `<pad>`, which decoding starts with.
//! The sinusoids of M2M-100 and NLLB-200 begin at position 2. mBART normalises embeddings.

use std::collections::BTreeMap;

use super::config::Config;
use super::{NamedTensors, TensorsByName, has_size};
use crate::architecture::{
    AutoregressionConfig, DecoderStart, PositionalEncodingKind, PreNormKeys, ProcessStep,
    ProcessSteps, TransformerConfig, TransformerStackConfig,
};
use crate::architecture::{EmbeddingConfig, MAX_DEPTH, check_range};
use crate::checkpoint::{Checkpoint, Tensor};
use crate::{Error, Result};

/// The epsilon of layer norms: PyTorch's default.
const NORM_EPSILON: f32 = 1e-5;
/// The number of rows before the first position in mBART's tables.
const POSITION_OFFSET: usize = 2;

/// Marian's name for an output matrix that is not a table of embeddings.
const OUTPUT_MATRIX: &str = "decoder_ff_logit_out_Wt";

/// Marian's name for the bias of the output layer.
const OUTPUT_BIAS: &str = "decoder_ff_logit_out_b";

/// The differences between the models of the family.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Norms after sublayers, sinusoids or a table.
    Marian,
    /// Norms before sublayers, sinusoids.
    M2m100,
    /// Norms before sublayers and after embeddings, tables of positions.
    Mbart,
}

pub fn resolve(mut checkpoint: Checkpoint, config: &Config, kind: Kind) -> Result<NamedTensors> {
    let transformer = read_transformer(&checkpoint, config, kind)?;
    let tables = &transformer.embeddings;
    // `transformers` 5 also writes the shared table of a model that uses only its separate ones.
    if !tables.shared && checkpoint.get("model.encoder.embed_tokens.weight").is_some() {
        checkpoint.take("model.shared.weight");
    }
    let mut unread = checkpoint.skipped_tensors().iter();
    let has_unread_bias = unread.any(|(name, _)| {
        marian_name(name, tables, kind).is_some_and(|(name, _)| name == OUTPUT_BIAS)
    });
    let names: Vec<String> = checkpoint.names().map(str::to_owned).collect();
    let mut tensors = TensorsByName::default();
    for name in names {
        let Some(tensor) = checkpoint.take(&name) else { continue };
        let (to, tensor) = match marian_name(&name, tables, kind) {
            Some((to, true)) => (to, tensor.transposed()),
            Some((to, false)) if kind == Kind::Mbart && to.ends_with("_Wpos") => {
                let rows = tensor.shape().first().copied().unwrap_or(0);
                let rows = rows.saturating_sub(POSITION_OFFSET);
                let table = tensor.slice_rows(POSITION_OFFSET, rows);
                (to, table.map_err(|reason| Error::mismatch(config.path, &name, reason))?)
            }
            Some((to, false)) => (to, tensor),
            None => (name.clone(), tensor),
        };
        tensors.insert(name, to, tensor, config)?;
    }
    let TensorsByName { mut tensors, names } = tensors;
    // A bias that the file has in another form is not one of zeros.
    if !has_unread_bias {
        fill_biases(&mut tensors, &transformer);
    }
    Ok(NamedTensors { transformer, tensors, names })
}

/// Adds zeros if the bias of the output layer is missing, as in older files of mBART.
fn fill_biases(tensors: &mut BTreeMap<String, Tensor>, transformer: &TransformerConfig) {
    let tables = &transformer.embeddings;
    let table = if tables.tied_output { tables.decoder_table_name() } else { OUTPUT_MATRIX };
    if tables.output_bias
        && !tensors.contains_key(OUTPUT_BIAS)
        && has_size(tensors, table, 0, tables.target_vocab_size)
    {
        tensors.insert(OUTPUT_BIAS.into(), Tensor::zeros(tables.target_vocab_size));
    }
}

fn read_stack(config: &Config, side: &str) -> Result<TransformerStackConfig> {
    Ok(TransformerStackConfig {
        depth: config.number(&format!("{side}_layers"))?,
        heads: config.number(&format!("{side}_attention_heads"))?,
        ffn_width: config.number(&format!("{side}_ffn_dim"))?,
        ffn_depth: 2,
    })
}

fn read_transformer(
    checkpoint: &Checkpoint,
    config: &Config,
    kind: Kind,
) -> Result<TransformerConfig> {
    let is_marian = kind == Kind::Marian;
    for name in ["normalize_before", "normalize_embedding", "add_final_layer_norm"] {
        if is_marian && config.flag(name, false)? {
            return Err(config.unsupported(format!("{name} is true, which MarianMT ignores")));
        }
    }
    let (encoder, decoder) = (read_stack(config, "encoder")?, read_stack(config, "decoder")?);
    for (name, stack) in [("encoder_layers", &encoder), ("decoder_layers", &decoder)] {
        check_range(name, stack.depth, MAX_DEPTH)
            .map_err(|reason| Error::mismatch(config.path, "config.json", reason))?;
    }
    let source_vocab_size = config.number("vocab_size")?;
    let target_vocab_size = config.number_or("decoder_vocab_size", source_vocab_size)?;
    let table = checkpoint.get("model.encoder.embed_positions.weight");
    let rows = table.and_then(|table| table.shape().first()).copied();
    let positional_encoding = match (kind, rows) {
        (Kind::Marian, None) => PositionalEncodingKind::Sinusoidal,
        (Kind::Marian, Some(length)) => PositionalEncodingKind::Table { length },
        // The tables that older versions stored hold the same sinusoids.
        (Kind::M2m100, _) => PositionalEncodingKind::SinusoidalFromTwo,
        (Kind::Mbart, rows) => PositionalEncodingKind::Table {
            length: rows.unwrap_or(0).saturating_sub(POSITION_OFFSET),
        },
    };
    let tied_output = config.flag("tie_word_embeddings", true)?;
    let shares_tables = !(has_separate_tables(checkpoint, tied_output, kind)
        || is_marian && !config.flag("share_encoder_decoder_embeddings", true)?);
    let norm_if = |has_norm| ProcessSteps::norm_if(has_norm, ProcessStep::Norm);
    Ok(TransformerConfig {
        tied_layers: (1..=decoder.depth).collect(),
        alignment_layer: decoder.depth,
        alignment_heads: 1,
        activation: config.activation("activation_function", config.text("activation_function"))?,
        preprocess: norm_if(!is_marian),
        postprocess: ProcessSteps::add_and_norm_if(is_marian, ProcessStep::Norm),
        postprocess_embedding: norm_if(kind == Kind::Mbart),
        postprocess_top: norm_if(!is_marian),
        has_output_projection: true,
        autoregression: AutoregressionConfig::SelfAttention,
        positional_encoding,
        scales_embeddings: config.flag("scale_embedding", kind == Kind::M2m100)?,
        decoder_start: DecoderStart::Token(config.start_token()?),
        pre_norm_keys: PreNormKeys::Normalized,
        norm_epsilon: NORM_EPSILON,
        embeddings: EmbeddingConfig {
            source_vocab_size,
            target_vocab_size,
            dim: config.number("d_model")?,
            shared: shares_tables,
            tied_output,
            output_bias: kind != Kind::M2m100,
            right_to_left: false,
            suppress_tokens: config.suppressed_tokens(target_vocab_size)?,
        },
        encoder,
        decoder,
    })
}

/// Whether encoder and decoder have tables of their own, which version 5 of `transformers` allows
/// in all models whose output layer is not tied. Its files still have Marian's flag of shared
/// tables. Older versions share the table of models that are not Marian's, and pickles have it once
/// for each use.
fn has_separate_tables(checkpoint: &Checkpoint, tied_output: bool, kind: Kind) -> bool {
    let [encoder, decoder] = ["encoder", "decoder"]
        .map(|side| checkpoint.get(&format!("model.{side}.embed_tokens.weight")));
    let (Some(encoder), Some(decoder)) = (encoder, decoder) else { return false };
    !tied_output && (kind == Kind::Marian || encoder.bytes() != decoder.bytes())
}

/// Returns Marian's name for a parameter, and whether the matrix must be transposed.
fn marian_name(name: &str, tables: &EmbeddingConfig, kind: Kind) -> Option<(String, bool)> {
    fn plain(name: &str) -> Option<(String, bool)> {
        Some((name.to_owned(), false))
    }
    match name {
        "model.shared.weight" => return plain(tables.encoder_table_name()),
        "model.encoder.embed_tokens.weight" => return plain(tables.encoder_table_name()),
        "model.decoder.embed_tokens.weight" => return plain(tables.decoder_table_name()),
        "lm_head.weight" if tables.tied_output => return plain(tables.decoder_table_name()),
        "lm_head.weight" => return plain(OUTPUT_MATRIX),
        "final_logits_bias" => return plain(OUTPUT_BIAS),
        _ => {}
    }
    let (side, rest) = name.strip_prefix("model.")?.split_once('.')?;
    if kind != Kind::M2m100 && rest == "embed_positions.weight" {
        return Some((format!("{side}_Wpos"), false));
    }
    if kind != Kind::Marian {
        let (norm, part) = match rest.rsplit_once('.')? {
            (norm, "weight") => (norm, "scale"),
            (norm, _) => (norm, "bias"),
        };
        match norm {
            "layernorm_embedding" => return Some((format!("{side}_emb_ln_{part}_pre"), false)),
            "layer_norm" => return Some((format!("{side}_top_ln_{part}"), false)),
            _ => {}
        }
    }
    let (layer, rest) = rest.strip_prefix("layers.")?.split_once('.')?;
    let layer = layer.parse::<usize>().ok()?.checked_add(1)?;
    let (sublayer, parameter) = rest.rsplit_once('.')?;
    let (norm, matrix) = match parameter {
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
        let suffix = if kind == Kind::Marian { "" } else { "_pre" };
        return Some((format!("{prefix}_{sublayer}_ln_{norm}{suffix}"), false));
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
    Some((to, parameter == "weight"))
}
