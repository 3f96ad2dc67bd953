//! CTranslate2's transformers (`neural.md` 1.10), described as Marian's.
//!
//! Its matrices are `[outputs, inputs]`, with queries, keys and values in one: they become
//! transposed slices of the file, so no weight moves.

use std::collections::BTreeMap;
use std::path::Path;

use super::transformer::{
    Activation, AutoregressionConfig, DecoderStart, Gelu, PositionalEncodingKind, PreNormKeys,
    ProcessStep, ProcessSteps, TransformerConfig, TransformerStackConfig,
};
use super::{Architecture, EmbeddingConfig, Model};
use crate::checkpoint::{Checkpoint, Tensor};
use crate::{Error, Result};

/// The epsilon of layer norms if `config.json` has none.
const NORM_EPSILON: f32 = 1e-5;

/// Flags of features that are not supported; they are ignored when off.
const IGNORED_WHEN_OFF: [&str; 7] = [
    "alibi",
    "alibi_use_positive_positions",
    "scale_alibi",
    "multi_query_attention",
    "with_relative_position",
    "rotary_interleave",
    "layernorm_embedding",
];

/// Settings of the model folder that are not in the checkpoint.
#[derive(Clone, Debug, Default)]
pub struct FolderSettings {
    /// Epsilon of layer norms.
    pub norm_epsilon: Option<f32>,
    /// The id of the decoder's start token.
    pub start_token: Option<u32>,
}

/// The model of a CTranslate2 checkpoint.
///
/// # Errors
/// If the model has a feature that is not supported, or a parameter is missing or has
/// another shape than the model needs.
pub fn resolve(checkpoint: Checkpoint, settings: &FolderSettings) -> Result<Model> {
    let path = checkpoint.path().to_owned();
    let tied_output = checkpoint.alias("decoder/projection/weight").is_some();
    let mut resolver = Resolver { checkpoint, path: &path, tensors: BTreeMap::new() };
    let transformer = resolver.read_transformer(tied_output, settings)?;
    let Resolver { checkpoint, mut tensors, .. } = resolver;
    // A remaining parameter could change what is computed.
    for name in checkpoint.names() {
        let flag = name.rsplit('/').next().unwrap_or(name);
        let number = checkpoint.get(name).filter(|tensor| tensor.numel() == 1);
        let off = number.is_some_and(|tensor| tensor.values() == [0.0]);
        let harmless = off && IGNORED_WHEN_OFF.contains(&flag)
            || matches!(flag, "alignment_heads" | "alignment_layer" | "embeddings_merge")
            || flag == "encodings";
        if !harmless {
            let reason = format!(
                "{name} is not covered; this program reads what CTranslate2's \
                                  converter makes of Marian's transformers"
            );
            return Err(Error::unsupported(&path, reason));
        }
    }
    let shared = transformer.embeddings.shared;
    if shared && let Some(table) = tensors.remove("decoder_Wemb") {
        tensors.insert("Wemb".into(), table);
    }
    Model::new(Architecture::Transformer(transformer), tensors, BTreeMap::new(), &path)
}

struct Resolver<'a> {
    checkpoint: Checkpoint,
    path: &'a Path,
    /// The parameters found so far under Marian's names.
    tensors: BTreeMap<String, Tensor>,
}

