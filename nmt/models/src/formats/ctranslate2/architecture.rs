//! CTranslate2's transformers, whichever toolkit they come from (`neural.md` 1.10), with Marian's
//! names and shapes of parameters.
//!
//! CTranslate2's matrices are `[outputs, inputs]`. One matrix has the queries, keys and values of
//! self-attention, and one the keys and values of attention to the source. Marian's matrices are
//! made as transposed views of rows in the file, so no weight is copied unless several heads of
//! queries share a head of keys.

mod attention;

use std::collections::BTreeMap;
use std::path::Path;

use crate::architecture::{
    Activation, Architecture, AutoregressionConfig, DecoderStart, EmbeddingConfig, Gelu, Model,
    PositionalEncodingKind, PreNormKeys, ProcessStep, ProcessSteps, RelativeBiasConfig,
    TransformerConfig, TransformerStackConfig,
};
use crate::checkpoint::{Checkpoint, CheckpointFormat, DType, Tensor};
use crate::{Error, Result};

/// The epsilon of layer norms if `config.json` has none.
const NORM_EPSILON: f32 = 1e-5;
/// The epsilon of RMS norms in that case.
const RMS_EPSILON: f32 = 1e-6;

/// Flags that are ignored when off, and not supported when on.
const IGNORED_WHEN_OFF: [&str; 6] = [
    "alibi",
    "alibi_use_positive_positions",
    "scale_alibi",
    "rotary_interleave",
    "layernorm_embedding",
    "layer_norm_use_residual",
];

