//! Transformers (`neural.md` 1.6): Marian's with all its switches, and the variants that
//! CTranslate2 and Hugging Face have.

use serde::{Deserialize, Serialize};

use super::{EmbeddingConfig, MAX_DEPTH, MAX_WIDTH, check_range};

/// The configuration of a transformer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransformerConfig {
    /// Vocabulary sizes, embeddings and output layer.
    pub embeddings: EmbeddingConfig,
    /// The encoder's layers: self-attention and feed-forward; none in a language model.
    pub encoder: TransformerStackConfig,
    /// The decoder's layers: [`AutoregressionConfig`], cross-attention if there is a source,
    /// feed-forward.
    pub decoder: TransformerStackConfig,
    /// For each decoder layer the number, from 1, of the layer whose parameters it uses. Each
    /// layer has its own KV cache.
    pub tied_layers: Vec<usize>,
    /// The activation function of feed-forward layers.
    pub activation: Activation,
    /// Steps on the input of a sublayer.
    pub preprocess: ProcessSteps,
    /// Steps on the output of a sublayer.
    pub postprocess: ProcessSteps,
    /// Steps on embeddings after positional encodings are added.
    pub postprocess_embedding: ProcessSteps,
    /// Steps after the last layer of encoder and decoder.
    pub postprocess_top: ProcessSteps,
    /// Whether attention has an output projection.
    pub has_output_projection: bool,
    /// The decoder's sublayer over previous positions.
    pub autoregression: AutoregressionConfig,
    /// The positional encoding.
    pub positional_encoding: PositionalEncodingKind,
    /// Whether embeddings are multiplied by the square root of their width.
    pub scales_embeddings: bool,
    /// The decoder's input at the first step.
    pub decoder_start: DecoderStart,
    /// The input of keys and values of self-attention with pre-norm.
    pub pre_norm_keys: PreNormKeys,
    /// The decoder layer, from 1, whose first cross-attention heads give alignments.
    pub alignment_layer: usize,
    /// The number of these heads, whose attention is averaged.
    // Not in the metadata of model files, whose layout is fixed; see their `Extensions`.
    #[serde(skip, default = "one_head")]
    pub alignment_heads: u32,
    /// The epsilon of layer norms, added to the variance.
    pub norm_epsilon: f32,
}

fn one_head() -> u32 {
    1
}

/// The shape of the encoder or decoder stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransformerStackConfig {
    /// The number of layers.
    pub depth: usize,
    /// The number of attention heads; it divides the width.
    pub heads: usize,
    /// The inner width of feed-forward layers.
    pub ffn_width: usize,
    /// The number of affine layers of a feed-forward layer, at least 2.
    pub ffn_depth: usize,
}

/// Activation functions of feed-forward layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Activation {
    /// max(x, 0).
    Relu,
    /// x sigmoid(x).
    Swish,
    /// x Phi(x) in one of its forms; Phi is the normal distribution function.
    Gelu(Gelu),
    /// A gated linear unit: relu of one product times another product (Shazeer 2020).
    GatedRelu,
    /// As [`GatedRelu`](Self::GatedRelu) with swish.
    GatedSwish,
    /// As [`GatedRelu`](Self::GatedRelu) with a form of gelu.
    GatedGelu(Gelu),
}

impl Activation {
    /// Returns the gated linear unit with this function.
    pub fn gated(self) -> Self {
        match self.function() {
            Activation::Swish => Activation::GatedSwish,
            Activation::Gelu(form) => Activation::GatedGelu(form),
            _ => Activation::GatedRelu,
        }
    }

    /// Returns the function without the gate.
    pub fn function(self) -> Self {
        match self {
            Activation::GatedRelu => Activation::Relu,
            Activation::GatedSwish => Activation::Swish,
            Activation::GatedGelu(form) => Activation::Gelu(form),
            plain => plain,
        }
    }

    /// Whether feed-forward layers have a second product.
    pub fn is_gated(self) -> bool {
        self.function() != self
    }

    fn name(self) -> &'static str {
        match self.function() {
            Activation::Swish => "swish",
            Activation::Gelu(Gelu::Sigmoid) => "gelu as x sigmoid(1.702 x)",
            Activation::Gelu(Gelu::Exact) => "gelu",
            Activation::Gelu(Gelu::Tanh) => "gelu by tanh",
            _ => "relu",
        }
    }
}

/// Forms of x Phi(x), exact or approximate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gelu {
    /// x sigmoid(1.702 x): Marian up to 1.9 and its fork for browsers.
    Sigmoid,
    /// By the error function: Marian since 1.10, Hugging Face.
    Exact,
    /// By the hyperbolic tangent.
    Tanh,
}

