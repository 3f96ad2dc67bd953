//! Models with random weights, for benchmarks: the cost of an architecture does not depend on the
//! values of its weights.

use miriam_nmt::Result;
use miriam_nmt::architecture::{
    Activation, Architecture, AutoregressionConfig, AverageAttentionConfig, CellKind, DecoderStart,
    EmbeddingConfig, EncoderKind, Model, ParameterSpec, PositionalEncodingKind, PreNormKeys,
    ProcessStep, ProcessSteps, RecurrentConfig, RecurrentDecoderConfig, RecurrentEncoderConfig,
    TransformerConfig, TransformerStackConfig,
};
use miriam_storage::random::SplitMix64;

/// Names of the architectures that decoding is measured with. `gru` is Amun's (Hoang et al. 2018):
/// one layer of GRUs on either side, 256 wide. `mlstm` is the same with mLSTMs, 512 wide. `tiny`
/// has the size of Firefox's transformers: width 256, feed-forward width 1,536, 6 encoder and 2
/// decoder layers; but its decoder has self-attention, not an SSRU. `base` is that of Vaswani et
/// al. (2017): 512, 2,048, 6 and 6.
pub const DECODING_SHAPES: [&str; 4] = ["gru", "mlstm", "tiny", "base"];

/// A bias of EOS with which no hypothesis ends before the length limit. EOS has the id 0.
const EOS_BIAS: f32 = -1e4;

/// The names of the output layer's bias: in recurrent models, and in transformers.
const OUTPUT_BIASES: [&str; 2] = ["decoder_ff_logit_l2_b", "decoder_ff_logit_out_b"];

/// Returns the architecture called `name`, one of [`DECODING_SHAPES`], with vocabularies of `words`
/// tokens; `None` for another name.
pub fn decoding_architecture(name: &str, words: usize) -> Option<Architecture> {
    Some(match name {
        "gru" => Architecture::Recurrent(recurrent_shape(CellKind::Gru, 256, words)),
        "mlstm" => Architecture::Recurrent(recurrent_shape(CellKind::Mlstm, 512, words)),
        _ => Architecture::Transformer(transformer_shape(name, words)?),
    })
}

/// Returns Marian's transformer-base-AAN (Junczys-Dowmunt et al. 2018): a base transformer whose
/// decoder has average attention, with a gate and a feed-forward layer, in place of
/// self-attention.
pub fn average_attention_base(words: usize) -> Architecture {
    let base = transformer_of_width(512, 2048, [6, 6], words);
    let attention = AverageAttentionConfig {
        ffn_depth: 2,
        ffn_width: 2048,
        activation: Activation::Swish,
        has_gate: true,
    };
    Architecture::Transformer(TransformerConfig {
        autoregression: AutoregressionConfig::AverageAttention(attention),
        ..base
    })
}

/// Returns the transformer called `name`, `tiny` or `base`, with a shared vocabulary of `words`
/// tokens; `None` for another name.
pub fn transformer_shape(name: &str, words: usize) -> Option<TransformerConfig> {
    let (width, ffn_width, encoder, decoder) = match name {
        "tiny" => (256, 1536, 6, 2),
        "base" => (512, 2048, 6, 6),
        _ => return None,
    };
    Some(transformer_of_width(width, ffn_width, [encoder, decoder], words))
}

/// Returns a post-norm transformer with 8 heads; `layers` are the numbers of layers of encoder and
/// decoder.
pub fn transformer_of_width(
    width: usize,
    ffn_width: usize,
    layers: [usize; 2],
    words: usize,
) -> TransformerConfig {
    fn stack(depth: usize, ffn_width: usize) -> TransformerStackConfig {
        TransformerStackConfig { depth, heads: 8, ffn_width, ffn_depth: 2 }
    }
    TransformerConfig {
        embeddings: EmbeddingConfig {
            source_vocab_size: words,
            target_vocab_size: words,
            dim: width,
            shared: true,
            tied_output: true,
            output_bias: true,
            right_to_left: false,
            suppress_tokens: Vec::new(),
        },
        encoder: stack(layers[0], ffn_width),
        decoder: stack(layers[1], ffn_width),
        tied_layers: (1..=layers[1]).collect(),
        activation: Activation::Relu,
        preprocess: ProcessSteps::default(),
        postprocess: ProcessSteps(vec![ProcessStep::Add, ProcessStep::Norm]),
        postprocess_embedding: ProcessSteps::default(),
        postprocess_top: ProcessSteps::default(),
        has_output_projection: true,
        autoregression: AutoregressionConfig::SelfAttention,
        positional_encoding: PositionalEncodingKind::SinusoidalMarian,
        scales_embeddings: true,
        decoder_start: DecoderStart::ZeroEmbedding,
        pre_norm_keys: PreNormKeys::Normalized,
        alignment_layer: layers[1],
        alignment_heads: 1,
        norm_epsilon: 1e-6,
    }
}

