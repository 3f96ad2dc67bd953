//! Test that every architecture with a source memorises a few pairs, which `nmt` then scores.

use std::path::Path;

use miriam_nmt::architecture::{
    Architecture, EmbeddingConfig, RecurrentConfig, StackedConfig, TopLayerConfig,
    TransformerConfig, TransformerStackConfig,
};
use miriam_nmt::network::Network;
use miriam_nmt::packed::Precision;
use miriam_trainer::dropout::Dropout;
use miriam_trainer::kernels::Fast;
use miriam_trainer::training::build_model;
use miriam_trainer::update::{
    ClipScope, MicroBatch, OptimizerKind, OptimizerState, SynchronousTrainer, UpdateOptions,
};
use miriam_trainer::{ParameterLayout, TrainableModel, initial_values};

use crate::architectures::{all, random_sentences};

const PAIRS: usize = 16;

/// Returns the architecture with a width that suffices to learn.
fn widened(architecture: Architecture) -> Architecture {
    let wide = |embeddings: EmbeddingConfig| EmbeddingConfig { dim: 32, ..embeddings };
    match architecture {
        Architecture::Transformer(config) => {
            let stack = |stack: TransformerStackConfig| TransformerStackConfig {
                heads: 4,
                ffn_width: 64,
                ..stack
            };
            Architecture::Transformer(TransformerConfig {
                embeddings: wide(config.embeddings),
                encoder: stack(config.encoder),
                decoder: stack(config.decoder),
                ..config
            })
        }
        Architecture::Recurrent(config) => Architecture::Recurrent(RecurrentConfig {
            embeddings: wide(config.embeddings),
            state_width: 32,
            ..config
        }),
        Architecture::Stacked(config) => Architecture::Stacked(StackedConfig {
            embeddings: wide(config.embeddings),
            encoder_state_width: 32,
            attention_width: 32,
            state_width: 32,
            fc_width: 32,
            top: match config.top {
                TopLayerConfig::None => TopLayerConfig::None,
                TopLayerConfig::Tanh(_) => TopLayerConfig::Tanh(32),
                TopLayerConfig::Gru(_) => TopLayerConfig::Gru(32),
            },
            ..config
        }),
    }
}

#[test]
fn every_architecture_learns_pairs_by_heart() {
    let lengths: Vec<usize> = (0..PAIRS).map(|index| 2 + index % 5).collect();
    let (sources, targets) = (random_sentences(&lengths, 1), random_sentences(&lengths, 2));
    let options = UpdateOptions {
        optimizer: OptimizerKind::Adam {
            beta1: 0.9,
            beta2: 0.98,
            epsilon: 1e-9,
            weight_decay: 0.0,
        },
        label_smoothing: 0.0,
        clip_norm: 5.0,
        clip_scope: ClipScope::Sum,
        normalizes_gradient: true,
        skips_nan: false,
        smoothing: 0.0,
        reference_words: 0,
    };
    // A language model without a source cannot know which of the sentences is meant.
    let with_source = all().into_iter().filter(|(_, architecture)| architecture.has_source());
    for (name, architecture) in with_source {
        let architecture = widened(architecture);
        let values = initial_values(&architecture, 3, false);
        let state = OptimizerState::new(&options, &values);
        let model = TrainableModel::new(architecture.clone()).unwrap_or_else(|e| panic!("{e}"));
        let mut trainer =
            SynchronousTrainer::new(model, Fast::default(), options, values, state, 1);
        let micro_batch = MicroBatch {
            numbers: (0..PAIRS as u32).collect(),
            sources: sources.iter().map(Vec::as_slice).collect(),
            targets: targets.iter().map(Vec::as_slice).collect(),
            ..MicroBatch::default()
        };
        let (micro_batches, mut loss) = ([micro_batch], f64::INFINITY);
        for update in 0..600 {
            let rate = 4e-3 * (f64::from(update + 1) / 20.0).min(1.0);
            let report = trainer.update(&micro_batches, Dropout::default(), rate).unwrap();
            loss = report.cross_entropy / report.target_tokens as f64;
            if loss < 0.03 {
                break;
            }
        }
        assert!(loss < 0.05, "{name}: {loss} nats per token");

        // The trained model is loaded as decoders and scorers load it.
        let layout = ParameterLayout::new(&architecture);
        let model = build_model(&architecture, &layout, trainer.values()).unwrap();
        let network = Network::load(&model, Path::new(name), Precision::F32).unwrap();
        let [MicroBatch { sources, targets, .. }] = &micro_batches;
        let scores = network.scorer().unwrap().score(sources, targets).unwrap();
        let tokens: usize = targets.iter().map(|target| target.len()).sum();
        let sum: f64 = scores.iter().flatten().map(|&score| -f64::from(score)).sum();
        assert!(sum / (tokens as f64) < 0.06, "{name}: nmt gives {sum} nats for {tokens} tokens");
        let worst = scores.iter().flatten().copied().fold(0.0, f32::min);
        assert!(worst > -0.693, "{name}: a token with less than half of the probability: {worst}");
    }
}