/// A processing step before or after a sublayer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProcessStep {
    /// Residual connection: add the sublayer's input.
    Add,
    /// Layer norm.
    Norm,
    /// Layer norm without a mean: the root mean square norm (Zhang and Sennrich 2019).
    RmsNorm,
}

/// Processing steps in order, at most one of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessSteps(pub Vec<ProcessStep>);

impl ProcessSteps {
    /// Returns `norm` alone, or no step.
    pub(crate) fn norm_if(has_norm: bool, norm: ProcessStep) -> Self {
        ProcessSteps(if has_norm { vec![norm] } else { Vec::new() })
    }

    /// Returns the residual connection, with `norm` after it if there is one.
    pub(crate) fn add_and_norm_if(has_norm: bool, norm: ProcessStep) -> Self {
        ProcessSteps(if has_norm { vec![ProcessStep::Add, norm] } else { vec![ProcessStep::Add] })
    }

    /// Whether a layer norm is among the steps.
    pub fn has_norm(&self) -> bool {
        self.norm().is_some()
    }

    /// Returns the norm among the steps.
    pub fn norm(&self) -> Option<ProcessStep> {
        self.0.iter().copied().find(|step| *step != ProcessStep::Add)
    }
}

impl std::fmt::Display for ProcessSteps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing");
        }
        let names = self.0.iter().map(|step| match step {
            ProcessStep::Add => "add",
            ProcessStep::Norm => "norm",
            ProcessStep::RmsNorm => "RMS norm",
        });
        f.write_str(&names.collect::<Vec<_>>().join(", "))
    }
}

/// The sublayer of a decoder layer over the previous target positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AutoregressionConfig {
    /// Masked self-attention.
    SelfAttention,
    /// Average attention: the mean of all inputs so far (Zhang et al. 2018).
    AverageAttention(AverageAttentionConfig),
    /// A simple recurrent cell.
    Recurrent(RecurrentSublayerConfig),
}

/// The configuration of average attention.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AverageAttentionConfig {
    /// The depth of the feed-forward layer after the mean, counted as Marian does: 1 means that
    /// there is none; 2 means `W1`, followed by `W2` if `ffn_width` is not the embeddings' width.
    pub ffn_depth: usize,
    /// The inner width of the feed-forward layer.
    pub ffn_width: usize,
    /// The activation function of the feed-forward layer.
    pub activation: Activation,
    /// Whether a gate combines the input with the mean.
    pub has_gate: bool,
}

/// A recurrent cell that replaces self-attention.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecurrentSublayerConfig {
    /// The cell.
    pub kind: SruKind,
    /// Whether it has an output projection.
    pub has_output_projection: bool,
    /// Whether the projections of its input and gates have layer norms.
    pub has_layer_norm: bool,
}

/// Simple recurrent units: their gates do not depend on the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SruKind {
    /// Simpler simple recurrent unit (Kim et al. 2019).
    Ssru,
    /// Simple recurrent unit (Lei et al. 2018).
    Sru,
}

/// Kinds of positional encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PositionalEncodingKind {
    /// No positional encoding.
    None,
    /// Sines in the first half of the width, cosines in the second, of
    /// position * exp(-i ln(10000) / (m - 1)), i < m, m half of the width: Marian.
    SinusoidalMarian,
    /// As [`SinusoidalMarian`](Self::SinusoidalMarian), but divided by m, not by m - 1: Hugging
    /// Face.
    Sinusoidal,
    /// Rows of tables `encoder_Wpos` and `decoder_Wpos`.
    Table {
        /// The number of rows of both tables.
        length: usize,
    },
    /// As [`SinusoidalMarian`](Self::SinusoidalMarian), but positions begin at 1: OpenNMT-tf.
    SinusoidalFromOne,
    /// A vector for each distance is added to keys and values of self-attention (Shaw et al. 2018).
    RelativeVectors {
        /// The distance from which on all distances have the same vectors.
        max_distance: usize,
    },
    /// A bias for each distance is added to the scores of self-attention: T5.
    RelativeBias(RelativeBiasConfig),
    /// As [`SinusoidalMarian`](Self::SinusoidalMarian), but positions begin at 2: M2M-100, where
    /// fairseq reserves two positions for padding.
    SinusoidalFromTwo,
}

/// The biases of relative positions in T5's attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelativeBiasConfig {
    /// The number of classes of distances; each class has a bias for each head.
    pub buckets: usize,
    /// The distance from which on all distances belong to the last class.
    pub max_distance: usize,
    /// The width of a head, which may differ from the width of embeddings divided by the number of
    /// heads.
    pub head_dim: usize,
}

impl PositionalEncodingKind {
    /// Returns the number of the first position.
    pub fn first_position(self) -> u32 {
        match self {
            PositionalEncodingKind::SinusoidalFromOne => 1,
            PositionalEncodingKind::SinusoidalFromTwo => 2,
            _ => 0,
        }
    }
}