/// Returns a model with weights drawn uniformly from -r to r. For matrices, r is
/// `gain * sqrt(3 / inputs)`, so that signals neither vanish nor explode; for embeddings, it is 1,
/// and for vectors, such as biases, 0.1.
///
/// # Errors
/// If the architecture is not valid.
pub fn random_model(architecture: Architecture, gain: f32, seed: u64) -> Result<Model> {
    let mut numbers = SplitMix64::new(seed);
    Model::with_values(architecture, |parameter| random_values(parameter, gain, &mut numbers))
}

/// Returns a model that never generates EOS. Parameters of transformers are Glorot-uniform (Glorot
/// and Bengio 2010), but scales of layer norms are 1. Parameters of other architectures are those
/// of [`random_model`] with a gain of 1.
///
/// # Errors
/// If the architecture is not valid.
pub fn random_model_without_eos(architecture: Architecture, seed: u64) -> Result<Model> {
    let mut numbers = SplitMix64::new(seed);
    let is_transformer = matches!(architecture, Architecture::Transformer(_));
    Model::with_values(architecture, |parameter| {
        let mut values = if is_transformer {
            glorot_values(parameter, &mut numbers)
        } else {
            random_values(parameter, 1.0, &mut numbers)
        };
        if OUTPUT_BIASES.contains(&&parameter.name[..]) {
            values[0] = EOS_BIAS;
        }
        values
    })
}

/// Returns the values that [`random_model`] describes.
fn random_values(parameter: &ParameterSpec, gain: f32, numbers: &mut SplitMix64) -> Vec<f32> {
    let ParameterSpec { name, shape: [rows, columns] } = parameter;
    let range = match *rows {
        1 => 0.1,
        _ if name.ends_with("Wemb") => 1.0,
        // This matrix is stored transposed.
        _ if name.ends_with("_Wt") => gain * (3.0 / *columns as f32).sqrt(),
        inputs => gain * (3.0 / inputs as f32).sqrt(),
    };
    (0..rows * columns).map(|_| (2.0 * numbers.next_f32() - 1.0) * range).collect()
}

/// Returns the configuration of a recurrent model with one layer of `cell` on either side and
/// vocabularies of `words` tokens. With GRUs it is that of Nematus and Amun (Hoang et al. 2018:
/// 30,000 tokens, 256 wide).
pub fn recurrent_shape(cell: CellKind, width: usize, words: usize) -> RecurrentConfig {
    RecurrentConfig {
        embeddings: EmbeddingConfig {
            source_vocab_size: words,
            target_vocab_size: words,
            dim: width,
            shared: false,
            tied_output: false,
            output_bias: true,
            right_to_left: false,
            suppress_tokens: Vec::new(),
        },
        state_width: width,
        encoder: RecurrentEncoderConfig {
            kind: EncoderKind::Bidirectional,
            cell,
            depth: 1,
            cell_depth: 1,
        },
        decoder: RecurrentDecoderConfig { cell, depth: 1, base_depth: 2, high_depth: 1 },
        skip_connections: false,
        layer_norm_style: None,
    }
}

/// Returns the values that [`random_model_without_eos`] describes for transformers.
fn glorot_values(parameter: &ParameterSpec, numbers: &mut SplitMix64) -> Vec<f32> {
    let [rows, columns] = parameter.shape;
    if parameter.name.ends_with("_ln_scale") {
        return vec![1.0; rows * columns];
    }
    let range = (6.0 / (rows + columns) as f32).sqrt();
    (0..rows * columns).map(|_| range * (2.0 * numbers.next_f32() - 1.0)).collect()
}
