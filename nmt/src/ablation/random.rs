//! Models with random weights.

use crate::Result;
use crate::architecture::{Architecture, Model, ParameterSpec};

/// The pseudo-random generator SplitMix64 (Steele, Lea and Flood 2014).
pub(super) struct SplitMix64(u64);

impl SplitMix64 {
    pub(super) fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// The next 32 bits.
    pub(super) fn next_u32(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 32) as u32
    }

    /// A number in [0, 1).
    pub(super) fn next_f32(&mut self) -> f32 {
        (self.next_u32() >> 8) as f32 / (1 << 24) as f32
    }
}

/// A model of that architecture with uniform weights in `[-a, a]`, where `a` is
/// `gain * sqrt(3 / inputs)` for matrices, 1 for embeddings and 0.1 for biases.
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