/// Returns the model of a CTranslate2 checkpoint. `norm_epsilon` is the epsilon of all norms, if
/// `config.json` has one (`layer_norm_epsilon`).
///
/// # Errors
/// If the model has a feature that is not supported, or a parameter is missing or has the wrong
/// shape.
pub fn resolve(checkpoint: Checkpoint, norm_epsilon: Option<f32>) -> Result<Model> {
    let path = checkpoint.path().to_owned();
    // Older files do not store the number of heads; it follows from the kind of model.
    let default_heads = match (checkpoint.model_kind(), checkpoint.format()) {
        (Some("TransformerBig"), CheckpointFormat::CTranslate2 { revision: ..3, .. }) => 16,
        _ => 8,
    };
    let mut resolver =
        Resolver { checkpoint, path: &path, tensors: BTreeMap::new(), default_heads };
    let transformer = resolver.read_transformer(norm_epsilon)?;
    let Resolver { checkpoint, mut tensors, .. } = resolver;
    // A remaining parameter could change the results.
    for name in checkpoint.names() {
        let flag = name.rsplit('/').next().unwrap_or(name);
        let number = checkpoint.get(name).filter(|tensor| tensor.numel() == 1);
        let is_off = number.is_some_and(|tensor| tensor.values() == [0.0]);
        let is_harmless = is_off && IGNORED_WHEN_OFF.contains(&flag)
            || matches!(
                flag,
                "alignment_heads" | "alignment_layer" | "embeddings_merge" | "num_heads"
            )
            // The tables of positions tell whether positions are relative.
            || flag == "with_relative_position";
        if !is_harmless {
            let reason = format!(
                "{name} is not supported; this program reads encoder-decoders with absolute or \
                 relative positions"
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

/// The kinds of norms, feed-forward layers and relative positions, which all layers share.
struct LayerVariant {
    norm: ProcessStep,
    /// Whether feed-forward layers are gated.
    is_gated: bool,
    /// `None` if positions are absolute.
    relative: Option<PositionalEncodingKind>,
}

struct Resolver<'a> {
    checkpoint: Checkpoint,
    path: &'a Path,
    /// The parameters taken so far, by their names in Marian.
    tensors: BTreeMap<String, Tensor>,
    /// The number of heads if the file does not store it.
    default_heads: usize,
}

impl Resolver<'_> {
    fn read_transformer(&mut self, norm_epsilon: Option<f32>) -> Result<TransformerConfig> {
        let encoder = self.read_stack("encoder")?;
        let decoder = self.read_stack("decoder")?;
        let pre_norm = self.flag("encoder/pre_norm")?.unwrap_or(true);
        if self.flag("decoder/pre_norm")?.unwrap_or(true) != pre_norm {
            return Err(self.unsupported(
                "layer norms are at different places in its encoder and its decoder",
            ));
        }
        let scaled = self.scales_embeddings("encoder")?;
        if self.scales_embeddings("decoder")? != scaled {
            return Err(self.unsupported("embeddings are scaled on one side only"));
        }
        let activation = self.read_activation()?;
        // The id of the start token is set when the vocabulary is known.
        let decoder_start = match self.flag("decoder/start_from_zero_embedding")? {
            Some(true) => DecoderStart::ZeroEmbedding,
            _ => DecoderStart::Token(0),
        };
        let variant = self.read_variant(&encoder)?;
        let positions = match variant.relative {
            Some(relative) => relative,
            None => self.take_position_tables()?,
        };
        // The file counts layers from 0, or backwards from -1, the last one. A layer that the
        // decoder does not have is rejected with the other options.
        let alignment_layer = match self.number("decoder/alignment_layer")? {
            None => decoder.depth,
            Some(layer) if layer < 0.0 => (decoder.depth as f32 + layer + 1.0) as usize,
            Some(layer) => (layer as usize).saturating_add(1),
        };
        let alignment_heads = match self.number("decoder/alignment_heads")? {
            None => 1,
            // All heads.
            Some(0.0) => decoder.heads as u32,
            Some(heads) => heads as u32,
        };
        let tables = self.take_embeddings()?;
        for (side, stack) in [("encoder", &encoder), ("decoder", &decoder)] {
            self.take_layers(side, stack, &variant, pre_norm)?;
        }
        let norms_embeddings =
            self.take_side_norms("layernorm_embedding", "emb", &variant, true)?;
        let norms_output = self.take_side_norms("layer_norm", "top", &variant, false)?;
        self.scale_outputs(&variant)?;

        let default_epsilon = match variant.norm {
            ProcessStep::RmsNorm => RMS_EPSILON,
            _ => NORM_EPSILON,
        };
        Ok(TransformerConfig {
            tied_layers: (1..=decoder.depth).collect(),
            encoder,
            decoder,
            activation: if variant.is_gated { activation.gated() } else { activation },
            preprocess: ProcessSteps::norm_if(pre_norm, variant.norm),
            postprocess: ProcessSteps::add_and_norm_if(!pre_norm, variant.norm),
            postprocess_embedding: ProcessSteps::norm_if(norms_embeddings, variant.norm),
            postprocess_top: ProcessSteps::norm_if(norms_output, variant.norm),
            has_output_projection: true,
            autoregression: AutoregressionConfig::SelfAttention,
            positional_encoding: positions,
            scales_embeddings: scaled,
            decoder_start,
            pre_norm_keys: PreNormKeys::Normalized,
            alignment_layer,
            alignment_heads,
            norm_epsilon: norm_epsilon.unwrap_or(default_epsilon),
            embeddings: tables,
        })
    }

    /// Whether the embeddings of a side are multiplied by the square root of their width. The file
    /// has a flag or the factor itself; if it has neither, they are.
    fn scales_embeddings(&mut self, side: &str) -> Result<bool> {
        let names = ["scale_embeddings", "embeddings/multiply_by_sqrt_depth"];
        let names = names.map(|name| format!("{side}/{name}"));
        let found = names.iter().find(|name| self.checkpoint.get(name).is_some());
        let Some(name) = found else { return Ok(true) };
        let is_flag = self.checkpoint.get(name).is_some_and(|flag| flag.dtype() == DType::I8);
        let number = self.number(name)?.unwrap_or(1.0);
        self.checkpoint.take(name);
        if is_flag {
            return Ok(number != 0.0);
        }
        let table = self.checkpoint.get("decoder/embeddings/weight");
        let width = table.and_then(|table| table.shape().last()).copied().unwrap_or(0) as f32;
        if number == 1.0 {
            Ok(false)
        } else if (number - width.sqrt()).abs() <= 1e-5 * number.abs() {
            Ok(true)
        } else {
            let reason =
                format!("embeddings are multiplied by {number}, not by the root of {width}");
            Err(self.unsupported(reason))
        }
    }

    fn read_stack(&mut self, side: &str) -> Result<TransformerStackConfig> {
        let depth = (0..).take_while(|layer| {
            let name = format!("{side}/layer_{layer}/ffn/linear_0/weight");
            self.checkpoint.get(&name).is_some()
        });
        let depth = depth.count();
        let width = self.checkpoint.get(&format!("{side}/layer_0/ffn/linear_0/weight"));
        let ffn_width = width.and_then(|tensor| tensor.shape().first()).copied().unwrap_or(0);
        let heads = match self.count(&format!("{side}/num_heads"))? {
            Some(heads) => heads,
            // Older files have one number for both sides.
            None => self.count("num_heads")?.unwrap_or(self.default_heads),
        };
        self.checkpoint.take(&format!("{side}/num_heads"));
        Ok(TransformerStackConfig { depth, heads, ffn_width, ffn_depth: 2 })
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
            other => Err(self.unsupported(format!("activations {other:?} are not supported"))),
        }
    }

    fn take_position_tables(&mut self) -> Result<PositionalEncodingKind> {
        let mut length = None;
        for side in ["encoder", "decoder"] {
            let name = format!("{side}/position_encodings/encodings");
            let Some(table) = self.checkpoint.take(&name) else {
                if length.is_some() {
                    return Err(self.unsupported("only its encoder has a table of positions"));
                }
                continue;
            };
            if length.is_none() && side == "decoder" {
                return Err(self.unsupported("only its decoder has a table of positions"));
            }
            let rows = table.shape().first().copied().unwrap_or(0);
            if length.is_some_and(|length| length != rows) {
                return Err(self.unsupported(
                    "the positional encodings of its encoder and decoder differ in length",
                ));
            }
            length = Some(rows);
            self.tensors.insert(format!("{side}_Wpos"), table);
        }
        Ok(match length {
            Some(length) => PositionalEncodingKind::Table { length },
            None => PositionalEncodingKind::SinusoidalFromOne,
        })
    }

    fn take_embeddings(&mut self) -> Result<EmbeddingConfig> {
        const ENCODER: [&str; 2] = ["encoder/embeddings_0/weight", "encoder/embeddings/weight"];
        const DECODER: &str = "decoder/embeddings/weight";
        const OUTPUT: &str = "decoder/projection/weight";
        let encoder_name =
            *ENCODER.iter().find(|name| self.checkpoint.get(name).is_some()).unwrap_or(&ENCODER[0]);
        let [encoder_table, decoder_table, output_table] =
            [encoder_name, DECODER, OUTPUT].map(|name| self.checkpoint.alias(name).unwrap_or(name));
        let shared_embeddings = encoder_table == decoder_table;
        let tied_output = output_table == decoder_table;
        let (encoder, decoder) = (self.get(encoder_name)?, self.get(DECODER)?);
        let output = self.get(OUTPUT)?;
        let bias = self.checkpoint.get("decoder/projection/bias").cloned();
        fn dimension(tensor: &Tensor, k: usize) -> usize {
            tensor.shape().get(k).copied().unwrap_or(0)
        }
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
        for name in [encoder_name, DECODER, OUTPUT, "decoder/projection/bias"] {
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

    /// Reads the norms, gates and relative positions from the first layer of the encoder.
    fn read_variant(&self, encoder: &TransformerStackConfig) -> Result<LayerVariant> {
        let first = "encoder/layer_0";
        let has = |name: &str| self.checkpoint.get(&format!("{first}/{name}")).is_some();
        let rows = |name: &str| {
            let tensor = self.checkpoint.get(&format!("{first}/self_attention/{name}"));
            tensor.and_then(|tensor| tensor.shape().first()).copied().unwrap_or(0)
        };
        let norm =
            if has("ffn/layer_norm/beta") { ProcessStep::Norm } else { ProcessStep::RmsNorm };
        let relative = if has("self_attention/relative_position_keys") {
            let classes = rows("relative_position_keys");
            Some(PositionalEncodingKind::RelativeVectors { max_distance: classes / 2 })
        } else if has("self_attention/relative_attention_bias") {
            let name = "self_attention/relative_attention_max_distance";
            let max_distance = self.count(&format!("{first}/{name}"))?.unwrap_or(128);
            let heads = self.heads("encoder", &format!("{first}/self_attention"), encoder.heads)?;
            Some(PositionalEncodingKind::RelativeBias(RelativeBiasConfig {
                buckets: rows("relative_attention_bias"),
                max_distance,
                head_dim: rows("linear_0/weight") / (heads.queries + 2 * heads.keys).max(1),
            }))
        } else {
            None
        };
        Ok(LayerVariant { norm, is_gated: has("ffn/linear_0_noact/weight"), relative })
    }

    fn take_layers(
        &mut self,
        side: &str,
        stack: &TransformerStackConfig,
        variant: &LayerVariant,
        pre_norm: bool,
    ) -> Result<()> {
        for layer in 0..stack.depth {
            let from = format!("{side}/layer_{layer}");
            let to = format!("{side}_l{}", layer + 1);
            let (attention, attention_to) =
                (format!("{from}/self_attention"), format!("{to}_self"));
            let heads = self.heads(side, &attention, stack.heads)?;
            self.take_attention(&attention, &attention_to, heads, true)?;
            self.take_relative_positions(&attention, &attention_to, side, variant)?;
            self.take_norm(
                &format!("{attention}/layer_norm"),
                &format!("{attention_to}_Wo"),
                variant,
                pre_norm,
            )?;
            if side == "decoder" {
                let (context, context_to) = (format!("{from}/attention"), format!("{to}_context"));
                let heads = self.heads(side, &context, stack.heads)?;
                self.take_attention(&context, &context_to, heads, false)?;
                let norm_to = format!("{context_to}_Wo");
                self.take_norm(&format!("{context}/layer_norm"), &norm_to, variant, pre_norm)?;
            }
            let (ffn, ffn_to) = (format!("{from}/ffn"), format!("{to}_ffn"));
            self.take_affine(&format!("{ffn}/linear_0"), &ffn_to, "1")?;
            self.take_affine(&format!("{ffn}/linear_1"), &ffn_to, "2")?;
            if variant.is_gated {
                self.take_affine(&format!("{ffn}/linear_0_noact"), &ffn_to, "g")?;
            }
            let norm_to = format!("{ffn_to}_ffn");
            self.take_norm(&format!("{ffn}/layer_norm"), &norm_to, variant, pre_norm)?;
        }
        self.checkpoint.take(&format!("{side}/multi_query_attention"));
        Ok(())
    }

    /// Takes the weight and the bias of a matrix `[outputs, inputs]`, zeros for a missing bias.
    fn take_linear(&mut self, from: &str) -> Result<[Tensor; 2]> {
        let weight = self.take(&format!("{from}/weight"))?;
        let rows = weight.shape().first().copied().unwrap_or(0);
        // A matrix without columns may claim any number of rows; memory for them must not be
        // allocated.
        if weight.numel() == 0 {
            let reason = format!("its shape is {:?}: it has no numbers", weight.shape());
            return Err(Error::mismatch(self.path, &format!("{from}/weight"), reason));
        }
        let bias = self.checkpoint.take(&format!("{from}/bias"));
        let bias = bias.unwrap_or_else(|| Tensor::zeros(rows));
        if bias.numel() != rows {
            let reason = format!("its shape is {:?}, expected [{rows}]", bias.shape());
            return Err(Error::mismatch(self.path, &format!("{from}/bias"), reason));
        }
        Ok([weight, bias])
    }

    fn take_affine(&mut self, from: &str, to: &str, part: &str) -> Result<()> {
        let [weight, bias] = self.take_linear(from)?;
        self.tensors.insert(format!("{to}_W{part}"), weight.transposed());
        self.tensors.insert(format!("{to}_b{part}"), bias);
        Ok(())
    }

    fn take_norm(&mut self, from: &str, to: &str, variant: &LayerVariant, pre: bool) -> Result<()> {
        let suffix = if pre { "_pre" } else { "" };
        let parts: &[_] = match variant.norm {
            ProcessStep::RmsNorm => &[("gamma", "rms_scale")],
            _ => &[("gamma", "ln_scale"), ("beta", "ln_bias")],
        };
        for (stored_name, name) in parts {
            let tensor = self.take(&format!("{from}/{stored_name}"))?;
            self.tensors.insert(format!("{to}_{name}{suffix}"), tensor);
        }
        Ok(())
    }

    /// Takes the norm `name` of each side, if it has one. Returns whether there are such norms.
    fn take_side_norms(
        &mut self,
        name: &str,
        to: &str,
        variant: &LayerVariant,
        pre: bool,
    ) -> Result<bool> {
        let has = ["encoder", "decoder"]
            .map(|side| self.checkpoint.get(&format!("{side}/{name}/gamma")).is_some());
        if has[0] != has[1] {
            return Err(self.unsupported(format!("only one side has {name}")));
        }
        for side in ["encoder", "decoder"].into_iter().filter(|_| has[0]) {
            self.take_norm(&format!("{side}/{name}"), &format!("{side}_{to}"), variant, pre)?;
        }
        Ok(has[0])
    }

    /// Moves the factor of the logits into the decoder's last norm.
    fn scale_outputs(&mut self, variant: &LayerVariant) -> Result<()> {
        let name = "decoder/scale_outputs";
        let Some(factor) = self.number(name)? else { return Ok(()) };
        self.checkpoint.take(name);
        if factor == 1.0 {
            return Ok(());
        }
        if !factor.is_finite() || factor == 0.0 {
            return Err(self.unsupported(format!(
                "outputs are multiplied by {factor}, expected a finite number other than 0"
            )));
        }
        let norms: &[&str] = match variant.norm {
            ProcessStep::RmsNorm => &["rms_scale"],
            _ => &["ln_scale", "ln_bias"],
        };
        for part in norms {
            let name = format!("decoder_top_{part}");
            let tensor = self.tensors.remove(&name).ok_or_else(|| {
                self.unsupported(format!(
                    "outputs are multiplied by {factor}, but no norm comes before them"
                ))
            })?;
            let scaled = tensor.scaled(factor);
            let scaled = scaled.map_err(|reason| Error::mismatch(self.path, &name, reason))?;
            self.tensors.insert(name, scaled);
        }
        Ok(())
    }

    fn get(&self, name: &str) -> Result<Tensor> {
        let tensor = self.checkpoint.get(name).cloned();
        tensor.ok_or_else(|| Error::mismatch(self.path, name, "it is missing"))
    }

    fn take(&mut self, name: &str) -> Result<Tensor> {
        let tensor = self.get(name);
        self.checkpoint.take(name);
        tensor
    }

    fn number(&self, name: &str) -> Result<Option<f32>> {
        match self.checkpoint.get(name) {
            None => Ok(None),
            Some(tensor) if tensor.numel() == 1 => Ok(tensor.values().first().copied()),
            Some(_) => Err(Error::mismatch(self.path, name, "expected one number")),
        }
    }

    fn count(&self, name: &str) -> Result<Option<usize>> {
        let Some(number) = self.number(name)? else { return Ok(None) };
        if number.fract() != 0.0 || !(0.0..16_777_216.0).contains(&number) {
            let reason = format!("{number} is not a whole number from 0 to 16,777,215");
            return Err(Error::mismatch(self.path, name, reason));
        }
        Ok(Some(number as usize))
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