impl Resolver<'_> {
    fn read_transformer(
        &mut self,
        tied_output: bool,
        settings: &FolderSettings,
    ) -> Result<TransformerConfig> {
        let encoder = self.read_stack("encoder")?;
        let decoder = self.read_stack("decoder")?;
        let pre_norm = self.flag("encoder/pre_norm")?.unwrap_or(false);
        if self.flag("decoder/pre_norm")?.unwrap_or(false) != pre_norm {
            return Err(self.unsupported(
                "layer norms are at different places in its encoder and its decoder",
            ));
        }
        let scaled = self.flag("encoder/scale_embeddings")?.unwrap_or(true);
        if self.flag("decoder/scale_embeddings")?.unwrap_or(true) != scaled {
            return Err(self.unsupported("embeddings of one side only are scaled"));
        }
        let activation = self.read_activation()?;
        let decoder_start = match (
            self.flag("decoder/start_from_zero_embedding")?,
            settings.start_token,
        ) {
            (Some(true), _) => DecoderStart::ZeroEmbedding,
            (_, Some(id)) => DecoderStart::Token(id),
            _ => return Err(self.unsupported("the token that decoding starts with is not known")),
        };
        let positions = self.take_position_tables()?;
        let alignment = self.checkpoint.get("decoder/alignment_layer");
        let alignment = alignment.and_then(|tensor| tensor.values().first().copied());
        let alignment_layer = match alignment {
            Some(layer) if layer >= 0.0 => layer as usize + 1,
            Some(layer) if layer >= -(decoder.depth as f32) => {
                (decoder.depth as f32 + layer) as usize + 1
            }
            _ => decoder.depth,
        };
        let tables = self.take_embeddings(tied_output)?;
        for (side, stack) in [("encoder", &encoder), ("decoder", &decoder)] {
            self.take_layers(side, stack.depth, pre_norm)?;
        }
        let process = |steps: &[ProcessStep]| ProcessSteps(steps.to_vec());
        Ok(TransformerConfig {
            tied_layers: (1..=decoder.depth).collect(),
            encoder,
            decoder,
            activation,
            preprocess: process(if pre_norm { &[ProcessStep::Norm] } else { &[] }),
            postprocess: process(if pre_norm {
                &[ProcessStep::Add]
            } else {
                &[ProcessStep::Add, ProcessStep::Norm]
            }),
            postprocess_embedding: ProcessSteps::default(),
            postprocess_top: process(if pre_norm { &[ProcessStep::Norm] } else { &[] }),
            has_output_projection: true,
            autoregression: AutoregressionConfig::SelfAttention,
            positional_encoding: positions,
            scales_embeddings: scaled,
            decoder_start,
            pre_norm_keys: PreNormKeys::Normalized,
            alignment_layer,
            norm_epsilon: settings.norm_epsilon.unwrap_or(NORM_EPSILON),
            embeddings: tables,
        })
    }

    fn read_stack(&mut self, side: &str) -> Result<TransformerStackConfig> {
        let has_layer = |layer: usize| {
            let name = format!("{side}/layer_{layer}/ffn/linear_0/weight");
            self.checkpoint.get(&name).is_some()
        };
        let depth = (0..).take_while(|&layer| has_layer(layer)).count();
        let width = self.checkpoint.get(&format!("{side}/layer_0/ffn/linear_0/weight"));
        let ffn_width = width.and_then(|tensor| tensor.shape().first()).copied().unwrap_or(0);
        let heads = match self.number(&format!("{side}/num_heads"))? {
            Some(heads) => heads,
            // Older files have one number for both.
            None => self.number("num_heads")?.unwrap_or(0.0),
        };
        self.checkpoint.take(&format!("{side}/num_heads"));
        Ok(TransformerStackConfig { depth, heads: heads as usize, ffn_width, ffn_depth: 2 })
    }

    fn read_activation(&mut self) -> Result<Activation> {
        let mut numbers = [0.0; 2];
        for (number, side) in numbers.iter_mut().zip(["encoder", "decoder"]) {
            let name = format!("{side}/activation");
            *number = self.number(&name)?.unwrap_or(0.0);
            self.checkpoint.take(&name);
        }
        match numbers {
            [0.0, 0.0] => Ok(Activation::Relu),
            [1.0, 1.0] => Ok(Activation::Gelu(Gelu::Tanh)),
            [2.0, 2.0] => Ok(Activation::Swish),
            [3.0, 3.0] => Ok(Activation::Gelu(Gelu::Exact)),
            [4.0, 4.0] => Ok(Activation::Gelu(Gelu::Sigmoid)),
            other => Err(self.unsupported(format!("activations {other:?} are not covered"))),
        }
    }

    fn take_position_tables(&mut self) -> Result<PositionalEncodingKind> {
        let mut length = None;
        for side in ["encoder", "decoder"] {
            let name = format!("{side}/position_encodings/encodings");
            let Some(table) = self.checkpoint.get(&name).cloned() else {
                return Err(self.unsupported("it has no table of positional encodings"));
            };
            let rows = table.shape().first().copied().unwrap_or(0);
            if length.is_some_and(|length| length != rows) {
                return Err(self.unsupported(
                    "the positional encodings of its encoder and decoder differ in length",
                ));
            }
            length = Some(rows);
            self.tensors.insert(format!("{side}_Wpos"), table);
        }
        for side in ["encoder", "decoder"] {
            self.checkpoint.take(&format!("{side}/position_encodings/encodings"));
        }
        Ok(PositionalEncodingKind::Table { length: length.unwrap_or(0) })
    }

    fn take_embeddings(&mut self, tied_output: bool) -> Result<EmbeddingConfig> {
        const ENCODER: [&str; 2] = ["encoder/embeddings_0/weight", "encoder/embeddings/weight"];
        const DECODER: &str = "decoder/embeddings/weight";
        let encoder_name =
            *ENCODER.iter().find(|name| self.checkpoint.get(name).is_some()).unwrap_or(&ENCODER[0]);
        let original = |name: &str| self.checkpoint.alias(name).unwrap_or(name).to_owned();
        let shared_embeddings = original(encoder_name) == original(DECODER);
        let get = |name: &str| {
            let missing = || Error::mismatch(self.path, name, "it is missing");
            self.checkpoint.get(name).cloned().ok_or_else(missing)
        };
        let (encoder, decoder) = (get(encoder_name)?, get(DECODER)?);
        let output = get("decoder/projection/weight")?;
        let bias = self.checkpoint.get("decoder/projection/bias").cloned();
        let dimension = |tensor: &Tensor, k: usize| tensor.shape().get(k).copied().unwrap_or(0);
        let tables = EmbeddingConfig {
            source_vocab_size: dimension(&encoder, 0),
            target_vocab_size: dimension(&decoder, 0),
            dim: dimension(&encoder, 1),
            shared: shared_embeddings,
            tied_output,
            output_bias: bias.is_some(),
            right_to_left: false,
            suppress_tokens: Vec::new(),
        };
        let taken = [encoder_name, DECODER, "decoder/projection/weight", "decoder/projection/bias"];
        for name in taken {
            self.checkpoint.take(name);
        }
        if !shared_embeddings {
            self.tensors.insert("encoder_Wemb".into(), encoder);
        }
        self.tensors.insert("decoder_Wemb".into(), decoder);
        if !tied_output {
            self.tensors.insert("decoder_ff_logit_out_Wt".into(), output);
        }
        if let Some(bias) = bias {
            self.tensors.insert("decoder_ff_logit_out_b".into(), bias);
        }
        Ok(tables)
    }

    fn take_layers(&mut self, side: &str, depth: usize, pre_norm: bool) -> Result<()> {
        for layer in 0..depth {
            let from = format!("{side}/layer_{layer}");
            let to = format!("{side}_l{}", layer + 1);
            let (own, own_to) = (format!("{from}/self_attention"), format!("{to}_self"));
            self.take_matrices(&format!("{own}/linear_0"), &own_to, &["q", "k", "v"])?;
            self.take_matrices(&format!("{own}/linear_1"), &own_to, &["o"])?;
            self.take_layer_norm(&format!("{own}/layer_norm"), &format!("{own_to}_Wo"), pre_norm)?;
            if side == "decoder" {
                let (context, context_to) = (format!("{from}/attention"), format!("{to}_context"));
                self.take_matrices(&format!("{context}/linear_0"), &context_to, &["q"])?;
                self.take_matrices(&format!("{context}/linear_1"), &context_to, &["k", "v"])?;
                self.take_matrices(&format!("{context}/linear_2"), &context_to, &["o"])?;
                self.take_layer_norm(
                    &format!("{context}/layer_norm"),
                    &format!("{context_to}_Wo"),
                    pre_norm,
                )?;
            }
            let (ffn, ffn_to) = (format!("{from}/ffn"), format!("{to}_ffn"));
            self.take_matrices(&format!("{ffn}/linear_0"), &ffn_to, &["1"])?;
            self.take_matrices(&format!("{ffn}/linear_1"), &ffn_to, &["2"])?;
            self.take_layer_norm(&format!("{ffn}/layer_norm"), &format!("{ffn_to}_ffn"), pre_norm)?;
        }
        if pre_norm {
            self.take_layer_norm(&format!("{side}/layer_norm"), &format!("{side}_top"), false)?;
        }
        Ok(())
    }

    /// Splits a matrix of several stacked by rows, and their biases, into `parts`.
    fn take_matrices(&mut self, from: &str, to: &str, parts: &[&str]) -> Result<()> {
        for (what, letter) in [("weight", 'W'), ("bias", 'b')] {
            let name = format!("{from}/{what}");
            let tensor = self.take(&name)?;
            let rows = tensor.shape().first().copied().unwrap_or(0);
            if !rows.is_multiple_of(parts.len()) {
                let reason = format!("{rows} rows are not {} matrices", parts.len());
                return Err(Error::mismatch(self.path, &name, reason));
            }
            let rows = rows / parts.len();
            for (k, part) in parts.iter().enumerate() {
                let matrix = tensor.slice_rows(k * rows, rows);
                let matrix = matrix.map_err(|e| Error::mismatch(self.path, &name, e))?;
                self.tensors.insert(format!("{to}_{letter}{part}"), matrix.transposed());
            }
        }
        Ok(())
    }

    fn take_layer_norm(&mut self, from: &str, to: &str, pre: bool) -> Result<()> {
        let suffix = if pre { "_pre" } else { "" };
        for (their_name, name) in [("gamma", "scale"), ("beta", "bias")] {
            let tensor = self.take(&format!("{from}/{their_name}"))?;
            self.tensors.insert(format!("{to}_ln_{name}{suffix}"), tensor);
        }
        Ok(())
    }

    fn take(&mut self, name: &str) -> Result<Tensor> {
        let missing = || Error::mismatch(self.path, name, "it is missing");
        self.checkpoint.take(name).ok_or_else(missing)
    }

    fn number(&self, name: &str) -> Result<Option<f32>> {
        match self.checkpoint.get(name) {
            None => Ok(None),
            Some(tensor) if tensor.numel() == 1 => Ok(tensor.values().first().copied()),
            Some(_) => Err(Error::mismatch(self.path, name, "this should be one number")),
        }
    }

    fn flag(&mut self, name: &str) -> Result<Option<bool>> {
        let number = self.number(name)?;
        self.checkpoint.take(name);
        Ok(number.map(|number| number != 0.0))
    }

    fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::unsupported(self.path, reason)
    }
}
