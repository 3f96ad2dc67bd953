//! Training of the neural models that `miriam-nmt` decodes.
//!
//! A model trains through the layers that it decodes with: a [`tape`] is a backend of `nmt`'s
//! layers that records computations and derives gradients. Its arithmetic is in [`kernels`], in f64
//! as an oracle and in f32 for training. [`data`] divides a corpus into batches, [`update`]
//! computes new parameters from a batch, [`asynchronous`] lets workers do this without waiting for
//! each other, and [`training`] makes a model from a corpus.
//!
//! ```
//! use miriam_textio::{CancellationToken, NoProgress};
//! use miriam_trainer::options::preset;
//! use miriam_trainer::train_from_text::{Summary, TrainingRequest};
//!
//! let folder = tempfile::tempdir()?;
//! let mut sides = Vec::new();
//! for (name, line) in [("train.de", "das haus ist rot\n"), ("train.en", "the house is red\n")] {
//!     let side = folder.path().join(name);
//!     std::fs::write(&side, line.repeat(20))?;
//!     sides.push(side.display().to_string());
//! }
//! // Options have Marian's names; a preset has values for most of them.
//! let mut options = preset("toy")?;
//! options.set("train-sets", sides)?;
//! let request = TrainingRequest {
//!     options,
//!     folder: Some(folder.path().join("model")),
//!     vocab_size: None,
//!     plot: None,
//!     // Count the memory that the training would take, instead of training.
//!     dry_run: true,
//! };
//! let (mut log, mut warn) = (|_: &str| {}, |_: &str| {});
//! let summary = request.run(&CancellationToken::new(), &NoProgress, &mut log, &mut warn)?;
//! let Summary::Memory(memory) = summary else { panic!("a dry run does not train") };
//! assert!(memory.parameters > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod asynchronous;
pub mod calibration;
pub mod data;
pub mod dropout;
mod error;
mod init;
pub mod kernels;
pub mod load_data;
pub mod options;
pub mod parallel_text;
mod parameters;
mod progress;
pub mod random;
pub mod tape;
pub mod train_from_text;
mod trainable_model;
pub mod training;
pub mod update;
mod yaml_text;

pub use error::{Error, Result};
pub use init::initial_values;
pub use miriam_kernels::Real;
pub use parameters::{ALIGNMENT, Parameter, ParameterLayout};
pub use trainable_model::TrainableModel;

#[cfg(test)]
mod tests {
    use miriam_nmt::architecture::{
        Activation, Architecture, AutoregressionConfig, DecoderStart, EmbeddingConfig,
        PositionalEncodingKind, PreNormKeys, ProcessStep, ProcessSteps, TransformerConfig,
        TransformerStackConfig,
    };

    /// Returns a small transformer.
    pub(crate) fn tiny_architecture() -> Architecture {
        let stack = TransformerStackConfig { depth: 1, heads: 2, ffn_width: 12, ffn_depth: 2 };
        Architecture::Transformer(TransformerConfig {
            embeddings: EmbeddingConfig {
                source_vocab_size: 11,
                target_vocab_size: 11,
                dim: 8,
                shared: true,
                tied_output: true,
                output_bias: true,
                right_to_left: false,
                suppress_tokens: Vec::new(),
            },
            encoder: stack.clone(),
            decoder: stack,
            tied_layers: vec![1],
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
            alignment_layer: 1,
            alignment_heads: 1,
            norm_epsilon: 1e-6,
        })
    }
}
