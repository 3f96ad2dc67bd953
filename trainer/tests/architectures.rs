//! Small architectures of every kind with random parameters, for other tests.

use miriam_nmt::architecture::{
    Activation, Architecture, AutoregressionConfig, AverageAttentionConfig, CellKind, DecoderStart,
    EmbeddingConfig, EncoderKind, Gelu, LayerNormStyle, PositionalEncodingKind, PreNormKeys,
    ProcessStep, ProcessSteps, RecurrentConfig, RecurrentDecoderConfig, RecurrentEncoderConfig,
    RecurrentSublayerConfig, SruKind, StackedConfig, TopLayerConfig, TransformerConfig,
    TransformerStackConfig,
};
use miriam_trainer::random::RandomStream;
use miriam_trainer::{ParameterLayout, Real};

/// The size of both vocabularies.
pub const VOCAB: usize = 23;

fn tables(dim: usize, shared: bool, tied_output: bool) -> EmbeddingConfig {
    EmbeddingConfig {
        source_vocab_size: VOCAB,
        target_vocab_size: VOCAB,
        dim,
        shared,
        tied_output,
        output_bias: true,
        right_to_left: false,
        suppress_tokens: Vec::new(),
    }
}

pub fn transformer() -> TransformerConfig {
    let stack = TransformerStackConfig { depth: 2, heads: 2, ffn_width: 12, ffn_depth: 2 };
    TransformerConfig {
        embeddings: tables(8, true, true),
        encoder: stack.clone(),
        decoder: stack,
        tied_layers: vec![1, 2],
        activation: Activation::Swish,
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
        alignment_layer: 2,
        alignment_heads: 1,
        norm_epsilon: 1e-6,
    }
}

fn recurrent(cell: CellKind, kind: EncoderKind) -> RecurrentConfig {
    RecurrentConfig {
        embeddings: tables(6, true, true),
        state_width: 5,
        encoder: RecurrentEncoderConfig { kind, cell, depth: 1, cell_depth: 1 },
        decoder: RecurrentDecoderConfig { cell, depth: 1, base_depth: 2, high_depth: 1 },
        skip_connections: false,
        layer_norm_style: None,
    }
}

