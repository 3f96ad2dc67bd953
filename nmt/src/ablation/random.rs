//! Models with random weights.

use miriam_storage::random::SplitMix64;

use crate::Result;
use crate::architecture::{Architecture, Model, ParameterSpec};

/// A model of that architecture whose weights are drawn evenly from as far around 0 as
/// keeps signals alive: `gain * sqrt(3 / inputs)`, for tables of embeddings 1, for biases
/// a tenth.
///
/// # Errors
/// If the architecture is not valid.
pub fn random_model(architecture: Architecture, gain: f32, seed: u64) -> Result<Model> {
    let mut numbers = SplitMix64::new(seed);
    Model::with_values(architecture, |ParameterSpec { name, shape: [rows, columns] }| {
        let range = match *rows {
            1 => 0.1,
            _ if name.ends_with("Wemb") => 1.0,
            _ if name.ends_with("_Wt") => gain * (3.0 / *columns as f32).sqrt(),
            inputs => gain * (3.0 / inputs as f32).sqrt(),
        };
        (0..rows * columns).map(|_| (2.0 * numbers.next_f32() - 1.0) * range).collect()
    })
}
