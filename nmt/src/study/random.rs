//! Models with random weights.

use std::collections::BTreeMap;
use std::path::Path;

use miriam_layout::{Bytes, View};

use crate::architecture::{Architecture, Model, Parameter};
use crate::checkpoint::{Element, Order, Tensor, Window};
use crate::{Error, Result};

/// Numbers that look random: SplitMix64 (Steele, Lea and Flood 2014).
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Numbers(seed)
    }

    /// The next 32 bits.
    pub(super) fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 32) as u32
    }

    /// Between 0 and 1.
    pub(super) fn share(&mut self) -> f32 {
        (self.bits() >> 8) as f32 / (1 << 24) as f32
    }
}

/// A model of that architecture whose weights are drawn evenly from as far around 0 as
/// keeps signals alive: `gain * sqrt(3 / inputs)`, for tables of embeddings 1, for biases
/// a tenth.
///
/// # Errors
/// If the architecture contradicts itself.
pub fn random_model(architecture: Architecture, gain: f32, seed: u64) -> Result<Model> {
    let path = Path::new("a random model");
    let mut numbers = Numbers::new(seed);
    let mut tensors = BTreeMap::new();
    for Parameter { name, shape: [rows, columns] } in architecture.parameters() {
        let most = match rows {
            1 => 0.1,
            _ if name.ends_with("Wemb") => 1.0,
            _ if name.ends_with("_Wt") => gain * (3.0 / columns as f32).sqrt(),
            _ => gain * (3.0 / rows as f32).sqrt(),
        };
        let values = (0..rows * columns).map(|_| (2.0 * numbers.share() - 1.0) * most);
        let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        let wrong = |reason: String| Error::mismatch(path, &name, reason);
        let view = View::new(&Bytes::copy_from(&bytes), 0, bytes.len());
        let window = Window::new(view.map_err(|reason| wrong(reason.to_owned()))?);
        let tensor = Tensor::new(vec![rows, columns], Element::F32, Order::Rows, window);
        tensors.insert(name.clone(), tensor.map_err(wrong)?);
    }
    Model::new(architecture, tensors, BTreeMap::new(), path)
}
