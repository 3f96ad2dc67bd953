//! Transformers of the sizes that people decode with on CPUs.

use crate::Result;
use crate::architecture::{
    Activation, Architecture, Autoregression, Model, Positions, PreNormKeys, Process, Stack, Start,
    Step, Tables, Transformer,
};

use super::random::Numbers;

/// Names of the sizes: `tiny` is 256 wide with 1,536 inside, 6 + 2 layers, as Firefox has
/// it; `base` 512 with 2,048 and 6 + 6 (Vaswani et al. 2017).
pub const SIZES: [&str; 2] = ["tiny", "base"];

/// What makes `</s>` so improbable that no search ends by itself.
const NEVER: f32 = -1e4;

/// The transformer of that name over a shared vocabulary of `words`, if there is one.
pub fn transformer(name: &str, words: usize) -> Option<Transformer> {
    let (width, ffn_width, encoder, decoder) = match name {
        "tiny" => (256, 1536, 6, 2),
        "base" => (512, 2048, 6, 6),
        _ => return None,
    };
    Some(of_width(width, ffn_width, [encoder, decoder], words))
}

pub(super) fn of_width(
    width: usize,
    ffn_width: usize,
    layers: [usize; 2],
    words: usize,
) -> Transformer {
    let stack = |depth| Stack { depth, heads: 8, ffn_width, ffn_depth: 2 };
    Transformer {
        tables: Tables {
            source_words: words,
            target_words: words,
            embedding: width,
            shared_embeddings: true,
            tied_output: true,
            output_bias: true,
            right_to_left: false,
            never: Vec::new(),
        },
        encoder: stack(layers[0]),
        decoder: stack(layers[1]),
        tied_layers: (1..=layers[1]).collect(),
        activation: Activation::Relu,
        preprocess: Process::default(),
        postprocess: Process(vec![Step::Add, Step::Norm]),
        postprocess_embedding: Process::default(),
        postprocess_top: Process::default(),
        projection: true,
        autoregression: Autoregression::SelfAttention,
        positions: Positions::SinusoidalMarian,
        scaled_embeddings: true,
        start: Start::Zeros,
        pre_norm_keys: PreNormKeys::Normalised,
        alignment_layer: layers[1],
        norm_epsilon: 1e-6,
    }
}

/// A model of that shape with random weights, as large as training begins with (Glorot and
/// Bengio 2010), which never ends a sentence by itself.
///
/// # Errors
/// If the shape contradicts itself.
pub fn endless(shape: Transformer, seed: u64) -> Result<Model> {
    let mut numbers = Numbers::new(seed);
    Model::with_values(Architecture::Transformer(shape), |parameter| {
        let [rows, columns] = parameter.shape;
        let range = (6.0 / (rows + columns) as f32).sqrt();
        let mut values: Vec<f32> = (0..rows * columns)
            .map(|_| match parameter.name.ends_with("_ln_scale") {
                true => 1.0,
                false => range * (2.0 * numbers.share() - 1.0),
            })
            .collect();
        if parameter.name == "decoder_ff_logit_out_b" {
            values[0] = NEVER;
        }
        values
    })
}