/// The decoder's input at the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecoderStart {
    /// Zeros instead of an embedding.
    ZeroEmbedding,
    /// The embedding of this token.
    Token(u32),
}

/// The input of keys and values of self-attention with pre-norm, where versions of Marian
/// differ (`neural.md` 1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PreNormKeys {
    /// The input before the norm: Marian up to 1.9 and its fork for browsers.
    Raw,
    /// The normalised input; in the decoder only at the first step. Marian decodes with this since
    /// 1.10.
    NormalizedAtFirstStep,
    /// The normalised input. Marian trains with this since 1.10, and all other programs use it.
    Normalized,
}

impl TransformerConfig {
    /// Whether programs that read only the first two versions of our model files support this
    /// configuration.
    pub(crate) fn is_of_first_versions(&self) -> bool {
        let steps = [
            &self.preprocess,
            &self.postprocess,
            &self.postprocess_embedding,
            &self.postprocess_top,
        ];
        let has_rms = steps.into_iter().any(|steps| steps.norm() == Some(ProcessStep::RmsNorm));
        let has_new_positions = matches!(
            self.positional_encoding,
            PositionalEncodingKind::SinusoidalFromOne
                | PositionalEncodingKind::SinusoidalFromTwo
                | PositionalEncodingKind::RelativeVectors { .. }
                | PositionalEncodingKind::RelativeBias(_)
        );
        !has_rms && !has_new_positions && !self.activation.is_gated() && self.alignment_heads == 1
    }

    /// Whether there is an encoder, and attention to it; a language model has neither.
    pub fn has_source(&self) -> bool {
        self.encoder.depth > 0
    }

    /// Returns the width of all heads of attention in a stack side by side.
    pub fn attention_width(&self, stack: &TransformerStackConfig) -> usize {
        match self.positional_encoding {
            // Before validation, a damaged configuration may have any numbers.
            PositionalEncodingKind::RelativeBias(bias) => stack.heads.saturating_mul(bias.head_dim),
            _ => self.embeddings.dim,
        }
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        let d = self.embeddings.dim;
        for (side, stack) in [("encoder", &self.encoder), ("decoder", &self.decoder)] {
            let least = usize::from(side == "decoder");
            if !(least..=MAX_DEPTH).contains(&stack.depth) {
                let depth = stack.depth;
                return Err(format!(
                    "depth of the {side}: {depth} is out of range, {least} to {MAX_DEPTH}"
                ));
            }
            check_range("width of feed-forward layers", stack.ffn_width, MAX_WIDTH)?;
            check_range("heads", stack.heads, MAX_WIDTH)?;
            let width = self.attention_width(stack);
            check_range("width of attention", width, MAX_WIDTH)?;
            if !width.is_multiple_of(stack.heads) {
                return Err(format!("{} heads do not divide a width of {d}", stack.heads));
            }
            if width != d && !self.has_output_projection {
                return Err(format!(
                    "the heads have a width of {width} in all, but no projection to {d}"
                ));
            }
            if self.activation.is_gated() && stack.ffn_depth != 2 {
                return Err(format!(
                    "gated feed-forward layers of {} matrices are not supported",
                    stack.ffn_depth
                ));
            }
            if !(2..=MAX_DEPTH).contains(&stack.ffn_depth) {
                return Err(format!(
                    "feed-forward layers of {} matrices are not supported",
                    stack.ffn_depth
                ));
            }
        }
        let depth = self.decoder.depth;
        let tied = &self.tied_layers;
        if tied.len() != depth || tied.iter().any(|layer| !(1..=depth).contains(layer)) {
            return Err(format!("the tied layers {tied:?} do not fit a decoder of {depth} layers"));
        }
        if !(1..=depth).contains(&self.alignment_layer) {
            return Err(format!(
                "the alignment layer {} is out of range, 1 to {depth}",
                self.alignment_layer
            ));
        }
        if !(1..=self.decoder.heads).contains(&(self.alignment_heads as usize)) {
            let (found, heads) = (self.alignment_heads, self.decoder.heads);
            return Err(format!("{found} heads for alignments are out of range, 1 to {heads}"));
        }
        match self.positional_encoding {
            PositionalEncodingKind::Table { length } => {
                check_range("positions", length, MAX_WIDTH)?
            }
            PositionalEncodingKind::RelativeVectors { max_distance } => {
                check_range("distances of positions", max_distance, MAX_WIDTH)?;
            }
            PositionalEncodingKind::RelativeBias(RelativeBiasConfig {
                buckets,
                max_distance,
                ..
            }) => {
                if buckets < 4 {
                    return Err(format!(
                        "expected at least 4 classes of distances, found {buckets}"
                    ));
                }
                check_range("classes of distances", buckets, MAX_WIDTH)?;
                check_range("distances of positions", max_distance, MAX_WIDTH)?;
                // Half of the classes of a direction, those of the shortest distances, have one
                // distance each.
                if max_distance <= buckets / 2 {
                    return Err(format!(
                        "{buckets} classes are too many for distances up to {max_distance}"
                    ));
                }
            }
            _ => {}
        }
        if let AutoregressionConfig::AverageAttention(average) = &self.autoregression {
            check_range("depth of average attention", average.ffn_depth, MAX_DEPTH)?;
            check_range("width of average attention", average.ffn_width, MAX_WIDTH)?;
        }
        if let DecoderStart::Token(id) = self.decoder_start
            && id as usize >= self.embeddings.target_vocab_size
        {
            return Err(format!("decoding starts with token {id}, which the vocabulary lacks"));
        }
        if !self.norm_epsilon.is_finite() || self.norm_epsilon < 0.0 {
            return Err(format!(
                "the epsilon of layer norms is {}, expected a finite number from 0 up",
                self.norm_epsilon
            ));
        }
        Ok(())
    }

