//! Synthetic models and texts, for benchmarks on machines without data.
//!
//! The speed of a lookup depends on the shape of the trie and of the walks through it
//! (`ngram-lm.md` 4.5), not on the words. So a synthetic model has the same proportions as a
//! measured one: the number of n-grams of each order, the distribution of the numbers of children,
//! and most children for frequent words. [Texts](Text) are walks through the trie.
//!
//! Each random choice is a hash of the seed and a position, so that the results do not depend on
//! the number of threads.

mod generate;
mod ngrams;
mod text;

use miriam_lmcpu::MAX_ORDER;
use miriam_storage::random::SplitMix64;

pub use ngrams::random_ngrams;
pub use text::{Text, TextKind};

/// The size and the seed of a synthetic model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntheticOptions {
    /// The approximate number of n-grams of all orders, from [`SyntheticOptions::MIN_NGRAMS`] to
    /// [`SyntheticOptions::MAX_NGRAMS`].
    pub ngrams: u64,
    /// The length of the longest n-grams, 2 to [`MAX_ORDER`].
    pub order: usize,
    /// The seed of all random choices.
    pub seed: u64,
}

/// The numbers of n-grams of orders 1 to 5 of the measured model.
const REFERENCE_COUNTS: [f64; 5] = [110_049.0, 1_535_319.0, 3_903_660.0, 5_434_809.0, 5_986_699.0];
/// Heaps' exponent: the growth of the vocabulary with the length of the text.
const HEAPS_EXPONENT: f64 = 0.7;

impl SyntheticOptions {
    /// The fewest n-grams for which the power laws hold.
    pub const MIN_NGRAMS: u64 = 5_000;
    /// The most n-grams; fewer for low orders ([`SyntheticOptions::fits_u32_ids`]).
    pub const MAX_NGRAMS: u64 = 8_000_000_000;

    /// Returns the approximate number of n-grams of each order.
    ///
    /// # Panics
    ///
    /// If `ngrams` or `order` is out of range. The numbers may exceed 32-bit ids; see
    /// [`SyntheticOptions::fits_u32_ids`].
    pub fn num_ngrams_per_order(&self) -> Vec<u64> {
        assert!((2..=MAX_ORDER).contains(&self.order), "an order from 2 to {MAX_ORDER}");
        assert!(
            (Self::MIN_NGRAMS..=Self::MAX_NGRAMS).contains(&self.ngrams),
            "{} n-grams",
            self.ngrams
        );
        // Orders above 5 have about as many n-grams as order 5.
        fn measured(order: usize) -> f64 {
            REFERENCE_COUNTS[order.min(REFERENCE_COUNTS.len()) - 1]
        }
        let longer: f64 = (2..=self.order).map(measured).sum();
        let scale = self.ngrams as f64 / (measured(1) + longer);
        let words = (measured(1) * scale.powf(HEAPS_EXPONENT)).round();
        let rest = (self.ngrams as f64 - words) / longer;
        let counts = (2..=self.order).map(|order| (measured(order) * rest) as u64);
        std::iter::once(words as u64).chain(counts).collect()
    }

    /// Whether the n-grams of each order can be numbered with 32 bits.
    ///
    /// # Panics
    ///
    /// Those of [`SyntheticOptions::num_ngrams_per_order`].
    pub fn fits_u32_ids(&self) -> bool {
        self.num_ngrams_per_order().iter().all(|&count| count < u64::from(u32::MAX) / 2)
    }
}

#[cfg(test)]
mod tests;