/// Returns architectures by name that together use every operator.
pub fn all() -> Vec<(&'static str, Architecture)> {
    let average = |has_gate, ffn_depth| {
        AutoregressionConfig::AverageAttention(AverageAttentionConfig {
            ffn_depth,
            ffn_width: 10,
            activation: Activation::Gelu(Gelu::Tanh),
            has_gate,
        })
    };
    let unit = |kind, has_output_projection, has_layer_norm| {
        AutoregressionConfig::Recurrent(RecurrentSublayerConfig {
            kind,
            has_output_projection,
            has_layer_norm,
        })
    };
    let norm = || ProcessSteps(vec![ProcessStep::Norm]);
    let deep = |cell, kind, style| RecurrentConfig {
        encoder: RecurrentEncoderConfig { kind, cell, depth: 3, cell_depth: 2 },
        decoder: RecurrentDecoderConfig { cell, depth: 2, base_depth: 3, high_depth: 2 },
        skip_connections: true,
        layer_norm_style: style,
        ..recurrent(cell, kind)
    };
    let stacked = |top, fc_depth| StackedConfig {
        embeddings: tables(6, false, false),
        encoder_depth: 2,
        encoder_state_width: 4,
        attention_width: 5,
        state_width: 5,
        fc_depth,
        fc_width: 5,
        top,
    };
    let no_encoder = TransformerStackConfig { depth: 0, ..transformer().decoder };
    let without_source = |config: RecurrentConfig| RecurrentConfig {
        encoder: RecurrentEncoderConfig { depth: 0, ..config.encoder },
        ..config
    };
    let transformers = [
        ("transformer", transformer()),
        (
            "transformer, pre-norm, untied",
            TransformerConfig {
                embeddings: tables(8, false, false),
                activation: Activation::Gelu(Gelu::Exact),
                preprocess: norm(),
                postprocess: ProcessSteps(vec![ProcessStep::Add]),
                postprocess_top: norm(),
                postprocess_embedding: norm(),
                ..transformer()
            },
        ),
        (
            "transformer, tied layers, learned positions, no projection",
            TransformerConfig {
                tied_layers: vec![1, 1],
                has_output_projection: false,
                positional_encoding: PositionalEncodingKind::Table { length: 6 },
                activation: Activation::Gelu(Gelu::Sigmoid),
                decoder_start: DecoderStart::Token(3),
                ..transformer()
            },
        ),
        (
            "average attention",
            TransformerConfig { autoregression: average(true, 2), ..transformer() },
        ),
        (
            "average attention without gate",
            TransformerConfig { autoregression: average(false, 1), ..transformer() },
        ),
        (
            "ssru",
            TransformerConfig {
                autoregression: unit(SruKind::Ssru, false, false),
                ..transformer()
            },
        ),
        (
            "sru with norms",
            TransformerConfig { autoregression: unit(SruKind::Sru, true, true), ..transformer() },
        ),
        (
            "transformer language model",
            TransformerConfig {
                embeddings: tables(8, false, true),
                encoder: no_encoder,
                ..transformer()
            },
        ),
    ];
    let recurrent_models = [
        ("gru", recurrent(CellKind::Gru, EncoderKind::Bidirectional)),
        ("lstm", recurrent(CellKind::Lstm, EncoderKind::BiUnidirectional)),
        ("mlstm", recurrent(CellKind::Mlstm, EncoderKind::Bidirectional)),
        (
            "deep gru with norms",
            deep(CellKind::Gru, EncoderKind::Alternating, Some(LayerNormStyle::Marian)),
        ),
        ("deep lstm", deep(CellKind::Lstm, EncoderKind::BiUnidirectional, None)),
        (
            "nematus",
            deep(CellKind::NematusGru, EncoderKind::Bidirectional, Some(LayerNormStyle::Nematus)),
        ),
    ];
    let gru_language_model = recurrent(CellKind::Gru, EncoderKind::Bidirectional);
    let deep_language_model =
        deep(CellKind::Gru, EncoderKind::Bidirectional, Some(LayerNormStyle::Marian));
    let recurrent = recurrent_models.into_iter().chain([
        ("gru language model", without_source(gru_language_model)),
        ("deep gru language model with norms", without_source(deep_language_model)),
    ]);
    let stacked = [
        ("stacked", stacked(TopLayerConfig::None, 3)),
        ("stacked with a gru", stacked(TopLayerConfig::Gru(4), 1)),
        ("stacked with tanh", stacked(TopLayerConfig::Tanh(4), 0)),
    ];
    let transformers = transformers.map(|(name, it)| (name, Architecture::Transformer(it)));
    let recurrent = recurrent.map(|(name, it)| (name, Architecture::Recurrent(it)));
    let stacked = stacked.map(|(name, it)| (name, Architecture::Stacked(it)));
    transformers.into_iter().chain(recurrent).chain(stacked).collect()
}

/// Returns random values for all parameters: uniform in -0.5..0.5, around 1 for scales of norms.
pub fn random_values<R: Real>(layout: &ParameterLayout, seed: u32) -> Vec<R> {
    let mut random = RandomStream::new([seed, 0], [0; 3]);
    let mut values = vec![R::ZERO; layout.len()];
    for parameter in layout.iter() {
        let name = &parameter.name;
        let is_scale = ["gamma", "scale", "_lns", "ln_s"].iter().any(|part| name.contains(part));
        let center = if is_scale { 1.0 } else { 0.0 };
        for value in &mut values[parameter.range()] {
            *value = R::of(center + f64::from(random.next_unit()) - 0.5);
        }
    }
    values
}

/// Returns random sentences of these lengths, with `</s>` (0) at the end and without token 1.
pub fn random_sentences(lengths: &[usize], seed: u32) -> Vec<Vec<u32>> {
    let mut random = RandomStream::new([seed, 1], [0; 3]);
    let mut token = || 2 + random.next_below(VOCAB as u64 - 2) as u32;
    let mut sentence = |length: &usize| (1..*length).map(|_| token()).chain([0]).collect();
    lengths.iter().map(&mut sentence).collect()
}