    pub(super) fn describe(&self) -> Vec<(&'static str, String)> {
        let autoregression = match &self.autoregression {
            AutoregressionConfig::SelfAttention => "self-attention".to_owned(),
            AutoregressionConfig::AverageAttention(average) => format!(
                "average attention, depth {}{}{}",
                average.ffn_depth,
                if average.ffn_depth > 1 {
                    format!(" of width {}", average.ffn_width)
                } else {
                    String::new()
                },
                if average.has_gate { ", gate" } else { ", no gate" }
            ),
            AutoregressionConfig::Recurrent(sublayer) => match sublayer.kind {
                SruKind::Ssru => "SSRU".into(),
                SruKind::Sru => "SRU".into(),
            },
        };
        fn both(encoder: usize, decoder: usize) -> String {
            if encoder == decoder { encoder.to_string() } else { format!("{encoder} + {decoder}") }
        }
        let (encoder, decoder) = (&self.encoder, &self.decoder);
        let (kind, layers) = if self.has_source() {
            ("transformer", format!("{} + {}", encoder.depth, decoder.depth))
        } else {
            ("transformer language model", decoder.depth.to_string())
        };
        let mut lines = vec![
            ("type", kind.to_owned()),
            ("layers", layers),
            ("decoder looks back by", autoregression),
            ("heads", both(encoder.heads, decoder.heads)),
            ("feed-forward", both(encoder.ffn_width, decoder.ffn_width)),
        ];
        if encoder.ffn_depth != 2 || decoder.ffn_depth != 2 {
            lines.push(("feed-forward depth", both(encoder.ffn_depth, decoder.ffn_depth)));
        }
        let gated = if self.activation.is_gated() { ", gated" } else { "" };
        lines.push(("activation", format!("{}{gated}", self.activation.name())));
        lines.push(("before a sublayer", self.preprocess.to_string()));
        lines.push(("after a sublayer", self.postprocess.to_string()));
        if !self.postprocess_embedding.0.is_empty() {
            lines.push(("after embeddings", self.postprocess_embedding.to_string()));
        }
        if !self.postprocess_top.0.is_empty() {
            lines.push(("after the last layer", self.postprocess_top.to_string()));
        }
        if self.preprocess.has_norm() {
            let keys = match self.pre_norm_keys {
                PreNormKeys::Raw => "raw input",
                PreNormKeys::NormalizedAtFirstStep => "normalised input (decoder: first step only)",
                PreNormKeys::Normalized => "normalised input",
            };
            lines.push(("keys and values of", keys.into()));
        }
        if !self.has_output_projection {
            lines.push(("projection of heads", "none".into()));
        }
        if !self.tied_layers.iter().copied().eq(1..=decoder.depth) {
            lines.push(("parameters of layers", format!("{:?}", self.tied_layers)));
        }
        let positions = match self.positional_encoding {
            PositionalEncodingKind::None => "none".into(),
            PositionalEncodingKind::SinusoidalMarian => "sinusoidal, Marian's".into(),
            PositionalEncodingKind::Sinusoidal => "sinusoidal".into(),
            PositionalEncodingKind::Table { length } => format!("a table of {length}"),
            PositionalEncodingKind::SinusoidalFromOne => "sinusoidal, from 1".into(),
            PositionalEncodingKind::SinusoidalFromTwo => "sinusoidal, from 2".into(),
            PositionalEncodingKind::RelativeVectors { max_distance } => {
                format!("vectors of distances up to {max_distance}")
            }
            PositionalEncodingKind::RelativeBias(bias) => format!(
                "biases of {} classes of distances up to {}",
                bias.buckets, bias.max_distance
            ),
        };
        lines.push(("positions", positions));
        if let DecoderStart::Token(id) = self.decoder_start {
            lines.push(("decoding starts with", format!("word {id}")));
        }
        lines
    }
}
